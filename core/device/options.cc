#include "core/device/options.h"

#include "core/base/text.h"
#include "core/device/device_rules.h"

namespace hearth {
namespace {
constexpr std::string_view kPrecisionNames[] = {"fp32", "fp32_16", "fp16"};
constexpr std::string_view kPreferenceNames[] = {"fast_single_answer", "balanced", "sustained_speed"};
}  // namespace

std::string_view PrecisionName(Precision precision) {
  return kPrecisionNames[static_cast<int>(precision)];
}

std::optional<Precision> PrecisionFromName(std::string_view name) {
  return EnumNamed<Precision>(kPrecisionNames, name);
}

std::string_view PreferenceName(Preference preference) {
  return kPreferenceNames[static_cast<int>(preference)];
}

std::optional<Preference> PreferenceFromName(std::string_view name) {
  return EnumNamed<Preference>(kPreferenceNames, name);
}

AccessPath DefaultReadPath(const DeviceInfo& device) {
  return Applies(Rule::kTexelReads, device) ? AccessPath::kTexelBuffer : AccessPath::kBuffer;
}

}  // namespace hearth
