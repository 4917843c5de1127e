// Quantized values on the host: held as the real numbers that they stand for, as devices hold them, so that float
// kernels serve them.
#ifndef HEARTH_BACKENDS_CPU_QUANTIZED_H_
#define HEARTH_BACKENDS_CPU_QUANTIZED_H_

#include <span>

#include "core/graph/types.h"

namespace hearth {

// An 8- or 16-bit value with one scale and at most one zero point: float32 holds all of its numbers.
bool IsHeldAsFloats(const TensorDesc& desc);

// What a value that is not constant is held as between nodes.
TensorDesc HeldAs(const TensorDesc& desc);

// For a `desc` that IsHeldAsFloats; spans of equally many elements.
void ToFloats(const TensorDesc& desc, std::span<const std::byte> stored, std::span<float> floats);
// By the rule of core/graph/quantize.h.
void ToStored(const TensorDesc& desc, std::span<const float> floats, std::span<std::byte> stored);
// Both, one after the other: what a float kernel has computed becomes what an integer kernel would have.
void RoundToGrid(const TensorDesc& desc, std::span<float> floats);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_QUANTIZED_H_
