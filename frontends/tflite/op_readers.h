// The functions behind operator_table.cc, by family. Semantics: those of TFLite's CPU interpreter.
// Sizes that later arithmetic multiplies are limited here, so that it can't overflow.
#ifndef HEARTH_FRONTENDS_TFLITE_OP_READERS_H_
#define HEARTH_FRONTENDS_TFLITE_OP_READERS_H_

#include "frontends/tflite/operator_view.h"

namespace hearth {

// op_readers_window.cc: what slides over an image, and matrix products.
Result<Op> ReadConv2D(const OperatorView& view);
Result<Op> ReadDepthwiseConv2D(const OperatorView& view);
Result<Op> ReadAveragePool2D(const OperatorView& view);
Result<Op> ReadMaxPool2D(const OperatorView& view);
Result<Op> ReadFullyConnected(const OperatorView& view);

// op_readers_elementwise.cc
template <UnaryKind kKind>
Result<Op> ReadUnary(const OperatorView&) {
  return Op(Unary{.kind = kKind});
}
template <BinaryKind kKind>
Result<Op> ReadBinary(const OperatorView&) {
  return Op(Binary{.kind = kKind});
}
Result<Op> ReadAdd(const OperatorView& view);
Result<Op> ReadSub(const OperatorView& view);
Result<Op> ReadMul(const OperatorView& view);
Result<Op> ReadDiv(const OperatorView& view);
Result<Op> ReadAddN(const OperatorView& view);
Result<Op> ReadCast(const OperatorView& view);
Result<Op> ReadGelu(const OperatorView& view);
Result<Op> ReadLeakyRelu(const OperatorView& view);
Result<Op> ReadPRelu(const OperatorView& view);
Result<Op> ReadSelect(const OperatorView& view);
Result<Op> ReadSelectV2(const OperatorView& view);
Result<Op> ReadSoftmax(const OperatorView& view);

// op_readers_shape.cc: what changes shapes.
Result<Op> ReadConcatenation(const OperatorView& view);
Result<Op> ReadExpandDims(const OperatorView& view);
Result<Op> ReadMean(const OperatorView& view);
Result<Op> ReadPad(const OperatorView& view);
Result<Op> ReadPadV2(const OperatorView& view);
Result<Op> ReadReshape(const OperatorView& view);
Result<Op> ReadResizeBilinear(const OperatorView& view);
Result<Op> ReadResizeNearestNeighbor(const OperatorView& view);
Result<Op> ReadSqueeze(const OperatorView& view);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_OP_READERS_H_
