// YOLO's heads of which the file says what they are, and rows that are none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "runtime/results/decoding.h"
#include "tests/testing/yolo_rows.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kTailHeight;
using testing::kTailRows;
using testing::kTailWidth;
using testing::Seen;
using testing::ShownAs;
using testing::TailRows;

ModelMetadata Told(const std::string& task, int32_t points = 0, int32_t numbers = 0) {
  ModelMetadata metadata;
  metadata.task = task;
  metadata.pose_points = points;
  metadata.pose_numbers = numbers;
  return metadata;
}

TEST(YoloTold, APoseHasThePointsAndNumbersThatTheFileSays) {
  for (const int32_t numbers : {2, 3}) {
    const auto points = static_cast<size_t>(5);
    TailRows rows({}, 2, points * static_cast<size_t>(numbers));
    rows.Put(40, {48, 32, 40, 60});
    rows.at(40, 5) = 0.8f;
    for (size_t n = 6; n < 6 + points * static_cast<size_t>(numbers); ++n) rows.at(40, n) = 24;
    const auto results = Seen(kTailHeight, kTailWidth, {rows.head()}, {}, Told("pose", points, numbers));
    ASSERT_TRUE(results.ok());
    ASSERT_EQ(results->at(0).boxes.size(), 1u) << results->at(0).group.reason;
    const Box& box = results->at(0).boxes[0];
    EXPECT_EQ(box.class_index, 1u);
    ASSERT_EQ(box.points.size(), points);
    EXPECT_FLOAT_EQ(box.points[4].x * kTailWidth, 24);
    EXPECT_FLOAT_EQ(box.points[4].y * kTailHeight, 24);
  }
}

TEST(YoloTold, PosesOfSeveralClassesAreShownToThoseWhoAsk) {
  for (const size_t classes : {2, 3}) {
    TailRows rows({}, classes, 3 * testing::kPersonPoints);
    for (size_t row = 0; row < kTailRows; ++row) rows.PutPoints(row, 0.1f);
    rows.Put(40, {48, 32, 40, 60}, 0.8f);
    const auto results = Seen(kTailHeight, kTailWidth, {rows.head()}, ShownAs(Meaning::kBoxes, Layout::kYoloPoses));
    ASSERT_TRUE(results.ok()) << results.status().message();
    ASSERT_EQ(results->at(0).boxes.size(), 1u);
    EXPECT_EQ(results->at(0).boxes[0].points.size(), testing::kPersonPoints);
  }
}

TEST(YoloTold, AnglesThatCouldBeScoresAreAnglesIfTheFileSaysSo) {
  TailRows rows({}, 3, 1);
  rows.Put(40, {48, 32, 40, 10}, 0.8f);
  rows.PutTail(40, {0.3f});
  const auto results = Seen(kTailHeight, kTailWidth, {rows.head()}, {}, Told("obb"));
  ASSERT_TRUE(results.ok());
  ASSERT_EQ(results->at(0).boxes.size(), 1u) << results->at(0).group.reason;
  EXPECT_EQ(results->at(0).boxes[0].points.size(), 4u);
}

TEST(YoloTold, AListMayHaveAnyNumberOfRows) {
  std::vector<float> values(100 * 6);
  const float thing[] = {16, 8, 80, 56, 0.9f, 2};
  std::ranges::copy(thing, values.begin());
  const auto told = Seen(kTailHeight, kTailWidth, {{{1, 100, 6}, values}}, {}, Told("detect"));
  ASSERT_EQ(told->at(0).boxes.size(), 1u) << told->at(0).group.reason;
  EXPECT_EQ(told->at(0).boxes[0].class_index, 2u);
  EXPECT_EQ(Seen(kTailHeight, kTailWidth, {{{1, 6, 100}, values}}, {}, Told("detect"))->at(0).group.meaning,
            Meaning::kNone);
  ModelMetadata named;
  named.outputs.resize(1);
  named.outputs[0].axis_labels.resize(80, "thing");
  EXPECT_EQ(Seen(kTailHeight, kTailWidth, {{{1, 100, 6}, values}}, {}, named)->at(0).group.meaning, Meaning::kNone);
}

