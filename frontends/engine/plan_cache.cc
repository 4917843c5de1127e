#include "frontends/engine/plan_cache.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/device/device_rules.h"
#include "core/emit/kernel_library.h"
#include "core/graph/evaluate.h"
#include "core/graph/passes/pass.h"
#include "core/plan/tuning.h"
#include "hal/stopwatch.h"

namespace hearth {

namespace {

// They may have been chosen when the model was opened: the content of the file does not tell them.
std::string InputShapesText(const Graph& graph) {
  std::string text;
  for (ValueId input : graph.inputs) text += graph.value(input).desc.shape.ToString() + " ";
  return text;
}

// To run it, not only to make it.
bool NeedsTheGraph(const Plan& plan, const Graph& graph) {
  return plan.has_host_steps() || std::any_of(graph.outputs.begin(), graph.outputs.end(),
                                              [&](ValueId output) { return graph.IsConstant(output); });
}

}  // namespace

CacheKey PlanKey(const PlanRequest& request) {
  const DeviceInfo& device = *request.device;
  CacheKey key(BlobKind::kPlan);
  key.Add("plan version", kPlanVersion).Add("packer", kPackerVersion).Add("emitter", kEmitterVersion);
  key.Add("kernels", FingerprintOfKernels());
  key.Add("model", request.model).Add("model token", request.model_token);
  key.Add("signature", request.signature).Add("input shapes", InputShapesText(*request.graph));
  key.Add("backend", device.backend)
      .Add("dialect", DialectName(device.dialect))
      .Add("type", DeviceTypeName(device.type));
  key.Add("local size", fmt::format("{} {} {}", fmt::join(device.max_local_size, "x"), device.max_local_invocations,
                                    device.local_memory_bytes));
  key.Add("group count", fmt::format("{}", fmt::join(device.max_group_count, "x")));
  key.Add("max buffer", static_cast<int64_t>(device.max_buffer_bytes))
      .Add("max binding", static_cast<int64_t>(device.max_binding_bytes))
      .Add("max texels", static_cast<int64_t>(device.max_texel_elements));
  key.Add("alignment", device.buffer_offset_alignment).Add("storage buffers", device.max_storage_buffers);
  key.Add("texel buffers", device.max_texel_buffers).Add("argument bytes", device.max_argument_bytes);
  key.Add("scalar bytes", device.max_scalar_bytes).Add("compute units", device.compute_units);
  key.Add("vector floats", device.native_vector_floats);
  key.Add("subgroup", device.subgroup_size).Add("int64", device.int64 ? 1 : 0);
  key.Add("rules", ToText(device.forced_rules));
  key.Add("fp16", fmt::format("storage {} arithmetic {}", device.fp16_storage, device.fp16_arithmetic));
  key.Add("precision", PrecisionName(request.options.precision));
  key.Add("read path", AccessPathName(request.options.read_path.value_or(DefaultReadPath(device))));
  key.Add("preference", PreferenceName(request.options.preference))
      .Add("low memory", request.options.low_memory ? 1 : 0);
  const std::string tuned = ToText(request.options.tuned);
  key.AddContent("tuning", std::as_bytes(std::span(tuned)));
  key.Add("cpu ops", fmt::format("{}", fmt::join(request.options.cpu_ops, ",")));
  return key;
}

Result<Graph> RewrittenGraph(const PlanRequest& request) {
  Graph graph = request.graph->Clone();
  HEARTH_TRY(InferShapes(graph));
  HEARTH_TRY(RunPasses(graph, *request.device, {}));
  return graph;
}

Result<MadePlan> MakePlan(const PlanRequest& request, BlobStore* store) {
  MadePlan made;
  // On the CPU the plan is one host step: there is nothing to keep.
  if (store != nullptr && !request.device->is_host()) {
    const CacheKey key = PlanKey(request);
    if (const auto bytes = store->Get(key)) {
      Result<Plan> plan = DeserializePlan(*bytes);
      if (plan.ok()) {
        made.plan = std::move(plan).value();
        return made;
      }
      store->Reject(key, plan.status().message());
    }
  }
  const Stopwatch rewriting;
  HEARTH_ASSIGN(made.lowered_graph, RewrittenGraph(request));
  made.rewrite_ms = rewriting.milliseconds();
  const Stopwatch lowering;
  HEARTH_ASSIGN(made.plan, Lower(*made.lowered_graph, *request.device, request.options));
  made.plan.source_op_count =
      std::max(request.graph->source_operator_count, static_cast<int32_t>(request.graph->nodes().size()));
  made.lower_ms = lowering.milliseconds();
  made.is_new = !NeedsTheGraph(made.plan, *made.lowered_graph);
  return made;
}

void StorePlan(const PlanRequest& request, const Plan& plan, double cost_ms, BlobStore& store) {
  const CacheKey key = PlanKey(request);
  const std::vector<std::byte> bytes = SerializePlan(plan);
  const PutRequest put{&key, bytes, cost_ms};
  store.Put({&put, 1});
}

}  // namespace hearth
