// The floating-point environment of a thread: rounding mode, subnormal handling, trapped exceptions.
#ifndef HEARTH_CORE_BASE_FLOAT_ENVIRONMENT_H_
#define HEARTH_CORE_BASE_FLOAT_ENVIRONMENT_H_

#include <cfenv>
#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace hearth {

// Whether this thread has the default environment; false also on processors where this can't be read. Setting the
// environment twice took 1 us on a busy AMD EPYC, as long as a run of a small network; reading it took 40 ns.
inline bool HasDefaultFloatEnvironment() {
#if defined(__x86_64__)
  constexpr uint32_t kFlags = 0x3f, kMxcsr = 0x1f80;
  constexpr uint16_t kX87 = 0x037f;
  uint16_t x87 = 0;
  asm volatile("fnstcw %0" : "=m"(x87));
  return (_mm_getcsr() & ~kFlags) == kMxcsr && x87 == kX87;
#elif defined(__aarch64__)
  uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return control == 0;
#else
  return false;
#endif
}

// While this object lives, the thread has the default environment. Some programs change it: interval arithmetic rounds
// upward, audio code flushes subnormals to zero, numerical code traps NaN. With upward rounding on the CPU a
// segmentation's mask was off by 4e-4 and an 8-bit detector gave other classes; with trapped NaN lavapipe and llvmpipe
// ended the program. A new thread inherits the environment of the thread that starts it.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment() : is_changed_(!HasDefaultFloatEnvironment()) {
    if (!is_changed_) return;
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatEnvironment() {
    if (is_changed_) std::fesetenv(&before_);
  }
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
  bool is_changed_;
  std::fenv_t before_;
};

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_FLOAT_ENVIRONMENT_H_
