// Models of which only the largest scores are asked for, on every device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hearth/session.h"
#include "hearth/session_option.h"
#include "runtime/model/model_data.h"
#include "runtime/plans/plan_cache.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/device_names.h"
#include "tests/testing/on_device.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// y = max(x, 0)
std::vector<std::byte> Relu(const std::vector<int32_t>& shape, wire::TensorType type = wire::TensorType_FLOAT32) {
  TfliteWriter writer;
  const bool is_8_bit = type != wire::TensorType_FLOAT32;
  const WrittenQuantization grid = is_8_bit ? WrittenQuantization{{0.5f}, {3}} : WrittenQuantization{};
  const int32_t x = writer.AddTensor({"x", shape, type, grid}), y = writer.AddTensor({"y", shape, type, grid});
  writer.AddOperator(kRelu, {x}, {y});
  return writer.Finish({x}, {y});
}

Result<Model> TopOf(const std::vector<std::byte>& bytes, int32_t k) {
  return Model::FromMemory(bytes, "scores", {.top_k = k});
}

TEST(TopOutputs, OnlyRowsOfMoreScoresAreCutShort) {
  const std::pair<std::vector<int32_t>, size_t> cases[] = {
      {{1, 9}, 2}, {{9}, 2}, {{4, 9}, 2}, {{2, 1, 1, 9}, 2}, {{1, 3}, 1}, {{1, 2, 1, 9}, 1}, {{9, 1}, 1}};
  for (const auto& [shape, outputs] : cases) {
    const Result<Model> model = TopOf(Relu(shape), 3);
    ASSERT_TRUE(model.ok()) << model.status().message();
    ASSERT_EQ(model->outputs().size(), outputs) << Shape::FromSpan(shape).ToString();
    const TensorInfo& best = model->outputs()[0];
    EXPECT_EQ(best.name, "y");
    EXPECT_EQ(best.shape.back(), outputs == 2 ? 3 : shape.back());
    EXPECT_EQ(best.declared_shape, best.shape);
    if (outputs == 1) continue;
    EXPECT_EQ(model->outputs()[1].name, "y_indices");
    EXPECT_EQ(model->outputs()[1].dtype, "int32");
    EXPECT_EQ(model->outputs()[1].shape, best.shape);
  }
  EXPECT_EQ(TopOf(Relu({1, 9}), -1).status().code(), StatusCode::kInvalidArgument);
}

TEST(TopOutputs, AreDeclaredAsTheFileDeclaresTheScoresButForTheirNumber) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({.name = "x", .shape = {1, 9}, .shape_signature = {-1, 9}});
  const int32_t y = writer.AddTensor({.name = "y", .shape = {1, 9}, .shape_signature = {-1, 9}});
  writer.AddOperator(kRelu, {x}, {y});
  const Result<Model> model = TopOf(writer.Finish({x}, {y}), 2);
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->outputs().size(), 2u);
  for (const TensorInfo& output : model->outputs()) {
    EXPECT_THAT(output.shape, ElementsAre(1, 2));
    EXPECT_THAT(output.declared_shape, ElementsAre(-1, 2)) << output.name;
  }
}

TEST(TopOutputs, OfScoresWithAGridEachStayAsTheyAre) {
  TfliteWriter writer;
  const WrittenQuantization grids{.scales = {0.5f, 0.25f, 2, 1}, .zero_points = {0, 0, 0, 0}, .dimension = 1};
  const int32_t x = writer.AddTensor({"x", {1, 4}, wire::TensorType_INT8, grids});
  const int32_t y = writer.AddTensor({"y", {1, 4}, wire::TensorType_INT8, grids});
  writer.AddOperator(kReshape, {x, writer.AddIntegers({1, 4})}, {y});
  const Result<Model> model = TopOf(writer.Finish({x}, {y}), 2);
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->outputs().size(), 1u);
  EXPECT_THAT(model->outputs()[0].shape, ElementsAre(1, 4));
}

