#include "hal/device/driver_isolation.h"

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>

#include "core/base/error.h"
#include "core/base/sanitizer.h"

namespace hearth {
namespace {

constexpr const char* kLlvmSymbol = "LLVMContextCreate";

// The files of the drivers, by backend, that were opened while the process saw no LLVM.
struct OpenedDrivers {
  std::mutex mutex;
  std::map<std::string, DriverFiles, std::less<>> files;
};

OpenedDrivers& DriversWithoutIsolation() {
  static OpenedDrivers drivers;
  return drivers;
}

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

// Memory that libc allocates and a driver frees must come from one allocator. The address of malloc tells nothing: in a
// program that isn't position-independent (Debian's python3) it is one of the program's. So libc is asked whether it
// made a block that is too large for its heap and is never touched.
bool MallocIsOfTheCLibrary() {
#ifndef __GLIBC__
  return false;  // nor is there RTLD_DEEPBIND
#else
  void* const libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (libc == nullptr) return false;
  const auto ask = reinterpret_cast<struct mallinfo2 (*)()>(dlsym(libc, "mallinfo2"));
  if (ask == nullptr) return false;
  constexpr size_t kBlockBytes = size_t{64} << 20;
  const auto allocated = [&] {
    const struct mallinfo2 now = ask();
    return now.arena + now.hblkhd;
  };
  const size_t before = allocated();
  void* volatile block = std::malloc(kBlockBytes);
  const bool is_its = block != nullptr && allocated() >= before + kBlockBytes / 2;  // other threads free meanwhile
  std::free(block);
  return is_its;
#endif
}

// The system's libLLVM has symbol versions, so one driver after the other may be opened beside it.
bool IsOfTheSystem(const std::string& llvm) {
  return std::filesystem::path(llvm).filename().string().starts_with("libLLVM");
}

// Whether the driver, opened as `flags` say, has an LLVM of its own that is not the one that the process sees.
bool HasAnotherLlvm(const std::string& driver, int flags) {
  void* const library = dlopen(driver.c_str(), RTLD_LAZY | RTLD_LOCAL | flags);
  if (library == nullptr) return false;
  // In the driver and the libraries that it is linked with.
  const void* const own = dlsym(library, kLlvmSymbol);
  const bool is_another = own != nullptr && own != dlsym(RTLD_DEFAULT, kLlvmSymbol);
  if ((flags & RTLD_NOLOAD) != 0) dlclose(library);
  return is_another;
}

bool AnyHasAnotherLlvm(DriverFiles files, int flags) {
  bool any = false;
  for (const std::string& file : files()) any = HasAnotherLlvm(file, flags) || any;
  return any;
}

}  // namespace

std::string GlobalLlvm() {
  return FileOfGlobal(kLlvmSymbol);
}

Status IsolateDrivers(std::string_view backend, DriverFiles files) {
  const std::string llvm = GlobalLlvm();
  if (llvm.empty()) {
    OpenedDrivers& opened = DriversWithoutIsolation();
    const std::scoped_lock lock(opened.mutex);
    opened.files.emplace(backend, files);
    return Status::Ok();
  }
  if (!kHasSanitizer && MallocIsOfTheCLibrary()) {
    // Never closed: the API's loader opens it again and gets this handle.
    for (const std::string& file : files()) dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
    return Status::Ok();
  }
  if (IsOfTheSystem(llvm) && !AnyHasAnotherLlvm(files, 0)) return Status::Ok();
  return Error(
      StatusCode::kUnavailable,
      "{} exports its own LLVM to the whole process, which drivers would call into, and drivers can't be isolated, "
      "because this process does not use the C library's allocator; use the device in another process",
      llvm);
}

Status CheckNoNewLlvm(std::string_view backend) {
  const std::string llvm = GlobalLlvm();
  if (llvm.empty()) return Status::Ok();
  DriverFiles files = nullptr;
  {
    OpenedDrivers& opened = DriversWithoutIsolation();
    const std::scoped_lock lock(opened.mutex);
    const auto found = opened.files.find(backend);
    if (found == opened.files.end()) return Status::Ok();
    files = found->second;
  }
  if (IsOfTheSystem(llvm) && !AnyHasAnotherLlvm(files, RTLD_NOLOAD)) return Status::Ok();
  return Error(
      StatusCode::kUnavailable,
      "{} was loaded after the driver and exports its own LLVM, which the driver would call into; open the first "
      "device after it is loaded (in Python: import tensorflow before the first session), or use separate processes",
      llvm);
}

}  // namespace hearth
