// The pieces that decide a network's speed, one at a time; see README.md.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "core/lower.h"
#include "core/op_table.h"
#include "core/pack.h"
#include "core/tuning.h"
#include "frontends/engine/device_choice.h"
#include "frontends/engine/tuner.h"
#include "hal/plan_runner.h"
#include "hal/slices.h"

namespace hearth {
namespace {

// A convolution of MobileNet v1's kind as a graph of one node.
Graph ConvolutionGraph(int32_t size, int32_t channels_in, int32_t channels_out, bool depthwise) {
  Graph graph;
  const ValueId x = graph.AddValue({"x", {DType::kFloat32, {1, size, size, channels_in}, {}}, {}});
  const Shape filter_shape = depthwise ? Shape{1, 3, 3, channels_in} : Shape{channels_out, 1, 1, channels_in};
  const std::vector<float> filter(filter_shape.element_count(), 0.01f);
  const ValueId w = graph.AddFloatConstant("w", filter_shape, filter);
  const ValueId y = graph.AddValue({"y", {}, {}});
  Window2D window;
  window.padding.mode = PaddingMode::kSame;
  const Op op = depthwise ? Op(DepthwiseConv2D{window, Activation::kRelu6}) : Op(Conv2D{window, Activation::kRelu6});
  graph.AddNode({op, {x, w, kNoValue}, {y}, "conv", 0});
  graph.inputs = {x};
  graph.outputs = {y};
  return graph;
}

// Times whole runs, input and output copies included: state's ranges are size, channels in, channels out.
void RunConvolution(benchmark::State& state, const std::string& device_id, bool depthwise) {
  Result<OpenedDevice> opened = OpenChosenDevice(device_id);
  if (!opened.ok()) return state.SkipWithError(opened.status().message().c_str());
  Graph graph = ConvolutionGraph(static_cast<int32_t>(state.range(0)), static_cast<int32_t>(state.range(1)),
                                 static_cast<int32_t>(state.range(2)), depthwise);
  if (!InferShapes(graph).ok()) return state.SkipWithError("the graph is wrong");
  Result<Plan> plan = Lower(graph, opened->info, {});
  if (!plan.ok()) return state.SkipWithError(plan.status().message().c_str());
  RunnerParts parts;
  parts.device = opened->device.get();
  Result<std::unique_ptr<PlanRunner>> runner = PlanRunner::Create(std::move(plan).value(), parts);
  if (!runner.ok()) return state.SkipWithError(runner.status().message().c_str());
  std::vector<std::byte> input(graph.value(graph.inputs[0]).desc.size_bytes());
  std::vector<std::byte> output(graph.value(graph.outputs[0]).desc.size_bytes());
  const std::vector<std::span<const std::byte>> inputs = {input};
  const std::vector<std::span<std::byte>> outputs = {output};
  for (auto _ : state) {
    if (!(*runner)->Run(inputs, outputs).ok()) return state.SkipWithError("the run failed");
  }
  const Shape& y = graph.value(graph.outputs[0]).desc.shape;
  const double flops =
      2.0 * static_cast<double>(y.element_count()) * static_cast<double>(depthwise ? 9 : state.range(1));
  state.counters["FLOP/s"] = benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
}

// One layer of a network by each of its candidates (core/tuning.h), dispatches alone: what shows where a variant wins.
constexpr std::pair<const char*, const char*> kCandidateLayers[] = {{"Conv3x3_90x160x32", R"(graph "g"
%0 = input : float32[1x90x160x32] "x"
%1 = constant : float32[32x3x3x32] "w" = fill(0.01)
%2 = conv_2d(%0, %1) padding=same : float32[1x90x160x32] "y" node "conv"
output %2
)"},
                                                                    {"Conv3x3_112x112x16", R"(graph "g"
%0 = input : float32[1x112x112x16] "x"
%1 = constant : float32[16x3x3x16] "w" = fill(0.01)
%2 = conv_2d(%0, %1) padding=same : float32[1x112x112x16] "y" node "conv"
output %2
)"},
                                                                    {"Dense_1024x1001", R"(graph "g"
%0 = input : float32[1x1024] "x"
%1 = constant : float32[1001x1024] "w" = fill(0.01)
%2 = fully_connected(%0, %1) : float32[1x1001] "y" node "dense"
output %2
)"},
                                                                    {"TransposeConv2x2_64x64x32", R"(graph "g"
%0 = input : float32[1x64x64x32] "x"
%1 = constant : float32[32x2x2x32] "w" = fill(0.01)
%2 = transpose_conv(%0, %1) stride=2x2 padding=same : float32[1x128x128x32] "y" node "up"
output %2
)"},
                                                                    {"Depthwise3x3_56x56x128", R"(graph "g"
%0 = input : float32[1x56x56x128] "x"
%1 = constant : float32[1x3x3x128] "w" = fill(0.01)
%2 = depthwise_conv_2d(%0, %1) padding=same : float32[1x56x56x128] "y" node "conv"
output %2
)"},
                                                                    {"Pointwise_28x28x256", R"(graph "g"
%0 = input : float32[1x28x28x256] "x"
%1 = constant : float32[256x1x1x256] "w" = fill(0.01)
%2 = conv_2d(%0, %1) : float32[1x28x28x256] "y" node "conv"
output %2
)"},
                                                                    {"Softmax_1x1001", R"(graph "g"
%0 = input : float32[1x1001] "x"
%1 = softmax(%0) : float32[1x1001] "y" node "softmax"
output %1
)"}};

void RunCandidate(benchmark::State& state, const std::string& device_id, const char* text, const KernelChoice& choice) {
  Result<OpenedDevice> opened = OpenChosenDevice(device_id);
  Result<Graph> graph = GraphFromText(text);
  if (!opened.ok() || !graph.ok() || !InferShapes(*graph).ok()) return state.SkipWithError("no device or graph");
  Result<Plan> plan = LowerLayer(*graph, opened->info, {}, choice);
  if (!plan.ok()) return state.SkipWithError(plan.status().message().c_str());
  const std::unique_ptr<LayerClock> clock = MakeDeviceClock(*opened->device, 1);
  Result<std::unique_ptr<TimedLayer>> layer = clock->Prepare(std::move(plan).value());
  if (!layer.ok()) return state.SkipWithError(layer.status().message().c_str());
  for (auto _ : state) {
    if (!(*layer)->RunMs().ok()) return state.SkipWithError("the run failed");
  }
}

void RegisterCandidates(const std::string& id) {
  Result<OpenedDevice> opened = OpenChosenDevice(id);
  if (!opened.ok()) return;
  for (const auto& [name, text] : kCandidateLayers) {
    Result<Graph> graph = GraphFromText(text);
    if (!graph.ok() || !InferShapes(*graph).ok()) continue;
    for (const TunableLayer& layer : TunableLayers(*graph, opened->info, {})) {
      for (const KernelChoice& choice : layer.candidates) {
        std::string row = ToText(choice);
        std::replace(row.begin(), row.end(), ' ', '_');
        const auto run = [id, text = text, choice](benchmark::State& state) { RunCandidate(state, id, text, choice); };
        benchmark::RegisterBenchmark(fmt::format("Candidates/{}/{}/{}", id, name, row).c_str(), run)->UseRealTime();
      }
    }
  }
}

void PackMatrix(benchmark::State& state) {
  const auto n = static_cast<int32_t>(state.range(0));
  const PackRecipe recipe{PackLayout::kMatrix, {DType::kFloat32, {n, 1, 1, n}, {}}, 16, {n, 1, 1, n}};
  const std::vector<float> source(static_cast<size_t>(n) * n, 1.0f);
  std::vector<std::byte> packed(recipe.packed_size_bytes());
  for (auto _ : state) benchmark::DoNotOptimize(PackConstant(recipe, std::as_bytes(std::span(source)), packed).ok());
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(packed.size()));
}

void ImageToSlices(benchmark::State& state) {
  const TensorDesc image{DType::kFloat32, {1, 224, 224, static_cast<int32_t>(state.range(0))}, {}};
  const Bhwc shape = ToBhwc(image.shape);
  const std::vector<float> dense(shape.pixels() * shape.c, 1.0f);
  std::vector<float> slices(shape.pixels() * shape.slices() * 4);
  for (auto _ : state) {
    DenseToSlices(image, StorageType::kFloat32, std::as_bytes(std::span(dense)),
                  std::as_writable_bytes(std::span(slices)));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) *
                          static_cast<int64_t>(slices.size() * sizeof(float)));
}

BENCHMARK(PackMatrix)->Arg(256)->Arg(1024);
BENCHMARK(ImageToSlices)->Arg(3)->Arg(32);

void RegisterDevice(const std::string& id) {
  const auto pointwise = [id](benchmark::State& state) { RunConvolution(state, id, false); };
  const auto depthwise = [id](benchmark::State& state) { RunConvolution(state, id, true); };
  benchmark::RegisterBenchmark(("Pointwise/" + id).c_str(), pointwise)
      ->Args({112, 32, 64})
      ->Args({28, 256, 256})
      ->Args({7, 1024, 1024})
      ->UseRealTime();
  benchmark::RegisterBenchmark(("Depthwise3x3/" + id).c_str(), depthwise)
      ->Args({112, 32, 32})
      ->Args({14, 512, 512})
      ->UseRealTime();
  RegisterCandidates(id);
}

}  // namespace
}  // namespace hearth

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (const hearth::ListedDevice& listed : hearth::ListAllDevices()) {
    if (listed.candidate.usable && listed.backend != nullptr) hearth::RegisterDevice(listed.id);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
