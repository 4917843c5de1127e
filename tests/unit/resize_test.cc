// Sessions that are given other input shapes while they are open.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cpu/host/process_limits.h"
#include "core/base/error.h"
#include "hearth/graph_builder.h"
#include "runtime/session/session_data.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/device_names.h"
#include "tests/testing/fake_backends.h"
#include "tests/testing/fake_gpu.h"
#include "tests/testing/hot_start.h"
#include "tests/testing/memory_store.h"
#include "tests/testing/on_device.h"
#include "tests/testing/temporary_folder.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ModelOf;

using Shapes = std::map<std::string, std::vector<int32_t>>;

// Two convolutions and a mean over an image of any size; the file's own size is 1x1.
std::vector<std::byte> ImageModelBytes() {
  TfliteWriter writer;
  const auto weights = [](size_t count) {
    std::vector<float> values(count);
    for (size_t k = 0; k < count; ++k) values[k] = 0.07f * static_cast<float>(k % 13) - 0.4f;
    return values;
  };
  const int32_t x = writer.AddTensor({.name = "image", .shape = {1, 1, 1, 4}, .shape_signature = {-1, -1, -1, 4}});
  const int32_t w1 = writer.AddConstant<float>({"w1", {16, 3, 3, 4}}, weights(576));
  const int32_t w2 = writer.AddConstant<float>({"w2", {8, 1, 1, 16}}, weights(128));
  const std::vector<int32_t> open_16 = {-1, -1, -1, 16}, open_8 = {-1, -1, -1, 8};
  const int32_t a = writer.AddTensor({.name = "a", .shape = {1, 1, 1, 16}, .shape_signature = open_16});
  const int32_t b = writer.AddTensor({.name = "b", .shape = {1, 1, 1, 8}, .shape_signature = open_8});
  const int32_t y = writer.AddTensor({.name = "y", .shape = {1, 8}, .shape_signature = {-1, 8}});
  const auto window = [&] { return wire::CreateConv2DOptions(writer.builder(), wire::Padding_SAME, 1, 1); };
  writer.AddOperator(kConv2D, {x, w1}, {a}, window());
  writer.AddOperator(kConv2D, {a, w2}, {b}, window());
  writer.AddOperator(kMean, {b, writer.AddIntegers({1, 2})}, {y});
  writer.AddSignature("serve", 0, {{"picture", x}}, {{"scores", y}});
  return writer.Finish({x}, {y});
}

Model ImageModel(const Shapes& shapes = {}) {
  Result<Model> model = Model::FromMemory(ImageModelBytes(), "image", {.input_shapes = shapes});
  EXPECT_TRUE(model.ok()) << model.status().message();
  return std::move(model).value();
}

std::vector<float> Ramp(size_t count) {
  std::vector<float> values(count);
  for (size_t k = 0; k < count; ++k) values[k] = 0.01f * static_cast<float>(k % 97) - 0.3f;
  return values;
}

std::vector<float> Answer(Session& session) {
  const std::vector<float> x = Ramp(session.inputs()[0].size_bytes / sizeof(float));
  const Status set = session.SetInput<float>(0, x);
  EXPECT_TRUE(set.ok()) << set.message();
  const Status ran = session.Run();
  EXPECT_TRUE(ran.ok()) << ran.message();
  const Result<std::span<const float>> y = session.output<float>(0);
  EXPECT_TRUE(y.ok()) << y.status().message();
  return y.ok() ? std::vector<float>(y->begin(), y->end()) : std::vector<float>();
}

class Resize : public testing::SessionsOnDevice {
 protected:
  // Of a session that is opened with these shapes.
  std::vector<float> AnswerWith(const Shapes& shapes) {
    const Model model = ImageModel(shapes);
    Session session = Opened(model);
    return Answer(session);
  }
};

