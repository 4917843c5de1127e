// The checks that shape inference of every operation needs, with errors that name node and values.
#ifndef HEARTH_CORE_GRAPH_OPS_NODE_INFERENCE_H_
#define HEARTH_CORE_GRAPH_OPS_NODE_INFERENCE_H_

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "core/graph/op_def.h"

namespace hearth {

// One node while its output shapes are inferred. Borrows graph and node. CheckOperands comes before every infer
// function (OpDef::infer): the other methods rely on it, and it makes them safe on hostile graphs.
class NodeInference {
 public:
  NodeInference(Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  // Checks the numbers of inputs and outputs, that required inputs are present and ids in range, and that no input has
  // a negative or oversized shape, or is empty where the operation takes no empty tensors.
  Status CheckOperands(const OperandCounts& counts) const;

  const Graph& graph() const { return graph_; }
  const Node& node() const { return node_; }
  template <typename Attributes>
  const Attributes& op() const {
    return std::get<Attributes>(node_.op);
  }
  const TensorDesc& output(size_t i) const { return graph_.value(node_.outputs[i]).desc; }
  void DescribeOutput(size_t i, const TensorDesc& desc) const { graph_.value(node_.outputs[i]).desc = desc; }
  bool HasInput(size_t i) const { return InputOf(node_, i) != kNoValue; }
  const TensorDesc& input(size_t i) const { return graph_.value(node_.inputs[i]).desc; }
  const Shape& shape(size_t i) const { return input(i).shape; }

  Status CheckRank(size_t i, int rank) const;
  // A type of real numbers: float32, float16, or quantized.
  Status CheckReal(size_t i) const;
  // Integers that are not quantized: indices.
  Status CheckIntegers(size_t i) const;
  // Real, or the int32 that biases of quantized models have; one element for each of `channels`.
  Status CheckBias(size_t i, int32_t channels) const;

  // Checks that an output has the element type of an input; only scale and zero point may differ.
  Status CheckKeepsType(size_t output_index = 0, size_t input_index = 0) const;

  // Sets output `i`. A shape that the output has already (rank 0 counts as none) must be the same. Dimensions come
  // as int64 so that callers need not care about overflow. Refuses oversized tensors.
  Status SetOutput(size_t i, std::span<const int64_t> dims) const;
  Status SetOutput(size_t i, std::initializer_list<int64_t> dims) const {
    return SetOutput(i, std::span<const int64_t>(dims.begin(), dims.size()));
  }
  Status SetOutput(size_t i, const Shape& shape) const;

  // Gives output `i` the element type of input `from`, as TFLite does regardless of the file. If the input represents
  // real numbers the output must too: a quantized type needs its own quantization.
  Status SetOutputTypeOf(size_t i, size_t from) const;
  // Gives output `i` a type without quantization.
  void SetOutputType(size_t i, DType dtype) const;

  // Errors that start with the node: Unsupported("dilation {} ...", dilation).
  template <typename... Args>
  Status Malformed(fmt::format_string<Args...> format, Args&&... args) const {
    return FailWith(StatusCode::kMalformedInput, fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  Status Unsupported(fmt::format_string<Args...> format, Args&&... args) const {
    return FailWith(StatusCode::kUnsupported, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  bool HasEmptyInput() const;
  Status FailWith(StatusCode code, const std::string& text) const;

  Graph& graph_;
  const Node& node_;
};

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_NODE_INFERENCE_H_
