#include "hal/device/mesa_cache.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "core/base/contains.h"
#include "core/base/environment.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

constexpr std::array kFolderVariables = {"MESA_SHADER_CACHE_DIR", "MESA_GLSL_CACHE_DIR"};
constexpr std::array kSwitches = {"MESA_SHADER_CACHE_DISABLE", "MESA_GLSL_CACHE_DISABLE"};

// The folder that Mesa 22.3 chooses by itself; empty if it has none. It asks the list of users for the home, not HOME.
fs::path OwnFolder() {
  if (const std::string_view cache = EnvironmentVariable("XDG_CACHE_HOME"); !cache.empty())
    return fs::path(cache) / "mesa_shader_cache";
  passwd user;
  passwd* found = nullptr;
  std::array<char, 4096> text;
  if (::getpwuid_r(::getuid(), &user, text.data(), text.size(), &found) != 0 || found == nullptr) return {};
  return fs::path(user.pw_dir) / ".cache" / "mesa_shader_cache";
}

// The program's choice; empty if it has none.
fs::path ChosenFolder() {
  for (const char* name : kFolderVariables) {
    if (const std::string_view chosen = EnvironmentVariable(name); !chosen.empty()) return chosen;
  }
  return {};
}

bool CanBeWritten(fs::path folder) {
  std::error_code ignored;
  while (!fs::exists(folder, ignored) && folder.has_relative_path()) folder = folder.parent_path();
  return !folder.empty() && ::access(folder.c_str(), W_OK | X_OK) == 0;
}

}  // namespace

void GiveMesaAFolder(const fs::path& folder) {
  if (ChosenFolder().empty() && !CanBeWritten(OwnFolder())) ::setenv(kFolderVariables[0], (folder / "mesa").c_str(), 1);
}

std::string WhyMesaKeepsNothing(const fs::path& given) {
  constexpr std::array kTrue = {"1", "true", "y", "yes"};
  for (const char* name : kSwitches) {
    if (Contains(kTrue, EnvironmentVariable(name))) return fmt::format("{} is set", name);
  }
  const fs::path chosen = ChosenFolder(), folder = chosen.empty() ? OwnFolder() : chosen;
  if (CanBeWritten(folder) || (chosen.empty() && CanBeWritten(given))) return {};
  return folder.empty() ? "this user has no home" : fmt::format("{} can't be written", folder.string());
}

}  // namespace hearth
