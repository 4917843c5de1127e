// Heads of the YOLO family: boxes that were put in come out, or the answer is "not sure".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "tests/testing/c_handles.h"
#include "tests/testing/seen_heads.h"

namespace hearth {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::Head;
using ::testing::Not;
using testing::Seen;
using testing::ShownAs;
using ::testing::StartsWith;

constexpr int kYoloHeight = 64, kYoloWidth = 96;
constexpr size_t kYoloRowCount = 12 * 8 + 6 * 4 + 3 * 2, kYoloClasses = 4;

struct YoloCase {
  std::string name;
  Layout layout = Layout::kYoloObjectness;
  size_t per_cell = 1;
  bool is_transposed = false, are_fractions = false;
  size_t label_count = 0;
};
void PrintTo(const YoloCase& yolo, std::ostream* out) {
  *out << yolo.name;
}

// Of a row; `cell` its cell: column, row, stride.
struct Place {
  float column = 0, row = 0, stride = 1;
};
Place PlaceOf(size_t row, size_t per_cell) {
  size_t cell = row / per_cell;
  for (const int stride : {8, 16, 32}) {
    const auto columns = static_cast<size_t>(kYoloWidth / stride),
               cells = columns * static_cast<size_t>(kYoloHeight / stride);
    if (cell < cells)
      return {static_cast<float>(cell % columns), static_cast<float>(cell / columns), static_cast<float>(stride)};
    cell -= cells;
  }
  return {};
}

// Random rows without an object, but for boxes in pixels that are put into some rows.
class YoloRows {
 public:
  explicit YoloRows(const YoloCase& yolo)
      : yolo_(yolo), rows_(kYoloRowCount * yolo.per_cell), values_(rows_ * numbers()) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> share(0, 1);
    for (size_t row = 0; row < rows_; ++row) {
      const Place place = PlaceOf(row, yolo.per_cell);
      Put(row, {(place.column + share(random)) * place.stride, (place.row + share(random)) * place.stride,
                place.stride * (0.3f + share(random)), place.stride * (0.3f + share(random))});
      for (size_t n = 4; n < numbers(); ++n) at(row, n) = 0.2f * share(random);
    }
  }

  size_t numbers() const { return first() + kYoloClasses; }
  size_t first() const { return yolo_.layout == Layout::kYoloScores ? 4 : 5; }
  float& at(size_t row, size_t n) { return values_[yolo_.is_transposed ? n * rows_ + row : row * numbers() + n]; }

  struct PixelBox {
    float x = 0, y = 0, width = 0, height = 0;
  };
  void Put(size_t row, const PixelBox& box) {
    float numbers[] = {box.x, box.y, box.width, box.height};
    if (yolo_.layout == Layout::kYoloCells) {
      const Place place = PlaceOf(row, yolo_.per_cell);
      numbers[0] = box.x / place.stride - place.column, numbers[1] = box.y / place.stride - place.row;
      numbers[2] = std::log(box.width / place.stride), numbers[3] = std::log(box.height / place.stride);
    } else if (yolo_.are_fractions) {
      numbers[0] /= kYoloWidth, numbers[2] /= kYoloWidth, numbers[1] /= kYoloHeight, numbers[3] /= kYoloHeight;
    }
    for (size_t n = 0; n < 4; ++n) at(row, n) = numbers[n];
  }
  void Put(size_t row, const PixelBox& box, size_t class_index, float score) {
    Put(row, box);
    if (first() == 5) at(row, 4) = 0.9f;
    at(row, first() + class_index) = first() == 5 ? score / 0.9f : score;
  }

  Head head() const {
    const auto rows = static_cast<int32_t>(rows_), count = static_cast<int32_t>(numbers());
    return {yolo_.is_transposed ? std::vector{1, count, rows} : std::vector{1, rows, count}, values_};
  }

 private:
  const YoloCase& yolo_;
  size_t rows_ = 0;
  std::vector<float> values_;
};

