#include "frontends/delegate/support.h"

#include <algorithm>
#include <map>
#include <optional>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/passes/pass.h"

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

Result<ReadNodes> Read(const TfLiteContext& context, std::span<const InterpreterNode> nodes,
                       const std::optional<std::vector<int>>& outputs = std::nullopt) {
  ReadNodes result;
  HEARTH_ASSIGN(result.model, ModelOfNodes(context, nodes, outputs));
  HEARTH_ASSIGN(result.written, WriteModel(result.model.model, kMostCopiedBytes));
  HEARTH_ASSIGN(result.read, ReadInterpreterGraph(result.model, result.written));
  return result;
}

std::vector<LeftNode> UnknownNodes(const ReadNodes& nodes) {
  std::vector<LeftNode> unknown;
  for (const Node& node : nodes.read.graph.nodes()) {
    const auto* op = std::get_if<UnknownOp>(&node.op);
    if (op == nullptr) continue;
    unknown.push_back({nodes.model.nodes[node.source_index], op->name,
                       op->reason.empty() ? "Hearth does not know this operator" : op->reason});
  }
  return unknown;
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

// Why the node can't be taken, whatever surrounds it and whatever the device; nothing when it may be taken.
std::optional<std::string> ReasonOfItsOwn(const TfLiteContext& context, const InterpreterNode& node,
                                          bool allows_quantized) {
  if (!allows_quantized && HasQuantizedTensor(context, node)) return "quantized tensors are not allowed";
  Result<ReadNodes> alone = Read(context, {&node, 1});
  if (!alone.ok()) return alone.status().message();
  // Among others it may be folded, or its operands be constants.
  if (!UnknownNodes(*alone).empty()) return std::nullopt;
  if (const Status inferred = InferShapes(alone->read.graph); !inferred.ok()) return inferred.message();
  return ShapeReason(context, alone->read);
}

std::vector<LeftNode> NodesOffTheDevice(const ReadNodes& nodes, const SupportQuestion& question) {
  const Graph& graph = nodes.read.graph;
  const std::vector<Placement> placements = PlaceNodes(graph, *question.device, question.options);
  std::map<int, LeftNode> off;  // passes may make several nodes of one
  for (size_t k = 0; k < placements.size(); ++k) {
    const int32_t source = graph.nodes()[k].source_index;
    if (placements[k].on_device || source < 0) continue;
    const int index = nodes.model.nodes[source];
    off.emplace(index, LeftNode{index, "", placements[k].reason});
  }
  std::vector<LeftNode> result;
  for (auto& [index, node] : off) result.push_back(std::move(node));
  return result;
}

}  // namespace

Result<Support> FindSupport(const TfLiteContext& context, std::span<const InterpreterNode> plan,
                            const SupportQuestion& question) {
  Support support;
  std::map<int, std::string> names;
  for (const InterpreterNode& node : plan) {
    names.emplace(node.index, node.op_name());
    if (const auto reason = ReasonOfItsOwn(context, node, question.allows_quantized)) {
      support.left.push_back({node.index, "", *reason});
    } else {
      support.taken.push_back(node);
    }
  }
  // Without one node another may lose its constant operand, so until all that are left can be read.
  while (!support.taken.empty()) {
    HEARTH_ASSIGN(ReadNodes together, Read(context, support.taken));
    if (const std::vector<LeftNode> unknown = UnknownNodes(together); !unknown.empty()) {
      Leave(unknown, support);
      continue;
    }
    if (question.device->backend == BackendKind::kCpu) break;  // runs all that can be read
    HEARTH_TRY(InferShapes(together.read.graph));
    HEARTH_TRY(RunPasses(together.read.graph, *question.device, {}));
    Leave(NodesOffTheDevice(together, question), support);
    break;
  }
  for (LeftNode& node : support.left) node.op = names[node.index];
  std::sort(support.left.begin(), support.left.end(),
            [](const LeftNode& a, const LeftNode& b) { return a.index < b.index; });
  return support;
}

void Leave(const std::vector<LeftNode>& nodes, Support& support) {
  for (const LeftNode& node : nodes) {
    std::erase_if(support.taken, [&](const InterpreterNode& taken) { return taken.index == node.index; });
    support.left.push_back(node);
  }
}

Result<std::vector<LeftNode>> UnreadableNodes(const TfLiteContext& context, std::span<const InterpreterNode> nodes,
                                              const std::optional<std::vector<int>>& outputs) {
  HEARTH_ASSIGN(const ReadNodes read, Read(context, nodes, outputs));
  return UnknownNodes(read);
}

Result<std::vector<InterpreterNode>> WithTheirConstants(TfLiteContext& context, std::span<const InterpreterNode> nodes,
                                                        std::map<int, int> makers) {
  for (const InterpreterNode& node : nodes) {
    std::erase_if(makers, [&](const auto& maker) { return maker.second == node.index; });
  }
  std::vector<InterpreterNode> all;
  for (const InterpreterNode& node : nodes) {
    for (const int tensor : Numbers(node.node->inputs)) {
      const auto found = makers.find(tensor);
      if (found == makers.end()) continue;
      HEARTH_ASSIGN(const InterpreterNode maker, NodeAt(context, found->second));
      all.push_back(maker);
      makers.erase(found);
    }
  }
  all.insert(all.end(), nodes.begin(), nodes.end());
  return all;
}

}  // namespace hearth
