// Runs in the background: order, cancelling, deadlines and what is called when they are over.
#include "hearth/run_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <future>
#include <limits>
#include <optional>
#include <stdexcept>

#include "hearth/log.h"
#include "tests/testing/built_models.h"
#include "tests/testing/device_names.h"
#include "tests/testing/fake_gpu.h"
#include "tests/testing/hot_start.h"
#include "tests/testing/on_device.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::SumModel;
using Clock = std::chrono::steady_clock;

RunTensors Ones() {
  const std::vector<float> ones(8, 1.0f);
  const auto bytes = std::as_bytes(std::span(ones));
  return {std::vector<std::byte>(bytes.begin(), bytes.end())};
}

float FirstOf(const Result<RunTensors>& outputs) {
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  float first = 0;
  if (outputs.ok()) std::memcpy(&first, (*outputs)[0].data(), sizeof first);
  return first;
}

class RunQueues : public testing::SessionsOnDevice {};

TEST_P(RunQueues, RunsTakeEffectInTheOrderInWhichTheyWereGiven) {
  const Model model = SumModel();
  RunQueue queue(Opened(model));
  std::vector<PendingRun> runs;
  for (int run = 0; run < 9; ++run) runs.push_back(queue.Submit(Ones()));
  for (const int run : {8, 0, 4, 1, 2, 3, 5, 6, 7})
    EXPECT_EQ(FirstOf(runs[static_cast<size_t>(run)].Take()), static_cast<float>(run + 1));
  EXPECT_EQ(runs[0].state(), RunState::kDone);
  EXPECT_THAT(runs[0].Take().status().message(), HasSubstr("already been taken"));
}

INSTANTIATE_TEST_SUITE_P(Devices, RunQueues, ::testing::ValuesIn(testing::DeviceNames()));

// A session whose first run waits in on_done of the run before until the gate opens.
class BlockedQueue : public ::testing::Test {
 protected:
  BlockedQueue() : model_(SumModel()) {
    Result<Session> session = Session::Create(model_, {.device = "cpu", .use_cache = false});
    EXPECT_TRUE(session.ok()) << session.status().message();
    queue_ = std::make_unique<RunQueue>(std::move(session).value());
    QueuedRunOptions blocking;
    blocking.on_done = [this](Result<RunTensors>) {
      is_blocked_.set_value();
      gate_.Pass();
    };
    static_cast<void>(queue_->Submit(Ones(), std::move(blocking)));
    is_blocked_.get_future().wait();
  }
  ~BlockedQueue() override {
    gate_.Open();
    queue_.reset();
  }

  Model model_;
  testing::Gate gate_;
  std::promise<void> is_blocked_;
  std::unique_ptr<RunQueue> queue_;
};

TEST_F(BlockedQueue, ARunThatHasNotBegunIsCancelledAndLeavesNoTrace) {
  PendingRun cancelled = queue_->Submit(Ones());
  PendingRun later = queue_->Submit(Ones());
  EXPECT_EQ(cancelled.state(), RunState::kWaiting);
  EXPECT_TRUE(cancelled.Cancel());
  EXPECT_FALSE(cancelled.Cancel()) << "it is over";
  EXPECT_EQ(cancelled.Take().status().code(), StatusCode::kUnavailable);
  gate_.Open();
  EXPECT_EQ(FirstOf(later.Take()), 2.0f) << "the state has not seen the cancelled run";
  EXPECT_FALSE(later.Cancel());
}

