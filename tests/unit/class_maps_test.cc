// Models of which only the best class of each pixel is asked for, on every device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>

#include "core/plan/key_fields.h"
#include "hearth/session.h"
#include "hearth/session_option.h"
#include "runtime/plans/plan_cache.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/device_names.h"
#include "tests/testing/on_device.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

const ModelOptions kMaps{.class_maps = true};

WrittenTensor Tensor(const std::string& name, const std::vector<int32_t>& shape, wire::TensorType type,
                     const std::vector<int32_t>& declared = {}) {
  const bool is_8_bit = type == wire::TensorType_UINT8 || type == wire::TensorType_INT8;
  return {.name = name,
          .shape = shape,
          .type = type,
          .quantization = is_8_bit ? WrittenQuantization{{0.5f}, {3}} : WrittenQuantization{},
          .shape_signature = declared};
}

// y = max(x, 0), or -x of plain integers.
std::vector<std::byte> OneOp(const std::vector<int32_t>& shape, wire::TensorType type = wire::TensorType_FLOAT32,
                             const std::vector<int32_t>& declared = {}) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor(Tensor("x", shape, type, declared));
  const int32_t y = writer.AddTensor(Tensor("y", shape, type, declared));
  writer.AddOperator(type == kInt ? kNeg : kRelu, {x}, {y});
  return writer.Finish({x}, {y});
}

// The same with sizes that the file leaves open, for which it has `placeholder`.
std::vector<std::byte> OpenOp(const std::vector<int32_t>& declared, const std::vector<int32_t>& placeholder) {
  return OneOp(placeholder, wire::TensorType_FLOAT32, declared);
}

TensorInfo FirstOutput(const std::vector<std::byte>& bytes, const std::vector<int32_t>& input_shape = {}) {
  ModelOptions options = kMaps;
  if (!input_shape.empty()) options.input_shapes["x"] = input_shape;
  const Result<Model> model = Model::FromMemory(bytes, "scores", options);
  EXPECT_TRUE(model.ok()) << model.status().message();
  return model.ok() ? model->outputs()[0] : TensorInfo();
}

TEST(ClassMaps, TakeThePlaceOfSeveralScoresForEachOfSeveralPixels) {
  for (const std::vector<int32_t>& shape : {std::vector{1, 3, 5, 21}, {2, 1, 2, 2}, {4, 7, 1, 300}}) {
    const TensorInfo map = FirstOutput(OneOp(shape));
    EXPECT_EQ(map.name, "y");
    EXPECT_EQ(map.dtype, "int32");
    EXPECT_EQ(map.shape, std::vector(shape.begin(), shape.end() - 1));
    EXPECT_EQ(map.declared_shape, map.shape);
    EXPECT_EQ(map.size_bytes, size_t{4} * shape[0] * shape[1] * shape[2]);
  }
  EXPECT_TRUE(FirstOutput(OneOp({1, 2, 2, 3}, wire::TensorType_UINT8)).scales.empty());
}

TEST(ClassMaps, RowsSingleChannelsAndIntegersStayAsTheyAre) {
  const std::vector<int32_t> shapes[] = {{9}, {4, 9}, {2, 1, 1, 9}, {1, 4, 4, 1}, {1, 4, 9}, {1, 2, 2, 2, 9}};
  for (const std::vector<int32_t>& shape : shapes) {
    EXPECT_EQ(FirstOutput(OneOp(shape)).shape, shape) << Shape::FromSpan(shape).ToString();
    EXPECT_EQ(FirstOutput(OneOp(shape)).dtype, "float32");
  }
  EXPECT_THAT(FirstOutput(OneOp({1, 2, 2, 3}, kInt)).shape, ElementsAre(1, 2, 2, 3));
  EXPECT_THAT(FirstOutput(OneOp({0, 2, 2, 3})).shape, ElementsAre(0, 2, 2, 3));
}

