#include "core/lowering/lower.h"

#include <algorithm>
#include <limits>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/device/device_rules.h"
#include "core/graph/op_def.h"
#include "core/graph/op_text.h"
#include "core/graph/quantize.h"
#include "core/lowering/loop_iterations.h"
#include "core/lowering/lowering_support.h"
#include "core/plan/plan_builder.h"

namespace hearth {
namespace {

// Kernels count texels and elements in 32 bits.
constexpr int64_t kMostTexels = std::numeric_limits<int32_t>::max() / 4;

// Reasons that hold for every operation: the user's choice and limits of the device.
std::optional<std::string> GeneralReason(const Graph& graph, const Node& node, const DeviceInfo& device,
                                         const LowerOptions& options) {
  if (device.is_host()) return "the device is the CPU";
  const auto names_it = [&](const std::string& excluded) { return IsCalled(node, excluded); };
  if (std::ranges::any_of(options.cpu_ops, names_it)) return "excluded by --cpu-ops";
  const bool takes_quantized = !Contains(options.cpu_ops, kQuantizedOps);
  for (const auto* list : {&node.inputs, &node.outputs}) {
    for (ValueId value : Present(*list)) {
      const TensorDesc& desc = graph.value(value).desc;
      if (const Bhwc shape = ToBhwc(desc.shape); shape.pixels() * shape.slices() > kMostTexels)
        return fmt::format("a tensor of it ({}) has more than 2^31 elements", desc.shape);
      if (desc.dtype == DType::kFloat64 || desc.dtype == DType::kUInt32 || desc.dtype == DType::kUInt64)
        return fmt::format("a tensor of it is {}, which devices don't have", DTypeName(desc.dtype));
      if (graph.IsConstant(value)) continue;
      if (!takes_quantized && IsQuantized(desc)) return "quantized tensors are excluded by --cpu-ops";
      if (desc.dtype == DType::kInt4) return "a tensor that is not constant has 4-bit elements";
      if (IsQuantized(desc) && desc.quantization->scales.size() > 1)
        return "a tensor that is not constant has a scale per channel";
    }
  }
  return std::nullopt;
}

const Node* FirstUnknown(const Graph& graph) {
  const auto found =
      std::ranges::find_if(graph.nodes(), [](const Node& node) { return std::holds_alternative<UnknownOp>(node.op); });
  return found == graph.nodes().end() ? nullptr : &*found;
}

Placement PlaceNode(const Graph& graph, const Node& node, const Placing& placing, const LowerOptions& options) {
  const DeviceInfo& device = placing.device;
  if (auto reason = GeneralReason(graph, node, device, options)) return {false, *reason};
  const OpDef& def = OpDefOf(node.op);
  if (def.unsupported == nullptr)
    return {false, fmt::format("no kernel on {}", device.id.empty() ? device.backend : device.id)};
  if (auto reason = def.unsupported(graph, node, placing)) return {false, *reason};
  const int64_t iterations = def.loop_iterations(graph, node), most_iterations = MostLoopIterations(device);
  if (iterations > most_iterations) {
    return {false, fmt::format("its loops take {} turns; on drivers like this one at most {} are safe", iterations,
                               most_iterations)};
  }
  return {true, ""};
}

// Lowers each node to where `placements` says. A node that does not fit the device is placed on the host for the next
// attempt, with the reason, and the result is kResourceExhausted.
Result<std::vector<Fallback>> LowerNodes(const Graph& graph, const DeviceInfo& device,
                                         std::vector<Placement>& placements, PlanBuilder& builder) {
  Status too_large;
  std::vector<Fallback> fallbacks;
  for (size_t k = 0; k < graph.nodes().size(); ++k) {
    const Node& node = graph.nodes()[k];
    if (placements[k].on_device) {
      const Status lowered = OpDefOf(node.op).lower(node, builder);
      if (!lowered.ok() && lowered.code() != StatusCode::kResourceExhausted) return lowered;
      if (lowered.ok()) continue;
      too_large = lowered;
      placements[k] = {false, "it is too large for the device: " + lowered.message()};
    }
    builder.CallHost(static_cast<int>(k));
    if (!device.is_host()) fallbacks.push_back({node.source_index, OpName(node.op), placements[k].reason});
  }
  HEARTH_TRY(too_large);
  return fallbacks;
}

// One attempt at a plan: the error of LowerNodes or of memory planning if it fails.
Result<Plan> TryLower(const Graph& graph, const DeviceInfo& device, const LowerOptions& options,
                      std::vector<Placement>& placements) {
  PlanBuilder builder(graph, device, options);
  HEARTH_ASSIGN(std::vector<Fallback> fallbacks, LowerNodes(graph, device, placements, builder));
  HEARTH_ASSIGN(Plan plan, builder.Finish());
  plan.fallbacks = std::move(fallbacks);
  return plan;
}

Result<Plan> LowerWhatFits(const Graph& graph, const DeviceInfo& device, const LowerOptions& options) {
  std::vector<Placement> placements = PlaceNodes(graph, device, options);
  const auto on_device = [&] { return std::ranges::count_if(placements, &Placement::on_device); };
  for (;;) {
    const auto before = on_device();
    Result<Plan> plan = TryLower(graph, device, options, placements);
    if (plan.ok() || plan.status().code() != StatusCode::kResourceExhausted || before == 0) return plan;
    if (on_device() < before) continue;
    // Each node fits, but not all of them together.
    for (Placement& placement : placements) {
      if (placement.on_device)
        placement = {false, "the network is too large for the device: " + plan.status().message()};
    }
  }
}

// Whether the plan whose elementwise chains joined the kernels before them needs few further programs for the
// dispatches that it saves: a start compiles each program, each run makes all dispatches.
bool SavesEnough(const Plan& joined, const Plan& plan) {
  constexpr size_t kDispatchesForAProgram = 8;
  return joined.dispatches.size() + kDispatchesForAProgram * joined.kernels.size() <
         plan.dispatches.size() + kDispatchesForAProgram * plan.kernels.size();
}

}  // namespace

std::vector<Placement> PlaceNodes(const Graph& graph, const DeviceInfo& device, const LowerOptions& options) {
  std::vector<Placement> placements;
  placements.reserve(graph.nodes().size());
  const Placing placing = {device, device.is_host() ? std::vector<bool>() : ValuesThatFit32Bits(graph)};
  for (const Node& node : graph.nodes()) placements.push_back(PlaceNode(graph, node, placing, options));
  return placements;
}

std::vector<Placement> PlaceNodesThatFit(const Graph& graph, const DeviceInfo& device, const LowerOptions& options) {
  std::vector<Placement> placements = PlaceNodes(graph, device, options);
  if (device.is_host() || FirstUnknown(graph) != nullptr) return placements;
  for (;;) {
    PlanBuilder builder(graph, device, options);
    const Status lowered = LowerNodes(graph, device, placements, builder).status();
    if (lowered.code() != StatusCode::kResourceExhausted) return placements;
  }
}

Result<Plan> Lower(const Graph& graph, const DeviceInfo& device, const LowerOptions& options) {
  if (const Node* unknown = FirstUnknown(graph)) return UnknownOperation(*unknown);
  Result<Plan> plan = LowerWhatFits(graph, device, options);
  const bool may_join = options.preference == Preference::kBalanced && Applies(Rule::kCostlyPrograms, device) &&
                        !IsForced(Rule::kCostlyPrograms, device);
  if (!plan.ok() || !may_join) return plan;
  Result<Plan> joined = LowerWhatFits(graph, Without(Rule::kCostlyPrograms, device), options);
  return joined.ok() && SavesEnough(*joined, *plan) ? joined : plan;
}

}  // namespace hearth