std::vector<std::string> NamesOf(const std::vector<TensorInfo>& tensors) {
  std::vector<std::string> names;
  for (const TensorInfo& tensor : tensors) names.push_back(tensor.name);
  return names;
}

TEST(TopOutputs, OfOneTensorThatIsListedTwiceAreOneSearchUnderItsName) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1, 9}}), y = writer.AddTensor({"y", {1, 9}});
  writer.AddOperator(kRelu, {x}, {y});
  const Result<Model> model = TopOf(writer.Finish({x}, {y, y}), 2);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_THAT(NamesOf(model->outputs()), ElementsAre("y", "y", "y_indices", "y_indices"));
  EXPECT_EQ(model->data().graph.nodes().size(), 2u);
}

TEST(TopOutputs, GiveTheirPlacesANameThatNoOutputOfTheModelHas) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1, 9}}), y = writer.AddTensor({"y", {1, 9}});
  const int32_t other = writer.AddTensor({"y_indices", {1, 9}});
  writer.AddOperator(kRelu, {x}, {y});
  writer.AddOperator(kNeg, {x}, {other});
  writer.AddSignature("serve", 0, {{"in", x}}, {{"a", y}, {"a_indices", other}});
  const Result<Model> model = TopOf(writer.Finish({x}, {y, other}), 2);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_THAT(NamesOf(model->outputs()), ElementsAre("y", "y_indices", "y_indices_2", "y_indices_indices"));
  EXPECT_EQ(model->outputs()[2].alias, "a_indices_2");
  EXPECT_EQ(model->outputs()[3].alias, "a_indices_indices");
}

TEST(TopOutputs, AreAnOptionOfASessionThatReadsTheModel) {
  SessionOptions options;
  ASSERT_TRUE(SetSessionOption(options, "top_k", "5").ok());
  EXPECT_EQ(options.model.top_k, 5);
  EXPECT_FALSE(SetSessionOption(options, "top_k", "-5").ok());
  EXPECT_TRUE(SetSessionOption(options, "top_k", "2147483647").ok()) << "what ModelOptions takes";
  EXPECT_FALSE(SetSessionOption(options, "top_k", "2147483648").ok());
  const Result<Model> model = TopOf(Relu({1, 9}), 0);
  ASSERT_TRUE(model.ok());
  EXPECT_THAT(Session::Create(*model, options).status().message(), HasSubstr("when the model is read"));
}

TEST(TopOutputs, HaveAPlanOfTheirOwn) {
  const DeviceInfo device;
  PlanRequest request{.model = std::string("m"), .device = &device};
  const Graph graph;
  request.graph = &graph;
  const CacheKey all = KeyOf(request);
  request.top_k = 5;
  EXPECT_NE(KeyOf(request).material(), all.material());
}

class TopOutputsOnDevice : public testing::SessionsOnDevice {};

TEST_P(TopOutputsOnDevice, AreTheLargestOfEachRowAndTheirPlaces) {
  const Result<Model> model = TopOf(Relu({2, 1001}), 3);
  ASSERT_TRUE(model.ok()) << model.status().message();
  Session session = Opened(*model);
  std::vector<float> scores(size_t{2} * 1001);
  for (size_t k = 0; k < scores.size(); ++k) scores[k] = static_cast<float>(k * 7919 % 997) / 1000;
  scores[700] = scores[5] = 2;  // of equal ones the first comes first
  scores[1001 + 1000] = 3;
  ASSERT_TRUE(session.SetInput<float>(0, scores).ok());
  ASSERT_TRUE(session.Run().ok());
  const std::span<const float> best = *session.output<float>(0);
  const std::span<const int32_t> places = *session.output<int32_t>(1);
  EXPECT_THAT(best, ElementsAre(2, 2, 0.996f, 3, 0.996f, best[5]));
  EXPECT_EQ(places[0], 5);
  EXPECT_EQ(places[1], 700);
  EXPECT_EQ(places[3], 1000);
  for (size_t k = 0; k < 6; ++k) EXPECT_EQ(scores[k / 3 * 1001 + static_cast<size_t>(places[k])], best[k]);
  // Whole texels of two rows of three.
  EXPECT_LE(session.report().transfers.to_host_bytes, 2u * 2 * 16);
}

