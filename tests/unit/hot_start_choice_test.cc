// Which sessions start hot, and limits on memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/session/background_device.h"
#include "tests/testing/hot_start.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;
using testing::MemoryStore;
using testing::SumModel;

class HotStartChoice : public testing::HotStartTest {};

TEST_F(HotStartChoice, AutoStartsHotWhereTheCacheHasNothingOfTheModel) {
  const Model model = SumModel();
  const auto store = std::make_shared<MemoryStore>();
  for (const char* mode : {"hot", "ready"}) {
    Result<Session> session = Start(model, Options("", "auto"), store);
    ASSERT_TRUE(session.ok()) << session.status().message();
    EXPECT_EQ(session->report().start.mode, mode);
    ASSERT_TRUE(RunOnce(*session).ok());
    ASSERT_TRUE(session->WaitForDevice().ok());
    ASSERT_TRUE(RunOnce(*session).ok());
    EXPECT_EQ(session->report().device.id, "first:0");
    EXPECT_EQ(session->report().start.first_by, mode == std::string("hot") ? "cpu" : "first:0");
  }
}

TEST_F(HotStartChoice, ANamedDeviceAndTheCpuStartReady) {
  const Model model = SumModel();
  for (const auto& [start, device] : {std::pair("", "first"), std::pair("hot", "cpu"), std::pair("ready", "auto")}) {
    Result<Session> session = Start(model, Options(start, device));
    ASSERT_TRUE(session.ok()) << session.status().message();
    EXPECT_EQ(session->report().start.mode, "ready") << device;
    EXPECT_TRUE(session->report().start.is_settled);
    EXPECT_FALSE(session->report().start.reason.empty());
    EXPECT_TRUE(session->WaitForDevice().ok());
  }
}

TEST_F(HotStartChoice, ADeviceThatDoesNotExistIsToldBehindTheAnswer) {
  const Model model = SumModel();
  Result<Session> session = Start(model, Options("hot", "no such device"));
  ASSERT_TRUE(session.ok()) << session.status().message();
  ASSERT_TRUE(RunOnce(*session).ok());
  EXPECT_EQ(session->WaitForDevice().code(), StatusCode::kUnavailable);
  EXPECT_THAT(session->report().start.reason, HasSubstr("no such device"));
}

TEST_F(HotStartChoice, AWayToStartThatThereIsNotIsAnError) {
  const Model model = SumModel();
  const Status status = Start(model, Options("warm")).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("there are ready and hot"));
}

TEST_F(HotStartChoice, AMemoryLimitIsKeptOrRefusedWithTheBytesNeeded) {
  const Model model = SumModel();
  SessionOptions options = Options("ready");
  options.max_in_flight = 1;
  Result<Session> session = Start(model, options);
  ASSERT_TRUE(session.ok()) << session.status().message();
  const uint64_t needed = session->report().memory.needed_bytes;
  ASSERT_GT(needed, 0u);
  options.memory_limit_bytes = needed - 1;
  const Status refused = Start(model, options).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr(fmt::format("first:0 needs {} bytes", needed)));
  options.memory_limit_bytes = needed;
  session = Start(model, options);
  ASSERT_TRUE(session.ok()) << session.status().message();
  ASSERT_TRUE(RunOnce(*session).ok());
  const Result<Ticket> ticket = session->Submit();  // needs memory of its own
  EXPECT_EQ(ticket.status().code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(ticket.status().message(), HasSubstr("memory limit"));
}

TEST_F(HotStartChoice, AMemoryLimitThatOnlyTheCpuFitsIsWhyTheSessionStaysThere) {
  const Model model = SumModel();
  Result<Session> cpu = Start(model, Options("ready", "cpu"));
  ASSERT_TRUE(cpu.ok()) << cpu.status().message();
  SessionOptions options = Options("hot");
  options.memory_limit_bytes = cpu->report().memory.needed_bytes + 1;
  Result<Session> session = Start(model, options);
  ASSERT_TRUE(session.ok()) << session.status().message();
  ASSERT_TRUE(RunOnce(*session).ok());
  EXPECT_FALSE(session->WaitForDevice().ok());
  EXPECT_THAT(session->report().start.reason, HasSubstr("the memory limit leaves 1"));
}

}  // namespace
}  // namespace hearth
