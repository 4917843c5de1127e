#include "backends/vulkan/spirv_compiler.h"

#include <array>
#include <string>
#include <vector>

#include "backends/vulkan/spirv/compiler_name.h"
#include "backends/vulkan/spirv/spirv_library.h"
#include "core/base/dynamic_library.h"
#include "core/base/error.h"

namespace hearth::vulkan {
namespace {

constexpr uint32_t kSpirvMagic = 0x07230203;
constexpr uint32_t kNewestVersion = 0x00010300;
constexpr size_t kHeaderWords = 5;  // magic, version, generator, id bound, schema

// From the folder of the file that holds this code: beside a library, plugin or Python module; below the Python
// package; from a build's or an installed program's folder to that of its libraries.
constexpr std::array kFolders{"", "lib/", "../lib/", HEARTH_LIBRARIES_FROM_PROGRAMS "/"};

Result<HearthSpirvCompileFn> OpenCompiler() {
  const std::string here = FolderOfThisCode();
  std::vector<std::string> paths;
  if (!here.empty()) {
    for (const char* folder : kFolders) paths.push_back(here + "/" + folder + HEARTH_SPIRV_LIBRARY);
  }
  paths.emplace_back(HEARTH_SPIRV_LIBRARY);  // where the system's loader looks
  std::vector<const char*> names;
  for (const std::string& path : paths) names.push_back(path.c_str());
  HEARTH_ASSIGN(DynamicLibrary library, DynamicLibrary::Open(names));
  const auto compile = library.Symbol<HearthSpirvCompileFn>("hearth_spirv_compile");
  const auto name = library.Symbol<HearthSpirvCompilerNameFn>("hearth_spirv_compiler_name");
  if (compile == nullptr || name == nullptr || name() != BuiltCompilerName()) {
    return Error(StatusCode::kUnavailable,
                 HEARTH_SPIRV_LIBRARY " is of another version; install the one that came with this Hearth");
  }
  library.Leak();  // glslang keeps memory of the process
  return compile;
}

}  // namespace

std::string SpirvCompilerName() {
  return BuiltCompilerName();
}

Result<SpirvWords> CompileToSpirv(const std::string& glsl) {
  static const Result<HearthSpirvCompileFn> compile = OpenCompiler();
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
  return result;
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
