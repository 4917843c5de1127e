// What a layer with weights computes on stored 8-bit numbers: the facts that its kernels share.
#ifndef HEARTH_BACKENDS_CPU_INTEGER_LAYER_H_
#define HEARTH_BACKENDS_CPU_INTEGER_LAYER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backends/cpu/held_weights.h"
#include "core/graph/graph.h"

namespace hearth {

// An 8-bit value with one grid: what integer kernels read and write.
bool IsStoredIn8Bits(const TensorDesc& desc);

// The sum over k of (x[k] - x_zero_point) * (w[k] - w_zero_point), plus a bias, is whole units. Times the channel's
// multiplier it is steps of the output's grid from its zero point, which are clamped and rounded half away from zero.
struct IntegerLayer {
  // Kernels multiply numbers without a sign by numbers with one. Inputs with a sign are read with their highest bit
  // flipped, which adds 128; weights without one are packed less 128. Zero points are moved alike.
  bool input_is_signed = false, weights_are_signed = false;
  int32_t input_zero_point = 0;
  std::vector<int32_t> weight_zero_points;  // one per channel, as are the next two
  std::vector<int32_t> biases;
  std::vector<float> multipliers;
  float lowest = 0, highest = 0;  // steps
  int32_t output_zero_point = 0;

  bool has_weight_zero_points() const;
  // The byte of a weight with the number that kernels read; and of the input that stands for zero, as it is stored.
  int8_t PackedWeight(std::byte stored) const {
    return static_cast<int8_t>(static_cast<uint8_t>(stored) ^ (weights_are_signed ? 0x00 : 0x80));
  }
  std::byte stored_zero() const { return static_cast<std::byte>(input_zero_point ^ (input_is_signed ? 0x80 : 0x00)); }
};

// The weights of a node: constant numbers of 8 bits, `depth` of them for each channel.
struct IntegerWeights {
  std::span<const std::byte> bytes;
  int32_t channels = 0, depth = 0;
  int64_t channel_stride = 0, depth_stride = 0;  // in elements

  std::byte at(int32_t channel, int32_t k) const { return bytes[size_t(channel * channel_stride + k * depth_stride)]; }
};

// Of a node (x, weights, bias?) -> y. `channel_dimension`: of the weights. Nothing for what integer kernels can't do
// exactly: other types, weights that are not constant, an activation that is no clamp, sums that need more than 32
// bits.
std::optional<IntegerLayer> IntegerLayerOf(const Graph& graph, const Node& node, Activation activation,
                                           int channel_dimension, int32_t channels, int64_t depth);

// Names what is packed of the node's weights for the layer. `type`: of the result.
WeightsKey KeyOf(std::string_view type, const IntegerLayer& layer, const Graph& graph, ValueId weights);

// Whether the weights, input 1, have elements, and so few for each of the output's channels that 32 bits hold a sum.
bool HasWeightsForIntegers(const Graph& graph, const Node& node);

// How sums become stored numbers, for `padded` channels (those past the last are zeros): offsets are added to the sum
// of inputs times packed weights, and row_factors times the sum of the inputs (empty: none).
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