const YoloCase kYoloCases[] = {
    {"v5", Layout::kYoloObjectness, 3},
    {"v5 in fractions", Layout::kYoloObjectness, 3, false, true},
    {"v5 transposed", Layout::kYoloObjectness, 3, true},
    {"v8", Layout::kYoloScores, 1, true},
    {"v8 in fractions", Layout::kYoloScores, 1, true, true},
    {"v8 with rows last", Layout::kYoloScores, 1, false, false, kYoloClasses},
    {"v8 with rows last in fractions", Layout::kYoloScores, 1, false, true, kYoloClasses},
    {"YOLOX", Layout::kYoloCells, 1, false, false, kYoloClasses},
    {"YOLOX transposed", Layout::kYoloCells, 1, true, false, kYoloClasses},
    {"YOLOX transposed without labels", Layout::kYoloCells, 1, true},
    {"YOLOX with its cells applied", Layout::kYoloObjectness, 1, false, false, kYoloClasses},
};

class Yolo : public ::testing::TestWithParam<YoloCase> {
 protected:
  static YoloRows Rows() {
    YoloRows rows(GetParam());
    const YoloRows::PixelBox dog = {60, 20, 30, 16}, cat = {20, 44, 12, 24};
    rows.Put(40, dog, 1, 0.8f);
    rows.Put(41, {61, 21, 30, 16}, 1, 0.7f);  // the same dog
    rows.Put(42, dog, 3, 0.6f);               // something else in its place
    rows.Put(100, cat, 2, 0.75f);             // in a cell of the second grid
    rows.Put(90, {10, 10, 5, 5}, 0, 0.4f);    // too unsure
    return rows;
  }
  static InterpretOptions Options() {
    InterpretOptions options;
    for (size_t k = 0; k < GetParam().label_count; ++k) options.labels.push_back("label " + std::to_string(k));
    return options;
  }
  static void ExpectBoxes(const Interpretation& result) {
    EXPECT_EQ(result.group.meaning, Meaning::kBoxes) << result.group.reason;
    EXPECT_EQ(result.group.layout, GetParam().layout) << result.group.reason;
    ASSERT_EQ(result.boxes.size(), 3u) << result.group.reason;
    constexpr struct {
      size_t class_index;
      float score, left, top, right, bottom;
    } kExpected[] = {{1, 0.8f, 45, 12, 75, 28}, {2, 0.75f, 14, 32, 26, 56}, {3, 0.6f, 45, 12, 75, 28}};
    for (size_t k = 0; k < 3; ++k) {
      const Box& box = result.boxes[k];
      EXPECT_EQ(box.class_index, kExpected[k].class_index);
      EXPECT_EQ(box.label, GetParam().label_count > 0 ? "label " + std::to_string(box.class_index) : "");
      EXPECT_NEAR(box.score, kExpected[k].score, 1e-6f);
      EXPECT_NEAR(box.left * kYoloWidth, kExpected[k].left, 1e-4f);
      EXPECT_NEAR(box.top * kYoloHeight, kExpected[k].top, 1e-4f);
      EXPECT_NEAR(box.right * kYoloWidth, kExpected[k].right, 1e-4f);
      EXPECT_NEAR(box.bottom * kYoloHeight, kExpected[k].bottom, 1e-4f);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Heads, Yolo, ::testing::ValuesIn(kYoloCases));

TEST_P(Yolo, BoxesComeOutOnceAClass) {
  const auto results = Seen(kYoloHeight, kYoloWidth, {Rows().head()}, Options());
  ASSERT_TRUE(results.ok()) << results.status().message();
  ASSERT_EQ(results->size(), 1u);
  ExpectBoxes(results->at(0));
  const bool is_by_cell = GetParam().layout == Layout::kYoloCells;
  EXPECT_THAT(results->at(0).group.reason, HasSubstr(is_by_cell                 ? "relative to the cells"
                                                     : GetParam().are_fractions ? "fractions of the picture"
                                                                                : "pixels of the input"));
  EXPECT_TRUE(Draw(results->at(0)).ok());
}

TEST_P(Yolo, BoxesComeOutWhenTheLayoutIsAskedFor) {
  const auto results = Seen(kYoloHeight, kYoloWidth, {Rows().head()}, ShownAs(Meaning::kBoxes, GetParam().layout));
  ASSERT_TRUE(results.ok()) << results.status().message();
  EXPECT_EQ(results->at(0).boxes.size(), 3u);
}

TEST_P(Yolo, BoxesComeOutInC) {
  const Head head = Rows().head();
  OwnedGraph graph;
  ASSERT_FINE(hearth_graph_create("head", graph.out()));
  const int32_t picture[] = {1, kYoloHeight, kYoloWidth, 3};
  hearth_graph_input(graph, "picture", picture, 4);
  const int32_t in = hearth_graph_input(graph, "in", head.shape.data(), head.shape.size());
  hearth_graph_output(graph, hearth_graph_unary(graph, "copy", in), "head");
  OwnedModel model;
  ASSERT_FINE(hearth_graph_build(graph, model.out()));
  OwnedOptions options;
  SetCpu(options);
  OwnedSession session;
  ASSERT_FINE(hearth_session_create(model, options, session.out()));
  const std::vector<float> pixels(size_t{kYoloHeight} * kYoloWidth * 3);
  ASSERT_FINE(hearth_session_set_input(session, 0, pixels.data(), pixels.size() * sizeof(float)));
  ASSERT_FINE(hearth_session_set_input(session, 1, head.values.data(), head.values.size() * sizeof(float)));
  ASSERT_FINE(hearth_session_run(session));
  const char* const word = GetParam().layout == Layout::kYoloScores  ? "yolov8"
                           : GetParam().layout == Layout::kYoloCells ? "yolox"
                                                                     : "yolov5";
  Owned<hearth_results, hearth_results_destroy> results;
  ASSERT_FINE(hearth_session_interpret(session, word, 5, 0.5f, results.out()));
  EXPECT_STREQ(hearth_result_meaning(results, 0), "boxes");
  ASSERT_EQ(hearth_result_item_count(results, 0), 3u);
  EXPECT_EQ(hearth_result_class(results, 0, 0), 1);
  EXPECT_NEAR(hearth_result_score(results, 0, 0), 0.8f, 1e-6f);
  size_t count = 0;
  const float* place = hearth_result_place(results, 0, 0, &count);
  ASSERT_EQ(count, 4u);
  EXPECT_NEAR(place[0] * kYoloWidth, 45, 1e-4f);
  EXPECT_NEAR(place[3] * kYoloHeight, 28, 1e-4f);
}

TEST_P(Yolo, NumbersThatAreNoScoresAreNotSureUntilAskedFor) {
  YoloRows rows = Rows();
  for (size_t row = 0; row < kYoloRowCount; ++row) rows.at(row, 4) = -8 + static_cast<float>(row % 7);  // logits
  const auto results = Seen(kYoloHeight, kYoloWidth, {rows.head()}, Options());
  ASSERT_TRUE(results.ok()) << results.status().message();
  EXPECT_EQ(results->at(0).group.meaning, Meaning::kNone);
  EXPECT_THAT(results->at(0).group.reason, AllOf(StartsWith("not sure"), HasSubstr("--show yolov5")));
  EXPECT_TRUE(results->at(0).boxes.empty());
  const auto asked = Seen(kYoloHeight, kYoloWidth, {rows.head()}, ShownAs(Meaning::kBoxes, GetParam().layout));
  ASSERT_TRUE(asked.ok());
  EXPECT_EQ(asked->at(0).group.meaning, Meaning::kBoxes);
  for (const Box& box : asked->at(0).boxes) EXPECT_TRUE(box.score >= 0 && box.score <= 1) << box.score;
}

TEST(YoloHeads, WhoseShapeLeavesTheKindOpenAreNotSure) {
  const YoloCase yolo{"v8 without labels", Layout::kYoloScores, 1};
  const Head head = YoloRows(yolo).head();
  const auto results = Seen(kYoloHeight, kYoloWidth, {head});
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results->at(0).group.meaning, Meaning::kNone);
  EXPECT_THAT(results->at(0).group.reason,
              AllOf(StartsWith("not sure"), HasSubstr("--show yolov8"), HasSubstr("--show yolox")));
  const auto asked = Seen(kYoloHeight, kYoloWidth, {head}, ShownAs(Meaning::kBoxes));
  ASSERT_TRUE(asked.ok());
  EXPECT_EQ(asked->at(0).group.meaning, Meaning::kBoxes);
}

// The scores of a detector whose boxes are an output of their own, or of a line of text: softmax of 38 letters.
TEST(YoloHeads, AreNotSeenInScoresThatLieNearNoCells) {
  std::vector<float> scores(size_t{38} * kYoloRowCount, 0.002f);
  for (size_t row = 0; row < kYoloRowCount; ++row) scores[row * 7 % 38 * kYoloRowCount + row] = 0.9f;
  const Head head{{1, 38, static_cast<int32_t>(kYoloRowCount)}, scores};
  const auto results = Seen(kYoloHeight, kYoloWidth, {head});
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results->at(0).group.meaning, Meaning::kNone) << results->at(0).group.reason;
  const Head boxes{{1, static_cast<int32_t>(kYoloRowCount), 4}, std::vector<float>(4 * kYoloRowCount, 9), "boxes"};
  const auto beside = Seen(kYoloHeight, kYoloWidth, {boxes, head});
  ASSERT_TRUE(beside.ok());
  for (const Interpretation& result : *beside) EXPECT_NE(result.group.meaning, Meaning::kBoxes) << result.group.reason;
}

