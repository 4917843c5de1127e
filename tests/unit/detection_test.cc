// Detection post-processing by hand-computed boxes, and its options in the file.
#include <flatbuffers/flexbuffers.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "core/graph/evaluate.h"
#include "frontends/tflite/reader.h"
#include "tests/testing/one_host_node.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

// Four boxes of height and width 2 with centers (1,1), (1,1.2), (5,5), (9,9): the second overlaps the first by
// 3.6 / 4.4. Their encodings are zero, so that the anchors are the boxes.
struct Problem {
  DetectionPostProcess op;
  std::vector<double> encodings = std::vector<double>(16, 0.0);
  std::vector<double> scores;  // 4 boxes of `columns`
  int columns = 2;
};

Problem TwoClasses() {
  Problem problem;
  problem.op = {.max_detections = 3, .num_classes = 2, .score_threshold = 0.2f, .iou_threshold = 0.5f};
  problem.scores = {0.9, 0.3, 0.8, 0.7, 0.1, 0.6, 0.15, 0.1};
  return problem;
}

std::vector<ReferenceTensor> Answers(const DetectionPostProcess& op, const std::vector<ReferenceTensor>& inputs) {
  Graph graph;
  Node node{.op = op, .name = "post"};
  for (const ReferenceTensor& input : inputs) {
    graph.inputs.push_back(graph.AddValue({.name = "in", .desc = {.shape = input.shape}}));
  }
  node.inputs = graph.inputs;
  for (int k = 0; k < 4; ++k) node.outputs.push_back(graph.AddValue({.name = "out"}));
  graph.outputs = node.outputs;
  graph.AddNode(std::move(node));
  const Status inferred = InferShapes(graph);
  EXPECT_TRUE(inferred.ok()) << inferred.message();
  const auto outputs = EvaluateGraph(graph, inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  return *outputs;
}

std::vector<std::vector<double>> Detect(const Problem& problem) {
  const std::vector<ReferenceTensor> inputs = {{{1, 4, 4}, problem.encodings},
                                               {{1, 4, problem.columns}, problem.scores},
                                               {{4, 4}, {1, 1, 2, 2, 1, 1.2f, 2, 2, 5, 5, 2, 2, 9, 9, 2, 2}}};
  const auto outputs = Answers(problem.op, inputs);
  std::vector<std::vector<double>> values;
  for (const ReferenceTensor& output : outputs) values.push_back(output.values);
  return values;
}

std::vector<double> AsDoubles(std::initializer_list<float> numbers) {
  return {numbers.begin(), numbers.end()};
}

TEST(DetectionPostProcess, FastSuppressionJudgesEachBoxByItsBestClass) {
  const auto outputs = Detect(TwoClasses());
  // Box 1 is covered by box 0, box 3 is below the threshold; the third row stays empty.
  EXPECT_THAT(outputs[0], ElementsAre(0, 0, 2, 2, 4, 4, 6, 6, 0, 0, 0, 0));
  EXPECT_THAT(outputs[1], ElementsAre(0, 1, 0));
  EXPECT_THAT(outputs[2], ElementsAreArray(AsDoubles({0.9f, 0.6f, 0.0f})));
  EXPECT_THAT(outputs[3], ElementsAre(2));
}

TEST(DetectionPostProcess, RegularSuppressionTakesTheClassesOneByOne) {
  Problem problem = TwoClasses();
  problem.op.use_regular_nms = true;
  const auto outputs = Detect(problem);
  // Class 0: box 0 (0.9) covers box 1. Class 1: box 1 (0.7) covers box 0, and box 2 (0.6).
  EXPECT_THAT(outputs[1], ElementsAre(0, 1, 1));
  EXPECT_THAT(outputs[2], ElementsAreArray(AsDoubles({0.9f, 0.7f, 0.6f})));
  EXPECT_EQ(outputs[0][5], static_cast<double>(1.2f - 1.0f));
  EXPECT_THAT(outputs[3], ElementsAre(3));
}

TEST(DetectionPostProcess, RegularSuppressionKeepsTheBestOfAllAndAtMostSoManyOfAClass) {
  Problem problem = TwoClasses();
  problem.op.use_regular_nms = true;
  problem.op.detections_per_class = 1;
  EXPECT_THAT(Detect(problem)[2], ElementsAreArray(AsDoubles({0.9f, 0.7f, 0.0f})));
  problem.op.detections_per_class = 100;
  problem.op.max_detections = 2;
  EXPECT_THAT(Detect(problem)[2], ElementsAreArray(AsDoubles({0.9f, 0.7f})));
}

TEST(DetectionPostProcess, ASeveralClassDetectionListsThemBestFirst) {
  Problem problem = TwoClasses();
  problem.op.max_classes_per_detection = 3;  // one more than there are classes: rows left empty
  const auto outputs = Detect(problem);
  EXPECT_THAT(outputs[1], ElementsAre(0, 1, 0, 1, 0, 0, 0, 0, 0));
  EXPECT_THAT(outputs[2], ElementsAreArray(AsDoubles({0.9f, 0.3f, 0, 0.6f, 0.1f, 0, 0, 0, 0})));
  EXPECT_THAT(outputs[3], ElementsAre(2));
}

TEST(DetectionPostProcess, AClassWithoutANumberIsListedBehindTheOthers) {
  Problem problem = TwoClasses();
  problem.op.max_classes_per_detection = 2;
  problem.op.num_classes = problem.columns = 4;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  problem.scores = {0.2, kNan, 0.5, 0.4, 0.1, 0.3, kNan, 0.9, 0.25, kNan, kNan, 0, 0.1, 0.1, 0.1, 0.1};
  EXPECT_THAT(Detect(problem)[1], ElementsAre(3, 1, 0, 3, 0, 0));
}

TEST(DetectionPostProcess, ABackgroundClassIsSkipped) {
  Problem problem = TwoClasses();
  problem.columns = 3;
  problem.scores = {1, 0.9, 0.3, 1, 0.8, 0.7, 1, 0.1, 0.6, 1, 0.15, 0.1};
  EXPECT_THAT(Detect(problem)[2], ElementsAreArray(AsDoubles({0.9f, 0.6f, 0.0f})));
  EXPECT_THAT(Detect(problem)[1], ElementsAre(0, 1, 0));
}

TEST(DetectionPostProcess, EncodingsMoveAndScaleTheAnchors) {
  Problem problem = TwoClasses();
  problem.op.y_scale = problem.op.x_scale = 10;
  problem.op.h_scale = problem.op.w_scale = 5;
  problem.encodings[0] = 10;  // one anchor height down
  problem.encodings[3] = 5;   // e times as wide
  const auto outputs = Detect(problem);
  EXPECT_EQ(outputs[0][0], 2.0);
  EXPECT_EQ(outputs[0][2], 4.0);
  EXPECT_EQ(outputs[0][3], static_cast<double>(1.0f + 2.7182817f));
}

TEST(DetectionPostProcess, EqualScoresKeepTheOrderOfTheirBoxes) {
  Problem problem = TwoClasses();
  problem.scores = {0.5, 0, 0.1, 0, 0.5, 0, 0.5, 0};
  EXPECT_THAT(Detect(problem)[0], ElementsAre(0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10));
}

// Many boxes that overlap, with scores of few levels, as 8-bit models give them: a sort of all candidates is the rule.
TEST(DetectionPostProcess, AmongManyEqualScoresTheFirstBoxesAreChosen) {
  constexpr int kBoxes = 400, kLevels = 7;
  std::mt19937 random(11);
  std::vector<ReferenceTensor> inputs = {
      {{1, kBoxes, 4}, std::vector<double>(size_t{kBoxes} * 4)}, {{1, kBoxes, 1}, {}}, {{kBoxes, 4}, {}}};
  for (int box = 0; box < kBoxes; ++box) {
    inputs[1].values.push_back(static_cast<double>(random() % kLevels) / kLevels);
    inputs[2].values.insert(inputs[2].values.end(), {1.0 + box / 4, 1, 1, 1});  // four at each place
  }
  const auto outputs = Answers({.max_detections = 60, .score_threshold = 0.2f, .iou_threshold = 0.5f}, inputs);

  std::vector<int> order(kBoxes);
  std::iota(order.begin(), order.end(), 0);
  const std::vector<double>& scores = inputs[1].values;
  std::ranges::stable_sort(order, [&](int a, int b) { return scores[a] > scores[b]; });
  std::vector<double> centers;
  for (int box : order) {
    const double center = 1.0 + box / 4;
    if (scores[box] >= 0.2 && std::ranges::count(centers, center) == 0) centers.push_back(center);
  }
  ASSERT_GT(centers.size(), 60u);
  for (size_t k = 0; k < 60; ++k) EXPECT_EQ(outputs[0].values[k * 4], centers[k] - 0.5) << "detection " << k;
}

TEST(DetectionPostProcess, OnTheCpuGivesTheReferencesBits) {
  for (const bool regular : {false, true}) {
    for (const int background : {0, 1}) {
      for (const int classes : {1, 6, 90}) {
        testing::OneHostNode one;
        const DetectionPostProcess op{.max_detections = 20,
                                      .max_classes_per_detection = 2,
                                      .detections_per_class = 5,
                                      .num_classes = classes,
                                      .use_regular_nms = regular,
                                      .score_threshold = 0.1f,
                                      .iou_threshold = 0.3f};
        const ValueId encodings = one.Input({1, 300, 4}), scores = one.Input({1, 300, classes + background});
        one.Add(op, {encodings, scores, one.Constant({300, 4})},
                {DType::kFloat32, DType::kFloat32, DType::kFloat32, DType::kFloat32});
        const int numbers = 300 * (classes + background);
        for (int k = 0; k < numbers; ++k) one.Set(1, k, static_cast<float>(k * 37 % 11) / 11.0f);
        one.Set(1, 0, std::numeric_limits<float>::quiet_NaN());
        one.Set(1, numbers / 2, std::numeric_limits<float>::quiet_NaN());
        testing::ExpectAsReference(std::move(one), "detection", 0.0);
      }
    }
  }
}

// ---- The operator in a file ----

std::vector<uint8_t> SuppressionOptions(bool with_thresholds) {
  flexbuffers::Builder builder;
  builder.Map([&] {
    builder.Int("max_detections", 10);
    builder.Int("max_classes_per_detection", 1);
    builder.Int("num_classes", 2);
    builder.Bool("use_regular_nms", true);
    if (with_thresholds) builder.Float("nms_score_threshold", 0.25f);
    builder.Float("nms_iou_threshold", 0.5f);
    for (const char* scale : {"y_scale", "x_scale"}) builder.Float(scale, 10.0f);
    for (const char* scale : {"h_scale", "w_scale"}) builder.Float(scale, 5.0f);
  });
  builder.Finish();
  return builder.GetBuffer();
}

Result<Graph> ReadWithOptions(const std::vector<uint8_t>& options) {
  TfliteWriter writer;
  const std::vector<int32_t> inputs = {writer.AddTensor({"boxes", {1, 4, 4}}), writer.AddTensor({"scores", {1, 4, 3}}),
                                       writer.AddTensor({"anchors", {4, 4}})};
  std::vector<int32_t> outputs;
  for (int k = 0; k < 4; ++k) outputs.push_back(writer.AddTensor({"out", {}}));
  writer.AddCustomOperator("TFLite_Detection_PostProcess", inputs, outputs, options);
  const std::vector<std::byte> bytes = writer.Finish(inputs, outputs);
  return ReadTfliteModel(bytes);
}

TEST(DetectionPostProcess, IsReadFromItsFlexbufferOptions) {
  Result<Graph> graph = ReadWithOptions(SuppressionOptions(true));
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const DetectionPostProcess expected{.max_detections = 10,
                                      .num_classes = 2,
                                      .use_regular_nms = true,
                                      .score_threshold = 0.25f,
                                      .iou_threshold = 0.5f,
                                      .y_scale = 10,
                                      .x_scale = 10,
                                      .h_scale = 5,
                                      .w_scale = 5};
  EXPECT_EQ(graph->nodes().at(0).op, Op(expected));
  ASSERT_TRUE(InferShapes(*graph).ok());
  EXPECT_EQ(graph->value(graph->outputs[0]).desc.shape, Shape({1, 10, 4}));
}

TEST(DetectionPostProcess, WithoutAnOptionIsRefusedByItsName) {
  EXPECT_THAT(ReadWithOptions(SuppressionOptions(false)).status().message(),
              HasSubstr("'nms_score_threshold' is missing"));
}

TEST(DetectionPostProcess, WithDamagedOptionsIsRefusedOrReadAsOtherNumbers) {
  const std::vector<uint8_t> options = SuppressionOptions(true);
  for (size_t length = 0; length < options.size(); ++length) {
    const std::vector<uint8_t> cut(options.begin(), options.begin() + static_cast<std::ptrdiff_t>(length));
    const Result<Graph> graph = ReadWithOptions(cut);
    EXPECT_TRUE(graph.ok() || graph.status().code() == StatusCode::kMalformedInput) << "cut to " << length;
  }
  for (size_t at = 0; at < options.size(); ++at) {
    for (const uint8_t flip : {0x01, 0x04, 0x80, 0xff}) {
      std::vector<uint8_t> damaged = options;
      damaged[at] ^= flip;
      const Result<Graph> graph = ReadWithOptions(damaged);
      EXPECT_TRUE(!graph.ok() || graph->Validate().ok());
    }
  }
}

}  // namespace
}  // namespace hearth
