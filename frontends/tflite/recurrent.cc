// Recurrent layers: their operands in the graph's form, and bidirectional layers as two unidirectional ones, the second
// over the reversed sequence.
#include "core/graph/ops/recurrent.h"

#include <array>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "frontends/tflite/op_readers.h"

namespace hearth {
namespace {

constexpr int kBasicInputs = 5, kFullInputs = 20, kFullInputsWithNormalization = 24;

template <typename Options>
Result<Lstm> ReadLstmAttributes(const Options& options) {
  Lstm lstm;
  HEARTH_ASSIGN(lstm.activation, ReadActivation(options.fused_activation_function()));
  lstm.cell_clip = options.cell_clip();
  lstm.proj_clip = options.proj_clip();
  return lstm;
}

Status CheckFullOperands(const OperatorView& view) {
  const int count = view.input_count();
  if (count != kFullInputs && count != kFullInputsWithNormalization) {
    return Error(StatusCode::kMalformedInput, "{} inputs; an LSTM has {} or {}", count, kFullInputs,
                 kFullInputsWithNormalization);
  }
  return Status::Ok();
}

// Indices of an LSTM's operands in the file; gates in the order input, forget, cell, output.
constexpr size_t kFileWeights = 1, kFileRecurrent = 5, kFilePeephole = 9, kFileBias = 12, kFileProjection = 16,
                 kFileProjectionBias = 17, kFileOutputState = 18, kFileCellState = 19, kFileNormalization = 20;
// Operands of the BASIC kernel.
enum BasicOperand : size_t { kBasicX, kBasicActivation, kBasicWeights, kBasicBias, kBasicState };

class LstmOperands {
 public:
  // `operands` in the file's order; `name` begins the names of constants that are made.
  LstmOperands(NodeWriter& to, const std::vector<ValueId>& operands, std::string_view name)
      : to_(to), operands_(operands), name_(name) {}

  // 20 to 24 operands: stacks the gates' weights, which the file has separately, into float constants.
  Expanded ArrangeFull() {
    has_input_gate_ = At(kFileWeights) != kNoValue;
    std::vector<ValueId> inputs = {At(0), At(kFileOutputState), At(kFileCellState)};
    for (const auto& [first, count] : {std::pair{kFileWeights, size_t{4}},
                                       {kFileRecurrent, size_t{4}},
                                       {kFileBias, size_t{4}},
                                       {kFilePeephole, size_t{3}},
                                       {kFileNormalization, size_t{4}}}) {
      const bool optional = first == kFilePeephole || first == kFileNormalization;
      HEARTH_ASSIGN(const ValueId stacked, Stack(first, count, optional));
      inputs.push_back(stacked);
    }
    inputs.push_back(At(kFileProjection));
    inputs.push_back(At(kFileProjectionBias));
    while (inputs.back() == kNoValue) inputs.pop_back();
    for (size_t i = 0; i <= kLstmC; ++i) {
      if (inputs[i] == kNoValue) return Error(StatusCode::kMalformedInput, "its input or one of its states is absent");
    }
    return inputs;
  }

  // BASIC: one matrix over [x, activation], gates in the order input, cell, forget, output.
  Expanded ArrangeBasic() {
    const Shape &x = ShapeOf(kBasicX), &shape = ShapeOf(kBasicWeights);
    const int64_t bias_count = ShapeOf(kBasicBias).element_count();
    if (x.rank() < 2 || shape.rank() != 2 || shape[0] % 4 != 0 || shape[1] <= x[x.rank() - 1] ||
        bias_count != shape[0]) {
      return Error(StatusCode::kMalformedInput, "weights of shape {} and {} biases for an input of shape {}",
                   shape.ToString(), bias_count, x.ToString());
    }
    const int32_t depth = x[x.rank() - 1];
    HEARTH_ASSIGN(const auto made, to_.Once(NodeWriter::MadeOnce::kDivided, {At(kBasicWeights), At(kBasicBias), depth},
                                            [&] { return DivideBasic(shape[0] / 4, depth, shape[1] - depth); }));
    return std::vector<ValueId>{At(kBasicX), At(kBasicActivation), At(kBasicState), made[0], made[1], made[2]};
  }

