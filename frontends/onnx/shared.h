// What operators of several files share.
#ifndef HEARTH_FRONTENDS_ONNX_SHARED_H_
#define HEARTH_FRONTENDS_ONNX_SHARED_H_

#include <cstdint>
#include <functional>

#include "frontends/onnx/op_view.h"

namespace hearth::onnx {

// ---- activations.cc: those that attributes name ----

// A function with parameters, as attributes name it. kUnsupported for other names.
Made AddActivation(NodeWriter& to, std::string_view name, const Made& x, double alpha, double beta);
// That which onnxruntime's optimizer joined to the node, `x` itself if there is none. Its numbers are a list in
// FusedConv, two attributes in FusedGemm.
Made AddFusedActivation(const OpView& op, const Made& x);

// ---- product.cc: products of matrices, as layers where the second factor is constant ----

// product_of(a, b), which takes matrices and batches of them. A vector is a matrix of one row or column, which the
// result lacks, as in numpy.matmul.
Made OfMatrices(NodeWriter& to, ValueId a, ValueId b, const std::function<Made(ValueId, ValueId)>& product_of);

// As numpy.matmul: vectors, matrices, and batches of them that are broadcast. `bias`: [columns], or kNoValue.
Made AddProduct(NodeWriter& to, ValueId a, ValueId b, ValueId bias);

// ---- movement.cc ----

// Whether `count` parts of these sizes make up a dimension.
Status CheckParts(const std::vector<int64_t>& sizes, int64_t count, int axis, const Shape& shape);

// ---- places.cc: indices of an operator as places in its operand 0 ----

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

#endif  // HEARTH_FRONTENDS_ONNX_SHARED_H_
