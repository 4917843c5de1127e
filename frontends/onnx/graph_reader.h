// Reads a graph of an ONNX file, node by node, into a graph writer.
#ifndef HEARTH_FRONTENDS_ONNX_GRAPH_READER_H_
#define HEARTH_FRONTENDS_ONNX_GRAPH_READER_H_

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/model/model_interface.h"
#include "frontends/onnx/op_view.h"
#include "frontends/onnx/proto.h"

namespace hearth::onnx {

// What all graphs of one file share while it is read.
struct Reading {
  const ModelProto& model;
  std::span<const std::byte> file;  // the model's file and, behind it, those with its weights
  const ReadOptions& options;
  ReadingBudget& budget;
  std::map<std::pair<std::string_view, std::string_view>, const FunctionProto*> functions;  // by domain and name
  int levels = 0;  // of subgraphs and functions, one in the other
};

// The element type that Hearth computes with: float16 and bfloat16 become float32. Nothing: a type that Hearth lacks.
std::optional<DType> ComputedTypeOf(int32_t type);
// The element type of an input or output.
std::optional<DType> InterfaceTypeOf(int32_t type);
Status UnknownType(int32_t type);
// The same for a constant of the file, whose bytes are copied where they do not lie aligned. Adds it to the graph.
Made AddTensor(Reading& reading, NodeWriter& to, const TensorProto& tensor, std::string name);

using Attributes = std::map<std::string_view, const AttributeProto*>;

class GraphReader {
 public:
  // `outer`: of the graph around a subgraph, whose names it sees. `sets` are the model's or the function's.
  // `attributes`: what a function's caller gives.
  GraphReader(Reading& reading, GraphWriter& to, const OperatorSets& sets, GraphReader* outer = nullptr,
              const Attributes* attributes = nullptr)
      : reading_(reading), to_(to), sets_(sets), outer_(outer), attributes_(attributes) {}

  Reading& reading() const { return reading_; }
  GraphWriter& to() const { return to_; }
  const OperatorSets& sets() const { return sets_; }
  const Attributes* attributes() const { return attributes_; }

  // The whole model: inputs, nodes, outputs.
  Status ReadModel(const GraphProto& graph);
  // A subgraph with values for its inputs. Returns those of its outputs, in plain order.
  Expanded ReadSubgraph(const GraphProto& graph, std::span<const ValueId> inputs);
  // The nodes of a function.
  Results ReadFunction(const FunctionProto& function, const std::vector<Tensor>& inputs);

  // The tensor of that name; null if there is none yet, or if it is a constant that nothing has read.
  Tensor* Find(std::string_view name);
  // The same in plain order; reads a constant.
  Made ValueOf(std::string_view name);
  // Whether it is an optional input of a function that its caller leaves out.
  bool IsAbsent(std::string_view name) const {
    return absent_.contains(name) || (outer_ != nullptr && outer_->IsAbsent(name));
  }
  void Bind(std::string_view name, const Tensor& tensor) { names_.insert_or_assign(name, tensor); }
  // The names that a subgraph reads of the graphs around it.
  static std::set<std::string_view> OuterNames(const GraphProto& graph);

 private:
  Status AddInitializers(const GraphProto& graph);
  Status AddInputs(const GraphProto& graph);
  Status ReadNodes(const std::vector<NodeProto>& nodes);
  Status ReadNode(const NodeProto& node);
  Results MakeNode(OpView& view);
  Results CallFunction(const OpView& view, const FunctionProto& function);
  void NameValues(const NodeProto& node, const std::vector<Tensor>& made, size_t first_value);
  Status ReadOutputs(const GraphProto& graph);

  Reading& reading_;
  GraphWriter& to_;
  const OperatorSets& sets_;
  GraphReader* outer_;
  const Attributes* attributes_;
  std::map<std::string_view, Tensor> names_;
  std::set<std::string_view> absent_;
  std::map<std::string_view, const TensorProto*> initializers_;  // that nothing has read yet
};

// How a model's input or output is declared.
TensorDeclaration DeclarationOf(const ValueInfoProto& info);
// The inputs without those that have a value in the file.
std::vector<const ValueInfoProto*> InputsOf(const GraphProto& graph);
// The sizes of dimensions that have names, from the shapes that the caller gave for inputs.
Result<std::map<std::string_view, int32_t>> NamedDimensions(const GraphProto& graph, const ReadOptions& options);

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_GRAPH_READER_H_
