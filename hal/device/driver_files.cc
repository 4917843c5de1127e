#include "hal/device/driver_files.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "core/base/contains.h"
#include "core/base/environment.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

// The files in the folder `path` that end in `extension`, sorted; if `path` is a file, that file.
std::vector<std::string> FilesOf(const std::string& path, std::string_view extension) {
  std::error_code failed;
  if (fs::is_regular_file(path, failed)) return {path};
  std::vector<std::string> files;
  for (fs::directory_iterator entry(path, failed), end; !failed && entry != end; entry.increment(failed)) {
    if (entry->path().extension() == extension) files.push_back(entry->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The library that a manifest names, relative to the manifest if its name has a folder.
std::string LibraryOfManifest(const std::string& file) {
  std::ifstream stream(file);
  const nlohmann::json manifest = nlohmann::json::parse(stream, nullptr, false);
  if (!manifest.is_object() || !manifest.contains("ICD") || !manifest["ICD"].is_object()) return "";
  const auto library = manifest["ICD"].find("library_path");
  if (library == manifest["ICD"].end() || !library->is_string()) return "";
  const std::string name = library->get<std::string>();
  const bool is_relative = name.find('/') != std::string::npos && !name.starts_with('/');
  return is_relative ? (fs::path(file).parent_path() / name).string() : name;
}

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

fs::path DriversFolderIn(const fs::path& cache, const std::string& name) {
  struct stat info;
  const bool is_anothers = ::stat((cache / name).c_str(), &info) == 0 && info.st_uid != ::geteuid();
  return cache / (is_anothers ? fmt::format("{}-{}", name, ::geteuid()) : name);
}

std::vector<std::string> VulkanDriverFiles() {
  std::vector<std::string> places = PathsInList(EnvironmentVariable("VK_DRIVER_FILES"));
  if (places.empty()) places = PathsInList(EnvironmentVariable("VK_ICD_FILENAMES"));
  if (places.empty()) {
    std::string folders = fmt::format("/etc:/usr/local/share:/usr/share:{}", EnvironmentVariable("XDG_DATA_DIRS"));
    if (const std::string_view home = EnvironmentVariable("HOME"); !home.empty())
      folders += fmt::format(":{}/.local/share", home);
    for (const std::string& folder : PathsInList(folders)) places.push_back(folder + "/vulkan/icd.d");
  }
  std::vector<std::string> libraries;
  for (const std::string& place : places) {
    for (const std::string& manifest : FilesOf(place, ".json")) {
      if (std::string library = LibraryOfManifest(manifest); !library.empty()) libraries.push_back(std::move(library));
    }
  }
  return libraries;
}

std::vector<std::string> OpenClDriverFiles() {
  const std::string vendors(EnvironmentVariable("OCL_ICD_VENDORS"));
  std::vector<std::string> libraries;
  for (const std::string& file : FilesOf(vendors.empty() ? "/etc/OpenCL/vendors" : vendors, ".icd")) {
    std::string line;
    if (std::ifstream stream(file); std::getline(stream, line) && !line.empty()) libraries.push_back(line);
  }
  return libraries;
}

std::vector<std::string> GlesDriverFiles() {
  std::vector<std::string> folders = PathsInList(EnvironmentVariable("LIBGL_DRIVERS_PATH"));
  if (folders.empty()) {
    folders = {"/usr/lib/x86_64-linux-gnu/dri", "/usr/lib/aarch64-linux-gnu/dri", "/usr/lib64/dri", "/usr/lib/dri"};
  }
  std::vector<std::string> libraries;
  for (const std::string& folder : folders) {
    std::error_code failed;
    const std::string file = folder + "/swrast_dri.so";
    if (fs::exists(file, failed)) libraries.push_back(file);
  }
  return libraries;
}

void GiveMesaAFolder(const fs::path& folder) {
  if (ChosenFolder().empty() && !CanBeWritten(OwnFolder()))
    ::setenv(kFolderVariables[0], (DriversFolderIn(folder, "mesa")).c_str(), 1);
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