TEST(ClassMaps, AreOfOutputsThatHaveSeveralPixelsInTheFileWhateverTheirShapeIsNow) {
  for (const std::vector<int32_t>& shape : {std::vector{1, 1, 1, 3}, {1, 4, 5, 3}, {2, 1, 2, 3}}) {
    const TensorInfo open = FirstOutput(OpenOp({-1, -1, -1, 3}, {1, 1, 1, 3}), shape);
    EXPECT_EQ(open.dtype, "int32");
    EXPECT_EQ(open.shape, std::vector(shape.begin(), shape.end() - 1));
    EXPECT_THAT(open.declared_shape, ElementsAre(-1, -1, -1));
    const TensorInfo several = FirstOutput(OneOp({1, 2, 2, 3}), shape);
    EXPECT_EQ(several.dtype, "int32");
    EXPECT_EQ(several.shape, open.shape);
    EXPECT_THAT(several.declared_shape, ElementsAre(1, 2, 2)) << "as in the file";
    const TensorInfo one = FirstOutput(OneOp({1, 1, 1, 3}), shape);
    EXPECT_EQ(one.dtype, "float32");
    EXPECT_EQ(one.shape, shape);
  }
  EXPECT_EQ(FirstOutput(OpenOp({1, 1, -1, 3}, {1, 1, 1, 3})).dtype, "int32");
  EXPECT_EQ(FirstOutput(OpenOp({-1, 1, 1, 3}, {1, 1, 1, 3}), {4, 1, 1, 3}).dtype, "float32")
      << "only the batch is open";
}

TEST(ClassMaps, CountTheOperatorsScoresWhereTheFileDoesNot) {
  EXPECT_EQ(FirstOutput(OpenOp({-1, -1, -1, -1}, {1, 1, 1, 3})).dtype, "int32");
  EXPECT_EQ(FirstOutput(OpenOp({-1, -1, -1, -1}, {1, 4, 4, 1})).dtype, "float32") << "a mask stays a mask";
  TfliteWriter writer;
  const int32_t x = writer.AddTensor(Tensor("x", {1, 1, 1, 3}, wire::TensorType_FLOAT32, {1, -1, -1, 3}));
  const int32_t y = writer.AddTensor({"y", {}});
  writer.AddOperator(kRelu, {x}, {y});
  const TensorInfo undeclared = FirstOutput(writer.Finish({x}, {y}));
  EXPECT_EQ(undeclared.dtype, "int32");
  EXPECT_THAT(undeclared.shape, ElementsAre(1, 1, 1));
  EXPECT_TRUE(undeclared.declared_shape.empty());
}

TEST(ClassMaps, AreAnOptionOfASessionThatReadsTheModel) {
  SessionOptions options;
  ASSERT_TRUE(SetSessionOption(options, "class_maps", "1").ok());
  EXPECT_TRUE(options.model.class_maps);
  EXPECT_THAT(SetSessionOption(options, "class_maps", "21").message(), HasSubstr("'21' is neither on nor off"));
  EXPECT_TRUE(options.model.class_maps) << "an error changes nothing";
  const Result<Model> model = Model::FromMemory(OneOp({1, 2, 2, 3}));
  ASSERT_TRUE(model.ok());
  EXPECT_THAT(Session::Create(*model, options).status().message(),
              HasSubstr("class_maps are chosen when the model is"));
}

TEST(ClassMaps, HaveAPlanOfTheirOwn) {
  const DeviceInfo device;
  const Graph graph;
  PlanRequest request{.graph = &graph, .model = std::string("m"), .device = &device};
  const CacheKey scores = KeyOf(request);
  request.class_maps = true;
  EXPECT_NE(KeyOf(request).material(), scores.material());
  EXPECT_EQ(WordOfKeyField(kClassMapsField.name), "option");
}

// The first of the largest scores of each pixel.
template <typename T>
std::vector<int32_t> BestOf(std::span<const T> scores, size_t classes) {
  std::vector<int32_t> best;
  for (size_t at = 0; at < scores.size(); at += classes) {
    const auto of_pixel = scores.subspan(at, classes);
    best.push_back(static_cast<int32_t>(std::ranges::max_element(of_pixel) - of_pixel.begin()));
  }
  return best;
}

