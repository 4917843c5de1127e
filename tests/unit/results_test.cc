// What outputs mean, as programs in C++ and C learn it.
#include "hearth/results.h"

#include <flatbuffers/flexbuffers.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>

#include "tests/testing/built_models.h"
#include "tests/testing/c_handles.h"
#include "tests/testing/onnx_writer.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SessionOptions OnTheCpu() {
  SessionOptions options;
  options.device = "cpu";
  options.use_cache = false;
  return options;
}

// One anchor with its centre at (y, x) = (0.5, 0.25), 0.4 high and 0.2 wide, and two classes.
std::vector<std::byte> Detector(const std::array<size_t, 4>& order) {
  flexbuffers::Builder options;
  options.Map([&] {
    options.Int("max_detections", 3);
    options.Int("max_classes_per_detection", 1);
    options.Int("num_classes", 2);
    options.Float("nms_score_threshold", 0.1f);
    options.Float("nms_iou_threshold", 0.5f);
    for (const char* scale : {"y_scale", "x_scale", "h_scale", "w_scale"}) options.Float(scale, 1.0f);
  });
  options.Finish();
  TfliteWriter writer;
  const std::vector<int32_t> inputs = {writer.AddTensor({"boxes", {1, 1, 4}}), writer.AddTensor({"scores", {1, 1, 2}}),
                                       writer.AddTensor({"anchors", {1, 4}})};
  std::vector<int32_t> outputs, listed;
  for (int k = 0; k < 4; ++k) outputs.push_back(writer.AddTensor({"out" + std::to_string(k), {}}));
  writer.AddCustomOperator("TFLite_Detection_PostProcess", inputs, outputs, options.GetBuffer());
  for (const size_t k : order) listed.push_back(outputs[k]);
  return writer.Finish(inputs, listed);
}
constexpr std::array<float, 4> kNoMove = {0, 0, 0, 0}, kAnchor = {0.5f, 0.25f, 0.4f, 0.2f};
constexpr std::array<float, 2> kScores = {0.25f, 0.75f};

TEST(Results, DetectionsAreRightUnderAllOrdersOfOutputs) {
  std::array<size_t, 4> order = {0, 1, 2, 3};
  do {
    const std::vector<std::byte> bytes = Detector(order);
    const auto model = Model::FromMemory(bytes);
    ASSERT_TRUE(model.ok()) << model.status().message();
    auto session = Session::Create(*model, OnTheCpu());
    ASSERT_TRUE(session.ok()) << session.status().message();
    ASSERT_TRUE(session->SetInput<float>(0, kNoMove).ok());
    ASSERT_TRUE(session->SetInput<float>(1, kScores).ok());
    ASSERT_TRUE(session->SetInput<float>(2, kAnchor).ok());
    ASSERT_TRUE(session->Run().ok());
    const auto results = Interpret(*session, {.labels = {"cat", "dog"}});
    ASSERT_TRUE(results.ok()) << results.status().message();
    ASSERT_EQ(results->size(), 1u);
    const Interpretation& result = results->front();
    EXPECT_EQ(result.group.meaning, Meaning::kBoxes);
    ASSERT_EQ(result.boxes.size(), 1u);
    const Box& box = result.boxes[0];
    EXPECT_EQ(box.label, "dog");
    EXPECT_EQ(box.score, 0.75f);
    EXPECT_FLOAT_EQ(box.left, 0.15f);
    EXPECT_FLOAT_EQ(box.top, 0.3f);
    EXPECT_FLOAT_EQ(box.right, 0.35f);
    EXPECT_FLOAT_EQ(box.bottom, 0.7f);
  } while (std::ranges::next_permutation(order).found);
}

