// Operations whose results data place or count.
#include <unordered_map>

#include "core/graph/element.h"
#include "core/graph/ops/elementwise_table.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"

namespace hearth {

Status InferScatter(const NodeInference& inference) {
  HEARTH_TRY(inference.CheckKeepsType(0, 0));
  HEARTH_TRY(inference.CheckKeepsType(0, 1));
  const Shape &matrix = inference.shape(0), &rows = inference.shape(1), &places = inference.shape(2);
  const bool fits = matrix.rank() == 2 && rows.rank() == 2 && rows[1] == matrix[1] && places == Shape{rows[0]};
  if (!fits || inference.input(2).dtype != DType::kInt32 || inference.input(2).quantization) {
    return inference.Malformed("rows of shape {} at places {}[{}] of {}", rows, DTypeName(inference.input(2).dtype),
                               places, matrix);
  }
  return inference.SetOutput(0, matrix);
}

void ReferenceScatter(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& op = std::get<Scatter>(node.op);
  const BinaryRow* row = op.kind ? &RowOf(*op.kind) : nullptr;
  ReferenceTensor& out = outputs[0];
  out.values = inputs[0]->values;
  const auto combine = [&](double a, double b) {
    if (row == nullptr) return b;
    if (!out.integers) return row->function(a, b);
    const auto function = row->integer_function;
    const int64_t number = function == nullptr ? static_cast<int64_t>(row->function(a, b))
                                               : function(ToInt64(a), ToInt64(b), BitsOf(*out.integers));
    return static_cast<double>(WrapInteger(*out.integers, number));
  };
  const int64_t columns = out.shape[1];
  for (int64_t i = 0; i < inputs[2]->shape[0]; ++i) {
    const double place = inputs[2]->values[static_cast<size_t>(i)];
    if (!(place >= 0.0 && place < out.shape[0])) continue;
    for (int64_t c = 0; c < columns; ++c) {
      double& element = out.values[static_cast<size_t>(static_cast<int64_t>(place) * columns + c)];
      element = combine(element, inputs[1]->values[static_cast<size_t>(i * columns + c)]);
    }
  }
}

Status InferWhere(const NodeInference& inference) {
  const Shape& shape = inference.shape(0);
  if (shape.rank() < 1) return inference.Unsupported("a scalar has no coordinates");
  inference.SetOutputType(0, DType::kInt64);
  inference.SetOutputType(1, DType::kInt32);
  HEARTH_TRY(inference.SetOutput(0, {shape.element_count(), int64_t{shape.rank()}}));
  return inference.SetOutput(1, {1});
}

void ReferenceWhere(const Node& /*node*/, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const ReferenceTensor& condition = *inputs[0];
  const auto rank = static_cast<size_t>(condition.shape.rank());
  size_t count = 0;
  for (size_t i = 0; i < condition.values.size(); ++i) {
    if (condition.values[i] == 0.0) continue;
    size_t rest = i;
    for (size_t d = rank; d-- > 0;) {
      const auto size = static_cast<size_t>(condition.shape[static_cast<int>(d)]);
      outputs[0].values[count * rank + d] = static_cast<double>(rest % size);
      rest /= size;
    }
    ++count;
  }
  outputs[1].values[0] = static_cast<double>(count);
}

Status InferUnique(const NodeInference& inference) {
  HEARTH_TRY(inference.CheckRank(0, 1));
  const DType indices = inference.output(1).dtype;
  if (indices != DType::kInt32 && indices != DType::kInt64)
    return inference.Malformed("the indices are {}, they need int32 or int64", DTypeName(indices));
  HEARTH_TRY(inference.SetOutputTypeOf(0, 0));
  inference.SetOutputType(1, indices);
  inference.SetOutputType(2, DType::kInt32);
  HEARTH_TRY(inference.SetOutput(0, inference.shape(0)));
  HEARTH_TRY(inference.SetOutput(1, inference.shape(0)));
  return inference.SetOutput(2, {1});
}

void ReferenceUnique(const Node& /*node*/, ReferenceInputs inputs, ReferenceOutputs outputs) {
  std::unordered_map<double, size_t> known;  // NaN equals nothing, so each NaN is a number of its own
  size_t count = 0;
  for (size_t i = 0; i < inputs[0]->values.size(); ++i) {
    const double value = inputs[0]->values[i];
    const auto [place, is_new] = known.emplace(value, count);
    if (is_new) outputs[0].values[count++] = value;
    outputs[1].values[i] = static_cast<double>(place->second);
  }
  outputs[2].values[0] = static_cast<double>(count);
}

}  // namespace hearth
