#include "core/ops/mean_variance.h"

#include <array>
#include <cmath>

#include "core/ops/elementwise_table.h"
#include "core/ops/node_inference.h"

namespace hearth {
namespace {

bool IsIn(uint32_t axes_mask, int dimension) {
  return ((axes_mask >> dimension) & 1u) != 0;
}

// Calls `visit(element, group)` for all elements in order; a group is what is normalized together.
template <typename Visit>
void ForEachElement(const Shape& shape, uint32_t axes_mask, Visit visit) {
  std::array<int64_t, Shape::kMaxRank> position{};
  const int64_t count = shape.element_count();
  for (int64_t element = 0; element < count; ++element) {
    int64_t group = 0;
    for (int d = 0; d < shape.rank(); ++d) {
      if (!IsIn(axes_mask, d)) group = group * shape[d] + position[d];
    }
    visit(element, group);
    for (int d = shape.rank() - 1; d >= 0 && ++position[d] == shape[d]; --d) position[d] = 0;
  }
}

Status CheckPerChannel(const NodeInference& inference, size_t i, int32_t channels) {
  if (!inference.HasInput(i)) return Status::Ok();
  HEARTH_TRY(inference.CheckReal(i));
  const Shape& shape = inference.shape(i);
  if (shape.rank() > 0 && shape.element_count() == channels && shape[shape.rank() - 1] == channels) {
    return Status::Ok();
  }
  return inference.Fail(StatusCode::kMalformedInput, "input {} ({}) must have one number for each of {} channels", i,
                        shape.ToString(), channels);
}

}  // namespace

Status InferMeanVarianceNormalization(Graph& graph, const Node& node) {
  const auto& norm = std::get<MeanVarianceNormalization>(node.op);
  const NodeInference inference(graph, node);
  HEARTH_TRY(inference.CheckOperands(1, 2));
  HEARTH_TRY(inference.CheckReal(0));
  const Shape& in = inference.shape(0);
  if (norm.axes_mask == 0 || (norm.axes_mask >> in.rank()) != 0) {
    return inference.Fail(StatusCode::kMalformedInput, "needs at least one axis, and all inside of rank {} ({})",
                          in.rank(), in.ToString());
  }
  if (!std::isfinite(norm.epsilon) || norm.epsilon < 0) {
    return inference.Fail(StatusCode::kMalformedInput, "epsilon is {}, must be a finite number that is not negative",
                          norm.epsilon);
  }
  for (size_t i : {1, 2}) HEARTH_TRY(CheckPerChannel(inference, i, in[in.rank() - 1]));
  HEARTH_TRY(inference.SetOutputTypeOf(0, 0));
  return inference.SetOutput(0, in);
}

void ReferenceMeanVarianceNormalization(const Node& node, std::span<const ReferenceTensor* const> inputs,
                                        std::span<ReferenceTensor> outputs) {
  const auto& norm = std::get<MeanVarianceNormalization>(node.op);
  const ReferenceTensor& in = *inputs[0];
  const ReferenceTensor* scale = inputs.size() > 1 ? inputs[1] : nullptr;
  const ReferenceTensor* offset = inputs.size() > 2 ? inputs[2] : nullptr;
  int64_t length = 1;
  for (int d = 0; d < in.shape.rank(); ++d) length *= IsIn(norm.axes_mask, d) ? in.shape[d] : 1;
  std::vector<double> means(in.values.size() / length), variances(means.size());
  const auto count = static_cast<double>(length);
  ForEachElement(in.shape, norm.axes_mask, [&](int64_t i, int64_t group) { means[group] += in.values[i] / count; });
  ForEachElement(in.shape, norm.axes_mask, [&](int64_t i, int64_t group) {
    const double off = in.values[i] - means[group];
    variances[group] += off * off / count;
  });
  const int64_t channels = in.shape[in.shape.rank() - 1];
  ForEachElement(in.shape, norm.axes_mask, [&](int64_t i, int64_t group) {
    const double normal = (in.values[i] - means[group]) / std::sqrt(variances[group] + double{norm.epsilon});
    const double factor = scale == nullptr ? 1.0 : scale->values[i % channels];
    outputs[0].values[i] = normal * factor + (offset == nullptr ? 0.0 : offset->values[i % channels]);
  });
  ApplyActivation(norm.activation, outputs[0].values);
}

std::optional<NormalizedRuns> NormalizedRunsOf(const Shape& shape, uint32_t axes_mask) {
  const int last = shape.rank() - 1;
  NormalizedRuns runs;
  for (int d = 0; d < last; ++d) {
    if (shape[d] == 1) continue;
    const bool is_reduced = IsIn(axes_mask, d);
    if (!is_reduced && runs.length > 1) return std::nullopt;  // it stays, and stands behind one that does not
    (is_reduced ? runs.length : runs.count) *= shape[d];
  }
  if (!IsIn(axes_mask, last) || shape[last] == 1) return runs;
  if (runs.length > 1) return std::nullopt;
  return NormalizedRuns{true, 1, shape[last]};
}

}  // namespace hearth
