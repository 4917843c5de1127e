// Advice for running a model faster: sentences for people, numbers for programs. Warnings for a network that does not
// run on the device as a whole.
#ifndef HEARTH_RUNTIME_PLANS_ADVICE_H_
#define HEARTH_RUNTIME_PLANS_ADVICE_H_

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/device/device_info.h"
#include "core/graph/graph.h"
#include "core/lowering/lower.h"
#include "core/plan/plan.h"

namespace hearth {

struct Advice {
  // "unknown-operation", "channel-padding", "data-movement", "converted-edges", "splits", "too-small"
  std::string kind;
  std::string text;                       // one sentence
  std::map<std::string, double> numbers;  // what the sentence says, by name
};

// `graph` is as lowered, with its shapes; `placements` are those of its nodes. Empty if there is no advice.
std::vector<Advice> AdviceOn(const Graph& graph, std::span<const Placement> placements, const DeviceInfo& device);

// With more pieces (segments of a plan) than this, moving values between them is worth a warning.
inline constexpr int kFewPieces = 4;

// One sentence per distinct reason, naming the first operator that has it: "op 63 TFLite_Detection_PostProcess: no
// kernel on gles:0; runs on the CPU". One more for a network in more than kFewPieces `pieces`.
std::vector<std::string> PlacementWarnings(std::span<const Fallback> fallbacks, int pieces);

// One sentence for each of `cpu_ops` (see LowerOptions) that names no operation of `graph`, as it was read.
std::vector<std::string> UnknownCpuOpsWarnings(const Graph& graph, std::span<const std::string> cpu_ops);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_PLANS_ADVICE_H_
