// The common arguments of the nodes for float32 convolutions with constant weights.
#ifndef HEARTH_BACKENDS_CPU_NODES_FLOAT_CONVOLUTION_H_
#define HEARTH_BACKENDS_CPU_NODES_FLOAT_CONVOLUTION_H_

#include <optional>

#include "backends/cpu/host/host_node.h"
#include "core/graph/ops/window.h"

namespace hearth {

struct FloatConvolution {
  Shape in, out;
  int32_t kernel_h = 1, kernel_w = 1;
  Window2D window;
  Padding2D padding;
  Activation activation = Activation::kNone;
  bool is_depthwise = false;
  bool has_bias = false;
};

// nullopt for other nodes, groups, several outputs of a channel, weights or bias that are not constant, and empty
// tensors.
std::optional<FloatConvolution> FloatConvolutionOf(const HostNodeRequest& request);

// False where the output decides indices, but an activation that is not a clamp would round it twice.
bool FitsExactness(const HostNodeRequest& request, const FloatConvolution& convolution);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_NODES_FLOAT_CONVOLUTION_H_
