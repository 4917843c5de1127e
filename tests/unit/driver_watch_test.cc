#include "runtime/devices/driver_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include "runtime/devices/device_choice.h"
#include "tests/testing/child_process.h"
#include "tests/testing/fake_backends.h"
#include "tests/testing/set_variable.h"
#include "tests/testing/temporary_folder.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;
using testing::SetVariableTo;
using testing::StartProcess;
using testing::WaitFor;

enum class Behaviour { kAnswers, kCrashes, kWaitsForever };
Behaviour behaviour = Behaviour::kAnswers;

std::vector<DeviceCandidate> EnumerateFake() {
  if (behaviour == Behaviour::kCrashes) {
    ::signal(SIGSEGV, SIG_DFL);
    ::raise(SIGSEGV);
  }
  while (behaviour == Behaviour::kWaitsForever) ::pause();
  DeviceCandidate device;
  device.backend = "fake";
  device.usable = true;
  return {device};
}

constexpr BackendDef kFake = {"fake", EnumerateFake, nullptr, nullptr, nullptr};

class DriverWatch : public ::testing::Test {
 protected:
  ~DriverWatch() override { behaviour = Behaviour::kAnswers; }

  static std::string ReasonAgainstFake(std::chrono::milliseconds limit = std::chrono::seconds(30)) {
    const std::vector<DeviceCandidate> found = EnumerateWatched(kFake, limit);
    return found.size() == 1 ? found[0].unusable_reason : "not one device";
  }
  // A start of another process.
  static int ExitOfAStart() {
    return WaitFor(StartProcess([] { return ReasonAgainstFake().empty() ? 0 : 1; }));
  }

  const TemporaryFolder folder_;
  const SetVariableTo cache_{"HEARTH_CACHE_DIR", folder_.path().string()};
  const SetVariableTo backends_{"HEARTH_BACKENDS", std::nullopt};
};

TEST_F(DriverWatch, ADriverThatAnswersLeavesNothingBehind) {
  EXPECT_EQ(ReasonAgainstFake(), "");
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(DriverWatch, ADriverThatCrashesDoesSoInOneStartOnly) {
  behaviour = Behaviour::kCrashes;
  EXPECT_EQ(ExitOfAStart(), 128 + SIGSEGV);
  for (int start = 2; start < 4; ++start) {
    EXPECT_EQ(ExitOfAStart(), 1);
    EXPECT_THAT(ReasonAgainstFake(), HasSubstr("its driver crashed while its devices were looked for"));
    EXPECT_THAT(WhyLeftOut(kFake), HasSubstr("HEARTH_BACKENDS=+fake tries it again"));
  }
}

TEST_F(DriverWatch, AMendedDriverIsTriedAgainOnRequest) {
  behaviour = Behaviour::kCrashes;
  ExitOfAStart();
  EXPECT_NE(ReasonAgainstFake(), "");
  behaviour = Behaviour::kAnswers;
  EXPECT_NE(ReasonAgainstFake(), "");
  {
    const SetVariableTo again("HEARTH_BACKENDS", "+fake");
    EXPECT_EQ(ReasonAgainstFake(), "");
  }
  EXPECT_EQ(ReasonAgainstFake(), "");
  EXPECT_EQ(WhyLeftOut(kFake), "");
}

TEST_F(DriverWatch, AProcessThatWasKilledMeanwhileCostsTheDriverNothing) {
  behaviour = Behaviour::kWaitsForever;
  const pid_t child = StartProcess([] { return ReasonAgainstFake().empty() ? 0 : 1; });
  const auto has_mark = [&] { return !std::filesystem::is_empty(folder_.path()); };
  while (!has_mark()) std::this_thread::yield();
  ::kill(child, SIGKILL);
  WaitFor(child);
  EXPECT_TRUE(has_mark());
  behaviour = Behaviour::kAnswers;
  EXPECT_EQ(ReasonAgainstFake(), "");
  EXPECT_FALSE(has_mark());
}

TEST_F(DriverWatch, ADriverThatDoesNotAnswerIsLeftOut) {
  EXPECT_EQ(WaitFor(StartProcess([] {
              behaviour = Behaviour::kWaitsForever;
              const std::string first = ReasonAgainstFake(std::chrono::milliseconds(50));
              if (first != "its driver did not answer within 0.05 s") return 1;
              return ReasonAgainstFake().starts_with(first) ? 0 : 2;
            })),
            0);
}

TEST_F(DriverWatch, AWordOfTheUserLeavesABackendOutWithoutAWarning) {
  behaviour = Behaviour::kCrashes;
  const SetVariableTo without("HEARTH_BACKENDS", "-other,-fake");
  EXPECT_EQ(ReasonAgainstFake(), "HEARTH_BACKENDS leaves it out");
  EXPECT_EQ(WhyLeftOut(kFake), "");
  EXPECT_THAT(WrongBackendsVariable(), HasSubstr("HEARTH_BACKENDS has '-other'"));
}

TEST_F(DriverWatch, AutoTakesTheNextBackendAndWarns) {
  const BackendDef rows[] = {kFake, testing::FakeBackendRows().back()};
  behaviour = Behaviour::kCrashes;
  ExitOfAStart();
  const Result<OpenedDevice> opened = OpenChosenDevice("auto", {}, rows);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_EQ(opened->id, "cpu");
  EXPECT_THAT(opened->warnings, ::testing::Contains(HasSubstr("fake: its driver crashed")));
  EXPECT_THAT(OpenChosenDevice("fake", {}, rows).status().message(), HasSubstr("its driver crashed"));
}

TEST_F(DriverWatch, AChildMayLookFirst) {
  behaviour = Behaviour::kCrashes;
  LookInAChildFirst(std::span(&kFake, 1));
  EXPECT_THAT(ReasonAgainstFake(), HasSubstr("its driver crashed"));
}

}  // namespace
}  // namespace hearth
