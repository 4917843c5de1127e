#include "runtime/devices/priorities.h"

#include <algorithm>

#include "core/base/contains.h"
#include "core/base/error.h"

namespace hearth {
namespace {

// All three priorities: the given ones first, the rest as the delegate resolves "auto": latency is followed by memory,
// memory by precision, precision by latency.
Result<std::vector<std::string>> CompleteOrder(const std::vector<std::string>& given) {
  static const std::vector<std::string> kCycle = {"precision", "latency", "memory"};
  std::vector<std::string> order;
  for (const std::string& name : given) {
    if (!Contains(kCycle, name)) {
      return Error(StatusCode::kInvalidArgument, "no priority is called '{}'; there are precision, latency and memory",
                   name);
    }
    if (Contains(order, name)) return Error(StatusCode::kInvalidArgument, "the priority '{}' is given twice", name);
    order.push_back(name);
  }
  if (order.empty()) order.push_back("precision");
  const auto first = std::find(kCycle.begin(), kCycle.end(), order.front()) - kCycle.begin();
  for (size_t step = 1; step < kCycle.size(); ++step) {
    const std::string& next = kCycle[(static_cast<size_t>(first) + step) % kCycle.size()];
    if (!Contains(order, next)) order.push_back(next);
  }
  return order;
}

}  // namespace

Result<LowerOptions> OptionsFromChoices(const Choices& choices) {
  LowerOptions options;
  HEARTH_ASSIGN(const std::vector<std::string> order, CompleteOrder(choices.priority));
  const auto rank = [&](std::string_view name) { return std::find(order.begin(), order.end(), name) - order.begin(); };
  options.precision = static_cast<Precision>(rank("precision"));  // first: fp32, second: fp32_16, third: fp16
  options.low_memory = rank("memory") < rank("latency");
  if (!choices.precision.empty()) {
    const std::optional<Precision> precision = PrecisionFromName(choices.precision);
    if (!precision) {
      return Error(StatusCode::kInvalidArgument, "no precision is called '{}'; there are fp32, fp32_16 and fp16",
                   choices.precision);
    }
    options.precision = *precision;
  }
  if (choices.preference.empty()) return options;
  const std::optional<Preference> preference = PreferenceFromName(choices.preference);
  if (!preference) {
    return Error(StatusCode::kInvalidArgument,
                 "no preference is called '{}'; there are fast_single_answer, balanced and sustained_speed",
                 choices.preference);
  }
  options.preference = *preference;
  return options;
}

}  // namespace hearth
