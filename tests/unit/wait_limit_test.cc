// Devices that do not finish: an error after the limit, the next device under `auto`, and an end without waiting.
#include "hal/device/wait_limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "core/base/error.h"
#include "core/emit/kernel_library.h"
#include "runtime/devices/self_test.h"
#include "runtime/session/session_data.h"
#include "tests/testing/fake_gpu.h"

namespace hearth {
namespace {

using testing::FakeBackendRows;
using ::testing::HasSubstr;
using testing::SumModel;

// Nearly ten million reads: some tens of milliseconds on the drivers that are there.
struct LongRun {
  std::unique_ptr<ProgramGroup> group;
  std::unique_ptr<Buffer> x, y;
  std::unique_ptr<Executable> executable;

  Status Make(Device& device) {
    constexpr uint32_t kTexels = 1024, kReads = 1100, kItems = 8192;
    HEARTH_ASSIGN(KernelSource source, LoadKernel("probe_read"));
    HEARTH_ASSIGN(group, device.Compile({&source, 1}));
    HEARTH_ASSIGN(x, device.CreateBuffer(kTexels * 16));
    HEARTH_ASSIGN(y, device.CreateBuffer(kItems * 16));
    HEARTH_TRY(device.Write(*x, 0, x->size_bytes(), [](std::span<std::byte> memory) {
      std::memset(memory.data(), 0, memory.size());
      return Status::Ok();
    }));
    CommandList list;
    list.commands.emplace_back(DispatchCommand{group->programs()[0].get(),
                                               {{x.get(), 0, x->size_bytes()}, {y.get(), 0, y->size_bytes()}},
                                               {kTexels, kReads},
                                               {kItems / source.local_size[0], 1, 1},
                                               "long"});
    HEARTH_ASSIGN(executable, device.Prepare(list));
    return Status::Ok();
  }
};

class WaitLimitOfDrivers : public ::testing::TestWithParam<std::string> {
 protected:
  static Result<std::unique_ptr<Device>> Open() {
    const BackendDef* backend = FindGpuBackend(GetParam());
    const std::vector<DeviceCandidate> candidates = backend->enumerate();
    for (const DeviceCandidate& candidate : candidates)
      if (candidate.usable) return backend->open(candidate);
    return Status(StatusCode::kUnavailable, candidates.empty() ? "no device" : candidates[0].unusable_reason);
  }
};

TEST_P(WaitLimitOfDrivers, AProfiledRunThatTakesLongerIsLostToo) {
  setenv("HEARTH_LEAVES_A_DRIVER_RUNNING", "1", 1);  // leak_check.cc
  Result<std::unique_ptr<Device>> device = Open();
  if (!device.ok()) GTEST_SKIP() << device.status().message();
  LongRun run;
  const Status made = run.Make(**device);
  ASSERT_TRUE(made.ok()) << made.message();
  const auto timed = run.executable->RunProfiled();
  ASSERT_TRUE(timed.ok()) << timed.status().message();
  EXPECT_EQ(timed->size(), 1u);
  (*device)->set_wait_limit(std::chrono::nanoseconds(1));
  Status status;
  for (int k = 0; k < 50 && status.ok(); ++k) status = run.executable->RunProfiled().status();
  EXPECT_EQ(status.code(), StatusCode::kDeviceLost);
  EXPECT_THAT(status.message(), HasSubstr("wait_limit_ms"));
  EXPECT_EQ(run.executable->RunProfiled().status().code(), StatusCode::kDeviceLost);
}

TEST_P(WaitLimitOfDrivers, ADeviceThatTakesLongerIsLostForGoodAndAnotherOpens) {
  setenv("HEARTH_LEAVES_A_DRIVER_RUNNING", "1", 1);  // leak_check.cc
  {
    Result<std::unique_ptr<Device>> device = Open();
    if (!device.ok()) GTEST_SKIP() << device.status().message();
    LongRun run;
    const Status made = run.Make(**device);
    ASSERT_TRUE(made.ok()) << made.message();
    (*device)->set_wait_limit(std::chrono::nanoseconds(1));
    Status status;
    // On a busy machine the run may be over before it is waited for.
    for (int k = 0; k < 50 && status.ok(); ++k) status = run.executable->Run();
    EXPECT_EQ(status.code(), StatusCode::kDeviceLost);
    EXPECT_THAT(status.message(), HasSubstr("wait_limit_ms"));
    EXPECT_EQ(run.executable->Run().code(), StatusCode::kDeviceLost);
  }
  // What the lost one is still doing is in nobody's way.
  const Result<std::unique_ptr<Device>> device = Open();
  ASSERT_TRUE(device.ok()) << device.status().message();
  EXPECT_EQ(RunSelfTest(**device).message(), "");
}

TEST_P(WaitLimitOfDrivers, ADeviceWithinTheLimitIsNot) {
  Result<std::unique_ptr<Device>> device = Open();
  if (!device.ok()) GTEST_SKIP() << device.status().message();
  (*device)->set_wait_limit(std::chrono::hours(1));
  EXPECT_EQ(RunSelfTest(**device).message(), "");
}

// A build without GPU backends has nothing to instantiate this with.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WaitLimitOfDrivers);
INSTANTIATE_TEST_SUITE_P(All, WaitLimitOfDrivers, ::testing::ValuesIn(BackendNames()),
                         [](const auto& info) { return info.param; });

// A fake GPU that takes everything, answers nothing, and never ends the runs that a test names.
class EndlessDevice : public testing::FakeGpuTest {
 protected:
  void SetUp() override {
    FakeGpuTest::SetUp();
    auto null_device = std::make_unique<NullDevice>(NullDeviceInfo());
    null_ = null_device.get();
    inner_ = std::move(null_device);
  }

