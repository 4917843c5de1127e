// Copies the bytes of a frame that its kernel reads.
#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/numbers.h"
#include "hal/io/frame_layout.h"

namespace hearth {
namespace {

// Returns the blocks that samples read, and changes the samples to positions in the copy, where these blocks are
// adjacent.
std::vector<int32_t> KeepTouched(std::vector<BilinearSample>& samples, int32_t block) {
  std::vector<int32_t> blocks;
  for (const BilinearSample& sample : samples) {
    blocks.push_back(sample.low / block);
    blocks.push_back(sample.high / block);
  }
  std::ranges::sort(blocks);
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  const auto packed = [&](int32_t place) {
    const auto at = std::lower_bound(blocks.begin(), blocks.end(), place / block) - blocks.begin();
    return static_cast<int32_t>(at) * block + place % block;
  };
  for (BilinearSample& sample : samples) sample = {packed(sample.low), packed(sample.high), sample.weight};
  return blocks;
}

// Copies `blocks` of one row, of `kBlockBytes` each. The row has `row_bytes`, which may end within a block.
template <size_t kBlockBytes>
void GatherColumns(const std::byte* row, uint64_t row_bytes, std::span<const int32_t> blocks, std::byte* to) {
  // All but the last block are whole.
  for (size_t k = 0; k + 1 < blocks.size(); ++k)
    std::memcpy(to + k * kBlockBytes, row + static_cast<size_t>(blocks[k]) * kBlockBytes, kBlockBytes);
  const size_t last = static_cast<size_t>(blocks.back()) * kBlockBytes;
  std::memcpy(to + (blocks.size() - 1) * kBlockBytes, row + last, std::min<uint64_t>(kBlockBytes, row_bytes - last));
}

void CopyColumns(const std::byte* row, uint64_t row_bytes, std::span<const int32_t> blocks, uint64_t block_bytes,
                 std::byte* to) {
  if (blocks.back() - blocks.front() + 1 == static_cast<int32_t>(blocks.size())) {
    const uint64_t first = static_cast<uint64_t>(blocks.front()) * block_bytes;
    std::memcpy(to, row + first, std::min(blocks.size() * block_bytes, row_bytes - first));
    return;
  }
  switch (block_bytes) {
    case 1: return GatherColumns<1>(row, row_bytes, blocks, to);
    case 2: return GatherColumns<2>(row, row_bytes, blocks, to);
    case 3: return GatherColumns<3>(row, row_bytes, blocks, to);
    default: return GatherColumns<4>(row, row_bytes, blocks, to);
  }
}

}  // namespace

PackedFrame PackFrame(const FrameLayout& layout) {
  PackedFrame packed{.across = layout.across, .down = layout.down};
  std::vector<int32_t> across = KeepTouched(packed.across, layout.block());
  std::vector<int32_t> down = KeepTouched(packed.down, layout.block());
  if (layout.is_turned) std::swap(across, down);
  packed.columns = std::move(across);
  packed.rows = std::move(down);
  return packed;
}

PackedPlaces PlacesOf(const FrameLayout& layout, size_t columns, size_t rows) {
  const auto block = static_cast<uint64_t>(layout.block());
  PackedPlaces places;
  places.planes[0] = {0, RoundUp(columns * block * layout.pixel_bytes(), 4), layout.pixel_bytes()};
  places.size_bytes = places.planes[0].pitch_bytes * rows * block;
  if (!layout.is_yuv()) return places;
  const bool is_i420 = layout.format == PixelFormat::kI420;
  const uint64_t step_bytes = is_i420 ? 1 : 2, pitch_bytes = RoundUp(columns * step_bytes, 4);
  for (size_t k = 1; k < 3; ++k) {
    places.planes[k] = {places.size_bytes, pitch_bytes, step_bytes};
    if (is_i420 || k == 2) places.size_bytes += pitch_bytes * rows;
  }
  if (!is_i420) ++places.planes[layout.format == PixelFormat::kNv12 ? 2 : 1].first_bytes;
  return places;
}

void CopyFrame(const FrameLayout& layout, std::span<const std::byte* const, 3> planes, const PackedFrame& packed,
               const PackedPlaces& places, std::span<std::byte> memory) {
  if (packed.columns.empty()) return;  // of a tensor without elements
  const auto block = static_cast<uint64_t>(layout.block());
  const auto width = static_cast<uint64_t>(layout.width), height = static_cast<uint64_t>(layout.height);
  const auto row_of = [&](size_t plane, uint64_t row) {
    return planes[plane] + layout.planes[plane].first_bytes + row * layout.planes[plane].pitch_bytes;
  };
  for (size_t k = 0; k < packed.rows.size(); ++k) {
    const auto first = static_cast<uint64_t>(packed.rows[k]) * block;
    for (uint64_t j = 0; j < block && first + j < height; ++j) {
      CopyColumns(row_of(0, first + j), width * layout.pixel_bytes(), packed.columns, block * layout.pixel_bytes(),
                  memory.data() + (k * block + j) * places.planes[0].pitch_bytes);
    }
    if (!layout.is_yuv()) continue;
    // Pairs are copied once, from the position of the first of each pair.
    const bool is_i420 = layout.format == PixelFormat::kI420;
    const size_t lower = layout.format == PixelFormat::kNv21 ? 2 : 1;
    for (size_t plane = lower; plane < (is_i420 ? 3 : lower + 1); ++plane) {
      const PlaneLayout& to = places.planes[plane];
      CopyColumns(row_of(plane, static_cast<uint64_t>(packed.rows[k])), (width + 1) / 2 * to.step_bytes, packed.columns,
                  to.step_bytes, memory.data() + to.first_bytes + k * to.pitch_bytes);
    }
  }
}

void KeepFrame(const FrameLayout& layout, std::span<const std::byte* const, 3> planes, KeptFrame& kept) {
  PackedFrame packed = PackFrame(layout);
  const PackedPlaces places = PlacesOf(layout, packed.columns.size(), packed.rows.size());
  kept.bytes.resize(places.size_bytes);
  CopyFrame(layout, planes, packed, places, kept.bytes);
  kept.layout = layout;
  kept.layout.across = std::move(packed.across);
  kept.layout.down = std::move(packed.down);
  kept.layout.planes = places.planes;
}

uint64_t FrameTableBytes(const TensorDesc& desc) {
  const PictureShape shape = *PictureShapeOf(desc.shape.dims());
  return (static_cast<uint64_t>(shape.width) + static_cast<uint64_t>(shape.height)) * TexelBytes(StorageType::kFloat32);
}

void FillFrameTable(std::span<const BilinearSample> across, std::span<const BilinearSample> down,
                    std::span<std::byte> table) {
  size_t at = 0;
  for (const std::span<const BilinearSample> samples : {across, down}) {
    for (const BilinearSample& sample : samples) {
      const float texel[4] = {static_cast<float>(sample.low), static_cast<float>(sample.high), sample.weight, 0};
      std::memcpy(table.data() + at, texel, sizeof texel);
      at += sizeof texel;
    }
  }
}

}  // namespace hearth
