#include <algorithm>
#include <cmath>

#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"

namespace hearth {
namespace {

Status CheckInput(const NodeInference& inference) {
  HEARTH_TRY(inference.CheckReal(0));
  if (inference.shape(0).rank() < 1) {
    return inference.Fail(StatusCode::kMalformedInput, "the input is a scalar, needs at least rank 1");
  }
  return inference.SetOutputTypeOf(0, 0);
}

}  // namespace

Status InferSoftmax(const NodeInference& inference) {
  HEARTH_TRY(CheckInput(inference));
  const float beta = inference.op<Softmax>().beta;
  if (!std::isfinite(beta)) return inference.Fail(StatusCode::kMalformedInput, "beta {} is not a number", beta);
  return inference.SetOutput(0, inference.shape(0));
}

void ReferenceSoftmax(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const double beta = std::get<Softmax>(node.op).beta;
  const Shape& shape = inputs[0]->shape;
  const int64_t length = shape[shape.rank() - 1];
  const double* in = inputs[0]->values.data();
  const double* end = in + inputs[0]->values.size();
  double* out = outputs[0].values.data();
  for (; in != end; in += length, out += length) {
    // Subtracting the extreme keeps exp from overflowing for either sign of beta.
    const auto [least, largest] = std::minmax_element(in, in + length);
    const double extreme = beta < 0.0 ? *least : *largest;
    double sum = 0.0;
    for (int64_t i = 0; i < length; ++i) sum += out[i] = std::exp((in[i] - extreme) * beta);
    for (int64_t i = 0; i < length; ++i) out[i] /= sum;
  }
}

Status InferLogSoftmax(const NodeInference& inference) {
  HEARTH_TRY(CheckInput(inference));
  return inference.SetOutput(0, inference.shape(0));
}

void ReferenceLogSoftmax(const Node& /*node*/, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const Shape& shape = inputs[0]->shape;
  const int64_t length = shape[shape.rank() - 1];
  const double* in = inputs[0]->values.data();
  const double* end = in + inputs[0]->values.size();
  double* out = outputs[0].values.data();
  for (; in != end; in += length, out += length) {
    const double largest = *std::max_element(in, in + length);
    double sum = 0.0;
    for (int64_t i = 0; i < length; ++i) sum += std::exp(in[i] - largest);
    for (int64_t i = 0; i < length; ++i) out[i] = in[i] - largest - std::log(sum);
  }
}

}  // namespace hearth
