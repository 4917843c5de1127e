// The device side of every operation that is a strided view of one input.
#ifndef HEARTH_CORE_OPS_STRIDED_COPY_H_
#define HEARTH_CORE_OPS_STRIDED_COPY_H_

#include "core/op_table.h"

namespace hearth {

// For the operations that ViewOf knows.
std::optional<std::string> StridedCopyUnsupported(const Graph& graph, const Node& node, const DeviceInfo& device);
// One dispatch for each output, or none where the output is the input under another name.
Status LowerStridedCopy(const Node& node, PlanBuilder& builder);

}  // namespace hearth

#endif  // HEARTH_CORE_OPS_STRIDED_COPY_H_
