// Activations that onnxruntime's optimizer joins to the operator before.
#ifndef HEARTH_FRONTENDS_ONNX_ACTIVATIONS_H_
#define HEARTH_FRONTENDS_ONNX_ACTIVATIONS_H_

#include "frontends/onnx/op_view.h"

namespace hearth::onnx {

// `x` itself if the node has none. Its numbers are a list in FusedConv, two attributes in FusedGemm.
Made AddFusedActivation(const OpView& op, const Made& x);

// y times a sum of 1 and erf(x / sqrt(2)), where y is x or half of it: GELU, twice or once. Or y times one half, where
// y is GELU twice. kNoValue for other operands.
Made GeluOfProduct(const OpView& op, ValueId y, ValueId factor);

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_ACTIVATIONS_H_
