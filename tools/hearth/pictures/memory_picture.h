// The memory plan of a network as a picture, for `inspect --memory`.
#ifndef HEARTH_TOOLS_HEARTH_PICTURES_MEMORY_PICTURE_H_
#define HEARTH_TOOLS_HEARTH_PICTURES_MEMORY_PICTURE_H_

#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/plan/memory_planner.h"
#include "core/plan/plan.h"

namespace hearth {

// An intermediate tensor in the arena. Step 0 is the upload of the inputs, the plan's steps count from 1, and the last
// one is the download of the outputs.
struct ArenaTensor {
  std::string name;  // the node that writes it, or the network's input
  uint64_t offset_bytes = 0;
  TensorUsage usage;
};

struct ArenaPicture {
  std::vector<ArenaTensor> tensors;  // by first step
  uint64_t arena_bytes = 0;
  int steps = 0;
};

// The arena's tensors, from the plan's dispatches and transfers. A range that is written again after it was read counts
// as another tensor.
ArenaPicture ArenaOf(const Plan& plan);

// For a network that runs on the host as a whole: the graph's dense tensors, placed as on a device.
ArenaPicture HostArenaOf(const Graph& graph);

// An SVG image: steps from left to right, offsets from bottom to top, and a rectangle per tensor whose tooltip has
// name, size and steps. Below it the memory with and without sharing.
std::string MemorySvg(const ArenaPicture& picture, const std::string& title);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_PICTURES_MEMORY_PICTURE_H_
