// Whether a stored plan was made for a model: a start may have taken another file for the one that it knows.
#ifndef HEARTH_CORE_PLAN_PLAN_PROOF_H_
#define HEARTH_CORE_PLAN_PLAN_PROOF_H_

#include "core/graph/graph.h"
#include "core/plan/plan.h"

namespace hearth {

// `as_read`: the graph that the reader made. `lowered`: its clone, after the passes and the lowering.
PlanProof ProofOf(const Graph& as_read, const Graph& lowered);

// Hashes the graph and the constants that the proof names, which are few: 0.1 to 0.5 ms for MobileNets.
bool Holds(const PlanProof& proof, const Graph& as_read);

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_PLAN_PROOF_H_
