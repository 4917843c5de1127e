// Writes the kernel dialect's UNROLL loops out.
#ifndef HEARTH_CORE_EMIT_UNROLL_H_
#define HEARTH_CORE_EMIT_UNROLL_H_

#include <span>
#include <string>
#include <string_view>

#include "core/emit/kernel_source.h"

namespace hearth {

// Replaces every `UNROLL for (int i = A; i < B; ++i) statement` by B - A copies
// `{ const int i = k; statement }`. A and B are constant expressions over integers and `defines`
// (+ - * / and parentheses). Needed for GLSL: past 24 to 32 vec4 accumulators Mesa 22.3 stops
// unrolling by itself, and the kernel runs 5-7 times slower and compiles 7-14 times longer.
// kInternal names the loop that doesn't have this form.
Result<std::string> ExpandUnrolledLoops(std::string_view text, std::span<const Define> defines);

}  // namespace hearth

#endif  // HEARTH_CORE_EMIT_UNROLL_H_
