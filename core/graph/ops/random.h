// Random numbers by Philox 4x32-10 and Threefry 2x32-20 (Salmon et al., 2011), in the order in which LiteRT draws them.
#ifndef HEARTH_CORE_GRAPH_OPS_RANDOM_H_
#define HEARTH_CORE_GRAPH_OPS_RANDOM_H_

#include <array>
#include <cstdint>

#include "core/graph/op_def.h"

namespace hearth {

// Four numbers from a counter and a key; the result depends on every bit of both.
std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// Two numbers in the same way.
std::array<uint32_t, 2> Threefry(std::array<uint32_t, 2> counter, std::array<uint32_t, 2> key);

Status InferRandom(Graph& graph, const Node& node);
void ReferenceRandom(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);

Status InferRandomBits(Graph& graph, const Node& node);
void ReferenceRandomBits(const Node& node, std::span<const ReferenceTensor* const> inputs,
                         std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_RANDOM_H_
