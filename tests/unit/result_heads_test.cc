// MediaPipe's detectors and landmarks, and heat maps: what was put in comes out, or the answer is "not sure".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "tests/testing/seen_heads.h"

namespace hearth {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::Head;
using testing::Seen;
using testing::ShownAs;
using ::testing::StartsWith;

// ---- MediaPipe's anchors ----

struct AnchorCase {
  int size = 0;
  int32_t count = 0, numbers = 0;
  std::string label;
  size_t anchor = 0;   // where the object is put
  float x = 0, y = 0;  // that anchor's centre, in cells of `grid`
  float grid = 1;
};
void PrintTo(const AnchorCase& anchors, std::ostream* out) {
  *out << anchors.count << " x " << anchors.numbers << " of " << anchors.size;
}

// The places follow SsdAnchorsCalculator: the cells of a stride row by row, all anchors of a cell together.
const AnchorCase kAnchorCases[] = {
    {128, 896, 16, "face", 2 * (3 * 16 + 5) + 1, 5.5f, 3.5f, 16},
    {128, 896, 16, "face", 512 + 6 * (2 * 8 + 7) + 4, 7.5f, 2.5f, 8},
    {256, 896, 16, "face", 2 * (3 * 16 + 5), 5.5f, 3.5f, 16},
    {192, 2304, 16, "face", 40 * 48 + 9, 9.5f, 40.5f, 48},
    {192, 2016, 18, "palm", 2 * (20 * 24 + 1), 1.5f, 20.5f, 24},
    {192, 2016, 18, "palm", 1152 + 6 * (11 * 12 + 3) + 5, 3.5f, 11.5f, 12},
    {256, 2944, 18, "palm", 2048 + 2 * (15 * 16 + 2), 2.5f, 15.5f, 16},
    {224, 2254, 12, "person", 1568 + 392 + 6 * (6 * 7 + 6) + 5, 6.5f, 6.5f, 7},
    {128, 896, 12, "person", 0, 0.5f, 0.5f, 16},
};

class Anchors : public ::testing::TestWithParam<AnchorCase> {};
INSTANTIATE_TEST_SUITE_P(Heads, Anchors, ::testing::ValuesIn(kAnchorCases));

TEST_P(Anchors, AnObjectComesOutWhereItsAnchorIs) {
  const AnchorCase& anchors = GetParam();
  const auto row = static_cast<size_t>(anchors.numbers);
  std::vector<float> numbers(static_cast<size_t>(anchors.count) * row),
      scores(static_cast<size_t>(anchors.count), -200);
  const auto size = static_cast<float>(anchors.size);
  const auto put = [&](size_t anchor, float score) {
    float* at = numbers.data() + anchor * row;
    at[0] = 0.05f * size, at[1] = -0.05f * size, at[2] = 0.2f * size, at[3] = 0.1f * size;
    for (size_t k = 4; k < row; ++k) at[k] = static_cast<float>(k % 2 == 0 ? k : 0) / 100 * size;
    scores[anchor] = score;
  };
  put(anchors.anchor, 2);
  put(anchors.anchor ^ 1, 1);  // in the same cell or the next: the same object
  const Head heads[] = {{{1, anchors.count, 1}, scores, "scores"},
                        {{1, anchors.count, anchors.numbers}, numbers, "boxes"}};
  const auto results = Seen(anchors.size, anchors.size, {heads[0], heads[1]});
  ASSERT_TRUE(results.ok()) << results.status().message();
  ASSERT_EQ(results->size(), 1u);
  const Interpretation& result = results->at(0);
  ASSERT_EQ(result.boxes.size(), 1u) << result.group.reason;
  const Box& box = result.boxes[0];
  const float x = anchors.x / anchors.grid, y = anchors.y / anchors.grid;
  EXPECT_EQ(box.label, anchors.label);
  EXPECT_NEAR(box.score, 0.880797f, 1e-5f);
  EXPECT_NEAR(box.left, x + 0.05f - 0.1f, 1e-5f);
  EXPECT_NEAR(box.bottom, y - 0.05f + 0.05f, 1e-5f);
  ASSERT_EQ(box.points.size(), (row - 4) / 2);
  EXPECT_NEAR(box.points.back().x, x + static_cast<float>(row - 2) / 100, 1e-5f);
  EXPECT_NEAR(box.points.back().y, y, 1e-5f);
}

TEST(AnchorHeads, WithOtherNumbersAreNotSureUntilAskedFor) {
  const std::vector<Head> heads = {{{1, 896, 20}, std::vector<float>(896 * 20), "boxes"},
                                   {{1, 896, 1}, std::vector<float>(896, -9), "scores"}};
  EXPECT_THAT(Seen(128, 128, heads)->at(0).group.reason, AllOf(StartsWith("not sure"), HasSubstr("--show boxes")));
  const auto asked = Seen(128, 128, heads, ShownAs(Meaning::kBoxes));
  ASSERT_TRUE(asked.ok());
  EXPECT_EQ(asked->at(0).group.layout, Layout::kAnchors);
  EXPECT_EQ(asked->at(0).group.outputs.size(), 2u);
}

TEST(AnchorHeads, WithOneWildScoreKeepTheOthers) {
  std::vector<float> numbers(896 * 16, 12), scores(896);
  scores[7] = 0.75f, scores[400] = 1e30f;
  const auto results =
      Seen(128, 128, {{{1, 896, 16}, numbers, "boxes"}, {{1, 896, 1}, scores, "scores"}}, ShownAs(Meaning::kBoxes));
  ASSERT_TRUE(results.ok());
  ASSERT_EQ(results->at(0).boxes.size(), 1u);
  EXPECT_FLOAT_EQ(results->at(0).boxes[0].score, 0.75f);
}

TEST(AnchorHeads, OfPicturesOfAnotherSizeAreNoBoxes) {
  const auto results = Seen(
      100, 100,
      {{{1, 896, 16}, std::vector<float>(896 * 16), "boxes"}, {{1, 896, 1}, std::vector<float>(896, -9), "scores"}});
  ASSERT_TRUE(results.ok());
  for (const Interpretation& result : *results) EXPECT_NE(result.group.meaning, Meaning::kBoxes);
}

// ---- Key points ----

// [1,8,6,17] with map k's highest value at row k % 8, column k % 6.
std::vector<float> Maps(float low, float high) {
  std::vector<float> maps(8 * 6 * 17, low);
  for (size_t k = 0; k < 17; ++k) maps[((k % 8) * 6 + k % 6) * 17 + k] = high;
  return maps;
}

TEST(HeatMaps, WithoutOffsetsPointAtTheirCellsCentres) {
  const auto results = Seen(64, 48, {{{1, 8, 6, 17}, Maps(-0.02f, 0.75f), "heatmaps"}});
  ASSERT_TRUE(results.ok());
  const Interpretation& result = results->at(0);
  ASSERT_EQ(result.points.points.size(), 17u) << result.group.reason;
  EXPECT_EQ(result.points.skeleton->name, "body");
  EXPECT_FLOAT_EQ(result.points.points[9].x, 3.5f / 6);
  EXPECT_FLOAT_EQ(result.points.points[9].y, 1.5f / 8);
  EXPECT_FLOAT_EQ(result.points.points[9].score, 0.75f);
}

TEST(HeatMaps, WithOneWildCellKeepTheOtherScores) {
  std::vector<float> maps = Maps(-0.02f, 0.75f);
  maps[5] = 1e30f;
  const auto results = Seen(64, 48, {{{1, 8, 6, 17}, maps, "heatmaps"}});
  ASSERT_TRUE(results.ok());
  EXPECT_FLOAT_EQ(results->at(0).points.points[9].score, 0.75f);
}

TEST(HeatMaps, OfLogitsWithOffsetsBesideThemArePoseNets) {
  std::vector<float> offsets(8 * 6 * 34);
  offsets[(1 * 6 + 3) * 34 + 9] = 2;       // point 9, y
  offsets[(1 * 6 + 3) * 34 + 17 + 9] = 5;  // and x
  const auto results = Seen(57, 41,
                            {{{1, 8, 6, 34}, offsets, "a"},
                             {{1, 8, 6, 17}, Maps(-9, 2), "b"},
                             {{1, 8, 6, 32}, std::vector<float>(8 * 6 * 32), "c"},
                             {{1, 8, 6, 32}, std::vector<float>(8 * 6 * 32), "d"}});
  ASSERT_TRUE(results.ok());
  ASSERT_EQ(results->size(), 1u);
  const Interpretation& result = results->at(0);
  EXPECT_EQ(result.group.outputs, (std::vector<size_t>{1, 0, 2, 3}));
  EXPECT_FLOAT_EQ(result.points.points[9].x, (3 * 8 + 5) / 41.0f);
  EXPECT_FLOAT_EQ(result.points.points[9].y, (1 * 8 + 2) / 57.0f);
  EXPECT_NEAR(result.points.points[9].score, 0.880797f, 1e-5f);
}

TEST(HeatMaps, WithoutANameAreNotSureUntilAskedFor) {
  const Head head{{1, 8, 6, 17}, Maps(0, 1), "y"};
  const auto results = Seen(64, 48, {head});
  ASSERT_TRUE(results.ok());
  EXPECT_THAT(results->at(0).group.reason, AllOf(StartsWith("not sure"), HasSubstr("--show keypoints")));
  const auto asked = Seen(64, 48, {head}, ShownAs(Meaning::kKeypoints));
  ASSERT_TRUE(asked.ok());
  EXPECT_EQ(asked->at(0).points.points.size(), 17u);
}

TEST(Landmarks, OfAPoseArePointsWithVisibility) {
  std::vector<float> numbers(195);
  for (size_t k = 0; k < 39; ++k) {
    const float row[] = {static_cast<float>(k), 2.0f * static_cast<float>(k), 5, k == 3 ? -2.0f : 4.0f, 3};
    std::ranges::copy(row, numbers.begin() + static_cast<std::ptrdiff_t>(5 * k));
  }
  const auto results = Seen(256, 256, {{{1, 195}, numbers, "points"}, {{1, 1}, {0.75f}, "flag"}});
  ASSERT_TRUE(results.ok());
  const Interpretation& result = results->at(0);
  EXPECT_EQ(result.group.layout, Layout::kPosePoints);
  ASSERT_EQ(result.points.points.size(), 33u) << result.group.reason;
  EXPECT_EQ(result.points.score, 0.75f);
  EXPECT_EQ(PointName(result.points.skeleton, 32), "right foot");
  EXPECT_FLOAT_EQ(result.points.points[32].y, 64.0f / 256);
  EXPECT_NEAR(result.points.points[32].score, 0.952574f, 1e-5f);
  EXPECT_NEAR(result.points.points[3].score, 0.119203f, 1e-5f);
  for (const auto& [from, to] : result.points.skeleton->limbs) EXPECT_NE(from, to);
  const auto alone = Seen(256, 256, {{{1, 195}, numbers, "points"}});
  EXPECT_THAT(alone->at(0).group.reason, StartsWith("not sure"));
  EXPECT_EQ(Seen(256, 256, {{{1, 195}, numbers, "points"}}, ShownAs(Meaning::kKeypoints))->at(0).points.points.size(),
            33u);
}

TEST(Landmarks, OfFacesHaveLines) {
  for (const int32_t count : {468, 478}) {
    const auto results = Seen(192, 192,
                              {{{1, 1, 1, 3 * count}, std::vector<float>(3 * static_cast<size_t>(count), 96), "points"},
                               {{1, 1}, {4}, "flag"}});
    ASSERT_TRUE(results.ok());
    const KeyPoints& points = results->at(0).points;
    ASSERT_EQ(points.points.size(), static_cast<size_t>(count));
    EXPECT_EQ(points.skeleton->name, "face");
    EXPECT_EQ(points.skeleton->limbs.size(), 124u);
    for (const auto& [from, to] : points.skeleton->limbs) EXPECT_TRUE(from != to && std::max(from, to) < 468);
  }
}

}  // namespace
}  // namespace hearth
