#include "core/graph/ops/recurrent.h"

#include <algorithm>
#include <cmath>

#include "core/graph/ops/elementwise_table.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"

namespace hearth {
namespace {

// Checks the inputs whose sizes follow from G, U, I and O.
Status CheckLstmWeights(const NodeInference& inference, int64_t gates, int32_t units) {
  const int64_t rows = gates * units;
  const int32_t depth = inference.shape(kLstmX)[inference.shape(kLstmX).rank() - 1];
  const int32_t outputs = inference.shape(kLstmH)[1];
  struct Expected {
    LstmInput input;
    int64_t rows, columns;  // 0 columns: a list
  };
  const Expected all[] = {
      {kLstmWeights, rows, depth},       {kLstmRecurrent, rows, outputs}, {kLstmBias, rows, 0},
      {kLstmPeephole, rows - units, 0},  {kLstmNormalization, rows, 0},   {kLstmProjection, outputs, units},
      {kLstmProjectionBias, outputs, 0}, {kLstmWeightScales, rows, 0},    {kLstmRecurrentScales, rows, 0}};
  for (const Expected& expected : all) {
    if (!inference.HasInput(expected.input)) continue;
    if (inference.input(expected.input).dtype != DType::kInt32) HEARTH_TRY(inference.CheckReal(expected.input));
    const Shape& shape = inference.shape(expected.input);
    const bool fits = expected.columns == 0
                          ? shape.rank() == 1 && shape[0] == expected.rows
                          : shape.rank() == 2 && shape[0] == expected.rows && shape[1] == expected.columns;
    if (!fits) {
      return inference.Malformed("input {} has shape {}; {} gates of {} units need {}x{}",
                                 static_cast<size_t>(expected.input), shape, gates, units, expected.rows,
                                 std::max<int64_t>(expected.columns, 1));
    }
  }
  return Status::Ok();
}

// Adds matrix * vector to `sums`.
void AddProduct(const ReferenceTensor& matrix, const double* vector, std::vector<double>& sums) {
  const int64_t depth = matrix.shape[1];
  for (size_t row = 0; row < sums.size(); ++row) {
    const double* weights = &matrix.values[row * depth];
    double sum = 0.0;
    for (int64_t k = 0; k < depth; ++k) sum += weights[k] * vector[k];
    sums[row] += sum;
  }
}

void Clip(double limit, std::span<double> values) {
  if (limit <= 0.0) return;
  for (double& value : values) value = std::clamp(value, -limit, limit);
}

// One step of the cell for one batch element.
class LstmStep {
 public:
  LstmStep(const Lstm& lstm, ReferenceInputs inputs) : lstm_(lstm), inputs_(inputs) {
    units_ = inputs[kLstmC]->shape[1];
    gates_ = static_cast<int>(inputs[kLstmWeights]->shape[0] / units_);
    sums_.resize(gates_ * units_);
  }

  // What a product takes of x or h, and the size of its unit.
  struct Seen {
    const double* values = nullptr;
    double unit = 1.0;
  };
  // Replaces `h` and `c`.
  void Run(Seen x, Seen past, std::span<double> h, std::span<double> c) {
    const ReferenceTensor* bias = Find(kLstmBias);
    const bool normalizes = Find(kLstmNormalization) != nullptr;
    std::fill(sums_.begin(), sums_.end(), 0.0);
    if (!normalizes) sums_ = bias->values;
    AddScaled(kLstmWeights, x, Find(kLstmWeightScales));
    AddScaled(kLstmRecurrent, past, Find(kLstmRecurrentScales));

    const int output = gates_ - 1, cell = gates_ - 2, forget = gates_ - 3;
    for (int gate = 0; gate <= forget; ++gate) FinishGate(gate, gate, c, Activation::kSigmoid);
    FinishGate(cell, -1, c, lstm_.activation);
    for (int64_t u = 0; u < units_; ++u) {
      const double kept = Gate(forget)[u];
      c[u] = kept * c[u] + (gates_ == 4 ? Gate(0)[u] : 1.0 - kept) * Gate(cell)[u];
    }
    Clip(lstm_.cell_clip, c);
    FinishGate(output, gates_ - 2, c, Activation::kSigmoid);
    WriteOutput(c, h);
  }

