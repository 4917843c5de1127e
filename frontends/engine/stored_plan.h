// Whether a plan from the cache is one that this request could have made: nothing in it may abort or overrun a start.
#ifndef HEARTH_FRONTENDS_ENGINE_STORED_PLAN_H_
#define HEARTH_FRONTENDS_ENGINE_STORED_PLAN_H_

#include "core/graph/graph.h"
#include "core/plan/plan.h"

namespace hearth {

// Checks a plan that DeserializePlan accepted. Errors are kMalformedInput.
Status CheckStoredPlan(const Plan& plan, const Graph& graph, const DeviceInfo& device);

// What can be asked without the model: the device can run all of it.
Status CheckStoredPlan(const Plan& plan, const DeviceInfo& device);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_ENGINE_STORED_PLAN_H_
