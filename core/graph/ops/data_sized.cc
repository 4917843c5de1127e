#include <unordered_map>

#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"

namespace hearth {

Status InferWhere(const NodeInference& inference) {
  const Shape& shape = inference.shape(0);
  if (shape.rank() < 1) return inference.Fail(StatusCode::kUnsupported, "a scalar has no coordinates");
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
  if (indices != DType::kInt32 && indices != DType::kInt64) {
    return inference.Fail(StatusCode::kMalformedInput, "the indices are {}, they need int32 or int64",
                          DTypeName(indices));
  }
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
