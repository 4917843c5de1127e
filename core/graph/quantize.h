// The meaning of a tensor's numbers: real numbers, plain integers, or steps of a quantization grid.
#ifndef HEARTH_CORE_GRAPH_QUANTIZE_H_
#define HEARTH_CORE_GRAPH_QUANTIZE_H_

#include <cstdint>

#include "core/graph/types.h"

namespace hearth {

// Whether it represents real numbers: floats, quantized integers (dequantized on devices) and bool (0 and 1).
bool IsReal(const TensorDesc& desc);

// Whether it has integers with a scale and zero point.
bool IsQuantized(const TensorDesc& desc);

// Whether it is float32 without a grid.
bool IsPlainFloat32(const TensorDesc& desc);
bool IsPlainFloat(const TensorDesc& desc);  // float16 too

// The grid of a quantized type with one scale: real = (stored - zero_point) * scale.
struct TensorGrid {
  float scale = 1, inverse = 1;
  int64_t zero_point = 0;
  float lowest = 0, highest = 0;  // the type's range, counted from the zero point
};

// The grid of a type with this scale and zero point.
TensorGrid GridOf(DType dtype, float scale, int64_t zero_point);
// The grid of the first scale; scale 1 and zero point 0 if there is none.
TensorGrid GridOf(const TensorDesc& desc);

// ---- Real numbers to stored ones ----
//
// The rule of every device, of the host's copies and of the reference: in float32, multiply by the scale's inverse,
// clamp to the type, round half away from zero. NaN becomes the type's lowest number. Kernels do the same in
// StatementForm::kRoundToSmallGrid and kRoundToGrid. A multiplication gives the same bits on all devices; Vulkan and
// OpenGL ES allow a division to be off by 2.5 units.
// LiteRT's reference kernels also round half away from zero, but divide by the scale: about a tenth of the exact ties
// differ by one step. The CPU's 8-bit layers follow XNNPACK, each by its own rule (docs/quantized-models.md): most
// round ties to even.

// Whether steps are below 2^22, where float32 has halves.
constexpr bool IsSmall(const TensorGrid& grid) {
  return grid.highest < 0x1p22f && grid.lowest > -0x1p22f;
}

// Steps from the zero point, in a form that compilers vectorize with the caller's instructions. Precondition:
// IsSmall(grid).
[[gnu::always_inline]] inline int32_t StepsOf(float real, const TensorGrid& grid) {
  // The float just below 0.5: adding 0.5 to it would give 1.
  constexpr float kBelowHalf = 0x1.fffffep-2f;
  float steps = real * grid.inverse;
  steps = steps > grid.lowest ? steps : grid.lowest;
  steps = steps < grid.highest ? steps : grid.highest;
  return static_cast<int32_t>(steps + (steps < 0.0f ? -kBelowHalf : kBelowHalf));
}

// The stored number, an integer, for any grid. Types of 32 and 64 bits exceed float32, so they are calculated in
// float64.
double StoredNumber(double real, const TensorGrid& grid);

// Multiplies the numbers of each row, as long as `factors`, by those; returns the largest magnitude that each column
// had. ScaleRows: one factor for each row. Precondition: whole rows of equal length, and factors.
std::vector<float> ScaleColumns(std::span<float> rows, std::span<const float> factors);
std::vector<float> ScaleRows(std::span<float> rows, std::span<const float> factors);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_QUANTIZE_H_
