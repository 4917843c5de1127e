// Gets the lowered plan of a model on a device from the cache, or makes and stores it.
#ifndef HEARTH_FRONTENDS_ENGINE_PLAN_CACHE_H_
#define HEARTH_FRONTENDS_ENGINE_PLAN_CACHE_H_

#include <memory>
#include <string>

#include "core/base/blob_store.h"
#include "core/graph/graph.h"
#include "core/lowering/lower.h"

namespace hearth {

struct PlanRequest {
  const Graph* graph = nullptr;  // as read; not changed
  std::string model;             // its content, as the store names it (BlobStore::NameOfContent)
  const DeviceInfo* device = nullptr;
  LowerOptions options;
  std::string signature;    // the model's function that `graph` is
  int32_t top_k = 0;        // elements kept of each of its outputs; 0: all
  bool class_maps = false;  // whether its outputs of scores became maps of classes
  std::string constants;    // what names the contents of inputs that were fixed; empty: none
};

struct MadePlan {
  Plan plan;
  std::unique_ptr<Graph> lowered_graph;  // for the plan's host steps; null when the plan came from the cache
  bool is_new = false;                   // worth storing
  bool is_stored = false;                // it came from the cache
  double rewrite_ms = 0, lower_ms = 0;
};

// Covers everything that Lower and the passes depend on; no driver version, so that plans outlive a driver update.
CacheKey PlanKey(const PlanRequest& request);

// The request's graph after the passes, as Lower takes it.
Result<Graph> RewrittenGraph(const PlanRequest& request);

// Plans with host steps or constant outputs are made again each start: they refer to the graph.
Result<MadePlan> MakePlan(const PlanRequest& request, BlobStore* store);

// `cost_ms`: the time that making it took.
void StorePlan(const PlanRequest& request, const Plan& plan, double cost_ms, BlobStore& store);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_ENGINE_PLAN_CACHE_H_
