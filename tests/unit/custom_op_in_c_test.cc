// Operators that the program registers, in C.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "frontends/api/custom_ops.h"
#include "tests/testing/c_handles.h"
#include "tests/testing/custom_ops.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::SameAsInput;
using testing::Scale;
using testing::ScaleModel;

struct Counters {
  int calls = 0, destroyed = 0;
};

int32_t InferInC(const hearth_op_call* call) {
  return SameAsInput(*call).ok() ? 0 : 1;
}
int32_t RunInC(const hearth_op_call* call) {
  ++static_cast<Counters*>(call->user_data)->calls;
  return Scale(*call).ok() ? 0 : 1;
}
int32_t FailInC(const hearth_op_call* call) {
  std::strncpy(call->error, "the bytes \xff are odd", call->error_bytes - 1);
  return 5;
}
void DestroyInC(void* user_data) {
  ++static_cast<Counters*>(user_data)->destroyed;
}

TEST(CustomOpInC, RunsAndIsDestroyedOnceWithItsLastUser) {
  Counters counters;
  const hearth_op op = {sizeof(hearth_op), "SCALE", "1", InferInC, RunInC, &counters, DestroyInC};
  const std::vector<std::byte> file = ScaleModel();
  {
    OwnedSession session;
    {
      OwnedOptions options, none;
      SetCpu(options);
      ASSERT_FINE(hearth_options_add_op(options, &op));
      OwnedModel model;
      ASSERT_FINE(hearth_model_from_memory(file.data(), file.size(), options, model.out()));
      SetCpu(none);
      ASSERT_FINE(hearth_session_create(model, none, session.out()));
    }
    EXPECT_EQ(counters.destroyed, 0);
    const float x[4] = {1, 2, 3, 4};
    ASSERT_FINE(hearth_session_set_input(session, 0, x, sizeof(x)));
    ASSERT_FINE(hearth_session_run(session));
    EXPECT_THAT(OutputFloats(session, 0), ElementsAre(3, 6, 9, 12));
    EXPECT_GT(counters.calls, 0);
  }
  EXPECT_EQ(counters.destroyed, 1);
}

TEST(CustomOpInC, OperatorsOfALibraryServeSeveralModelsAndAreNotDestroyed) {
  Counters counters;
  const hearth_op op = {sizeof(hearth_op), "SCALE", "1", InferInC, RunInC, &counters, DestroyInC};
  ASSERT_TRUE(CustomOpOf(op, std::make_shared<int>()).ok());
  EXPECT_EQ(counters.destroyed, 0);
  ASSERT_TRUE(CustomOpOf(op, nullptr).ok());
  EXPECT_EQ(counters.destroyed, 1);
}

TEST(CustomOpInC, TextsOfFailuresReachTheCaller) {
  const hearth_op op = {sizeof(hearth_op), "SCALE", nullptr, InferInC, FailInC, nullptr, nullptr};
  const std::vector<std::byte> file = ScaleModel();
  OwnedOptions options, none;
  SetCpu(options);
  SetCpu(none);
  ASSERT_FINE(hearth_options_add_op(options, &op));
  OwnedModel model;
  ASSERT_FINE(hearth_model_from_memory(file.data(), file.size(), options, model.out()));
  OwnedSession session;
  ASSERT_FINE(hearth_session_create(model, none, session.out()));
  const float x[4] = {};
  ASSERT_FINE(hearth_session_set_input(session, 0, x, sizeof(x)));
  EXPECT_EQ(hearth_session_run(session), HEARTH_INVALID_ARGUMENT);
  EXPECT_THAT(hearth_last_error(), AllOf(HasSubstr("SCALE (operator 1)"), HasSubstr("the bytes")));
}

TEST(CustomOpInC, IncompleteOperatorsAreRefused) {
  OwnedOptions options;
  SetCpu(options);
  Counters counters;
  hearth_op op = {sizeof(hearth_op), "SCALE", "1", InferInC, RunInC, &counters, DestroyInC};
  EXPECT_EQ(hearth_options_add_op(nullptr, &op), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(hearth_options_add_op(options, nullptr), HEARTH_INVALID_ARGUMENT);
  op.struct_size = 8;
  EXPECT_EQ(hearth_options_add_op(options, &op), HEARTH_INVALID_ARGUMENT);
  EXPECT_THAT(hearth_last_error(), HasSubstr("struct_size is 8"));
  op.struct_size = sizeof(hearth_op);
  op.run = nullptr;
  EXPECT_EQ(hearth_options_add_op(options, &op), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(counters.destroyed, 0);
}

}  // namespace
}  // namespace hearth