 private:
  void AddScaled(LstmInput weights, Seen seen, const ReferenceTensor* scales) {
    if (scales == nullptr) return AddProduct(*inputs_[weights], seen.values, sums_);
    std::vector<double> product(sums_.size());
    AddProduct(*inputs_[weights], seen.values, product);
    for (size_t k = 0; k < product.size(); ++k) sums_[k] += product[k] * (scales->values[k] * seen.unit);
  }
  const ReferenceTensor* Find(LstmInput input) const { return input < inputs_.size() ? inputs_[input] : nullptr; }
  std::span<double> Gate(int gate) { return std::span(sums_).subspan(gate * units_, units_); }

  // `peephole`: the gate's row of the peephole weights; -1 for the cell gate, which has none.
  void FinishGate(int gate, int peephole, std::span<const double> c, Activation activation) {
    const std::span<double> sums = Gate(gate);
    if (const ReferenceTensor* weights = Find(kLstmPeephole); weights != nullptr && peephole >= 0) {
      for (int64_t u = 0; u < units_; ++u) sums[u] += weights->values[peephole * units_ + u] * c[u];
    }
    if (Find(kLstmNormalization) != nullptr) Normalize(gate);
    ApplyActivation(activation, sums);
  }

  void Normalize(int gate) {
    const std::span<double> sums = Gate(gate);
    double mean = 0.0, variance = 0.0;
    for (double sum : sums) mean += sum / static_cast<double>(units_);
    for (double sum : sums) variance += (sum - mean) * (sum - mean) / static_cast<double>(units_);
    const double scale = 1.0 / std::sqrt(variance + kLayerNormalizationEpsilon);
    for (int64_t u = 0; u < units_; ++u) {
      const size_t row = static_cast<size_t>(gate * units_ + u);
      sums[u] = (sums[u] - mean) * scale * Find(kLstmNormalization)->values[row] + Find(kLstmBias)->values[row];
    }
  }

  void WriteOutput(std::span<const double> c, std::span<double> h) {
    std::vector<double> out(c.begin(), c.end());
    ApplyActivation(lstm_.activation, out);
    for (int64_t u = 0; u < units_; ++u) out[u] *= Gate(gates_ - 1)[u];
    const ReferenceTensor* projection = Find(kLstmProjection);
    if (projection != nullptr) {
      std::vector<double> projected(h.size());
      if (const ReferenceTensor* bias = Find(kLstmProjectionBias)) projected = bias->values;
      AddProduct(*projection, out.data(), projected);
      Clip(lstm_.proj_clip, projected);
      out = std::move(projected);
    }
    std::copy(out.begin(), out.end(), h.begin());
  }

