#include "core/graph/ops/normalization.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "core/device/device_info.h"
#include "core/graph/ops/elementwise_table.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"

namespace hearth {
namespace {

// Calls `visit(in, out)` for each row of the last dimension.
template <typename Visit>
void ForEachRow(ReferenceInputs inputs, ReferenceOutputs outputs, Visit visit) {
  const std::span<const double> in = inputs[0]->values;
  const std::span<double> out = outputs[0].values;
  const Shape& shape = inputs[0]->shape;
  const auto length = static_cast<size_t>(shape[shape.rank() - 1]);
  for (size_t begin = 0; begin < in.size(); begin += length)
    visit(in.subspan(begin, length), out.subspan(begin, length));
}

bool IsIn(uint32_t axes_mask, int dimension) {
  return ((axes_mask >> dimension) & 1u) != 0;
}

// Calls `visit(element, group)` for all elements in order. A group is normalized together.
template <typename Visit>
void ForEachElement(const Shape& shape, const MeanVarianceNormalization& norm, Visit visit) {
  std::array<int64_t, Shape::kMaxRank> position{};
  const int last = shape.rank() - 1;
  const int64_t count = shape.element_count();
  const int64_t group_size = norm.groups > 0 ? shape[last] / norm.groups : 1;
  for (int64_t element = 0; element < count; ++element) {
    int64_t group = 0;
    for (int d = 0; d <= last; ++d) {
      if (IsIn(norm.axes_mask, d)) continue;
      const int64_t size = d == last ? group_size : 1;
      group = group * (shape[d] / size) + position[d] / size;
    }
    visit(element, group);
    for (int d = last; d >= 0 && ++position[d] == shape[d]; --d) position[d] = 0;
  }
}

// The number of elements that are normalized together.
int64_t GroupLength(const Shape& shape, const MeanVarianceNormalization& norm) {
  int64_t length = norm.groups > 0 ? shape[shape.rank() - 1] / norm.groups : 1;
  for (int d = 0; d < shape.rank(); ++d) length *= IsIn(norm.axes_mask, d) ? shape[d] : 1;
  return length;
}

Status CheckPerChannel(const NodeInference& inference, size_t i, int32_t channels) {
  if (!inference.HasInput(i)) return Status::Ok();
  HEARTH_TRY(inference.CheckReal(i));
  const Shape& shape = inference.shape(i);
  if (shape.rank() > 0 && shape.element_count() == channels && shape[shape.rank() - 1] == channels) {
    return Status::Ok();
  }
  return inference.Malformed("input {} ({}) must have one number for each of {} channels", i, shape, channels);
}

}  // namespace

Status InferNormalized(const NodeInference& inference) {
  HEARTH_TRY(inference.CheckReal(0));
  if (inference.shape(0).rank() < 1) return inference.Malformed("the input is a scalar, needs at least rank 1");
  HEARTH_TRY(inference.SetOutputTypeOf(0, 0));
  return inference.SetOutput(0, inference.shape(0));
}

void ReferenceL2Normalization(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const Activation activation = std::get<L2Normalization>(node.op).activation;
  ForEachRow(inputs, outputs, [](std::span<const double> in, std::span<double> out) {
    constexpr double kSmallestLength = 1e-6;  // TFLite's; zeros stay zeros
    double squares = 0.0;
    for (const double x : in) squares += x * x;
    const double length = std::max(std::sqrt(squares), kSmallestLength);
    for (size_t c = 0; c < in.size(); ++c) out[c] = in[c] / length;
  });
  ApplyActivation(activation, outputs[0].values);
}

Status InferLocalResponseNormalization(const NodeInference& inference) {
  const auto& norm = inference.op<LocalResponseNormalization>();
  if (norm.radius < 0) return inference.Malformed("the radius is {}", norm.radius);
  if (!std::isfinite(norm.bias) || !std::isfinite(norm.alpha) || !std::isfinite(norm.beta)) {
    return inference.Malformed("bias {}, alpha {} and beta {} must be finite numbers", norm.bias, norm.alpha,
                               norm.beta);
  }
  return InferNormalized(inference);
}

void ReferenceLocalResponseNormalization(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& norm = std::get<LocalResponseNormalization>(node.op);
  ForEachRow(inputs, outputs, [&norm](std::span<const double> x, std::span<double> out) {
    const auto channels = static_cast<int64_t>(x.size());
    for (int64_t c = 0; c < channels; ++c) {
      double squares = 0.0;
      const int64_t end = std::min(channels, c + norm.radius + 1);
      for (int64_t k = std::max<int64_t>(0, c - norm.radius); k < end; ++k) squares += x[k] * x[k];
      out[c] = x[c] * std::pow(norm.bias + norm.alpha * squares, -double{norm.beta});
    }
  });
}

Status InferSoftmax(const NodeInference& inference) {
  const float beta = inference.op<Softmax>().beta;
  if (!std::isfinite(beta)) return inference.Malformed("beta {} is not a number", beta);
  return InferNormalized(inference);
}

void ReferenceSoftmax(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const double beta = std::get<Softmax>(node.op).beta;
  ForEachRow(inputs, outputs, [beta](std::span<const double> in, std::span<double> out) {
    // Subtracting the extreme keeps exp from overflowing for either sign of beta.
    const auto [least, largest] = std::minmax_element(in.begin(), in.end());
    const double extreme = beta < 0.0 ? *least : *largest;
    double sum = 0.0;
    for (size_t i = 0; i < in.size(); ++i) sum += out[i] = std::exp((in[i] - extreme) * beta);
    for (double& number : out) number /= sum;
  });
}

void ReferenceLogSoftmax(const Node& /*node*/, ReferenceInputs inputs, ReferenceOutputs outputs) {
  ForEachRow(inputs, outputs, [](std::span<const double> in, std::span<double> out) {
    const double largest = *std::max_element(in.begin(), in.end());
    double sum = 0.0;
    for (const double number : in) sum += std::exp(number - largest);
    for (size_t i = 0; i < in.size(); ++i) out[i] = in[i] - largest - std::log(sum);
  });
}

Status InferMeanVarianceNormalization(const NodeInference& inference) {
  const auto& norm = inference.op<MeanVarianceNormalization>();
  HEARTH_TRY(inference.CheckReal(0));
  const Shape& in = inference.shape(0);
  if (norm.axes_mask == 0 || (norm.axes_mask >> in.rank()) != 0)
    return inference.Malformed("needs at least one axis, and all inside of rank {} ({})", in.rank(), in);
  const int32_t channels = in[in.rank() - 1];
  const bool has_groups = norm.groups > 0 && !IsIn(norm.axes_mask, in.rank() - 1) && channels % norm.groups == 0;
  if (norm.groups != 0 && !has_groups) {
    return inference.Malformed("{} groups: must divide the {} channels, which may be none of the axes", norm.groups,
                               channels);
  }
  if (!std::isfinite(norm.epsilon) || norm.epsilon < 0)
    return inference.Malformed("epsilon is {}, must be a finite number that is not negative", norm.epsilon);
  for (size_t i : {1, 2}) HEARTH_TRY(CheckPerChannel(inference, i, channels));
  HEARTH_TRY(inference.SetOutputTypeOf(0, 0));
  return inference.SetOutput(0, in);
}

void ReferenceMeanVarianceNormalization(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& norm = std::get<MeanVarianceNormalization>(node.op);
  const ReferenceTensor& in = *inputs[0];
  const ReferenceTensor* scale = inputs.size() > 1 ? inputs[1] : nullptr;
  const ReferenceTensor* offset = inputs.size() > 2 ? inputs[2] : nullptr;
  const int64_t length = GroupLength(in.shape, norm);
  std::vector<double> means(in.values.size() / length), variances(means.size());
  const auto count = static_cast<double>(length);
  if (!norm.root_mean_square) {
    ForEachElement(in.shape, norm, [&](int64_t i, int64_t group) { means[group] += in.values[i] / count; });
  }
  ForEachElement(in.shape, norm, [&](int64_t i, int64_t group) {
    const double off = in.values[i] - means[group];
    variances[group] += off * off / count;
  });
  const int64_t channels = in.shape[in.shape.rank() - 1];
  ForEachElement(in.shape, norm, [&](int64_t i, int64_t group) {
    const double normal = (in.values[i] - means[group]) / std::sqrt(variances[group] + double{norm.epsilon});
    const double factor = scale == nullptr ? 1.0 : scale->values[i % channels];
    outputs[0].values[i] = normal * factor + (offset == nullptr ? 0.0 : offset->values[i % channels]);
  });
  ApplyActivation(norm.activation, outputs[0].values);
}

std::optional<NormalizedRuns> NormalizedRunsOf(const Shape& shape, const MeanVarianceNormalization& norm) {
  const int last = shape.rank() - 1;
  NormalizedRuns runs;
  for (int d = 0; d < last; ++d) {
    if (shape[d] == 1) continue;
    const bool is_reduced = IsIn(norm.axes_mask, d);
    if (!is_reduced && runs.length > 1) return std::nullopt;  // a kept dimension after a reduced one: not one run
    (is_reduced ? runs.length : runs.count) *= shape[d];
  }
  if (norm.groups > 0) runs.group = shape[last] / norm.groups;
  if (!IsIn(norm.axes_mask, last) || shape[last] == 1) return runs;
  if (runs.length > 1) return std::nullopt;
  return NormalizedRuns{true, 1, shape[last]};
}

std::optional<std::string> NormalizedShapeUnsupported(const Shape& shape, const MeanVarianceNormalization& norm) {
  const std::optional<NormalizedRuns> runs = NormalizedRunsOf(shape, norm);
  if (!runs.has_value() || (runs->group > 1 && runs->group % 4 != 0)) {
    return "it normalizes over other dimensions than the last one or neighbours that end before it, or over groups of "
           "channels that 4 does not divide";
  }
  if (runs->over_channels) return std::nullopt;
  if (norm.root_mean_square) return "it takes the root mean square over other dimensions than the last one";
  const int64_t groups = runs->count * ToBhwc(shape).slices();
  if (groups <= kMostGroups) return std::nullopt;
  return fmt::format("it has {} groups of images and channels, its device kernel takes {}", groups, kMostGroups);
}

}  // namespace hearth
