// Advice for running a model faster: sentences for people, numbers for programs.
#ifndef HEARTH_RUNTIME_PLANS_ADVICE_H_
#define HEARTH_RUNTIME_PLANS_ADVICE_H_

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/device/device_info.h"
#include "core/graph/graph.h"
#include "core/lowering/lower.h"

namespace hearth {

struct Advice {
  // "unknown-operation", "channel-padding", "data-movement", "converted-edges", "splits", "too-small"
  std::string kind;
  std::string text;                       // one sentence
  std::map<std::string, double> numbers;  // what the sentence says, by name
};

// `graph` is as lowered, with its shapes; `placements` are those of its nodes. Empty if there is no advice.
std::vector<Advice> AdviceOn(const Graph& graph, std::span<const Placement> placements, const DeviceInfo& device);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_PLANS_ADVICE_H_
