// Coordinates of elements: walks over tensors by them, and where operations that move elements read.
#ifndef HEARTH_CORE_GRAPH_OPS_COORDINATES_H_
#define HEARTH_CORE_GRAPH_OPS_COORDINATES_H_

#include <array>
#include <cstdint>

#include "core/graph/op_def.h"

namespace hearth {

using Coordinates = std::array<int64_t, Shape::kMaxRank>;  // one coordinate for each dimension, the rest 0

inline int64_t IndexOf(const Shape& shape, const Coordinates& at) {
  int64_t index = 0;
  for (int d = 0; d < shape.rank(); ++d) index = index * shape[d] + at[d];
  return index;
}

// Advances to the next element in C order; from the last one to the first.
inline void Advance(const Shape& shape, Coordinates& at) {
  for (int d = shape.rank() - 1; d >= 0; --d) {
    if (++at[d] < shape[d]) return;
    at[d] = 0;
  }
}

// The coordinate in dimension `d`, of `size` elements, that coordinate `at` of the padded dimension reads (pad.cc).
int64_t MirroredCoordinate(const MirrorPad& pad, int d, int64_t at, int64_t size);

// The input row or column that is nearest to output `out` (pooling.cc). In float32 as in TFLite: the choice of a pixel
// is not continuous, so more digits would give another result.
int64_t NearestPixel(const Resize& resize, int64_t out, int64_t out_size, int64_t in_size);

// Sets each element of `out` to the element of `in` at `source(coordinates)`.
template <typename Source>
void MoveElements(const ReferenceTensor& in, ReferenceTensor& out, const Source& source) {
  Coordinates at{};
  for (double& element : out.values) {
    element = in.values[IndexOf(in.shape, source(at))];
    Advance(out.shape, at);
  }
}

// The same for a `source` that may give nothing: the element is then 0.
template <typename Source>
void MoveElementsOrZero(const ReferenceTensor& in, ReferenceTensor& out, const Source& source) {
  Coordinates at{};
  for (double& element : out.values) {
    const auto from = source(at);
    element = from.has_value() ? in.values[IndexOf(in.shape, *from)] : 0.0;
    Advance(out.shape, at);
  }
}

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_COORDINATES_H_
