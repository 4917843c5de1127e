#include <algorithm>

#include "core/graph/ops/coordinates.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"

namespace hearth {

Status InferDynamicUpdateSlice(const NodeInference& inference) {
  HEARTH_TRY(inference.CheckKeepsType(0, 0));
  HEARTH_TRY(inference.CheckKeepsType(0, 1));
  const Shape &in = inference.shape(0), &update = inference.shape(1), &start = inference.shape(2);
  bool fits = update.rank() == in.rank();
  for (int d = 0; fits && d < in.rank(); ++d) fits = update[d] <= in[d];
  if (!fits) {
    return inference.Fail(StatusCode::kMalformedInput, "an update of shape {} does not fit into {}", update.ToString(),
                          in.ToString());
  }
  const DType type = inference.input(2).dtype;
  if (start.rank() != 1 || start[0] != in.rank() || (type != DType::kInt32 && type != DType::kInt64) ||
      inference.input(2).quantization.has_value()) {
    return inference.Fail(StatusCode::kMalformedInput, "starts at {}[{}], needs an int32 or int64 for each of {}",
                          DTypeName(type), start.ToString(), in.ToString());
  }
  return inference.SetOutput(0, in);
}

void ReferenceDynamicUpdateSlice(const Node&, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const ReferenceTensor &in = *inputs[0], &update = *inputs[1];
  const int rank = in.shape.rank();
  Coordinates start{};
  for (int d = 0; d < rank; ++d) {
    const double room = in.shape[d] - update.shape[d];
    start[d] = static_cast<int64_t>(std::clamp(inputs[2]->values[d], 0.0, room));
  }
  outputs[0].values = in.values;
  Coordinates at{};
  for (double element : update.values) {
    Coordinates to = at;
    for (int d = 0; d < rank; ++d) to[d] += start[d];
    outputs[0].values[IndexOf(in.shape, to)] = element;
    Advance(update.shape, at);
  }
}

}  // namespace hearth
