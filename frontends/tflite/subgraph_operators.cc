// The operators of a subgraph: one node, several nodes, a constant, or a node that says why nothing can run it.
#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "core/base/error.h"
#include "core/graph/op_def.h"
#include "core/graph/quantize.h"
#include "frontends/tflite/op_readers.h"
#include "frontends/tflite/operator_table.h"
#include "frontends/tflite/subgraph_reader.h"
#include "frontends/writer/rows.h"

namespace hearth {
namespace {

constexpr int32_t kMostDoubledRows = std::numeric_limits<int32_t>::max() / 2;

// Whether the operator moves the elements of its first operand, which may be complex.
bool MayMoveComplex(const OperatorRow& row) {
  return row.read != nullptr && row.data_inputs == 1;
}

// The shape that the operation names.
const Shape& ShapeIn(const Op& op) {
  const auto* reshape = std::get_if<Reshape>(&op);
  return reshape != nullptr ? reshape->shape : std::get<Slice>(op).shape;
}

// The same for the real and the imaginary part of its operand.
Made MoveComplex(NodeWriter& to, const Op& op, ValueId operand) {
  if (!OpDefOf(op).Has(kMovesElements)) return Error(StatusCode::kUnsupported, "of complex numbers");
  const auto [real, imaginary] = to.marks().complex.at(operand);
  HEARTH_ASSIGN(const ValueId moved_real, to.Add(op, {real}));
  HEARTH_ASSIGN(const ValueId moved_imaginary, to.Add(op, {imaginary}));
  return AddComplex(to, moved_real, moved_imaginary);
}

}  // namespace

// Handles of variables and complex tensors mean nothing to most operators.
Status SubgraphReader::CheckMarks(const OperatorView& view) const {
  const ValueMarks& marks = to_.marks();
  if (marks.handles.empty() && marks.complex.empty()) return Status::Ok();
  const OperatorRow* row = view.code().row;
  const unsigned traits = row == nullptr ? 0 : row->traits;
  for (size_t i = 0; i < view.inputs().size(); ++i) {
    const int32_t tensor = view.inputs()[i];
    const ValueId value = tensor == -1 ? kNoValue : tensors_[tensor].value;
    if (marks.IsHandle(value) && (traits & kTakesHandles) == 0) {
      return Error(StatusCode::kMalformedInput, "{} reads {}, a handle of a variable, as numbers",
                   OperatorLabel(view.index()), tensors_.Label(tensor));
    }
    const bool is_moved = row != nullptr && MayMoveComplex(*row) && i == 0;
    if (marks.IsComplex(value) && (traits & kTakesComplex) == 0 && !is_moved) {
      return Error(StatusCode::kUnsupported,
                   "{}: {} holds complex numbers, which only COMPLEX_ABS, REAL, IMAG, CAST and operators that move "
                   "elements read",
                   OperatorLabel(view.index()), tensors_.Label(tensor));
    }
  }
  return Status::Ok();
}

Status SubgraphReader::ReadOperator(int index) {
  HEARTH_ASSIGN(const std::vector<int32_t> inputs, CopyIndices(op(index).inputs(), "an operator"));
  HEARTH_TRY(CheckInputs(index, inputs));
  OperatorView view(reading_, tensors_, op(index), index, inputs);
  HEARTH_TRY(CheckMarks(view));
  const OperatorRow* row = view.code().row;
  to_.origin() = {number_ < 0 ? index : caller_index_, row == nullptr ? std::string_view() : row->name};
  std::set<ValueId> shape_inputs = std::exchange(to_.shape_inputs(), {});
  std::optional<Result<Op>> read;
  HEARTH_ASSIGN(const bool is_node, IsOneNode(view, read));
  if (is_node) shape_inputs.merge(to_.shape_inputs());  // what one node lacks, several may not need
  to_.shape_inputs() = std::move(shape_inputs);
  HEARTH_TRY(is_node ? ReadNode(view, std::move(read)) : Expand(view));
  for (int k = 0; k < view.output_count(); ++k) tensors_[view.output(k)].source = TensorState::Source::kReady;
  return Status::Ok();
}

// Whether an operator is one node, or unknown. Some are only in some forms, which is told by reading it.
Result<bool> SubgraphReader::IsOneNode(const OperatorView& view, std::optional<Result<Op>>& read) const {
  const OperatorRow* row = view.code().row;
  if (row == nullptr || row->expand == nullptr || row->read == nullptr) return row == nullptr || row->expand == nullptr;
  if (to_.marks().IsComplex(tensors_[view.inputs()[0]].value)) return (row->traits & kTakesComplex) == 0;
  if (read.emplace(row->read(view)).status().code() == StatusCode::kUnsupported) return false;
  HEARTH_ASSIGN(const TensorDesc first, view.DescribeInput(0));
  const bool is_narrow = BitsOf(first.dtype) < 32;
  const bool is_plain = !IsReal(first) || first.dtype == DType::kBool;
  return !is_plain || (row->traits & (is_narrow ? kPlainApart | kNarrowApart : kPlainApart)) == 0;
}

// True for DEQUANTIZE of a constant if the output is internal: its readers get the constant itself.
Result<bool> SubgraphReader::FoldDequantize(const OperatorView& view) {
  const OperatorRow* row = view.code().row;
  if (row == nullptr || row->code != kDequantizeOperator || view.output_count() == 0) return false;
  const int32_t input = view.inputs()[0], output = view.output(0);
  HEARTH_ASSIGN(const bool is_constant, tensors_.IsConstant(input));
  if (!is_constant || tensors_[output].is_output) return false;  // that keeps its own name and type
  HEARTH_ASSIGN(const TensorDesc stored, tensors_.Describe(input));
  HEARTH_ASSIGN(const TensorDesc made, tensors_.Describe(output));
  // Block-quantized constants are already float32. A single number is evaluated, because its reader may need its value
  // (a padding value).
  const bool is_narrow = IsFloat(stored.dtype) || stored.quantization.has_value();
  if (!is_narrow || made.dtype != DType::kFloat32 || stored.shape.element_count() == 1) return false;
  HEARTH_ASSIGN(tensors_[output].value, tensors_.ValueOf(input));
  tensors_[output].is_real_view = true;
  return true;
}

// The operation with its attributes; UnknownOp if Hearth does not know this form of the operator. `known`: of
// IsOneNode.
Result<Op> SubgraphReader::ReadOp(const OperatorView& view, std::optional<Result<Op>> known) {
  const OperatorCode& code = view.code();
  if (!reading_.budget.copies.Charge(code.name.size())) return CopyBudget::Exceeded(OperatorLabel(view.index()));
  if (code.custom != nullptr) {
    const std::span<const std::byte> options = view.CustomOptions();
    if (!reading_.budget.copies.Charge(options.size())) return CopyBudget::Exceeded(OperatorLabel(view.index()));
    const auto custom = std::make_shared<CustomNode>();
    custom->op = *code.custom;
    custom->options.assign(options.begin(), options.end());
    return Op(Custom{custom});
  }
  if (code.row == nullptr) return Op(UnknownOp{code.name});
  if (code.row->read == nullptr) return Op(UnknownOp{code.name, std::string(code.row->why_refused)});
  Result<Op> read = known ? *std::move(known) : code.row->read(view);
  if (read.ok()) return read;
  // If the input's shape is known only at run time, an error about sizes means nothing.
  if (read.status().code() != StatusCode::kUnsupported && !view.InputHasNoShape(0)) return read;
  return UnknownBecause(view, read.status());
}

// The operator as an unknown one.
Result<Op> SubgraphReader::UnknownBecause(const OperatorView& view, const Status& why) {
  if (reading_.budget.copies.Charge(why.message().size())) return Op(UnknownOp{view.code().name, why.message()});
  return CopyBudget::Exceeded(OperatorLabel(view.index()));
}

Status SubgraphReader::ReadNode(const OperatorView& view, std::optional<Result<Op>> known) {
  HEARTH_ASSIGN(const bool is_folded, FoldDequantize(view));
  if (is_folded) return Status::Ok();
  const std::string where = OperatorLabel(view.index());
  Result<Op> op = ReadOp(view, std::move(known));
  if (!op.ok()) return op.status().Within(where);
  if (std::holds_alternative<UnknownOp>(*op) || std::holds_alternative<Custom>(*op)) {
    return AddAsDeclared(view, *std::move(op)).Within(where);
  }
  Expanded read = OperandsOf(view, *op);
  if (read.status().code() == StatusCode::kUnsupported) {
    return AddAsDeclared(view, UnknownBecause(view, read.status())).Within(where);
  }
  if (!read.ok()) return read.status().Within(where);
  const std::vector<ValueId>& operands = *read;
  const size_t first_node = to_.graph().nodes().size();
  if (to_.marks().IsComplex(operands[0])) {
    return Finish(view, OneValue(MoveComplex(to_, *op, operands[0])), first_node);
  }
  if (!HaveRows(to_, operands)) return AddNode(view, std::move(*op), operands).Within(where);
  if (view.output_count() != 1 || !view.code().row->state_inputs.empty())
    return Finish(view, NeedsAllRows(), first_node);
  if (const auto* slice = std::get_if<Slice>(&*op); slice != nullptr && CountsFromTheEnd(view)) {
    const OpenDimension open = to_.marks().OpenOf(operands[0]);  // data say where it ends
    if (slice->size[open.dim] != to_.shape(operands[0])[open.dim]) return Finish(view, NeedsAllRows(), first_node);
  }
  HEARTH_ASSIGN(const TensorDesc made, view.DescribeOutput(0));
  return Finish(view, OneValue(AddOnRowsOf(view, *op, operands, made)), first_node);
}

// Of several dimensions of one size that the rows of operand 0 may have become, it is the one that grows if the
// operator is read for twice as many.
Made SubgraphReader::AddOnRowsOf(const OperatorView& view, const Op& op, const std::vector<ValueId>& operands,
                                 const TensorDesc& made) {
  const OpenDimension open = to_.marks().OpenOf(operands[0]);
  const bool is_reshape = std::holds_alternative<Reshape>(op);
  const auto* slice = std::get_if<Slice>(&op);
  if (open.count == kNoValue || (!is_reshape && slice == nullptr)) return AddOnRows(to_, op, operands, made);
  const Shape before = to_.shape(operands[0]), after = ShapeIn(op);
  Shape doubled = before;
  if (doubled[open.dim] <= kMostDoubledRows) doubled[open.dim] = std::max(2 * before[open.dim], 1);
  to_.graph().value(operands[0]).desc.shape = doubled;
  const Result<Op> longer = view.code().row->read(view);
  to_.graph().value(operands[0]).desc.shape = before;
  if (!longer.ok()) return AddOnRows(to_, op, operands, made);  // the file says all sizes
  const Shape& grown = ShapeIn(*longer);
  int at = 0;
  while (at < after.rank() && at < grown.rank() && grown[at] == after[at]) ++at;
  if (grown.rank() != after.rank() || at == after.rank() || !IsSameDimension(before, open.dim, after, at)) {
    return is_reshape ? NeedsAllRows() : AddOnRows(to_, op, operands, made);
  }
  if (slice != nullptr && (slice->begin[open.dim] != 0 || slice->strides[open.dim] != 1)) return NeedsAllRows();
  HEARTH_ASSIGN(const ValueId result, to_.AddAs(op, operands, made));
  return AddRows(to_, result, open.count, at);
}

// The operands of the operator's node.
Expanded SubgraphReader::OperandsOf(const OperatorView& view, const Op& op) {
  const OperatorRow& row = *view.code().row;
  std::vector<int32_t> read = view.inputs();
  read.resize(std::min<size_t>(read.size(), static_cast<size_t>(row.data_inputs)));
  if (!row.input_order.empty()) read.clear();
  for (const uint8_t position : row.input_order) {
    read.push_back(view.HasInput(position) ? view.inputs()[position] : -1);
  }
  while (!read.empty() && read.back() == -1) read.pop_back();
  std::vector<ValueId> operands;
  for (const int32_t tensor : read) {
    const bool takes_stored = OpDefOf(op).Has(kTakesStoredConstants);
    const bool takes_blocks = std::holds_alternative<FullyConnected>(op) && operands.size() == 1;
    HEARTH_ASSIGN(ValueId value, tensor == -1 || !takes_blocks ? Made(kNoValue) : tensors_.StoredInBlocks(tensor));
    HEARTH_ASSIGN(value, value == kNoValue && tensor != -1 ? view.OperandOf(tensor, takes_stored) : Made(value));
    operands.push_back(value);
  }
  return operands;
}

// The results that the file names.
Result<std::vector<NamedResult>> SubgraphReader::ResultsOf(const OperatorView& view) {
  std::vector<NamedResult> results;
  for (int k = 0; k < view.output_count(); ++k) {
    HEARTH_ASSIGN(NamedResult result, tensors_.ResultFor(view.output(k)));
    results.push_back(std::move(result));
  }
  return results;
}

// Adds the node of an operator.
Status SubgraphReader::AddNode(const OperatorView& view, Op op, std::vector<ValueId> operands) {
  HEARTH_ASSIGN(std::vector<NamedResult> results, ResultsOf(view));
  std::vector<int32_t> changed;
  for (const uint8_t position : StateInputs(*view.code().row, view.inputs().size())) {
    if (!view.HasInput(position)) continue;
    changed.push_back(view.inputs()[position]);
    HEARTH_ASSIGN(NamedResult next, tensors_.NextFor(changed.back()));
    results.push_back(std::move(next));
  }
  const bool is_basic = IsBasicLstm(*view.code().row, view.inputs().size());
  if (std::holds_alternative<Lstm>(op)) {
    const Status arranged = ArrangeLstm(to_, is_basic, operands, results);
    if (arranged.code() == StatusCode::kUnsupported) return AddAsDeclared(view, UnknownBecause(view, arranged));
    HEARTH_TRY(arranged);
  }
  HEARTH_ASSIGN(const std::vector<ValueId> made, to_.AddNamed(std::move(op), std::move(operands), std::move(results)));
  // Of the outputs of a BASIC LSTM the second is what the cell's state becomes, the others are scratch memory.
  const int bound = is_basic ? std::min(view.output_count(), 2) : view.output_count();
  for (int k = 0; k < bound; ++k) {
    tensors_[view.output(k)].value = made[static_cast<size_t>(is_basic && k == 1 ? 2 : k)];
  }
  for (size_t k = 0; k < changed.size(); ++k) {
    HEARTH_TRY(tensors_.ReplaceState(changed[k], made[made.size() - changed.size() + k]));
  }
  return Status::Ok();
}

// Adds a node for an operator that Hearth does not know, or not in this form, or that the program registered: its
// results are what the file declares.
Status SubgraphReader::AddAsDeclared(const OperatorView& view, Result<Op> op) {
  HEARTH_TRY(op.status());
  const bool is_custom = std::holds_alternative<Custom>(*op);
  std::vector<ValueId> operands;
  for (const int32_t tensor : view.inputs()) {
    HEARTH_ASSIGN(const ValueId value, tensor == -1 ? Made(kNoValue) : tensors_.OperandOf(tensor, !is_custom));
    if (to_.marks().IsComplex(value)) return Error(StatusCode::kUnsupported, "of complex numbers");
    operands.push_back(value);
  }
  if (is_custom && HaveRows(to_, operands)) return AddAsDeclared(view, UnknownBecause(view, NeedsAllRows()));
  HEARTH_ASSIGN(std::vector<NamedResult> results, ResultsOf(view));
  HEARTH_ASSIGN(const auto made, to_.AddNamed(*std::move(op), std::move(operands), std::move(results)));
  for (size_t k = 0; k < made.size(); ++k) tensors_[view.output(static_cast<int>(k))].value = made[k];
  return Status::Ok();
}

// Takes back what a refused operator changed of variables.
Result<std::function<void()>> SubgraphReader::UndoOf(const OperatorView& view) {
  Variables& variables = to_.variables();
  if ((view.code().row->traits & kCalls) != 0) {
    HEARTH_ASSIGN(Variables::Contents all, variables.Copy());
    return std::function<void()>([&variables, all = std::move(all)] { variables.Exchange(all); });
  }
  if (!to_.marks().IsHandle(view.operand(0))) return std::function<void()>([] {});
  const std::string& name = to_.marks().handles.at(view.operand(0));
  return std::function<void()>([&variables, &name, one = variables.ContentOf(name)] { variables.Restore(name, one); });
}

// Reads an operator that becomes several nodes.
Status SubgraphReader::Expand(OperatorView& view) {
  const OperatorRow& row = *view.code().row;
  Status ready = view.MakeOperands();
  Result<std::function<void()>> undo = UndoOf(view);
  if (ready.ok()) ready = undo.status();
  if (ready.ok() && (row.traits & kTakesRows) == 0 && HaveRows(to_, view.operands())) ready = NeedsAllRows();
  const size_t first_node = to_.graph().nodes().size();
  Expanded made = ready.ok() ? row.expand(view, to_) : Expanded(ready);
  // If the input's shape is known only at run time, an error about sizes means nothing.
  const bool is_open = (row.traits & kTakesHandles) == 0 && view.HasInput(0) && tensors_.IsDynamic(view.inputs()[0]);
  if (is_open && made.status().code() == StatusCode::kMalformedInput) {
    made = Status(StatusCode::kUnsupported, made.status().message());
  }
  return Finish(view, made, first_node, undo.ok() ? *undo : nullptr);
}

// Binds the results of several nodes, or makes an unknown operator if they are unsupported.
Status SubgraphReader::Finish(const OperatorView& view, const Expanded& made, size_t first_node,
                              const std::function<void()>& undo) {
  Status status = made.status();
  if (status.ok() && made->size() != static_cast<size_t>(view.output_count())) {
    status = Error(StatusCode::kMalformedInput, "it has {} outputs, {} are made", view.output_count(), made->size());
  }
  for (int k = 0; status.ok() && k < view.output_count(); ++k) {
    status = BindOutput(view.output(k), (*made)[static_cast<size_t>(k)]);
  }
  for (const auto& [tensor, next] : view.next_states()) {
    if (status.ok()) status = tensors_.ReplaceState(tensor, next);
  }
  if (status.ok()) return status;
  if (status.code() != StatusCode::kUnsupported) return status.Within(OperatorLabel(view.index()));
  to_.TakeBack(first_node);
  if (undo) undo();
  for (int k = 0; k < view.output_count(); ++k) tensors_[view.output(k)].value = kNoValue;
  // No value may stand for what the operator makes, a handle or complex numbers: then its reason is the error.
  const Status unknown = AddAsDeclared(view, UnknownBecause(view, status));
  return unknown.code() == StatusCode::kUnsupported ? status.Within(OperatorLabel(view.index())) : unknown;
}

Status SubgraphReader::BindOutput(int32_t tensor, ValueId value) {
  TensorState& state = tensors_[tensor];
  const bool is_complex = to_.marks().IsComplex(value);
  if (is_complex && state.is_output) {  // pairs, as NumPy and C store them
    if (!reading_.complex_as_pairs) {
      return Error(
          StatusCode::kUnsupported,
          "it makes complex numbers, which can be no output here: end with COMPLEX_ABS, or with REAL and IMAG");
    }
    if (!tensors_.IsComplex(tensor)) {
      return Error(StatusCode::kMalformedInput, "{} is no complex tensor, but gets complex numbers",
                   tensors_.Label(tensor));
    }
    const auto [real, imaginary] = to_.marks().complex.at(value);
    if (!reading_.budget.copies.Charge(tensors_.NameOf(tensor).size())) return CopyBudget::Exceeded("an output");
    HEARTH_ASSIGN(const auto pairs, to_.AddNamed(Pack{to_.shape(real).rank()}, {real, imaginary},
                                                 {{tensors_.NameOf(tensor), to_.desc(real), true}}));
    state.value = pairs[0];
    return Status::Ok();
  }
  if (is_complex || to_.marks().IsHandle(value)) {
    state.value = value;
    return Status::Ok();
  }
  if (!state.is_output) return tensors_.Bind(tensor, value);
  // The output keeps its own name.
  Graph& graph = to_.graph();
  HEARTH_ASSIGN(NamedResult output, tensors_.ResultFor(tensor));
  output.desc.shape = to_.shape(value);
  if (to_.IsEmpty(value)) {  // devices can't copy it
    state.value = graph.AddConstantValue(std::move(output.name), std::move(output.desc), {});
    return Status::Ok();
  }
  if (output.desc != to_.desc(value)) {
    return Error(StatusCode::kMalformedInput, "{} has another type than what is made for it", tensors_.Label(tensor));
  }
  state.value = graph.AddValue({std::move(output.name), std::move(output.desc), std::nullopt});
  if (HaveRows(to_, {&value, 1})) to_.marks().open.emplace(state.value, to_.marks().OpenOf(value));
  graph.AddNode({Unary{.kind = UnaryKind::kCopy}, {value}, {state.value}, "", to_.origin().source_index});
  return Status::Ok();
}

}  // namespace hearth