  const Lstm& lstm_;
  ReferenceInputs inputs_;
  int64_t units_ = 0;
  int gates_ = 0;
  std::vector<double> sums_;
};

}  // namespace

SequenceShape SequenceOf(const Shape& x, bool time_major) {
  if (x.rank() == 2) return {x[0], 1, 1, 1};
  if (time_major) return {x[1], x[0], x[1], 1};
  return {x[0], x[1], 1, x[1]};
}

Status CheckSteps(const NodeInference& inference, const Shape& x, const Shape& y) {
  if (x.element_count() > 0 || y.element_count() == 0) return Status::Ok();
  return inference.Unsupported("steps without elements: x is {}", x);
}

Status InferLstm(const NodeInference& inference) {
  const auto& lstm = inference.op<Lstm>();
  for (size_t i : {kLstmX, kLstmH, kLstmC}) HEARTH_TRY(inference.CheckReal(i));
  HEARTH_TRY(inference.CheckRank(kLstmH, 2));
  HEARTH_TRY(inference.CheckRank(kLstmC, 2));
  const Shape& x = inference.shape(kLstmX);
  if (x.rank() != 2) HEARTH_TRY(inference.CheckRank(kLstmX, 3));
  const SequenceShape sequence = SequenceOf(x, lstm.time_major);
  const int32_t outputs = inference.shape(kLstmH)[1], units = inference.shape(kLstmC)[1];
  if (inference.shape(kLstmH)[0] != sequence.batch || inference.shape(kLstmC)[0] != sequence.batch) {
    return inference.Malformed("states of shape {} and {} for a batch of {}", inference.shape(kLstmH),
                               inference.shape(kLstmC), sequence.batch);
  }
  const Shape& weights = inference.shape(kLstmWeights);
  const int64_t gates = weights.rank() == 2 && weights[0] == int64_t{3} * units ? 3 : 4;
  HEARTH_TRY(CheckLstmWeights(inference, gates, units));
  if (inference.HasInput(kLstmWeightScales) != inference.HasInput(kLstmRecurrentScales))
    return inference.Malformed("only one of two matrices has scales");
  if (!inference.HasInput(kLstmProjection) && outputs != units)
    return inference.Malformed("{} units can't become {} outputs without a projection", units, outputs);
  if (!std::isfinite(lstm.cell_clip) || !std::isfinite(lstm.proj_clip))
    return inference.Malformed("clips of {} and {} are not numbers", lstm.cell_clip, lstm.proj_clip);
  Shape y = x;
  y[x.rank() - 1] = outputs;
  HEARTH_TRY(CheckSteps(inference, x, y));
  HEARTH_TRY(inference.SetOutput(0, y));
  HEARTH_TRY(inference.SetOutput(1, inference.shape(kLstmH)));
  return inference.SetOutput(2, inference.shape(kLstmC));
}

void ReferenceLstm(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& lstm = std::get<Lstm>(node.op);
  const ReferenceTensor& x = *inputs[kLstmX];
  const SequenceShape sequence = SequenceOf(x.shape, lstm.time_major);
  const int64_t depth = x.shape[x.shape.rank() - 1];
  const int64_t out_count = inputs[kLstmH]->shape[1], units = inputs[kLstmC]->shape[1];
  outputs[1].values = inputs[kLstmH]->values;
  outputs[2].values = inputs[kLstmC]->values;
  LstmStep step(lstm, inputs);
  const bool counts_steps = inputs.size() > kLstmWeightScales && inputs[kLstmWeightScales] != nullptr;
  std::vector<double> x_seen = x.values, h_seen;
  const double x_unit = counts_steps ? CountSteps<double>(x.values, x_seen).step : 1.0;
  for (int64_t t = 0; t < sequence.steps; ++t) {
    h_seen = outputs[1].values;
    const double h_unit = counts_steps ? CountSteps<double>(outputs[1].values, h_seen).step : 1.0;
    for (int64_t b = 0; b < sequence.batch; ++b) {
      const std::span<double> h = std::span(outputs[1].values).subspan(b * out_count, out_count);
      const std::span<double> c = std::span(outputs[2].values).subspan(b * units, units);
      const int64_t pixel = t * sequence.step_stride + b * sequence.batch_stride;
      step.Run({&x_seen[pixel * depth], x_unit}, {&h_seen[b * out_count], h_unit}, h, c);
      std::copy(h.begin(), h.end(), &outputs[0].values[pixel * out_count]);
    }
  }
}

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
    return inference.Malformed("state {}, weights {} and {} don't fit an input of shape {}", h, weights, recurrent, x);
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
  if (rank < 1 || filters % rank != 0) return inference.Malformed("{} filters can't be of rank {}", filters, rank);
  if (features[1] != x[1] || times[0] != filters || state[0] != x[0] || state[1] != int64_t{filters} * times[1]) {
    return inference.Malformed("state {}, weights {} and {} don't fit an input of shape {}", state, features, times, x);
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
