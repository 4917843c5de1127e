// Products of matrices, as layers where the second factor is constant.
#ifndef HEARTH_FRONTENDS_ONNX_PRODUCT_H_
#define HEARTH_FRONTENDS_ONNX_PRODUCT_H_

#include <functional>

#include "frontends/writer/node_writer.h"

namespace hearth::onnx {

// product_of(a, b), which takes matrices and batches of them. A vector is a matrix of one row or column, which the
// result lacks, as in numpy.matmul.
Made OfMatrices(NodeWriter& to, ValueId a, ValueId b, const std::function<Made(ValueId, ValueId)>& product_of);

// As numpy.matmul: vectors, matrices, and batches of them that are broadcast. `bias`: [columns], or kNoValue.
Made AddProduct(NodeWriter& to, ValueId a, ValueId b, ValueId bias);

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_PRODUCT_H_
