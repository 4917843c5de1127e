#include "core/graph/passes/float_constants.h"

#include <cmath>
#include <utility>

#include "core/graph/evaluate.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

// Near zero, float16 numbers are 2^-24 apart. Where the largest weight is 2^-13, usual weights, a quarter of it, are
// rounded by 0.06 %, three times as much as larger ones. Filters of 0.05 and more for pictures scaled by 1/255 stay
// above; those for sound scaled by 1/32768 would be off by 1.3 %.
constexpr float kLeastLargestWeight = 0x1p-13f;
constexpr float kLargestWeight = 0x1p15f;  // half the largest float16 number

}  // namespace

std::optional<std::vector<float>> FloatsOf(const Graph& graph, ValueId id) {
  if (!graph.IsConstant(id) || !IsPlainFloat32(graph.value(id).desc)) return std::nullopt;
  Result<std::vector<float>> values = ConstantAsFloats(graph, id);
  if (!values.ok()) return std::nullopt;
  return std::move(values).value();
}

bool IsPerChannel(const Graph& graph, ValueId id, int32_t channels) {
  if (!graph.IsConstant(id) || !IsPlainFloat32(graph.value(id).desc)) return false;
  const Shape& shape = graph.value(id).desc.shape;
  const int64_t count = shape.element_count();
  return count == 1 || (shape.rank() > 0 && count == channels && shape[shape.rank() - 1] == channels);
}

std::optional<std::vector<float>> ReadPerChannel(const Graph& graph, ValueId id, int32_t channels) {
  if (!IsPerChannel(graph, id, channels)) return std::nullopt;
  std::optional<std::vector<float>> values = FloatsOf(graph, id);
  if (values && values->size() == 1) values->resize(static_cast<size_t>(channels), values->front());
  return values;
}

bool KeepRangeOfHalves(std::span<const float> largest, std::span<const float> scales) {
  for (size_t k = 0; k < largest.size(); ++k) {
    const float before = largest[k], scale = std::fabs(scales[k]), after = before * scale;
    // No digit is lost by zeros, and at most two by a scale like those of batch normalization.
    const bool scales_down = scale != 0 && scale < 0.25f && before != 0;
    if ((scales_down && after < kLeastLargestWeight) || (after > kLargestWeight && after > before)) return false;
  }
  return true;
}

}  // namespace hearth
