// What rows of YOLO's heads have behind a box and its scores: points, an angle, coefficients of masks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "tests/testing/yolo_rows.h"

namespace hearth {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using testing::Head;
using testing::kPersonPoints;
using testing::kTailHeight;
using testing::kTailRows;
using testing::kTailWidth;
using testing::Seen;
using testing::ShownAs;
using ::testing::StartsWith;
using testing::TailCase;
using testing::TailRows;

const TailCase kTailCases[] = {{"transposed"},
                               {"transposed in fractions", true, true},
                               {"rows last", false, false},
                               {"rows last in fractions", false, true}};

class YoloTail : public ::testing::TestWithParam<TailCase> {};
INSTANTIATE_TEST_SUITE_P(Heads, YoloTail, ::testing::ValuesIn(kTailCases));

TEST_P(YoloTail, PointsComeOutWithTheirBox) {
  TailRows rows(GetParam(), 1, 3 * kPersonPoints);
  for (size_t row = 0; row < kTailRows; ++row) rows.PutPoints(row, 0.1f);
  rows.Put(40, {48, 32, 40, 60}, 0.8f);
  rows.PutPoints(40, 1);
  rows.Put(41, {49, 32, 40, 60}, 0.7f);  // the same person
  for (const auto& options : {InterpretOptions{}, ShownAs(Meaning::kBoxes, Layout::kYoloPoses)}) {
    const auto results = Seen(kTailHeight, kTailWidth, {rows.head()}, options);
    ASSERT_TRUE(results.ok()) << results.status().message();
    const Interpretation& result = results->at(0);
    EXPECT_EQ(result.group.layout, Layout::kYoloPoses) << result.group.reason;
    ASSERT_EQ(result.boxes.size(), 1u) << result.group.reason;
    const Box& box = result.boxes[0];
    EXPECT_NEAR(box.left * kTailWidth, 28, 1e-4f);
    ASSERT_EQ(box.points.size(), kPersonPoints);
    EXPECT_EQ(PointName(box.skeleton, 9), "left wrist");
    EXPECT_NEAR(box.points[9].x * kTailWidth, 57, 1e-4f);
    EXPECT_NEAR(box.points[9].y * kTailHeight, 32, 1e-4f);
    EXPECT_FLOAT_EQ(box.points[9].score, 0.9f);
    EXPECT_TRUE(Draw(result).ok());
  }
}

TEST_P(YoloTail, ScoresInThePlaceOfPointsAreNone) {
  TailRows rows(GetParam(), 1 + 3 * kPersonPoints, 0);
  const auto results = Seen(kTailHeight, kTailWidth, {rows.head()});
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results->at(0).group.meaning, Meaning::kNone);
  EXPECT_THAT(results->at(0).group.reason, HasSubstr("--show yolov8-pose"));
}

TEST_P(YoloTail, AnAngleTurnsItsBoxInPixels) {
  TailRows rows(GetParam(), 3, 1);
  for (size_t row = 0; row < kTailRows; ++row) rows.PutTail(row, {row % 2 == 0 ? -0.5f : 1.5f});
  rows.Put(40, {48, 32, 40, 10}, 0.8f);
  rows.PutTail(40, {std::numbers::pi_v<float> / 2});
  for (const auto& options : {InterpretOptions{}, ShownAs(Meaning::kBoxes, Layout::kYoloRotated)}) {
    const auto results = Seen(kTailHeight, kTailWidth, {rows.head()}, options);
    ASSERT_TRUE(results.ok()) << results.status().message();
    const Interpretation& result = results->at(0);
    EXPECT_EQ(result.group.layout, Layout::kYoloRotated) << result.group.reason;
    ASSERT_EQ(result.boxes.size(), 1u) << result.group.reason;
    const Box& box = result.boxes[0];
    ASSERT_EQ(box.points.size(), 4u);
    EXPECT_NEAR(box.points[0].x * kTailWidth, 53, 1e-3f);  // of upper left it became upper right
    EXPECT_NEAR(box.points[0].y * kTailHeight, 12, 1e-3f);
    EXPECT_NEAR(box.points[2].x * kTailWidth, 43, 1e-3f);
    EXPECT_NEAR(box.points[2].y * kTailHeight, 52, 1e-3f);
    EXPECT_NEAR(box.left * kTailWidth, 43, 1e-3f);
    EXPECT_NEAR(box.bottom * kTailHeight, 52, 1e-3f);
    EXPECT_TRUE(Draw(result).ok());
  }
}

