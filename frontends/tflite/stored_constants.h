// Constants that are stored in a form that no tensor of a graph has: elements of 2 bits, and scales for blocks.
#ifndef HEARTH_FRONTENDS_TFLITE_STORED_CONSTANTS_H_
#define HEARTH_FRONTENDS_TFLITE_STORED_CONSTANTS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "core/graph/types.h"

namespace hearth {

// Of int2, four to a byte, the same numbers as int4, two to a byte; the first of a byte in its lowest bits.
// Precondition: `stored` holds `elements` of them.
std::vector<std::byte> Int4OfInt2(std::span<const std::byte> stored, int64_t elements);

// The real numbers, as float32, of `stored` of the plain type `desc`: each run of `block` elements has one of `scales`.
// Precondition: there are as many scales as blocks, and `stored` has the size that the description needs.
std::vector<std::byte> RealsOfBlocks(const TensorDesc& desc, std::span<const std::byte> stored, int64_t block,
                                     const std::vector<double>& scales);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_STORED_CONSTANTS_H_