class ClassMapsOnDevice : public testing::SessionsOnDevice {
 protected:
  // Runs the model with and without maps on the same numbers and compares the map with the scores. Few distinct numbers
  // make ties.
  template <typename T>
  void ExpectBestOfScores(const std::vector<int32_t>& shape, wire::TensorType type) {
    const std::vector<std::byte> bytes = OneOp(shape, type);
    const Result<Model> with_scores = Model::FromMemory(bytes), with_maps = Model::FromMemory(bytes, "maps", kMaps);
    ASSERT_TRUE(with_scores.ok() && with_maps.ok());
    Session scores = Opened(*with_scores), maps = Opened(*with_maps);
    std::vector<T> x(static_cast<size_t>(Shape::FromSpan(shape).element_count()));
    for (T& value : x) value = static_cast<T>(random_() % 40);
    for (Session* session : {&scores, &maps}) {
      ASSERT_TRUE(session->SetInput<T>(0, x).ok());
      ASSERT_TRUE(session->Run().ok());
    }
    const std::vector<int32_t> expected = BestOf(*scores.output<T>(0), static_cast<size_t>(shape.back()));
    EXPECT_THAT(*maps.output<int32_t>(0), ElementsAreArray(expected)) << Shape::FromSpan(shape).ToString();
  }

  std::mt19937 random_{11};
};

TEST_P(ClassMapsOnDevice, HaveTheFirstOfTheLargestScoresOfEachPixel) {
  for (const std::vector<int32_t>& shape : {std::vector{1, 9, 7, 21}, {2, 5, 6, 6}, {1, 1, 13, 2}, {3, 4, 4, 101}})
    ExpectBestOfScores<float>(shape, wire::TensorType_FLOAT32);
  ExpectBestOfScores<uint8_t>({2, 6, 5, 7}, wire::TensorType_UINT8);
  ExpectBestOfScores<int8_t>({1, 3, 9, 4}, wire::TensorType_INT8);
}

TEST_P(ClassMapsOnDevice, AreAllThatCrossesTheBus) {
  if (GetParam() == "cpu") GTEST_SKIP() << "nothing crosses";
  options_.simulate = "navi21";
  const std::vector<std::byte> bytes = OneOp({1, 9, 7, 21});
  const Result<Model> with_scores = Model::FromMemory(bytes), with_maps = Model::FromMemory(bytes, "maps", kMaps);
  ASSERT_TRUE(with_scores.ok() && with_maps.ok());
  Session scores = Opened(*with_scores), maps = Opened(*with_maps);
  const std::vector<float> x(size_t{9} * 7 * 21, 1.0f);
  for (Session* session : {&scores, &maps}) {
    ASSERT_TRUE(session->SetInput<float>(0, x).ok());
    ASSERT_TRUE(session->Run().ok());
  }
  EXPECT_EQ(maps.report().ops.on_cpu, 0);
  EXPECT_GE(scores.report().transfers.to_host_bytes, sizeof(float) * x.size());
  EXPECT_LE(maps.report().transfers.to_host_bytes, 9u * 2 * 16) << "two texels for seven columns";
}

// As ARG_MAX has it: only a pixel's first score can be a NaN that counts.
TEST_P(ClassMapsOnDevice, PassOverNaNBehindTheFirstScore) {
  const Result<Model> model = Model::FromMemory(OneOp({1, 1, 2, 5}), "maps", kMaps);
  ASSERT_TRUE(model.ok()) << model.status().message();
  Session session = Opened(*model);
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const float x[] = {1, kNan, 3, 2, kNan, kNan, 1, 3, 2, 4};
  ASSERT_TRUE(session.SetInput<float>(0, x).ok());
  ASSERT_TRUE(session.Run().ok());
  EXPECT_THAT(*session.output<int32_t>(0), ElementsAre(2, 0));
}

// Scores of pixels, which are two outputs, a row of scores and integers: each option changes its own.
std::vector<std::byte> FourOutputs() {
  TfliteWriter writer;
  std::vector<int32_t> inputs, outputs;
  for (const auto& [shape, type] : {std::pair{std::vector{1, 2, 2, 3}, wire::TensorType_FLOAT32},
                                    {std::vector{1, 9}, wire::TensorType_FLOAT32},
                                    {std::vector{1, 2, 2, 3}, kInt}}) {
    const std::string suffix = std::to_string(inputs.size());
    inputs.push_back(writer.AddTensor(Tensor("x" + suffix, shape, type)));
    outputs.push_back(writer.AddTensor(Tensor("y" + suffix, shape, type)));
    writer.AddOperator(type == kInt ? kNeg : kRelu, {inputs.back()}, {outputs.back()});
  }
  return writer.Finish(inputs, {outputs[0], outputs[1], outputs[2], outputs[0]});
}

