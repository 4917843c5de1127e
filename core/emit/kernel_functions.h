// Functions of the kernel dialect that are too long for a macro.
#ifndef HEARTH_CORE_EMIT_KERNEL_FUNCTIONS_H_
#define HEARTH_CORE_EMIT_KERNEL_FUNCTIONS_H_

#include <array>
#include <string_view>
#include <vector>

#include "core/device/device_info.h"

namespace hearth {

struct Helper {
  std::array<std::string_view, 4> names;  // the identifiers that it defines; the rest empty
  std::string_view text;                  // the definitions, whole lines
};

// Each after those that it calls.
std::vector<Helper> KernelFunctions(Dialect dialect);

}  // namespace hearth

#endif  // HEARTH_CORE_EMIT_KERNEL_FUNCTIONS_H_