  Result<Session> Start(const std::string& device, bool next_device = false, int limit_ms = 5) {
    SessionRequest request;
    request.options.device = device;
    request.options.next_device = next_device;
    request.options.wait_limit_ms = limit_ms;
    request.options.start = "ready";
    request.options.use_cache = false;
    request.options.max_in_flight = 3;
    request.trusts_devices = true;
    request.backends = FakeBackendRows();
    return CreateSession(model_, std::move(request));
  }

  static Status SetOnes(Session& session) {
    const std::vector<float> ones(8, 1.0f);
    return session.SetInput(0, std::as_bytes(std::span(ones)));
  }
  static Status RunOnce(Session& session) {
    HEARTH_TRY(SetOnes(session));
    return session.Run();
  }
  static float OutputOf(const Session& session) {
    float output = 0;
    std::memcpy(&output, session.output(0).data(), sizeof(float));
    return output;
  }

  const Model model_ = SumModel();
  NullDevice* null_ = nullptr;
};

TEST_F(EndlessDevice, UnderAutoTheNextDeviceAnswersTheRunThatNeverEnded) {
  Result<Session> session = Start("auto");
  ASSERT_TRUE(session.ok()) << session.status().message();
  null_->NeverEnd(1);
  const Status ran = RunOnce(*session);
  ASSERT_TRUE(ran.ok()) << ran.message();
  EXPECT_EQ(session->report().device.id, "cpu");
  EXPECT_EQ(OutputOf(*session), 1.0f);
  EXPECT_THAT(session->report().warnings, ::testing::Contains(HasSubstr("did not finish within 5 ms")));
}

TEST_F(EndlessDevice, RunsInFlightAreRepeatedToo) {
  Result<Session> session = Start("auto");
  ASSERT_TRUE(session.ok()) << session.status().message();
  null_->NeverEnd(1);
  std::vector<Ticket> tickets;
  for (int k = 0; k < 3; ++k) {
    ASSERT_TRUE(SetOnes(*session).ok());
    const Result<Ticket> ticket = session->Submit();
    ASSERT_TRUE(ticket.ok()) << ticket.status().message();
    tickets.push_back(*ticket);
  }
  for (int k = 0; k < 3; ++k) {
    const Status waited = session->Wait(tickets[static_cast<size_t>(k)]);
    ASSERT_TRUE(waited.ok()) << waited.message();
    EXPECT_EQ(OutputOf(*session), static_cast<float>(k + 1));
  }
}

TEST_F(EndlessDevice, ANamedDeviceIsAnErrorFromThenOn) {
  Result<Session> session = Start("first");
  ASSERT_TRUE(session.ok()) << session.status().message();
  null_->NeverEnd(1);
  EXPECT_EQ(RunOnce(*session).code(), StatusCode::kDeviceLost);
  EXPECT_EQ(RunOnce(*session).code(), StatusCode::kDeviceLost);
}

TEST_F(EndlessDevice, WithTheOptionANamedDeviceIsLeftForTheNext) {
  Result<Session> session = Start("first", true);
  ASSERT_TRUE(session.ok()) << session.status().message();
  EXPECT_EQ(session->report().device.id, "first:0");
  null_->NeverEnd(1);
  const Status ran = RunOnce(*session);
  ASSERT_TRUE(ran.ok()) << ran.message();
  EXPECT_EQ(session->report().device.id, "cpu");
  EXPECT_EQ(OutputOf(*session), 1.0f);
}

TEST_F(EndlessDevice, HardwareHasALimitUnlessItIsTakenAway) {
  Result<Session> session = Start("first", false, -1);
  ASSERT_TRUE(session.ok()) << session.status().message();
  null_->NeverEnd(1);
  EXPECT_THAT(RunOnce(*session).message(), HasSubstr("60000 ms"));
  null_->NeverEnd(UINT64_MAX);
}

TEST_F(EndlessDevice, ZeroIsNoLimit) {
  Result<Session> session = Start("first", false, 0);
  ASSERT_TRUE(session.ok()) << session.status().message();
  null_->NeverEnd(1);
  EXPECT_THAT(RunOnce(*session).message(), HasSubstr("there is no limit"));
  null_->NeverEnd(UINT64_MAX);
}

TEST_F(EndlessDevice, ANamedDeviceThatIsNotUsableIsLeftForTheNextWithTheOptionOnly) {
  testing::TheFakeBackends().first[0].unusable_reason = "the cable is loose";
  EXPECT_EQ(Start("first").status().code(), StatusCode::kUnavailable);
  const Result<Session> session = Start("first", true);
  ASSERT_TRUE(session.ok()) << session.status().message();
  EXPECT_EQ(session->report().device.id, "cpu");
  EXPECT_THAT(session->report().device.reason, HasSubstr("'first' is not usable"));
  EXPECT_THAT(session->report().warnings, ::testing::Contains(HasSubstr("the cable is loose")));
}

}  // namespace
}  // namespace hearth
