// System calls that the system refuses this process for good, as a broken file system does.
#ifndef HEARTH_TESTS_TESTING_REFUSED_CALLS_H_
#define HEARTH_TESTS_TESTING_REFUSED_CALLS_H_

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tests/testing/child_process.h"

namespace hearth::testing {

struct RefusedCall {
  int number = 0;                                  // __NR_flock
  int error = 0;                                   // ENOLCK
  std::optional<uint32_t> command = std::nullopt;  // only with this second argument
};

// False where system calls can't be filtered.
inline bool RefuseCalls(std::span<const RefusedCall> calls) {
  const auto load = [](size_t offset) {
    return sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<uint32_t>(offset)};
  };
  const auto skip_unless = [](uint32_t value, uint8_t count) {
    return sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, count, value};
  };
  const auto answer = [](uint32_t action) { return sock_filter{BPF_RET | BPF_K, 0, 0, action}; };
  constexpr size_t kCommand = offsetof(seccomp_data, args) + sizeof(uint64_t);
  std::vector<sock_filter> program;
  for (const RefusedCall& call : calls) {
    program.push_back(load(offsetof(seccomp_data, nr)));
    program.push_back(skip_unless(static_cast<uint32_t>(call.number), call.command ? 3 : 1));
    if (call.command) {
      program.push_back(load(kCommand));
      program.push_back(skip_unless(*call.command, 1));
    }
    program.push_back(answer(SECCOMP_RET_ERRNO | static_cast<uint32_t>(call.error)));
  }
  program.push_back(answer(SECCOMP_RET_ALLOW));
  const sock_fprog filter = {static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

inline constexpr int kNotAllowed = 77;

// The exit code of `body` in a process of its own that is refused these calls; kNotAllowed where that can't be.
inline int WithRefusedCalls(std::span<const RefusedCall> calls, const std::function<int()>& body) {
  return WaitFor(StartProcess([&] { return RefuseCalls(calls) ? body() : kNotAllowed; }));
}

#define SKIP_WHERE_FORBIDDEN(exit_code) \
  if ((exit_code) == ::hearth::testing::kNotAllowed) GTEST_SKIP() << "system calls can't be filtered here"

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_REFUSED_CALLS_H_