TEST_F(BlockedQueue, ARunIsNotBegunAfterItsDeadline) {
  PendingRun late = queue_->Submit(Ones(), {.deadline = Clock::now()});
  PendingRun later = queue_->Submit(Ones(), {.deadline = Clock::now() + std::chrono::hours(1)});
  const Result<RunTensors> outputs = late.Take();
  EXPECT_EQ(outputs.status().code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(outputs.status().message(), HasSubstr("before it began"));
  EXPECT_EQ(late.state(), RunState::kLate);
  gate_.Open();
  EXPECT_EQ(FirstOf(later.Take()), 2.0f);
}

TEST_F(BlockedQueue, WaitingEndsWhenTheTimeIsOver) {
  PendingRun run = queue_->Submit(Ones());
  EXPECT_FALSE(run.WaitFor(std::chrono::milliseconds(0)));
  gate_.Open();
  EXPECT_TRUE(run.WaitFor(std::chrono::hours(1)));
}

TEST_F(BlockedQueue, WhatHasNotBegunIsCancelledWhenTheQueueEnds) {
  PendingRun run = queue_->Submit(Ones());
  std::thread opening([&] {
    while (run.state() == RunState::kWaiting) std::this_thread::yield();
    gate_.Open();
  });
  queue_.reset();
  opening.join();
  EXPECT_EQ(run.state(), RunState::kCancelled);
}

TEST_F(BlockedQueue, OnDoneGetsTheOutputsAndWrongInputsAreTold) {
  std::promise<float> first;
  std::promise<std::string> mistake;
  QueuedRunOptions options, wrong;
  options.on_done = [&](const Result<RunTensors>& outputs) { first.set_value(FirstOf(outputs)); };
  wrong.on_done = [&](const Result<RunTensors>& outputs) { mistake.set_value(outputs.status().message()); };
  PendingRun run = queue_->Submit(Ones(), std::move(options));
  PendingRun without_inputs = queue_->Submit({}, std::move(wrong));
  gate_.Open();
  EXPECT_EQ(first.get_future().get(), 2.0f);
  EXPECT_THAT(mistake.get_future().get(), HasSubstr("the model has 1 inputs; 0 were given"));
  EXPECT_EQ(without_inputs.state(), RunState::kFailed);
  EXPECT_THAT(run.Take().status().message(), HasSubstr("already been taken"));
}

TEST_F(BlockedQueue, WhatOnDoneThrowsIsLoggedAndTheQueueGoesOn) {
  std::string logged;
  SetLogSink([&](LogLevel, std::string_view message) { logged += message; });
  PendingRun run = queue_->Submit(Ones(), {{}, [](Result<RunTensors>) { throw std::runtime_error("no room"); }});
  PendingRun later = queue_->Submit(Ones());
  gate_.Open();
  EXPECT_EQ(FirstOf(later.Take()), 3.0f);
  SetLogSink(nullptr);
  EXPECT_THAT(logged, HasSubstr("on_done threw 'no room'"));
  EXPECT_EQ(run.state(), RunState::kDone);
}

TEST_F(BlockedQueue, OnDoneGivesTheQueueMoreRunsButDoesNotWaitForThem) {
  std::promise<Status> answer;
  std::optional<PendingRun> next;
  QueuedRunOptions options;
  options.on_done = [&](Result<RunTensors>) {
    next = queue_->Submit(Ones());
    EXPECT_FALSE(next->WaitFor(std::chrono::hours(1)));
    answer.set_value(next->Take().status());
  };
  static_cast<void>(queue_->Submit(Ones(), std::move(options)));
  gate_.Open();
  const Status status = answer.get_future().get();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("waits for a later run of its queue"));
  EXPECT_EQ(FirstOf(next->Take()), 3.0f);
}

TEST_F(BlockedQueue, OnDoneMayDestroyTheQueue) {
  std::promise<void> destroyed;
  QueuedRunOptions options;
  options.on_done = [&](Result<RunTensors>) {
    queue_.reset();
    destroyed.set_value();
  };
  static_cast<void>(queue_->Submit(Ones(), std::move(options)));
  std::promise<Result<RunTensors>> last;
  QueuedRunOptions behind;
  behind.on_done = [&](Result<RunTensors> outputs) { last.set_value(std::move(outputs)); };
  PendingRun later = queue_->Submit(Ones(), std::move(behind));
  gate_.Open();
  destroyed.get_future().wait();
  EXPECT_EQ(later.state(), RunState::kCancelled);
  EXPECT_EQ(last.get_future().get().status().code(), StatusCode::kUnavailable) << "its on_done was called";
}

