// Compiles tiles of kernels with the first Vulkan driver, so that a driver which tells what it made of them can be
// asked (amd_registers.py reads RADV's answers), or writes their OpenCL C for a compiler (nvidia_registers.py).
// Runs nothing.
//
//   compiled_kernels [FOLDER]     with FOLDER: FOLDER/NN.cl, whose first line says what it is
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <string>

#include "backends/vulkan/backend.h"
#include "core/base/error.h"
#include "core/emit/arithmetic.h"
#include "core/emit/emit.h"
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
constexpr Tile kTiles[] = {{"pointwise_tile", 4, 2, 64},    {"pointwise_tile", 2, 1, 64},
                           {"pointwise_tile", 8, 1, 64},    {"pointwise_tile", 4, 4, 64},
                           {"conv_tile", 4, 2, 64},         {"conv_tile", 2, 2, 64},
                           {"conv_tile", 2, 1, 64},         {"transpose_conv", 2, 1, 64},
                           {"pointwise_flat", 4, 2, 64, 1}, {"pointwise_flat", 4, 2, 64, 8}};

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

using Taker = std::function<Status(const KernelSource& source, const std::string& title)>;

Status ForEachTile(const Taker& take) {
  for (const Tile& tile : kTiles) {
    for (const Numbers& numbers : kNumbers) {
      HEARTH_ASSIGN(const KernelSource source, SourceOf(tile, numbers));
      HEARTH_TRY(take(source, fmt::format("{} {}x{} lanes {} split {}, {}", tile.kernel, tile.rows, tile.cols,
                                          tile.lanes, tile.split, numbers.words)));
    }
  }
  return Status::Ok();
}

Status WriteAll(const std::string& folder) {
  int number = 0;
  return ForEachTile([&](const KernelSource& source, const std::string& title) {
    const std::string path = fmt::format("{}/{:02}.cl", folder, number++);
    std::ofstream file(path);
    file << "// " << title << "\n" << EmitOpenClProgram({&source, 1});
    return file.flush() ? Status::Ok() : Error(StatusCode::kUnavailable, "cannot write {}", path);
  });
}

Status CompileAll() {
  for (const DeviceCandidate& candidate : EnumerateVulkan()) {
    if (!candidate.usable) return Status(StatusCode::kUnavailable, candidate.unusable_reason);
    HEARTH_ASSIGN(const std::unique_ptr<Device> device, OpenVulkan(candidate));
    HEARTH_TRY(ForEachTile([&](const KernelSource& source, const std::string& title) {
      std::fprintf(stderr, "== %s\n", title.c_str());
      return device->Compile({&source, 1}).status();
    }));
    std::_Exit(0);  // RADV without a GPU (Mesa 22.3) ends the process when its device is destroyed
  }
  return Status(StatusCode::kUnavailable, "there is no Vulkan driver");
}

}  // namespace
}  // namespace hearth

int main(int argc, char** argv) {
  const hearth::Status status = argc > 1 ? hearth::WriteAll(argv[1]) : hearth::CompileAll();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