TEST(YoloHeads, WithASizeSlightlyBelow0StayWhatTheUserSays) {
  const YoloCase yolo{"v5", Layout::kYoloObjectness, 1};
  YoloRows rows(yolo);
  rows.at(3, 2) = -0.2f;
  const auto asked = Seen(kYoloHeight, kYoloWidth, {rows.head()}, ShownAs(Meaning::kBoxes, Layout::kYoloObjectness));
  ASSERT_TRUE(asked.ok());
  EXPECT_EQ(asked->at(0).group.layout, Layout::kYoloObjectness);
}

TEST_P(Yolo, OneWildCellChangesNoOtherBox) {
  for (const float wild : {1e30f, -1e30f, INFINITY, NAN}) {
    YoloRows rows = Rows();
    for (size_t n = 0; n < rows.numbers(); ++n) rows.at(5, n) = wild;
    const auto results = Seen(kYoloHeight, kYoloWidth, {rows.head()}, Options());
    ASSERT_TRUE(results.ok()) << results.status().message();
    ExpectBoxes(results->at(0));
  }
}

TEST(YoloHeads, NameOnlyTheWordsThatTheyTake) {
  const Head head{{1, 38, static_cast<int32_t>(kYoloRowCount)}, std::vector<float>(38 * kYoloRowCount, 0.5f)};
  const auto results = Seen(kYoloHeight, kYoloWidth, {head});
  ASSERT_TRUE(results.ok());
  EXPECT_THAT(results->at(0).group.reason, AllOf(HasSubstr("--show yolov8"), Not(HasSubstr("yolov10"))));
}

