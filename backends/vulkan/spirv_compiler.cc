#include "backends/vulkan/spirv_compiler.h"

#include <string>

#include "backends/vulkan/spirv/compiler_name.h"
#include "backends/vulkan/spirv_functions.h"
#include "backends/vulkan/spirv_matrix_types.h"
#include "core/base/error.h"

namespace hearth::vulkan {
namespace {

constexpr uint32_t kSpirvMagic = 0x07230203;
constexpr uint32_t kNewestVersion = 0x00010300;
constexpr size_t kHeaderWords = 5;  // magic, version, generator, id bound, schema

}  // namespace

std::string SpirvCompilerName() {
  return BuiltCompilerName();
}

Result<SpirvWords> CompileToSpirv(const std::string& glsl) {
  static const Result<HearthSpirvCompileFn> compile = FindSpirvCompileFunction();
  if (!compile.ok()) return compile.status();
  Result<SpirvWords> result = SpirvWords();
  const HearthSpirvReceiver receiver{
      .user = &result,
      .words = [](void* user, const uint32_t* words,
                  size_t count) { *static_cast<Result<SpirvWords>*>(user) = SpirvWords(words, words + count); },
      .error =
          [](void* user, const char* message) {
            *static_cast<Result<SpirvWords>*>(user) = Error(StatusCode::kUnavailable, "{}", message);
          }};
  (*compile)(glsl.c_str(), &receiver);
  if (result.ok() && !CompleteMatrixTypes(*result))
    return Error(StatusCode::kInternal, "no type for the elements of a shader's matrices");
  return result;
}

Status CheckSpirv(std::span<const uint32_t> words) {
  if (words.size() <= kHeaderWords || words[0] != kSpirvMagic || words[1] > kNewestVersion || words[3] == 0 ||
      words[4] != 0) {
    return Error(StatusCode::kMalformedInput, "not a SPIR-V module of version 1.3 or older");
  }
  size_t at = kHeaderWords;
  while (at < words.size()) {
    const size_t length = words[at] >> 16;  // length of the instruction in words, including this one
    if (length == 0 || length > words.size() - at) {
      return Error(StatusCode::kMalformedInput, "a SPIR-V instruction at word {} ends outside its module", at);
    }
    at += length;
  }
  return Status::Ok();
}

}  // namespace hearth::vulkan
