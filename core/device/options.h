// User options that change the plan.
#ifndef HEARTH_CORE_DEVICE_OPTIONS_H_
#define HEARTH_CORE_DEVICE_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device_info.h"
#include "core/device/kernel_choice.h"

namespace hearth {

enum class Precision : uint8_t { kFp32, kFp32_16, kFp16 };
std::string_view PrecisionName(Precision precision);  // "fp32", "fp32_16", "fp16"
std::optional<Precision> PrecisionFromName(std::string_view name);

// The purpose of a session, in the TFLite delegate's words.
enum class Preference : uint8_t {
  kFastSingleAnswer,  // few distinct programs: ready soon
  kBalanced,          // special kernels and fused chains by rule
  kSustainedSpeed,    // also kernels that cost a start more than they save in a few runs
};
std::string_view PreferenceName(Preference preference);  // "fast_single_answer", "balanced", "sustained_speed"
std::optional<Preference> PreferenceFromName(std::string_view name);

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

// Texel buffers where the rule texel_reads applies, elsewhere plain buffers.
AccessPath DefaultReadPath(const DeviceInfo& device);

}  // namespace hearth

#endif  // HEARTH_CORE_DEVICE_OPTIONS_H_
