// Decides where a run keeps the values that pass through host memory.
#ifndef HEARTH_CORE_PLAN_HOST_PLACES_H_
#define HEARTH_CORE_PLAN_HOST_PLACES_H_

#include "core/graph/graph.h"
#include "core/plan/plan.h"

namespace hearth {

// Sets the places in a plan of `graph` that has its segments, inputs, outputs and states, and plan.host_bytes. Inputs
// are read where the caller's lie, and outputs that the last segment makes on the CPU are written there.
void PlaceHostValues(const Graph& graph, Plan& plan);

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_HOST_PLACES_H_
