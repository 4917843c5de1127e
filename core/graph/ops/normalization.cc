#include <algorithm>
#include <cmath>

#include "core/graph/ops/elementwise_table.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"

namespace hearth {
namespace {

Status CheckNormalized(const NodeInference& inference) {
  HEARTH_TRY(inference.CheckReal(0));
  if (inference.shape(0).rank() < 1) {
    return inference.Fail(StatusCode::kMalformedInput, "the input is a scalar, needs at least rank 1");
  }
  HEARTH_TRY(inference.SetOutputTypeOf(0, 0));
  return inference.SetOutput(0, inference.shape(0));
}

}  // namespace

Status InferL2Normalization(const NodeInference& inference) {
  return CheckNormalized(inference);
}

void ReferenceL2Normalization(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  constexpr double kSmallestLength = 1e-6;  // TFLite's; zeros stay zeros
  const Activation activation = std::get<L2Normalization>(node.op).activation;
  const ReferenceTensor& in = *inputs[0];
  const auto channels = static_cast<size_t>(in.shape[in.shape.rank() - 1]);
  for (size_t begin = 0; begin < in.values.size(); begin += channels) {
    double squares = 0.0;
    for (size_t c = begin; c < begin + channels; ++c) squares += in.values[c] * in.values[c];
    const double length = std::max(std::sqrt(squares), kSmallestLength);
    for (size_t c = begin; c < begin + channels; ++c) outputs[0].values[c] = in.values[c] / length;
  }
  ApplyActivation(activation, outputs[0].values);
}

Status InferLocalResponseNormalization(const NodeInference& inference) {
  const auto& norm = inference.op<LocalResponseNormalization>();
  if (norm.radius < 0) return inference.Fail(StatusCode::kMalformedInput, "the radius is {}", norm.radius);
  if (!std::isfinite(norm.bias) || !std::isfinite(norm.alpha) || !std::isfinite(norm.beta)) {
    return inference.Fail(StatusCode::kMalformedInput, "bias {}, alpha {} and beta {} must be finite numbers",
                          norm.bias, norm.alpha, norm.beta);
  }
  return CheckNormalized(inference);
}

void ReferenceLocalResponseNormalization(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& norm = std::get<LocalResponseNormalization>(node.op);
  const ReferenceTensor& in = *inputs[0];
  const int64_t channels = in.shape[in.shape.rank() - 1];
  for (size_t pixel = 0; pixel < in.values.size(); pixel += static_cast<size_t>(channels)) {
    const double* x = in.values.data() + pixel;
    for (int64_t c = 0; c < channels; ++c) {
      double squares = 0.0;
      const int64_t end = std::min(channels, c + norm.radius + 1);
      for (int64_t k = std::max<int64_t>(0, c - norm.radius); k < end; ++k) squares += x[k] * x[k];
      outputs[0].values[pixel + c] = x[c] * std::pow(norm.bias + norm.alpha * squares, -double{norm.beta});
    }
  }
}

}  // namespace hearth
