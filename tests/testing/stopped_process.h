// A process that is stopped at one of its system calls, to test what others do or find at that point.
#ifndef HEARTH_TESTS_TESTING_STOPPED_PROCESS_H_
#define HEARTH_TESTS_TESTING_STOPPED_PROCESS_H_

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <utility>

#include "tests/testing/cache_folder.h"

namespace hearth::testing {

// Runs `body` in a forked process, whose exit code it returns, up to before its system call of that number. Whoever
// does not let it go on kills it there.
class StoppedProcess {
 public:
  StoppedProcess(int number, const std::function<int()>& body)
      : child_(StartProcess([&] {
          ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
          ::raise(SIGSTOP);
          return body();
        })) {
    int status = 0;
    ::waitpid(child_, &status, 0);
    ::ptrace(PTRACE_SETOPTIONS, child_, nullptr, PTRACE_O_EXITKILL);
    for (int stop = 0; stop <= 2 * number; ++stop) {  // at each call's begin and end
      ::ptrace(PTRACE_SYSCALL, child_, nullptr, nullptr);
      ::waitpid(child_, &status, 0);
      if (WIFEXITED(status)) {
        NoteEnd(WEXITSTATUS(status));
        return;
      }
    }
  }
  StoppedProcess(const StoppedProcess&) = delete;
  StoppedProcess& operator=(const StoppedProcess&) = delete;
  ~StoppedProcess() {
    if (!is_stopped()) return;
    ::kill(child_, SIGKILL);
    WaitFor(child_);
  }

  // False if it has fewer calls and has ended.
  bool is_stopped() const { return child_ != 0; }
  // Lets it go on to its end. Returns its exit code.
  int End() {
    if (!is_stopped()) return exit_code_;
    ::ptrace(PTRACE_DETACH, child_, nullptr, nullptr);
    NoteEnd(WaitFor(child_));
    return exit_code_;
  }

 private:
  void NoteEnd(int exit_code) {
    child_ = 0;
    exit_code_ = exit_code;
  }

  pid_t child_;
  int exit_code_ = 0;
};

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_STOPPED_PROCESS_H_
