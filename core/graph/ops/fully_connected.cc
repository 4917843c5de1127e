#include "core/graph/ops/elementwise_table.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"

namespace hearth {

Status InferFullyConnected(const NodeInference& inference) {
  const auto& fully_connected = inference.op<FullyConnected>();
  HEARTH_TRY(inference.CheckReal(0));
  HEARTH_TRY(inference.CheckReal(1));
  HEARTH_TRY(inference.CheckRank(1, 2));
  const Shape& in = inference.shape(0);
  const Shape& filter = inference.shape(1);
  const int32_t outputs = filter[0], depth = filter[1];
  if (inference.HasInput(2)) HEARTH_TRY(inference.CheckBias(2, outputs));
  if (fully_connected.keep_dims) {
    if (in.rank() < 1 || in[in.rank() - 1] != depth) {
      return inference.Fail(StatusCode::kMalformedInput, "the input's last dimension ({}) differs from the filter's {}",
                            in.ToString(), depth);
    }
    Shape out = in;
    out[in.rank() - 1] = outputs;
    return inference.SetOutput(0, out);
  }
  // Without keep_dims TFLite flattens the input of any shape into rows.
  if (depth == 0 || in.element_count() % depth != 0) {
    return inference.Fail(StatusCode::kMalformedInput,
                          "the input's {} elements ({}) are not a multiple of the filter's {}", in.element_count(),
                          in.ToString(), depth);
  }
  return inference.SetOutput(0, {in.element_count() / depth, outputs});
}

void ReferenceFullyConnected(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const ReferenceTensor& filter = *inputs[1];
  const int64_t out_count = filter.shape[0], depth = filter.shape[1];
  const int64_t rows = static_cast<int64_t>(inputs[0]->values.size()) / depth;
  const ReferenceTensor* bias = inputs.size() > 2 ? inputs[2] : nullptr;
  double* out = outputs[0].values.data();
  for (int64_t row = 0; row < rows; ++row) {
    const double* in = &inputs[0]->values[row * depth];
    for (int64_t o = 0; o < out_count; ++o) {
      const double* weights = &filter.values[o * depth];
      double sum = bias != nullptr ? bias->values[o] : 0.0;
      for (int64_t k = 0; k < depth; ++k) sum += in[k] * weights[k];
      *out++ = sum;
    }
  }
  ApplyActivation(std::get<FullyConnected>(node.op).activation, outputs[0].values);
}

}  // namespace hearth