TEST_P(Resize, AnswersAsASessionThatWasOpenedWithTheShape) {
  const Model model = ImageModel({{"image", {1, 6, 5, 4}}});
  Session session = Opened(model);
  const std::vector<float> before = Answer(session);
  ASSERT_TRUE(session.Resize({{"picture", {2, 9, 7, 4}}}).ok()) << "by its alias";
  EXPECT_THAT(session.inputs()[0].shape, ElementsAre(2, 9, 7, 4));
  EXPECT_THAT(session.outputs()[0].shape, ElementsAre(2, 8));
  EXPECT_EQ(Answer(session), AnswerWith({{"image", {2, 9, 7, 4}}}));
  ASSERT_TRUE(session.Resize({{"image", {1, 6, 5, 4}}}).ok());
  EXPECT_EQ(Answer(session), before);
}

TEST_P(Resize, UploadsNoWeightsTwiceAndCompilesNothingTwice) {
  if (GetParam() == "cpu") GTEST_SKIP() << "the CPU has neither programs nor uploads";
  const Model model = ImageModel({{"image", {1, 8, 8, 4}}});
  Session session = Opened(model);
  Answer(session);
  ASSERT_TRUE(session.Resize({{"image", {2, 8, 8, 4}}}).ok());
  Answer(session);
  const auto& resize = session.report().resize;
  EXPECT_EQ(resize.made, 1);
  EXPECT_GT(resize.shared_weights_bytes, 0u);
  EXPECT_EQ(resize.uploaded_weights_bytes, 0u);
  const int compiled = session.report().programs.compiled;
  const int distinct = session.report().programs.distinct;
  EXPECT_LT(compiled, distinct) << "of the kernels of both shapes";
}

TEST_P(Resize, AShapeThatIsKeptIsNotMadeAgain) {
  const Model model = ImageModel({{"image", {1, 6, 5, 4}}});
  Session session = Opened(model);
  ASSERT_TRUE(session.ResizeBatch(3).ok());
  ASSERT_TRUE(session.ResizeBatch(1).ok());
  ASSERT_TRUE(session.ResizeBatch(3).ok());
  EXPECT_EQ(session.report().resize.made, 1);
  EXPECT_EQ(session.report().resize.kept, 2);
  EXPECT_EQ(Answer(session), AnswerWith({{"image", {3, 6, 5, 4}}}));
}

TEST_P(Resize, TheShapeUsedLeastLeaves) {
  options_.kept_shapes = 1;
  const Model model = ImageModel({{"image", {1, 6, 5, 4}}});
  Session session = Opened(model);
  const uint64_t one_shape = session.report().memory.needed_bytes;
  for (const int32_t batch : {2, 3, 1}) ASSERT_TRUE(session.ResizeBatch(batch).ok());
  EXPECT_EQ(session.report().resize.made, 3) << "batch 1 left for batch 2";
  ASSERT_TRUE(session.ResizeBatch(3).ok());
  EXPECT_EQ(session.report().resize.kept, 1);
  EXPECT_GT(session.report().memory.needed_bytes, one_shape);
  EXPECT_EQ(Answer(session), AnswerWith({{"image", {3, 6, 5, 4}}}));
}

TEST_P(Resize, AWrongShapeLeavesTheSessionAsItIs) {
  const Model model = ImageModel({{"image", {1, 6, 5, 4}}});
  Session session = Opened(model);
  const std::vector<float> before = Answer(session);
  const auto refused = [&](const Shapes& shapes) {
    const Status status = session.Resize(shapes);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.message();
    return status.message();
  };
  EXPECT_THAT(refused({{"photo", {1, 6, 5, 4}}}), HasSubstr("no input named 'photo'; it has 'image'"));
  EXPECT_THAT(refused({{"image", {6, 5, 4}}}), AllOf(HasSubstr("'image'"), HasSubstr("4 dimensions")));
  EXPECT_THAT(refused({{"image", {-1, 6, 5, 4}}}), HasSubstr("input 'image' as -1x6x5x4"));
  EXPECT_THAT(session.Resize({{"image", {1, 6, 5, 3}}}).message(),
              AllOf(HasSubstr("input 'image' as 1x6x5x3"), HasSubstr("CONV_2D")));
  EXPECT_THAT(session.inputs()[0].shape, ElementsAre(1, 6, 5, 4));
  ASSERT_TRUE(session.Run().ok()) << "its input is still set";
  EXPECT_EQ(Answer(session), before);
}

