// A layer with weights on stored 8-bit numbers: the facts that its kernels share.
#ifndef HEARTH_BACKENDS_CPU_INTEGER_LAYER_H_
#define HEARTH_BACKENDS_CPU_INTEGER_LAYER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backends/cpu/host/shared_weights.h"
#include "core/graph/graph.h"

namespace hearth {

// Whether it is a non-empty 8-bit value with one grid, as integer kernels read and write.
bool IsStoredIn8Bits(const TensorDesc& desc);

// The sum over k of (x[k] - x_zero_point) * (w[k] - w_zero_point), plus a bias, is an integer count of units.
// Multiplied by the channel's multiplier it is a number of steps of the output's grid from its zero point, which is
// clamped and rounded to the nearest integer, the even one of two.
struct IntegerLayer {
  // Kernels multiply unsigned inputs by signed weights. Signed inputs are read with their highest bit flipped, which
  // adds 128; unsigned weights are packed minus 128. Zero points are shifted in the same way.
  bool input_is_signed = false, weights_are_signed = false;
  int32_t input_zero_point = 0;
  std::vector<int32_t> weight_zero_points;  // one for each channel, as in the next two
  std::vector<int32_t> biases;
  std::vector<float> multipliers;
  float lowest = 0, highest = 0;  // in steps
  int32_t output_zero_point = 0;

  // PackedWeight: the byte that kernels read for a stored weight. stored_zero: the stored byte of an input of zero.
  int8_t PackedWeight(std::byte stored) const {
    return static_cast<int8_t>(static_cast<uint8_t>(stored) ^ (weights_are_signed ? 0x00 : 0x80));
  }
  std::byte stored_zero() const { return static_cast<std::byte>(input_zero_point ^ (input_is_signed ? 0x80 : 0x00)); }
};

// The weights of a node: constant 8-bit numbers, `depth` of them for each channel.
struct IntegerWeights {
  std::span<const std::byte> bytes;
  int32_t channels = 0, depth = 0;
  int64_t channel_stride = 0, depth_stride = 0;  // in elements

  std::byte at(int32_t channel, int32_t k) const { return bytes[size_t(channel * channel_stride + k * depth_stride)]; }
};

// From a node (x, weights, bias?) -> y. `channel_dimension`: of the weights. nullopt for layers that integer kernels
// can't compute exactly: other types, weights that are not constant, an activation that is not a clamp, sums that need
// more than 32 bits.
[[gnu::cold]] std::optional<IntegerLayer> IntegerLayerOf(const Graph& graph, const Node& node, Activation activation,
                                                         int channel_dimension, int32_t channels, int64_t depth);

// The facts of the layer that all its channels share.
IntegerLayer WithoutChannels(IntegerLayer layer);
// The layer of `count` channels from `first` on. common: the layer without its channels, which are too many to be
// copied for each group.
IntegerLayer PartOf(const IntegerLayer& layer, const IntegerLayer& common, size_t first, size_t count);

// The key of the node's packed weights for the layer. `type`: of the result.
WeightsKey KeyOf(std::string_view type, const IntegerLayer& layer, const Graph& graph, ValueId weights);

// Whether the weights, input 1, have elements, and few enough for each output channel that a sum fits 32 bits.
bool HasWeightsForIntegers(const Graph& graph, const Node& node);

// The factors from sums to stored numbers, for `padded` channels (zeros after the last one). A sum of inputs times
// packed weights gets offsets added, and row_factors times the sum of the inputs (empty: none).
struct Requantization {
  std::vector<int32_t> offsets, row_factors;
  std::vector<float> multipliers;
  float lowest = 0, highest = 0;
  int32_t zero_point = 0;

  uint64_t bytes() const { return (offsets.size() + row_factors.size() + multipliers.size()) * 4; }
};
Requantization RequantizationOf(const IntegerLayer& layer, const IntegerWeights& weights, int32_t padded);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_INTEGER_LAYER_H_
