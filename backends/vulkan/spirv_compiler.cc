#include "backends/vulkan/spirv_compiler.h"

#include <glslang/Public/ResourceLimits.h>
#include <glslang/Public/ShaderLang.h>
#include <glslang/SPIRV/GlslangToSpv.h>

#include <climits>
#include <memory>
#include <mutex>

#include "core/base/error.h"

namespace hearth::vulkan {
namespace {

constexpr uint32_t kSpirvMagic = 0x07230203;
constexpr uint32_t kNewestVersion = 0x00010300;
constexpr size_t kHeaderWords = 5;  // magic, version, generator, id bound, schema

// Limits are the device's business: lowering keeps them, and Compile checks the work group.
TBuiltInResource ResourceLimits() {
  TBuiltInResource limits = *GetDefaultResources();
  limits.maxComputeWorkGroupSizeX = limits.maxComputeWorkGroupSizeY = limits.maxComputeWorkGroupSizeZ = INT_MAX;
  return limits;
}

void StartGlslangOnce() {
  static std::once_flag once;
  std::call_once(once, [] { glslang::InitializeProcess(); });  // its memory lives until the process ends
}

std::string LogOf(const char* log) {
  std::string text(log != nullptr ? log : "");
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace

std::string SpirvCompilerName() {
  const glslang::Version version = glslang::GetVersion();
  return fmt::format("glslang {}.{}.{}", version.major, version.minor, version.patch);
}

Result<SpirvWords> CompileToSpirv(const std::string& glsl) {
  StartGlslangOnce();
  const TBuiltInResource limits = ResourceLimits();
  constexpr auto kMessages = static_cast<EShMessages>(EShMsgSpvRules | EShMsgVulkanRules);
  glslang::TShader shader(EShLangCompute);
  const char* text = glsl.c_str();
  shader.setStrings(&text, 1);
  shader.setEnvInput(glslang::EShSourceGlsl, EShLangCompute, glslang::EShClientVulkan, 100);
  shader.setEnvClient(glslang::EShClientVulkan, glslang::EShTargetVulkan_1_1);
  shader.setEnvTarget(glslang::EShTargetSpv, glslang::EShTargetSpv_1_3);
  if (!shader.parse(&limits, 450, false, kMessages)) {
    return Error(StatusCode::kUnavailable, "GLSL does not compile:\n{}", LogOf(shader.getInfoLog()));
  }
  glslang::TProgram program;
  program.addShader(&shader);
  if (!program.link(kMessages)) {
    return Error(StatusCode::kUnavailable, "GLSL does not link:\n{}", LogOf(program.getInfoLog()));
  }
  SpirvWords words;
  spv::SpvBuildLogger logger;
  glslang::SpvOptions options;
  options.disableOptimizer = true;
  glslang::GlslangToSpv(*program.getIntermediate(EShLangCompute), words, &logger, &options);
  if (words.empty())
    return Error(StatusCode::kUnavailable, "no SPIR-V came out: {}", LogOf(logger.getAllMessages().c_str()));
  return words;
}

Status CheckSpirv(std::span<const uint32_t> words) {
  if (words.size() <= kHeaderWords || words[0] != kSpirvMagic || words[1] > kNewestVersion || words[3] == 0 ||
      words[4] != 0) {
    return Error(StatusCode::kMalformedInput, "not a SPIR-V module of version 1.3 or older");
  }
  size_t at = kHeaderWords;
  while (at < words.size()) {
    const size_t length = words[at] >> 16;  // of an instruction, in words, its own first word included
    if (length == 0 || length > words.size() - at) {
      return Error(StatusCode::kMalformedInput, "a SPIR-V instruction at word {} ends outside its module", at);
    }
    at += length;
  }
  return Status::Ok();
}

}  // namespace hearth::vulkan
