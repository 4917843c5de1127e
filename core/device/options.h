// User options that change the plan.
#ifndef HEARTH_CORE_DEVICE_OPTIONS_H_
#define HEARTH_CORE_DEVICE_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/text.h"
#include "core/device/device_info.h"
#include "core/device/kernel_choice.h"

namespace hearth {

enum class Precision : uint8_t { kFp32, kFp32_16, kFp16 };
inline constexpr std::string_view kPrecisionNames[] = {"fp32", "fp32_16", "fp16"};
constexpr std::string_view PrecisionName(Precision precision) {
  return kPrecisionNames[static_cast<int>(precision)];
}
inline std::optional<Precision> PrecisionFromName(std::string_view name) {
  return EnumNamed<Precision>(kPrecisionNames, name);
}

// The purpose of a session, in the TFLite delegate's words.
enum class Preference : uint8_t {
  kFastSingleAnswer,  // few distinct programs: ready soon
  kBalanced,          // special kernels and fused chains by rule
  kSustainedSpeed,    // also kernels that cost a start more than they save in a few runs
};
inline constexpr std::string_view kPreferenceNames[] = {"fast_single_answer", "balanced", "sustained_speed"};
constexpr std::string_view PreferenceName(Preference preference) {
  return kPreferenceNames[static_cast<int>(preference)];
}
inline std::optional<Preference> PreferenceFromName(std::string_view name) {
  return EnumNamed<Preference>(kPreferenceNames, name);
}

// In LowerOptions::cpu_ops: all operations with a quantized tensor that is not constant.
inline constexpr std::string_view kQuantizedOps = "quantized";

struct LowerOptions {
  Precision precision = Precision::kFp32;
  // How kernels read tensors; if absent, a rule decides from DeviceInfo (the probe sets it).
  std::optional<AccessPath> read_path;
  // Operations (by name, "softmax"), file operator indices ("op:7") or kQuantizedOps, to keep on the CPU.
  std::vector<std::string> cpu_ops;
  Preference preference = Preference::kBalanced;
  // Memory is more important than speed: kernels that need scratch memory are not used.
  bool low_memory = false;
  // Kernels that tuning found; they override rules. A choice that is not a candidate of its layer is ignored.
  TuningTable tuned;
};

}  // namespace hearth

#endif  // HEARTH_CORE_DEVICE_OPTIONS_H_
