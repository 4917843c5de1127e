// Constants of an ONNX file, and the element types that stand for its own.
#ifndef HEARTH_FRONTENDS_ONNX_TENSORS_H_
#define HEARTH_FRONTENDS_ONNX_TENSORS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "frontends/onnx/order.h"
#include "frontends/onnx/proto.h"
#include "frontends/writer/node_writer.h"
#include "runtime/model/model_interface.h"

namespace hearth::onnx {

// By domain, name and overload.
using Functions = std::map<std::tuple<std::string_view, std::string_view, std::string_view>, const FunctionProto*>;

// What all graphs of one file share while it is read.
struct Reading {
  const ModelProto& model;
  std::span<const std::byte> file;  // the model's file and, behind it, those with its weights
  const ReadOptions& options;
  ReadingBudget& budget;
  Functions functions;
  // By the body of a loop: the names that it reads of the graphs around it.
  std::map<const GraphProto*, std::set<std::string_view>> outer_names;
  std::map<std::string_view, int64_t> texts;  // their numbers (texts.h)
  int levels = 0;                             // of subgraphs and functions, one in the other
};

// Dimensions as a shape; kMalformedInput for one that is negative or too large.
Result<Shape> CheckedShape(const std::vector<int64_t>& dims);
// The element type that Hearth computes with: float16 and bfloat16 become float32. Nothing: a type that Hearth lacks.
std::optional<DType> ComputedTypeOf(int32_t type);
// The element type of an input or output.
std::optional<DType> InterfaceTypeOf(int32_t type);
Status UnknownType(int32_t type);
// That of an output which is declared with this type. Texts are integers.
std::optional<DType> TypeOfOutput(const NodeWriter& to, ValueId value, int32_t declared);
// The numbers of texts of the file. kUnsupported for those that only the caller of a function names.
Result<std::vector<int64_t>> NumbersOfTexts(const Reading& reading, const std::vector<std::string_view>& texts);
// Adds a constant of the file to the graph. Large ones at an odd address are Tensor::stored, small ones are copied.
Result<Tensor> AddTensor(Reading& reading, NodeWriter& to, const TensorProto& tensor, std::string name);

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_TENSORS_H_
