// Estimates layers on GPUs that are not at hand: the dispatches that lowering chooses for a profile, by a model of its
// GPU (gpu_estimate.cc). Runs nothing. hardware.md has the figures.
//
//   gpu_layers                     MobileNet v1's pointwise layers, by the rules' tile and by the best in local memory
//   gpu_layers MODEL...            the sum over the models' pointwise, windowed and depthwise convolutions
//   gpu_layers --layers MODEL...   each layer too
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/gpu_estimate.h"
#include "core/base/error.h"
#include "core/device/device_profiles.h"
#include "core/device/device_rules.h"
#include "core/graph/evaluate.h"
#include "core/graph/passes/pass.h"
#include "core/lowering/group_product.h"
#include "core/lowering/lower.h"
#include "core/lowering/tunable_layers.h"
#include "hearth/model.h"
#include "runtime/model/model_data.h"
#include "tests/testing/graph_from_text.h"

namespace hearth {
namespace {

struct Layer {
  int pixels_high, channels_in, channels_out, times;
};
constexpr Layer kLayers[] = {{112, 32, 64, 1},  {56, 64, 128, 1},  {56, 128, 128, 1},
                             {28, 128, 256, 1}, {28, 256, 256, 1}, {14, 256, 512, 1},
                             {14, 512, 512, 5}, {7, 512, 1024, 1}, {7, 1024, 1024, 1}};

// Limits beyond any profile, so that the profile's remain.
DeviceInfo AnyDriver(Dialect dialect) {
  DeviceInfo info;
  info.backend = DialectName(dialect);
  info.dialect = dialect;
  info.type = DeviceType::kCpu;
  info.max_local_size = {1024, 1024, 1024};
  info.max_local_invocations = 1024;
  info.local_memory_bytes = 1 << 20;
  info.max_buffer_bytes = info.max_binding_bytes = uint64_t{1} << 32;
  info.max_storage_buffers = 32;
  info.max_scalar_bytes = 1024;
  info.subgroup_size = dialect == Dialect::kVulkan ? 128 : 1;
  info.fp16_storage = info.fp16_arithmetic = true;
  return info;
}

Result<Graph> GraphOf(const Layer& layer) {
  const std::string text = fmt::format(
      "%0 = input : float32[1x{0}x{0}x{1}] \"x\"\n%1 = constant : float32[{2}x1x1x{1}] \"w\" = fill(pattern)\n"
      "%2 = constant : float32[{2}] \"b\" = fill(pattern)\n"
      "%3 = conv_2d(%0, %1, %2) activation=relu6 : float32[1x{0}x{0}x{2}] \"y\" node \"conv\"\noutput %3\n",
      layer.pixels_high, layer.channels_in, layer.channels_out);
  HEARTH_ASSIGN(Graph graph, GraphFromText(text));
  HEARTH_TRY(InferShapes(graph));
  return graph;
}

Estimate EstimateOfFirst(const Plan& plan, const Gpu& gpu) {
  const Dispatch& dispatch = plan.dispatches.at(0);
  return EstimateOf(dispatch, plan.kernels[dispatch.kernel], gpu).value();
}

// The fastest tuning candidate with local memory; `otherwise` if there is none.
Result<Estimate> BestLocal(const Graph& graph, const DeviceInfo& device, const LowerOptions& options, const Gpu& gpu,
                           const Estimate& otherwise) {
  Estimate best = otherwise;
  bool is_first = true;
  for (const TunableLayer& layer : TunableLayers(graph, device, options)) {
    for (const KernelChoice& choice : layer.candidates) {
      if (choice.variant != kLocalVariant) continue;
      HEARTH_ASSIGN(const Plan plan, LowerLayer(graph, device, options, choice));
      const Estimate estimate = EstimateOfFirst(plan, gpu);
      if (is_first || estimate.microseconds < best.microseconds) best = estimate;
      is_first = false;
    }
  }
  return best;
}

// A precision, and whether GPUs can calculate in 16 bits.
struct Numbers {
  Precision precision;
  const char* rules;
};
// Each layer stands alone, so nothing bounds its input.
constexpr Numbers kNumbers[] = {{Precision::kFp32, ""},
                                {Precision::kFp16, "-half_arithmetic"},
                                {Precision::kFp32_16, "+unbounded_halves"},
                                {Precision::kFp16, "+unbounded_halves"}};

Status Print(const Gpu& gpu, Dialect dialect, const Numbers& numbers) {
  HEARTH_ASSIGN(const DeviceProfile* profile, FindDeviceProfile(gpu.profile));
  DeviceInfo device = Simulated(AnyDriver(dialect), *profile);
  HEARTH_ASSIGN(device.forced_rules, ForcedRulesFromText(numbers.rules));
  LowerOptions options;
  options.precision = numbers.precision;
  std::printf("%s, %s, %s %s, taken for %u units\n", gpu.profile, std::string(DialectName(dialect)).c_str(),
              std::string(PrecisionName(numbers.precision)).c_str(), numbers.rules, device.compute_units);
  double lanes = 0, useful = 0, microseconds = 0, loads = 0, texels = 0, local_microseconds = 0;
  for (const Layer& layer : kLayers) {
    HEARTH_ASSIGN(const Graph graph, GraphOf(layer));
    HEARTH_ASSIGN(const Plan plan, Lower(graph, device, options));
    const Estimate estimate = EstimateOfFirst(plan, gpu);
    HEARTH_ASSIGN(const Estimate local, BestLocal(graph, device, options, gpu, estimate));
    std::printf("  %3dx%d, %d to %d: %s; %.1f %% of lanes, %.1f us; %s, %.1f us\n", layer.pixels_high,
                layer.pixels_high, layer.channels_in, layer.channels_out, estimate.tile.c_str(),
                100 * estimate.useful_lanes / estimate.lanes, estimate.microseconds, local.tile.c_str(),
                local.microseconds);
    lanes += layer.times * estimate.lanes, useful += layer.times * estimate.useful_lanes;
    microseconds += layer.times * estimate.microseconds, local_microseconds += layer.times * local.microseconds;
    loads += layer.times * estimate.loads, texels += layer.times * estimate.texels;
  }
  std::printf("  all 13: %.1f %% of lanes, %.2f loads a texel's four multiply-adds, %.0f us; in local memory %.0f us\n",
              100 * useful / lanes, loads / texels, microseconds, local_microseconds);
  return Status::Ok();
}

Status PrintMobileNet() {
  for (const Gpu& gpu : EstimatedGpus()) {
    for (const Dialect dialect : {Dialect::kVulkan, Dialect::kGles, Dialect::kOpenCl}) {
      for (const Numbers& numbers : kNumbers) HEARTH_TRY(Print(gpu, dialect, numbers));
    }
  }
  return Status::Ok();
}

struct Sum {
  int layers = 0;
  double lanes = 0, useful = 0, microseconds = 0;
};

std::string_view KindOf(const KernelSource& kernel) {
  return kernel.name.starts_with("pointwise") ? "pointwise" : kernel.name == "depthwise" ? "depthwise" : "windowed";
}

Status PrintModel(const Model& model, const std::string& name, const Gpu& gpu, bool each) {
  HEARTH_ASSIGN(const DeviceProfile* profile, FindDeviceProfile(gpu.profile));
  const DeviceInfo device = Simulated(AnyDriver(Dialect::kVulkan), *profile);
  Graph graph = model.data().graph.Clone();
  HEARTH_TRY(InferShapes(graph));
  HEARTH_TRY(RunPasses(graph, device, {}));
  HEARTH_ASSIGN(const Plan plan, Lower(graph, device, {}));
  std::map<std::string_view, Sum> sums;
  std::printf("%s, %s\n", name.c_str(), gpu.profile);
  for (const Dispatch& dispatch : plan.dispatches) {
    const KernelSource& kernel = plan.kernels[dispatch.kernel];
    const auto estimate = EstimateOf(dispatch, kernel, gpu);
    if (!estimate) continue;
    Sum& sum = sums[KindOf(kernel)];
    ++sum.layers, sum.lanes += estimate->lanes, sum.useful += estimate->useful_lanes;
    sum.microseconds += estimate->microseconds;
    if (each) {
      std::printf("    %s: %s; %.1f %% of lanes, %.1f us\n", dispatch.label.c_str(), estimate->tile.c_str(),
                  100 * estimate->useful_lanes / estimate->lanes, estimate->microseconds);
    }
  }
  for (const auto& [kind, sum] : sums) {
    std::printf("  %s: %d, %.1f %% of lanes, %.0f us\n", std::string(kind).c_str(), sum.layers,
                100 * sum.useful / sum.lanes, sum.microseconds);
  }
  return Status::Ok();
}

Status PrintModels(std::vector<std::string> paths) {
  const bool each = paths.front() == "--layers";
  if (each) paths.erase(paths.begin());
  for (const std::string& path : paths) {
    HEARTH_ASSIGN(const Model model, Model::FromFile(path));
    for (const Gpu& gpu : EstimatedGpus())
      HEARTH_TRY(PrintModel(model, path.substr(path.find_last_of('/') + 1), gpu, each));
  }
  return Status::Ok();
}

}  // namespace
}  // namespace hearth

int main(int argc, char** argv) {
  const hearth::Status status = argc > 1 ? hearth::PrintModels({argv + 1, argv + argc}) : hearth::PrintMobileNet();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
