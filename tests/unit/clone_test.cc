// Sessions of one model on one device that read one copy of the weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "backends/cpu/host/vectorized.h"
#include "backends/null/device.h"
#include "hal/run/resident_constants.h"
#include "hearth/graph_builder.h"
#include "hearth/session.h"
#include "runtime/model/model_file.h"
#include "tests/testing/device_names.h"
#include "tests/testing/fake_gpu.h"
#include "tests/testing/on_device.h"
#include "tests/testing/shared_data.h"

namespace hearth {
namespace {

using testing::ModelOf;

// A convolution with 2304 weights on an image of 6 times 5.
Model Convolution() {
  GraphBuilder builder("convolution");
  std::vector<float> weights(2304);
  for (size_t k = 0; k < weights.size(); ++k) weights[k] = 0.03f * static_cast<float>(k % 17) - 0.2f;
  const auto x = builder.Input("x", {1, 6, 5, 16});
  builder.Output(builder.Conv2D(x, builder.Constant("w", {16, 3, 3, 16}, weights), {}, {}), "y");
  return ModelOf(std::move(builder));
}

std::vector<float> Answer(Session& session, float seed) {
  std::vector<float> x(session.inputs()[0].size_bytes / sizeof(float));
  for (size_t k = 0; k < x.size(); ++k) x[k] = seed * static_cast<float>(k % 31) - 0.5f;
  EXPECT_TRUE(session.SetInput<float>(0, x).ok());
  const Status ran = session.Run();
  EXPECT_TRUE(ran.ok()) << ran.message();
  const std::span<const float> y = session.output<float>(0).value();
  return {y.begin(), y.end()};
}

class Clones : public testing::SessionsOnDevice {
 protected:
  static Session CloneOf(Session& session) {
    Result<Session> clone = session.Clone();
    EXPECT_TRUE(clone.ok()) << clone.status().message();
    return std::move(clone).value();
  }
};

TEST_P(Clones, AnswerAsTheFirstAndOutliveIt) {
  const Model model = Convolution();
  auto first = std::make_unique<Session>(Opened(model));
  const std::vector<float> expected = Answer(*first, 0.1f);
  Session clone = CloneOf(*first);
  EXPECT_EQ(Answer(clone, 0.1f), expected);
  first.reset();
  EXPECT_EQ(Answer(clone, 0.1f), expected);
}

TEST_P(Clones, NeedNoWeightsOfTheirOwn) {
  if (GetParam() == "cpu" && BestVectorSet() == VectorSet::kBase)
    GTEST_SKIP() << "without AVX2 XNNPACK packs weights per session";
  const Model model = Convolution();
  Session first = Opened(model);
  Session clone = CloneOf(first);
  EXPECT_GE(first.report().memory.needed_bytes, clone.report().memory.needed_bytes + 2304 * sizeof(float));
}

TEST(SessionsOfOneFile, ReadOneCopyOfTheWeightsThatTheCpuPacked) {
  if (BestVectorSet() == VectorSet::kBase) GTEST_SKIP() << "without AVX2 XNNPACK packs weights per session";
  const std::string path = (SourceFolder() / "tools/demo/shapes_f32.tflite").string();
  if (!ModelFile::Open(path)->Identity()) GTEST_SKIP() << path << " was made within the last minute";
  SessionOptions options;
  options.device = "cpu";
  options.use_cache = false;
  auto first = std::make_unique<Session>(Session::Open(path, options).value());
  Session second = Session::Open(path, options).value();
  EXPECT_LT(second.report().memory.needed_bytes, first->report().memory.needed_bytes);
  const std::vector<float> expected = Answer(*first, 0.1f);
  first.reset();
  EXPECT_EQ(Answer(second, 0.1f), expected);
}

TEST_P(Clones, KeepStatesAndShapesOfTheirOwn) {
  const Model model = testing::SumModel();
  Session first = Opened(model);
  const float sum = Answer(first, 0.1f)[3];
  Session clone = CloneOf(first);
  EXPECT_EQ(Answer(clone, 0.1f)[3], sum) << "its state begins at zero";
  EXPECT_EQ(Answer(first, 0.1f)[3], sum + sum);
  const Model image = Convolution();
  Session small = Opened(image);
  const std::vector<float> before = Answer(small, 0.1f);
  Session large = CloneOf(small);
  ASSERT_TRUE(large.Resize({{"x", {2, 9, 5, 16}}}).ok());
  EXPECT_EQ(Answer(large, 0.1f).size(), 1440u);
  EXPECT_EQ(Answer(small, 0.1f), before);
  Session also_large = CloneOf(large);
  EXPECT_EQ(Answer(also_large, 0.1f), Answer(large, 0.1f));
}

TEST_P(Clones, RunOnSeveralThreadsAtOnce) {
  const Model model = Convolution();
  Session first = Opened(model);
  std::vector<Session> sessions;
  for (int k = 0; k < 3; ++k) sessions.push_back(CloneOf(first));
  std::vector<std::vector<float>> expected;
  for (size_t k = 0; k < sessions.size(); ++k) expected.push_back(Answer(first, 0.1f * static_cast<float>(k + 1)));
  std::vector<int> wrong(sessions.size());
  std::vector<std::thread> threads;
  for (size_t k = 0; k < sessions.size(); ++k) {
    threads.emplace_back([&, k] {
      for (int run = 0; run < 20; ++run)
        wrong[k] += Answer(sessions[k], 0.1f * static_cast<float>(k + 1)) == expected[k] ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(sessions.size(), 0));
}

TEST_P(Clones, TakeShapesOnSeveralThreadsAtOnce) {
  const Model model = Convolution();
  Session first = Opened(model), one = CloneOf(first), other = CloneOf(first);
  const auto resize = [](Session& session, int height) {
    for (int turn = 0; turn < 3; ++turn) EXPECT_TRUE(session.Resize({{"x", {1, height + turn % 2, 5, 16}}}).ok());
  };
  std::thread beside([&] { resize(one, 7); });
  resize(other, 7);
  beside.join();
  EXPECT_EQ(Answer(one, 0.1f), Answer(other, 0.1f));
}

TEST_P(Clones, ShareProgramsWhereSeveralThreadsMayUseOne) {
  const Model model = Convolution();
  Session first = Opened(model);
  const auto programs = CloneOf(first).report().programs;
  const bool shares = GetParam().starts_with("vulkan") || GetParam() == "cpu";
  EXPECT_EQ(programs.compiled + programs.loaded, shares ? 0 : first.report().programs.distinct);
}

INSTANTIATE_TEST_SUITE_P(Devices, Clones, ::testing::ValuesIn(testing::DeviceNames()));

TEST(ResidentConstants, AreFoundByWhatTheyPackWhileSomebodyHoldsThem) {
  NullDevice device(NullDeviceInfo());
  Plan plan;
  plan.buffers = {{BufferRole::kConstants, 512}};
  plan.constants.resize(2);
  plan.constants[0].range = {0, 0, 32};
  plan.constants[0].source.size_bytes = 20;
  plan.constants[1] = plan.constants[0];
  plan.constants[1].range.offset_bytes = 256;
  plan.constants[1].source.offset_bytes = 20;
  ResidentConstants held;
  Result<PlacedConstants> first = PlaceConstants(device, plan, &held);
  ASSERT_TRUE(first.ok()) << first.status().message();
  EXPECT_EQ(first->made_bytes, 64u);
  for (size_t k = 0; k < 2; ++k) held.Add(plan.constants[k], first->places[k]);
  EXPECT_EQ(ResidentBytesOf(plan, held), 64u);
  EXPECT_EQ(held.LiveBytes(), 512u);

  Plan other = plan;
  other.constants[1].recipe.width = 16;
  Result<PlacedConstants> second = PlaceConstants(device, other, &held);
  ASSERT_TRUE(second.ok()) << second.status().message();
  EXPECT_EQ(second->held_bytes, 32u);
  EXPECT_EQ(second->made_bytes, 32u);
  EXPECT_EQ(Locate(other, *second, {0, 8, 16}).buffer, first->made[0].get());
  EXPECT_EQ(Locate(other, *second, {0, 8, 16}).offset_bytes, 8u);
  EXPECT_EQ(Locate(other, *second, {0, 264, 16}).buffer, second->made[0].get());
  EXPECT_EQ(Locate(other, *second, {0, 264, 16}).offset_bytes, 8u) << "alone, it lies at the beginning";

  first = PlacedConstants();
  EXPECT_EQ(ResidentBytesOf(plan, held), 64u) << "memory that the second plan holds a part of";
  second = PlacedConstants();
  EXPECT_EQ(ResidentBytesOf(plan, held), 0u);
}

TEST(ResidentConstants, ARangeOverTwoConstantsKeepsThemTogether) {
  NullDevice device(NullDeviceInfo());
  Plan plan;
  plan.buffers = {{BufferRole::kConstants, 64}};
  plan.constants.resize(2);
  plan.constants[0].range = {0, 0, 32};
  plan.constants[1].range = {0, 32, 32};
  plan.constants[1].source.offset_bytes = 20;
  ResidentConstants held;
  const Result<PlacedConstants> first = PlaceConstants(device, plan, &held);
  for (size_t k = 0; k < 2; ++k) held.Add(plan.constants[k], first->places[k]);
  Dispatch dispatch;
  dispatch.tensors = {{0, 0, 64}};
  plan.dispatches.push_back(dispatch);
  const Result<PlacedConstants> second = PlaceConstants(device, plan, &held);
  EXPECT_EQ(second->held_bytes, 0u);
  EXPECT_EQ(Locate(plan, *second, {0, 0, 64}).buffer, second->made[0].get());
}

}  // namespace
}  // namespace hearth
