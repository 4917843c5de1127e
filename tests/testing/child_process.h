// Code that a test runs in a process of its own: to kill it, or to see how much memory it takes.
#ifndef HEARTH_TESTS_TESTING_CHILD_PROCESS_H_
#define HEARTH_TESTS_TESTING_CHILD_PROCESS_H_

#include <grp.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <span>

#include "core/base/sanitizer.h"

namespace hearth::testing {

// Runs `body` in a forked process, whose exit code it returns. Returns the child's pid.
inline pid_t StartProcess(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(600);  // ends it if the test run was stopped
    ::_exit(body());
  }
  return child;
}

// Makes this process, which is root's, one of a user whom permissions bind, with these groups beside its own. False if
// that user can't be had.
inline bool BecomeUser(uid_t user, std::span<const gid_t> groups = {}) {
  return ::setgroups(groups.size(), groups.data()) == 0 && ::setgid(user) == 0 && ::setuid(user) == 0;
}

// The exit code, or 128 plus the signal that ended it.
inline int WaitFor(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// In a process of its own: 0 where `act` answered true and took at most 96 MiB, 1 where it answered false, 2 where it
// took more. ThreadSanitizer (clang 14) has 4.5 bytes of its own for each byte that is touched.
inline int ExitCodeInLittleMemory(const std::function<bool()>& act) {
  constexpr long kLittleKilobytes = (96 << 10) * (kHasThreadSanitizer ? 11 : 2) / 2;
  return WaitFor(StartProcess([&act] {
    const auto peak_kilobytes = [] {
      rusage used{};
      return ::getrusage(RUSAGE_SELF, &used) == 0 ? used.ru_maxrss : 0;
    };
    const long before = peak_kilobytes();
    if (!act()) return 1;
    return peak_kilobytes() - before > kLittleKilobytes ? 2 : 0;
  }));
}

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_CHILD_PROCESS_H_
