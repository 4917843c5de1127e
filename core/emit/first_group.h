// Kernels that begin at another work group than the first, so that several dispatches can share one's work groups.
#ifndef HEARTH_CORE_EMIT_FIRST_GROUP_H_
#define HEARTH_CORE_EMIT_FIRST_GROUP_H_

#include <array>
#include <cstdint>

#include "core/emit/kernel_source.h"

namespace hearth {

// The kernel with three scalars behind its own, kFirstGroup of each dimension, from which its GID and WGID count. The
// same in every dialect: GL has no dispatch with a base, and OpenCL's offset leaves the group's number as it is.
KernelSource WithFirstGroup(KernelSource source);

inline constexpr std::array<std::string_view, 3> kFirstGroup = {"FIRST_GROUP_X", "FIRST_GROUP_Y", "FIRST_GROUP_Z"};

}  // namespace hearth

#endif  // HEARTH_CORE_EMIT_FIRST_GROUP_H_
