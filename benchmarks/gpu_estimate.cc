// Estimates of matrix products. A wave makes K4 / SPLIT iterations (SPLIT is 1 for kernels without it). An iteration
// loads ROWS texels of pixels and 4 COLS texels of weights, then makes COLS ROWS texels: 16 multiplications each, in 20
// instructions per lane. The waves of a unit advance at the rate of its arithmetic or of its first cache, whichever is
// slower. One wave's iteration takes at least the latency of a load and its own instructions. The layer ends with the
// unit that has the most work groups, and not before memory has delivered all bytes once. A load that lanes of a wave
// share counts once.
//
// 16-bit numbers take half the bytes. Multiplied as floats, each loaded number is converted. Multiplied in 16 bits, a
// texel takes 16 operations, of which the GPU does `half_rate` in the time of one, and each block takes 4 conversions
// and 4 additions.
//
// Other kernels:
// - A convolution with a window iterates under each tap, with 4 instructions to choose each pixel texel or zero.
// - A kernel with local memory loads, chooses, converts and stores each factor once per work group. Loads from local
//   memory need no conversion, and their bytes count for each lane, even if lanes load the same. The rate of local
//   memory can limit iterations too. A slab of iterations waits for one load, each iteration for local memory, and
//   local memory limits the resident groups.
// - A depthwise convolution's item loads each texel under its window once, with 4 instructions for the address and 4 to
//   choose it or zero, and multiplies in 4 per tap. A load of a wave transfers each 64-byte line that it touches, so
//   items with distant texels transfer more than they use. All loads wait once.
#include "benchmarks/gpu_estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/emit/arithmetic.h"

