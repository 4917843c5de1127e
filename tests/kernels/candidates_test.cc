// Every way to run a layer gives the reference's result, on every device of this machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/base/contains.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_text.h"
#include "core/lowering/tunable_layers.h"
#include "hal/programs/load_or_compile.h"
#include "hal/run/plan_runs.h"
#include "runtime/devices/device_choice.h"
#include "tests/testing/parsed_graph.h"

namespace hearth {
namespace {

// Sizes that tiles, slices of 4 and vectors of 16 do not divide.
constexpr const char* kLayers[] = {
    R"(graph "winograd"
%0 = input : float32[1x10x11x18] "x"
%1 = constant : float32[21x3x3x18] "w" = fill(pattern)
%2 = constant : float32[21] "b" = fill(pattern)
%3 = conv_2d(%0, %1, %2) padding=same activation=relu6 : float32[1x10x11x21] "y" node "conv"
output %3
)",
    R"(graph "winograd without padding"
%0 = input : float32[2x9x7x16] "x"
%1 = constant : float32[16x3x3x16] "w" = fill(pattern)
%2 = conv_2d(%0, %1) : float32[2x7x5x16] "y" node "conv"
output %2
)",
    R"(graph "pointwise"
%0 = input : float32[1x7x9x13] "x"
%1 = constant : float32[35x1x1x13] "w" = fill(pattern)
%2 = constant : float32[35] "b" = fill(pattern)
%3 = conv_2d(%0, %1, %2) : float32[1x7x9x35] "y" node "conv"
output %3
)",
    R"(graph "depthwise"
%0 = input : float32[1x9x11x6] "x"
%1 = constant : float32[1x3x3x6] "w" = fill(pattern)
%2 = depthwise_conv_2d(%0, %1) stride=2x2 padding=same : float32[1x5x6x6] "y" node "conv"
output %2
)",
    R"(graph "dense"
%0 = input : float32[2x130] "x"
%1 = constant : float32[37x130] "w" = fill(pattern)
%2 = constant : float32[37] "b" = fill(pattern)
%3 = fully_connected(%0, %1, %2) : float32[2x37] "y" node "dense"
output %3
)",
    R"(graph "up"
%0 = input : float32[1x5x6x10] "x"
%1 = constant : float32[19x3x3x10] "w" = fill(pattern)
%2 = transpose_conv(%0, %1) stride=2x2 padding=same : float32[1x9x12x19] "y" node "up"
output %2
)",
    R"(graph "layer normalization"
%0 = input : float32[1x5x7x131] "x"
%1 = constant : float32[131] "s" = fill(pattern)
%2 = mean_variance_normalization(%0, %1, %1) axes=3 epsilon=0.001 : float32[1x5x7x131] "y" node "norm"
output %2
)",
    R"(graph "instance normalization"
%0 = input : float32[2x13x11x6] "x"
%1 = constant : float32[6] "s" = fill(pattern)
%2 = mean_variance_normalization(%0, %1, %1) axes=1,2 epsilon=0.001 : float32[2x13x11x6] "y" node "norm"
output %2
)",
    R"(graph "softmax"
%0 = input : float32[1x3x5x70] "x"
%1 = softmax(%0) : float32[1x3x5x70] "y" node "softmax"
output %1
)"};

// Sums of up to 200 products of numbers below 2 in float32; Winograd's patches and products are up to 100 times larger
// than what they add up to, and must stay within what whole models promise.
double ToleranceOf(const KernelChoice& choice) {
  return choice.variant.starts_with("winograd") ? 1e-4 : 2e-5;
}

// What a GPU has other ways for: sums that work items share, more of them than a sum has turns; factors in local
// memory.
constexpr const char* kLayersOfGpus[] = {
    R"(graph "pointwise of a GPU"
%0 = input : float32[2x5x7x130] "x"
%1 = constant : float32[37x1x1x130] "w" = fill(pattern)
%2 = constant : float32[37] "b" = fill(pattern)
%3 = conv_2d(%0, %1, %2) activation=relu6 : float32[2x5x7x37] "y" node "conv"
output %3
)",
    R"(graph "thin pointwise of a GPU"
