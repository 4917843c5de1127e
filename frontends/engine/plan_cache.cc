#include "frontends/engine/plan_cache.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/passes/pass.h"
#include "core/plan/key_fields.h"
#include "core/plan/plan_proof.h"
#include "core/plan/source_fingerprints.h"
#include "frontends/engine/stored_plan.h"
#include "hal/stopwatch.h"

namespace hearth {

namespace {

// Input shapes can be chosen when the model is opened, so the file's content does not determine them.
std::string InputShapesText(const Graph& graph) {
  std::string text;
  for (ValueId input : graph.inputs) text += graph.value(input).desc.shape.ToString() + " ";
  return text;
}

// Whether running the plan, not only making it, needs the graph.
bool NeedsTheGraph(const Plan& plan, const Graph& graph) {
  return plan.runs_on_cpu() || std::any_of(graph.outputs.begin(), graph.outputs.end(),
                                           [&](ValueId output) { return graph.IsConstant(output); });
}

}  // namespace

CacheKey PlanKey(const PlanRequest& request) {
  const DeviceInfo& device = *request.device;
  CacheKey key(BlobKind::kPlan);
  key.Add(kPlanSourcesField.name, kPlanSources);
  key.Add(kModelField.name, request.model);
  key.Add(kSignatureField.name, request.signature).Add(kInputShapesField.name, InputShapesText(*request.graph));
  if (request.top_k != 0) key.Add(kTopKField.name, request.top_k);
  if (request.class_maps) key.Add(kClassMapsField.name, "on");
  if (!request.constants.empty()) key.Add(kConstantsField.name, request.constants);
  AddDevice(key, device, DevicePart::kCapability);
  AddOptions(key, request.options, device);
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
  // On the CPU the plan is one host step, so nothing is stored.
  if (store != nullptr && !request.device->is_host()) {
    const CacheKey key = PlanKey(request);
    if (const auto bytes = store->Get(key)) {
      Result<Plan> plan = DeserializePlan(*bytes);
      const Status usable = plan.ok() ? CheckStoredPlan(*plan, *request.graph, *request.device) : plan.status();
      if (usable.ok()) {
        made.plan = std::move(plan).value();
        made.is_stored = true;
        return made;
      }
      store->Reject(key, usable.message());
    }
  }
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

void StorePlan(const PlanRequest& request, const Plan& plan, double cost_ms, BlobStore& store) {
  const CacheKey key = PlanKey(request);
  const std::vector<std::byte> bytes = SerializePlan(plan);
  const PutRequest put{&key, bytes, cost_ms};
  store.Put({&put, 1});
}

}  // namespace hearth
