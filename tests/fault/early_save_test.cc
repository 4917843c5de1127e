// A program that is killed while its session is open: what its start made is there for the next one.
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <utility>
#include <vector>

#include "hearth/session.h"
#include "runtime/devices/backends.h"
#include "tests/testing/built_models.h"
#include "tests/testing/child_process.h"
#include "tests/testing/temporary_folder.h"

namespace hearth {
namespace {

using testing::NegationModel;
using testing::StartProcess;
using testing::WaitFor;

constexpr int kNoDevice = 77;

// In a process of its own, because drivers don't survive a fork: runs once and calls `then`.
int RunOnce(const SessionOptions& options, const std::function<int(Session& session)>& then) {
  ::alarm(120);  // ends what waits for something that does not happen
  const Model model = NegationModel({1, 5, 6, 7});
  Result<Session> session = Session::Create(model, options);
  if (!session.ok()) return kNoDevice;
  const std::vector<float> x(210, 1.5f);
  if (!session->SetInput<float>(0, x).ok() || !session->Run().ok()) return 1;
  return then(*session);
}

// The CPU keeps nothing.
class KilledSessions : public ::testing::TestWithParam<std::string> {
 protected:
  SessionOptions Options() const {
    SessionOptions options;
    options.device = GetParam();
    options.cache_folder = (folder_.path() / "cache").string();
    return options;
  }

  // Waits until the first start's plan is stored; false if it ended before.
  bool IsStoredBy(pid_t* child) const {
    std::array<int, 2> ends{-1, -1};
    if (::pipe(ends.data()) != 0) return false;
    *child = StartProcess([&] {
      ::close(ends[0]);
      SessionOptions options = Options();
      options.on_cache_event = [&](const CacheEvent& event) {
        const bool is_plan = event.what == CacheEvent::What::kStored && event.kind == "plan";
        if (is_plan && ::write(ends[1], "x", 1) != 1) ::_exit(2);
      };
      return RunOnce(options, [](Session& /*session*/) { return ::pause(); });
    });
    ::close(ends[1]);
    char byte = 0;
    const bool is_stored = ::read(ends[0], &byte, 1) == 1;
    ::close(ends[0]);
    return is_stored;
  }

  const TemporaryFolder folder_;
};

TEST_P(KilledSessions, LeaveAWarmStart) {
  pid_t child = 0;
  const bool is_stored = IsStoredBy(&child);
  ::kill(child, SIGKILL);
  const int code = WaitFor(child);
  if (code == kNoDevice) GTEST_SKIP() << "the device can't be opened here";
  ASSERT_TRUE(is_stored) << "the process ended with " << code;
  EXPECT_EQ(WaitFor(StartProcess([&] {
              return RunOnce(Options(), [](Session& session) {
                const Report& report = session.report();
                return report.programs.compiled == 0 && report.cache.hits > 0 && report.cache.misses == 0 ? 0 : 3;
              });
            })),
            0);
}

TEST_P(KilledSessions, EndWithExitWhileTheyAreBeingStored) {
  const int code = WaitFor(StartProcess([&] {
    ::setenv("HEARTH_LEAVES_A_DRIVER_RUNNING", "1", 1);  // never closed: LeakSanitizer would find the driver's memory
    sigset_t stored;
    sigemptyset(&stored);
    sigaddset(&stored, SIGUSR1);
    ::pthread_sigmask(SIG_BLOCK, &stored, nullptr);
    SessionOptions options = Options();
    options.on_cache_event = [](const CacheEvent& event) {
      if (event.what == CacheEvent::What::kStored) ::kill(::getpid(), SIGUSR1);
    };
    const int ran = RunOnce(options, [&stored](Session& session) {
      static const Session* const never_closed = new Session(std::move(session));
      int signal = 0;
      return never_closed != nullptr ? ::sigwait(&stored, &signal) : 1;
    });
    if (ran != 0) return ran;
    std::exit(0);  // with the drivers' handlers
  }));
  if (code == kNoDevice) GTEST_SKIP() << "the device can't be opened here";
  EXPECT_EQ(code, 0);
}

INSTANTIATE_TEST_SUITE_P(Devices, KilledSessions, ::testing::ValuesIn(BackendNames()),
                         [](const auto& device) { return device.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(KilledSessions);  // without GPU backends

}  // namespace
}  // namespace hearth
