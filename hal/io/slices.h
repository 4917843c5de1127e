// Converts dense host tensors to the device's slices layout [C/4][B][H][W][4] and back, with their element types.
#ifndef HEARTH_HAL_IO_SLICES_H_
#define HEARTH_HAL_IO_SLICES_H_

#include <span>

#include "core/emit/kernel_source.h"
#include "core/graph/types.h"

namespace hearth {

// `dense` has the tensor of `desc`; `slices` has room for slices() * pixels() texels of `storage`. Real numbers become
// floats (quantized ones are dequantized, bool becomes 0 or 1), integers become int32 (int64 saturates). Channels
// beyond the last become zero. Precondition: both spans have the right size; per-tensor quantization.
void DenseToSlices(const TensorDesc& desc, StorageType storage, std::span<const std::byte> dense,
                   std::span<std::byte> slices);

// The reverse: quantized elements by the rule of core/graph/quantize.h.
void SlicesToDense(const TensorDesc& desc, StorageType storage, std::span<const std::byte> slices,
                   std::span<std::byte> dense);

// Converts dense real numbers to the tensor's own elements, and back.
void FloatsToDense(const TensorDesc& desc, std::span<const std::byte> floats, std::span<std::byte> dense);
void DenseToFloats(const TensorDesc& desc, std::span<const std::byte> dense, std::span<std::byte> floats);

}  // namespace hearth

#endif  // HEARTH_HAL_IO_SLICES_H_
