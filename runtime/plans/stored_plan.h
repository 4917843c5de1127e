// Checks that a plan from the cache is one that this request could have made, so that nothing in it can abort or
// overrun a start.
#ifndef HEARTH_RUNTIME_PLANS_STORED_PLAN_H_
#define HEARTH_RUNTIME_PLANS_STORED_PLAN_H_

#include "core/graph/graph.h"
#include "core/plan/plan.h"

namespace hearth {

// Checks a plan that DeserializePlan accepted. Errors are kMalformedInput.
Status CheckStoredPlan(const Plan& plan, const Graph& graph, const DeviceInfo& device);

// The checks that need no model: the device can run all of the plan.
Status CheckStoredPlan(const Plan& plan, const DeviceInfo& device);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_PLANS_STORED_PLAN_H_
