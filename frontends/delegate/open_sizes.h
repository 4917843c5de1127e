// Tensors whose size is known only while the network runs. The delegate is asked before the interpreter prepares its
// nodes, which is when it finds that out.
#ifndef HEARTH_FRONTENDS_DELEGATE_OPEN_SIZES_H_
#define HEARTH_FRONTENDS_DELEGATE_OPEN_SIZES_H_

#include <span>
#include <vector>

#include "frontends/delegate/interpreter_model.h"

namespace hearth {

// Those of `taken` that read, from one of them or themselves, what nodes of the plan that are not taken make in a size
// that depends on data. A kernel follows every size that it gets, at the price of a session for each: nodes whose sizes
// change from one invocation to the next are better left.
std::vector<LeftNode> NodesBehindOpenSizes(const tflite_c::TfLiteContext& context,
                                           std::span<const InterpreterNode> plan,
                                           std::span<const InterpreterNode> taken);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_DELEGATE_OPEN_SIZES_H_
