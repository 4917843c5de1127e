#include "core/device/driver_environment.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "core/base/environment.h"
#include "core/base/sha256.h"
#include "core/base/text.h"

namespace hearth {
namespace {

// Whose words they are. Mesa's parts: llvmpipe, lavapipe and whatever runs on them (Gallivm), compilers and drivers of
// hardware.
constexpr auto kGallivm = [](const DriverWords& driver) { return driver.Has("llvmpipe"); };
constexpr auto kMesa = [](const DriverWords& driver) {
  return !IsPocl(driver) && (driver.Has("Mesa") || driver.Has("radeonsi") || kGallivm(driver));
};
constexpr auto kMesaGles = [](const DriverWords& driver) { return kMesa(driver) && driver.dialect == Dialect::kGles; };
constexpr auto kMesaSpirv = [](const DriverWords& driver) { return kMesa(driver) && driver.dialect != Dialect::kGles; };
constexpr auto kRadv = [](const DriverWords& driver) { return driver.Has("RADV") || driver.Has("radv"); };
constexpr auto kRadeonsi = [](const DriverWords& driver) {
  return kMesa(driver) && driver.dialect != Dialect::kVulkan && driver.Has("AMD");
};
constexpr auto kAco = [](const DriverWords& driver) { return kRadv(driver) || kRadeonsi(driver); };
constexpr auto kMesaIntel = [](const DriverWords& driver) { return kMesa(driver) && driver.Has("Intel"); };
constexpr auto kIr3 = [](const DriverWords& driver) { return driver.Has("turnip") || driver.Has("freedreno"); };
constexpr auto kPanfrost = [](const DriverWords& driver) {
  return driver.Has("Panfrost") || driver.Has("panvk") || driver.Has("panfrost");
};
constexpr auto kV3d = [](const DriverWords& driver) { return kMesa(driver) && driver.Has("V3D"); };
constexpr auto kNak = [](const DriverWords& driver) { return driver.Has("NVK") || driver.Has("nouveau"); };
constexpr auto kAsahi = [](const DriverWords& driver) { return kMesa(driver) && driver.Has("Apple"); };
constexpr auto kMesaPowerVr = [](const DriverWords& driver) { return kMesa(driver) && driver.Has("PowerVR"); };
constexpr auto kAmdOpenCl = [](const DriverWords& driver) {
  return driver.dialect == Dialect::kOpenCl && !IsPocl(driver) && driver.Has("Advanced Micro Devices");
};
constexpr auto kIntelOpenCl = [](const DriverWords& driver) {
  return driver.dialect == Dialect::kOpenCl && !IsPocl(driver) && !kMesa(driver) && driver.Has("Intel");
};

// Not here: what a driver tells in its name or version (LP_NATIVE_VECTOR_WIDTH), and where it keeps or prints
// something.
constexpr DriverVariable kVariables[] = {
    {"POCL_EXTRA_BUILD_FLAGS", IsPocl, "added to the options of each build, -cl-fast-relaxed-math for example"},
    {"POCL_WORK_GROUP_METHOD", IsPocl, "how a work group becomes a loop"},
    {"POCL_WILOOPS_MAX_UNROLL_COUNT", IsPocl, "how far loops over work items are unrolled"},
    {"POCL_FULL_REPLICATION_THRESHOLD", IsPocl, "the largest group that is copied instead of looped over"},
    {"POCL_FORCE_PARALLEL_OUTER_LOOP", IsPocl, "which loops are exchanged with those over work items"},
    {"POCL_VECTORIZER_FORCE_VECTOR_WIDTH", IsPocl, "the width of vectors"},
    {"POCL_VECTORIZER_PREFER_VECTOR_WIDTH", IsPocl, "the width of vectors"},
    {"POCL_PREGION_VALUE_REMAT", IsPocl, "which values are computed again after a barrier"},
    {"POCL_WORK_GROUP_SPECIALIZATION", IsPocl, "whether there is code of its own for a size of groups"},
    {"POCL_BINARY_SPECIALIZE_WG", IsPocl, "the sizes of groups whose code a binary has"},
    {"POCL_BITCODE_FINALIZER", IsPocl, "a program that rewrites the code"},
    {"POCL_DEBUG_LLVM_OPTS", IsPocl, "options of LLVM"},
    {"POCL_LLVM_CPU_NAME", IsPocl, "the processor that code is made for"},
    {"POCL_KERNELLIB_NAME", IsPocl, "the library of built-in functions"},
    {"POCL_CPU_JIT", IsPocl, "how code is linked"},
    {"POCL_IGNORE_CL_STD", IsPocl, "the language version"},
    {"POCL_CUDA_GPU_ARCH", IsPocl, "the GPU that code is made for"},
    {"GALLIVM_PERF", kGallivm, "which optimizations run; binaries are refused under another value"},
    {"GALLIUM_OVERRIDE_CPU_CAPS", kGallivm, "the processor's instructions; binaries are refused under another value"},
    {"GALLIUM_NOSSE", kGallivm, "the processor's instructions; binaries are refused under another value"},
    {"MESA_GLSL", kMesaGles, "options of the language's compiler"},
    {"MESA_SHADER_READ_PATH", kMesaGles, "a folder of texts that replace programs"},
    {"MESA_SPIRV_READ_PATH", kMesaSpirv, "a folder of SPIR-V that replaces programs"},
    {"MESA_SPIRV_FORCE_UNSTRUCTURED", kMesaSpirv, "how control flow is read"},
    {"NIR_DEBUG", kMesa, "passes of the common compiler"},
    {"NIR_SKIP", kMesa, "passes of the common compiler that are left out"},
    {"RADV_DEBUG", kRadv, "the compiler (llvm), work-arounds; newer ones are in the pipeline cache's UUID too"},
    {"RADV_PERFTEST", kRadv, "32 or 64 items in a wave; newer ones are in the pipeline cache's UUID too"},
    {"RADV_EXPERIMENTAL", kRadv, "features that are not finished"},
    {"ACO_DEBUG", kAco, "which optimizations run; RADV has it in no key of its own"},
    {"AMD_DEBUG", kRadeonsi, "the compiler, 32 or 64 items in a wave"},
    {"R600_DEBUG", kRadeonsi, "the older name of AMD_DEBUG"},
    {"INTEL_DEBUG", kMesaIntel, "items in a thread, spilling, compaction; in the key of Mesa's own cache only"},
    {"INTEL_SIMD_DEBUG", kMesaIntel, "items in a thread; in the key of Mesa's own cache only"},
    {"INTEL_PRECISE_TRIG", kMesaIntel, "sine and cosine; in the key of Mesa's own cache only"},
    {"INTEL_SHADER_ASM_READ_PATH", kMesaIntel, "a folder of code that replaces programs"},
    {"INTEL_SHADER_OPTIMIZER_PATH", kMesaIntel, "a folder of code that replaces programs"},
    {"IR3_SHADER_DEBUG", kIr3, "which optimizations run, 16-bit numbers"},
    {"IR3_SHADER_OVERRIDE_PATH", kIr3, "a folder of code that replaces programs"},
    {"BIFROST_MESA_DEBUG", kPanfrost, "which optimizations run"},
    {"MIDGARD_MESA_DEBUG", kPanfrost, "which optimizations run"},
    {"PAN_MESA_DEBUG", kPanfrost, "16-bit numbers"},
    {"V3D_DEBUG", kV3d, "which optimizations run"},
    {"NAK_DEBUG", kNak, "scheduling, spilling"},
    {"AGX_MESA_DEBUG", kAsahi, "which optimizations run"},
    {"ASAHI_MESA_DEBUG", kAsahi, "16-bit numbers"},
    {"PCO_DEBUG", kMesaPowerVr, "control flow, spilling"},
    {"PCO_SKIP_PASSES", kMesaPowerVr, "passes that are left out"},
    {"AMD_OCL_BUILD_OPTIONS", kAmdOpenCl, "options of each build"},
    {"AMD_OCL_BUILD_OPTIONS_APPEND", kAmdOpenCl, "added to the options of each build"},
    {"AMD_OCL_LINK_OPTIONS", kAmdOpenCl, "options of each link"},
    {"AMD_OCL_LINK_OPTIONS_APPEND", kAmdOpenCl, "added to the options of each link"},
    {"AMD_OCL_SUBST_OBJFILE", kAmdOpenCl, "a list of code that replaces programs; in debug builds"},
    {"OCL_STUB_PROGRAMS", kAmdOpenCl, "replaces programs"},
    {"AMD_GPU_FORCE_SINGLE_FP_DENORM", kAmdOpenCl, "numbers close to zero"},
    {"GPU_ENABLE_*", kAmdOpenCl, "32 or 64 items in a wave, the compiler (LC), whether a group shares two units"},
    {"IGC_*", kIntelOpenCl, "hundreds of switches of the compiler for GPUs"},
    {"CL_CONFIG_*", kIntelOpenCl, "switches of the driver for CPUs: the processor, vectors, options of LLVM"},
    {"VOLCANO_*", kIntelOpenCl, "the same in older drivers for CPUs"},
};

// How the names of a row that is for many begin; none for a row of one variable.
std::optional<std::string_view> PrefixOf(const DriverVariable& row) {
  if (!row.name.ends_with('*')) return std::nullopt;
  return row.name.substr(0, row.name.size() - 1);
}

// What is set, an empty value too: to PoCL an empty switch is off, whatever it is without.
std::optional<std::string> ValueOfVariable(const DriverVariable& row) {
  const std::optional<std::string_view> prefix = PrefixOf(row);
  if (!prefix) return VariableIfSet(std::string(row.name).c_str());
  const std::vector<std::string> all = VariablesBeginningWith(*prefix);
  if (all.empty()) return std::nullopt;
  std::string text;
  for (const std::string& one : all) text.append(one).push_back('\0');
  return text;
}

std::string ShortDigestOf(std::string_view value) {
  constexpr size_t kDigits = 16;
  return HexOf(Sha256Of(BytesOf(value))).substr(0, kDigits);
}

}  // namespace

std::span<const DriverVariable> DriverVariables() {
  return kVariables;
}

bool IsDriverVariable(std::string_view name) {
  return std::ranges::any_of(kVariables, [name](const DriverVariable& row) {
    const std::optional<std::string_view> prefix = PrefixOf(row);
    return prefix ? name.starts_with(*prefix) : name == row.name;
  });
}

std::string DriverEnvironmentOf(const DeviceInfo& driver) {
  const DriverWords words(driver);
  std::vector<std::string> parts;
  for (const DriverVariable& variable : kVariables) {
    if (!variable.is_read_by(words)) continue;
    const std::optional<std::string> value = ValueOfVariable(variable);
    if (value.has_value()) parts.push_back(fmt::format("{}={}", variable.name, ShortDigestOf(*value)));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

}  // namespace hearth