TEST_P(Resize, InputsMustBeSetAnew) {
  const Model model = ImageModel({{"image", {1, 6, 5, 4}}});
  Session session = Opened(model);
  Answer(session);
  ASSERT_TRUE(session.ResizeBatch(2).ok());
  EXPECT_THAT(session.Run().message(), HasSubstr("input 'image' was not given"));
  Answer(session);
  ASSERT_TRUE(session.ResizeBatch(1).ok());
  EXPECT_THAT(session.Run().message(), HasSubstr("input 'image' was not given"));
}

TEST_P(Resize, RunsInFlightAndBoundMemoryAreInItsWay) {
  const Model model = ImageModel({{"image", {1, 6, 5, 4}}});
  Session session = Opened(model);
  Answer(session);
  const Result<Ticket> ticket = session.Submit();
  ASSERT_TRUE(ticket.ok()) << ticket.status().message();
  EXPECT_THAT(session.ResizeBatch(2).message(), HasSubstr("1 runs are in flight"));
  ASSERT_TRUE(session.Wait(*ticket).ok());
  std::vector<float> lent = Ramp(120);
  ASSERT_TRUE(session
                  .BindInput("image", {.memory = MemoryKind::kHost,
                                       .handle = reinterpret_cast<uintptr_t>(lent.data()),
                                       .size_bytes = lent.size() * sizeof(float)})
                  .ok());
  EXPECT_THAT(session.ResizeBatch(2).message(), HasSubstr("'image' is bound"));
  ASSERT_TRUE(session.UnbindInput("image").ok());
  EXPECT_TRUE(session.ResizeBatch(2).ok());
}

TEST_P(Resize, ABatchThatAReshapeWouldMixUpIsAnError) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1, 2, 3}});
  const int32_t y = writer.AddTensor({"y", {1, 6}});
  writer.AddOperator(22, {x, writer.AddIntegers({1, -1})}, {y});
  const Result<Model> model = Model::FromMemory(writer.Finish({x}, {y}), "reshape");
  ASSERT_TRUE(model.ok()) << model.status().message();
  Session session = Opened(*model);
  EXPECT_THAT(session.ResizeBatch(4).message(), AllOf(HasSubstr("output 'y' would be 1x24"), HasSubstr("RESHAPE")));
  EXPECT_THAT(session.inputs()[0].shape, ElementsAre(1, 2, 3));
  ASSERT_TRUE(session.Resize({{"x", {4, 2, 3}}}).ok()) << "as the interpreter does it";
  EXPECT_THAT(session.outputs()[0].shape, ElementsAre(1, 24));
  ASSERT_TRUE(session.Resize({{"x", {1, 2, 3}}}).ok());
  EXPECT_FALSE(session.ResizeBatch(4).ok()) << "though the shape is kept";
}

// y = the sum of all x, which the state holds, of any batch that x has.
Model SumOf(int32_t height) {
  GraphBuilder builder("sum");
  const auto x = builder.Input("x", {1, height, 2, 4});
  const auto sum = builder.State("sum", {1, 1, 2, 4});
  const auto next = builder.Binary("add", sum, builder.AveragePool2D(x, 1, 1, {}));
  builder.Update(sum, next);
  builder.Output(next, "y");
  return ModelOf(std::move(builder));
}

TEST_P(Resize, AStateThatCannotTakeTheShapeIsAnError) {
  const Model model = SumOf(1);
  Session session = Opened(model);
  std::vector<float> ones(8, 1.0f);
  ASSERT_TRUE(session.SetInput<float>(0, ones).ok());
  ASSERT_TRUE(session.Run().ok());
  EXPECT_THAT(session.Resize({{"x", {2, 1, 2, 4}}}).message(),
              AllOf(HasSubstr("input 'x' as 2x1x2x4"), HasSubstr("state 'sum'")));
  ASSERT_TRUE(session.Run().ok());
  EXPECT_THAT(session.output<float>(0).value()[0], 2.0f) << "the state is what it was";
}

