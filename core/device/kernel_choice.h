// One of several kernels for a node on a device. Rules choose among them from DeviceInfo; tuning measures them.
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
  std::string variant;         // named by the operation's lowering: "wide", "tile", "winograd"
  int32_t rows = 1, cols = 1;  // outputs of a work item; the variant defines their unit
  int32_t lanes = 8;           // work items of a group along the first dimension
  friend bool operator==(const KernelChoice&, const KernelChoice&) = default;
};

// Removes repeated choices; the first of each stays in its place.
std::vector<KernelChoice> WithoutRepeats(std::vector<KernelChoice> choices);

// "wide 6x1 lanes 8", and back; nullopt for any other text.
std::string ToText(const KernelChoice& choice);
std::optional<KernelChoice> KernelChoiceFromText(std::string_view text);

// The result of tuning for a layer.
struct TunedLayer {
  KernelChoice choice;
  bool of_all = false;  // all candidates were measured, not only the likeliest
  friend bool operator==(const TunedLayer&, const TunedLayer&) = default;
};
using TuningTable = std::map<std::string, TunedLayer, std::less<>>;  // by LayerKey (tuning.h)

}  // namespace hearth

#endif  // HEARTH_CORE_DEVICE_KERNEL_CHOICE_H_