%0 = input : float32[1x7x9x13] "x"
%1 = constant : float32[3x1x1x13] "w" = fill(pattern)
%2 = conv_2d(%0, %1) : float32[1x7x9x3] "y" node "conv"
output %2
)",
    R"(graph "blocked of a GPU"
%0 = input : float32[1x9x11x18] "x"
%1 = constant : float32[131x1x1x18] "w" = fill(pattern)
%2 = constant : float32[131] "b" = fill(pattern)
%3 = conv_2d(%0, %1, %2) activation=relu : float32[1x9x11x131] "y" node "conv"
output %3
)",
    R"(graph "windowed of a GPU"
%0 = input : float32[2x7x9x70] "x"
%1 = constant : float32[19x3x3x70] "w" = fill(pattern)
%2 = constant : float32[19] "b" = fill(pattern)
%3 = conv_2d(%0, %1, %2) stride=2x2 padding=same activation=relu6 : float32[2x4x5x19] "y" node "conv"
output %3
)",
    R"(graph "depthwise of a GPU"
%0 = input : float32[1x9x11x34] "x"
%1 = constant : float32[1x3x3x34] "w" = fill(pattern)
%2 = depthwise_conv_2d(%0, %1) stride=2x2 padding=same : float32[1x5x6x34] "y" node "conv"
output %2
)",
    R"(graph "dense of a GPU"
%0 = input : float32[2x35] "x"
%1 = constant : float32[37x35] "w" = fill(pattern)
%2 = constant : float32[37] "b" = fill(pattern)
%3 = fully_connected(%0, %1, %2) : float32[2x37] "y" node "dense"
output %3
)"};

struct Layer {
  Graph graph;
  ReferenceTensor input, reference;
  std::vector<std::byte> input_bytes;
  std::vector<KernelChoice> candidates;
  std::vector<Plan> plans;
};

Layer LayerOf(const char* text, const DeviceInfo& device) {
  Layer layer{testing::Parsed(text), {}, {}, {}, {}, {}};
  const TensorDesc& desc = layer.graph.value(layer.graph.inputs[0]).desc;
  std::minstd_rand random(7);
  layer.input.shape = desc.shape;
  for (int64_t k = 0; k < desc.shape.element_count(); ++k)
    layer.input.values.push_back(static_cast<float>(std::uniform_real_distribution<>(-1, 1)(random)));
  layer.input_bytes.resize(desc.size_bytes());
  EXPECT_TRUE(ReferenceToBytes(layer.input, desc, layer.input_bytes).ok());
  layer.reference = EvaluateGraph(layer.graph, std::span(&layer.input, 1)).value()[0];
  for (TunableLayer& tunable : TunableLayers(layer.graph, device, {})) layer.candidates = std::move(tunable.candidates);
  // GLES compiles the texts that Vulkan does, ten times as slowly (llvmpipe: 60 s for all on busy cores).
  if (device.backend == "gles" && layer.candidates.size() > 4) layer.candidates.resize(4);
  for (const KernelChoice& candidate : layer.candidates) {
    Result<Plan> plan = LowerLayer(layer.graph, device, {}, candidate);
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    layer.plans.push_back(std::move(plan).value());
  }
  return layer;
}

