// How a kernel walks over operands that are broadcast together: binary.kernel, select.kernel.
#ifndef HEARTH_CORE_LOWERING_BROADCAST_LOWER_H_
#define HEARTH_CORE_LOWERING_BROADCAST_LOWER_H_

#include <optional>
#include <span>
#include <string>

#include "core/plan/plan_builder.h"

namespace hearth {

// Whether a tensor of this shape has the elements of `out` in their order: no dimension repeats.
bool FillsWithoutRepeating(const Shape& operand, const Shape& out);

// Why those kernels can't: too many dimensions are left when neighbours that all operands treat alike became one.
std::optional<std::string> BroadcastUnsupported(const Graph& graph, const Node& node);

// Adds the sizes and strides that those kernels take, operands A, B, C in this order (at most three), and the work
// items: pixels x slices of `out`. Neighbouring dimensions that all operands treat alike become one, which saves the
// kernel divisions.
void AddBroadcast(std::span<const Shape> operands, const Shape& out, KernelCall& call);

}  // namespace hearth

#endif  // HEARTH_CORE_LOWERING_BROADCAST_LOWER_H_
