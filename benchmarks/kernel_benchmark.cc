// Benchmarks of the parts that decide a network's speed, one at a time; see README.md.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "benchmarks/device_peaks.h"
#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/lowering/lower.h"
#include "core/lowering/tunable_layers.h"
#include "core/plan/pack.h"
#include "hal/io/slices.h"
#include "hal/run/plan_runs.h"
#include "runtime/devices/device_choice.h"
#include "runtime/plans/tuner.h"
#include "tests/testing/graph_from_text.h"

namespace hearth {
namespace {

enum class Convolution { kPointwise, kDepthwise3x3, kFull3x3 };

// A convolution like MobileNet v1's, as a graph of one node.
Graph ConvolutionGraph(int32_t size, int32_t channels_in, int32_t channels_out, Convolution kind) {
  Graph graph;
  const ValueId x = graph.AddValue({"x", {DType::kFloat32, {1, size, size, channels_in}, {}}, {}});
  const bool depthwise = kind == Convolution::kDepthwise3x3;
  const int32_t window_size = kind == Convolution::kPointwise ? 1 : 3;
  const Shape filter_shape =
      depthwise ? Shape{1, 3, 3, channels_in} : Shape{channels_out, window_size, window_size, channels_in};
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

// An opened device with its peaks, measured by its first benchmark. One per device for the whole program.
struct BenchedDevice {
  OpenedDevice opened;
  DevicePeaks peaks;
};

Result<BenchedDevice*> BenchedDeviceOf(const std::string& device_id) {
  static std::map<std::string, BenchedDevice> devices;
  const auto found = devices.find(device_id);
  if (found != devices.end()) return &found->second;
  BenchedDevice device;
  HEARTH_ASSIGN(device.opened, OpenChosenDevice(device_id));
  HEARTH_ASSIGN(device.peaks, MeasurePeaks(*device.opened.device));
  return &devices.emplace(device_id, std::move(device)).first->second;
}

// Shows the results of MeasurePeaks: GFLOP/s of multiply-adds and GB/s of reads.
void ShowPeaks(benchmark::State& state, const std::string& device_id) {
  const Result<BenchedDevice*> device = BenchedDeviceOf(device_id);
  if (!device.ok()) return state.SkipWithError(device.status().message().c_str());
  for (auto _ : state) state.SetIterationTime(1e-9);
  const DevicePeaks& peaks = (*device)->peaks;
  state.counters["GFLOP/s"] = peaks.flops * 1e-9;
  state.counters["GB/s"] = peaks.cached.bytes_per_second * 1e-9;
  state.counters["memory_GB/s"] = peaks.memory.bytes_per_second * 1e-9;
  state.SetLabel(peaks.flops_variant + "; reads by " + peaks.cached.path);
}

// Times the dispatches alone, by the device's clock if it has one. The share of the peak refers to the nearer peak;
// GB/s counts input, weights and output once each.
void RunConvolution(benchmark::State& state, const std::string& device_id, Convolution kind) {
  const Result<BenchedDevice*> device = BenchedDeviceOf(device_id);
  if (!device.ok()) return state.SkipWithError(device.status().message().c_str());
  const OpenedDevice& opened = (*device)->opened;
  Graph graph = ConvolutionGraph(static_cast<int32_t>(state.range(0)), static_cast<int32_t>(state.range(1)),
                                 static_cast<int32_t>(state.range(2)), kind);
  if (!InferShapes(graph).ok()) return state.SkipWithError("the graph is wrong");
  Result<Plan> plan = Lower(graph, opened.info, {});
  if (!plan.ok()) return state.SkipWithError(plan.status().message().c_str());
  Result<ReadyPlan> ready = MakePlanReady(std::move(plan).value(), {.device = opened.device.get()});
  if (!ready.ok()) return state.SkipWithError(ready.status().message().c_str());
  std::vector<std::byte> input(graph.value(graph.inputs[0]).desc.size_bytes());
  std::vector<std::byte> output(graph.value(graph.outputs[0]).desc.size_bytes());
  const std::vector<std::span<const std::byte>> inputs = {input};
  const std::vector<std::span<std::byte>> outputs = {output};
  if (!ready->runs->Run(inputs, outputs).ok()) return state.SkipWithError("the run failed");
  double total_ms = 0;
  for (auto _ : state) {
    std::vector<ProfileRow> rows;
    if (!ready->runs->Run(inputs, outputs, {.profile = &rows}).ok()) return state.SkipWithError("the run failed");
    double run_ms = 0;
    for (const ProfileRow& row : rows) run_ms += row.milliseconds;
    state.SetIterationTime(run_ms * 1e-3);
    total_ms += run_ms;
  }
  const double seconds = total_ms * 1e-3 / static_cast<double>(state.iterations());
  const Graph& made = graph;
  const Shape& w = made.value(made.nodes()[0].inputs[1]).desc.shape;
  const Shape& y = made.value(made.outputs[0]).desc.shape;
  const double macs_per_output = static_cast<double>(w.element_count()) / static_cast<double>(state.range(2));
  const double flops = 2.0 * static_cast<double>(y.element_count()) * macs_per_output / seconds;
  const double bytes = static_cast<double>(input.size() + output.size() + w.element_count() * sizeof(float)) / seconds;
  const DevicePeaks& peaks = (*device)->peaks;
  state.counters["GFLOP/s"] = flops * 1e-9;
  state.counters["GB/s"] = bytes * 1e-9;
  state.counters["of_peak"] =
      std::max(flops / peaks.flops, bytes / std::max(peaks.cached.bytes_per_second, peaks.memory.bytes_per_second));
}

// A layer with each of its candidates (core/plan/tuning.h), dispatches alone: shows where a variant wins.
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
  const auto add = [&id](const char* name, Convolution kind) {
    return benchmark::RegisterBenchmark((std::string(name) + "/" + id).c_str(),
                                        [id, kind](benchmark::State& state) { RunConvolution(state, id, kind); })
        ->UseManualTime();
  };
  const auto peaks = [id](benchmark::State& state) { ShowPeaks(state, id); };
  benchmark::RegisterBenchmark(("Peaks/" + id).c_str(), peaks)->UseManualTime()->Iterations(1);
  add("Pointwise", Convolution::kPointwise)
      ->Args({112, 32, 64})
      ->Args({56, 128, 128})
      ->Args({28, 256, 256})
      ->Args({14, 512, 512})
      ->Args({7, 1024, 1024})
      ->Args({1, 1024, 1024});
  add("Depthwise3x3", Convolution::kDepthwise3x3)->Args({112, 32, 32})->Args({28, 256, 256})->Args({14, 512, 512});
  add("Convolution3x3", Convolution::kFull3x3)->Args({112, 3, 32})->Args({56, 32, 32})->Args({28, 128, 128});
  RegisterCandidates(id);
}

}  // namespace
}  // namespace hearth

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (const hearth::ListedDevice& listed : hearth::ListAllDevices()) {
    if (listed.candidate.usable && !listed.backend->is_host()) hearth::RegisterDevice(listed.id);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
