// What operators that choose or compare make of a NaN: the same index, and the same truth, on every device.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "core/base/error.h"
#include "core/graph/op_text.h"
#include "core/graph/ops/elementwise_table.h"
#include "tests/testing/on_device.h"
#include "tests/testing/one_input.h"

namespace hearth {
namespace {

using testing::OneInputGraph;

constexpr float kHole = std::numeric_limits<float>::quiet_NaN();
constexpr int32_t kDeep = 7;
const Shape kHoledImage = {1, 5, 6, kDeep};

// A quarter of the elements is NaN, among them the first, and one whole pixel; one pixel has infinities beside NaN.
OneInputGraph WithNans() {
  OneInputGraph made(kHoledImage);
  for (float& number : made.x) {
    if (made.random() % 4 == 0) number = kHole;
  }
  made.x[0] = kHole;
  std::fill_n(made.x.begin() + 2 * kDeep, kDeep, kHole);
  const float infinity = std::numeric_limits<float>::infinity();
  std::ranges::copy(std::vector{-infinity, kHole, infinity, kHole, -infinity, infinity, kHole},
                    made.x.begin() + 3 * kDeep);
  return made;
}

class NanAmongNumbers : public testing::OnDevice {
 protected:
  // `made` ends in a tensor of indices or truths.
  void ExpectAsReference(OneInputGraph& made) {
    const Node& node = made.graph.nodes().front();
    SCOPED_TRACE(OpName(node.op) + " " + AttributesToText(node.op));
    made.Node(Cast{}, made.graph.outputs);
    const Result<testing::TwoAnswers> answers = AnswersOf(opened_, made, Precision::kFp32);
    ASSERT_TRUE(answers.ok()) << answers.status().message();
    EXPECT_EQ(answers->device, std::vector<float>(answers->reference.begin(), answers->reference.end()));
  }
};

TEST_P(NanAmongNumbers, IsTheExtremeOnlyWhereItComesFirst) {
  for (const ArgKind kind : {ArgKind::kMax, ArgKind::kMin}) {
    for (const int32_t axis : {1, 2, 3}) {
      OneInputGraph made = WithNans();
      made.Node(ArgReduce{kind, axis}, {made.input()}, DType::kInt32);
      ExpectAsReference(made);
    }
  }
}

TEST_P(NanAmongNumbers, IsNoPlaceOfAWindowsMaximum) {
  OneInputGraph made = WithNans();
  made.Node(MaxPoolArgmax2D{3, 2, {.stride_h = 2, .stride_w = 1, .padding = {PaddingMode::kSame}}}, {made.input()});
  const ValueId places = made.graph.AddValue({.name = "places"});
  made.graph.nodes().back().outputs.push_back(places);
  made.graph.outputs = {places};
  ExpectAsReference(made);
}

TEST_P(NanAmongNumbers, EqualsNothingAndLiesOnNoSideOfANumber) {
  for (const BinaryRow& row : BinaryRows()) {
    if (row.rule != ElementRule::kCompared) continue;
    for (const bool negated : {false, true}) {
      OneInputGraph made = WithNans();
      const ValueId truth = made.Node(Binary{row.kind}, {made.input(), made.Constant({kDeep})}, DType::kBool);
      if (negated) made.Node(Unary{UnaryKind::kLogicalNot}, {truth}, DType::kBool);
      ExpectAsReference(made);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, NanAmongNumbers, ::testing::Values("cpu", "opencl", "vulkan", "gles"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hearth
