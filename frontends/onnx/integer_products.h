// Products of 8-bit integers, whose sums are exact.
#ifndef HEARTH_FRONTENDS_ONNX_INTEGER_PRODUCTS_H_
#define HEARTH_FRONTENDS_ONNX_INTEGER_PRODUCTS_H_

#include <cstddef>

#include "frontends/onnx/operators.h"

namespace hearth::onnx {

// The real numbers that a constant of 8 bits stands for, kept in 8 bits. kUnsupported if it is computed.
Made OnGrid(NodeWriter& to, ValueId integers, Quantization grid);

// A list of numbers per element of dimension `axis`, ready to be broadcast; a single number stays one.
Made AlongAxis(NodeWriter& to, ValueId list, int axis, int rank);

// A tensor with one number for each `block` elements of dimension `axis`, ready to be broadcast to one of `whole`.
Made AlongBlocks(NodeWriter& to, const Made& list, int axis, int64_t block, const Shape& whole);

// The weights that DequantizeLinear makes of constant integers with a scale for each block of K, as a layer reads them:
// those of a tensor [N,K] as Tensor::stored, of [K,N] as Tensor::turned. Not made for others.
Result<Tensor> BlockedWeights(OpView& op, NodeWriter& to);

// x - zero point, in float32. Without a zero point: kNoValue.
Made Centered(NodeWriter& to, const Made& x, const Made& zero_point);

// The real numbers of integers on a grid of the scale, which is broadcast.
inline Made RealOf(NodeWriter& to, const Made& integers, const Made& zero_point, const Made& scale) {
  return to.Add(BinaryKind::kMul, {Centered(to, integers, zero_point), scale});
}

// The integers of such a type that are `centered` plus the zero point, which Centered knows again.
Made Integers(NodeWriter& to, ValueId centered, ValueId zero_point, DType dtype);

// What the node's row reads. Of an operator that only moves or chooses elements of integers that are known centered the
// results are known centered, too.
Results ReadKnownCentered(OpView& op, GraphWriter& to);

// The only number of operand `i`, such as a scale; kNoValue if it is absent.
Made RowZeroPoint(OpView& op, size_t i);

// Sums of products of integers, as int32: x, less its only zero point (or kNoValue), by operand `weights`, whose zero
// points are operand `zeros`.
Made ExactProduct(OpView& op, NodeWriter& to, ValueId x, ValueId zero, size_t weights, size_t zeros);
// Of ConvInteger, as int32; channels last.
Made ExactConvolution(OpView& op, NodeWriter& to);

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_INTEGER_PRODUCTS_H_
