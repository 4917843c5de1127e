// Compiles tiles of kernels with the first Vulkan driver, for drivers that report what they made (amd_registers.py
// reads RADV's statistics). With FOLDER writes the tiles' OpenCL C instead, for a compiler (nvidia_registers.py). Runs
// nothing.
//
//   compiled_kernels [FOLDER]     FOLDER/NNN.cl: the first line names the tile
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include "backends/vulkan/backend.h"
#include "core/base/error.h"
#include "core/emit/arithmetic.h"
#include "core/emit/emit.h"
#include "core/emit/kernel_library.h"

namespace hearth {
namespace {

struct Tile {
  const char* kernel;
  uint32_t items;                      // work items of a group
  const char* defines;                 // "ROWS 4 COLS 2"
  uint32_t local_texels = 0;           // 0: the kernel's own
  std::array<uint32_t, 3> group = {};  // zeros: all items along the first dimension
};

// The type of numbers and products. turns is 0 for 32-bit products.
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

// The tiles that matrix_call.cc and convolution_lower.cc choose for GPUs, and tuning candidates like them.
constexpr Tile kTiles[] = {{"pointwise_tile", 64, "ROWS 4 COLS 2 LANES 64"},
                           {"pointwise_tile", 64, "ROWS 2 COLS 1 LANES 64"},
                           {"pointwise_tile", 64, "ROWS 8 COLS 1 LANES 64"},
                           {"pointwise_tile", 64, "ROWS 4 COLS 4 LANES 64"},
                           {"pointwise_tile", 64, "ROWS 4 COLS 2 LANES 64 SUBGROUP 8"},
                           {"conv_tile", 64, "ROWS 4 COLS 2 LANES 64"},
                           {"conv_tile", 64, "ROWS 2 COLS 2 LANES 64"},
                           {"conv_tile", 64, "ROWS 2 COLS 1 LANES 64"},
                           {"transpose_conv", 64, "ROWS 2 COLS 1 LANES 64"},
                           {"pointwise_flat", 64, "ROWS 4 COLS 2 LANES 64 SPLIT 1"},
                           {"pointwise_flat", 64, "ROWS 4 COLS 2 LANES 64 SPLIT 8"},
                           {"conv_flat", 64, "ROWS 4 COLS 2 LANES 64 SPLIT 1"},
                           {"conv_flat", 64, "ROWS 4 COLS 2 LANES 64 SPLIT 8"},
                           {"conv_flat", 64, "ROWS 2 COLS 2 LANES 64 SPLIT 1"},
                           {"conv_flat", 64, "ROWS 2 COLS 2 LANES 64 SPLIT 8"},
                           {"pointwise_local", 64, "ROWS 4 COLS 2 ACROSS 8 DOWN 8", 400},
                           {"pointwise_local", 64, "ROWS 4 COLS 2 ACROSS 16 DOWN 4", 400},
                           {"pointwise_local", 64, "ROWS 8 COLS 2 ACROSS 8 DOWN 8", 528},
                           {"pointwise_local", 64, "ROWS 4 COLS 4 ACROSS 8 DOWN 8", 656},
                           {"pointwise_local", 64, "ROWS 2 COLS 2 ACROSS 8 DOWN 8", 336},
                           {"depthwise", 64, "SH 1 SW 1 TX 4 TY 1 PLAIN 1", 0, {8, 8, 1}},
                           {"depthwise", 64, "SH 1 SW 1 TX 1 TY 4 PLAIN 1", 0, {8, 8, 1}},
                           {"depthwise", 64, "SH 1 SW 1 TX 1 TY 2 PLAIN 1", 0, {8, 8, 1}},
                           {"depthwise", 64, "SH 1 SW 1 TX 2 TY 2 PLAIN 1", 0, {8, 8, 1}},
                           {"depthwise", 64, "SH 1 SW 1 TX 1 TY 2 PLAIN 1", 0, {4, 2, 8}},
                           {"depthwise", 64, "SH 2 SW 2 TX 4 TY 1 PLAIN 1", 0, {8, 8, 1}},
                           {"depthwise", 64, "SH 2 SW 2 TX 1 TY 4 PLAIN 1", 0, {8, 8, 1}},
                           {"depthwise", 64, "SH 2 SW 2 TX 1 TY 2 PLAIN 1", 0, {8, 8, 1}},
                           {"depthwise", 64, "SH 2 SW 2 TX 1 TY 2 PLAIN 1", 0, {4, 2, 8}},
                           {"depthwise", 64, "SH 2 SW 2 TX 1 TY 1 PLAIN 1", 0, {8, 8, 1}}};

bool Has(const KernelSource& source, std::string_view define) {
  return std::ranges::find(source.defines, define, &Define::name) != source.defines.end();
}

Result<KernelSource> SourceOf(const Tile& tile, const Numbers& numbers) {
  HEARTH_ASSIGN(KernelSource source, LoadKernel(tile.kernel));
  std::istringstream words(tile.defines);
  for (std::string name, value; words >> name >> value;) HEARTH_TRY(SetDefine(source, name, value));
  if (Has(source, kChained)) HEARTH_TRY(SetDefine(source, kChained, numbers.is_chained ? "1" : "0"));
  if (numbers.turns > 0) {
    HEARTH_TRY(SetDefine(source, kHalf, "1"));
    HEARTH_TRY(SetDefine(source, kTurns, std::to_string(numbers.turns)));
  }
  for (TensorArg& arg : source.tensors) {
    const bool is_whole = arg.name == "bias" || (arg.name == "w" && !Has(source, kHalf));
    if (!is_whole) arg.storage = numbers.storage;
  }
  if (tile.local_texels > 0) source.shared.front().count = tile.local_texels;
  source.local_size = tile.group[0] > 0 ? tile.group : std::array{tile.items, 1u, 1u};
  return source;
}

// Kernels other than matrix products have one sum per product and 32 bits only.
bool HasNumbers(const KernelSource& source, const Numbers& numbers) {
  return Has(source, kHalf) || (numbers.turns == 0 && numbers.is_chained == (numbers.storage == StorageType::kFloat32));
}

using Taker = std::function<Status(const KernelSource& source, const std::string& title)>;

Status ForEachTile(const Taker& take) {
  for (const Tile& tile : kTiles) {
    HEARTH_ASSIGN(const KernelSource kernel, LoadKernel(tile.kernel));
    for (const Numbers& numbers : kNumbers) {
      if (!HasNumbers(kernel, numbers)) continue;
      HEARTH_ASSIGN(const KernelSource source, SourceOf(tile, numbers));
      const auto& group = source.local_size;
      HEARTH_TRY(take(source, fmt::format("{} {}, {}, items {} of {}x{}x{}", tile.kernel, tile.defines, numbers.words,
                                          tile.items, group[0], group[1], group[2])));
    }
  }
  return Status::Ok();
}

Status WriteAll(const std::string& folder) {
  int number = 0;
  return ForEachTile([&](const KernelSource& source, const std::string& title) {
    if (title.find("SUBGROUP") != std::string::npos) return Status::Ok();  // only Vulkan has it
    const std::string path = fmt::format("{}/{:03}.cl", folder, number++);
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
