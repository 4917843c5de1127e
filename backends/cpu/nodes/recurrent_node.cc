// LSTM and RNN of floats: one product for the inputs of all steps, then each step adds the product of its state. SVDF:
// one product for the features, which are remembered.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/host_operand.h"
#include "backends/cpu/host/host_output.h"
#include "backends/cpu/integer/counted_product.h"
#include "backends/cpu/nodes/packed_constant.h"
#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/ops/elementwise_table.h"
#include "core/graph/ops/recurrent.h"

namespace hearth {
namespace {

// Constant weights [rows, depth], which multiply vectors.
class Weights {
 public:
  // `scales`: of rows that are whole numbers, which multiply vectors in steps (CountSteps); else empty.
  static Result<Weights> Of(const HostNodeRequest& request, size_t position, int64_t rows,
                            std::vector<float> scales = {}) {
    Weights weights;
    const ValueId constant = request.node.inputs[position];
    weights.rows_ = rows;
    weights.depth_ = request.graph.value(constant).desc.shape.element_count() / rows;
    weights.counted_ = CountedProduct::Of(request, constant, scales);
    if (weights.counted_ != nullptr) return weights;
    weights.scales_ = std::move(scales);
    const MatrixLayout layout{weights.depth_, rows, 1, 1, weights.depth_};
    HEARTH_ASSIGN(const PackedFloats packed, PackedConstant(request, constant, layout));
    weights.packed_ = packed.matrices;
    return weights;
  }
  // Multiplies each of the `count` vectors in `x` into one in `y`.
  void Multiply(std::span<const float> x, int64_t count, const float* bias, std::span<float> y, WorkerPool& workers) {
    if (counted_ == nullptr && scales_.empty()) return MultiplyFloats(x.data(), count, bias, y.data(), workers);
    if (counted_ != nullptr) {
      counted_->Multiply(x, y, workers);
    } else {
      steps_.resize(x.size());
      const float step = CountSteps<float>(x, steps_).step;
      MultiplyFloats(steps_.data(), count, nullptr, y.data(), workers);
      for (size_t at = 0; at < y.size(); at += scales_.size()) {
        for (size_t k = 0; k < scales_.size(); ++k) y[at + k] *= scales_[k] * step;
      }
    }
    if (bias == nullptr) return;
    for (size_t at = 0; at < y.size(); at += static_cast<size_t>(rows_)) {
      for (size_t k = 0; k < static_cast<size_t>(rows_); ++k) y[at + k] += bias[k];
    }
  }
  int64_t rows() const { return rows_; }
  int64_t depth() const { return depth_; }

 private:
  void MultiplyFloats(const float* x, int64_t count, const float* bias, float* y, WorkerPool& workers) const {
    const MatrixPair pair{{x, depth_, 1}, 0, y};
    ProductFinish finish;
    finish.bias = bias;
    packed_->Multiply({&pair, 1}, count, finish, workers);
  }

  int64_t rows_ = 0, depth_ = 0;
  std::unique_ptr<CountedProduct> counted_;  // or:
  std::shared_ptr<const PackedMatrices> packed_;
  std::vector<float> scales_, steps_;
};

void Activate(Activation activation, std::span<float> values) {
  if (activation != Activation::kNone) ApplyUnary({UnaryOf(activation)}, values, values);
}

void Clip(float limit, std::span<float> values) {
  if (limit <= 0.0f) return;
  for (float& value : values) value = value < -limit ? -limit : value > limit ? limit : value;
}

bool HasInput(const HostNodeRequest& request, size_t position) {
  return position < request.node.inputs.size() && request.node.inputs[position] != kNoValue;
}

// The numbers of a constant; empty if the input is absent.
Result<std::vector<float>> ConstantOf(const HostNodeRequest& request, size_t position) {
  if (!HasInput(request, position)) return std::vector<float>();
  return ConstantAsFloats(request.graph, request.node.inputs[position]);
}

// The sequence, states and results in the arena.
class RecurrentNode : public HostNode {
 public:
  std::string_view kernel() const override { return "recurrent"; }

 protected:
  // `operands`: the sequence and the states.
  RecurrentNode(const HostNodeRequest& request, std::vector<HostOperand> operands, bool time_major)
      : workers_(request.workers),
        operands_(std::move(operands)),
        sequence_(SequenceOf(operands_[0].desc.shape, time_major)) {
    for (size_t k = 0; k < request.node.outputs.size(); ++k) outputs_.emplace_back(request, Activation::kNone, k);
  }