TEST_P(TopOutputsOnDevice, OfQuantizedScoresKeepTheirGrid) {
  const Result<Model> model = TopOf(Relu({1, 40}, wire::TensorType_UINT8), 2);
  ASSERT_TRUE(model.ok()) << model.status().message();
  Session session = Opened(*model);
  EXPECT_THAT(session.outputs()[0].scales, ElementsAre(0.5f));
  std::vector<uint8_t> scores(40, 7);
  scores[13] = 200;
  scores[31] = 90;
  ASSERT_TRUE(session.SetInput<uint8_t>(0, scores).ok());
  ASSERT_TRUE(session.Run().ok());
  EXPECT_THAT(*session.output<uint8_t>(0), ElementsAre(200, 90));
  EXPECT_THAT(*session.output<int32_t>(1), ElementsAre(13, 31));
  ASSERT_TRUE(session.ResizeBatch(1).ok());
  EXPECT_EQ(session.outputs().size(), 2u) << "the same with other shapes";
}

TEST_P(TopOutputsOnDevice, OfABatchOfNoneAreEmpty) {
  for (const wire::TensorType type : {wire::TensorType_FLOAT32, wire::TensorType_UINT8}) {
    const Result<Model> model = TopOf(Relu({1, 9}, type), 3);
    ASSERT_TRUE(model.ok()) << model.status().message();
    Session session = Opened(*model);
    const Status resized = session.ResizeBatch(0);
    ASSERT_TRUE(resized.ok()) << resized.message();
    ASSERT_EQ(session.outputs().size(), 2u);
    for (const TensorInfo& output : session.outputs()) EXPECT_THAT(output.shape, ElementsAre(0, 3));
    ASSERT_TRUE(session.SetInput(0, {}).ok());
    ASSERT_TRUE(session.Run().ok());
    for (const size_t output : {0u, 1u}) EXPECT_TRUE(session.output(output).empty());
  }
}

TEST_P(TopOutputsOnDevice, OfOneTensorThatIsListedTwiceComeTwice) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1, 5}}), y = writer.AddTensor({"y", {1, 5}});
  writer.AddOperator(kRelu, {x}, {y});
  const Result<Model> model = TopOf(writer.Finish({x}, {y, y}), 2);
  ASSERT_TRUE(model.ok()) << model.status().message();
  Session session = Opened(*model);
  const float scores[] = {1, 5, 2, 7, 3};
  ASSERT_TRUE(session.SetInput<float>(0, scores).ok());
  ASSERT_TRUE(session.Run().ok());
  for (const size_t output : {0u, 1u}) EXPECT_THAT(*session.output<float>(output), ElementsAre(7, 5));
  for (const size_t output : {2u, 3u}) EXPECT_THAT(*session.output<int32_t>(output), ElementsAre(3, 1));
}

TEST_P(TopOutputsOnDevice, RefuseAShapeThatMakesOtherOutputs) {
  const Result<Model> model = TopOf(Relu({1, 40}), 2);
  ASSERT_TRUE(model.ok()) << model.status().message();
  Session session = Opened(*model);
  ASSERT_TRUE(session.Resize({{"x", {1, 9}}}).ok());
  for (const std::vector<int32_t>& shape : {std::vector{1, 2}, {1, 1}}) {
    const Status refused = session.Resize({{"x", shape}});
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(refused.message(), HasSubstr("would give 1 outputs instead of 2"));
    EXPECT_EQ(session.outputs()[0].shape, (std::vector{1, 2}));
    EXPECT_EQ(session.inputs()[0].shape, (std::vector{1, 9}));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, TopOutputsOnDevice, ::testing::ValuesIn(testing::DeviceNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hearth
