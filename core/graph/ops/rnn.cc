#include <algorithm>

#include "core/graph/ops/elementwise_table.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"
#include "core/graph/ops/recurrent.h"

namespace hearth {

Status InferRnn(const NodeInference& inference) {
  for (size_t i = 0; i < 4; ++i) HEARTH_TRY(inference.CheckReal(i));
  for (size_t i = 1; i < 4; ++i) HEARTH_TRY(inference.CheckRank(i, 2));
  const Shape& x = inference.shape(0);
  if (x.rank() != 2) HEARTH_TRY(inference.CheckRank(0, 3));
  const SequenceShape sequence = SequenceOf(x, inference.op<Rnn>().time_major);
  const Shape &h = inference.shape(1), &weights = inference.shape(2), &recurrent = inference.shape(3);
  const int32_t units = weights[0], depth = x[x.rank() - 1];
  if (h[0] != sequence.batch || h[1] != units || weights[1] != depth || recurrent[0] != units ||
      recurrent[1] != units) {
    return inference.Fail(StatusCode::kMalformedInput, "state {}, weights {} and {} don't fit an input of shape {}",
                          h.ToString(), weights.ToString(), recurrent.ToString(), x.ToString());
  }
  HEARTH_TRY(inference.CheckBias(4, units));
  Shape y = x;
  y[x.rank() - 1] = units;
  HEARTH_TRY(CheckSteps(inference, x, y));
  HEARTH_TRY(inference.SetOutput(0, y));
  return inference.SetOutput(1, h);
}

void ReferenceRnn(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& rnn = std::get<Rnn>(node.op);
  const ReferenceTensor &x = *inputs[0], &weights = *inputs[2], &recurrent = *inputs[3];
  const SequenceShape sequence = SequenceOf(x.shape, rnn.time_major);
  const int64_t units = weights.shape[0], depth = weights.shape[1];
  outputs[1].values = inputs[1]->values;
  for (int64_t b = 0; b < sequence.batch; ++b) {
    const std::span<double> h = std::span(outputs[1].values).subspan(b * units, units);
    for (int64_t t = 0; t < sequence.steps; ++t) {
      const int64_t pixel = t * sequence.step_stride + b * sequence.batch_stride;
      std::vector<double> sums = inputs[4]->values;
      for (int64_t u = 0; u < units; ++u) {
        for (int64_t k = 0; k < depth; ++k) sums[u] += weights.values[u * depth + k] * x.values[pixel * depth + k];
        for (int64_t k = 0; k < units; ++k) sums[u] += recurrent.values[u * units + k] * h[k];
      }
      ApplyActivation(rnn.activation, sums);
      std::copy(sums.begin(), sums.end(), h.begin());
      std::copy(sums.begin(), sums.end(), &outputs[0].values[pixel * units]);
    }
  }
}

Status InferSvdf(const NodeInference& inference) {
  for (size_t i = 0; i < 4; ++i) {
    HEARTH_TRY(inference.CheckReal(i));
    HEARTH_TRY(inference.CheckRank(i, 2));
  }
  const Shape &x = inference.shape(0), &state = inference.shape(1), &features = inference.shape(2),
              &times = inference.shape(3);
  const int32_t rank = inference.op<Svdf>().rank, filters = features[0];
  if (rank < 1 || filters % rank != 0) {
    return inference.Fail(StatusCode::kMalformedInput, "{} filters can't be of rank {}", filters, rank);
  }
  if (features[1] != x[1] || times[0] != filters || state[0] != x[0] || state[1] != int64_t{filters} * times[1]) {
    return inference.Fail(StatusCode::kMalformedInput, "state {}, weights {} and {} don't fit an input of shape {}",
                          state.ToString(), features.ToString(), times.ToString(), x.ToString());
  }
  if (inference.HasInput(4)) HEARTH_TRY(inference.CheckBias(4, filters / rank));
  HEARTH_TRY(inference.SetOutput(0, {x[0], filters / rank}));
  return inference.SetOutput(1, state);
}

void ReferenceSvdf(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& svdf = std::get<Svdf>(node.op);
  const ReferenceTensor &x = *inputs[0], &features = *inputs[2], &times = *inputs[3];
  const ReferenceTensor* bias = inputs.size() > 4 ? inputs[4] : nullptr;
  const int64_t filters = features.shape[0], depth = features.shape[1], memory = times.shape[1];
  outputs[1].values = inputs[1]->values;
  for (int64_t b = 0; b < x.shape[0]; ++b) {
    double* y = &outputs[0].values[b * (filters / svdf.rank)];
    for (int64_t f = 0; f < filters; ++f) {
      double* past = &outputs[1].values[(b * filters + f) * memory];
      std::copy(past + 1, past + memory, past);
      double& feature = past[memory - 1] = 0.0;
      for (int64_t k = 0; k < depth; ++k) feature += features.values[f * depth + k] * x.values[b * depth + k];
      double& sum = y[f / svdf.rank];
      if (f % svdf.rank == 0) sum = bias != nullptr ? bias->values[f / svdf.rank] : 0.0;
      for (int64_t m = 0; m < memory; ++m) sum += past[m] * times.values[f * memory + m];
    }
  }
  ApplyActivation(svdf.activation, outputs[0].values);
}

}  // namespace hearth