  std::span<const float> in(size_t position) const {
    const HostOperand& operand = operands_[position];
    return {operand.floats(), static_cast<size_t>(operand.desc.shape.element_count())};
  }
  std::span<float> out(size_t position) const { return outputs_[position].floats(); }
  WorkerPool& workers() const { return workers_; }
  const SequenceShape& sequence() const { return sequence_; }
  int64_t pixels() const { return int64_t{sequence_.batch} * sequence_.steps; }
  int64_t PixelOf(int64_t step, int64_t batch) const {
    return step * sequence_.step_stride + batch * sequence_.batch_stride;
  }
  void FinishResults() const {
    for (const HostOutput& output : outputs_) output.Finish();
  }

 private:
  WorkerPool& workers_;
  std::vector<HostOperand> operands_;
  std::vector<HostOutput> outputs_;
  SequenceShape sequence_;
};

class RnnNode final : public RecurrentNode {
 public:
  RnnNode(const HostNodeRequest& request, std::vector<HostOperand> operands, Weights weights, Weights recurrent,
          std::vector<float> bias)
      : RecurrentNode(request, std::move(operands), std::get<Rnn>(request.node.op).time_major),
        activation_(std::get<Rnn>(request.node.op).activation),
        weights_(std::move(weights)),
        recurrent_(std::move(recurrent)),
        bias_(std::move(bias)) {}

  Status Run(RunControl* /*control*/) override {
    const int64_t units = weights_.rows();
    const std::span<float> y = out(0), h = out(1);
    std::ranges::copy(in(1), h.begin());
    weights_.Multiply(in(0), pixels(), bias_.data(), y, workers());
    sums_.resize(static_cast<size_t>(sequence().batch * units));
    for (int64_t step = 0; step < sequence().steps; ++step) {
      recurrent_.Multiply(h, sequence().batch, nullptr, sums_, workers());
      for (int64_t b = 0; b < sequence().batch; ++b) {
        const auto size = static_cast<size_t>(units);
        const std::span<float> row = y.subspan(static_cast<size_t>(PixelOf(step, b)) * size, size);
        for (size_t u = 0; u < size; ++u) row[u] += sums_[static_cast<size_t>(b) * size + u];
        Activate(activation_, row);
        std::ranges::copy(row, h.begin() + b * units);
      }
    }
    FinishResults();
    return Status::Ok();
  }

 private:
  Activation activation_;
  Weights weights_, recurrent_;
  std::vector<float> bias_, sums_;
};

class SvdfNode final : public RecurrentNode {
 public:
  SvdfNode(const HostNodeRequest& request, std::vector<HostOperand> operands, Weights features,
           std::vector<float> times, std::vector<float> bias)
      : RecurrentNode(request, std::move(operands), false),
        svdf_(std::get<Svdf>(request.node.op)),
        features_(std::move(features)),
        times_(std::move(times)),
        bias_(std::move(bias)) {}

  Status Run(RunControl* /*control*/) override {
    const auto filters = static_cast<size_t>(features_.rows()), rank = static_cast<size_t>(svdf_.rank);
    const size_t memory = times_.size() / filters, batch = in(1).size() / times_.size();
    made_.resize(batch * filters);
    features_.Multiply(in(0), static_cast<int64_t>(batch), nullptr, made_, workers());
    const std::span<float> y = out(0), remembered = out(1);
    for (size_t row = 0; row < made_.size(); ++row) {
      const size_t filter = row % filters;
      const std::span<float> past = remembered.subspan(row * memory, memory);
      std::ranges::copy(in(1).subspan(row * memory + 1, memory - 1), past.begin());
      past.back() = made_[row];
      float sum = filter % rank != 0 ? y[row / rank] : bias_.empty() ? 0.0f : bias_[filter / rank];
      for (size_t m = 0; m < memory; ++m) sum += past[m] * times_[filter * memory + m];
      y[row / rank] = sum;
    }
    Activate(svdf_.activation, y);
    FinishResults();
    return Status::Ok();
  }

 private:
  Svdf svdf_;
  Weights features_;
  std::vector<float> times_, bias_, made_;
};

struct LstmConstants {
  std::vector<float> bias, peephole, normalization, projection_bias;
};

class LstmNode final : public RecurrentNode {
 public:
  LstmNode(const HostNodeRequest& request, std::vector<HostOperand> operands, Weights weights, Weights recurrent,
           std::optional<Weights> projection, LstmConstants constants, int64_t units)
      : RecurrentNode(request, std::move(operands), std::get<Lstm>(request.node.op).time_major),
        lstm_(std::get<Lstm>(request.node.op)),
        weights_(std::move(weights)),
        recurrent_(std::move(recurrent)),
        projection_(std::move(projection)),
        constants_(std::move(constants)),
        units_(static_cast<size_t>(units)),
        gates_(static_cast<size_t>(weights_.rows() / units)),
        cell_out_(units_) {}

