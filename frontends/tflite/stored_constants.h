// Unpacks constants in forms that tensors of a graph don't have: 2-bit elements, and a scale for each block.
#ifndef HEARTH_FRONTENDS_TFLITE_STORED_CONSTANTS_H_
#define HEARTH_FRONTENDS_TFLITE_STORED_CONSTANTS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "core/graph/types.h"

namespace hearth {

// Converts int2, four to a byte, to int4, two to a byte. The first element of a byte is in its lowest bits.
// Precondition: `stored` holds `elements` of them.
std::vector<std::byte> Int4OfInt2(std::span<const std::byte> stored, int64_t elements);

// Converts elements of the plain type `desc` to the float32 numbers that they stand for. Each run of `block` elements
// has one of `scales`, and one of `zero_points` unless there are none. Precondition: there are as many of both as
// blocks, and `stored` has the size that `desc` needs.
std::vector<std::byte> RealsOfBlocks(const TensorDesc& desc, std::span<const std::byte> stored, int64_t block,
                                     const std::vector<double>& scales, const std::vector<double>& zero_points);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_STORED_CONSTANTS_H_