// y = the sum of all means over x's rows and columns.
Model SumOfMeans() {
  GraphBuilder builder("sum of means");
  const auto x = builder.Input("x", {1, 2, 2, 4});
  const auto sum = builder.State("sum", {1, 4});
  const std::vector<float> identity = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  const auto unit = builder.Constant("unit", {4, 1, 1, 4}, identity);
  const auto small = builder.ResizeBilinear(builder.Conv2D(x, unit, {}, {}), 1, 1, false, false);
  const auto next = builder.Binary("add", sum, builder.Reshape(small, {1, 4}));
  builder.Update(sum, next);
  builder.Output(next, "y");
  return ModelOf(std::move(builder));
}

TEST_P(Resize, AStateGoesAlongWhereItKeepsItsShape) {
  const Model model = SumOfMeans();
  Session session = Opened(model);
  float expected = 0;
  for (const int32_t height : {2, 4, 2, 6}) {
    ASSERT_TRUE(session.Resize({{"x", {1, height, 2, 4}}}).ok());
    const std::vector<float> ones(static_cast<size_t>(8 * height), 1.0f);
    ASSERT_TRUE(session.SetInput<float>(0, ones).ok());
    ASSERT_TRUE(session.Run().ok());
    EXPECT_EQ(session.output<float>(0).value()[0], ++expected) << height;
  }
  ASSERT_TRUE(session.ResetState().ok());
  ASSERT_TRUE(session.Run().ok());
  EXPECT_EQ(session.output<float>(0).value()[0], 1.0f);
}

TEST_P(Resize, TheMemoryLimitHoldsForAllShapesTogether) {
  const Model model = ImageModel({{"image", {1, 6, 5, 4}}});
  Session first = Opened(model);
  options_.memory_limit_bytes = 2 * first.report().memory.needed_bytes;
  Session session = Opened(model);
  const Status status = session.ResizeBatch(400);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.message();
  EXPECT_THAT(status.message(), HasSubstr("the memory limit leaves"));
  EXPECT_EQ(Answer(session), Answer(first));
}

TEST_P(Resize, MoreThanTheMachineHasIsAnErrorBeforeAnyOfItIsTaken) {
  const std::optional<uint64_t> available = AvailableMemoryBytes();
  if (!available) GTEST_SKIP() << "this system does not tell how much memory is available";
  const Model model = ImageModel({{"image", {1, 6, 5, 4}}});
  Session session = Opened(model);
  const std::vector<float> before = Answer(session);
  const uint64_t bytes_of_one = session.inputs()[0].size_bytes;
  // The input alone is more than there is.
  const Status status = session.ResizeBatch(static_cast<int32_t>(*available * 2 / bytes_of_one));
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(Answer(session), before);
}

TEST_P(Resize, WhatItMadeIsInTheCacheForALaterStartWithThatShape) {
  if (GetParam() == "cpu") GTEST_SKIP() << "the CPU keeps nothing";
  const TemporaryFolder folder;
  options_.use_cache = true;
  options_.cache_folder = folder.path().string();
  const Model model = ImageModel({{"image", {1, 6, 5, 4}}});
  {
    Session session = Opened(model);
    Answer(session);
    ASSERT_TRUE(session.ResizeBatch(2).ok());
    Answer(session);
  }
  const Model batch = ImageModel({{"image", {2, 6, 5, 4}}});
  Session later = Opened(batch);
  Answer(later);
  EXPECT_EQ(later.report().programs.compiled, 0);
  EXPECT_EQ(later.report().cache.misses, 0u);
}

INSTANTIATE_TEST_SUITE_P(Devices, Resize, ::testing::ValuesIn(testing::DeviceNames()));

