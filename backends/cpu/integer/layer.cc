#include "backends/cpu/integer/layer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "backends/cpu/host/quantized.h"
#include "core/graph/evaluate.h"
#include "core/graph/ops/elementwise_table.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

bool Has8Bits(const TensorDesc& desc) {
  return desc.dtype == DType::kInt8 || desc.dtype == DType::kUInt8;
}

constexpr double kLargestProduct = 255.0 * 255.0;

// The largest distance of a bias from a whole number of units, in steps of the output.
constexpr double kBiasTolerance = 1e-3;

// Fills scales (of units) and zero points from the weights' grid, which has one scale for all channels or one for each.
bool ReadWeightGrids(const TensorDesc& weights, int channel_dimension, int32_t channels, double input_scale,
                     IntegerLayer& layer, std::vector<double>& units) {
  const Quantization& grid = *weights.quantization;
  const bool is_shared = grid.scales.size() == 1;
  if (!is_shared && (grid.scales.size() != size_t(channels) || grid.dimension != channel_dimension)) return false;
  const size_t points = grid.zero_points.size();
  if (points > 1 && points != size_t(channels)) return false;
  for (int32_t c = 0; c < channels; ++c) {
    const double scale = grid.scales[is_shared ? 0 : size_t(c)];
    if (!(scale > 0) || !std::isfinite(scale)) return false;
    units.push_back(input_scale * scale);
    const int64_t zero_point = points == 0 ? 0 : grid.zero_points[points == 1 ? 0 : size_t(c)];
    if (zero_point < -128 || zero_point > 255) return false;
    layer.weight_zero_points.push_back(static_cast<int32_t>(zero_point) - (layer.weights_are_signed ? 0 : 128));
  }
  return true;
}

// Reads biases in units. Returns false if one is not a whole number of units, or if bias and sum may need more than 32
// bits.
bool ReadBiases(const Graph& graph, const Node& node, int64_t depth, const std::vector<double>& units,
                IntegerLayer& layer) {
  layer.biases.assign(units.size(), 0);
  std::vector<double> biases;
  if (node.inputs.size() > 2 && node.inputs[2] != kNoValue) {
    if (!graph.IsConstant(node.inputs[2])) return false;
    Result<ReferenceTensor> tensor =
        ReferenceFromBytes(graph.value(node.inputs[2]).desc, graph.ReadConstant(node.inputs[2]).bytes);
    if (!tensor.ok() || tensor->values.size() != units.size()) return false;
    biases = std::move(tensor->values);
  }
  const double largest_sum = kLargestProduct * static_cast<double>(depth);
  if (largest_sum >= 0x1p31) return false;
  for (size_t c = 0; c < biases.size(); ++c) {
    const double bias = biases[c] / units[c], whole = std::round(bias);
    if (!(std::abs(whole) + largest_sum < 0x1p31)) return false;
    if (std::abs(bias - whole) * std::abs(static_cast<double>(layer.multipliers[c])) > kBiasTolerance) return false;
    layer.biases[c] = static_cast<int32_t>(whole);
  }
  return true;
}

}  // namespace

bool IsStoredIn8Bits(const TensorDesc& desc) {
  return Has8Bits(desc) && IsHeldAsFloats(desc) && desc.shape.element_count() > 0;
}

bool HasWeightsForIntegers(const Graph& graph, const Node& node) {
  if (node.inputs.size() < 2 || node.inputs[1] == kNoValue) return false;
  const Shape& out = graph.value(node.outputs[0]).desc.shape;
  const int64_t elements = graph.value(node.inputs[1]).desc.shape.element_count();
  if (elements <= 0 || out.rank() == 0 || out[out.rank() - 1] <= 0) return false;
  return kLargestProduct * static_cast<double>(elements / out[out.rank() - 1]) < 0x1p31;
}