TEST_P(ClassMapsOnDevice, GoTogetherWithTheBestOfRowsAndWithOtherOutputs) {
  const Result<Model> model = Model::FromMemory(FourOutputs(), "both", {.top_k = 2, .class_maps = true});
  ASSERT_TRUE(model.ok()) << model.status().message();
  Session session = Opened(*model);
  std::vector<std::string> names;
  for (const TensorInfo& output : session.outputs()) names.push_back(output.name);
  EXPECT_THAT(names, ElementsAre("y0", "y1", "y2", "y0", "y1_indices"));
  const float scores[] = {1, 2, 3, 4, 4, 1, 0, 0, 0, 0, 7, 5}, row[] = {1, 8, 2, 7, 3, 6, 4, 5, 0};
  const int32_t integers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  ASSERT_TRUE(session.SetInput<float>(0, scores).ok());
  ASSERT_TRUE(session.SetInput<float>(1, row).ok());
  ASSERT_TRUE(session.SetInput<int32_t>(2, integers).ok());
  ASSERT_TRUE(session.Run().ok());
  for (const size_t output : {0, 3}) EXPECT_THAT(*session.output<int32_t>(output), ElementsAre(2, 0, 0, 1));
  EXPECT_THAT(*session.output<float>(1), ElementsAre(8, 7));
  EXPECT_THAT(*session.output<int32_t>(2), ElementsAre(-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12));
  EXPECT_THAT(*session.output<int32_t>(4), ElementsAre(1, 3));
}

TEST_P(ClassMapsOnDevice, StayWithOtherShapesAndInClones) {
  const Result<Model> model = Model::FromMemory(OneOp({1, 1, 2, 3}), "maps", kMaps);
  ASSERT_TRUE(model.ok()) << model.status().message();
  Session session = Opened(*model);
  Result<Session> clone = session.Clone();
  ASSERT_TRUE(clone.ok()) << clone.status().message();
  ASSERT_TRUE(clone->ResizeBatch(2).ok());
  EXPECT_THAT(clone->outputs()[0].shape, ElementsAre(2, 1, 2));
  const float x[] = {1, 2, 0, 3, 2, 1, 0, 0, 1, 5, 7, 7};
  ASSERT_TRUE(session.SetInput<float>(0, std::span(x).first(6)).ok());
  ASSERT_TRUE(clone->SetInput<float>(0, x).ok());
  for (Session* each : {&session, &clone.value()}) ASSERT_TRUE(each->Run().ok());
  EXPECT_THAT(*session.output<int32_t>(0), ElementsAre(1, 0));
  EXPECT_THAT(*clone->output<int32_t>(0), ElementsAre(1, 0, 2, 1));
}

TEST_P(ClassMapsOnDevice, StayMapsAndScoresStayScoresWhenASessionChangesItsShapes) {
  const std::pair<std::vector<std::byte>, bool> files[] = {
      {OpenOp({1, -1, -1, 3}, {1, 1, 1, 3}), true}, {OneOp({1, 2, 2, 3}), true}, {OneOp({1, 1, 1, 3}), false}};
  for (const auto& [bytes, has_map] : files) {
    const Result<Model> model = Model::FromMemory(bytes, "maps", kMaps);
    ASSERT_TRUE(model.ok()) << model.status().message();
    Session session = Opened(*model);
    for (const std::vector<int32_t>& shape : {std::vector{1, 1, 2, 3}, {1, 1, 1, 3}, {1, 2, 1, 3}, {1, 1, 2, 3}}) {
      const Status resized = session.Resize({{"x", shape}});
      ASSERT_TRUE(resized.ok()) << resized.message();
      const float x[] = {1, 2, 0, 3, 2, 4};
      const size_t pixels = static_cast<size_t>(shape[1]) * static_cast<size_t>(shape[2]);
      ASSERT_TRUE(session.SetInput<float>(0, std::span(x).first(pixels * 3)).ok());
      ASSERT_TRUE(session.Run().ok());
      ASSERT_EQ(session.output<int32_t>(0).ok(), has_map) << Shape::FromSpan(shape).ToString();
      if (has_map) {
        EXPECT_THAT(*session.output<int32_t>(0), ElementsAreArray(std::array{1, 2}.data(), pixels));
      } else {
        EXPECT_THAT(*session.output<float>(0), ElementsAreArray(std::span(x).first(pixels * 3)));
      }
    }
  }
}

