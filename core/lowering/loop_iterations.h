// How many iterations a node's loops take.
#ifndef HEARTH_CORE_LOWERING_LOOP_ITERATIONS_H_
#define HEARTH_CORE_LOWERING_LOOP_ITERATIONS_H_

#include <cstdint>

#include "core/device/device_info.h"
#include "core/graph/op_def.h"

namespace hearth {

// What a loop of `iterations` takes if each of them takes `inside` in loops of its own. Drivers count the check that
// ends a loop too.
constexpr int64_t LoopOf(int64_t iterations, int64_t inside = 0) {
  return 1 + iterations * (1 + inside);
}

// The column `loop_iterations` of the table of operations. ShortLoops: no loop grows with a shape. Where lowering
// decides what a loop counts, the function stands beside it.
LoopIterationsFunction ShortLoops, BatchMatMulIterations, DepthwiseIterations, FullyConnectedIterations, PoolIterations,
    PoolArgmaxIterations;
LoopIterationsFunction ArgReduceIterations, CumSumIterations, TopKIterations, LstmIterations, RnnIterations,
    SvdfIterations;
LoopIterationsFunction FilterIterations;         // filters [O, kh, kw, I]
LoopIterationsFunction ChannelIterations;        // several times over a pixel's channels
LoopIterationsFunction ConvolutionIterations;    // in convolution_lower.cc
LoopIterationsFunction DetectionIterations;      // in detection_lower.cc
LoopIterationsFunction LocalResponseIterations;  // in normalization_lower.cc
LoopIterationsFunction MaxUnpoolIterations;      // in pooling_lower.cc
LoopIterationsFunction MeanVarianceIterations;   // in normalization_lower.cc
LoopIterationsFunction ReduceIterations;         // in reduce_lower.cc

// Three times over a pixel's texels, shared as ChannelLanes (lowering_support.h) decides on software devices.
int64_t IterationsAlongChannels(int64_t slices);

// The most iterations that a device makes. llvmpipe and lavapipe (Mesa 22.3.6) end loops after 65,536 iterations per
// work item without an error. There is no query for it, so every graphics driver that runs on the CPU is treated as one
// of them.
int64_t MostLoopIterations(const DeviceInfo& device);

// From this many slices on, software devices share a pixel's channels among 32 work items (lowering_support.h).
inline constexpr int64_t kManySlicesOfSoftware = 1 << 14;

// The work items of a group that share a loop, at most. Every device of GLES and Vulkan has groups of so many, and
// local memory for them, so iterations are counted for as many as lowering wants.
inline constexpr int32_t kMostSharingItems = 128;

}  // namespace hearth

#endif  // HEARTH_CORE_LOWERING_LOOP_ITERATIONS_H_