TEST(Results, DetectionsAreRightInCUnderAllOrdersOfOutputs) {
  std::array<size_t, 4> order = {0, 1, 2, 3};
  OwnedOptions options;
  SetCpu(options);
  do {
    const std::vector<std::byte> bytes = Detector(order);
    OwnedModel model;
    ASSERT_FINE(hearth_model_from_memory(bytes.data(), bytes.size(), nullptr, model.out()));
    OwnedSession session;
    ASSERT_FINE(hearth_session_create(model, options, session.out()));
    Owned<hearth_results, hearth_results_destroy> results;
    EXPECT_EQ(hearth_session_interpret(session, nullptr, 5, 0.5f, results.out()), HEARTH_INVALID_ARGUMENT);
    EXPECT_THAT(hearth_last_error(), HasSubstr("has not run yet"));
    ASSERT_FINE(hearth_session_set_input(session, 0, kNoMove.data(), sizeof kNoMove));
    ASSERT_FINE(hearth_session_set_input(session, 1, kScores.data(), sizeof kScores));
    ASSERT_FINE(hearth_session_set_input(session, 2, kAnchor.data(), sizeof kAnchor));
    ASSERT_FINE(hearth_session_run(session));
    ASSERT_FINE(hearth_session_interpret(session, nullptr, 5, 0.5f, results.out()));
    ASSERT_EQ(hearth_results_count(results), 1u);
    EXPECT_STREQ(hearth_result_meaning(results, 0), "boxes");
    EXPECT_THAT(hearth_result_reason(results, 0), HasSubstr("TFLite_Detection_PostProcess"));
    EXPECT_EQ(hearth_result_output(results, 0), std::ranges::find(order, size_t{0}) - order.begin());
    ASSERT_EQ(hearth_result_item_count(results, 0), 1u);
    EXPECT_EQ(hearth_result_class(results, 0, 0), 1);
    EXPECT_STREQ(hearth_result_label(results, 0, 0), "");
    EXPECT_EQ(hearth_result_score(results, 0, 0), 0.75f);
    size_t count = 0;
    const float* place = hearth_result_place(results, 0, 0, &count);
    ASSERT_EQ(count, 4u);
    EXPECT_FLOAT_EQ(place[0], 0.15f);
    EXPECT_FLOAT_EQ(place[3], 0.7f);
    EXPECT_EQ(hearth_result_map(results, 0, nullptr, nullptr), nullptr);
  } while (std::ranges::next_permutation(order).found);
}

TEST(Results, InCWrongPlacesAreNothing) {
  EXPECT_EQ(hearth_results_count(nullptr), 0u);
  EXPECT_EQ(hearth_result_meaning(nullptr, 0), nullptr);
  EXPECT_EQ(hearth_result_reason(nullptr, 0), nullptr);
  EXPECT_EQ(hearth_result_output(nullptr, 0), -1);
  EXPECT_EQ(hearth_result_item_count(nullptr, 0), 0u);
  EXPECT_EQ(hearth_result_class(nullptr, 0, 0), -1);
  EXPECT_EQ(hearth_result_label(nullptr, 0, 0), nullptr);
  EXPECT_EQ(hearth_result_score(nullptr, 0, 0), 0);
  size_t count = 7;
  int32_t height = 7, width = 7;
  EXPECT_EQ(hearth_result_place(nullptr, 0, 0, &count), nullptr);
  EXPECT_EQ(hearth_result_map(nullptr, 0, &height, &width), nullptr);
  EXPECT_THAT((std::array<int64_t, 3>{static_cast<int64_t>(count), height, width}), ElementsAre(0, 0, 0));
  Owned<hearth_results, hearth_results_destroy> results;
  EXPECT_EQ(hearth_session_interpret(nullptr, nullptr, 5, 0.5f, results.out()), HEARTH_INVALID_ARGUMENT);
  OwnedSession session;
  OpenNegatedSum(session);
  const float x[] = {1, 2, 3, 4};
  ASSERT_FINE(hearth_session_set_input(session, 0, x, sizeof x));
  ASSERT_FINE(hearth_session_run(session));
  EXPECT_EQ(hearth_session_interpret(session, "cats", 5, 0.5f, results.out()), HEARTH_INVALID_ARGUMENT);
  EXPECT_THAT(hearth_last_error(), HasSubstr("'cats' is no meaning"));
  ASSERT_FINE(hearth_session_interpret(session, "classes", 1, 0.5f, results.out()));
  EXPECT_EQ(hearth_result_item_count(results, 0), 1u);
  EXPECT_EQ(hearth_result_label(results, 0, 1), nullptr);
  EXPECT_EQ(hearth_result_meaning(results, 1), nullptr);
}

