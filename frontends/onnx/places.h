// Indices of an operator as places in its operand 0.
#ifndef HEARTH_FRONTENDS_ONNX_PLACES_H_
#define HEARTH_FRONTENDS_ONNX_PLACES_H_

#include "frontends/onnx/op_view.h"

namespace hearth::onnx {

inline constexpr int64_t kMostKnown = 1 << 22;  // indices of a constant that are looked at while the file is read

// Indices in operand 0 as int32; negative ones count from the end. Of those in the last dimension, the k-th is among
// the elements of dimension first + k; if `count` is 1, all are in dimension `first`.
Made FromFront(OpView& op, NodeWriter& to, const Made& indices, int first, int count);

// Operand `i`, whose last dimension has coordinates in operand 0, from its dimension `first` on, in this form.
Made Coordinates(OpView& op, size_t i, int first);

// Where the elements of `indices` point among those of `whole`, counted from its first: along `axis` to their number,
// along each other dimension to their own place. int32[elements].
Made PlacesBeside(NodeWriter& to, ValueId indices, int axis, const Shape& whole);

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_PLACES_H_
