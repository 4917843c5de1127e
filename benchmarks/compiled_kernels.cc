// Compiles tiles of kernels with the first Vulkan driver, so that a driver which tells what it made of them can be
// asked: amd_registers.py reads RADV's answers. Runs nothing.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "backends/vulkan/backend.h"
#include "core/base/error.h"
#include "core/emit/arithmetic.h"
#include "core/emit/kernel_library.h"

namespace hearth {
namespace {

struct Tile {
  const char* kernel;
  int rows, cols, lanes;
  int split = 0;  // of pointwise_flat
};

// How numbers are held and multiplied. Turns: 0 for products of 32 bits.
struct Numbers {
  const char* words;
  StorageType storage;
  int turns;
  bool is_chained;
};
constexpr Numbers kNumbers[] = {{"fp32, four at once", StorageType::kFloat32, 0, false},
                                {"fp32", StorageType::kFloat32, 0, true},
                                {"fp16 held only", StorageType::kFloat16, 0, false},
                                {"fp32_16", StorageType::kFloat16, 1, true},
                                {"fp16", StorageType::kFloat16, 4, true}};

// What matrix_call.cc picks for GPUs, and candidates of tuning around them.
constexpr Tile kTiles[] = {
    {"pointwise_tile", 4, 2, 64}, {"pointwise_tile", 2, 1, 64},    {"pointwise_tile", 8, 1, 64},
    {"pointwise_tile", 4, 4, 64}, {"conv_tile", 4, 2, 64},         {"conv_tile", 2, 1, 64},
    {"transpose_conv", 2, 1, 64}, {"pointwise_flat", 4, 2, 64, 1}, {"pointwise_flat", 4, 2, 64, 8}};

Result<KernelSource> SourceOf(const Tile& tile, const Numbers& numbers) {
  HEARTH_ASSIGN(KernelSource source, LoadKernel(tile.kernel));
  HEARTH_TRY(SetDefine(source, "ROWS", std::to_string(tile.rows)));
  HEARTH_TRY(SetDefine(source, "COLS", std::to_string(tile.cols)));
  HEARTH_TRY(SetDefine(source, "LANES", std::to_string(tile.lanes)));
  if (tile.split > 0) HEARTH_TRY(SetDefine(source, "SPLIT", std::to_string(tile.split)));
  HEARTH_TRY(SetDefine(source, kChained, numbers.is_chained ? "1" : "0"));
  if (numbers.turns > 0) {
    HEARTH_TRY(SetDefine(source, kHalf, "1"));
    HEARTH_TRY(SetDefine(source, kTurns, std::to_string(numbers.turns)));
  }
  for (TensorArg& arg : source.tensors) {
    if (arg.name != "bias") arg.storage = numbers.storage;
  }
  source.local_size = {static_cast<uint32_t>(tile.lanes), 1, 1};
  return source;
}

Status Compile(Device& device, const Tile& tile, const Numbers& numbers) {
  HEARTH_ASSIGN(const KernelSource source, SourceOf(tile, numbers));
  std::fprintf(stderr, "== %s %dx%d lanes %d split %d, %s\n", tile.kernel, tile.rows, tile.cols, tile.lanes, tile.split,
               numbers.words);
  return device.Compile({&source, 1}).status();
}

Status CompileAll() {
  for (const DeviceCandidate& candidate : EnumerateVulkan()) {
    if (!candidate.usable) return Status(StatusCode::kUnavailable, candidate.unusable_reason);
    HEARTH_ASSIGN(const std::unique_ptr<Device> device, OpenVulkan(candidate));
    for (const Tile& tile : kTiles) {
      for (const Numbers& numbers : kNumbers) HEARTH_TRY(Compile(*device, tile, numbers));
    }
    std::_Exit(0);  // RADV without a GPU (Mesa 22.3) ends the process when its device is destroyed
  }
  return Status(StatusCode::kUnavailable, "there is no Vulkan driver");
}

}  // namespace
}  // namespace hearth

int main() {
  const hearth::Status status = hearth::CompileAll();
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 1;
}
