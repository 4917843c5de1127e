// What ends a loop that data do not end: cancelling, deadlines, the wait limit, the number of its turns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

#include "core/base/error.h"
#include "core/base/run_control.h"
#include "core/graph/evaluate.h"
#include "core/graph/loop_graphs.h"
#include "frontends/tflite/reader.h"
#include "hearth/run_queue.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/device_names.h"
#include "tests/testing/on_device.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

// While the sum of x is less than 100, x is doubled: zeros stay for ever.
std::vector<std::byte> Doubling() {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2}}), y = writer.AddTensor({"y", {2}});
  writer.AddOperator(kWhile, {x}, {y}, wire::CreateWhileOptions(writer.builder(), 1, 2));
  writer.EndSubgraph({x}, {y});
  const int32_t v = writer.AddTensor({"v", {2}}), total = writer.AddTensor({"total", {}});
  writer.AddOperator(kSum, {v, writer.AddIntegers({0})}, {total}, wire::CreateReducerOptions(writer.builder(), false));
  const int32_t goes_on = writer.AddTensor({"goes_on", {}, wire::TensorType_BOOL});
  writer.AddOperator(kLess, {total, writer.AddConstant<float>({"", {}}, {100.0f})}, {goes_on});
  writer.EndSubgraph({v}, {goes_on});
  const int32_t w = writer.AddTensor({"w", {2}}), doubled = writer.AddTensor({"doubled", {2}});
  writer.AddOperator(kMul, {w, writer.AddConstant<float>({"", {}}, {2.0f})}, {doubled});
  writer.EndSubgraph({w}, {doubled});
  return writer.FinishFile();
}

std::vector<std::byte> BytesOfNumbers(const std::vector<float>& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return {bytes.begin(), bytes.end()};
}

class LoopLimits : public testing::SessionsOnDevice {};

void ExpectEnds(RunQueue& queue) {
  const Result<RunTensors> outputs = queue.Submit({BytesOfNumbers({1, 2})}).Take();
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ((*outputs)[0], BytesOfNumbers({64, 128}));
}

TEST_P(LoopLimits, ACancelledRunEndsAtItsNextTurn) {
  RunQueue queue(Opened(Doubling()));
  PendingRun endless = queue.Submit({BytesOfNumbers({0, 0})});
  while (endless.state() == RunState::kWaiting) std::this_thread::yield();
  EXPECT_FALSE(endless.Cancel()) << "it has begun";
  const Status status = endless.Take().status();
  EXPECT_EQ(endless.state(), RunState::kCancelled);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("loop (operator 0) was ended after"), HasSubstr("cancelled")));
  ExpectEnds(queue);
}

TEST_P(LoopLimits, ARunInItsLoopEndsWithItsQueue) {
  auto queue = std::make_unique<RunQueue>(Opened(Doubling()));
  PendingRun endless = queue->Submit({BytesOfNumbers({0, 0})});
  while (endless.state() == RunState::kWaiting) std::this_thread::yield();
  queue.reset();
  EXPECT_EQ(endless.state(), RunState::kCancelled);
}

TEST_P(LoopLimits, ARunInItsLoopEndsAtItsDeadline) {
  RunQueue queue(Opened(Doubling()));
  std::string message;
  QueuedRunOptions options{.deadline = Clock::now() + std::chrono::milliseconds(200)};
  options.on_done = [&message](const Result<RunTensors>& outputs) { message = outputs.status().message(); };
  PendingRun endless = queue.Submit({BytesOfNumbers({0, 0})}, std::move(options));
  EXPECT_EQ(endless.Take().status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(endless.state(), RunState::kLate);
  ExpectEnds(queue);
  EXPECT_THAT(message, AllOf(HasSubstr("loop (operator 0) was ended after"), HasSubstr("deadline")));
}

TEST_P(LoopLimits, AWaitLimitThatWasGivenEndsALoopAndLosesNoDevice) {
  options_.wait_limit_ms = 500;
  options_.next_device = true;
  Session session = Opened(Doubling());
  const auto run = [&session](const std::vector<float>& x) {
    EXPECT_TRUE(session.SetInput<float>(0, x).ok());
    return session.Run();
  };
  ASSERT_TRUE(run({1, 2}).ok());
  const std::string device = session.report().device.id;
  const Status status = run({0, 0});
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("loop (operator 0) was ended after"), HasSubstr("wait_limit_ms")));
  ASSERT_TRUE(run({1, 2}).ok());
  EXPECT_EQ(session.report().device.id, device);
}

INSTANTIATE_TEST_SUITE_P(Devices, LoopLimits, ::testing::ValuesIn(testing::DeviceNames()));

TEST(LoopLimit, TooManyTurnsAreAnErrorThatGivesTheWayOut) {
  const Node node{Loop{}, {}, {}, "", 7};
  RunControl control;
  EXPECT_TRUE(CheckIteration(node, kMostIterations - 1, &control).ok());
  EXPECT_FALSE(control.was_ended());
  const Status status = CheckIteration(node, kMostIterations, &control);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("loop (operator 7)"), HasSubstr("maximum_iterations")));
  EXPECT_TRUE(control.was_ended()) << "another device would do no better";
  EXPECT_EQ(CheckIteration(node, kMostIterations, nullptr).message(), status.message());
}

TEST(RunControl, EachCheckMayEndTheRun) {
  bool is_over = false;
  RunControl control;
  control.EndBy(nullptr);
  control.EndBy([] { return Status::Ok(); });
  control.EndBy([&] { return is_over ? Status(StatusCode::kUnavailable, "over") : Status::Ok(); });
  EXPECT_TRUE(control.CheckGoesOn().ok());
  EXPECT_FALSE(control.was_ended());
  is_over = true;
  EXPECT_EQ(control.CheckGoesOn().message(), "over");
  EXPECT_TRUE(control.was_ended());
}

}  // namespace
}  // namespace hearth
