// Operations that move elements without changing them: their attribute structs, members of Op (op.h).
#ifndef HEARTH_CORE_GRAPH_MOVEMENT_OPS_H_
#define HEARTH_CORE_GRAPH_MOVEMENT_OPS_H_

#include <cstdint>
#include <vector>

#include "core/graph/types.h"

namespace hearth {

struct Transpose {  // output dimension i is input dimension permutation[i]
  Shape permutation;
  friend bool operator==(const Transpose&, const Transpose&) = default;
};
// Every strides[i]-th element from begin[i] on, size[i] of them (strides may be negative), seen as `shape`:
// SLICE and STRIDED_SLICE, whose masks the reader has resolved.
struct Slice {
  Shape begin, size, strides;
  Shape shape;
  friend bool operator==(const Slice&, const Slice&) = default;
};
struct Split {  // one output per element of `sizes`
  int32_t axis = 0;
  std::vector<int32_t> sizes;
  friend bool operator==(const Split&, const Split&) = default;
};
struct Pack {  // inputs of one shape become slices of a new dimension
  int32_t axis = 0;
  friend bool operator==(const Pack&, const Pack&) = default;
};
struct Unpack {  // `count` slices of a dimension, which the outputs lack
  int32_t axis = 0;
  int32_t count = 1;
  friend bool operator==(const Unpack&, const Unpack&) = default;
};
struct Tile {
  Shape multiples;
  friend bool operator==(const Tile&, const Tile&) = default;
};
struct BroadcastTo {
  Shape shape;
  friend bool operator==(const BroadcastTo&, const BroadcastTo&) = default;
};
struct Reverse {
  uint32_t axes_mask = 0;
  friend bool operator==(const Reverse&, const Reverse&) = default;
};
struct DepthToSpace {
  int32_t block = 2;
  friend bool operator==(const DepthToSpace&, const DepthToSpace&) = default;
};
struct SpaceToDepth {
  int32_t block = 2;
  friend bool operator==(const SpaceToDepth&, const SpaceToDepth&) = default;
};
struct SpaceToBatch {  // block and zero padding per spatial dimension (dimensions 1, 2, ... of the input)
  Shape block, before, after;
  friend bool operator==(const SpaceToBatch&, const SpaceToBatch&) = default;
};
struct BatchToSpace {  // block and crops per spatial dimension
  Shape block, crop_before, crop_after;
  friend bool operator==(const BatchToSpace&, const BatchToSpace&) = default;
};
struct MirrorPad {
  Shape before, after;
  bool symmetric = false;  // whether the border element is repeated; it is not for REFLECT
  friend bool operator==(const MirrorPad&, const MirrorPad&) = default;
};
struct DynamicUpdateSlice {  // (x, update, start[rank of x]): x with `update` written at `start`
  friend bool operator==(const DynamicUpdateSlice&, const DynamicUpdateSlice&) = default;
};
struct Gather {  // (x, indices): whole slices along `axis`; the first batch_dims dimensions go together
  int32_t axis = 0, batch_dims = 0;
  friend bool operator==(const Gather&, const Gather&) = default;
};
struct GatherNd {  // (x, indices[..., n]): slices of the first n dimensions
  friend bool operator==(const GatherNd&, const GatherNd&) = default;
};
struct OneHot {  // (indices, on, off), both scalars; the new dimension stands at `axis`
  int32_t axis = -1;
  int32_t depth = 1;
  friend bool operator==(const OneHot&, const OneHot&) = default;
};

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_MOVEMENT_OPS_H_
