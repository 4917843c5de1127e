// Operations that move elements without changing them: their attribute structs, members of Op (op.h).
#ifndef HEARTH_CORE_GRAPH_MOVEMENT_OPS_H_
#define HEARTH_CORE_GRAPH_MOVEMENT_OPS_H_

#include <cstdint>
#include <vector>

#include "core/graph/types.h"

namespace hearth {

struct Transpose {  // output dimension i is input dimension permutation[i]
  Shape permutation;
};
// Every strides[i]-th element from begin[i] on, size[i] of them (strides may be negative), seen as `shape`:
// SLICE and STRIDED_SLICE, whose masks the reader has resolved.
struct Slice {
  Shape begin, size, strides;
  Shape shape;
};
struct Split {  // one output per element of `sizes`
  int32_t axis = 0;
  std::vector<int32_t> sizes;
};
struct Pack {  // inputs of one shape become slices of a new dimension
  int32_t axis = 0;
};
struct Unpack {  // `count` slices of a dimension, which the outputs lack
  int32_t axis = 0;
  int32_t count = 1;
};
struct Tile {
  Shape multiples;
};
struct BroadcastTo {
  Shape shape;
};
struct Reverse {
  uint32_t axes_mask = 0;
};
struct DepthToSpace {
  int32_t block = 2;
};
struct SpaceToDepth {
  int32_t block = 2;
};
struct SpaceToBatch {  // block and zero padding per spatial dimension (dimensions 1, 2, ... of the input)
  Shape block, before, after;
};
struct BatchToSpace {  // block and crops per spatial dimension
  Shape block, crop_before, crop_after;
};
struct MirrorPad {
  Shape before, after;
  bool symmetric = false;  // whether the border element is repeated; it is not for REFLECT
};
struct DynamicUpdateSlice {};  // (x, update, start[rank of x]): x with `update` written at `start`
struct Gather {                // (x, indices): whole slices along `axis`; the first batch_dims dimensions go together
  int32_t axis = 0, batch_dims = 0;
};
struct GatherNd {};  // (x, indices[..., n]): slices of the first n dimensions
struct OneHot {      // (indices, on, off), both scalars; the new dimension stands at `axis`
  int32_t axis = -1;
  int32_t depth = 1;
};

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_MOVEMENT_OPS_H_
