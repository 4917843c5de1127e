// Opens libhearth_spirv.so when something has to be compiled. libhearth.a has spirv/functions_linked.cc.
#include <array>
#include <string>
#include <vector>

#include "backends/vulkan/spirv/compiler_name.h"
#include "backends/vulkan/spirv_functions.h"
#include "core/base/dynamic_library.h"
#include "core/base/error.h"

namespace hearth::vulkan {
namespace {

// Paths relative to the folder of the file that contains this code: beside a library, plugin or Python module; below
// the Python package; from a build's or an installed program's folder to that of its libraries.
constexpr std::array kFolders{"", "lib/", "../lib/", HEARTH_LIBRARIES_FROM_PROGRAMS "/"};

}  // namespace

Result<HearthSpirvCompileFn> FindSpirvCompileFunction() {
  const std::string here = FolderOfThisCode();
  std::vector<std::string> paths;
  if (!here.empty()) {
    for (const char* folder : kFolders) paths.push_back(here + "/" + folder + HEARTH_SPIRV_LIBRARY);
  }
  paths.emplace_back(HEARTH_SPIRV_LIBRARY);  // the system's loader searches for it
  std::vector<const char*> names;
  for (const std::string& path : paths) names.push_back(path.c_str());
  HEARTH_ASSIGN(DynamicLibrary library, DynamicLibrary::Open(names));
  const auto compile = library.Symbol<HearthSpirvCompileFn>("hearth_spirv_compile");
  const auto name = library.Symbol<HearthSpirvCompilerNameFn>("hearth_spirv_compiler_name");
  if (compile == nullptr || name == nullptr || name() != BuiltCompilerName()) {
    return Error(StatusCode::kUnavailable,
                 HEARTH_SPIRV_LIBRARY " is of another version; install the one that came with this Hearth");
  }
  library.Leak();  // glslang keeps memory for the whole process
  return compile;
}

}  // namespace hearth::vulkan
