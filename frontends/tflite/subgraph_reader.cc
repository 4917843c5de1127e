#include "frontends/tflite/subgraph_reader.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_def.h"
#include "core/graph/quantize.h"
#include "frontends/tflite/operator_view.h"
#include "frontends/tflite/recurrent_operands.h"
#include "frontends/tflite/refused_operators.h"

namespace hearth {
namespace {

// Operators whose weights may have 8 bits where their data is float.
bool TakesHybridWeights(const OperatorRow& row) {
  constexpr std::string_view kNames[] = {"CONV_2D",
                                         "DEPTHWISE_CONV_2D",
                                         "TRANSPOSE_CONV",
                                         "FULLY_CONNECTED",
                                         "BATCH_MATMUL",
                                         "EMBEDDING_LOOKUP",
                                         "RNN",
                                         "UNIDIRECTIONAL_SEQUENCE_RNN",
                                         "BIDIRECTIONAL_SEQUENCE_RNN",
                                         "LSTM",
                                         "UNIDIRECTIONAL_SEQUENCE_LSTM",
                                         "BIDIRECTIONAL_SEQUENCE_LSTM",
                                         "SVDF"};
  return Contains(kNames, row.name);
}

// The operands that become the node's inputs, in `ordered` if the order differs from the file's.
std::span<const int32_t> NodeInputs(const OperatorRow& row, std::span<const int32_t> operands,
                                    std::vector<int32_t>& ordered) {
  if (row.input_order.empty()) return operands.first(std::min<size_t>(operands.size(), row.data_inputs));
  for (const char digit : row.input_order) {
    const size_t position = OperandPosition(digit);
    ordered.push_back(position < operands.size() ? operands[position] : -1);
  }
  return ordered;
}

}  // namespace

Status SubgraphReader::Read(const std::map<std::string, std::vector<int32_t>>& input_shapes) {
  HEARTH_ASSIGN(reading_.codes, ReadOperatorCodes(reading_.model, budget_));
  if (subgraph_.name() != nullptr && budget_.Charge(subgraph_.name()->size())) {
    graph_.name = CleanName(subgraph_.name()->string_view());
  }
  PrepareLists();
  HEARTH_TRY(ReadInputs(input_shapes));
  HEARTH_TRY(FindOutputs());
  HEARTH_TRY(FindProducers());
  for (int index = 0; index < operator_count(); ++index) {
    HEARTH_TRY(ReadOperator(index));
  }
  HEARTH_TRY(ReadOutputs());
  FinishVariables();
  FinishStates();
  graph_.source_operator_count = operator_count();
  return Status::Ok();
}

void SubgraphReader::PrepareLists() {
  sources_.resize(tensors_.count(), Source::kNone);
  is_folded_.resize(tensors_.count(), false);
  has_open_shape_.resize(tensors_.count(), false);
  is_model_output_.resize(tensors_.count(), false);
}

std::string SubgraphReader::OperatorLabel(int index) const {
  const std::string_view name = std::string_view(CodeOf(index).name).substr(0, 200);
  return number_ < 0 ? fmt::format("operator {} ({})", index, name)
                     : fmt::format("operator {} ({}) of subgraph {}", index, name, number_);
}

Result<std::vector<int32_t>> SubgraphReader::CopyIndices(const flatbuffers::Vector<int32_t>* indices,
                                                         std::string_view where) {
  if (indices != nullptr && !budget_.Charge(4 * size_t{indices->size()})) return CopyBudget::Exceeded(where);
  return CopyOf(indices);
}

// Checks that an operator or the caller may write `tensor`.
Status SubgraphReader::CheckProduced(int32_t tensor, std::string_view where) {
  HEARTH_ASSIGN(const std::span<const std::byte> bytes, tensors_.ConstantBytes(tensor));
  HEARTH_TRY(tensors_.ShapeOf(tensor).status());
  if (!bytes.empty()) {
    return Error(StatusCode::kMalformedInput, "{} writes {}, which holds constant data", where, tensors_.Label(tensor));
  }
  // A state that an operator initializes is an ordinary tensor: each run computes it anew.
  tensors_.MakeOrdinary(tensor);
  return Status::Ok();
}

// Checks every operator's code and outputs, to distinguish inputs made later from inputs never made.
Status SubgraphReader::FindProducers() {
  for (int index = 0; index < operator_count(); ++index) {
    if (op(index).opcode_index() >= reading_.codes.size()) {
      return Error(StatusCode::kMalformedInput, "operator {} has operator code {}; the model has {} operator codes",
                   index, op(index).opcode_index(), reading_.codes.size());
    }
    const std::string where = OperatorLabel(index);
    HEARTH_ASSIGN(const std::vector<int32_t> outputs, CopyIndices(op(index).outputs(), where));
    if (outputs.empty() && CodeOf(index).row != nullptr && CodeOf(index).row->read != nullptr) {
      return Error(StatusCode::kMalformedInput, "{} has no output", where);
    }
    HEARTH_TRY(MarkStates(index));
    for (const int32_t tensor : outputs) {
      HEARTH_TRY(tensors_.CheckIndex(tensor, where));
      HEARTH_TRY(CheckProduced(tensor, where));
      if (sources_[tensor] != Source::kNone) {
        return Error(StatusCode::kMalformedInput, "{} writes {}, which {} already", where, tensors_.Label(tensor),
                     sources_[tensor] == Source::kReady ? "is a model input" : "another operator writes");
      }
      sources_[tensor] = Source::kLater;
    }
  }
  return Status::Ok();
}

// Marks states before operators are read, so that every reader of a state tensor knows that it changes.
Status SubgraphReader::MarkStates(int index) {
  const OperatorRow* row = CodeOf(index).row;
  if (row == nullptr || row->state_inputs.empty()) return Status::Ok();
  const std::string where = OperatorLabel(index);
  HEARTH_ASSIGN(const std::vector<int32_t> inputs, CopyIndices(op(index).inputs(), where));
  for (const char digit : StateInputs(*row, inputs.size())) {
    const size_t position = OperandPosition(digit);
    if (position >= inputs.size() || inputs[position] == -1) continue;
    HEARTH_TRY(tensors_.CheckIndex(inputs[position], where));
    HEARTH_ASSIGN(const Shape shape, tensors_.ShapeOf(inputs[position]));
    // What has no elements never changes.
    if (shape.element_count() > 0 && tensors_.IsVariable(inputs[position])) tensors_.MarkState(inputs[position]);
  }
  return Status::Ok();
}

Status SubgraphReader::CheckHasContent(int32_t tensor, std::string_view where) {
  if (sources_[tensor] == Source::kReady) return Status::Ok();
  if (sources_[tensor] == Source::kLater) {
    return Error(StatusCode::kMalformedInput,
                 "{} reads {} before it is made: the operators are out of order or form a cycle", where,
                 tensors_.Label(tensor));
  }
  HEARTH_ASSIGN(const std::span<const std::byte> bytes, tensors_.ConstantBytes(tensor));
  HEARTH_ASSIGN(const Shape shape, tensors_.ShapeOf(tensor));
  if (bytes.empty() && shape.element_count() > 0 && !tensors_.IsVariable(tensor)) {
    return Error(StatusCode::kMalformedInput, "{} reads {}, which nothing makes and which holds no data", where,
                 tensors_.Label(tensor));
  }
  sources_[tensor] = Source::kReady;
  return Status::Ok();
}

Status SubgraphReader::CheckInputs(int index, std::span<const int32_t> inputs) {
  const std::string where = OperatorLabel(index);
  for (const int32_t tensor : inputs) {
    if (tensor == -1) continue;  // an absent optional input
    HEARTH_TRY(tensors_.CheckIndex(tensor, where));
    HEARTH_TRY(CheckHasContent(tensor, where));
  }
  const OperatorRow* row = CodeOf(index).row;
  if (row == nullptr || row->read == nullptr) return Status::Ok();
  const int count = static_cast<int>(inputs.size());
  if (count < row->required_inputs || count > row->max_inputs) {
    return Error(StatusCode::kMalformedInput, "{} has {} inputs, but needs {} to {}", where, count,
                 row->required_inputs, row->max_inputs);
  }
  const int required = row->max_inputs == kAnyCount ? count : row->required_inputs;
  for (int i = 0; i < required; ++i) {
    if (inputs[i] == -1) return Error(StatusCode::kMalformedInput, "input {} of {} is absent", i, where);
  }
  const size_t outputs = op(index).outputs()->size();
  if (outputs > static_cast<size_t>(row->max_outputs)) {
    return Error(StatusCode::kMalformedInput, "{} has {} outputs instead of {}", where, outputs,
                 row->max_outputs == 1 ? "one" : fmt::format("at most {}", row->max_outputs));
  }
  return Status::Ok();
}

// The operation with its attributes; UnknownOp if Hearth does not know this form of the operator.
Result<Op> SubgraphReader::ReadOp(int index, const std::vector<int32_t>& inputs) {
  const OperatorCode& code = CodeOf(index);
  if (!budget_.Charge(code.name.size())) return CopyBudget::Exceeded(OperatorLabel(index));
  if (code.row == nullptr) return Op(UnknownOp{code.name});
  if (code.row->read == nullptr) return Op(UnknownOp{code.name, std::string(WhyRefused(code.row->code))});
  const OperatorView view(op(index), inputs, tensors_);
  Result<Op> read = code.row->read(view);
  for (const int32_t tensor : inputs) {
    if (!read.ok() || tensor == -1 || !TakesHybridWeights(*code.row)) continue;
    HEARTH_ASSIGN(const TensorDesc desc, tensors_.Describe(tensor));
    if (BitsOf(desc.dtype) != 8) continue;
    if (const Status status = OperandOf(index, *read, tensor).status(); !status.ok()) read = status;
  }
  if (read.ok()) return read;
  // If the input's shape is known only at run time, an error about sizes means nothing.
  const bool shape_unknown = sources_[inputs[0]] == Source::kReady && view.InputHasNoShape(0);
  if (read.status().code() == StatusCode::kUnsupported || shape_unknown) {
    if (!budget_.Charge(read.status().message().size())) return CopyBudget::Exceeded(OperatorLabel(index));
    return Op(UnknownOp{code.name, std::string(read.status().message())});
  }
  return read.status().Within(OperatorLabel(index));
}

// The value that `op` reads for `tensor`. Constant filters and biases keep their stored type, so less is packed and
// hashed. Other operations need operands of one type: they get float32.
Result<ValueId> SubgraphReader::InputValue(const Op& op, int32_t tensor) {
  HEARTH_ASSIGN(const ValueId value, tensors_.ValueOf(tensor));
  if (!is_folded_[tensor] || OpDefOf(op).Has(kTakesStoredConstants)) return value;
  if (const auto found = reading_.widened.find(value); found != reading_.widened.end()) return found->second;
  const Shape shape = graph_.value(value).desc.shape;
  if (!tensors_.ChargeMade(4 * static_cast<size_t>(shape.element_count()))) {
    return CopyBudget::Exceeded(tensors_.Label(tensor));
  }
  HEARTH_ASSIGN(const std::vector<float> floats, ConstantAsFloats(graph_, value));
  const ValueId widened = graph_.AddFloatConstant(graph_.value(value).name, shape, floats);
  reading_.widened.emplace(value, widened);
  return widened;
}

// The value that operator `index` reads for `tensor`. Weights of 8 bits under float data are int8 with zero point 0,
// whatever the file says of them: LiteRT's kernels (2.3.0) read uint8, which old files have, as int8, and ignore the
// zero point of both.
Result<ValueId> SubgraphReader::OperandOf(int index, const Op& op, int32_t tensor) {
  HEARTH_ASSIGN(const ValueId value, InputValue(op, tensor));
  const TensorDesc& desc = graph_.value(value).desc;
  // What an operator of its own dequantizes has the meaning that the file gives it.
  if (is_folded_[tensor] || !IsQuantized(desc) || BitsOf(desc.dtype) != 8) return value;
  const std::vector<int64_t>& zero_points = desc.quantization->zero_points;
  const bool is_symmetric = std::ranges::all_of(zero_points, [](int64_t number) { return number == 0; });
  if ((desc.dtype == DType::kInt8 && is_symmetric) || !TakesHybridWeights(*CodeOf(index).row)) return value;
  HEARTH_ASSIGN(const TensorDesc made, tensors_.Describe(this->op(index).outputs()->Get(0)));
  if (!IsPlainFloat32(made)) return value;
  if (!graph_.IsConstant(value)) {
    return Error(StatusCode::kUnsupported,
                 "its 8-bit weights {} are made at run time, and are not int8 with zero point 0, as its kernels in "
                 "TFLite read them",
                 tensors_.Label(tensor));
  }
  if (const auto found = reading_.hybrid.find(value); found != reading_.hybrid.end()) return found->second;
  if (!budget_.ChargeScales(desc)) return CopyBudget::Exceeded(tensors_.Label(tensor));
  Value weights = graph_.value(value);
  weights.desc.dtype = DType::kInt8;
  std::ranges::fill(weights.desc.quantization->zero_points, 0);
  return reading_.hybrid[value] = graph_.AddValue(std::move(weights));
}

Status SubgraphReader::AddNode(int index, Op op, std::span<const int32_t> inputs, std::span<const int32_t> outputs) {
  const OperatorRow* row = CodeOf(index).row;
  const std::span<const int32_t> operands = inputs;
  std::vector<int32_t> ordered;
  const bool is_known = !std::holds_alternative<UnknownOp>(op);
  if (is_known) {
    inputs = NodeInputs(*row, inputs, ordered);
    while (!inputs.empty() && inputs.back() == -1) inputs = inputs.first(inputs.size() - 1);
  }
  Node node;
  node.op = std::move(op);
  node.source_index = SourceIndex(index);
  for (const int32_t tensor : inputs) {
    ValueId value = kNoValue;
    if (tensor != -1) {
      HEARTH_ASSIGN(value, is_known ? OperandOf(index, node.op, tensor) : InputValue(node.op, tensor));
    }
    node.inputs.push_back(value);
  }
  DropEmptyOperands(graph_, node);
  for (const int32_t tensor : outputs) {
    HEARTH_ASSIGN(const ValueId value, tensors_.ValueOf(tensor));
    graph_.value(value).constant.reset();  // a tensor that the file describes as empty is a constant until here
    node.outputs.push_back(value);
  }
  if (is_known) {
    for (const char digit : StateInputs(*row, operands.size())) {
      const size_t position = OperandPosition(digit);
      if (position >= operands.size() || operands[position] == -1) continue;
      HEARTH_ASSIGN(const ValueId next, AddStateOutput(operands[position], node));
      HEARTH_TRY(ReplaceState(operands[position], next));
    }
  }
  const bool is_basic_lstm = std::holds_alternative<Lstm>(node.op) && IsBasicLstm(operands.size());
  const ValueId file_cell = is_basic_lstm && outputs.size() > 1 ? node.outputs[1] : kNoValue;
  const Status arranged = ArrangeRecurrentOperands(graph_, tensors_, reading_.stacked, node);
  if (!arranged.ok() && arranged.code() != StatusCode::kUnsupported) return arranged;
  if (!arranged.ok()) node.op = UnknownOp{CodeOf(index).name, std::string(arranged.message())};
  if (arranged.ok() && file_cell != kNoValue) {
    // The file's output tensor for the cell is the next content of the cell's state.
    graph_.value(node.outputs[2]).name = graph_.value(file_cell).name;
    tensors_.Alias(outputs[1], node.outputs[2]);
  }
  graph_.AddNode(std::move(node));
  return Status::Ok();
}

// Adds the next content of `tensor` to the node's outputs.
Result<ValueId> SubgraphReader::AddStateOutput(int32_t tensor, Node& node) {
  HEARTH_ASSIGN(const ValueId before, InputValue(node.op, tensor));
  Value next{graph_.value(before).name + "_next", graph_.value(before).desc, std::nullopt};
  if (!budget_.Charge(next.name.size())) return CopyBudget::Exceeded(tensors_.Label(tensor));
  return node.outputs.emplace_back(graph_.AddValue(std::move(next)));
}

// Later operators read `next` where the file reads `tensor`.
Status SubgraphReader::ReplaceState(int32_t tensor, ValueId next) {
  if (!tensors_.IsState(tensor) && !tensors_.IsMadeOrdinary(tensor)) return Status::Ok();
  HEARTH_ASSIGN(const ValueId before, tensors_.ValueOf(tensor));
  for (StatePair& state : graph_.states) {
    if (state.read == before || state.written == before) state.written = next;
  }
  tensors_.Alias(tensor, next);
  if (number_ >= 0 && tensors_.IsState(tensor)) HEARTH_TRY(Assign(NameOfOwnState(tensor), next));
  is_folded_[tensor] = false;
  return Status::Ok();
}

// A state that no operator changes, because Hearth does not know the operator, stays zero.
void SubgraphReader::FinishStates() {
  std::erase_if(graph_.states, [&](const StatePair& state) {
    if (state.written != kNoValue) return false;
    Result<std::vector<std::byte>> zeros = BytesOfZeros(graph_.value(state.read).desc);
    HEARTH_CHECK(zeros.ok());  // its description was checked when it was charged
    graph_.MakeConstant(state.read, std::move(zeros).value());
    return true;
  });
}

Status SubgraphReader::ReadOperator(int index) {
  HEARTH_ASSIGN(const std::vector<int32_t> inputs, CopyIndices(op(index).inputs(), "an operator"));
  HEARTH_ASSIGN(const std::vector<int32_t> outputs, CopyIndices(op(index).outputs(), "an operator"));
  HEARTH_TRY(CheckInputs(index, inputs));
  HEARTH_ASSIGN(const bool is_variable, ReadVariableOperator(index, inputs, outputs));
  HEARTH_ASSIGN(const bool is_called, is_variable ? Result<bool>(true) : ReadControl(index, inputs, outputs));
  if (!is_called) HEARTH_TRY(CheckNoHandles(index, inputs));
  HEARTH_ASSIGN(const bool is_on_rows, is_called ? Result<bool>(true) : ReadOnRows(index, inputs, outputs));
  HEARTH_ASSIGN(const bool is_made, is_on_rows ? Result<bool>(true) : FoldOperator(index, inputs, outputs));
  HEARTH_ASSIGN(const bool is_done, is_made ? Result<bool>(true) : ReadExpansion(index, inputs, outputs));
  if (!is_done) {
    HEARTH_ASSIGN(Op attributes, ReadOp(index, inputs));
    Status status = AddNode(index, std::move(attributes), inputs, outputs);
    if (status.ok()) status = InferLastNode(inputs, outputs);
    if (status.ok()) status = FoldLastNode(index, outputs);
    if (!status.ok()) return status.Within(OperatorLabel(index));
    DropEmptyParts();
  }
  for (const int32_t tensor : outputs) sources_[tensor] = Source::kReady;
  return Status::Ok();
}

}  // namespace hearth
