#include "core/graph/passes/float_constants.h"

#include <utility>

#include "core/graph/evaluate.h"
#include "core/graph/quantize.h"

namespace hearth {

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

}  // namespace hearth