TEST(YoloHeads, OfOtherPicturesThanTheModelsAreNoBoxesUntilAskedFor) {
  const Head head{{1, 9, 130}, std::vector<float>(9 * 130, 0.25f)};  // kYoloRowCount is 126
  const auto results = Seen(kYoloHeight, kYoloWidth, {head});
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results->at(0).group.meaning, Meaning::kNone);
  EXPECT_EQ(Seen(kYoloHeight, kYoloWidth, {head}, ShownAs(Meaning::kBoxes, Layout::kYoloScores))->at(0).group.meaning,
            Meaning::kBoxes);
  EXPECT_THAT(Seen(kYoloHeight, kYoloWidth, {head}, ShownAs(Meaning::kBoxes, Layout::kYoloCells)).status().message(),
              HasSubstr("yolox: no output of this model has a form"));
}

TEST(YoloHeads, CoefficientsOfMasksAreNoClasses) {
  const YoloCase yolo{"v8 with masks", Layout::kYoloScores, 1, true};
  YoloRows rows(yolo);  // 4 classes are taken for 1 and 3 coefficients
  rows.Put(5, {60, 20, 30, 16}, 0, 0.8f);
  for (size_t row = 0; row < kYoloRowCount; ++row) rows.at(row, 6) = -3;
  const auto results =
      Seen(kYoloHeight, kYoloWidth, {rows.head(), {{1, 16, 24, 3}, std::vector<float>(16 * 24 * 3, -1), "masks"}});
  ASSERT_TRUE(results.ok());
  ASSERT_EQ(results->size(), 1u);
  EXPECT_EQ(results->at(0).group.meaning, Meaning::kBoxes) << results->at(0).group.reason;
  ASSERT_EQ(results->at(0).boxes.size(), 1u);
  EXPECT_EQ(results->at(0).boxes[0].class_index, 0u);
}