 private:
  ValueId At(size_t i) const { return i < operands_.size() ? operands_[i] : kNoValue; }
  const Shape& ShapeOf(size_t i) const { return to_.shape(At(i)); }
  ValueId Add(const char* what, const Shape& shape, std::span<const float> numbers) {
    return to_.graph().AddFloatConstant(fmt::format("{}/{}", name_, what), shape, numbers);
  }

  Result<std::vector<float>> Floats(ValueId value) {
    if (!to_.IsConstant(value)) return Error(StatusCode::kUnsupported, "its weights are made at run time");
    const int64_t elements = to_.shape(value).element_count();
    if (!to_.budget().ChargeMade(4 * static_cast<size_t>(elements))) {
      return Error(StatusCode::kUnsupported, "its {} weights are too many for the size of the file", elements);
    }
    return ConstantAsFloats(to_.graph(), value);
  }

  // The weights of x, the weights of the activation, and the biases.
  Expanded DivideBasic(int32_t units, int32_t depth, int32_t outputs) {
    HEARTH_ASSIGN(const std::vector<float> weights, Floats(At(kBasicWeights)));
    HEARTH_ASSIGN(const std::vector<float> bias, Floats(At(kBasicBias)));
    const int32_t width = depth + outputs;
    std::vector<float> of_x, of_h, biases;
    for (int gate : {0, 2, 1, 3}) {
      for (int32_t row = gate * units; row < (gate + 1) * units; ++row) {
        const float* weight = &weights[static_cast<size_t>(row) * width];
        of_x.insert(of_x.end(), weight, weight + depth);
        of_h.insert(of_h.end(), weight + depth, weight + width);
        biases.push_back(bias[row]);
      }
    }
    return std::vector<ValueId>{Add("weights", {4 * units, depth}, of_x), Add("recurrent", {4 * units, outputs}, of_h),
                                Add("bias", {4 * units}, biases)};
  }

  // Stacks operands `first` to `first + count` - 1, of which the first belongs to the input gate. kNoValue if all
  // operands of an optional list are absent.
  Made Stack(size_t first, size_t count, bool optional) {
    std::vector<size_t> parts;
    for (size_t i = first; i < first + count; ++i) {
      if (At(i) != kNoValue) parts.push_back(i);
    }
    if (parts.empty() && optional) return kNoValue;
    const bool has_first = At(first) != kNoValue;
    if (parts.size() != count - (has_input_gate_ ? 0 : 1) || has_first != has_input_gate_) {
      return Error(StatusCode::kMalformedInput, "operands {} to {} must be there for each of its gates, or none", first,
                   first + count - 1);
    }
    std::vector<int64_t> key;
    for (const size_t part : parts) key.push_back(At(part));
    return to_.Once(NodeWriter::MadeOnce::kGates, std::move(key), [&] { return StackParts(first, parts); });
  }

  Made StackParts(size_t first, const std::vector<size_t>& parts) {
    std::vector<float> stacked;
    for (size_t part : parts) {
      if (ShapeOf(part) != ShapeOf(parts[0]) || ShapeOf(part).rank() < 1) {
        return Error(StatusCode::kMalformedInput, "operands {} and {} of its gates have the shapes {} and {}", parts[0],
                     part, ShapeOf(parts[0]).ToString(), ShapeOf(part).ToString());
      }
      HEARTH_ASSIGN(const std::vector<float> floats, Floats(At(part)));
      stacked.insert(stacked.end(), floats.begin(), floats.end());
    }
    Shape shape = ShapeOf(parts[0]);
    const int64_t rows = int64_t{shape[0]} * static_cast<int64_t>(parts.size());
    if (rows > std::numeric_limits<int32_t>::max()) {
      return Error(StatusCode::kMalformedInput, "{} gates of {} units", parts.size(), shape[0]);
    }
    shape[0] = static_cast<int32_t>(rows);
    return Add(first == kFileWeights     ? "weights"
               : first == kFileRecurrent ? "recurrent"
               : first == kFileBias      ? "bias"
               : first == kFilePeephole  ? "peephole"
                                         : "normalization",
               shape, stacked);
  }

