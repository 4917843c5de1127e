// Counts the iterations of a loop whose end does not depend on data.
#ifndef HEARTH_FRONTENDS_TFLITE_LOOP_TURNS_H_
#define HEARTH_FRONTENDS_TFLITE_LOOP_TURNS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/graph/loop_graphs.h"

namespace hearth {

// The loop's values; nothing for a value that is unknown when the model is read.
using KnownValues = std::vector<std::optional<ReferenceTensor>>;

// The iterations of a loop that starts with `values`, at most `most`. Computes only the values that decide the end (a
// counter). Nothing if those are unknown, are large, depend on an inner loop, or need more than `work_left` nodes.
// Subtracts the nodes that were computed.
std::optional<int64_t> CountTurns(const LoopGraphs& loop, KnownValues values, int64_t most, int64_t& work_left);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_LOOP_TURNS_H_
