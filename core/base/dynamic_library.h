// A library opened at run time, so that one binary starts on machines without it: drivers and optional libraries.
#ifndef HEARTH_CORE_BASE_DYNAMIC_LIBRARY_H_
#define HEARTH_CORE_BASE_DYNAMIC_LIBRARY_H_

#include <span>
#include <string>
#include <utility>

#include "hearth/status.h"

namespace hearth {

// Owns one reference to a shared library; move-only. Symbols die with it.
class DynamicLibrary {
 public:
  // Opens the first of `names` that the system's loader finds. kUnavailable with the loader's answer for each name
  // when there is none. Threads: any.
  static Result<DynamicLibrary> Open(std::span<const char* const> names);

  // One of Hearth's own libraries, by its file's name. Looks near the file that contains this code (beside a library,
  // plugin or Python module; below the Python package; from a build's or an installed program's folder in that of its
  // libraries), then lets the system's loader search. kUnavailable, also where a library that it needs is missing.
  static Result<DynamicLibrary> OpenOurs(const std::string& file_name);

  DynamicLibrary() = default;  // nothing opened; every symbol is null
  DynamicLibrary(DynamicLibrary&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  DynamicLibrary& operator=(DynamicLibrary&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~DynamicLibrary();

  // The symbol as a function pointer type `Fn`, or null: Symbol<int (*)(int)>("abs").
  template <typename Fn>
  Fn Symbol(const char* name) const {
    return reinterpret_cast<Fn>(Find(name));
  }

  // Keeps the library in the process forever. For drivers that start threads or register exit handlers, which would run
  // unmapped code after a dlclose.
  void Leak() { handle_ = nullptr; }

 private:
  explicit DynamicLibrary(void* handle) : handle_(handle) {}
  void* Find(const char* name) const;

  void* handle_ = nullptr;
};

// The folder of the shared library or program that contains Hearth's code; empty if it is unknown.
std::string FolderOfThisCode();

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_DYNAMIC_LIBRARY_H_
