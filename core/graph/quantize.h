// What the numbers of a tensor stand for: real numbers, plain integers, or steps of a quantization grid.
#ifndef HEARTH_CORE_GRAPH_QUANTIZE_H_
#define HEARTH_CORE_GRAPH_QUANTIZE_H_

#include "core/graph/types.h"

namespace hearth {

// Stands for real numbers: floats, quantized integers (held dequantized on devices) and bool (held as 0 and 1).
bool IsReal(const TensorDesc& desc);

// Integers with a scale and zero point.
bool IsQuantized(const TensorDesc& desc);

// Real numbers stored as such, without a grid.
bool IsPlainFloat32(const TensorDesc& desc);
bool IsPlainFloat(const TensorDesc& desc);  // float16 too

// The numbers that a quantized type with one scale stands for: real = (stored - zero_point) * scale.
struct TensorGrid {
  float scale = 1, inverse = 1;
  int64_t zero_point = 0;
  float lowest = 0, highest = 0;  // the type's numbers, counted from the zero point
};

// Of the first scale; scale 1 and zero point 0 where there is none.
TensorGrid GridOf(const TensorDesc& desc);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_QUANTIZE_H_
