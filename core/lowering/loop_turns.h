// How many iterations a node's loops take.
#ifndef HEARTH_CORE_LOWERING_LOOP_TURNS_H_
#define HEARTH_CORE_LOWERING_LOOP_TURNS_H_

#include <cstdint>

#include "core/device/device_info.h"
#include "core/graph/graph.h"

namespace hearth {

// The column `loop_turns` of the table of operations. ShortLoops: no loop grows with a shape.
int64_t ShortLoops(const Graph& graph, const Node& node);
int64_t FilterTurns(const Graph& graph, const Node& node);  // filters [O, kh, kw, I]
int64_t DepthwiseTurns(const Graph& graph, const Node& node);
int64_t PoolTurns(const Graph& graph, const Node& node);
int64_t PoolArgmaxTurns(const Graph& graph, const Node& node);
int64_t FullyConnectedTurns(const Graph& graph, const Node& node);
int64_t BatchMatMulTurns(const Graph& graph, const Node& node);
int64_t ReduceTurns(const Graph& graph, const Node& node);
int64_t MeanVarianceTurns(const Graph& graph, const Node& node);
int64_t ChannelTurns(const Graph& graph, const Node& node);  // several times over a pixel's channels
int64_t ArgReduceTurns(const Graph& graph, const Node& node);
int64_t CumSumTurns(const Graph& graph, const Node& node);
int64_t TopKTurns(const Graph& graph, const Node& node);
int64_t DetectionTurns(const Graph& graph, const Node& node);  // in detection_lower.cc

// The most iterations that a device makes. llvmpipe and lavapipe (Mesa 22.3.6) end loops after 65,536 iterations per
// work item without an error. There is no query for it, so every graphics driver that runs on the CPU is treated as one
// of them.
int64_t MostLoopTurns(const DeviceInfo& device);

// From this many slices or texels on, software devices share a pixel's channels, or a run of pixels, among 32 work
// items (lowering_support.h, mean_variance_lower.cc).
inline constexpr int64_t kManySlicesOfSoftware = 1 << 14, kManyTexelsOfSoftware = 1024;

// Work items that share one output texel of a long reduction (reduce_lower.cc); 1 where none share. Fewer do where the
// device's groups hold fewer, which those of devices with a limit of turns do not.
int32_t LanesOfReduction(int64_t shared_length, int64_t output_texels);

}  // namespace hearth

#endif  // HEARTH_CORE_LOWERING_LOOP_TURNS_H_
