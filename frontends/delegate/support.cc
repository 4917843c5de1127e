#include "frontends/delegate/support.h"

#include <algorithm>
#include <map>
#include <optional>

#include "core/error.h"
#include "core/op_table.h"
#include "core/passes/pass.h"

namespace hearth {
namespace {

using namespace tflite_c;  // NOLINT(google-build-using-namespace): the names of one interface

// Constants up to this size may be attributes (shapes, axes, paddings); larger ones are weights, whose content does not
// decide where a node runs.
constexpr size_t kMostCopiedBytes = 4096;

struct ReadNodes {
  InterpreterModel model;
  WrittenModel written;  // the graph borrows its constants
  InterpreterGraph read;
};

Result<ReadNodes> Read(const TfLiteContext& context, std::span<const InterpreterNode> nodes) {
  ReadNodes result;
  HEARTH_ASSIGN(result.model, ModelOfNodes(context, nodes));
  HEARTH_ASSIGN(result.written, WriteModel(result.model.model, kMostCopiedBytes));
  HEARTH_ASSIGN(result.read, ReadInterpreterGraph(result.model, result.written));
  return result;
}

bool HasQuantizedTensor(const TfLiteContext& context, const InterpreterNode& node) {
  for (const TfLiteIntArray* list : {node.node->inputs, node.node->outputs}) {
    for (const int index : Numbers(list)) {
      const TfLiteTensor* tensor = TensorAt(context, index);
      if (tensor == nullptr || IsConstant(*tensor) || tensor->params.scale == 0) continue;
      const TfLiteType type = tensor->type;
      if (type == kTfLiteInt8 || type == kTfLiteUInt8 || type == kTfLiteInt16) return true;
    }
  }
  return false;
}

// Results are copied into the interpreter's tensors as they are.
std::optional<std::string> ShapeReason(const TfLiteContext& context, const InterpreterGraph& read) {
  for (size_t k = 0; k < read.outputs.size(); ++k) {
    const TensorDesc& desc = read.graph.value(read.graph.outputs[k]).desc;
    const std::span<const int> dims = Numbers(TensorAt(context, read.outputs[k])->dims);
    if (!std::equal(dims.begin(), dims.end(), desc.shape.dims().begin(), desc.shape.dims().end())) {
      return fmt::format("Hearth infers the shape {} for {}, the interpreter another", desc.shape.ToString(),
                         TensorLabel(context, read.outputs[k]));
    }
  }
  return std::nullopt;
}

// Why the node can't be taken for itself, whatever the device; nothing when it can.
std::optional<std::string> ReasonOfItsOwn(const TfLiteContext& context, const InterpreterNode& node,
                                          bool allows_quantized) {
  if (!allows_quantized && HasQuantizedTensor(context, node)) return "quantized tensors are not allowed";
  Result<ReadNodes> alone = Read(context, {&node, 1});
  if (!alone.ok()) return alone.status().message();
  Graph& graph = alone->read.graph;
  for (const Node& read : graph.nodes()) {
    const auto* unknown = std::get_if<UnknownOp>(&read.op);
    if (unknown != nullptr) return unknown->reason.empty() ? "Hearth does not know this operator" : unknown->reason;
  }
  if (const Status inferred = InferShapes(graph); !inferred.ok()) return inferred.message();
  return ShapeReason(context, alone->read);
}

// Reasons by the interpreter's node, of nodes that the device does not run.
Result<std::map<int, std::string>> ReasonsOfTheDevice(const TfLiteContext& context,
                                                      std::span<const InterpreterNode> nodes, const DeviceInfo& device,
                                                      const LowerOptions& options) {
  std::map<int, std::string> reasons;
  if (nodes.empty() || device.backend == BackendKind::kCpu) return reasons;  // the CPU runs what the reader knows
  HEARTH_ASSIGN(ReadNodes together, Read(context, nodes));
  Graph& graph = together.read.graph;
  HEARTH_TRY(InferShapes(graph));
  HEARTH_TRY(RunPasses(graph, device, {}));
  const std::vector<Placement> placements = PlaceNodes(graph, device, options);
  for (size_t k = 0; k < placements.size(); ++k) {
    const int32_t source = graph.nodes()[k].source_index;
    if (!placements[k].on_device && source >= 0) reasons.emplace(together.model.nodes[source], placements[k].reason);
  }
  return reasons;
}

}  // namespace

Result<Support> FindSupport(const TfLiteContext& context, std::span<const InterpreterNode> plan,
                            const DeviceInfo& device, const LowerOptions& options, bool allows_quantized) {
  Support support;
  std::vector<InterpreterNode> readable;
  for (const InterpreterNode& node : plan) {
    if (const auto reason = ReasonOfItsOwn(context, node, allows_quantized)) {
      support.left.push_back({node.index, node.op_name(), *reason});
    } else {
      readable.push_back(node);
    }
  }
  HEARTH_ASSIGN(const auto reasons, ReasonsOfTheDevice(context, readable, device, options));
  for (const InterpreterNode& node : readable) {
    if (const auto found = reasons.find(node.index); found != reasons.end()) {
      support.left.push_back({node.index, node.op_name(), found->second});
    } else {
      support.taken.push_back(node);
    }
  }
  std::sort(support.left.begin(), support.left.end(),
            [](const LeftNode& a, const LeftNode& b) { return a.index < b.index; });
  return support;
}

}  // namespace hearth
