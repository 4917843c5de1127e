// Runs in flight, on every device of the machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "hearth/device.h"
#include "hearth/graph_builder.h"
#include "hearth/session.h"
#include "tests/testing/device_names.h"
#include "tests/testing/temporary_folder.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;

constexpr int kHeight = 5, kWidth = 7, kChannels = 6;
constexpr size_t kPictureElements = size_t{kHeight} * kWidth * kChannels;

// Two dispatches, so that there is something between input and output.
Result<Model> TwoSteps() {
  GraphBuilder builder("two steps");
  const auto x = builder.Input("x", {1, kHeight, kWidth, kChannels});
  builder.Output(builder.Unary("neg", builder.MaxPool2D(x, 2, 2, {})), "y");
  return std::move(builder).Build();
}

std::vector<float> Picture(int seed) {
  std::vector<float> picture(kPictureElements);
  for (size_t k = 0; k < kPictureElements; ++k) picture[k] = static_cast<float>((k * 37 + seed * 101) % 199) - 99.0f;
  return picture;
}

std::vector<float> Output(const Session& session) {
  std::vector<float> output(session.output(0).size() / sizeof(float));
  std::memcpy(output.data(), session.output(0).data(), session.output(0).size());
  return output;
}

class RunsInFlightTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto model = TwoSteps();
    ASSERT_TRUE(model.ok()) << model.status().message();
    model_.emplace(std::move(model).value());
    for (const char* name : {"plain", "in flight"}) {
      Result<Session> session =
          Session::Create(*model_, {.device = GetParam(), .use_cache = false, .max_in_flight = 3});
      if (!session.ok() && session.status().code() == StatusCode::kUnavailable)
        GTEST_SKIP() << session.status().message();
      ASSERT_TRUE(session.ok()) << name << ": " << session.status().message();
      (plain_ ? session_ : plain_).emplace(std::move(session).value());
    }
  }
  std::vector<float> Expected(int seed) {
    const std::vector<float> picture = Picture(seed);
    EXPECT_TRUE(plain_->SetInput(0, std::as_bytes(std::span(picture))).ok());
    EXPECT_TRUE(plain_->Run().ok());
    return Output(*plain_);
  }
  Ticket Submit(int seed) {
    const std::vector<float> picture = Picture(seed);
    EXPECT_TRUE(session_->SetInput(0, std::as_bytes(std::span(picture))).ok());
    const Result<Ticket> ticket = session_->Submit();
    EXPECT_TRUE(ticket.ok()) << ticket.status().message();
    return ticket.ok() ? *ticket : Ticket{};
  }

  std::optional<Model> model_;
  std::optional<Session> plain_, session_;
};

TEST_P(RunsInFlightTest, EachGivesItsOwnResultInWhateverOrderTheyAreWaitedFor) {
  const Ticket first = Submit(1), second = Submit(2), third = Submit(3);
  for (const auto& [ticket, seed] : {std::pair(second, 2), std::pair(third, 3), std::pair(first, 1)}) {
    const Status waited = session_->Wait(ticket);
    ASSERT_TRUE(waited.ok()) << waited.message();
    EXPECT_EQ(Output(*session_), Expected(seed)) << "run " << seed;
  }
}

TEST_P(RunsInFlightTest, SlotsAreUsedAgain) {
  Ticket previous = Submit(0);
  for (int seed = 1; seed < 12; ++seed) {
    const Ticket next = Submit(seed);
    ASSERT_TRUE(session_->Wait(previous).ok());
    ASSERT_EQ(Output(*session_), Expected(seed - 1)) << "run " << seed - 1;
    previous = next;
  }
  ASSERT_TRUE(session_->Wait(previous).ok());
}

TEST_P(RunsInFlightTest, ARunBetweenThemIsRight) {
  const Ticket ticket = Submit(4);
  const std::vector<float> picture = Picture(5);
  ASSERT_TRUE(session_->SetInput(0, std::as_bytes(std::span(picture))).ok());
  ASSERT_TRUE(session_->Run().ok());
  EXPECT_EQ(Output(*session_), Expected(5));
  ASSERT_TRUE(session_->Wait(ticket).ok());
  EXPECT_EQ(Output(*session_), Expected(4));
}

TEST_P(RunsInFlightTest, ARunOnGivenMemoryBetweenThemIsRight) {
  const Ticket ticket = Submit(4);
  const std::vector<float> picture = Picture(5), expected = Expected(5);
  std::vector<float> output(expected.size());
  const std::span<const std::byte> inputs[] = {std::as_bytes(std::span(picture))};
  const std::span<std::byte> outputs[] = {std::as_writable_bytes(std::span(output))};
  const Status run = session_->Run(inputs, outputs);
  ASSERT_TRUE(run.ok()) << run.message();
  EXPECT_EQ(output, expected);
  const Status waited = session_->Wait(ticket);
  ASSERT_TRUE(waited.ok()) << waited.message();
  EXPECT_EQ(Output(*session_), Expected(4));
}

