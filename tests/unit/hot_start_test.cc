// Sessions that the CPU answers until the device behind is ready.

#include "tests/testing/hot_start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "runtime/session/background_device.h"
#include "runtime/session/move.h"
#include "tests/testing/loop_models.h"

namespace hearth {
namespace {

using testing::FakeBackendRows;
using ::testing::HasSubstr;
using testing::kHotStartCount;
using testing::MemoryStore;
using testing::ModelOf;
using testing::NegationModel;
using testing::SumModel;

class HotStart : public testing::HotStartTest {};

TEST_F(HotStart, TheCpuAnswersWhileTheDeviceIsBeingOpened) {
  const Model model = SumModel();
  is_gated_ = true;
  Result<Session> session = Start(model, Options("hot"));
  ASSERT_TRUE(session.ok()) << session.status().message();
  for (int run = 1; run <= 3; ++run) {
    ASSERT_TRUE(RunOnce(*session).ok());
    EXPECT_EQ(OutputOf(*session), static_cast<float>(run));
  }
  const Report& report = session->report();
  EXPECT_EQ(report.device.id, "cpu");
  EXPECT_EQ(report.start.mode, "hot");
  EXPECT_EQ(report.start.first_by, "cpu");
  EXPECT_FALSE(report.start.moved_at_run);
  EXPECT_FALSE(report.start.is_settled);
  EXPECT_THAT(report.start.reason, HasSubstr("'first' is being prepared while the CPU answers"));
  gate_.Open();
}

TEST_F(HotStart, StateGoesAlongToTheDevice) {
  const Model model = SumModel();
  is_gated_ = true;
  Result<Session> session = Start(model, Options("hot"));
  ASSERT_TRUE(session.ok()) << session.status().message();
  for (int run = 1; run <= 2; ++run) ASSERT_TRUE(RunOnce(*session).ok());
  gate_.Open();
  ASSERT_TRUE(session->WaitForDevice().ok());
  for (int run = 3; run <= 5; ++run) {
    ASSERT_TRUE(RunOnce(*session).ok());
    ExpectOutput(*session, static_cast<float>(run));
  }
  const Report& report = session->report();
  EXPECT_EQ(report.device.id, "first:0");
  EXPECT_EQ(report.start.first_by, "cpu");
  EXPECT_EQ(report.start.moved_at_run, 3u);
  EXPECT_TRUE(report.start.is_settled);
  EXPECT_THAT(report.start.reason, HasSubstr("first:0 was ready after"));
  EXPECT_GT(report.memory.both_live_bytes, report.memory.needed_bytes);
  ASSERT_TRUE(session->ResetState().ok());
  ASSERT_TRUE(RunOnce(*session).ok());
  ExpectOutput(*session, 1);
}

TEST_F(HotStart, ALoopThatZerosDoNotEndKeepsNoDeviceFromGettingReady) {
  const Result<Model> model = Model::FromMemory(testing::DoublingLoop());
  ASSERT_TRUE(model.ok()) << model.status().message();
  Result<Session> session = Start(*model, Options("hot"));
  ASSERT_TRUE(session.ok()) << session.status().message();
  const float x[] = {1, 2};
  ASSERT_TRUE(session->SetInput<float>(0, x).ok());
  ASSERT_TRUE(session->Run().ok());
  const Status ready = session->WaitForDevice();
  EXPECT_TRUE(ready.ok()) << ready.message();
  if (!Computes()) GTEST_SKIP() << "no GPU driver, and the null device computes nothing";
  ASSERT_TRUE(session->SetInput<float>(0, x).ok());
  ASSERT_TRUE(session->Run().ok());
  EXPECT_THAT(*session->output<float>(1), ::testing::ElementsAre(512, 1024));
}

TEST_F(HotStart, TheDeviceAnswersWithTheBitsOfAReadySession) {
  if (!Computes()) GTEST_SKIP() << "no GPU driver, and the null device computes nothing";
  GraphBuilder builder("curve");
  builder.Output(builder.Unary("tanh", builder.Unary("exp", builder.Input("x", {1, 4, 4, 8}))), "y");
  const Model model = ModelOf(std::move(builder));
  std::vector<float> x(128);
  for (size_t k = 0; k < x.size(); ++k) x[k] = 0.013f * static_cast<float>(k) - 0.7f;
  const auto answer = [&](const std::string& start) {
    Result<Session> session = Start(model, Options(start));
    EXPECT_TRUE(session.ok() && session->WaitForDevice().ok());
    if (!session.ok()) return std::vector<std::byte>();
    EXPECT_TRUE(session->SetInput(0, std::as_bytes(std::span(x))).ok() && session->Run().ok());
    EXPECT_EQ(session->report().device.id, "first:0");
    const std::span<const std::byte> y = session->output(0);
    return std::vector<std::byte>(y.begin(), y.end());
  };
  EXPECT_EQ(answer("hot"), answer("ready"));
}

TEST_F(HotStart, RunsInFlightKeepTheirAnswersWhenTheSessionMoves) {
  const Model model = SumModel();
  is_gated_ = true;
  Result<Session> session = Start(model, Options("hot"));
  ASSERT_TRUE(session.ok()) << session.status().message();
  const std::vector<float> ones(kHotStartCount, 1.0f);
  ASSERT_TRUE(session->SetInput(0, std::as_bytes(std::span(ones))).ok());
  std::vector<Ticket> tickets;
  for (int run = 1; run <= 3; ++run) {
    if (run == 3) {
      gate_.Open();
      ASSERT_TRUE(session->WaitForDevice().ok());
    }
    const Result<Ticket> ticket = session->Submit();
    ASSERT_TRUE(ticket.ok()) << ticket.status().message();
    tickets.push_back(*ticket);
  }
  EXPECT_EQ(session->report().start.moved_at_run, 3u);
  EXPECT_EQ(session->report().start.first_by, "cpu");
  for (const int run : {2, 3, 1}) {
    const Status status = session->Wait(tickets[static_cast<size_t>(run - 1)]);
    ASSERT_TRUE(status.ok()) << status.message();
    ExpectOutput(*session, static_cast<float>(run));
  }
}

TEST_F(HotStart, BoundHostMemoryGoesAlong) {
  const Model model = SumModel();
  is_gated_ = true;
  Result<Session> session = Start(model, Options("hot"));
  ASSERT_TRUE(session.ok()) << session.status().message();
  std::vector<float> memory(kHotStartCount, 1.0f);
  Binding binding{.memory = MemoryKind::kHost,
                  .handle = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(memory.data())),
                  .size_bytes = sizeof(float) * kHotStartCount};
  ASSERT_TRUE(session->BindInput("x", binding).ok());
  ASSERT_TRUE(session->Run().ok());
  gate_.Open();
  ASSERT_TRUE(session->WaitForDevice().ok());
  memory.assign(kHotStartCount, 10.0f);
  ASSERT_TRUE(session->Run().ok());
  EXPECT_EQ(session->report().device.id, "first:0");
  ExpectOutput(*session, 11);
}

TEST_F(HotStart, DeviceMemoryCanNotBeBoundBeforeTheMove) {
  const Model model = SumModel();
  is_gated_ = true;
  Result<Session> session = Start(model, Options("hot"));
  ASSERT_TRUE(session.ok()) << session.status().message();
  Binding binding{.memory = MemoryKind::kClBuffer, .handle = 1, .size_bytes = sizeof(float) * kHotStartCount};
  const Status status = session->BindInput("x", binding);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("start"));
  gate_.Open();
}