// Ships side by side: at 45 degrees the bounds of neighbours overlap by more than half.
TEST_P(YoloTail, RotatedBoxesOverlapByWhatLiesWithinBoth) {
  TailRows rows(GetParam(), 3, 1);
  for (size_t row = 0; row < kTailRows; ++row) rows.PutTail(row, {row % 2 == 0 ? -0.5f : 1.5f});
  const std::vector<float> angle = {std::numbers::pi_v<float> / 4};
  rows.Put(40, {48, 32, 40, 6}, 0.8f);
  rows.Put(41, {53, 27, 40, 6}, 0.7f);  // 7.1 pixels away
  rows.Put(42, {49, 31, 40, 6}, 0.6f);  // 1.4 pixels from the first: the same
  for (const size_t row : {40, 41, 42}) rows.PutTail(row, angle);
  const auto results = Seen(kTailHeight, kTailWidth, {rows.head()});
  ASSERT_TRUE(results.ok());
  ASSERT_EQ(results->at(0).boxes.size(), 2u) << results->at(0).group.reason;
  EXPECT_FLOAT_EQ(results->at(0).boxes[1].score, 0.7f);
}

TEST_P(YoloTail, AnglesThatCouldBeScoresAreNotSure) {
  TailRows rows(GetParam(), 3, 1);
  for (size_t row = 0; row < kTailRows; ++row) rows.PutTail(row, {0.4f + 0.5f * static_cast<float>(row % 2)});
  const auto results = Seen(kTailHeight, kTailWidth, {rows.head()});
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results->at(0).group.meaning, Meaning::kNone);
  EXPECT_THAT(results->at(0).group.reason, StartsWith("not sure"));
  EXPECT_THAT(results->at(0).group.reason, HasSubstr("--show yolov8-obb"));
}

// The first prototype is above 0 in the picture's left half, the second in its upper half.
Head Halves() {
  Head prototypes{{1, kTailHeight / 4, kTailWidth / 4, 2}, {}, "masks"};
  for (int y = 0; y < kTailHeight / 4; ++y) {
    for (int x = 0; x < kTailWidth / 4; ++x)
      prototypes.values.insert(prototypes.values.end(),
                               {x < kTailWidth / 8 ? 1.0f : -1.0f, y < kTailHeight / 8 ? 1.0f : -1.0f});
  }
  return prototypes;
}
// Which box a pixel of the picture belongs to.
float OwnerAt(const Interpretation& result, int x, int y) {
  return result.map.values[static_cast<size_t>(y / 4 * result.map.width + x / 4)];
}

TEST_P(YoloTail, AMaskIsItsPrototypesCutAtTheBox) {
  TailRows rows(GetParam(), 3, 2);
  rows.Put(40, {48, 32, 64, 48}, 0.8f);  // 16 to 80, 8 to 56
  rows.PutTail(40, {1, 0});
  rows.Put(41, {48, 32, 96, 64}, 0.7f);  // little more than a half of it is the other's
  rows.PutTail(41, {0, 1});
  InterpretOptions options;
  options.labels = {"a", "b", "c"};
  const auto results = Seen(kTailHeight, kTailWidth, {rows.head(), Halves()}, options);
  ASSERT_TRUE(results.ok()) << results.status().message();
  ASSERT_EQ(results->size(), 1u);
  const Interpretation& result = results->at(0);
  ASSERT_EQ(result.boxes.size(), 1u) << result.group.reason;
  EXPECT_EQ(result.map.height, kTailHeight / 4);
  EXPECT_EQ(OwnerAt(result, 20, 40), 1);
  EXPECT_EQ(OwnerAt(result, 12, 40), 0);  // beside the box
  EXPECT_EQ(OwnerAt(result, 20, 4), 0);   // above it
  EXPECT_EQ(OwnerAt(result, 60, 40), 0);  // the mask is the left half
  EXPECT_TRUE(Draw(result).ok());
}

TEST_P(YoloTail, APixelOfTwoMasksIsTheBetterBoxs) {
  TailRows rows(GetParam(), 3, 2);
  rows.Put(40, {40, 32, 64, 48}, 0.7f);
  rows.PutTail(40, {1, 0});
  rows.Put(41, {60, 20, 64, 32}, 0.8f);
  rows.PutTail(41, {0, 1});
  InterpretOptions options;
  options.labels = {"a", "b", "c"};
  const auto results = Seen(kTailHeight, kTailWidth, {rows.head(), Halves()}, options);
  ASSERT_TRUE(results.ok()) << results.status().message();
  ASSERT_EQ(results->at(0).boxes.size(), 2u) << results->at(0).group.reason;
  EXPECT_EQ(OwnerAt(results->at(0), 40, 20), 1);
  EXPECT_EQ(OwnerAt(results->at(0), 40, 44), 2);
  EXPECT_EQ(OwnerAt(results->at(0), 80, 20), 1);
}