TEST_P(RunsInFlightTest, MoreThanAllowedOrAnUnknownTicketIsAnErrorThatSaysSo) {
  const Ticket first = Submit(1);
  Submit(2);
  Submit(3);
  const Result<Ticket> fourth = session_->Submit();
  EXPECT_EQ(fourth.status().code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(fourth.status().message(), HasSubstr("max_in_flight"));
  ASSERT_TRUE(session_->Wait(first).ok());
  EXPECT_EQ(session_->Wait(first).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(session_->Wait({99}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(session_->Wait({}).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(session_->Submit().ok()) << "a slot is free again";
}

TEST_P(RunsInFlightTest, ASessionMayGoWhileTheyRun) {
  Submit(1);
  Submit(2);
  session_.reset();
}

TEST_P(RunsInFlightTest, WhatTheyCompileAfterASaveIsFoundByTheNextSession) {
  const TemporaryFolder folder;
  SessionOptions options{.device = GetParam(), .cache_folder = folder.path().string()};
  for (const bool is_cold : {true, false}) {
    Result<Session> session = Session::Create(*model_, options);
    ASSERT_TRUE(session.ok()) << session.status().message();
    const std::vector<float> picture = Picture(1);
    ASSERT_TRUE(session->SetInput(0, std::as_bytes(std::span(picture))).ok());
    ASSERT_TRUE(session->Run().ok());
    session->SaveToCache();
    const Result<Ticket> ticket = session->Submit();
    ASSERT_TRUE(ticket.ok()) << ticket.status().message();
    ASSERT_TRUE(session->Wait(*ticket).ok());
    if (is_cold) continue;
    EXPECT_EQ(session->report().programs.compiled, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, RunsInFlightTest, ::testing::ValuesIn(testing::DeviceNames()),
                         [](const auto& info) { return info.param; });

// Nodes on the CPU between the device's: what they read was submitted before, by whichever run.
TEST_P(RunsInFlightTest, NodesOnTheCpuSeeTheirOwnRun) {
  Result<Session> session = Session::Create(*model_, {.device = GetParam(), .use_cache = false, .cpu_ops = {"neg"}});
  ASSERT_TRUE(session.ok()) << session.status().message();
  std::optional<Ticket> previous;
  for (int seed = 1; seed < 6; ++seed) {
    const std::vector<float> picture = Picture(seed);
    ASSERT_TRUE(session->SetInput(0, std::as_bytes(std::span(picture))).ok());
    const Result<Ticket> ticket = session->Submit();
    ASSERT_TRUE(ticket.ok()) << ticket.status().message();
    if (previous) {
      ASSERT_TRUE(session->Wait(*previous).ok());
      EXPECT_EQ(Output(*session), Expected(seed - 1)) << "run " << seed - 1;
    }
    previous = *ticket;
  }
  ASSERT_TRUE(session->Wait(*previous).ok());
  EXPECT_EQ(Output(*session), Expected(5));
  // The output is made by the CPU, which writes no memory of a device.
  const Status bound = session->BindOutput("y", {.memory = MemoryKind::kClBuffer, .handle = 1, .size_bytes = 4096});
  EXPECT_EQ(bound.code(), StatusCode::kUnsupported) << bound.message();
}

TEST_P(RunsInFlightTest, AProfiledRunBetweenThemIsRight) {
  const Ticket ticket = Submit(6);
  const std::vector<float> picture = Picture(7);
  ASSERT_TRUE(session_->SetInput(0, std::as_bytes(std::span(picture))).ok());
  const auto profile = session_->RunProfiled();
  ASSERT_TRUE(profile.ok()) << profile.status().message();
  EXPECT_FALSE(profile->empty());
  EXPECT_EQ(Output(*session_), Expected(7));
  ASSERT_TRUE(session_->Wait(ticket).ok());
  EXPECT_EQ(Output(*session_), Expected(6));
}

TEST_P(RunsInFlightTest, TheReportCountsWhatTheLastRunCopied) {
  const uint64_t dense_bytes = kPictureElements * sizeof(float);
  const Ticket ticket = Submit(1);
  ASSERT_TRUE(session_->Wait(ticket).ok());
  const auto in_flight = session_->report().transfers;
  Expected(1);
  const auto plain = plain_->report().transfers;
  EXPECT_EQ(in_flight.to_device_bytes, plain.to_device_bytes);
  EXPECT_EQ(in_flight.to_host_bytes, plain.to_host_bytes);
  const bool is_cpu = GetParam() == "cpu";
  EXPECT_EQ(plain.to_device_bytes >= dense_bytes, !is_cpu) << "six channels lie in eight";
}

TEST(RunsInFlightTest, TheirNumberIsChecked) {
  const auto model = TwoSteps();
  ASSERT_TRUE(model.ok());
  for (const int wrong : {0, -1, 1000}) {
    SessionOptions options{.device = "cpu", .use_cache = false, .max_in_flight = wrong};
    EXPECT_EQ(Session::Create(*model, options).status().code(), StatusCode::kInvalidArgument) << wrong;
  }
}

}  // namespace
}  // namespace hearth
