// The priority of a thread.
#ifndef HEARTH_CORE_BASE_THREAD_PRIORITY_H_
#define HEARTH_CORE_BASE_THREAD_PRIORITY_H_

#include <sys/resource.h>

namespace hearth {

// Lowers this thread, and those that it starts from now on, below the priority that it has. It cannot be raised again
// without privileges.
inline void LowerPriority(int steps) {
  static_cast<void>(::setpriority(PRIO_PROCESS, 0, ::getpriority(PRIO_PROCESS, 0) + steps));
}

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_THREAD_PRIORITY_H_
