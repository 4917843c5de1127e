// Finds tensors whose size is known only at run time. The interpreter itself finds them when it prepares its nodes,
// which is after the delegate is applied.
#ifndef HEARTH_FRONTENDS_DELEGATE_OPEN_SIZES_H_
#define HEARTH_FRONTENDS_DELEGATE_OPEN_SIZES_H_

#include <span>
#include <vector>

#include "frontends/delegate/interpreter_model.h"

namespace hearth {

// The nodes of `taken` that read values of a data-dependent size made by nodes that are not taken, directly or through
// other taken nodes. A kernel supports any size, but needs a session for each: nodes whose sizes change with each
// invocation are better left.
std::vector<LeftNode> NodesAfterOpenSizes(const tflite_c::TfLiteContext& context, std::span<const InterpreterNode> plan,
                                          std::span<const InterpreterNode> taken);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_DELEGATE_OPEN_SIZES_H_
