#include "frontends/tflite/subgraph_reader.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/error.h"
#include "frontends/tflite/operator_view.h"

namespace hearth {
namespace {

bool TakesFloat16Constants(const Op& op) {
  return std::holds_alternative<Conv2D>(op) || std::holds_alternative<DepthwiseConv2D>(op) ||
         std::holds_alternative<FullyConnected>(op) || std::holds_alternative<UnknownOp>(op);
}

// The operands that become inputs of the node; `ordered` holds them where their order differs from the file's.
std::span<const int32_t> NodeInputs(const OperatorRow& row, std::span<const int32_t> operands,
                                    std::vector<int32_t>& ordered) {
  if (row.input_order.empty()) return operands.first(std::min<size_t>(operands.size(), row.data_inputs));
  for (const char digit : row.input_order) {
    const auto position = static_cast<size_t>(digit - '0');
    ordered.push_back(position < operands.size() ? operands[position] : -1);
  }
  return ordered;
}

}  // namespace

Result<Graph> SubgraphReader::Read() {
  HEARTH_ASSIGN(codes_, ReadOperatorCodes(model_, budget_));
  if (subgraph_.name() != nullptr && budget_.Charge(subgraph_.name()->size())) {
    graph_.name = CleanName(subgraph_.name()->string_view());
  }
  sources_.resize(tensors_.count(), Source::kNone);
  is_folded_.resize(tensors_.count(), false);
  HEARTH_TRY(ReadInputs());
  HEARTH_TRY(FindOutputs());
  HEARTH_TRY(FindProducers());
  for (int index = 0; index < operator_count(); ++index) {
    HEARTH_TRY(ReadOperator(index));
  }
  HEARTH_TRY(ReadOutputs());
  graph_.source_operator_count = operator_count();
  return std::move(graph_);
}

std::string SubgraphReader::OperatorLabel(int index) const {
  return fmt::format("operator {} ({})", index, std::string_view(CodeOf(index).name).substr(0, 200));
}

Result<std::vector<int32_t>> SubgraphReader::CopyIndices(const flatbuffers::Vector<int32_t>* indices,
                                                         std::string_view where) {
  if (indices != nullptr && !budget_.Charge(4 * size_t{indices->size()})) return CopyBudget::Exceeded(where);
  return CopyOf(indices);
}

Status SubgraphReader::ReadInputs() {
  HEARTH_ASSIGN(const std::vector<int32_t> inputs, CopyIndices(subgraph_.inputs(), "the list of model inputs"));
  for (const int32_t tensor : inputs) {
    HEARTH_TRY(tensors_.CheckIndex(tensor, "the list of model inputs"));
    HEARTH_TRY(CheckProduced(tensor, "the caller of the model"));
    if (sources_[tensor] == Source::kReady) {
      return Error(StatusCode::kMalformedInput, "{} is listed twice as a model input", tensors_.Label(tensor));
    }
    sources_[tensor] = Source::kReady;
    HEARTH_ASSIGN(const ValueId value, tensors_.ValueOf(tensor));
    graph_.inputs.push_back(value);
  }
  return Status::Ok();
}

Status SubgraphReader::FindOutputs() {
  HEARTH_ASSIGN(output_tensors_, CopyIndices(subgraph_.outputs(), "the list of model outputs"));
  if (output_tensors_.empty()) return Error(StatusCode::kMalformedInput, "the model has no outputs");
  is_model_output_.resize(tensors_.count(), false);
  for (const int32_t tensor : output_tensors_) {
    HEARTH_TRY(tensors_.CheckIndex(tensor, "the list of model outputs"));
    is_model_output_[tensor] = true;
  }
  return Status::Ok();
}

// `tensor` is written by an operator or the caller: it must be able to hold something new.
Status SubgraphReader::CheckProduced(int32_t tensor, std::string_view where) {
  HEARTH_ASSIGN(const std::span<const std::byte> bytes, tensors_.ConstantBytes(tensor));
  HEARTH_ASSIGN(const Shape shape, tensors_.ShapeOf(tensor));
  if (!bytes.empty()) {
    return Error(StatusCode::kMalformedInput, "{} writes {}, which holds constant data", where, tensors_.Label(tensor));
  }
  if (shape.element_count() == 0) {
    return Error(StatusCode::kMalformedInput, "{} writes {}, which has no elements", where, tensors_.Label(tensor));
  }
  if (tensors_.IsVariable(tensor)) {
    return Error(StatusCode::kUnsupported, "{} writes {}, which is state of the model", where, tensors_.Label(tensor));
  }
  return Status::Ok();
}

// Checks every operator's code and outputs, so that later an operator's input tells "made later" from "never made".
Status SubgraphReader::FindProducers() {
  for (int index = 0; index < operator_count(); ++index) {
    if (op(index).opcode_index() >= codes_.size()) {
      return Error(StatusCode::kMalformedInput, "operator {} has operator code {}; the model has {} operator codes",
                   index, op(index).opcode_index(), codes_.size());
    }
    const std::string where = OperatorLabel(index);
    HEARTH_ASSIGN(const std::vector<int32_t> outputs, CopyIndices(op(index).outputs(), where));
    if (outputs.empty() && CodeOf(index).row != nullptr && CodeOf(index).row->read != nullptr) {
      return Error(StatusCode::kMalformedInput, "{} has no output", where);
    }
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
    if (tensor == -1) continue;  // an optional input that is absent
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

// The attributes; UnknownOp when Hearth does not know the operator in this form.
Result<Op> SubgraphReader::ReadOp(int index, const std::vector<int32_t>& inputs) {
  const OperatorCode& code = CodeOf(index);
  if (!budget_.Charge(code.name.size())) return CopyBudget::Exceeded(OperatorLabel(index));
  if (code.row == nullptr || code.row->read == nullptr) return Op(UnknownOp{code.name});
  const OperatorView view(op(index), inputs, tensors_);
  Result<Op> read = code.row->read(view);
  if (read.ok()) return read;
  // Without a shape (the file's "known at run time") a complaint about sizes says nothing.
  const bool shape_unknown = sources_[inputs[0]] == Source::kReady && view.InputHasNoShape(0);
  if (read.status().code() == StatusCode::kUnsupported || shape_unknown) return Op(UnknownOp{code.name});
  return read.status().Within(OperatorLabel(index));
}

// True for DEQUANTIZE of a float16 constant to a tensor inside the model: its readers get the constant itself.
Result<bool> SubgraphReader::FoldDequantize(int index, const std::vector<int32_t>& inputs,
                                            const std::vector<int32_t>& outputs) {
  const OperatorRow* row = CodeOf(index).row;
  if (row == nullptr || row->code != kDequantizeOperator) return false;
  if (inputs.size() != 1 || outputs.size() != 1 || inputs[0] == -1) return false;
  HEARTH_ASSIGN(const std::span<const std::byte> bytes, tensors_.ConstantBytes(inputs[0]));
  if (bytes.empty()) return false;
  HEARTH_ASSIGN(const TensorDesc stored, tensors_.Describe(inputs[0]));
  HEARTH_ASSIGN(const TensorDesc output, tensors_.Describe(outputs[0]));
  if (stored.dtype != DType::kFloat16 || output.dtype != DType::kFloat32 || stored.shape != output.shape) return false;
  if (is_model_output_[outputs[0]]) return false;  // it keeps its own name and type
  HEARTH_ASSIGN(const ValueId constant, tensors_.ValueOf(inputs[0]));
  tensors_.Alias(outputs[0], constant);
  is_folded_[outputs[0]] = true;
  return true;
}

// The value that `op` reads for `tensor`. Filters and biases stay float16, which halves what is packed and hashed;
// other operations need operands of one type and get the constant as float32.
Result<ValueId> SubgraphReader::InputValue(const Op& op, int32_t tensor) {
  HEARTH_ASSIGN(const ValueId value, tensors_.ValueOf(tensor));
  if (!is_folded_[tensor] || TakesFloat16Constants(op)) return value;
  if (const auto found = widened_.find(tensor); found != widened_.end()) return found->second;
  const Shape shape = graph_.value(value).desc.shape;
  if (!budget_.Charge(4 * static_cast<size_t>(shape.element_count()))) {
    return CopyBudget::Exceeded(tensors_.Label(tensor));
  }
  HEARTH_ASSIGN(const std::vector<float> floats, ConstantAsFloats(graph_, value));
  const ValueId widened = graph_.AddFloatConstant(graph_.value(value).name, shape, floats);
  widened_.emplace(tensor, widened);
  return widened;
}

Status SubgraphReader::AddNode(int index, Op op, std::span<const int32_t> inputs, std::span<const int32_t> outputs) {
  const OperatorRow* row = CodeOf(index).row;
  std::vector<int32_t> ordered;
  if (!std::holds_alternative<UnknownOp>(op)) {
    inputs = NodeInputs(*row, inputs, ordered);
    while (!inputs.empty() && inputs.back() == -1) inputs = inputs.first(inputs.size() - 1);
  }
  Node node;
  node.op = std::move(op);
  node.source_index = index;
  for (const int32_t tensor : inputs) {
    ValueId value = kNoValue;
    if (tensor != -1) {
      HEARTH_ASSIGN(value, InputValue(node.op, tensor));
    }
    node.inputs.push_back(value);
  }
  for (const int32_t tensor : outputs) {
    HEARTH_ASSIGN(const ValueId value, tensors_.ValueOf(tensor));
    node.outputs.push_back(value);
  }
  graph_.AddNode(std::move(node));
  return Status::Ok();
}

Status SubgraphReader::ReadOperator(int index) {
  HEARTH_ASSIGN(const std::vector<int32_t> inputs, CopyIndices(op(index).inputs(), "an operator"));
  HEARTH_ASSIGN(const std::vector<int32_t> outputs, CopyIndices(op(index).outputs(), "an operator"));
  HEARTH_TRY(CheckInputs(index, inputs));
  HEARTH_ASSIGN(const bool folded, FoldDequantize(index, inputs, outputs));
  if (!folded) {
    HEARTH_ASSIGN(Op attributes, ReadOp(index, inputs));
    if (Status added = AddNode(index, std::move(attributes), inputs, outputs); !added.ok()) {
      return added.Within(OperatorLabel(index));
    }
  }
  for (const int32_t tensor : outputs) sources_[tensor] = Source::kReady;
  return Status::Ok();
}

Status SubgraphReader::ReadOutputs() {
  for (const int32_t tensor : output_tensors_) {
    HEARTH_TRY(CheckHasContent(tensor, "the list of model outputs"));
    HEARTH_ASSIGN(const ValueId value, tensors_.ValueOf(tensor));
    graph_.outputs.push_back(value);
  }
  return Status::Ok();
}

}  // namespace hearth