// Every call to the driver behind fails once; no run does.
TEST_F(HotStart, ADeviceThatFailsBehindIsTheReasonToStayOnTheCpu) {
  const Model model = SumModel();
  int failures = 0;
  for (int call = 1; call < 100; ++call) {
    SCOPED_TRACE(call);
    fault_.Arm(call, Status(StatusCode::kDeviceLost, "the GPU fell off the bus"));
    Result<Session> session = Start(model, Options("hot"));
    ASSERT_TRUE(session.ok()) << session.status().message();
    const Status device = session->WaitForDevice();
    if (!fault_.Disarm()) break;
    ++failures;
    EXPECT_FALSE(device.ok());
    for (int run = 1; run <= 2; ++run) {
      ASSERT_TRUE(RunOnce(*session).ok());
      EXPECT_EQ(OutputOf(*session), static_cast<float>(run));
    }
    const Report& report = session->report();
    EXPECT_EQ(report.device.id, "cpu");
    EXPECT_FALSE(report.start.moved_at_run);
    EXPECT_TRUE(report.start.is_settled);
    EXPECT_THAT(report.start.reason, HasSubstr("the GPU fell off the bus"));
    EXPECT_EQ(report.warnings.size(), 1u);
  }
  EXPECT_GE(failures, 5);
}

