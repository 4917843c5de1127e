// Gets the lowered plan of a model on a device from the cache, or makes and stores it.
#ifndef HEARTH_RUNTIME_PLANS_PLAN_CACHE_H_
#define HEARTH_RUNTIME_PLANS_PLAN_CACHE_H_

#include <memory>
#include <optional>
#include <string>

#include "core/graph/graph.h"
#include "core/lowering/lower.h"
#include "core/plan/key_fields.h"
#include "core/plan/plan.h"
#include "core/plan/source_fingerprints.h"
#include "core/store/result_cache.h"

namespace hearth {

// A graph whose content the model's name tells. Shapes can be chosen when the model is opened, so the key has those of
// the inputs.
void AddToKey(CacheKey& key, const Graph* graph);

// The plan depends on nothing else, in particular on no driver version, so that plans outlive a driver update.
struct PlanRequest {
  static constexpr BlobKind kKind = BlobKind::kPlan;
  const Graph* graph = nullptr;  // as read; not changed
  Field<kModelField> model;      // its content, as the cache names it
  DeviceCapability device = nullptr;
  LowerOptions options;
  Field<kSignatureField> signature;         // the model's function that `graph` is
  Field<kTopKField, int32_t> top_k;         // elements kept of each of its outputs; 0: all
  Field<kClassMapsField, bool> class_maps;  // whether its outputs of scores became maps of classes
  Field<kConstantsField> constants;         // what names the contents of inputs that were fixed; empty: none
  Field<kCustomOpsField> custom_ops;        // names and versions of the graph's operators of the program's
  Field<kPlanSourcesField> sources = std::string(kPlanSources);
};

struct MadePlan {
  Plan plan;
  std::unique_ptr<Graph> lowered_graph;  // for the plan's host steps; null when the plan came from the cache
  bool is_new = false;                   // worth storing
  std::optional<CacheKey> found_as;      // set if it came from the cache
  double rewrite_ms = 0, lower_ms = 0;
};

// The request's graph after the passes, as Lower takes it.
Result<Graph> RewrittenGraph(const PlanRequest& request);

// Plans with host steps or constant outputs are made again each start: they refer to the graph.
Result<MadePlan> MakePlan(const PlanRequest& request, ResultCache* cache);

// Whether a plan of this request is stored; a start may then find its programs.
bool HasPlan(const PlanRequest& request, ResultCache& cache);

// `cost_ms`: the time that making it took.
void StorePlan(const PlanRequest& request, const Plan& plan, double cost_ms, ResultCache& cache);

// ---- Whether a plan from the cache is one that this request could have made ----
//
// So nothing in it can abort or overrun a start.

// Checks a plan that DeserializePlan accepted. Errors are kMalformedInput.
Status CheckStoredPlan(const Plan& plan, const Graph& graph, const DeviceInfo& device);

// The checks that need no model: the device can run all of the plan.
Status CheckStoredPlan(const Plan& plan, const DeviceInfo& device);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_PLANS_PLAN_CACHE_H_