namespace hearth {
namespace {

// From the vendors' pages on architecture and part. The caches and local memories of mobile GPUs are guesses (Mali's
// local memory lies in its cache). Ampere's consumer parts do as many 16-bit as 32-bit operations outside of matrix
// units.
constexpr Gpu kGpus[] = {{"navi21", 60, 64, 32, 64, 64, 16, 2.1, 512, 2, 128, 64},
                         {"ampere-laptop", 30, 32, 32, 128, 128, 24, 1.4, 336, 1, 128, 100},
                         {"h100", 132, 32, 32, 128, 128, 24, 1.98, 3350, 2, 128, 228},
                         {"adreno730", 4, 64, 128, 256, 64, 16, 0.8, 51, 2, 128, 32},
                         {"mali-g78", 14, 16, 16, 32, 64, 32, 0.85, 51, 2, 64, 32}};
constexpr double kLatencyCycles = 200, kLocalBytes = 128;  // about the second cache's latency; per unit and clock
constexpr double kLocalLatencyCycles = 50, kLineBytes = 64, kChoosing = 4, kAddress = 4;

double DefineOr(const KernelSource& kernel, std::string_view name, double otherwise) {
  for (const Define& define : kernel.defines) {
    if (define.name == name) return std::stod(define.value);
  }
  return otherwise;
}

double ScalarOr(const Dispatch& dispatch, const KernelSource& kernel, std::string_view name, double otherwise) {
  for (size_t k = 0; k < kernel.scalars.size(); ++k) {
    if (kernel.scalars[k].name == name) return static_cast<double>(dispatch.scalars.at(k));
  }
  return otherwise;
}

// Instructions per result texel and iteration. In float a sum of four products takes a multiplication, three fused
// multiply-adds and an addition per component. Blocks in 16 bits are converted and added.
double InstructionsOfTexel(const KernelSource& kernel, const Gpu& gpu) {
  const double turns = HalfProductsOf(kernel) / 4.0;
  if (turns > 0) return 16 / gpu.half_rate + (4 + 4) / turns;
  return DefineOr(kernel, kChained, 0) == 0 ? 20 : 16;
}

// Whether loaded numbers are converted.
bool Converts(const KernelSource& kernel) {
  return kernel.tensors[0].storage == StorageType::kFloat16 && HalfProductsOf(kernel) == 0;
}

// The sizes of a dispatch.
struct Work {
  double items, groups, waves_of_group, waves_of_unit, waves;
  double pixels, slices_in, slices_out, taps, pixels_in;
};

Work WorkOf(const Dispatch& dispatch, const KernelSource& kernel, const Gpu& gpu) {
  Work work{};
  const auto scalar = [&](std::string_view name, double otherwise) {
    return ScalarOr(dispatch, kernel, name, otherwise);
  };
  work.items = kernel.local_size[0] * kernel.local_size[1] * kernel.local_size[2];
  work.groups = 1.0 * dispatch.group_count[0] * dispatch.group_count[1] * dispatch.group_count[2];
  work.waves_of_group = std::ceil(work.items / gpu.wave);
  work.waves = work.groups * work.waves_of_group;
  work.waves_of_unit = std::ceil(work.groups / gpu.units) * work.waves_of_group;
  work.pixels = scalar("M", 1), work.pixels_in = scalar("IPIX", work.pixels);
  work.slices_in = scalar("K4", 1), work.slices_out = scalar("N4", 1);
  work.taps = scalar("KH", 1) * scalar("KW", 1);
  return work;
}

// One iteration of a wave: instructions of all lanes, bytes from the first cache and from local memory, and cycles that
// the wave waits.
struct Turn {
  double instructions, cache_bytes, local_bytes, waiting;
};

Turn LoadedTurn(const Work& work, const KernelSource& kernel, const Gpu& gpu, double rows, double cols, double split) {
  // Columns of tiles in a wave, whose lanes load the same weights: one, but more if items share sums or, numbered
  // through pixels and channels, continue behind the last tile of pixels.
  const bool is_flat = kernel.name == "pointwise_flat" || kernel.name == "conv_flat";
  const double sums = gpu.wave / split, tiles = std::ceil(work.pixels / rows);
  const double columns = is_flat ? std::min(sums, 1 + sums / tiles) : 1;
  const auto texel_bytes = static_cast<double>(TexelBytes(kernel.tensors[0].storage));
  const double of_load = Converts(kernel) ? 1 + 4 : 1;
  const double choosing = kernel.name.starts_with("conv") ? kChoosing * rows : 0;
  Turn turn{};
  turn.cache_bytes = (gpu.wave * rows + columns * split * cols * 4) * texel_bytes;
  turn.instructions = InstructionsOfTexel(kernel, gpu) * rows * cols * gpu.wave +
                      of_load * (rows + 4 * cols) * gpu.wave + choosing * gpu.wave;
  turn.waiting = kLatencyCycles;
  return turn;
}

Turn LocalTurn(const Work& work, const KernelSource& kernel, const Gpu& gpu, double rows, double cols) {
  const double across = DefineOr(kernel, "ACROSS", 1), down = DefineOr(kernel, "DOWN", 1);
  const double copied = (across * rows + down * cols * 4) / work.waves_of_group;  // texels per wave
  const auto texel_bytes = static_cast<double>(TexelBytes(kernel.tensors[0].storage));
  const double of_copy = 1 + (Converts(kernel) ? 4 : 0) + kChoosing + 1;
  Turn turn{};
  turn.cache_bytes = copied * texel_bytes;
  turn.local_bytes = (gpu.wave * (rows + 4 * cols) + copied) * 16;
  turn.instructions = (InstructionsOfTexel(kernel, gpu) * rows * cols + rows + 4 * cols) * gpu.wave + of_copy * copied;
  turn.waiting = kLatencyCycles / DefineOr(kernel, "SLAB", 1) + kLocalLatencyCycles;
  return turn;
}

double ResidentWaves(const Work& work, const KernelSource& kernel, const Gpu& gpu) {
  if (kernel.name != "pointwise_local") return gpu.resident_waves;
  const double groups = std::floor(gpu.local_kib * 1024 / (16.0 * kernel.shared.at(0).count));
  return std::min(gpu.resident_waves, std::max(1.0, groups) * work.waves_of_group);
}

Estimate ProductEstimate(const Dispatch& dispatch, const KernelSource& kernel, const Gpu& gpu) {
  const Work work = WorkOf(dispatch, kernel, gpu);
  const bool is_local = kernel.name == "pointwise_local";
  const double rows = DefineOr(kernel, "ROWS", 1), cols = DefineOr(kernel, "COLS", 1),
               split = DefineOr(kernel, "SPLIT", 1);
  const double slab = is_local ? DefineOr(kernel, "SLAB", 1) : 1;
  const double turns = work.taps * std::ceil(work.slices_in / split / slab) * slab, texels = rows * cols;
  Estimate estimate;
  estimate.tile =
      fmt::format("{} {}x{}{}{}, {:.0f} x {:.0f}", kernel.name, rows, cols,
                  split > 1 ? fmt::format(" sums shared by {}", split) : "",
                  is_local ? fmt::format(" of {} across", DefineOr(kernel, "ACROSS", 1)) : "", work.groups, work.items);
  estimate.lanes = work.waves * gpu.wave * turns * texels;
  estimate.useful_lanes = work.pixels * work.slices_out * work.slices_in * work.taps;
  estimate.loads = estimate.lanes / texels * (rows + 4 * cols), estimate.texels = estimate.lanes * 4;

  const Turn turn =
      is_local ? LocalTurn(work, kernel, gpu, rows, cols) : LoadedTurn(work, kernel, gpu, rows, cols, split);
  const double of_unit =
      std::max({turn.instructions / gpu.lanes, turn.cache_bytes / gpu.cache_bytes, turn.local_bytes / gpu.local_bytes});
  const double rounds = std::ceil(work.waves_of_unit / ResidentWaves(work, kernel, gpu));
  const double of_wave = rounds * turns * (turn.waiting + turn.instructions / gpu.simd_lanes);
  double cycles = std::max(work.waves_of_unit * turns * of_unit, of_wave);
  if (split > 1) cycles += 2 * kLatencyCycles + work.waves_of_unit * 2 * texels * 16 * gpu.wave / kLocalBytes;
  const auto texel_bytes = static_cast<double>(TexelBytes(kernel.tensors[0].storage));
  const double bytes = texel_bytes * (work.pixels_in * work.slices_in + work.pixels * work.slices_out +
                                      4 * work.taps * work.slices_in * work.slices_out);
  estimate.microseconds = std::max(cycles / gpu.gigahertz / 1e3, bytes / gpu.memory_gigabytes / 1e3);
  return estimate;
}

// Bytes of the lines that one load of a wave touches. Items are in rows of `columns`, `stride` texels apart.
double TouchedBytes(double items, double columns, double stride, double texel_bytes) {
  const double lines = std::ceil(items / columns);
  return lines * std::ceil(std::min(columns, items) * std::min(stride * texel_bytes, kLineBytes) / kLineBytes) *
         kLineBytes;
}

Estimate DepthwiseEstimate(const Dispatch& dispatch, const KernelSource& kernel, const Gpu& gpu) {
  const Work work = WorkOf(dispatch, kernel, gpu);
  const double tx = DefineOr(kernel, "TX", 1), ty = DefineOr(kernel, "TY", 1), kh = DefineOr(kernel, "KH", 1),
               kw = DefineOr(kernel, "KW", 1), sh = DefineOr(kernel, "SH", 1), sw = DefineOr(kernel, "SW", 1);
  const double loads = ((tx - 1) * sw + kw) * ((ty - 1) * sh + kh), outputs = tx * ty;
  const double pixels_out = ScalarOr(dispatch, kernel, "OPIX", 1);
  Estimate estimate;
  estimate.tile = fmt::format("{} {}x{}, {:.0f} x ({}, {}, {})", kernel.name, ty, tx, work.groups, kernel.local_size[0],
                              kernel.local_size[1], kernel.local_size[2]);
  estimate.lanes = work.waves * gpu.wave * outputs * kh * kw;
  estimate.useful_lanes = pixels_out * work.slices_out * kh * kw;
  estimate.loads = estimate.lanes / outputs / kh / kw * (loads + kh * kw), estimate.texels = estimate.lanes;

  const auto texel_bytes = static_cast<double>(TexelBytes(kernel.tensors[0].storage));
  const double of_load = 1 + (Converts(kernel) ? 4 : 0) + kAddress + kChoosing;
  const double instructions = (4 * outputs * kh * kw + of_load * loads + kh * kw) * gpu.wave;
  const double planes = std::ceil(gpu.wave / (kernel.local_size[0] * kernel.local_size[1]));
  const double cache_bytes =
      loads * TouchedBytes(gpu.wave, kernel.local_size[0], tx * sw, texel_bytes) + planes * kh * kw * 16;
  const double of_unit = std::max(instructions / gpu.lanes, cache_bytes / gpu.cache_bytes);
  const double rounds = std::ceil(work.waves_of_unit / gpu.resident_waves);
  const double of_wave = rounds * (kLatencyCycles + instructions / gpu.simd_lanes);
  const double cycles = std::max(work.waves_of_unit * of_unit, of_wave);
  const double bytes = texel_bytes * (work.pixels_in + pixels_out) * work.slices_out;
  estimate.microseconds = std::max(cycles / gpu.gigahertz / 1e3, bytes / gpu.memory_gigabytes / 1e3);
  return estimate;
}

}  // namespace

std::span<const Gpu> EstimatedGpus() {
  return kGpus;
}

std::optional<Estimate> EstimateOf(const Dispatch& dispatch, const KernelSource& kernel, const Gpu& gpu) {
  if (kernel.name == "depthwise") return DepthwiseEstimate(dispatch, kernel, gpu);
  for (const std::string_view name :
       {"pointwise_tile", "pointwise_flat", "pointwise_local", "conv_tile", "conv_flat"}) {
    if (kernel.name == name) return ProductEstimate(dispatch, kernel, gpu);
  }
  return std::nullopt;
}

}  // namespace hearth
