// A thread that may use one CPU of those that its process may use.
#ifndef HEARTH_TESTS_TESTING_PINNED_THREAD_H_
#define HEARTH_TESTS_TESTING_PINNED_THREAD_H_

#include <sched.h>

namespace hearth::testing {

// Takes the first CPU that the calling thread may use; false where the system does not let it.
inline bool PinThisThreadToOneCpu() {
  cpu_set_t all, one;
  if (::sched_getaffinity(0, sizeof all, &all) != 0) return false;
  int cpu = 0;
  while (!CPU_ISSET(cpu, &all)) ++cpu;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  return ::sched_setaffinity(0, sizeof one, &one) == 0;
}

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_PINNED_THREAD_H_
