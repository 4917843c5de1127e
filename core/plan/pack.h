// Rearranging weights for kernels: a recipe is data, packing a pure function of bytes.
#ifndef HEARTH_CORE_PLAN_PACK_H_
#define HEARTH_CORE_PLAN_PACK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/emit/kernel_source.h"
#include "core/graph/stored_elements.h"
#include "core/graph/types.h"

namespace hearth {

enum class PackLayout : uint8_t {
  // [O,kh,kw,I] -> [O/width][kh*kw][I padded to 4][width]: one wide vector of outputs per input.
  kMatrix,
  // [1,kh,kw,O] -> [O/4][kh*kw][4]
  kDepthwise,
  // [n] -> n padded with zeros to a multiple of `width`
  kLinear,
  // a dense [B,H,W,C] tensor in the slices layout of activations
  kSlices,
  // [O,3,3,I] -> [36][O/width][I padded to 4][width]: G times the 3x3 filter times G transposed, of Winograd F(4x4,3x3)
  kWinograd,
};

struct PackRecipe {
  PackLayout layout = PackLayout::kLinear;
  TensorDesc source;                            // type, shape and quantization of the bytes to read
  int32_t width = 4;                            // outputs per vector: 4, 16 or 32 (kMatrix, kWinograd, kLinear)
  std::array<int32_t, 4> dims = {1, 1, 1, 1};   // O,kh,kw,I (kWinograd too) / 1,kh,kw,O / n,1,1,1 / B,H,W,C
  StorageType storage = StorageType::kFloat32;  // of the packed elements; kInt32 for kLinear and kSlices only
  // Set if the bytes to read are `source` only in this form.
  std::optional<StoredForm> stored = {};

  uint64_t packed_size_bytes() const;
  friend bool operator==(const PackRecipe&, const PackRecipe&) = default;
};

// Writes packed_size_bytes() bytes to `packed`: real numbers, or the stored integers for kInt32 (int64 saturates).
// Errors: sizes that don't fit, types that can't be read as floats. Pure; may be called from several threads.
Status PackConstant(const PackRecipe& recipe, std::span<const std::byte> source, std::span<std::byte> packed);

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_PACK_H_
