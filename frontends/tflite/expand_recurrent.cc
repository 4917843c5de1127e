// Bidirectional recurrent layers: two unidirectional ones, the second over the reversed sequence.
#include <array>

#include "core/base/error.h"
#include "frontends/tflite/expansion.h"

namespace hearth {
namespace {

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

Result<DirectionInputs> ReadInputs(Expansion& to, size_t auxiliary, size_t weights) {
  const ValueId x = to.operand(0);
  if (!to.Has(auxiliary)) return DirectionInputs{x, x};
  if (!to.Has(weights)) return DirectionInputs{x, to.operand(auxiliary)};
  HEARTH_ASSIGN(const ValueId both, to.Add(Concat{.axis = -1}, {x, to.operand(auxiliary)}));
  return DirectionInputs{both, both, true};
}

// Joins the weights of both inputs for their concatenation.
Result<ValueId> JoinWeights(Expansion& to, size_t weights, size_t auxiliary) {
  if (!to.Has(weights) || !to.Has(auxiliary)) return to.operand(weights);
  if (to.desc(to.operand(weights)).dtype != DType::kFloat32) {
    return Error(StatusCode::kUnsupported, "an auxiliary input with weights that are not float32");
  }
  return to.Add(Concat{.axis = 1}, {to.operand(weights), to.operand(auxiliary)});
}

Result<ValueId> AddReverse(Expansion& to, ValueId sequence, bool time_major) {
  if (to.shape(sequence).rank() != 3) {
    return Error(StatusCode::kMalformedInput, "a sequence of shape {}", to.shape(sequence).ToString());
  }
  return to.Add(Reverse{time_major ? 1u : 2u}, {sequence});
}

// Both nodes are ready, so that nothing is refused after one has changed its states.
Expanded AddDirections(Expansion& to, const Sequences& sequences, std::array<Node, 2> nodes,
                       std::span<const size_t> forward_states, std::span<const size_t> backward_states) {
  HEARTH_ASSIGN(const ValueId forward, to.AddRecurrent(std::move(nodes[0]), forward_states));
  HEARTH_ASSIGN(ValueId backward, to.AddRecurrent(std::move(nodes[1]), backward_states));
  HEARTH_ASSIGN(backward, AddReverse(to, backward, sequences.time_major));
  if (!sequences.merge_outputs) return std::vector<ValueId>{forward, backward};
  return OneValue(to.Add(Concat{.axis = 2}, {forward, backward}));
}

Status CheckOutputs(const Expansion& to, const Sequences& sequences) {
  const size_t wanted = sequences.merge_outputs ? 1 : 2;
  if (to.output_count() == wanted) return Status::Ok();
  return Error(StatusCode::kMalformedInput, "{} outputs instead of {}", to.output_count(), wanted);
}

Result<Node> PrepareLstm(Expansion& to, const Lstm& lstm, ValueId x, size_t first, std::span<const size_t> states,
                         std::optional<size_t> auxiliary) {
  std::vector<ValueId> inputs = {x};
  for (size_t k = 0; k < kLstmParts; ++k) {
    if (auxiliary && k < kLstmGates) {
      HEARTH_ASSIGN(const ValueId joined, JoinWeights(to, first + k, *auxiliary + k));
      inputs.push_back(joined);
    } else {
      inputs.push_back(to.operand(first + k));
    }
  }
  for (const size_t state : states) inputs.push_back(to.operand(state));
  return to.PrepareRecurrent(lstm, std::move(inputs), states);
}

}  // namespace

Expanded ExpandBidirectionalLstm(Expansion& to) {
  HEARTH_ASSIGN(const wire::BidirectionalSequenceLSTMOptions* options,
                to.Options<wire::BidirectionalSequenceLSTMOptions>());
  const Sequences sequences{options->time_major(), options->merge_outputs()};
  HEARTH_TRY(CheckOutputs(to, sequences));
  Lstm lstm{.time_major = sequences.time_major, .cell_clip = options->cell_clip(), .proj_clip = options->proj_clip()};
  HEARTH_ASSIGN(lstm.activation, ReadActivation(options->fused_activation_function()));
  HEARTH_ASSIGN(DirectionInputs x, ReadInputs(to, kLstmAuxiliary, kLstmForwardAuxiliary + 1));
  HEARTH_ASSIGN(x.backward, AddReverse(to, x.backward, sequences.time_major));
  const auto auxiliary = [&](size_t first) { return x.is_joined ? std::optional(first) : std::nullopt; };
  HEARTH_ASSIGN(Node forward,
                PrepareLstm(to, lstm, x.forward, kLstmForward, kLstmForwardStates, auxiliary(kLstmForwardAuxiliary)));
  HEARTH_ASSIGN(Node backward, PrepareLstm(to, lstm, x.backward, kLstmBackward, kLstmBackwardStates,
                                           auxiliary(kLstmBackwardAuxiliary)));
  return AddDirections(to, sequences, {std::move(forward), std::move(backward)}, kLstmForwardStates,
                       kLstmBackwardStates);
}

Expanded ExpandBidirectionalRnn(Expansion& to) {
  HEARTH_ASSIGN(const wire::BidirectionalSequenceRNNOptions* options,
                to.Options<wire::BidirectionalSequenceRNNOptions>());
  const Sequences sequences{options->time_major(), options->merge_outputs()};
  HEARTH_TRY(CheckOutputs(to, sequences));
  Rnn rnn{.time_major = sequences.time_major};
  HEARTH_ASSIGN(rnn.activation, ReadActivation(options->fused_activation_function()));
  HEARTH_ASSIGN(DirectionInputs x, ReadInputs(to, kRnnAuxiliary, kRnnForwardAuxiliary));
  HEARTH_ASSIGN(x.backward, AddReverse(to, x.backward, sequences.time_major));
  std::array<Node, 2> nodes;
  for (const size_t k : {0u, 1u}) {
    const size_t first = k == 0 ? 1 : 5;
    ValueId weights = to.operand(first);
    if (x.is_joined) {
      HEARTH_ASSIGN(weights, JoinWeights(to, first, k == 0 ? kRnnForwardAuxiliary : kRnnBackwardAuxiliary));
    }
    HEARTH_ASSIGN(nodes[k], to.PrepareRecurrent(rnn,
                                                {k == 0 ? x.forward : x.backward, to.operand(first + 3), weights,
                                                 to.operand(first + 1), to.operand(first + 2)},
                                                k == 0 ? kRnnForwardStates : kRnnBackwardStates));
  }
  return AddDirections(to, sequences, std::move(nodes), kRnnForwardStates, kRnnBackwardStates);
}

}  // namespace hearth
