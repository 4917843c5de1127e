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

Result<Op> ReadRnn(const OperatorView& view) {
  HEARTH_ASSIGN(const wire::RNNOptions* options, view.Options<wire::RNNOptions>());
  Rnn rnn;
  HEARTH_ASSIGN(rnn.activation, ReadActivation(options->fused_activation_function()));
  return Op(rnn);
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

}  // namespace hearth
