// Activations that onnxruntime's optimizer joins to the operator before.
#ifndef HEARTH_FRONTENDS_ONNX_ACTIVATIONS_H_
#define HEARTH_FRONTENDS_ONNX_ACTIVATIONS_H_

#include "frontends/onnx/op_view.h"

namespace hearth::onnx {

// `x` itself if the node has none. Its numbers are a list in FusedConv, two attributes in FusedGemm.
Made AddFusedActivation(const OpView& op, const Made& x);

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_ACTIVATIONS_H_
