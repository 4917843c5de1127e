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
    {"GALLIVM_PERF", IsGallivm, "which optimizations run; binaries are refused under another value"},
    {"GALLIUM_OVERRIDE_CPU_CAPS", IsGallivm, "the processor's instructions; binaries are refused under another value"},
    {"GALLIUM_NOSSE", IsGallivm, "the processor's instructions; binaries are refused under another value"},
    {"MESA_GLSL", IsMesaGles, "options of the language's compiler"},
    {"MESA_SHADER_READ_PATH", IsMesaGles, "a folder of texts that replace programs"},
    {"MESA_SPIRV_READ_PATH", IsMesaSpirv, "a folder of SPIR-V that replaces programs"},
    {"MESA_SPIRV_FORCE_UNSTRUCTURED", IsMesaSpirv, "how control flow is read"},
    {"NIR_DEBUG", IsMesa, "passes of the common compiler"},
    {"NIR_SKIP", IsMesa, "passes of the common compiler that are left out"},
    {"RADV_DEBUG", IsRadv, "the compiler (llvm), work-arounds; newer ones are in the pipeline cache's UUID too"},
    {"RADV_PERFTEST", IsRadv, "32 or 64 items in a wave; newer ones are in the pipeline cache's UUID too"},
    {"RADV_EXPERIMENTAL", IsRadv, "features that are not finished"},
    {"ACO_DEBUG", IsAco, "which optimizations run; RADV has it in no key of its own"},
    {"AMD_DEBUG", IsRadeonsi, "the compiler, 32 or 64 items in a wave"},
    {"R600_DEBUG", IsRadeonsi, "the older name of AMD_DEBUG"},
    {"INTEL_DEBUG", IsMesaIntel, "items in a thread, spilling, compaction; in the key of Mesa's own cache only"},
    {"INTEL_SIMD_DEBUG", IsMesaIntel, "items in a thread; in the key of Mesa's own cache only"},
    {"INTEL_PRECISE_TRIG", IsMesaIntel, "sine and cosine; in the key of Mesa's own cache only"},
    {"INTEL_SHADER_ASM_READ_PATH", IsMesaIntel, "a folder of code that replaces programs"},
    {"INTEL_SHADER_OPTIMIZER_PATH", IsMesaIntel, "a folder of code that replaces programs"},
    {"IR3_SHADER_DEBUG", IsIr3, "which optimizations run, 16-bit numbers"},
    {"IR3_SHADER_OVERRIDE_PATH", IsIr3, "a folder of code that replaces programs"},
    {"BIFROST_MESA_DEBUG", IsPanfrost, "which optimizations run"},
    {"MIDGARD_MESA_DEBUG", IsPanfrost, "which optimizations run"},
    {"PAN_MESA_DEBUG", IsPanfrost, "16-bit numbers"},
    {"V3D_DEBUG", IsV3d, "which optimizations run"},
    {"NAK_DEBUG", IsNak, "scheduling, spilling"},
    {"AGX_MESA_DEBUG", IsAsahi, "which optimizations run"},
    {"ASAHI_MESA_DEBUG", IsAsahi, "16-bit numbers"},
    {"PCO_DEBUG", IsMesaPowerVr, "control flow, spilling"},
    {"PCO_SKIP_PASSES", IsMesaPowerVr, "passes that are left out"},
    {"AMD_OCL_BUILD_OPTIONS", IsAmdOpenCl, "options of each build"},
    {"AMD_OCL_BUILD_OPTIONS_APPEND", IsAmdOpenCl, "added to the options of each build"},
    {"AMD_OCL_LINK_OPTIONS", IsAmdOpenCl, "options of each link"},
    {"AMD_OCL_LINK_OPTIONS_APPEND", IsAmdOpenCl, "added to the options of each link"},
    {"AMD_OCL_SUBST_OBJFILE", IsAmdOpenCl, "a list of code that replaces programs; in debug builds"},
    {"OCL_STUB_PROGRAMS", IsAmdOpenCl, "replaces programs"},
    {"AMD_GPU_FORCE_SINGLE_FP_DENORM", IsAmdOpenCl, "numbers close to zero"},
    {"GPU_ENABLE_*", IsAmdOpenCl, "32 or 64 items in a wave, the compiler (LC), whether a group shares two units"},
    {"IGC_*", IsIntelOpenCl, "hundreds of switches of the compiler for GPUs"},
    {"CL_CONFIG_*", IsIntelOpenCl, "switches of the driver for CPUs: the processor, vectors, options of LLVM"},
    {"VOLCANO_*", IsIntelOpenCl, "the same in older drivers for CPUs"},
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
