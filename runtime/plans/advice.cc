#include "runtime/plans/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/device/options.h"
#include "core/graph/op_text.h"

namespace hearth {
namespace {

// Smaller shares of waste are not mentioned.
constexpr double kNotableShare = 0.05;
// Assumed without measurements: a GPU's launch of one kernel, and the speed of one CPU core with XNNPACK.
constexpr double kLaunchMs = 0.01, kCpuMultiplyAddsPerMs = 25e6;
constexpr double kMebibyte = 1 << 20;

std::string SizeText(double bytes) {
  if (bytes < 1024) return fmt::format("{:.0f} bytes", bytes);
  return bytes < kMebibyte ? fmt::format("{:.1f} KiB", bytes / 1024) : fmt::format("{:.1f} MiB", bytes / kMebibyte);
}

bool IsOnDevice(std::span<const Placement> placements, int node) {
  return node >= 0 && static_cast<size_t>(node) < placements.size() && placements[node].on_device;
}

// Values that device nodes read or make, without constants.
std::set<ValueId> DeviceValues(const Graph& graph, std::span<const Placement> placements) {
  std::set<ValueId> values;
  for (size_t k = 0; k < graph.nodes().size(); ++k) {
    if (!placements[k].on_device) continue;
    for (const auto* list : {&graph.nodes()[k].inputs, &graph.nodes()[k].outputs}) {
      for (ValueId value : *list) {
        if (value != kNoValue && !graph.IsConstant(value)) values.insert(value);
      }
    }
  }
  return values;
}

double BytesOf(const Graph& graph, ValueId value) {
  return static_cast<double>(graph.value(value).desc.size_bytes());
}

void AdviseOnUnknown(const Graph& graph, std::vector<Advice>& advice) {
  for (const Node& node : graph.nodes()) {
    if (!std::holds_alternative<UnknownOp>(node.op)) continue;
    advice.push_back(
        {"unknown-operation", std::string(UnknownOperation(node).message()), {{"index", node.source_index}}});
  }
}

void AdviseOnPadding(const Graph& graph, const std::set<ValueId>& values, std::vector<Advice>& advice) {
  double used = 0, padded = 0, most_wasted = 0;
  int count = 0;
  ValueId worst = kNoValue;
  for (ValueId value : values) {
    const Bhwc shape = ToBhwc(graph.value(value).desc.shape);
    const double all = static_cast<double>(shape.pixels()) * shape.slices() * 4;
    const double own = static_cast<double>(shape.pixels()) * shape.c;
    used += own;
    padded += all;
    if (shape.c % 4 == 0) continue;
    ++count;
    if (all - own > most_wasted) {
      most_wasted = all - own;
      worst = value;
    }
  }
  const double share = padded > 0 ? 1 - used / padded : 0;
  if (share < kNotableShare) return;
  const Value& value = graph.value(worst);
  advice.push_back(
      {"channel-padding",
       fmt::format("{} tensors have channels that are not a multiple of 4 and are padded to one: {:.0f} % of "
                   "the tensors' memory and work is padding, most of it in '{}' ({})",
                   count, 100 * share, value.name, value.desc.shape.ToString()),
       {{"tensors", count}, {"wasted_share", share}}});
}

bool OnlyMoves(const Graph& graph, const Node& node) {
  if (std::holds_alternative<Reshape>(node.op)) {
    // With equal channels a reshape is an alias of its input.
    return ToBhwc(graph.value(node.inputs[0]).desc.shape).c != ToBhwc(graph.value(node.outputs[0]).desc.shape).c;
  }
  return std::holds_alternative<Concat>(node.op) || std::holds_alternative<Pad>(node.op) ||
         std::holds_alternative<Transpose>(node.op) || std::holds_alternative<Slice>(node.op) ||
         std::holds_alternative<Split>(node.op) || std::holds_alternative<Pack>(node.op) ||
         std::holds_alternative<Unpack>(node.op) || std::holds_alternative<Tile>(node.op) ||
         std::holds_alternative<BroadcastTo>(node.op) || std::holds_alternative<DepthToSpace>(node.op) ||
         std::holds_alternative<SpaceToDepth>(node.op) || std::holds_alternative<SpaceToBatch>(node.op) ||
         std::holds_alternative<BatchToSpace>(node.op) || std::holds_alternative<MirrorPad>(node.op);
}

void AdviseOnMovement(const Graph& graph, std::span<const Placement> placements, std::vector<Advice>& advice) {
  std::map<std::string, int> counts;
  double bytes = 0;
  int moves = 0;
  for (size_t k = 0; k < graph.nodes().size(); ++k) {
    const Node& node = graph.nodes()[k];
    if (!placements[k].on_device || !OnlyMoves(graph, node)) continue;
    ++moves;
    ++counts[OpName(node.op)];
    for (ValueId value : node.outputs) bytes += 2 * BytesOf(graph, value);
  }
  if (moves == 0) return;
  std::string list;
  for (const auto& [name, count] : counts) list += fmt::format("{}{} {}", list.empty() ? "" : ", ", name, count);
  advice.push_back(
      {"data-movement",
       fmt::format("operations that only move data ({}) read and write {} in every run", list, SizeText(bytes)),
       {{"operations", moves}, {"bytes", bytes}}});
}

void AdviseOnInterface(const Graph& graph, const std::set<ValueId>& values, std::vector<Advice>& advice) {
  int count = 0;
  double bytes = 0;
  std::string names;
  for (const auto* list : {&graph.inputs, &graph.outputs}) {
    for (ValueId value : *list) {
      const TensorDesc& desc = graph.value(value).desc;
      if (!desc.quantization.has_value() || BitsOf(desc.dtype) > 16 || !values.contains(value)) continue;
      ++count;
      bytes += BytesOf(graph, value);
      names += fmt::format("{}'{}' ({})", names.empty() ? "" : ", ", graph.value(value).name, DTypeName(desc.dtype));
    }
  }
  if (count == 0) return;
  advice.push_back({"converted-edges",
                    fmt::format("{} {} converted between integers and floats in every run: the device "
                                "computes in floats, so a float model is as fast and more exact",
                                names, count == 1 ? "is" : "are"),
                    {{"tensors", count}, {"bytes", bytes}}});
}

void AdviseOnSplits(const Graph& graph, std::span<const Placement> placements, std::vector<Advice>& advice) {
  const std::vector<int> producers = graph.Producers();
  int pieces = 0;
  double bytes = 0;
  for (size_t k = 0; k < placements.size(); ++k) {
    if (k == 0 || placements[k].on_device != placements[k - 1].on_device) ++pieces;
    for (ValueId value : graph.nodes()[k].inputs) {
      const int producer = value == kNoValue ? -1 : producers[value];
      if (producer >= 0 && IsOnDevice(placements, producer) != placements[k].on_device) bytes += BytesOf(graph, value);
    }
  }
  if (pieces <= 1) return;
  const std::string cost = pieces > kFewPieces ? "; consider --device cpu" : "";
  advice.push_back({"splits",
                    fmt::format("the network runs in {} pieces, on the device and on the CPU in turn: {} cross between "
                                "them in every run{}",
                                pieces, SizeText(bytes), cost),
                    {{"pieces", pieces}, {"bytes", bytes}}});
}

// The node's multiply-adds, or its elements if it has none.
double WorkOf(const Graph& graph, const Node& node) {
  if (node.outputs.empty()) return 0;
  const auto count = [&](ValueId value) { return static_cast<double>(graph.value(value).desc.shape.element_count()); };
  const double out = count(node.outputs[0]);
  const Shape* filter =
      node.inputs.size() > 1 && node.inputs[1] != kNoValue ? &graph.value(node.inputs[1]).desc.shape : nullptr;
  if (filter == nullptr || filter->rank() < 2) return out;
  const bool is_full = std::holds_alternative<Conv2D>(node.op) || std::holds_alternative<FullyConnected>(node.op) ||
                       std::holds_alternative<TransposeConv>(node.op) || std::holds_alternative<ConvInteger>(node.op);
  if (is_full) return out / (*filter)[0] * count(node.inputs[1]);
  if (std::holds_alternative<DepthwiseConv2D>(node.op) && filter->rank() == 4) return out * (*filter)[1] * (*filter)[2];
  if (std::holds_alternative<BatchMatMul>(node.op)) {
    const Shape& lhs = graph.value(node.inputs[0]).desc.shape;
    return out * lhs[std::max(0, lhs.rank() - 1)];
  }
  return out;
}

void AdviseOnSize(const Graph& graph, std::span<const Placement> placements, std::vector<Advice>& advice) {
  double work = 0;
  int launches = 0;
  for (size_t k = 0; k < graph.nodes().size(); ++k) {
    work += WorkOf(graph, graph.nodes()[k]);
    launches += placements[k].on_device ? 1 : 0;
  }
  const double cpu_ms = work / kCpuMultiplyAddsPerMs, launch_ms = launches * kLaunchMs;
  if (launches == 0 || cpu_ms > launch_ms) return;
  advice.push_back({"too-small",
                    fmt::format("about {:.2f} million multiply-adds in {} operations: a CPU computes that in the time "
                                "that a GPU takes to start; try --device cpu",
                                work / 1e6, launches),
                    {{"multiply_adds", work}, {"device_operations", launches}}});
}

}  // namespace

std::vector<Advice> AdviceOn(const Graph& graph, std::span<const Placement> placements, const DeviceInfo& device) {
  std::vector<Advice> advice;
  AdviseOnUnknown(graph, advice);
  if (device.is_host()) return advice;
  const std::set<ValueId> values = DeviceValues(graph, placements);
  AdviseOnPadding(graph, values, advice);
  AdviseOnMovement(graph, placements, advice);
  AdviseOnInterface(graph, values, advice);
  AdviseOnSplits(graph, placements, advice);
  AdviseOnSize(graph, placements, advice);
  return advice;
}

std::vector<std::string> PlacementWarnings(std::span<const Fallback> fallbacks, int pieces) {
  std::set<std::string> told;
  std::vector<std::string> warnings;
  for (const Fallback& fallback : fallbacks) {
    if (!told.insert(fallback.reason).second) continue;
    // An operation that Hearth added has no number in the file.
    const bool is_of_file = fallback.source_index >= 0;
    const std::string name = is_of_file ? fmt::format("op {} {}", fallback.source_index, fallback.op) : fallback.op;
    warnings.push_back(fmt::format("{}: {}; runs on the CPU", name, fallback.reason));
  }
  if (pieces > kFewPieces) {
    warnings.push_back(
        fmt::format("the network is split into {} pieces between device and CPU: moving values between them costs time "
                    "in every run",
                    pieces));
  }
  return warnings;
}

std::vector<std::string> UnknownCpuOpsWarnings(const Graph& graph, std::span<const std::string> cpu_ops) {
  std::vector<std::string> warnings;
  for (const std::string& wanted : cpu_ops) {
    if (wanted == kQuantizedOps) continue;
    if (std::ranges::any_of(graph.nodes(), [&](const Node& node) { return IsCalled(node, wanted); })) continue;
    warnings.push_back(fmt::format(
        "'{}' was to stay on the CPU, but no operation of the model is called so; `hearth inspect` lists them",
        wanted));
  }
  return warnings;
}

}  // namespace hearth
