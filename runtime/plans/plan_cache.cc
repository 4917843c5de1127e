#include "runtime/plans/plan_cache.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/device/device_rules.h"
#include "core/graph/evaluate.h"
#include "core/graph/passes/pass.h"
#include "core/plan/plan_proof.h"
#include "hal/device/stopwatch.h"
#include "runtime/plans/stored_plan.h"

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

}  // namespace hearth
