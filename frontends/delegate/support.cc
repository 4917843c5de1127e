#include "frontends/delegate/support.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_text.h"
#include "core/graph/passes/pass.h"
#include "frontends/delegate/interpreter_model.h"

namespace hearth {
namespace {

using namespace tflite_c;  // NOLINT(google-build-using-namespace): the names of one interface

// Operators whose output sizes depend on the content of their inputs.
constexpr std::string_view kOfData[] = {
    "WHERE", "UNIQUE",    "NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5", "SEGMENT_SUM", "IF",
    "WHILE", "CALL",      "READ_VARIABLE",          "HASHTABLE_LOOKUP",       "SKIP_GRAM",   "LSH_PROJECTION",
    "RANGE", "VAR_HANDLE"};
// The same, unless the integer operands that give the size are constants.
constexpr std::string_view kOfOperands[] = {"RESHAPE",
                                            "TILE",
                                            "FILL",
                                            "BROADCAST_TO",
                                            "ONE_HOT",
                                            "RESIZE_BILINEAR",
                                            "SLICE",
                                            "STRIDED_SLICE",
                                            "PAD",
                                            "PADV2",
                                            "MIRROR_PAD",
                                            "TRANSPOSE",
                                            "TRANSPOSE_CONV",
                                            "SCATTER_ND",
                                            "SPACE_TO_BATCH_ND",
                                            "TOPK_V2",
                                            "EXPAND_DIMS",
                                            "MEAN",
                                            "SUM",
                                            "REDUCE_PROD",
                                            "REDUCE_MAX",
                                            "REDUCE_MIN",
                                            "REDUCE_ANY",
                                            "REDUCE_ALL",
                                            "RESIZE_NEAREST_NEIGHBOR",
                                            "SPARSE_TO_DENSE",
                                            "SPLIT_V",
                                            "BATCH_TO_SPACE_ND"};
constexpr std::string_view kOfFirstOperand[] = {"FILL", "TRANSPOSE_CONV"};

bool IsRunTimeInteger(const TfLiteContext& context, int index) {
  const TfLiteTensor* tensor = TensorAt(context, index);
  return tensor != nullptr && !IsConstant(*tensor) && (tensor->type == kTfLiteInt32 || tensor->type == kTfLiteInt64);
}

bool HasOpenSignature(const TfLiteContext& context, int index) {
  const TfLiteTensor* tensor = TensorAt(context, index);
  if (tensor == nullptr) return false;
  const std::span<const int> signature = Numbers(tensor->dims_signature);
  return Contains(signature, -1);
}

// Whether the file leaves an input's size open: it then says nothing about the tensors behind it.
bool HasOpenInput(const TfLiteContext& context, std::span<const InterpreterNode> plan) {
  std::set<int> made;
  for (const InterpreterNode& node : plan) {
    for (const int tensor : Numbers(node.node->inputs)) {
      if (!made.contains(tensor) && HasOpenSignature(context, tensor)) return true;
    }
    for (const int tensor : Numbers(node.node->outputs)) made.insert(tensor);
  }
  return false;
}

bool MakesOpenSize(const TfLiteContext& context, const InterpreterNode& node, bool has_open_input) {
  const std::string name = node.op_name();
  if (Contains(kOfData, name)) return true;
  const std::span<const int> inputs = Numbers(node.node->inputs), outputs = Numbers(node.node->outputs);
  const size_t first = Contains(kOfFirstOperand, name) ? 0 : 1;
  for (size_t k = first; k < inputs.size() && Contains(kOfOperands, name); ++k) {
    if (IsRunTimeInteger(context, inputs[k])) return true;
  }
  return !has_open_input &&
         std::any_of(outputs.begin(), outputs.end(), [&](int tensor) { return HasOpenSignature(context, tensor); });
}

// The nodes of `taken` that read values of a data-dependent size made by nodes that are not taken, directly or through
// other taken nodes. A kernel supports any size, but needs a session for each: nodes whose sizes change with each
// invocation are better left.
std::vector<LeftNode> NodesAfterOpenSizes(const TfLiteContext& context, std::span<const InterpreterNode> plan,
                                          std::span<const InterpreterNode> taken) {
  std::set<int> taken_indices, open;
  for (const InterpreterNode& node : taken) taken_indices.insert(node.index);
  const bool has_open_input = HasOpenInput(context, plan);
  std::vector<LeftNode> left;
  for (const InterpreterNode& node : plan) {
    const std::span<const int> inputs = Numbers(node.node->inputs), outputs = Numbers(node.node->outputs);
    const auto read = std::find_if(inputs.begin(), inputs.end(), [&](int tensor) { return open.contains(tensor); });
    const bool is_taken = taken_indices.contains(node.index);
    if (is_taken && read != inputs.end()) {
      left.push_back({node.index, "",
                      fmt::format("the size of {} is known only while the network runs", TensorLabel(context, *read))});
    }
    if (read != inputs.end() || (!is_taken && MakesOpenSize(context, node, has_open_input))) {
      open.insert(outputs.begin(), outputs.end());
    }
  }
  return left;
}

// Constants up to this size may be attributes (shapes, axes, paddings). Larger ones are weights, whose content does not
// decide where a node runs.
constexpr size_t kMostCopiedBytes = 4096;

struct ReadNodes {
  InterpreterModel model;
  WrittenModel written;  // the graph borrows its constants
  InterpreterGraph read;
};

Result<ReadNodes> Read(const TfLiteContext& context, std::span<const InterpreterNode> nodes, const TensorShapes& shapes,
                       const std::optional<std::vector<int>>& outputs = std::nullopt) {
  ReadNodes result;
  HEARTH_ASSIGN(result.model, ModelOfNodes(context, nodes, outputs, shapes));
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

// Keeps the inferred shapes of the outputs that differ from the interpreter's.
void KeepShapes(const TfLiteContext& context, const InterpreterGraph& read, TensorShapes& shapes) {
  for (size_t k = 0; k < read.outputs.size(); ++k) {
    const std::span<const int32_t> inferred = read.graph.value(read.graph.outputs[k]).desc.shape.dims();
    const std::span<const int> dims = Numbers(TensorAt(context, read.outputs[k])->dims);
    if (std::equal(dims.begin(), dims.end(), inferred.begin(), inferred.end())) continue;
    shapes[read.outputs[k]].assign(inferred.begin(), inferred.end());
  }
}

// The reason why no device can take the node, regardless of its neighbours; nothing if it may be taken.
std::optional<std::string> ReasonOfItsOwn(const TfLiteContext& context, const InterpreterNode& node,
                                          bool allows_quantized, TensorShapes& shapes) {
  if (!allows_quantized && HasQuantizedTensor(context, node)) return "quantized tensors are not allowed";
  Result<ReadNodes> alone = Read(context, {&node, 1}, shapes);
  if (!alone.ok()) return alone.status().message();
  // Together with other nodes it may be folded, or its operands may be constants.
  if (!UnknownNodes(*alone).empty()) return std::nullopt;
  if (const Status inferred = InferShapes(alone->read.graph); !inferred.ok()) return inferred.message();
  KeepShapes(context, alone->read, shapes);
  return std::nullopt;
}

Status CanBeRead(const TfLiteContext& context, std::span<const InterpreterNode> nodes, const TensorShapes& shapes) {
  HEARTH_ASSIGN(ReadNodes read, Read(context, nodes, shapes));
  return UnknownNodes(read).empty() ? InferShapes(read.read.graph) : Status::Ok();
}

// Finds the first node that can't be read together with those before it, for nodes that can each be read alone.
LeftNode FirstUnreadable(const TfLiteContext& context, std::span<const InterpreterNode> nodes,
                         const TensorShapes& shapes, const Status& why) {
  size_t readable = 0, unreadable = nodes.size();
  Status status = why;
  while (unreadable - readable > 1) {
    const size_t middle = readable + (unreadable - readable) / 2;
    const Status of_part = CanBeRead(context, nodes.first(middle), shapes);
    (of_part.ok() ? readable : unreadable) = middle;
    if (!of_part.ok()) status = of_part;
  }
  return {nodes[unreadable - 1].index, "", status.message()};
}

std::vector<LeftNode> NodesOffTheDevice(const ReadNodes& nodes, const SupportQuestion& question) {
  const Graph& graph = nodes.read.graph;
  const std::vector<Placement> placements = PlaceNodesThatFit(graph, *question.device, question.options);
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

bool IsNamed(const std::string& wanted, int index, std::string_view op, std::string_view name) {
  return wanted == op || wanted == name || wanted == fmt::format("op:{}", index);
}

// Nodes that the user leaves to the interpreter by name.
std::vector<LeftNode> NodesOfNames(const ReadNodes& nodes, std::span<const InterpreterNode> plan,
                                   const std::vector<std::string>& names) {
  std::vector<LeftNode> named;
  if (names.empty()) return named;
  for (const Node& node : nodes.read.graph.nodes()) {
    if (node.source_index < 0) continue;
    const int index = nodes.model.nodes[node.source_index];
    const auto found = std::find_if(plan.begin(), plan.end(), [&](const auto& each) { return each.index == index; });
    const bool is_named = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return IsNamed(name, index, OpName(node.op), found == plan.end() ? "" : found->op_name());
    });
    if (is_named) named.push_back({index, "", "the option cpu_ops names it"});
  }
  return named;
}

// The names that match neither a node of the plan nor an operation in `ops`.
std::vector<std::string> UnusedNames(const std::vector<std::string>& names, std::span<const InterpreterNode> plan,
                                     const std::set<std::string>& ops) {
  std::vector<std::string> unused;
  for (const std::string& name : names) {
    const bool is_used = ops.contains(name) || std::any_of(plan.begin(), plan.end(), [&](const InterpreterNode& node) {
                           return IsNamed(name, node.index, "", node.op_name());
                         });
    if (!is_used) unused.push_back(name);
  }
  return unused;
}

}  // namespace

Result<Support> FindSupport(const TfLiteContext& context, std::span<const InterpreterNode> plan,
                            const SupportQuestion& question) {
  Support support;
  std::map<int, std::string> names;
  for (const InterpreterNode& node : plan) {
    names.emplace(node.index, node.op_name());
    if (const auto reason = ReasonOfItsOwn(context, node, question.allows_quantized, support.shapes)) {
      support.left.push_back({node.index, "", *reason});
    } else {
      support.taken.push_back(node);
    }
  }
  std::set<std::string> ops;
  // Leaving a node can make another one's constant operand computed, so this repeats until all can be read.
  while (!support.taken.empty()) {
    if (const auto followers = NodesAfterOpenSizes(context, plan, support.taken); !followers.empty()) {
      Leave(followers, support);
      continue;
    }
    Result<ReadNodes> read = Read(context, support.taken, support.shapes);
    if (!read.ok()) {
      Leave({FirstUnreadable(context, support.taken, support.shapes, read.status())}, support);
      continue;
    }
    ReadNodes& together = *read;
    if (const std::vector<LeftNode> unknown = UnknownNodes(together); !unknown.empty()) {
      Leave(unknown, support);
      continue;
    }
    for (const Node& node : together.read.graph.nodes()) ops.insert(OpName(node.op));
    if (const auto named = NodesOfNames(together, plan, question.cpu_ops); !named.empty()) {
      Leave(named, support);
      continue;
    }
    if (const Status inferred = InferShapes(together.read.graph); !inferred.ok()) {
      Leave({FirstUnreadable(context, support.taken, support.shapes, inferred)}, support);
      continue;
    }
    if (question.device->is_host()) break;  // the host runs all nodes that can be read
    HEARTH_TRY(RunPasses(together.read.graph, *question.device, {}));
    Leave(NodesOffTheDevice(together, question), support);
    break;
  }
  for (LeftNode& node : support.left) node.op = names[node.index];
  support.unknown_cpu_ops = UnusedNames(question.cpu_ops, plan, ops);
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
                                              const std::optional<std::vector<int>>& outputs,
                                              const TensorShapes& shapes) {
  const Result<ReadNodes> read = Read(context, nodes, shapes, outputs);
  if (read.ok()) return UnknownNodes(*read);
  return std::vector<LeftNode>{FirstUnreadable(context, nodes, shapes, read.status())};
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
