// Warnings for a network that does not run on the device as a whole.
#ifndef HEARTH_RUNTIME_PLANS_PLACEMENT_WARNINGS_H_
#define HEARTH_RUNTIME_PLANS_PLACEMENT_WARNINGS_H_

#include <span>
#include <string>
#include <vector>

#include "core/plan/plan.h"

namespace hearth {

// With more pieces (segments of a plan) than this, moving values between them is worth a warning.
inline constexpr int kFewPieces = 4;

// One sentence per distinct reason, naming the first operator that has it: "op 63 TFLite_Detection_PostProcess: no
// kernel on gles:0; runs on the CPU". One more for a network in more than kFewPieces `pieces`.
std::vector<std::string> PlacementWarnings(std::span<const Fallback> fallbacks, int pieces);

// One sentence for each of `cpu_ops` (see LowerOptions) that names no operation of `graph`, as it was read.
std::vector<std::string> UnknownCpuOpsWarnings(const Graph& graph, std::span<const std::string> cpu_ops);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_PLANS_PLACEMENT_WARNINGS_H_