TEST(Results, OfHeatMapsWithoutElementsAreNone) {
  GraphBuilder builder("empty");
  builder.Output(builder.Unary("neg", builder.Input("x", {1, 0, 5, 2})), "heatmap");
  builder.Output(builder.Unary("neg", builder.Input("z", {1, 0, 5, 4})), "offset");
  const auto model = std::move(builder).Build();
  ASSERT_TRUE(model.ok()) << model.status().message();
  auto session = Session::Create(*model, OnTheCpu());
  ASSERT_TRUE(session.ok()) << session.status().message();
  ASSERT_TRUE(session->SetInput(0, {}).ok() && session->SetInput(1, {}).ok() && session->Run().ok());
  const auto results = Interpret(*session);
  ASSERT_TRUE(results.ok());
  for (const Interpretation& result : *results) EXPECT_TRUE(result.points.points.empty());
}

class ASession : public ::testing::Test {
 protected:
  // y = -x of `shape`, run on `first` and then zeros.
  Session RunOn(const std::vector<int32_t>& shape, const std::vector<float>& first) {
    model_.emplace(testing::NegationModel(shape));
    Session session = std::move(Session::Create(*model_, OnTheCpu())).value();
    std::vector<float> x(session.inputs()[0].size_bytes / sizeof(float));
    std::ranges::copy(first, x.begin());
    EXPECT_TRUE(session.SetInput<float>(0, x).ok() && session.Run().ok());
    return session;
  }

  std::optional<Model> model_;
};

TEST_F(ASession, GivesItsHighestScoresAndAPictureOfThem) {
  const Session session = RunOn({1, 4}, {-1, -3, -2, 0});
  const auto results = Interpret(session, {.meaning = Meaning::kClasses, .labels = {"a", "b"}, .top = 2});
  ASSERT_TRUE(results.ok()) << results.status().message();
  const auto& classes = results->at(0).classes;
  ASSERT_EQ(classes.size(), 2u);
  EXPECT_EQ(classes[0].label, "b");
  EXPECT_EQ(classes[1].class_index, 2u);
  EXPECT_EQ(classes[1].label, "");
  const auto picture = Draw(results->at(0));
  ASSERT_TRUE(picture.ok()) << picture.status().message();
  EXPECT_EQ(picture->values.size(), static_cast<size_t>(picture->width) * picture->height * 3);
  EXPECT_GT(*std::ranges::max_element(picture->values), 200);
}

TEST_F(ASession, WhoseOutputCannotHaveTheMeaningIsAnError) {
  const Session session = RunOn({1, 4}, {});
  EXPECT_THAT(Interpret(session, {.meaning = Meaning::kMask}).status().message(),
              HasSubstr("meaning mask: no output of this model has a form"));
}

TEST_F(ASession, OfOtherShapesThanTheInterpretersIsAnError) {
  Session session = RunOn({1, 8, 8, 2}, {});
  const auto interpreter = Interpreter::Create(session.model());
  ASSERT_TRUE(interpreter.ok());
  EXPECT_EQ(interpreter->Interpret(session)->at(0).map.values.size(), 64u);
  ASSERT_TRUE(session.Resize({{"x", {1, 4, 4, 2}}}).ok());
  EXPECT_THAT(interpreter->Interpret(session).status().message(), HasSubstr("after a resize make another"));
}

TEST_F(ASession, OfPicturesWithChannelsFirstMeansTheSame) {
  constexpr int32_t kHeight = 6, kWidth = 8, kChannels = 3;
  std::vector<float> pixels(size_t{kHeight} * kWidth * kChannels), planes(pixels.size());
  for (size_t k = 0; k < pixels.size(); ++k) {
    pixels[k] = static_cast<float>(k * 37 % 29);
    planes[k % kChannels * kHeight * kWidth + k / kChannels] = pixels[k];
  }
  const auto expected = Interpret(RunOn({1, kHeight, kWidth, kChannels}, pixels));  // before its model goes
  const auto seen = Interpret(RunOn({1, kChannels, kHeight, kWidth}, planes));
  ASSERT_TRUE(expected.ok() && seen.ok());
  EXPECT_EQ(seen->at(0).group.meaning, Meaning::kClassMap);
  EXPECT_EQ(seen->at(0).group.reason, expected->at(0).group.reason);
  EXPECT_EQ(seen->at(0).map.values, expected->at(0).map.values);
  EXPECT_EQ(seen->at(0).infos[0].shape, (std::vector<int32_t>{1, kHeight, kWidth, kChannels}));
}