  NodeWriter& to_;
  const std::vector<ValueId>& operands_;
  std::string_view name_;
  bool has_input_gate_ = true;
};

// Operand positions in the file. An LSTM direction's have the order of UNIDIRECTIONAL_SEQUENCE_LSTM's.
constexpr size_t kLstmForward = 1, kLstmBackward = 18, kLstmParts = 17, kLstmAuxiliary = 39, kLstmGates = 4;
constexpr std::array<size_t, 2> kLstmForwardStates = {35, 36}, kLstmBackwardStates = {37, 38};
constexpr size_t kLstmForwardAuxiliary = 40, kLstmBackwardAuxiliary = 44;
constexpr size_t kRnnAuxiliary = 9, kRnnForwardAuxiliary = 10, kRnnBackwardAuxiliary = 11;
constexpr std::array<size_t, 1> kRnnForwardStates = {4}, kRnnBackwardStates = {8};

// Attributes that both kinds of layer have.
struct Sequences {
  bool time_major = false, merge_outputs = false;
};

// The inputs of the directions. An auxiliary input without weights replaces the input of the second direction. With
// weights both directions read it beside the input.
struct DirectionInputs {
  ValueId forward = kNoValue, backward = kNoValue;
  bool is_joined = false;
};

Result<DirectionInputs> ReadInputs(OperatorView& op, size_t auxiliary, size_t weights) {
  const ValueId x = op.operand(0);
  if (!op.Has(auxiliary)) return DirectionInputs{x, x};
  if (!op.Has(weights)) return DirectionInputs{x, op.operand(auxiliary)};
  HEARTH_ASSIGN(const ValueId both, op.to().Add(Concat{.axis = -1}, {x, op.operand(auxiliary)}));
  return DirectionInputs{both, both, true};
}

// Joins the weights of both inputs for their concatenation.
Made JoinWeights(OperatorView& op, size_t weights, size_t auxiliary) {
  if (!op.Has(weights) || !op.Has(auxiliary)) return op.operand(weights);
  if (op.desc(weights).dtype != DType::kFloat32) {
    return Error(StatusCode::kUnsupported, "an auxiliary input with weights that are not float32");
  }
  return op.to().Add(Concat{.axis = 1}, {op.operand(weights), op.operand(auxiliary)});
}

Made AddReverse(NodeWriter& to, ValueId sequence, bool time_major) {
  if (to.shape(sequence).rank() != 3) {
    return Error(StatusCode::kMalformedInput, "a sequence of shape {}", to.shape(sequence).ToString());
  }
  return to.Add(Reverse{time_major ? 1u : 2u}, {sequence});
}

// Adds the node of a direction, which changes the operands `states`, and returns its sequence.
Made AddDirection(OperatorView& op, const Op& layer, std::vector<ValueId> inputs, std::span<const size_t> states) {
  std::vector<TensorDesc> results = {op.to().desc(inputs[0])};
  for (const size_t state : states) results.push_back(op.desc(state));
  HEARTH_ASSIGN(const std::vector<ValueId> made, op.to().AddSeveral(layer, std::move(inputs), std::move(results)));
  for (size_t k = 0; k < states.size(); ++k) op.SetNextState(states[k], made[k + 1]);
  return made[0];
}

Expanded JoinDirections(OperatorView& op, const Sequences& sequences, ValueId forward, ValueId backward) {
  HEARTH_ASSIGN(backward, AddReverse(op.to(), backward, sequences.time_major));
  if (!sequences.merge_outputs) return std::vector<ValueId>{forward, backward};
  return OneValue(op.to().Add(Concat{.axis = 2}, {forward, backward}));
}

Status CheckOutputs(const OperatorView& op, const Sequences& sequences) {
  const int wanted = sequences.merge_outputs ? 1 : 2;
  if (op.output_count() == wanted) return Status::Ok();
  return Error(StatusCode::kMalformedInput, "{} outputs instead of {}", op.output_count(), wanted);
}

Made AddLstm(OperatorView& op, const Lstm& lstm, ValueId x, size_t first, std::span<const size_t> states,
             std::optional<size_t> auxiliary) {
  std::vector<ValueId> operands = {x};
  for (size_t k = 0; k < kLstmParts; ++k) {
    const bool is_joined = auxiliary && k < kLstmGates;
    HEARTH_ASSIGN(const ValueId part,
                  is_joined ? JoinWeights(op, first + k, *auxiliary + k) : Made(op.operand(first + k)));
    operands.push_back(part);
  }
  for (const size_t state : states) operands.push_back(op.operand(state));
  const std::string name = fmt::format("{}_{}", op.code().row->name, op.to().graph().values().size());
  HEARTH_ASSIGN(std::vector<ValueId> inputs, LstmOperands(op.to(), operands, name).ArrangeFull());
  return AddDirection(op, lstm, std::move(inputs), states);
}

}  // namespace

Result<Op> ReadLstm(const OperatorView& view) {
  HEARTH_ASSIGN(const wire::LSTMOptions* options, view.Options<wire::LSTMOptions>());
  HEARTH_ASSIGN(Lstm lstm, ReadLstmAttributes(*options));
  lstm.time_major = true;  // a single step
  if (options->kernel_type() == wire::LSTMKernelType_FULL) {
    HEARTH_TRY(CheckFullOperands(view));
    return Op(lstm);
  }
  if (options->kernel_type() != wire::LSTMKernelType_BASIC || view.input_count() != kBasicInputs) {
    return Error(StatusCode::kMalformedInput, "kernel type {} with {} inputs", static_cast<int>(options->kernel_type()),
                 view.input_count());
  }
  if (lstm.activation != Activation::kTanh || lstm.cell_clip != 0.0f || lstm.proj_clip != 0.0f) {
    return Error(StatusCode::kUnsupported, "a basic LSTM with clips or another activation than tanh");
  }
  return Op(lstm);
}

Result<Op> ReadUnidirectionalSequenceLstm(const OperatorView& view) {
  HEARTH_ASSIGN(const wire::UnidirectionalSequenceLSTMOptions* options,
                view.Options<wire::UnidirectionalSequenceLSTMOptions>());
  HEARTH_TRY(CheckFullOperands(view));
  HEARTH_ASSIGN(Lstm lstm, ReadLstmAttributes(*options));
  lstm.time_major = options->time_major();
  return Op(lstm);
}

Result<Op> ReadUnidirectionalSequenceRnn(const OperatorView& view) {
  HEARTH_ASSIGN(const wire::SequenceRNNOptions* options, view.Options<wire::SequenceRNNOptions>());
  Rnn rnn{.time_major = options->time_major()};
  HEARTH_ASSIGN(rnn.activation, ReadActivation(options->fused_activation_function()));
  return Op(rnn);
}

Result<Op> ReadSvdf(const OperatorView& view) {
  HEARTH_ASSIGN(const wire::SVDFOptions* options, view.Options<wire::SVDFOptions>());
  Svdf svdf{.rank = options->rank()};
  HEARTH_ASSIGN(svdf.activation, ReadActivation(options->fused_activation_function()));
  return Op(svdf);
}

Status ArrangeLstm(NodeWriter& to, bool is_basic, std::vector<ValueId>& operands, std::vector<NamedResult>& results) {
  LstmOperands file(to, operands, results[0].name);
  HEARTH_ASSIGN(std::vector<ValueId> inputs, is_basic ? file.ArrangeBasic() : file.ArrangeFull());
  operands = std::move(inputs);
  if (!is_basic) return Status::Ok();
  // The file's outputs: activation, cell state, two scratch tensors. The next contents of the two states follow, the
  // second of which is also the file's cell state.
  if (results.size() < 4) return Error(StatusCode::kMalformedInput, "it has no output for its state");
  results = {results[0], *(results.end() - 2), {results[1].name, results.back().desc, results[1].is_kept}};
  return Status::Ok();
}

Expanded ExpandBidirectionalLstm(OperatorView& op, GraphWriter& to) {
  if (op.input_count() < static_cast<int>(kLstmAuxiliary)) {
    return Error(StatusCode::kMalformedInput, "it has {} inputs, but needs at least {}", op.input_count(),
                 kLstmAuxiliary);
  }
  HEARTH_ASSIGN(const wire::BidirectionalSequenceLSTMOptions* options,
                op.Options<wire::BidirectionalSequenceLSTMOptions>());
  const Sequences sequences{options->time_major(), options->merge_outputs()};
  HEARTH_TRY(CheckOutputs(op, sequences));
  Lstm lstm{.time_major = sequences.time_major, .cell_clip = options->cell_clip(), .proj_clip = options->proj_clip()};
  HEARTH_ASSIGN(lstm.activation, ReadActivation(options->fused_activation_function()));
  HEARTH_ASSIGN(DirectionInputs x, ReadInputs(op, kLstmAuxiliary, kLstmForwardAuxiliary + 1));
  HEARTH_ASSIGN(x.backward, AddReverse(to, x.backward, sequences.time_major));
  const auto auxiliary = [&](size_t first) { return x.is_joined ? std::optional(first) : std::nullopt; };
  HEARTH_ASSIGN(const ValueId forward,
                AddLstm(op, lstm, x.forward, kLstmForward, kLstmForwardStates, auxiliary(kLstmForwardAuxiliary)));
  HEARTH_ASSIGN(const ValueId backward,
                AddLstm(op, lstm, x.backward, kLstmBackward, kLstmBackwardStates, auxiliary(kLstmBackwardAuxiliary)));
  return JoinDirections(op, sequences, forward, backward);
}

Expanded ExpandBidirectionalRnn(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const wire::BidirectionalSequenceRNNOptions* options,
                op.Options<wire::BidirectionalSequenceRNNOptions>());
  const Sequences sequences{options->time_major(), options->merge_outputs()};
  HEARTH_TRY(CheckOutputs(op, sequences));
  Rnn rnn{.time_major = sequences.time_major};
  HEARTH_ASSIGN(rnn.activation, ReadActivation(options->fused_activation_function()));
  HEARTH_ASSIGN(DirectionInputs x, ReadInputs(op, kRnnAuxiliary, kRnnForwardAuxiliary));
  HEARTH_ASSIGN(x.backward, AddReverse(to, x.backward, sequences.time_major));
  std::array<ValueId, 2> made;
  for (const size_t k : {0u, 1u}) {
    const size_t first = k == 0 ? 1 : 5;
    const size_t auxiliary = k == 0 ? kRnnForwardAuxiliary : kRnnBackwardAuxiliary;
    HEARTH_ASSIGN(const ValueId weights, x.is_joined ? JoinWeights(op, first, auxiliary) : Made(op.operand(first)));
    HEARTH_ASSIGN(made[k], AddDirection(op, rnn,
                                        {k == 0 ? x.forward : x.backward, op.operand(first + 3), weights,
                                         op.operand(first + 1), op.operand(first + 2)},
                                        k == 0 ? kRnnForwardStates : kRnnBackwardStates));
  }
  return JoinDirections(op, sequences, made[0], made[1]);
}

}  // namespace hearth