TEST_P(ClassMapsOnDevice, OfNoPixelsAreEmpty) {
  const Result<Model> model = Model::FromMemory(OpenOp({-1, -1, -1, 3}, {1, 1, 1, 3}), "maps", kMaps);
  ASSERT_TRUE(model.ok()) << model.status().message();
  Session session = Opened(*model);
  for (const std::vector<int32_t>& shape : {std::vector{0, 2, 2, 3}, {1, 0, 2, 3}}) {
    const Status resized = session.Resize({{"x", shape}});
    ASSERT_TRUE(resized.ok()) << resized.message();
    EXPECT_EQ(session.outputs()[0].dtype, "int32");
    EXPECT_EQ(session.outputs()[0].shape, std::vector(shape.begin(), shape.end() - 1));
    ASSERT_TRUE(session.SetInput<float>(0, {}).ok());
    ASSERT_TRUE(session.Run().ok());
    EXPECT_TRUE(session.output<int32_t>(0)->empty());
  }
  EXPECT_THAT(session.Resize({{"x", {1, 2, 2, 0}}}).message(), HasSubstr("1x2x2x0 has no element to find"));
}

TEST_P(ClassMapsOnDevice, RefuseAShapeThatMakesScoresOfAMask) {
  const Result<Model> model = Model::FromMemory(OpenOp({1, -1, -1, -1}, {1, 1, 2, 1}), "maps", kMaps);
  ASSERT_TRUE(model.ok()) << model.status().message();
  Session session = Opened(*model);
  const Status refused = session.Resize({{"x", {1, 1, 2, 3}}});
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("output 'y' would be int32 instead of float32"));
  const float x[] = {1, 2};
  ASSERT_TRUE(session.SetInput<float>(0, x).ok());
  ASSERT_TRUE(session.Run().ok());
  EXPECT_THAT(*session.output<float>(0), ElementsAre(1, 2)) << "the session keeps its shapes";
}

TEST_P(ClassMapsOnDevice, MayBeOfAnInputThatIsAnOutputToo) {
  TfliteWriter writer;
  const std::vector<int32_t> placeholder = {1, 1, 1, 3}, declared = {1, -1, -1, 3};
  const int32_t x = writer.AddTensor(Tensor("x", placeholder, wire::TensorType_FLOAT32, declared));
  const int32_t y = writer.AddTensor(Tensor("y", placeholder, wire::TensorType_FLOAT32, declared));
  writer.AddOperator(kNeg, {x}, {y});
  const Result<Model> model = Model::FromMemory(writer.Finish({x}, {x, y}), "maps", kMaps);
  ASSERT_TRUE(model.ok()) << model.status().message();
  Session session = Opened(*model);
  ASSERT_TRUE(session.Resize({{"x", {1, 1, 2, 3}}}).ok());
  EXPECT_EQ(session.inputs()[0].dtype, "float32");
  const float pixels[] = {1, 2, 0, 3, 2, 4};
  ASSERT_TRUE(session.SetInput<float>(0, pixels).ok());
  ASSERT_TRUE(session.Run().ok());
  EXPECT_THAT(*session.output<int32_t>(0), ElementsAre(1, 2));
  EXPECT_THAT(*session.output<int32_t>(1), ElementsAre(2, 1));
}

INSTANTIATE_TEST_SUITE_P(Devices, ClassMapsOnDevice, ::testing::ValuesIn(testing::DeviceNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hearth
