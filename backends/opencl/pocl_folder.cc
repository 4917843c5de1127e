#include "backends/opencl/pocl_folder.h"

#include <unistd.h>

#include <filesystem>
#include <string_view>
#include <system_error>

#include "core/base/environment.h"
#include "core/base/error.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

// The folder that PoCL 3.1 would choose.
fs::path FolderOfPocl() {
  if (const std::string_view own = EnvironmentVariable("POCL_CACHE_DIR"); !own.empty()) return own;
  if (const std::string_view cache = EnvironmentVariable("XDG_CACHE_HOME"); !cache.empty())
    return fs::path(cache) / "pocl" / "kcache";
  if (const std::string_view home = EnvironmentVariable("HOME"); !home.empty())
    return fs::path(home) / ".cache" / "pocl" / "kcache";
  return "/tmp/pocl/kcache";
}

// Whether the folder can be written, or if it does not exist, the one that would contain it.
bool MayBeWritten(fs::path folder) {
  std::error_code ignored;
  while (!fs::exists(folder, ignored) && folder.has_relative_path()) folder = folder.parent_path();
  return ::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0;
}

}  // namespace

std::string HintOfPoclFolder() {
  const fs::path folder = FolderOfPocl();
  if (MayBeWritten(folder)) return "";
  return fmt::format("; PoCL stores programs in {}, which can't be written: set POCL_CACHE_DIR to a writable folder",
                     folder.string());
}

}  // namespace hearth