TEST_F(HotStart, AStateThatTheDeviceDoesNotTakeKeepsTheSessionOnTheCpu) {
  const Model model = SumModel();
  is_gated_ = true;
  Result<Session> session = Start(model, Options("hot"));
  ASSERT_TRUE(session.ok()) << session.status().message();
  ASSERT_TRUE(RunOnce(*session).ok());
  gate_.Open();
  ASSERT_TRUE(session->WaitForDevice().ok());
  fault_.Arm(1, Status(StatusCode::kDeviceLost, "the GPU fell off the bus"));
  ASSERT_TRUE(RunOnce(*session).ok());
  EXPECT_TRUE(fault_.Disarm());
  EXPECT_EQ(OutputOf(*session), 2.0f);
  EXPECT_EQ(session->report().device.id, "cpu");
  EXPECT_THAT(session->report().start.reason, HasSubstr("the GPU fell off the bus"));
}

TEST_F(HotStart, ASessionMayEndWhileItsDeviceIsMadeReady) {
  const Model model = SumModel();
  for (int runs = 0; runs < 2; ++runs) {
    Result<Session> session = Start(model, Options("hot"));
    ASSERT_TRUE(session.ok()) << session.status().message();
    for (int run = 0; run < runs; ++run) ASSERT_TRUE(RunOnce(*session).ok());
  }
}

TEST_F(HotStart, AnOutputOfTheCpuMayBeTheInputOfTheRunThatMoves) {
  const Model model = SumModel();
  is_gated_ = true;
  Result<Session> session = Start(model, Options("hot"));
  ASSERT_TRUE(session.ok()) << session.status().message();
  ASSERT_TRUE(RunOnce(*session).ok());
  gate_.Open();
  ASSERT_TRUE(session->WaitForDevice().ok());
  std::vector<float> sums(kHotStartCount);
  const std::span<const std::byte> inputs[] = {session->output(0)};
  const std::span<std::byte> outputs[] = {std::as_writable_bytes(std::span(sums))};
  const Status run = session->Run(inputs, outputs);
  ASSERT_TRUE(run.ok()) << run.message();
  EXPECT_EQ(session->report().start.moved_at_run, 2u);
  if (Computes()) {
    EXPECT_EQ(sums, std::vector<float>(kHotStartCount, 2.0f));
  }
}

TEST_F(HotStart, AThreadThatWaitsForTheDeviceOutlivesTheMove) {
  const Model model = SumModel();
  is_gated_ = true;
  Result<Session> session = Start(model, Options("hot"));
  ASSERT_TRUE(session.ok()) << session.status().message();
  std::atomic<bool> has_begun = false;
  std::thread waiting([&] {
    has_begun = true;
    const Status ready = session->WaitForDevice();
    EXPECT_TRUE(ready.ok() || ready.code() == StatusCode::kInvalidArgument) << ready.message();
  });
  while (!has_begun) std::this_thread::yield();
  gate_.Open();
  for (int run = 0; run < 100'000 && !session->report().start.moved_at_run; ++run) {
    const Status ran = RunOnce(*session);
    ASSERT_TRUE(ran.ok() || ran.code() == StatusCode::kInvalidArgument) << ran.message();  // both were in a call
  }
  waiting.join();
  EXPECT_EQ(session->report().device.id, "first:0");
}