std::optional<IntegerLayer> IntegerLayerOf(const Graph& graph, const Node& node, Activation activation,
                                           int channel_dimension, int32_t channels, int64_t depth) {
  if (node.inputs.size() < 2 || node.inputs[0] == kNoValue || !graph.IsConstant(node.inputs[1])) return std::nullopt;
  const TensorDesc& x = graph.value(node.inputs[0]).desc;
  const TensorDesc& w = graph.value(node.inputs[1]).desc;
  const TensorDesc& y = graph.value(node.outputs[0]).desc;
  const auto bounds = ActivationBounds(activation);
  if (graph.IsConstant(node.inputs[0]) || !IsStoredIn8Bits(x) || !IsStoredIn8Bits(y) || !bounds) return std::nullopt;
  if (!Has8Bits(w) || !IsQuantized(w)) return std::nullopt;

  const TensorGrid in = GridOf(x), out = GridOf(y);
  IntegerLayer layer;
  layer.input_is_signed = x.dtype == DType::kInt8;
  layer.weights_are_signed = w.dtype == DType::kInt8;
  layer.input_zero_point = static_cast<int32_t>(in.zero_point) + (layer.input_is_signed ? 128 : 0);
  layer.output_zero_point = static_cast<int32_t>(out.zero_point);
  if (layer.input_zero_point < 0 || layer.input_zero_point > 255) return std::nullopt;
  std::vector<double> units;
  if (!ReadWeightGrids(w, channel_dimension, channels, in.scale, layer, units)) return std::nullopt;
  // In float32 and in this order, as XNNPACK has it: its results have the same bits then.
  for (int32_t c = 0; c < channels; ++c) {
    const float scale = w.quantization->scales[w.quantization->scales.size() == 1 ? 0 : size_t(c)];
    layer.multipliers.push_back(in.scale * scale / out.scale);
    if (!std::isnormal(layer.multipliers.back())) return std::nullopt;
  }
  if (!ReadBiases(graph, node, depth, units, layer)) return std::nullopt;
  layer.lowest = static_cast<float>(StepsOf(bounds->first, out));
  layer.highest = static_cast<float>(StepsOf(bounds->second, out));
  return layer;
}

WeightsKey KeyOf(std::string_view type, const IntegerLayer& layer, const Graph& graph, ValueId weights) {
  const std::array bounds{layer.lowest, layer.highest};
  WeightsKey key(type);
  key.Add(graph, weights).Add(layer.input_is_signed ? 1 : 0).Add(layer.weights_are_signed ? 1 : 0);
  key.Add(layer.input_zero_point).Add(layer.output_zero_point).Add(std::span<const float>(bounds));
  return key.Add(std::span(layer.weight_zero_points)).Add(std::span(layer.biases)).Add(std::span(layer.multipliers));
}

Requantization RequantizationOf(const IntegerLayer& layer, const IntegerWeights& weights, int32_t padded) {
  Requantization result;
  result.lowest = layer.lowest;
  result.highest = layer.highest;
  result.zero_point = layer.output_zero_point;
  result.offsets.resize(size_t(padded));
  result.multipliers.resize(size_t(padded));
  if (std::ranges::any_of(layer.weight_zero_points, std::identity())) result.row_factors.resize(size_t(padded));
  const int32_t x_zero = layer.input_zero_point;
  for (int32_t c = 0; c < weights.channels; ++c) {
    int64_t weight_sum = 0;
    for (int32_t k = 0; k < weights.depth; ++k) weight_sum += layer.PackedWeight(weights.at(c, k));
    const int32_t w_zero = layer.weight_zero_points[size_t(c)];
    // Where this needs more than 32 bits it wraps, as the kernels' sums do.
    const int64_t offset = layer.biases[size_t(c)] - x_zero * weight_sum + int64_t{weights.depth} * x_zero * w_zero;
    result.offsets[size_t(c)] = static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(offset)));
    result.multipliers[size_t(c)] = layer.multipliers[size_t(c)];
    if (!result.row_factors.empty()) result.row_factors[size_t(c)] = -w_zero;
  }
  return result;
}

IntegerLayer WithoutChannels(IntegerLayer layer) {
  layer.weight_zero_points.clear();
  layer.biases.clear();
  layer.multipliers.clear();
  return layer;
}

IntegerLayer PartOf(const IntegerLayer& layer, const IntegerLayer& common, size_t first, size_t count) {
  IntegerLayer part = common;
  const auto take = [&](auto& list, const auto& all) {
    const auto begin = all.begin() + static_cast<ptrdiff_t>(first);
    list.assign(begin, begin + static_cast<ptrdiff_t>(count));
  };
  take(part.weight_zero_points, layer.weight_zero_points);
  take(part.biases, layer.biases);
  take(part.multipliers, layer.multipliers);
  return part;
}

}  // namespace hearth
