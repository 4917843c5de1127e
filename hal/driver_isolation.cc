#include "hal/driver_isolation.h"

#include <dlfcn.h>

#include <atomic>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/sanitizer.h"

namespace hearth {
namespace {

std::atomic<bool> opened_without_isolation = false;

// The file that holds what the whole process sees under a name; empty where there is none.
std::string FileOfGlobal(const char* symbol) {
  void* address = dlsym(RTLD_DEFAULT, symbol);
  Dl_info info{};
  if (address == nullptr || dladdr(address, &info) == 0 || info.dli_fname == nullptr) return "";
  return info.dli_fname;
}

// Memory that libc made and a driver frees must come from one allocator.
bool MallocIsOfTheCLibrary() {
  const std::string allocator = FileOfGlobal("malloc");
  return !allocator.empty() && allocator == FileOfGlobal("getline");
}

}  // namespace

std::string ForeignLlvm() {
  const std::string file = FileOfGlobal("LLVMContextCreate");
  // A libLLVM of the system has symbol versions: a driver takes its symbols only where it was linked with it.
  return std::filesystem::path(file).filename().string().starts_with("libLLVM") ? "" : file;
}

Status IsolateDrivers(const std::function<std::vector<std::string>()>& driver_files) {
  const std::string llvm = ForeignLlvm();
  if (llvm.empty()) {
    opened_without_isolation = true;
    return Status::Ok();
  }
  if (kHasSanitizer || !MallocIsOfTheCLibrary()) {
    return Error(
        StatusCode::kUnavailable,
        "{} shows an LLVM of its own to the whole process, which drivers would call into, and this process has "
        "another allocator than the C library's, so that drivers can't be kept apart; use the device in a "
        "process of its own",
        llvm);
  }
  for (const std::string& file : driver_files()) {
    // Never closed: the API's loader opens it again, and gets this one.
    dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
  }
  return Status::Ok();
}

Status CheckNoNewLlvm() {
  if (!opened_without_isolation) return Status::Ok();
  const std::string llvm = ForeignLlvm();
  if (llvm.empty()) return Status::Ok();
  return Error(StatusCode::kUnavailable,
               "{} came into the process after the driver and shows an LLVM of its own to it, which the driver would "
               "call into; open the first device after it is loaded (in Python: import tensorflow before the first "
               "session), or use processes of their own",
               llvm);
}

}  // namespace hearth