TEST(YoloHeads, ThatListTheirBoxesAreBelievedOnlyInOrder) {
  std::vector<float> values(300 * 6);
  const float first[] = {24, 16, 72, 48, 0.9f, 17, 0, 0, 48, 32, 0.6f, 2, 1, 1, 5, 5, 0.1f, 0};
  std::ranges::copy(first, values.begin());
  const auto results = Seen(kYoloHeight, kYoloWidth, {{{1, 300, 6}, values}});
  ASSERT_TRUE(results.ok());
  ASSERT_EQ(results->at(0).boxes.size(), 2u) << results->at(0).group.reason;
  EXPECT_EQ(results->at(0).boxes[0].class_index, 17u);
  EXPECT_FLOAT_EQ(results->at(0).boxes[0].left, 0.25f);
  EXPECT_FLOAT_EQ(results->at(0).boxes[0].bottom, 0.75f);
  values[6 * 200 + 2] = values[6 * 200 + 3] = 1e30f;
  for (const size_t at : {0, 2, 6, 8, 12, 14}) values[at] /= kYoloWidth, values[at + 1] /= kYoloHeight;
  const auto beside_a_wild_one = Seen(kYoloHeight, kYoloWidth, {{{1, 300, 6}, values}});
  ASSERT_EQ(beside_a_wild_one->at(0).boxes.size(), 2u) << beside_a_wild_one->at(0).group.reason;
  EXPECT_FLOAT_EQ(beside_a_wild_one->at(0).boxes[0].left, 0.25f);
  values[5] = 2.5f;
  const auto doubtful = Seen(kYoloHeight, kYoloWidth, {{{1, 300, 6}, values}});
  EXPECT_THAT(doubtful->at(0).group.reason, StartsWith("not sure"));
}

TEST(YoloHeads, WithoutAFiniteNumberHaveNoBoxes) {
  const YoloCase yolo{"v8", Layout::kYoloScores, 1, true};
  YoloRows rows(yolo);
  for (const float bad : {NAN, INFINITY}) {
    for (size_t row = 0; row < kYoloRowCount; ++row) {
      for (size_t n = 0; n < 4; ++n) rows.at(row, n) = bad;
      rows.at(row, 4) = 1;
    }
    const auto results = Seen(kYoloHeight, kYoloWidth, {rows.head()});
    ASSERT_TRUE(results.ok());
    EXPECT_TRUE(results->at(0).boxes.empty());
  }
}

}  // namespace
}  // namespace hearth