// The largest difference from the reference, in its largest number.
double ErrorOf(const Layer& layer, Plan plan, Device& device, const std::vector<Program*>& programs) {
  const Result<ReadyPlan> ready = MakePlanReady(std::move(plan), {.device = &device, .programs = programs});
  if (!ready.ok()) return std::numeric_limits<double>::infinity();
  const TensorDesc& desc = layer.graph.value(layer.graph.outputs[0]).desc;
  std::vector<std::byte> output(desc.size_bytes());
  const std::span<const std::byte> input = layer.input_bytes;
  const std::span<std::byte> output_span = output;
  if (!ready->runs->Run(std::span(&input, 1), std::span(&output_span, 1)).ok())
    return std::numeric_limits<double>::infinity();
  const ReferenceTensor result = ReferenceFromBytes(desc, output).value();
  double error = 0, largest = 1;
  for (size_t k = 0; k < result.values.size(); ++k) {
    const double difference = std::abs(result.values[k] - layer.reference.values[k]);
    error = std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(error, difference);
    largest = std::max(largest, std::abs(layer.reference.values[k]));
  }
  return error / largest;
}

class Candidates : public ::testing::TestWithParam<std::string> {};

void ExpectTheReferencesResult(OpenedDevice& opened, std::span<const char* const> texts) {
  std::vector<Layer> layers;
  std::vector<KernelSource> kernels;
  for (const char* text : texts) {
    layers.push_back(LayerOf(text, opened.info));
    for (const Plan& plan : layers.back().plans) {
      for (const KernelSource& kernel : plan.kernels) {
        if (!Contains(kernels, kernel)) kernels.push_back(kernel);
      }
    }
  }
  // In one go: a driver that compiles one program at a time takes a third as long.
  const Result<LoadedPrograms> programs = LoadOrCompile(*opened.device, kernels, nullptr, 2);
  ASSERT_TRUE(programs.ok()) << programs.status().message();
  for (Layer& layer : layers) {
    EXPECT_GE(layer.candidates.size(), 2u) << layer.graph.name;
    for (size_t k = 0; k < layer.candidates.size(); ++k) {
      std::vector<Program*> own;
      for (const KernelSource& kernel : layer.plans[k].kernels)
        own.push_back(programs->by_kernel[std::find(kernels.begin(), kernels.end(), kernel) - kernels.begin()]);
      const double error = ErrorOf(layer, std::move(layer.plans[k]), *opened.device, own);
      EXPECT_LE(error, ToleranceOf(layer.candidates[k])) << layer.graph.name << " by " << ToText(layer.candidates[k]);
    }
  }
}

TEST_P(Candidates, AllGiveTheReferencesResult) {
  Result<OpenedDevice> opened = OpenChosenDevice(GetParam());
  if (!opened.ok()) GTEST_SKIP() << opened.status().message();
  ExpectTheReferencesResult(*opened, kLayers);
}

TEST_P(Candidates, OfAGpuAllGiveTheReferencesResult) {
  Result<OpenedDevice> opened = OpenSimulatedDevice(GetParam(), "navi21");
  if (!opened.ok()) GTEST_SKIP() << opened.status().message();
  ExpectTheReferencesResult(*opened, kLayersOfGpus);
}

// No driver here has subgroups as wide as some of Adreno's.
TEST_P(Candidates, InGroupsOf128GiveTheReferencesResult) {
  Result<OpenedDevice> opened = OpenSimulatedDevice(GetParam(), "navi21");
  if (!opened.ok()) GTEST_SKIP() << opened.status().message();
  opened->info.subgroup_size = 128;
  const char* const layers[] = {kLayersOfGpus[0], kLayersOfGpus[3]};
  for (const char* layer : layers) {
    const Plan plan = testing::Lowered(testing::Parsed(layer), opened->info, {});
    EXPECT_TRUE(std::ranges::any_of(plan.kernels, [](const KernelSource& kernel) {
      return kernel.name.ends_with("_flat") && kernel.local_size[0] == 128;
    })) << layer;
  }
  ExpectTheReferencesResult(*opened, layers);
}

// A build without GPU backends has nothing to instantiate this with.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Candidates);
INSTANTIATE_TEST_SUITE_P(Devices, Candidates, ::testing::ValuesIn(BackendNames()),
                         [](const auto& device) { return device.param; });

}  // namespace
}  // namespace hearth
