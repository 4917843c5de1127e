// A session is for one thread at a time: the second is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "hearth/log.h"
#include "hearth/session.h"
#include "tests/testing/built_models.h"
#include "tests/testing/hot_start.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;

TEST(SessionCaller, ASecondThreadIsToldThatOneIsInside) {
  const Model model = testing::NegationModel({1, 4});
  Result<Session> session = Session::Create(model, {.device = "cpu", .use_cache = false});
  ASSERT_TRUE(session.ok()) << session.status().message();
  std::promise<void> is_inside;
  testing::Gate gate;
  bool is_first = true;
  SetLogSink([&](LogLevel, std::string_view) {  // of what Resize says of the new shapes
    if (std::exchange(is_first, false)) is_inside.set_value();
    gate.Pass();
  });
  std::thread other([&] { EXPECT_TRUE(session->ResizeBatch(2).ok()); });
  is_inside.get_future().wait();
  const std::vector<float> x(8, 1.0f);
  const Status set = session->SetInput(0, std::as_bytes(std::span(x))), run = session->Run();
  gate.Open();
  other.join();
  SetLogSink(nullptr);
  for (const Status& told : {set, run}) {
    EXPECT_EQ(told.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(told.message(), HasSubstr("another thread is inside this session"));
  }
  ASSERT_TRUE(session->SetInput("x", std::as_bytes(std::span(x))).ok());
  EXPECT_TRUE(session->Run().ok());
}

TEST(SessionCaller, AListenerThatCallsItsSessionIsToldThatACallGoesOn) {
  const Model model = testing::NegationModel({1, 4});
  Result<Session> session = Session::Create(model, {.device = "cpu", .use_cache = false});
  ASSERT_TRUE(session.ok()) << session.status().message();
  Status told;
  SetLogSink([&](LogLevel, std::string_view) { told = session->ResizeBatch(3); });  // of what Resize says
  EXPECT_TRUE(session->ResizeBatch(2).ok());
  SetLogSink(nullptr);
  EXPECT_THAT(told.message(), HasSubstr("from inside one of its own calls"));
  EXPECT_EQ(session->inputs()[0].shape, (std::vector<int32_t>{2, 4}));
}

}  // namespace
}  // namespace hearth
