// Facts about drivers for the sanitizers.
//
// If PoCL 3.1 ran in the process, LeakSanitizer itself sometimes crashes at exit ("Tracer caught signal 11"), because
// it walks the memory of PoCL's ending threads. All other tests are checked for leaks.
//
// A test that leaves a driver during a run leaks the driver's memory: it sets HEARTH_LEAVES_A_DRIVER_RUNNING.

#include <dlfcn.h>

#include <cstdlib>

extern "C" int __lsan_is_turned_off();  // NOLINT(bugprone-reserved-identifier): the sanitizer's name for it

// Called at the end of the process.
extern "C" __attribute__((used, visibility("default"))) int
__lsan_is_turned_off() {  // NOLINT(bugprone-reserved-identifier)
  const bool is_left = std::getenv("HEARTH_LEAVES_A_DRIVER_RUNNING") != nullptr;
  return is_left || dlopen("libpocl.so.2", RTLD_NOLOAD | RTLD_LAZY) != nullptr ? 1 : 0;
}

// PoCL's LLVM replaces AddressSanitizer's signal stack in our threads that compile; the sanitizer would unmap LLVM's at
// their end and abort. Without signal stacks a stack overflow is a plain crash.
extern "C" __attribute__((used, visibility("default"))) const char*
__asan_default_options() {  // NOLINT(bugprone-reserved-identifier)
  return "use_sigaltstack=0";
}
