#include "core/options.h"

namespace hearth {
namespace {
constexpr std::string_view kPrecisionNames[] = {"fp32", "fp32_16", "fp16"};
constexpr std::string_view kPreferenceNames[] = {"fast_single_answer", "balanced", "sustained_speed"};
}  // namespace

std::string_view PrecisionName(Precision precision) {
  return kPrecisionNames[static_cast<int>(precision)];
}

std::optional<Precision> PrecisionFromName(std::string_view name) {
  for (int k = 0; k < 3; ++k) {
    if (kPrecisionNames[k] == name) return static_cast<Precision>(k);
  }
  return std::nullopt;
}

std::string_view PreferenceName(Preference preference) {
  return kPreferenceNames[static_cast<int>(preference)];
}

std::optional<Preference> PreferenceFromName(std::string_view name) {
  for (int k = 0; k < 3; ++k) {
    if (kPreferenceNames[k] == name) return static_cast<Preference>(k);
  }
  return std::nullopt;
}

AccessPath DefaultReadPath(const DeviceInfo& device) {
  const bool graphics = device.dialect == Dialect::kGles || device.dialect == Dialect::kVulkan;
  return graphics && device.is_software() && device.max_texel_elements > 0 ? AccessPath::kTexelBuffer
                                                                           : AccessPath::kBuffer;
}

}  // namespace hearth
