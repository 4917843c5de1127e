#include "runtime/plans/plan_cache.h"

#include <algorithm>
#include <functional>

#include "core/base/error.h"
#include "core/device/device_rules.h"
#include "core/graph/evaluate.h"
#include "core/graph/passes/pass.h"
#include "core/plan/plan_proof.h"
#include "hal/device/stopwatch.h"

namespace hearth {

namespace {

// Whether running the plan, not only making it, needs the graph.
bool NeedsTheGraph(const Plan& plan, const Graph& graph) {
  return plan.runs_on_cpu() || std::any_of(graph.outputs.begin(), graph.outputs.end(),
                                           [&](ValueId output) { return graph.IsConstant(output); });
}

// An unset read path means the rule's.
PlanRequest WithReadPath(PlanRequest request) {
  request.options.read_path = request.options.read_path.value_or(DefaultReadPath(*request.device));
  return request;
}

Result<MadePlan> PlanFrom(const PlanRequest& request, const StoredEntry& entry) {
  MadePlan made;
  HEARTH_ASSIGN(made.plan, DeserializePlan(entry.bytes));
  HEARTH_TRY(CheckStoredPlan(made.plan, *request.graph, *request.device));
  made.found_as = entry.key;
  return made;
}

Result<MadePlan> LowerPlan(const PlanRequest& request) {
  MadePlan made;
  const Stopwatch rewriting;
  HEARTH_ASSIGN(Graph rewritten, RewrittenGraph(request));
  made.lowered_graph = std::make_unique<Graph>(std::move(rewritten));
  made.rewrite_ms = rewriting.milliseconds();
  const Stopwatch lowering;
  HEARTH_ASSIGN(made.plan, Lower(*made.lowered_graph, *request.device, request.options));
  const int32_t in_file = request.graph->source_operator_count;  // 0: a graph from a builder, where each node counts
  made.plan.source_op_count = in_file > 0 ? in_file : static_cast<int32_t>(request.graph->nodes().size());
  made.is_new = !NeedsTheGraph(made.plan, *made.lowered_graph);
  if (made.is_new) made.plan.proof = ProofOf(*request.graph, *made.lowered_graph);
  made.lower_ms = lowering.milliseconds();
  return made;
}

// Whether the plan can be stored: others refer to the lowered graph.
bool NeedsNoGraph(const Plan& plan) {
  const auto is_of_device = [](const PlanTensor& output) {
    return output.host.kind == (output.on_device ? HostPlace::Kind::kNone : HostPlace::Kind::kInput);
  };
  return !plan.runs_on_cpu() && plan.host_bytes.empty() && std::ranges::all_of(plan.states, &PlanState::on_device) &&
         std::ranges::all_of(plan.outputs, is_of_device);
}

bool HasInterfaceOf(const Plan& plan, const Graph& graph) {
  const auto is_of = [&](const PlanTensor& tensor, ValueId value) {
    const TensorDesc& desc = graph.value(value).desc;
    return tensor.desc.dtype == desc.dtype && tensor.desc.shape == desc.shape;
  };
  return plan.outputs.size() == graph.outputs.size() && std::ranges::equal(plan.inputs, graph.inputs, is_of);
}

bool Fits(const KernelSource& kernel, const DeviceInfo& device) {
  uint64_t invocations = 1;
  for (int d = 0; d < 3; ++d) {
    if (kernel.local_size[d] > device.max_local_size[d]) return false;
    invocations *= kernel.local_size[d];
  }
  return invocations <= device.max_local_invocations && kernel.scalars.size() * 4 <= device.max_scalar_bytes;
}

bool Fits(const Dispatch& dispatch, const DeviceInfo& device) {
  return std::ranges::equal(dispatch.group_count, device.max_group_count, std::less_equal<>());
}

bool FitsDevice(const Plan& plan, const DeviceInfo& device) {
  return std::ranges::all_of(plan.kernels, [&](const KernelSource& kernel) { return Fits(kernel, device); }) &&
         std::ranges::all_of(plan.dispatches, [&](const Dispatch& dispatch) { return Fits(dispatch, device); }) &&
         std::ranges::all_of(plan.buffers,
                             [&](const BufferSpec& buffer) { return buffer.size_bytes <= device.max_buffer_bytes; });
}

}  // namespace

void AddToKey(CacheKey& key, const Graph* graph) {
  std::string text;
  for (ValueId input : graph->inputs) text += graph->value(input).desc.shape.ToString() + " ";
  key.Add(kInputShapesField.name, text);
}

Result<Graph> RewrittenGraph(const PlanRequest& request) {
  Graph graph = request.graph->Clone();
  HEARTH_TRY(InferShapes(graph));
  HEARTH_TRY(RunPasses(graph, *request.device, {}));
  return graph;
}

Result<MadePlan> MakePlan(const PlanRequest& request, ResultCache* cache) {
  if (request.device->is_host()) cache = nullptr;  // the plan is one host step
  HEARTH_ASSIGN(auto made, GetOrMake(cache, WithReadPath(request), PlanFrom, LowerPlan));
  return std::move(made.value);
}

bool HasPlan(const PlanRequest& request, ResultCache& cache) {
  return cache.Has(WithReadPath(request));
}

void StorePlan(const PlanRequest& request, const Plan& plan, double cost_ms, ResultCache& cache) {
  cache.Put(WithReadPath(request), SerializePlan(plan), cost_ms);
}

Status CheckStoredPlan(const Plan& plan, const DeviceInfo& device) {
  if (!NeedsNoGraph(plan)) return Error(StatusCode::kMalformedInput, "the plan has steps on the CPU");
  if (!FitsDevice(plan, device)) return Error(StatusCode::kMalformedInput, "the plan exceeds the device's limits");
  return Status::Ok();
}

Status CheckStoredPlan(const Plan& plan, const Graph& graph, const DeviceInfo& device) {
  HEARTH_TRY(CheckStoredPlan(plan, device));
  if (!HasInterfaceOf(plan, graph)) return Error(StatusCode::kMalformedInput, "the plan has other inputs or outputs");
  if (!Holds(plan.proof, graph)) return Error(StatusCode::kMalformedInput, "the plan was made for other constants");
  return Status::Ok();
}

}  // namespace hearth