  Status Run(RunControl* /*control*/) override {
    const auto batch = static_cast<size_t>(sequence().batch), rows = gates_ * units_;
    const std::span<float> h = out(1), c = out(2);
    const size_t outputs = h.size() / batch;
    std::ranges::copy(in(kLstmH), h.begin());
    std::ranges::copy(in(kLstmC), c.begin());
    sums_.resize(static_cast<size_t>(pixels()) * rows);
    remembered_.resize(batch * rows);
    const float* bias = constants_.normalization.empty() ? constants_.bias.data() : nullptr;
    weights_.Multiply(in(kLstmX), pixels(), bias, sums_, workers());
    for (int64_t step = 0; step < sequence().steps; ++step) {
      recurrent_.Multiply(h, sequence().batch, nullptr, remembered_, workers());
      for (size_t b = 0; b < batch; ++b) {
        const auto pixel = static_cast<size_t>(PixelOf(step, static_cast<int64_t>(b)));
        const std::span<float> sums = std::span(sums_).subspan(pixel * rows, rows);
        for (size_t k = 0; k < rows; ++k) sums[k] += remembered_[b * rows + k];
        const std::span<float> h_of_one = h.subspan(b * outputs, outputs);
        Step(sums, h_of_one, c.subspan(b * units_, units_));
        std::ranges::copy(h_of_one, out(0).begin() + static_cast<int64_t>(pixel * outputs));
      }
    }
    FinishResults();
    return Status::Ok();
  }

 private:
  // The order of the gates: input (only if there are four), forget, cell, output.
  void Step(std::span<float> sums, std::span<float> h, std::span<float> c) {
    const auto gate = [&](size_t number) { return sums.subspan(number * units_, units_); };
    const size_t output = gates_ - 1, cell = gates_ - 2, forget = gates_ - 3;
    for (size_t k = 0; k <= forget; ++k) FinishGate(gate(k), k, k, c, Activation::kSigmoid);
    FinishGate(gate(cell), cell, std::nullopt, c, lstm_.activation);
    const std::span<const float> kept = gate(forget), added = gate(cell);
    for (size_t u = 0; u < units_; ++u) {
      c[u] = kept[u] * c[u] + (gates_ == 4 ? gate(0)[u] : 1.0f - kept[u]) * added[u];
    }
    Clip(lstm_.cell_clip, c);
    FinishGate(gate(output), output, gates_ - 2, c, Activation::kSigmoid);
    std::ranges::copy(c, cell_out_.begin());
    Activate(lstm_.activation, cell_out_);
    const std::span<const float> let_out = gate(output);
    for (size_t u = 0; u < units_; ++u) cell_out_[u] *= let_out[u];
    if (!projection_) {
      std::ranges::copy(cell_out_, h.begin());
      return;
    }
    const float* bias = constants_.projection_bias.empty() ? nullptr : constants_.projection_bias.data();
    projection_->Multiply(cell_out_, 1, bias, h, workers());
    Clip(lstm_.proj_clip, h);
  }

  // `peephole`: the gate's row of the peephole weights; the cell gate has none.
  void FinishGate(std::span<float> sums, size_t number, std::optional<size_t> peephole, std::span<const float> c,
                  Activation activation) const {
    if (peephole && !constants_.peephole.empty()) {
      const float* weights = constants_.peephole.data() + *peephole * units_;
      for (size_t u = 0; u < units_; ++u) sums[u] += weights[u] * c[u];
    }
    if (!constants_.normalization.empty()) Normalize(sums, number);
    Activate(activation, sums);
  }

  void Normalize(std::span<float> sums, size_t number) const {
    const auto count = static_cast<double>(units_);
    double mean = 0.0, variance = 0.0;
    for (float sum : sums) mean += sum / count;
    for (float sum : sums) variance += (sum - mean) * (sum - mean) / count;
    const double scale = 1.0 / std::sqrt(variance + kLayerNormalizationEpsilon);
    const float *weights = constants_.normalization.data() + number * units_,
                *bias = constants_.bias.data() + number * units_;
    for (size_t u = 0; u < units_; ++u) sums[u] = static_cast<float>((sums[u] - mean) * scale * weights[u] + bias[u]);
  }

