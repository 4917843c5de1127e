// Which of several boxes with equal scores is taken first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/one_node.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using testing::EvaluateAll;
using testing::NodeInput;

// Of boxes with sides of `side` that touch none of the others.
std::vector<double> ChosenBoxes(const NonMaxSuppression& op, const std::vector<double>& scores, double side = 1) {
  const auto count = static_cast<int32_t>(scores.size());
  NodeInput boxes{{count, 4}, {}};
  for (double k = 0; k < count; ++k) {
    for (const double end : {0.0, 2 * k, side, 2 * k + side}) boxes.values.push_back(end);
  }
  const NodeInput half{{1}, {0.5}}, tenth{{1}, {0.1}};
  auto results = EvaluateAll(op, {boxes, {{count}, scores}, half, tenth}, {DType::kInt32, DType::kInt32});
  if (results.size() != 2) return {};
  results[0].values.resize(static_cast<size_t>(results[1].values[0]));
  return results[0].values;
}

const std::vector<double> kTwelveEqual(12, 0.5);

// The orders and numbers are LiteRT 2.3.0's.
TEST(NonMaxSuppression, TakesEqualScoresInTheOrderOfTflitesHeap) {
  EXPECT_THAT(ChosenBoxes({6}, kTwelveEqual), ElementsAre(0, 2, 6, 11, 10, 9));
  EXPECT_THAT(ChosenBoxes({4}, {1, 1, 1, 1}), ElementsAre(0, 2, 3, 1));
  EXPECT_THAT(ChosenBoxes({9}, {3, 1, 1, 1, 1}), ElementsAre(0, 4, 1, 3, 2));
  EXPECT_THAT(ChosenBoxes({4}, {3, 2, 1, 1}), ElementsAre(0, 1, 2, 3));
}

TEST(NonMaxSuppression, TakesABoxWithoutAreaAgainAsTfliteDoes) {
  EXPECT_THAT(ChosenBoxes({5}, {0.9, 0.8}, 0), ElementsAre(0, 0));
  EXPECT_THAT(ChosenBoxes({5, true}, {0.9, 0.8}, 0), ElementsAre(0, 1));
}

TEST(NonMaxSuppression, TakesTheLowerIndexFirstIfItIsAskedTo) {
  EXPECT_THAT(ChosenBoxes({6, true}, kTwelveEqual), ElementsAre(0, 1, 2, 3, 4, 5));
}

}  // namespace
}  // namespace hearth
