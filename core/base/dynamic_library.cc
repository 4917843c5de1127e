#include "core/base/dynamic_library.h"

#include <dlfcn.h>

#include <string>

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

DynamicLibrary::~DynamicLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

void* DynamicLibrary::Find(const char* name) const {
  return handle_ != nullptr ? dlsym(handle_, name) : nullptr;
}

}  // namespace hearth
