// Broadcasting in kernels: binary.kernel, select.kernel.
#ifndef HEARTH_CORE_LOWERING_BROADCAST_LOWER_H_
#define HEARTH_CORE_LOWERING_BROADCAST_LOWER_H_

#include <optional>
#include <span>
#include <string>

#include "core/plan/plan_builder.h"

namespace hearth {

// Whether a tensor of this shape has the elements of `out` in their order: no dimension repeats.
bool FillsWithoutRepeating(const Shape& operand, const Shape& out);

// Why those kernels can't run the node: too many dimensions remain after joining neighbours that all operands treat
// alike.
std::optional<std::string> BroadcastUnsupported(const Graph& graph, const Node& node);

// Adds the sizes and strides that those kernels take, operands A, B, C in this order (at most three), and the work
// items: pixels x slices of `out`. Neighbouring dimensions that all operands treat alike are joined, which saves
// divisions in the kernel.
void AddBroadcast(std::span<const Shape> operands, const Shape& out, KernelCall& call);

}  // namespace hearth

#endif  // HEARTH_CORE_LOWERING_BROADCAST_LOWER_H_
