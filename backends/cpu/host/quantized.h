// Quantized values on the host, held as the real numbers that they represent, as devices hold them, so that float
// kernels can use them.
#ifndef HEARTH_BACKENDS_CPU_HOST_QUANTIZED_H_
#define HEARTH_BACKENDS_CPU_HOST_QUANTIZED_H_

#include <span>

#include "core/graph/types.h"

namespace hearth {

// An 8- or 16-bit value with one scale and at most one zero point: float32 represents all of its numbers.
bool IsHeldAsFloats(const TensorDesc& desc);
// Whether these weights in 8 bits stand for whole numbers, whose products are summed exactly.
bool StandsForIntegers(const TensorDesc& weights);

// The form of a value that is not constant between nodes.
TensorDesc HeldAs(const TensorDesc& desc);

// For a `desc` that IsHeldAsFloats; both spans have the same number of elements.
void ToFloats(const TensorDesc& desc, std::span<const std::byte> stored, std::span<float> floats);
// Rounds as core/graph/quantize.h does.
void ToStored(const TensorDesc& desc, std::span<const float> floats, std::span<std::byte> stored);
// Both conversions: a float kernel's result becomes what an integer kernel would have computed.
void RoundToGrid(const TensorDesc& desc, std::span<float> floats);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_HOST_QUANTIZED_H_
