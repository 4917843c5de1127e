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

#include "frontends/onnx/op_view.h"
#include "frontends/onnx/proto.h"
#include "runtime/model/model_interface.h"

namespace hearth::onnx {

class GraphReader : public Scope {
 public:
  using Scope::Scope;

  // The whole model: inputs, nodes, outputs.
  Status ReadModel(const GraphProto& graph);
  // A subgraph with these inputs. Returns its outputs, tensors in plain order.
  Results ReadSubgraph(const GraphProto& graph, std::span<const Tensor> inputs);
  // The nodes of a function.
  Results ReadFunction(const FunctionProto& function, const std::vector<Tensor>& inputs);

 private:
  Status AddInputs(const GraphProto& graph);
  Status ReadNodes(const std::vector<NodeProto>& nodes);
  Status ReadNode(const NodeProto& node);
  Results MakeNode(OpView& view);
  Results CallFunction(const OpView& view, const FunctionProto& function);
  void NameValues(const NodeProto& node, const std::vector<Tensor>& made, size_t first_value);
  Status ReadOutputs(const GraphProto& graph);
};

// The names that a subgraph reads of the graphs around it.
std::set<std::string_view> OuterNames(const GraphProto& graph);
// How a model's input or output is declared.
TensorDeclaration DeclarationOf(const ValueInfoProto& info);
// The inputs without those that have a value in the file.
std::vector<const ValueInfoProto*> InputsOf(const GraphProto& graph);
// The sizes of dimensions that have names, from the shapes that the caller gave for inputs, then from
// options.dimensions.
Result<std::map<std::string_view, int32_t>> NamedDimensions(const GraphProto& graph, const ReadOptions& options);

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_GRAPH_READER_H_
