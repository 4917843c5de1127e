#include "core/graph/loop_graphs.h"

#include "core/base/error.h"
#include "core/base/run_limit.h"
#include "core/graph/op_text.h"

namespace hearth {

Status CheckTurn(const Node& node, int64_t turn) {
  if (turn == kMostTurns) {
    return ReachRunLimit(Error(StatusCode::kResourceExhausted,
                               "{}: its condition still holds after {} turns, so it counts as a loop without end: give "
                               "the model inputs with which it ends, or a bound to the loop (maximum_iterations of "
                               "TensorFlow's while_loop)",
                               NodeLabel(node), kMostTurns));
  }
  const Status status = CheckRunLimits();
  return status.ok() ? status : status.Within(fmt::format("{} was ended after {} turns", NodeLabel(node), turn));
}

}  // namespace hearth