  const Lstm& lstm_;
  Weights weights_, recurrent_;
  std::optional<Weights> projection_;
  LstmConstants constants_;
  size_t units_, gates_;
  std::vector<float> sums_, remembered_, cell_out_;
};

// The first `count` inputs, held as floats; nullopt for a node with other inputs, or weights that are not constant.
Result<std::vector<HostOperand>> OperandsOf(const HostNodeRequest& request, size_t count) {
  const std::vector<ValueId>& inputs = request.node.inputs;
  std::vector<HostOperand> operands(count), none;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (k >= count) {
      if (inputs[k] != kNoValue && !request.graph.IsConstant(inputs[k])) return none;
      continue;
    }
    HEARTH_ASSIGN(operands[k], HostOperandOf(request, k));
    if (operands[k].bytes == nullptr || operands[k].desc.dtype != DType::kFloat32) return none;
  }
  const auto is_held = [&](ValueId value) { return HeldAs(request.graph.value(value).desc).dtype == DType::kFloat32; };
  if (request.decides_indices || !std::ranges::all_of(request.node.outputs, is_held)) return none;
  return operands;
}

Result<std::unique_ptr<HostNode>> MakeRnnNode(const HostNodeRequest& request, std::vector<HostOperand> operands) {
  HEARTH_ASSIGN(std::vector<float> bias, ConstantOf(request, 4));
  const auto units = static_cast<int64_t>(bias.size());
  HEARTH_ASSIGN(Weights weights, Weights::Of(request, 2, units));
  HEARTH_ASSIGN(Weights recurrent, Weights::Of(request, 3, units));
  return std::make_unique<RnnNode>(request, std::move(operands), std::move(weights), std::move(recurrent),
                                   std::move(bias));
}

Result<std::unique_ptr<HostNode>> MakeSvdfNode(const HostNodeRequest& request, std::vector<HostOperand> operands) {
  HEARTH_ASSIGN(Weights features, Weights::Of(request, 2, request.in(2).shape[0]));
  HEARTH_ASSIGN(std::vector<float> times, ConstantOf(request, 3));
  HEARTH_ASSIGN(std::vector<float> bias, ConstantOf(request, 4));
  return std::make_unique<SvdfNode>(request, std::move(operands), std::move(features), std::move(times),
                                    std::move(bias));
}

}  // namespace

Result<std::unique_ptr<HostNode>> MakeRecurrentNode(const HostNodeRequest& request) {
  const bool is_lstm = std::holds_alternative<Lstm>(request.node.op),
             is_rnn = std::holds_alternative<Rnn>(request.node.op);
  if (!is_lstm && !is_rnn && !std::holds_alternative<Svdf>(request.node.op)) return nullptr;
  HEARTH_ASSIGN(std::vector<HostOperand> operands, OperandsOf(request, is_lstm ? 3 : 2));
  if (operands.empty()) return nullptr;
  if (is_rnn) return MakeRnnNode(request, std::move(operands));
  if (!is_lstm) return MakeSvdfNode(request, std::move(operands));
  LstmConstants constants;
  HEARTH_ASSIGN(constants.bias, ConstantOf(request, kLstmBias));
  HEARTH_ASSIGN(constants.peephole, ConstantOf(request, kLstmPeephole));
  HEARTH_ASSIGN(constants.normalization, ConstantOf(request, kLstmNormalization));
  HEARTH_ASSIGN(constants.projection_bias, ConstantOf(request, kLstmProjectionBias));
  HEARTH_ASSIGN(std::vector<float> weight_scales, ConstantOf(request, kLstmWeightScales));
  HEARTH_ASSIGN(std::vector<float> recurrent_scales, ConstantOf(request, kLstmRecurrentScales));
  const int64_t outputs = request.in(kLstmH).shape[1], units = request.in(kLstmC).shape[1];
  const auto rows = static_cast<int64_t>(constants.bias.size());
  HEARTH_ASSIGN(Weights weights, Weights::Of(request, kLstmWeights, rows, std::move(weight_scales)));
  HEARTH_ASSIGN(Weights recurrent, Weights::Of(request, kLstmRecurrent, rows, std::move(recurrent_scales)));
  std::optional<Weights> projection;
  if (HasInput(request, kLstmProjection)) {
    HEARTH_ASSIGN(projection, Weights::Of(request, kLstmProjection, outputs));
  }
  return std::make_unique<LstmNode>(request, std::move(operands), std::move(weights), std::move(recurrent),
                                    std::move(projection), std::move(constants), units);
}

}  // namespace hearth
