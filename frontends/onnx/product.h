// Products of matrices, as layers where the second factor is constant.
#ifndef HEARTH_FRONTENDS_ONNX_PRODUCT_H_
#define HEARTH_FRONTENDS_ONNX_PRODUCT_H_

#include "frontends/writer/node_writer.h"

namespace hearth::onnx {

// As numpy.matmul: vectors, matrices, and batches of them that are broadcast. `bias`: [columns], or kNoValue.
Made AddProduct(NodeWriter& to, ValueId a, ValueId b, ValueId bias);

// quantized.cc. A matrix of integers as float32, zero points taken off, and the scale of all its columns or of each.
struct IntegerMatrix {
  ValueId centered = kNoValue, scale = kNoValue;
};
Result<IntegerMatrix> AddIntegerMatrix(NodeWriter& to, const Made& values, const Made& zero_point, const Made& scale);
// x, quantized as a whole by its least and largest element, times the matrix: exact, then scaled to float32.
Made AddDynamicProduct(NodeWriter& to, ValueId x, const IntegerMatrix& matrix);

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_PRODUCT_H_
