#include "backends/gles/driver.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/dynamic_library.h"
#include "core/base/error.h"

namespace hearth::gles {
namespace {

// --- what is called

// A table of the loaded file that holds this code. Some loaders leave its address relative to the file's.
template <typename T>
const T* TableOf(const link_map& file, ElfW(Sxword) tag) {
  for (const ElfW(Dyn)* entry = file.l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != tag) continue;
    const ElfW(Addr) at = entry->d_un.d_ptr;
    return reinterpret_cast<const T*>(at < file.l_addr ? file.l_addr + at : at);
  }
  return nullptr;
}

bool IsOfAnExtension(std::string_view function) {
  constexpr std::string_view kVendors[] = {"EXT", "KHR", "OES", "ANDROID"};
  return std::ranges::any_of(kVendors, [&](std::string_view vendor) { return function.ends_with(vendor); });
}

// The functions of OpenGL ES and EGL that this code calls, those of extensions left out: what the linker left to
// libepoxy. Its list of undefined symbols ends where the table of hashes begins to count.
std::vector<std::string> FunctionsCalled() {
  constexpr std::string_view kPrefix = "epoxy_";
  std::vector<std::string> functions = {"eglGetCurrentContext", "eglGetCurrentDisplay"};  // by libepoxy
  Dl_info info{};
  link_map* file = nullptr;
  void** extra = reinterpret_cast<void**>(&file);
  if (dladdr1(reinterpret_cast<void*>(&FunctionsCalled), &info, extra, RTLD_DL_LINKMAP) == 0) return functions;
  const auto* symbols = TableOf<ElfW(Sym)>(*file, DT_SYMTAB);
  const auto* names = TableOf<char>(*file, DT_STRTAB);
  const auto* hashes = TableOf<uint32_t>(*file, DT_GNU_HASH);
  if (symbols == nullptr || names == nullptr || hashes == nullptr) return functions;
  for (uint32_t k = 0; k < hashes[1]; ++k) {
    std::string_view name = names + symbols[k].st_name;
    if (!name.starts_with(kPrefix) || IsOfAnExtension(name)) continue;
    name.remove_prefix(kPrefix.size());
    if (name.starts_with("gl") || name.starts_with("egl")) functions.emplace_back(name);
  }
  return functions;
}

// --- what libepoxy does not find

std::atomic<const char*> function_not_found = nullptr;

uintptr_t DoNothing() {
  return 0;
}

epoxy_resolver_stub_t NoteMissing(const char* function) {
  function_not_found = function;
  return reinterpret_cast<epoxy_resolver_stub_t>(&DoNothing);
}

// Without a handler libepoxy ends the process. A handler of the application's stays.
void HandleMissingFunctions() {
  const epoxy_resolver_failure_handler_t others = epoxy_set_resolver_failure_handler(NoteMissing);
  if (others != nullptr) epoxy_set_resolver_failure_handler(others);
}

// --- errors

std::string_view GlErrorName(GLenum error) {
  switch (error) {
    case GL_INVALID_ENUM: return "GL_INVALID_ENUM";
    case GL_INVALID_VALUE: return "GL_INVALID_VALUE";
    case GL_INVALID_OPERATION: return "GL_INVALID_OPERATION";
    case GL_INVALID_FRAMEBUFFER_OPERATION: return "GL_INVALID_FRAMEBUFFER_OPERATION";
    case GL_OUT_OF_MEMORY: return "GL_OUT_OF_MEMORY";
    case GL_CONTEXT_LOST: return "GL_CONTEXT_LOST";
    default: return "an unknown error";
  }
}

StatusCode CodeOf(GLenum error) {
  switch (error) {
    case GL_OUT_OF_MEMORY: return StatusCode::kResourceExhausted;
    case GL_CONTEXT_LOST: return StatusCode::kDeviceLost;
    default: return StatusCode::kUnavailable;  // the driver refused one call; others may work
  }
}

}  // namespace

Status OpenDriver(const LoaderNames& names) {
  HEARTH_ASSIGN(DynamicLibrary egl, DynamicLibrary::Open(names.egl));
  HEARTH_ASSIGN(DynamicLibrary gles, DynamicLibrary::Open(names.gles));
  for (const std::string& function : FunctionsCalled()) {
    const bool is_egl = function.starts_with("egl");
    if ((is_egl ? egl : gles).Symbol<void*>(function.c_str()) != nullptr) continue;
    return Error(StatusCode::kUnavailable, "{} has no {}{}", is_egl ? names.egl.front() : names.gles.front(), function,
                 is_egl ? "" : ": OpenGL ES 3.1 is needed");
  }
  egl.Leak();
  gles.Leak();
  HandleMissingFunctions();
  return Status::Ok();
}

Status CheckVersion(const char* text, std::string_view display) {
  int major = 0, minor = 0;
  const char* number = text != nullptr ? text + std::strcspn(text, "0123456789") : "";
  if (std::sscanf(number, "%d.%d", &major, &minor) == 2) return Status::Ok();
  return Error(StatusCode::kUnavailable, "{}: the driver's version, '{}', can't be read", display,
               text != nullptr ? text : "");
}

Status TakeGlErrors(std::string_view what) {
  if (const char* missing = function_not_found)
    return Error(StatusCode::kUnavailable, "OpenGL ES has no {}, called while {}", missing, what);
  GLenum first = glGetError();
  if (first == GL_NO_ERROR) return Status::Ok();
  // Several flags can be set at once, and a lost context may return an error for ever.
  for (int k = 0; k < 16; ++k) {
    const GLenum next = glGetError();
    if (next == GL_NO_ERROR) break;
    if (next == GL_CONTEXT_LOST) first = next;
  }
  return Error(CodeOf(first), "OpenGL ES answered {} (0x{:x}) while {}", GlErrorName(first), first, what);
}

std::string_view TakeEglError() {
  switch (eglGetError()) {
    case EGL_SUCCESS: return "no error";
    case EGL_NOT_INITIALIZED: return "EGL_NOT_INITIALIZED";
    case EGL_BAD_ACCESS: return "EGL_BAD_ACCESS";
    case EGL_BAD_ALLOC: return "EGL_BAD_ALLOC";
    case EGL_BAD_ATTRIBUTE: return "EGL_BAD_ATTRIBUTE";
    case EGL_BAD_CONFIG: return "EGL_BAD_CONFIG";
    case EGL_BAD_CONTEXT: return "EGL_BAD_CONTEXT";
    case EGL_BAD_DISPLAY: return "EGL_BAD_DISPLAY";
    case EGL_BAD_MATCH: return "EGL_BAD_MATCH";
    case EGL_BAD_PARAMETER: return "EGL_BAD_PARAMETER";
    case EGL_BAD_SURFACE: return "EGL_BAD_SURFACE";
    case EGL_CONTEXT_LOST: return "EGL_CONTEXT_LOST";
    default: return "an unknown EGL error";
  }
}

}  // namespace hearth::gles
