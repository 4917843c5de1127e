// Products of matrices, as layers where the second factor is constant.
#ifndef HEARTH_FRONTENDS_ONNX_PRODUCT_H_
#define HEARTH_FRONTENDS_ONNX_PRODUCT_H_

#include "frontends/writer/node_writer.h"

namespace hearth::onnx {

// As numpy.matmul: vectors, matrices, and batches of them that are broadcast. `bias`: [columns], or kNoValue.
Made AddProduct(NodeWriter& to, ValueId a, ValueId b, ValueId bias);

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_PRODUCT_H_