class ResizeHot : public testing::HotStartTest {};

TEST_F(ResizeHot, TheBackgroundDeviceIsMadeReadyForTheNewShape) {
  GraphBuilder builder("double");
  const auto x = builder.Input("x", {1, 1, 2, 4});
  builder.Output(builder.Binary("add", x, x), "y");
  const Model model = ModelOf(std::move(builder));
  rule_ = MoveRule::kWhenReady;
  Result<Session> session = Start(model, Options("hot"));
  ASSERT_TRUE(session.ok()) << session.status().message();
  ASSERT_TRUE(session->ResizeBatch(2).ok());
  EXPECT_EQ(session->report().device.id, "cpu");
  const std::vector<float> ones(16, 1.0f);
  ASSERT_TRUE(session->SetInput<float>(0, ones).ok());
  ASSERT_TRUE(session->Run().ok());
  EXPECT_THAT(session->output<float>(0).value()[15], 2.0f);
  ASSERT_TRUE(session->WaitForDevice().ok());
  ASSERT_TRUE(session->Run().ok());
  EXPECT_EQ(session->report().device.id, "first:0");
  EXPECT_EQ(session->output<float>(0).value().size(), 16u);
  ASSERT_TRUE(session->ResizeBatch(1).ok());
  EXPECT_EQ(session->report().device.id, "first:0");
}

class ResizeOnALostDevice : public testing::FakeGpuTest {
 protected:
  Result<Session> Start(const Model& model) {
    SessionRequest request;
    request.options = {.device = "auto", .use_cache = false, .start = "ready"};
    request.trusts_devices = true;
    request.backends = testing::FakeBackendRows();
    return CreateSession(model, std::move(request));
  }

  static Status RunWithOnes(Session& session) {
    const std::vector<float> ones(session.inputs()[0].size_bytes / sizeof(float), 1.0f);
    HEARTH_TRY(session.SetInput<float>(0, ones));
    return session.Run();
  }
};

TEST_F(ResizeOnALostDevice, AnErrorAtAnyCallLeavesTheShapes) {
  const Model model = SumOfMeans();
  int failures = 0;
  for (int call = 1; call < 100; ++call) {
    SCOPED_TRACE(call);
    Result<Session> session = Start(model);
    ASSERT_TRUE(session.ok()) << session.status().message();
    ASSERT_TRUE(RunWithOnes(*session).ok());
    const TensorInfo* const input = session->inputs().data();
    fault_.Arm(call, Status(StatusCode::kDeviceLost, "the GPU fell off the bus"));
    const Status resized = session->Resize({{"x", {1, 4, 2, 4}}});
    const bool came = fault_.Disarm();
    EXPECT_EQ(session->inputs()[0].shape[1], resized.ok() ? 4 : 2) << resized.message();
    if (!resized.ok()) {
      EXPECT_EQ(session->inputs().data(), input) << "C programs hold it";
    }
    if (!came) break;
    ++failures;
  }
  EXPECT_GE(failures, 3);
}

TEST_F(ResizeOnALostDevice, TheNextDeviceContinuesWithTheStatesThatWentAlong) {
  if (!Computes()) GTEST_SKIP() << "no GPU driver, and the null device computes nothing";
  const Model model = SumOfMeans();
  Result<Session> session = Start(model);
  ASSERT_TRUE(session.ok()) << session.status().message();
  for (int run = 0; run < 2; ++run) ASSERT_TRUE(RunWithOnes(*session).ok());
  ASSERT_TRUE(session->Resize({{"x", {1, 4, 2, 4}}}).ok());
  fault_.Arm(1, Status(StatusCode::kDeviceLost, "the GPU fell off the bus"));
  const Status ran = RunWithOnes(*session);
  ASSERT_TRUE(ran.ok()) << ran.message();
  EXPECT_EQ(session->report().device.id, "cpu");
  EXPECT_EQ(session->output<float>(0).value()[0], 3.0f);
}

}  // namespace
}  // namespace hearth
