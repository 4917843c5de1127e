// One of several ways to run a node on a device: what rules from DeviceInfo pick, and what tuning measures.
#ifndef HEARTH_CORE_DEVICE_KERNEL_CHOICE_H_
#define HEARTH_CORE_DEVICE_KERNEL_CHOICE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

struct KernelChoice {
  std::string variant;         // as the operation's lowering names it: "wide", "tile", "winograd"
  int32_t rows = 1, cols = 1;  // outputs of a work item; what they count is the variant's
  int32_t lanes = 8;           // work items of a group along the first dimension
  friend bool operator==(const KernelChoice&, const KernelChoice&) = default;
};

// Each once, in the order in which they come first.
std::vector<KernelChoice> WithoutRepeats(std::vector<KernelChoice> choices);

// "wide 6x1 lanes 8", and back; nothing for any other text.
std::string ToText(const KernelChoice& choice);
std::optional<KernelChoice> KernelChoiceFromText(std::string_view text);

// What tuning found for a layer.
struct TunedLayer {
  KernelChoice choice;
  bool of_all = false;  // all candidates were measured, not only the likeliest
  friend bool operator==(const TunedLayer&, const TunedLayer&) = default;
};
using TuningTable = std::map<std::string, TunedLayer, std::less<>>;  // by LayerKey (tuning.h)

}  // namespace hearth

#endif  // HEARTH_CORE_DEVICE_KERNEL_CHOICE_H_