TEST_F(HotStart, ASessionThatEndsBeginsNoFurtherCallToTheDriver) {
  const Model model = SumModel();
  const auto options = std::make_shared<const SessionOptions>(Options("hot"));
  BackgroundDevice::Request request;
  request.prepare.model = {std::shared_ptr<const void>(), &model};
  request.prepare.options = options;
  request.backends = FakeBackendRows();
  // Opening takes until the end is asked for.
  is_gated_ = true;
  request.open = [&](const std::stop_token& stop) {
    const std::stop_callback opens(stop, [&] { gate_.Open(); });
    return OpenAskedDevice(*options, FakeBackendRows());
  };
  fault_.Arm(1, Status(StatusCode::kDeviceLost, "a call came"));
  { const BackgroundDevice background(std::move(request)); }
  EXPECT_FALSE(fault_.Disarm());
}

TEST_F(HotStart, ADeviceThatIsNotFasterIsLeftWithTheReason) {
  const Model model = SumModel();
  rule_ = MoveRule::kWhenFaster;
  Result<Session> session = Start(model, Options("hot"));
  ASSERT_TRUE(session.ok()) << session.status().message();
  ASSERT_TRUE(RunOnce(*session).ok());
  ASSERT_TRUE(session->WaitForDevice().ok());
  EXPECT_THAT(session->report().start.reason, HasSubstr("too few to compare"));
  int runs = 1;
  while (!session->report().start.is_settled && runs < 100) {
    ASSERT_TRUE(RunOnce(*session).ok());
    ++runs;
  }
  const Report& report = session->report();
  EXPECT_LE(runs, 6);
  EXPECT_THAT(report.start.reason, HasSubstr("ms a run, the CPU"));
  EXPECT_EQ(report.device.id == "cpu", report.start.reason.find("stays on the CPU") != std::string::npos);
  EXPECT_EQ(report.device.id == "cpu", !report.start.moved_at_run.has_value());
}

TEST_F(HotStart, ChangesOfShapesThatKeepTheDeviceFromGettingReadyAreTheReason) {
  const Model model = NegationModel({1, 1, 2, 4});
  std::atomic<int> openings = 0;
  before_gate_ = [&] { is_gated_ = ++openings > 3; };
  Result<Session> session = Start(model, Options("hot"));
  ASSERT_TRUE(session.ok()) << session.status().message();
  for (int change = 1; change <= 3; ++change) {
    ASSERT_TRUE(session->WaitForDevice().ok());
    const Status resized = session->Resize({{"x", {1, 1, 2, 4 + change}}});
    ASSERT_TRUE(resized.ok()) << resized.message();
  }
  EXPECT_THAT(session->report().start.reason, HasSubstr("it began again 3 times because shapes changed"));
  gate_.Open();
  EXPECT_TRUE(session->WaitForDevice().ok());
}

TEST_F(HotStart, WhatTheBackgroundDeviceMadeIsStored) {
  const Model model = SumModel();
  const auto store = std::make_shared<MemoryStore>();
  const auto start = [&](bool moves) {
    Result<Session> session = Start(model, Options("hot"), store);
    EXPECT_TRUE(session.ok() && RunOnce(*session).ok() && session->WaitForDevice().ok());
    if (!session.ok()) return -1;
    EXPECT_TRUE(!moves || RunOnce(*session).ok());
    return session->report().programs.compiled;
  };
  start(false);  // ready, but never moved to
  EXPECT_FALSE(store->entries().empty());
  start(true);  // the probe of read paths that was stored may have changed the plan
  EXPECT_EQ(start(true), 0);
}

}  // namespace
}  // namespace hearth
