#include "core/base/dynamic_library.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>

#include <array>
#include <filesystem>
#include <string>
#include <system_error>

#include "core/base/error.h"

namespace hearth {

Result<DynamicLibrary> DynamicLibrary::Open(std::span<const char* const> names) {
  std::string answers;
  for (const char* name : names) {
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return DynamicLibrary(handle);
    const char* answer = dlerror();
    if (!answers.empty()) answers += "; ";
    answers += answer != nullptr ? answer : name;
  }
  return Error(StatusCode::kUnavailable, "no such library here ({}); install the package that has it", answers);
}

Result<DynamicLibrary> DynamicLibrary::OpenOurs(const std::string& file_name) {
  const std::string here = FolderOfThisCode();
  for (const char* folder : {"/", "/lib/", "/../lib/", "/" HEARTH_LIBRARIES_FROM_PROGRAMS "/"}) {
    const std::string path = here + folder + file_name;
    std::error_code failed;
    if (!here.empty() && std::filesystem::exists(path, failed)) return Open(std::array{path.c_str()});
  }
  return Open(std::array{file_name.c_str()});
}

DynamicLibrary::~DynamicLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

void* DynamicLibrary::Find(const char* name) const {
  return handle_ != nullptr ? dlsym(handle_, name) : nullptr;
}

namespace {

// The path that the program was started with, for systems where /proc is not mounted.
const char* StartedFile() {
  const unsigned long address = ::getauxval(AT_EXECFN);  // NOLINT(google-runtime-int): getauxval's type
  return address == 0 ? "" : reinterpret_cast<const char*>(address);
}

}  // namespace

std::string FolderOfThisCode() {
  Dl_info info{};
  link_map* loaded = nullptr;
  void** extra = reinterpret_cast<void**>(&loaded);
  if (dladdr1(reinterpret_cast<void*>(&FolderOfThisCode), &info, extra, RTLD_DL_LINKMAP) == 0) return "";
  // The program's own entry has an empty name, and dladdr gives the name it was started by, without a folder.
  const bool is_program = loaded == nullptr || loaded->l_name == nullptr || *loaded->l_name == '\0';
  std::error_code failed;
  std::filesystem::path file = std::filesystem::canonical(is_program ? "/proc/self/exe" : loaded->l_name, failed);
  if (failed && is_program) file = std::filesystem::canonical(StartedFile(), failed);
  return failed ? "" : file.parent_path().string();
}

}  // namespace hearth
