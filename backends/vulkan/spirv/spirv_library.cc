#include "backends/vulkan/spirv/spirv_library.h"

#include <glslang/Public/ResourceLimits.h>
#include <glslang/Public/ShaderLang.h>
#include <glslang/SPIRV/GlslangToSpv.h>

#include <climits>
#include <mutex>
#include <string>
#include <vector>

namespace {

// Limits are not checked here: lowering keeps the device's limits, and Compile checks the work group.
TBuiltInResource ResourceLimits() {
  TBuiltInResource limits = *GetDefaultResources();
  limits.maxComputeWorkGroupSizeX = limits.maxComputeWorkGroupSizeY = limits.maxComputeWorkGroupSizeZ = INT_MAX;
  return limits;
}

void StartGlslangOnce() {
  static std::once_flag once;
  std::call_once(once, [] { glslang::InitializeProcess(); });  // its memory lives until the process ends
}

void Fail(const HearthSpirvReceiver& receiver, const char* what, const char* log) {
  std::string text = std::string(what) + (log != nullptr ? log : "");
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  receiver.error(receiver.user, text.c_str());
}

}  // namespace

const char* hearth_spirv_compiler_name() {
  static const std::string name = hearth::vulkan::BuiltCompilerName();
  return name.c_str();
}

void hearth_spirv_compile(const char* glsl, const HearthSpirvReceiver* receiver) {
  StartGlslangOnce();
  const TBuiltInResource limits = ResourceLimits();
  constexpr auto kMessages = static_cast<EShMessages>(EShMsgSpvRules | EShMsgVulkanRules);
  glslang::TShader shader(EShLangCompute);
  shader.setStrings(&glsl, 1);
  shader.setEnvInput(glslang::EShSourceGlsl, EShLangCompute, glslang::EShClientVulkan, 100);
  shader.setEnvClient(glslang::EShClientVulkan, glslang::EShTargetVulkan_1_1);
  shader.setEnvTarget(glslang::EShTargetSpv, glslang::EShTargetSpv_1_3);
  if (!shader.parse(&limits, 450, false, kMessages)) {
    return Fail(*receiver, "GLSL does not compile:\n", shader.getInfoLog());
  }
  glslang::TProgram program;
  program.addShader(&shader);
  if (!program.link(kMessages)) return Fail(*receiver, "GLSL does not link:\n", program.getInfoLog());
  std::vector<uint32_t> words;
  spv::SpvBuildLogger logger;
  glslang::SpvOptions options;
  options.disableOptimizer = true;  // drivers optimize anyway
  glslang::GlslangToSpv(*program.getIntermediate(EShLangCompute), words, &logger, &options);
  if (words.empty()) return Fail(*receiver, "no SPIR-V came out: ", logger.getAllMessages().c_str());
  receiver->words(receiver->user, words.data(), words.size());
}
