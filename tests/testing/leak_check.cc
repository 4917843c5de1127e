// What the sanitizers must know about drivers.
//
// Where PoCL 3.1 ran in the process, LeakSanitizer itself crashes at exit now and then ("Tracer caught signal 11"): it
// walks the memory of PoCL's threads while they end. All other tests are checked for leaks.
//
// A test that gives up a driver in the middle of a run leaves what the driver holds: it sets
// HEARTH_LEAVES_A_DRIVER_RUNNING.

#include <dlfcn.h>

#include <cstdlib>

extern "C" int __lsan_is_turned_off();  // NOLINT(bugprone-reserved-identifier): the sanitizer's name for it

// Asked at the end of the process.
extern "C" __attribute__((used, visibility("default"))) int
__lsan_is_turned_off() {  // NOLINT(bugprone-reserved-identifier)
  const bool is_left = std::getenv("HEARTH_LEAVES_A_DRIVER_RUNNING") != nullptr;
  return is_left || dlopen("libpocl.so.2", RTLD_NOLOAD | RTLD_LAZY) != nullptr ? 1 : 0;
}

// PoCL's LLVM puts a signal stack of its own in the place of AddressSanitizer's, in threads of ours that compile; at
// their end the sanitizer would unmap it and abort. Without them a stack overflow is a plain crash.
extern "C" __attribute__((used, visibility("default"))) const char*
__asan_default_options() {  // NOLINT(bugprone-reserved-identifier)
  return "use_sigaltstack=0";
}