TEST(YoloTold, ClassesOfCellsWithoutAnObjectAreNoAngles) {
  constexpr size_t kRows = 3 * kTailRows;
  std::vector<float> values;
  for (const int stride : {8, 16, 32}) {
    for (int cell = 0; cell < kTailHeight / stride * (kTailWidth / stride) * 3; ++cell) {
      const int place = cell / 3, columns = kTailWidth / stride;
      const auto pixels = static_cast<float>(stride);
      const float row[] = {(static_cast<float>(place % columns) + 0.5f) * pixels,
                           (static_cast<float>(place / columns) + 0.5f) * pixels,
                           pixels,
                           pixels,
                           0.01f,
                           0.999f};
      values.insert(values.end(), std::begin(row), std::end(row));
    }
  }
  values[6 * 40 + 4] = 0.9f;
  const auto results = Seen(kTailHeight, kTailWidth, {{{1, kRows, 6}, values}});
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results->at(0).boxes.size(), 1u) << results->at(0).group.reason;
}

TEST(YoloTold, RowsThatHoldNoNumbersAreCountedAndManyOfThemAreNotSure) {
  TailRows rows({}, 80, 0);
  rows.Put(40, {48, 32, 40, 10}, 0.8f);
  rows.at(41, 4) = std::numeric_limits<float>::quiet_NaN();
  for (size_t n = 5; n < 84; ++n) rows.at(41, n) = rows.at(41, 4);
  const auto few = Seen(kTailHeight, kTailWidth, {rows.head()});
  ASSERT_EQ(few->at(0).boxes.size(), 1u) << few->at(0).group.reason;
  EXPECT_THAT(few->at(0).group.reason, HasSubstr("1 rows are left out"));
  for (size_t row = 50; row < 60; ++row) {
    for (size_t n = 0; n < 84; ++n) rows.at(row, n) = rows.at(41, 4);
  }
  EXPECT_EQ(Seen(kTailHeight, kTailWidth, {rows.head()})->at(0).group.meaning, Meaning::kNone);
}

TEST(YoloTold, RowsOfAListWhoseClassIsNoneAreLeftOut) {
  for (const float none : {-1.0f, 1e9f, 0.5f, std::numeric_limits<float>::infinity()}) {
    std::vector<float> values = {16, 8, 80, 56, 0.9f, none, 16, 8, 80, 56, 0.8f, 2};
    const auto results =
        Seen(kTailHeight, kTailWidth, {{{1, 2, 6}, values}}, ShownAs(Meaning::kBoxes, Layout::kYoloListed));
    ASSERT_TRUE(results.ok());
    ASSERT_EQ(results->at(0).boxes.size(), 1u) << none;
    EXPECT_EQ(results->at(0).boxes[0].class_index, 2u);
  }
}

TEST(ClassMaps, PixelsWhoseNumberIsNoClassHaveNone) {
  ResultGroup group{Meaning::kClassMap, Layout::kClassPerPixel, "", {0}};
  TensorInfo info;
  info.shape = {1, 2, 2};
  const float numbers[] = {3, -1, 1e12f, 3};
  const PixelMap map = DecodeClassMap(group, info, numbers);
  EXPECT_THAT(map.values, ElementsAre(3, -1, -1, 3));
  const auto areas = AreasOf(map, {});
  ASSERT_EQ(areas.size(), 1u);
  EXPECT_FLOAT_EQ(areas[0].share, 0.5f);
  group.layout = Layout::kScoresPerPixel;
  info.shape = {1, 1, 2, 2};
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const float scores[] = {kNan, kNan, kNan, 0.1f};
  EXPECT_THAT(DecodeClassMap(group, info, scores).values, ElementsAre(-1, 1));
}

}  // namespace
}  // namespace hearth
