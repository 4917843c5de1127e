#include "backends/cpu/host/rounding_ties.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/host/quantized.h"
#include "backends/cpu/host/vectorized.h"
#include "core/graph/evaluate.h"
#include "core/graph/ops/elementwise_table.h"

namespace hearth {
namespace {

// The distance from a tie, in steps of the grid, below which the float sum is computed again. A sum of 500 products
// that reaches 255 steps is off by about 255 * sqrt(500) * 2^-24 = 3e-4 steps.
constexpr float kNear = 3e-4f;

// Whether `real` is near the middle between two steps: minus half a step, it is near an integer. Adding and subtracting
// 1.5 * 2^23 rounds without a branch, so that the loop vectorizes.
HEARTH_INTO_CALLER inline bool IsNearTie(float real, float inverse) {
  constexpr float kRounder = 12582912.0f;
  const float shifted = real * inverse - 0.5f;
  return std::fabs(shifted - ((shifted + kRounder) - kRounder)) <= kNear;
}

// Checked first for a whole block, because most blocks have none.
HEARTH_INTO_CALLER inline bool HasNearTie(std::span<const float> block, float inverse) {
  int has = 0;
  for (float real : block) has |= static_cast<int>(IsNearTie(real, inverse));
  return has != 0;
}

bool ConstantNumbers(const Graph& graph, ValueId id, std::vector<double>& numbers) {
  if (!graph.IsConstant(id)) return false;
  Result<ReferenceTensor> tensor = ReferenceFromBytes(graph.value(id).desc, graph.ReadConstant(id).bytes);
  if (!tensor.ok()) return false;
  numbers = std::move(tensor->values);
  return true;
}

}  // namespace

std::unique_ptr<RoundingTies> RoundingTies::Of(const Graph& graph, const Node& node) {
  const auto* convolution = std::get_if<Conv2D>(&node.op);
  if (convolution == nullptr || !IsHeldAsFloats(graph.value(node.outputs[0]).desc)) return nullptr;
  std::unique_ptr<RoundingTies> ties(new RoundingTies());
  const auto bounds = ActivationBounds(convolution->activation);
  if (!bounds) return nullptr;
  const ValueId filter = node.inputs[1];
  if (graph.IsConstant(filter) && ties->ReadsInPlace(graph.value(filter).desc)) {
    ties->filter_bytes_ = graph.ConstantBytes(filter);
  } else if (!ConstantNumbers(graph, filter, ties->filter_numbers_)) {
    return nullptr;
  }
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != kNoValue;
  if (has_bias && !ConstantNumbers(graph, node.inputs[2], ties->bias_)) return nullptr;
  const TensorDesc& out = graph.value(node.outputs[0]).desc;
  ties->in_ = graph.value(node.inputs[0]).desc.shape;
  ties->filter_ = graph.value(node.inputs[1]).desc.shape;
  ties->out_ = out.shape;
  if (!has_bias) ties->bias_.assign(static_cast<size_t>(ties->out_[3]), 0.0);
  ties->window_ = convolution->window;
  ties->padding_ = ResolvePadding(convolution->window, ties->in_[1], ties->in_[2], ties->filter_[1], ties->filter_[2]);
  ties->lowest_ = bounds->first;
  ties->highest_ = bounds->second;
  ties->step_ = out.quantization->scales[0];
  return ties;
}

// The filter is read in its stored form: as float64 it would take eight times the memory, and a quarter of MobileNet
// v2's start to convert.
bool RoundingTies::ReadsInPlace(const TensorDesc& filter) {
  const bool has_8_bits = filter.dtype == DType::kInt8 || filter.dtype == DType::kUInt8;
  if (!has_8_bits || !filter.quantization.has_value()) return false;
  const Quantization& grid = *filter.quantization;
  const auto channels = static_cast<size_t>(filter.shape[0]);
  const bool is_of_tensor = grid.scales.size() == 1, is_of_channels = grid.scales.size() == channels;
  if (!is_of_tensor && !(is_of_channels && grid.dimension == 0)) return false;
  for (size_t channel = 0; channel < channels; ++channel) {
    filter_scales_.push_back(grid.scales[is_of_tensor ? 0 : channel]);
    const size_t count = grid.zero_points.size();
    filter_zero_points_.push_back(count == 0 ? 0.0 : static_cast<double>(grid.zero_points[count == 1 ? 0 : channel]));
  }
  filter_is_signed_ = filter.dtype == DType::kInt8;
  return true;
}

template <typename T>
double RoundingTies::SumOfProducts(std::span<const float> x, const T* filter, double zero_point, int64_t pixel,
                                   int32_t channel) const {
  const int64_t ox = pixel % out_[2], oy = pixel / out_[2] % out_[1], batch = pixel / out_[2] / out_[1];
  const int32_t inputs = filter_[3];  // of one group
  const int32_t first_input = channel / (out_[3] / (in_[3] / inputs)) * inputs;
  const T* taps = filter + int64_t{channel} * filter_[1] * filter_[2] * inputs;
  double sum = 0;
  for (int32_t ky = 0; ky < filter_[1]; ++ky) {
    const int64_t iy = oy * window_.stride_h - padding_.top + int64_t{ky} * window_.dilation_h;
    if (iy < 0 || iy >= in_[1]) continue;
    for (int32_t kx = 0; kx < filter_[2]; ++kx) {
      const int64_t ix = ox * window_.stride_w - padding_.left + int64_t{kx} * window_.dilation_w;
      if (ix < 0 || ix >= in_[2]) continue;
      const float* from = x.data() + ((batch * in_[1] + iy) * in_[2] + ix) * in_[3] + first_input;
      const T* tap = taps + (ky * filter_[2] + kx) * inputs;
      for (int32_t i = 0; i < inputs; ++i) sum += from[i] * (static_cast<double>(tap[i]) - zero_point);
    }
  }
  return sum;
}

double RoundingTies::Sum(std::span<const float> x, int64_t pixel, int32_t channel) const {
  if (filter_bytes_.empty()) return bias_[channel] + SumOfProducts(x, filter_numbers_.data(), 0.0, pixel, channel);
  const double zero_point = filter_zero_points_[channel];
  const double sum =
      filter_is_signed_
          ? SumOfProducts(x, reinterpret_cast<const int8_t*>(filter_bytes_.data()), zero_point, pixel, channel)
          : SumOfProducts(x, reinterpret_cast<const uint8_t*>(filter_bytes_.data()), zero_point, pixel, channel);
  return bias_[channel] + filter_scales_[channel] * sum;
}

void RoundingTies::Refine(std::span<const float> x, std::span<float> part, size_t first) const {
  constexpr size_t kBlock = 256;
  const auto inverse = static_cast<float>(1.0 / step_);
  for (size_t begin = 0; begin < part.size(); begin += kBlock) {
    const std::span<float> block = part.subspan(begin, std::min(kBlock, part.size() - begin));
    bool has_near_tie = false;
    Vectorized([&]() HEARTH_INTO_CALLER { has_near_tie = HasNearTie(block, inverse); });
    if (!has_near_tie) continue;
    for (size_t k = 0; k < block.size(); ++k) {
      if (!IsNearTie(block[k], inverse)) continue;
      const auto at = static_cast<int64_t>(first + begin + k);
      const double sum = Sum(x, at / out_[3], static_cast<int32_t>(at % out_[3]));
      block[k] = static_cast<float>(std::clamp(sum, lowest_, highest_));
    }
  }
}

}  // namespace hearth
