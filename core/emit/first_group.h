// Kernels that begin at a work group other than the first, so that several dispatches can share the work groups of one.
#ifndef HEARTH_CORE_EMIT_FIRST_GROUP_H_
#define HEARTH_CORE_EMIT_FIRST_GROUP_H_

#include <array>
#include <cstdint>

#include "core/emit/kernel_source.h"

namespace hearth {

// The kernel with three additional scalars, kFirstGroup of each dimension, which GID and WGID start from. It is the
// same in every dialect: GL has no dispatch with a base, and OpenCL's offset does not change the group's number.
KernelSource WithFirstGroup(KernelSource source);

inline constexpr std::array<std::string_view, 3> kFirstGroup = {"FIRST_GROUP_X", "FIRST_GROUP_Y", "FIRST_GROUP_Z"};

}  // namespace hearth

#endif  // HEARTH_CORE_EMIT_FIRST_GROUP_H_