TEST(RunQueue, AForkedChildIsToldAndEnds) {
  const Model model = SumModel();
  Result<Session> session = Session::Create(model, {.device = "cpu", .use_cache = false});
  ASSERT_TRUE(session.ok()) << session.status().message();
  auto queue = std::make_unique<RunQueue>(std::move(session).value());
  EXPECT_EQ(FirstOf(queue->Submit(Ones()).Take()), 1.0f);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_told = queue->Submit(Ones()).Take().status().code() == StatusCode::kUnavailable;
    queue.reset();
    ::_exit(is_told ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(FirstOf(queue->Submit(Ones()).Take()), 2.0f);
}

TEST(Elements, ThereAreNoneBeforeARunWithThePresentShapes) {
  const Model model = testing::NegationModel({1, 2});
  Result<Session> session = Session::Create(model, {.device = "cpu", .use_cache = false});
  ASSERT_TRUE(session.ok()) << session.status().message();
  const std::vector<float> x = {1, 2};
  const auto expect_nothing = [&](const char* when) {
    EXPECT_THAT(session->output<float>(0).status().message(), HasSubstr("no output 'y' yet")) << when;
  };
  expect_nothing("new");
  std::vector<float> y(2);
  const std::span<const std::byte> in[] = {std::as_bytes(std::span(x))};
  const std::span<std::byte> out[] = {std::as_writable_bytes(std::span(y))};
  ASSERT_TRUE(session->Run(in, out).ok());
  expect_nothing("on other memory");
  ASSERT_TRUE(session->SetInput<float>(0, x).ok());
  ASSERT_TRUE(session->Run().ok());
  EXPECT_THAT(*session->output<float>(0), ElementsAre(-1, -2));
  EXPECT_TRUE(session->output(1).empty()) << "a wrong index";
  ASSERT_TRUE(session->ResizeBatch(2).ok());
  expect_nothing("resized");
  ASSERT_TRUE(session->ResizeBatch(1).ok());
  expect_nothing("back");
}

TEST(Elements, ANumberOfThreadsThatNoMachineHasIsRefused) {
  const Model model = SumModel();
  for (const int threads : {-1, 1025, 5000, std::numeric_limits<int>::max()}) {
    const SessionOptions options{.device = "cpu", .use_cache = false, .threads = threads};
    const Status status = Session::Create(model, options).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << threads;
    EXPECT_THAT(status.message(), HasSubstr("it must be 0 to 1024")) << threads;
  }
}

TEST(Elements, NullIsNoMemory) {
  const Model model = SumModel();
  Result<Session> session = Session::Create(model, {.device = "cpu", .use_cache = false});
  ASSERT_TRUE(session.ok()) << session.status().message();
  const std::span<const std::byte> nowhere(static_cast<const std::byte*>(nullptr), 32);
  const std::span<std::byte> no_room(static_cast<std::byte*>(nullptr), 32);
  EXPECT_EQ(session->SetInput(0, nowhere).message(), "the bytes for input 'x' are a null pointer");
  RunTensors x = Ones(), y = Ones();
  const std::span<const std::byte> inputs[] = {x[0]};
  const std::span<std::byte> outputs[] = {y[0]};
  EXPECT_EQ(session->Run({&nowhere, 1}, outputs).message(), "the memory for 'x' is a null pointer");
  EXPECT_EQ(session->Run(inputs, {&no_room, 1}).message(), "the memory for 'y' is a null pointer");
}

TEST(Elements, OfAnotherTypeAreAnErrorAndNoMemoryIsTouched) {
  const Model model = SumModel();
  SessionOptions options{.device = "cpu", .use_cache = false};
  Result<Session> session = Session::Create(model, options);
  ASSERT_TRUE(session.ok()) << session.status().message();
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8};
  ASSERT_TRUE(session->SetInput<float>(0, x).ok());
  ASSERT_TRUE(session->Run().ok());
  const Result<std::span<const float>> y = session->output<float>(0);
  ASSERT_TRUE(y.ok()) << y.status().message();
  EXPECT_THAT(*y, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(session->output<int32_t>(0).status().message(), "output 'y' holds float32, not int32");
  EXPECT_EQ(session->output<float>(1).status().message(), "the model has 1 outputs; there is no output 1");
  const std::vector<uint8_t> pixels(32);
  EXPECT_EQ(session->SetInput<uint8_t>(0, pixels).message(), "input 'x' holds float32, not uint8");
  EXPECT_EQ(session->SetInput<float>(2, x).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hearth