TEST_F(ASession, OfSeveralPicturesWithChannelsFirstKeepsThemApart) {
  std::vector<float> planes(size_t{2} * 3 * 4 * 5);
  for (size_t k = 0; k < planes.size(); ++k) planes[k] = static_cast<float>(k);
  const auto results = Interpret(RunOn({2, 3, 4, 5}, planes));
  ASSERT_TRUE(results.ok()) << results.status().message();
  const Interpretation& result = results->at(0);
  EXPECT_EQ(result.infos[0].shape, (std::vector<int32_t>{2, 4, 5, 3}));
  EXPECT_EQ(result.values[0][1], -20.0f) << "the first pixel's second channel";
  EXPECT_EQ(result.values[0][60], -60.0f) << "the second picture's first number";
}

// As SqueezeNet ends: [1, 1000, 1, 1].
TEST(Results, OfScoresWithChannelsFirstHaveTheLabelsOfTheirNumber) {
  OnnxGraph graph;
  graph.Input("x", {"1", "3", "32", "32"}).Output("y");
  graph.Floats("w", {1000, 3, 1, 1}, std::vector<float>(3000, 1.0f));
  graph.Node("Conv", {"x", "w"}, {"c"}).Node("GlobalAveragePool", {"c"}, {"p"});
  graph.Node("Softmax", {"p"}, {"y"}, {OnnxGraph::Integer("axis", 1)});
  const std::string file = OnnxFile(graph);
  const auto model = Model::FromMemory(std::as_bytes(std::span(file)));
  ASSERT_TRUE(model.ok()) << model.status().message();
  Session session = std::move(Session::Create(*model, OnTheCpu())).value();
  const std::vector<float> x(3 * 32 * 32);
  ASSERT_TRUE(session.SetInput<float>(0, x).ok() && session.Run().ok());
  const auto results = Interpret(session);
  ASSERT_TRUE(results.ok()) << results.status().message();
  ASSERT_FALSE(results->at(0).classes.empty());
  EXPECT_EQ(results->at(0).classes[0].label, "tench");
}

TEST_F(ASession, ThatHasNoSuchResultIsAnError) {
  const Session session = RunOn({1, 4}, {});
  const auto interpreter = Interpreter::Create(session.model());
  ASSERT_TRUE(interpreter.ok());
  EXPECT_THAT(interpreter->InterpretGroup(session, 1).status().message(), HasSubstr("there is no result 1, only 1"));
}

TEST_F(ASession, OfManyScoresIsDrawnWithAFewOfThem) {
  const Session session = RunOn({1, 5000}, {});
  const auto results = Interpret(session, {.meaning = Meaning::kClasses, .top = 5000});
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results->at(0).classes.size(), 5000u);
  const auto picture = Draw(results->at(0));
  ASSERT_TRUE(picture.ok());
  EXPECT_LT(picture->height, 5000);
}

TEST_F(ASession, IsNotDrawnOnAPictureOfAnotherSizeThanItSays) {
  const Session session = RunOn({1, 8, 8, 2}, {});
  const auto results = Interpret(session);
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(Draw(results->at(0), {4, 4, std::vector<uint8_t>(47)}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Draw(results->at(0), {-1, -4, std::vector<uint8_t>(12)}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(Draw(results->at(0), {4, 4, std::vector<uint8_t>(48)}).ok());
  EXPECT_EQ(Draw({}).status().code(), StatusCode::kInvalidArgument);
}

TEST(Results, WithoutTheirNumbersAreNotDrawn) {
  for (const Meaning meaning : {Meaning::kImage, Meaning::kMask, Meaning::kClassMap}) {
    Interpretation result;
    result.group.meaning = meaning;
    EXPECT_EQ(Draw(result).status().code(), StatusCode::kInvalidArgument) << MeaningName(meaning);
  }
}

}  // namespace
}  // namespace hearth
