// Where PoCL 3.1 ran in the process, LeakSanitizer itself crashes at exit now and then ("Tracer caught signal 11"): it
// walks the memory of PoCL's threads while they end. All other tests are checked for leaks.

#include <dlfcn.h>

extern "C" int __lsan_is_turned_off();  // NOLINT(bugprone-reserved-identifier): the sanitizer's name for it

// Asked at the end of the process.
extern "C" __attribute__((used, visibility("default"))) int
__lsan_is_turned_off() {  // NOLINT(bugprone-reserved-identifier)
  return dlopen("libpocl.so.2", RTLD_NOLOAD | RTLD_LAZY) != nullptr ? 1 : 0;
}
