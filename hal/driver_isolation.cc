#include "hal/driver_isolation.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdint>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/sanitizer.h"

namespace hearth {
namespace {

std::atomic<bool> opened_without_isolation = false;

struct ObjectOfAddress {
  uintptr_t address = 0;
  const char* file = "";
};

// A callback of dl_iterate_phdr. Returns 1, and fills in the file, if the address in `looked_for` (an ObjectOfAddress)
// lies in the object of `info`.
int TakeObject(dl_phdr_info* info, size_t /*size_bytes*/, void* looked_for) {
  auto& object = *static_cast<ObjectOfAddress*>(looked_for);
  for (ElfW(Half) k = 0; k < info->dlpi_phnum; ++k) {
    const ElfW(Phdr)& part = info->dlpi_phdr[k];
    if (part.p_type != PT_LOAD || object.address - (info->dlpi_addr + part.p_vaddr) >= part.p_memsz) continue;
    object.file = info->dlpi_name[0] != '\0' ? info->dlpi_name : "the program";
    return 1;
  }
  return 0;
}

// The file with the symbol that the whole process sees under this name; empty if there is none. dladdr would search all
// of a library's symbols, which takes 0.3 ms in libLLVM for each program that a start loads.
std::string FileOfGlobal(const char* symbol) {
  ObjectOfAddress object{reinterpret_cast<uintptr_t>(dlsym(RTLD_DEFAULT, symbol)), ""};
  if (object.address != 0) dl_iterate_phdr(TakeObject, &object);
  return object.file;
}

// Memory that libc allocates and a driver frees must come from one allocator.
bool MallocIsOfTheCLibrary() {
  const std::string allocator = FileOfGlobal("malloc");
  return !allocator.empty() && allocator == FileOfGlobal("getline");
}

}  // namespace

std::string ForeignLlvm() {
  const std::string file = FileOfGlobal("LLVMContextCreate");
  // The system's libLLVM has symbol versions: a driver takes its symbols only if it was linked with it.
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
        "{} exports its own LLVM to the whole process, which drivers would call into, and drivers can't be isolated, "
        "because this process does not use the C library's allocator; use the device in another process",
        llvm);
  }
  for (const std::string& file : driver_files()) {
    // Never closed: the API's loader opens it again and gets this handle.
    dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
  }
  return Status::Ok();
}

Status CheckNoNewLlvm() {
  if (!opened_without_isolation) return Status::Ok();
  const std::string llvm = ForeignLlvm();
  if (llvm.empty()) return Status::Ok();
  return Error(
      StatusCode::kUnavailable,
      "{} was loaded after the driver and exports its own LLVM, which the driver would call into; open the first "
      "device after it is loaded (in Python: import tensorflow before the first session), or use separate processes",
      llvm);
}

}  // namespace hearth