TEST_P(YoloTail, WildCoefficientsMakeNoMask) {
  TailRows rows(GetParam(), 3, 2);
  rows.Put(40, {48, 32, 64, 48}, 0.8f);
  rows.PutTail(40, {NAN, INFINITY});
  InterpretOptions options;
  options.labels = {"a", "b", "c"};
  const auto results = Seen(kTailHeight, kTailWidth, {rows.head(), Halves()}, options);
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results->at(0).boxes.size(), 1u);
  EXPECT_THAT(results->at(0).map.values, Each(0));
}

TEST(YoloTails, OfAListMayBeAnAngle) {
  std::vector<float> values(300 * 7);
  const float ship[] = {48, 32, 40, 10, 0.9f, 3, std::numbers::pi_v<float> / 2};
  std::ranges::copy(ship, values.begin());
  const auto results = Seen(kTailHeight, kTailWidth, {{{1, 300, 7}, values}});
  ASSERT_TRUE(results.ok());
  ASSERT_EQ(results->at(0).boxes.size(), 1u) << results->at(0).group.reason;
  const Box& box = results->at(0).boxes[0];
  EXPECT_EQ(box.class_index, 3u);
  ASSERT_EQ(box.points.size(), 4u);
  EXPECT_NEAR(box.left * kTailWidth, 43, 1e-3f);
  EXPECT_NEAR(box.top * kTailHeight, 12, 1e-3f);
  values[6] = 3;
  EXPECT_EQ(Seen(kTailHeight, kTailWidth, {{{1, 300, 7}, values}})->at(0).group.meaning, Meaning::kNone);
}

TEST(YoloTails, ThatAreNoAnglesMakeNoBox) {
  for (const float angle : {NAN, INFINITY}) {
    std::vector<float> values(2 * 7);
    const float ship[] = {48, 32, 40, 10, 0.9f, 3, angle};
    std::ranges::copy(ship, values.begin());
    const auto results =
        Seen(kTailHeight, kTailWidth, {{{1, 2, 7}, values}}, ShownAs(Meaning::kBoxes, Layout::kYoloListed));
    ASSERT_TRUE(results.ok());
    EXPECT_TRUE(results->at(0).boxes.empty());
    EXPECT_TRUE(Draw(results->at(0)).ok());
  }
}

TEST(YoloTails, OfAListAreAPoseOrMasks) {
  std::vector<float> poses(300 * 57);
  const float person[] = {24, 16, 72, 48, 0.9f, 0, 48, 32, 0.75f};
  std::ranges::copy(person, poses.begin());
  const auto results = Seen(kTailHeight, kTailWidth, {{{1, 300, 57}, poses}});
  ASSERT_TRUE(results.ok());
  ASSERT_EQ(results->at(0).boxes.size(), 1u) << results->at(0).group.reason;
  ASSERT_EQ(results->at(0).boxes[0].points.size(), kPersonPoints);
  EXPECT_FLOAT_EQ(results->at(0).boxes[0].points[0].x, 0.5f);
  std::vector<float> masks(300 * 8);
  const float thing[] = {16, 8, 80, 56, 0.9f, 2, 1, 0};
  std::ranges::copy(thing, masks.begin());
  const auto beside = Seen(kTailHeight, kTailWidth, {{{1, 300, 8}, masks}, Halves()});
  ASSERT_TRUE(beside.ok());
  ASSERT_EQ(beside->at(0).boxes.size(), 1u) << beside->at(0).group.reason;
  EXPECT_EQ(OwnerAt(beside->at(0), 20, 40), 1);
  EXPECT_EQ(OwnerAt(beside->at(0), 60, 40), 0);
}

TEST(YoloTails, ThatAreNotAllThereAreNotDrawn) {
  TailRows rows(kTailCases[0], 1, 3 * kPersonPoints);
  for (size_t row = 0; row < kTailRows; ++row) rows.PutPoints(row, 0.1f);
  rows.Put(40, {48, 32, 40, 60}, 0.8f);
  auto results = Seen(kTailHeight, kTailWidth, {rows.head()});
  ASSERT_TRUE(results.ok());
  results->at(0).boxes.at(0).points.pop_back();
  EXPECT_EQ(Draw(results->at(0)).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hearth
