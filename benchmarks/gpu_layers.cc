// Estimates what the pointwise layers of MobileNet v1 take on GPUs that nobody has: the dispatches that lowering picks
// for a profile, by a model of its GPU. Runs nothing. hardware.md has the figures.
//
// A wave takes K4 / SPLIT turns (SPLIT is 1 where a kernel has none). A turn loads ROWS texels of pixels and 4 COLS of
// weights, then makes COLS ROWS texels: 16 multiplications each, in 20 instructions a number wide. Of a unit's waves
// the turns follow at the pace of its arithmetic or of its first cache, whichever is slower; a turn of one wave takes
// at least a load's latency and its own instructions. The layer ends with the unit that has most work groups, and not
// before all bytes came from memory once. What a lane loads counts once where others of its wave load it too.
//
// Numbers of 16 bits are half the bytes. Multiplied as floats, each that is loaded is converted; multiplied in 16 bits,
// a texel takes 16 such operations, of which the GPU does `half_rate` in the time of one, and of each block 4
// conversions and 4 additions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/device/device_profiles.h"
#include "core/device/device_rules.h"
#include "core/emit/arithmetic.h"
#include "core/graph/evaluate.h"
#include "core/graph/graph_text.h"
#include "core/lowering/lower.h"

namespace hearth {
namespace {

struct Gpu {
  const char* profile;
  double units;              // that the GPU has, whatever Hearth takes it to have
  double wave;               // work items
  double simd_lanes, lanes;  // multiply-adds a clock: of one wave, of a unit
  double cache_bytes;        // of a unit's first cache, a clock
  double resident_waves;     // of a unit, with a tile's registers
  double gigahertz, memory_gigabytes;
  double half_rate;  // operations of 16 bits in the time of one of 32
};
// Vendors' pages of the architecture and the part; the caches of the mobile GPUs are guesses. Ampere's consumer parts
// have no more operations of 16 bits than of 32 outside of their matrix units.
constexpr Gpu kGpus[] = {{"navi21", 60, 64, 32, 64, 64, 16, 2.1, 512, 2},
                         {"ampere-laptop", 30, 32, 32, 128, 128, 24, 1.4, 336, 1},
                         {"adreno730", 4, 64, 128, 256, 64, 16, 0.8, 51, 2},
                         {"mali-g78", 14, 16, 16, 32, 64, 32, 0.85, 51, 2}};
constexpr double kLatencyCycles = 200, kLocalBytes = 128;  // about an answer of the second cache; of a unit, a clock

struct Layer {
  int pixels_high, channels_in, channels_out, times;
};
constexpr Layer kLayers[] = {{112, 32, 64, 1},  {56, 64, 128, 1},  {56, 128, 128, 1},
                             {28, 128, 256, 1}, {28, 256, 256, 1}, {14, 256, 512, 1},
                             {14, 512, 512, 5}, {7, 512, 1024, 1}, {7, 1024, 1024, 1}};

// More than any profile: what is left is the profile's.
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

double DefineOr(const KernelSource& kernel, std::string_view name, double otherwise) {
  for (const Define& define : kernel.defines) {
    if (define.name == name) return std::stod(define.value);
  }
  return otherwise;
}

// Of a texel of the result a turn. In floats, sums of four products are a multiplication, three fused operations and an
// addition of each number. Blocks of 16 bits are converted and added.
double InstructionsOfTexel(const KernelSource& kernel, const Gpu& gpu) {
  const double turns = HalfProductsOf(kernel) / 4.0;
  if (turns > 0) return 16 / gpu.half_rate + (4 + 4) / turns;
  return DefineOr(kernel, kChained, 0) == 0 ? 20 : 16;
}

// Whether each number that is loaded is converted.
bool Converts(const KernelSource& kernel) {
  return kernel.tensors[0].storage == StorageType::kFloat16 && HalfProductsOf(kernel) == 0;
}

struct Estimate {
  std::string tile;
  double lanes = 0, useful_lanes = 0;  // times turns and texels of a turn
  double microseconds = 0, loads = 0, texels = 0;
};

Estimate EstimateOf(const Layer& layer, const Plan& plan, const Gpu& gpu) {
  const auto& dispatch = std::get<Dispatch>(plan.steps.at(0));
  const KernelSource& kernel = plan.kernels[dispatch.kernel];
  const double rows = DefineOr(kernel, "ROWS", 1), cols = DefineOr(kernel, "COLS", 1),
               split = DefineOr(kernel, "SPLIT", 1);
  const double items = kernel.local_size[0] * kernel.local_size[1] * kernel.local_size[2];
  const double groups = 1.0 * dispatch.group_count[0] * dispatch.group_count[1] * dispatch.group_count[2];
  const double waves_of_group = std::ceil(items / gpu.wave), waves = groups * waves_of_group;
  const double slices = layer.channels_out / 4.0, pixels = 1.0 * layer.pixels_high * layer.pixels_high;
  const double turns = std::ceil(layer.channels_in / 4.0 / split), texels = rows * cols;
  Estimate estimate;
  estimate.tile = fmt::format("{} {}x{}{}, {:.0f} x {:.0f}", kernel.name, rows, cols,
                              split > 1 ? fmt::format(" sums shared by {}", split) : "", groups, items);
  estimate.lanes = waves * gpu.wave * turns * texels;
  estimate.useful_lanes = pixels * slices * layer.channels_in / 4;
  estimate.loads = estimate.lanes / texels * (rows + 4 * cols), estimate.texels = estimate.lanes * 4;

  // Whoever loads the same weights: all of a wave, but for shares of a sum and, where items are numbered through pixels
  // and channels, those behind the last tile of pixels.
  const bool is_flat = kernel.name == "pointwise_flat";
  const double sums = gpu.wave / split, tiles = std::ceil(pixels / rows);
  const double columns = is_flat ? std::min(sums, 1 + sums / tiles) : 1;
  const auto texel_bytes = static_cast<double>(TexelBytes(kernel.tensors[0].storage));
  const double turn_bytes = (gpu.wave * rows + columns * split * cols * 4) * texel_bytes;
  const double of_load = Converts(kernel) ? 1 + 4 : 1;
  const double instructions =
      InstructionsOfTexel(kernel, gpu) * texels * gpu.wave + of_load * (rows + 4 * cols) * gpu.wave;
  const double of_unit = std::max(instructions / gpu.lanes, turn_bytes / gpu.cache_bytes);
  const double waves_of_unit = std::ceil(groups / gpu.units) * waves_of_group;
  const double rounds = std::ceil(waves_of_unit / gpu.resident_waves);
  const double of_wave = rounds * turns * (kLatencyCycles + instructions / gpu.simd_lanes);
  double cycles = std::max(waves_of_unit * turns * of_unit, of_wave);
  if (split > 1) cycles += 2 * kLatencyCycles + waves_of_unit * 2 * texels * 16 * gpu.wave / kLocalBytes;
  const double bytes =
      texel_bytes / 4 * (pixels * (layer.channels_in + layer.channels_out) + layer.channels_in * layer.channels_out);
  estimate.microseconds = std::max(cycles / gpu.gigahertz / 1e3, bytes / gpu.memory_gigabytes / 1e3);
  return estimate;
}

Result<Plan> PlanOf(const Layer& layer, const DeviceInfo& device, Precision precision) {
  const std::string text = fmt::format(
      "%0 = input : float32[1x{0}x{0}x{1}] \"x\"\n%1 = constant : float32[{2}x1x1x{1}] \"w\" = fill(pattern)\n"
      "%2 = constant : float32[{2}] \"b\" = fill(pattern)\n"
      "%3 = conv_2d(%0, %1, %2) activation=relu6 : float32[1x{0}x{0}x{2}] \"y\" node \"conv\"\noutput %3\n",
      layer.pixels_high, layer.channels_in, layer.channels_out);
  HEARTH_ASSIGN(Graph graph, GraphFromText(text));
  HEARTH_TRY(InferShapes(graph));
  LowerOptions options;
  options.precision = precision;
  return Lower(graph, device, options);
}

// Precisions, and in 16 bits whether GPUs that can calculate so.
struct Numbers {
  Precision precision;
  const char* rules;
};
constexpr Numbers kNumbers[] = {{Precision::kFp32, ""},
                                {Precision::kFp16, ""},
                                {Precision::kFp32_16, "+half_arithmetic"},
                                {Precision::kFp16, "+half_arithmetic"}};

Status Print(const Gpu& gpu, Dialect dialect, const Numbers& numbers) {
  HEARTH_ASSIGN(const DeviceProfile* profile, FindDeviceProfile(gpu.profile));
  DeviceInfo device = Simulated(AnyDriver(dialect), *profile);
  HEARTH_ASSIGN(device.forced_rules, ForcedRulesFromText(numbers.rules));
  std::printf("%s, %s, %s %s, taken for %u units\n", gpu.profile, std::string(DialectName(dialect)).c_str(),
              std::string(PrecisionName(numbers.precision)).c_str(), numbers.rules, device.compute_units);
  double lanes = 0, useful = 0, microseconds = 0, loads = 0, texels = 0;
  for (const Layer& layer : kLayers) {
    HEARTH_ASSIGN(const Plan plan, PlanOf(layer, device, numbers.precision));
    const Estimate estimate = EstimateOf(layer, plan, gpu);
    std::printf("  %3dx%d, %d to %d: %s; %.1f %% of lanes, %.1f us\n", layer.pixels_high, layer.pixels_high,
                layer.channels_in, layer.channels_out, estimate.tile.c_str(),
                100 * estimate.useful_lanes / estimate.lanes, estimate.microseconds);
    lanes += layer.times * estimate.lanes, useful += layer.times * estimate.useful_lanes;
    microseconds += layer.times * estimate.microseconds;
    loads += layer.times * estimate.loads, texels += layer.times * estimate.texels;
  }
  std::printf("  all 13: %.1f %% of lanes, %.2f loads a texel's four multiply-adds, %.0f us\n", 100 * useful / lanes,
              loads / texels, microseconds);
  return Status::Ok();
}

Status PrintAll() {
  for (const Gpu& gpu : kGpus) {
    for (const Dialect dialect : {Dialect::kVulkan, Dialect::kGles, Dialect::kOpenCl}) {
      for (const Numbers& numbers : kNumbers) HEARTH_TRY(Print(gpu, dialect, numbers));
    }
  }
  return Status::Ok();
}

}  // namespace
}  // namespace hearth

int main() {
  const hearth::Status status = hearth::PrintAll();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
