#include "backends/cpu/host/host_output.h"

#include "backends/cpu/host/quantized.h"
#include "core/graph/ops/elementwise_table.h"

namespace hearth {

ActivationParts ActivationPartsOf(Activation activation) {
  ActivationParts parts;
  if (const auto bounds = ActivationBounds(activation)) {
    parts.lowest = bounds->first;
    parts.highest = bounds->second;
  } else {
    parts.rest = activation;
  }
  return parts;
}

HostOutput::HostOutput(const HostNodeRequest& request, Activation after, size_t position)
    : desc_(request.out(position)),
      bytes_(request.bytes(request.node.outputs[position])),
      workers_(request.workers),
      after_{UnaryOf(after)},
      is_rounded_(!request.in_integers && IsHeldAsFloats(desc_)) {}

void HostOutput::Finish() const {
  if (after_.kind != UnaryKind::kCopy) ApplyUnary(after_, floats(), floats(), workers_);
  if (!is_rounded_) return;
  workers_.ForEachPart(static_cast<int64_t>(floats().size()), kLeastElementsOfPart, [&](int64_t begin, int64_t end) {
    RoundToGrid(desc_, floats().subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
  });
}

}  // namespace hearth
