// Common declarations of the builders of XNNPACK operators. Nothing outside this folder includes xnnpack.h.
#ifndef HEARTH_BACKENDS_CPU_XNNPACK_BUILD_H_
#define HEARTH_BACKENDS_CPU_XNNPACK_BUILD_H_

#include <xnnpack.h>

#include <optional>
#include <vector>

#include "backends/cpu/host/host_node.h"

namespace hearth {

// The inputs and results of a builder for one node.
struct XnnpackBuild {
  const HostNodeRequest& request;
  pthreadpool_t pool = nullptr;
  uint32_t flags = 0;                         // for the create function
  std::vector<const float*> inputs;           // null where absent
  std::vector<std::vector<float>> constants;  // those of `inputs` that are not a view of the model file
  std::vector<OrderedBytes> viewed;           // the others, until they are packed
  xnn_operator_t op = nullptr;                // the result
  Activation after = Activation::kNone;       // applied to the output afterwards

  const Node& node() const { return request.node; }
  bool has_input(size_t k) const { return k < inputs.size() && inputs[k] != nullptr; }
  bool is_constant(size_t k) const { return request.graph.IsConstant(node().inputs[k]); }
  const Shape& in_shape(size_t k = 0) const { return request.graph.value(node().inputs[k]).desc.shape; }
  const Shape& out_shape() const { return request.graph.value(node().outputs[0]).desc.shape; }
  const float* bias() const { return has_input(2) ? inputs[2] : nullptr; }
  float* output() const { return reinterpret_cast<float*>(request.arena.bytes(node().outputs[0]).data()); }
};

// Creates build.op and sets it up with its addresses. A builder returns kXnnpackRefuses for what XNNPACK would compute
// differently from TFLite, and for what XNNPACK is known to refuse, because builds of it that log would print an error.
using XnnpackBuilder = xnn_status(XnnpackBuild& build);
inline constexpr xnn_status kXnnpackRefuses = xnn_status_unsupported_parameter;

// The range that clamps like `activation`. An activation that is not a clamp (tanh, sigmoid) gets no range and becomes
// build.after.
struct OutputRange {
  float min = 0, max = 0;
};
OutputRange RangeOf(XnnpackBuild& build, Activation activation);

XnnpackBuilder BuildConv2D, BuildDepthwiseConv2D, BuildPool2D, BuildUnary, BuildBinary, BuildFullyConnected,
    BuildResize, BuildMean, BuildPad, BuildTransposeConv, BuildPRelu, BuildDepthToSpace;

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_XNNPACK_BUILD_H_
