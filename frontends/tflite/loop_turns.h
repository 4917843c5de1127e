// How many turns a loop takes that no data end.
#ifndef HEARTH_FRONTENDS_TFLITE_LOOP_TURNS_H_
#define HEARTH_FRONTENDS_TFLITE_LOOP_TURNS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/graph/loop_graphs.h"

namespace hearth {

// What goes around; nothing for a value that is not known when the model is read.
using KnownValues = std::vector<std::optional<ReferenceTensor>>;

// The turns of a loop that begins with `values`; `most` where there are as many or more. Only what decides the end is
// calculated (a counter). Nothing where that is not known, is large, is a loop itself, or takes more than `work_left`
// nodes; those that were calculated are subtracted.
std::optional<int64_t> CountTurns(const LoopGraphs& loop, KnownValues values, int64_t most, int64_t& work_left);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_LOOP_TURNS_H_
