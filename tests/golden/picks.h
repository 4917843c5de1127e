// The kernels that lowering picks: for every single-operator model and every shared model, on devices of each kind.
#ifndef HEARTH_TESTS_GOLDEN_PICKS_H_
#define HEARTH_TESTS_GOLDEN_PICKS_H_

#include <string>
#include <vector>

#include "core/emit/kernel_source.h"

namespace hearth::testing {

struct Pick {
  KernelSource source;
  Dialect dialect;
  std::string where;  // "abs_int8 on a CPU in fp16": the first that picked this text
  std::string text;   // as Emit makes it, but OpenCL kernels are called "hearth_map", without the hash
  std::string lines;  // of the text those that no text of the kernel before it has, GLSL or OpenCL C
};

struct Picks {
  std::vector<Pick>
      oracle;  // for the models of tests/oracle, then kernels that none of them picks, as their files stand
  std::vector<Pick> shared;  // what the shared models add to these; empty without them
};

// Only texts that have such lines. Made on the first call.
const Picks& KernelPicks();

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_GOLDEN_PICKS_H_
