// The emitted texts that are kept as goldens: every kernel as it stands, and variants that show one more thing each.
#ifndef HEARTH_TESTS_GOLDEN_EMITTED_KERNELS_H_
#define HEARTH_TESTS_GOLDEN_EMITTED_KERNELS_H_

#include <string>
#include <vector>

#include "core/emit/kernel_source.h"

namespace hearth::testing {

struct EmittedKernel {
  std::string name;  // "softmax", "softmax.texel"
  KernelSource source;
  std::vector<Dialect> dialects;
};

// Every kernel with its default defines in all dialects; some read through texels (GLSL only); one with an epilogue
// of an added operand and a clamp; one with float16 storage.
std::vector<EmittedKernel> EmittedKernels();

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_GOLDEN_EMITTED_KERNELS_H_
