// The memory plan of a network as a picture: what `inspect --memory` writes.
#ifndef HEARTH_TOOLS_HEARTH_MEMORY_PICTURE_H_
#define HEARTH_TOOLS_HEARTH_MEMORY_PICTURE_H_

#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/plan/memory_planner.h"
#include "core/plan/plan.h"

namespace hearth {

// An intermediate tensor in the arena. Step 0 is the upload of the inputs, then the plan's steps are counted from 1,
// and the last one is the download of the outputs.
struct ArenaTensor {
  std::string name;  // of the node that writes it, or of the network's input
  uint64_t offset_bytes = 0;
  TensorUsage usage;
};

struct ArenaPicture {
  std::vector<ArenaTensor> tensors;  // in the order in which they begin
  uint64_t arena_bytes = 0;
  int steps = 0;
};

// What the dispatches and transfers of a plan do to its arena. A range that is written again after it was read counts
// as another tensor.
ArenaPicture ArenaOf(const Plan& plan);

// For a network that runs on the host as a whole: the dense tensors of the graph, placed as a device's would be.
ArenaPicture HostArenaOf(const Graph& graph);

// An SVG image: steps from left to right, offsets from below, a rectangle per tensor with its name, size and steps as a
// title that viewers show under the pointer; below it what it takes with and without sharing.
std::string MemorySvg(const ArenaPicture& picture, const std::string& title);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_MEMORY_PICTURE_H_
