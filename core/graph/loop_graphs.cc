#include "core/graph/loop_graphs.h"

#include "core/base/error.h"
#include "core/graph/op_text.h"

namespace hearth {

Status CheckIteration(const Node& node, int64_t iteration, RunControl* control) {
  if (iteration == kMostIterations) {
    const Status endless =
        Error(StatusCode::kResourceExhausted,
              "{}: its condition still holds after {} turns, so it counts as a loop without end: give the model inputs "
              "with which it ends, or a bound to the loop (maximum_iterations of TensorFlow's while_loop)",
              NodeLabel(node), kMostIterations);
    return control == nullptr ? endless : control->End(endless);
  }
  const Status status = control == nullptr ? Status::Ok() : control->CheckGoesOn();
  return status.ok() ? status : status.Within(fmt::format("{} was ended after {} turns", NodeLabel(node), iteration));
}

}  // namespace hearth
