// Turns preference and priorities, in the TFLite delegate's words, into options of a plan.
#ifndef HEARTH_RUNTIME_DEVICES_PRIORITIES_H_
#define HEARTH_RUNTIME_DEVICES_PRIORITIES_H_

#include <string>
#include <vector>

#include "core/device/options.h"
#include "hearth/status.h"

namespace hearth {

struct Choices {
  std::string precision;              // empty: by the priorities
  std::string preference;             // empty: balanced
  std::vector<std::string> priority;  // "precision", "latency", "memory"; empty: precision first
};

// Precision, preference and low_memory of a plan. kInvalidArgument names the wrong word and the right ones.
Result<LowerOptions> OptionsFromChoices(const Choices& choices);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_DEVICES_PRIORITIES_H_
