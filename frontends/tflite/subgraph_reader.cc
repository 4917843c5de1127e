#include "frontends/tflite/subgraph_reader.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "frontends/tflite/op_readers.h"
#include "frontends/tflite/operator_table.h"
#include "frontends/writer/names.h"

namespace hearth {
namespace {

using Source = TensorState::Source;

constexpr size_t kMaxDepth = 16;  // nested calls

// The first unknown operator of a called subgraph.
const Node* FirstUnknown(const Graph& graph, size_t first_node) {
  const auto found = std::find_if(graph.nodes().begin() + static_cast<ptrdiff_t>(first_node), graph.nodes().end(),
                                  [](const Node& node) { return std::holds_alternative<UnknownOp>(node.op); });
  return found == graph.nodes().end() ? nullptr : &*found;
}

}  // namespace

Status SubgraphReader::Read(const wire::SignatureDef* signature, const ReadOptions& options) {
  HEARTH_ASSIGN(reading_.codes, ReadOperatorCodes(reading_.model, reading_.budget.copies, options.custom_ops));
  Graph& graph = to_.graph();
  if (subgraph_.name() != nullptr && reading_.budget.copies.Charge(subgraph_.name()->size())) {
    graph.name = CleanName(subgraph_.name()->string_view());
  }
  to_.variables().SetChanges([this](const std::string& name) { return ChangesVariable(reading_, name); });
  HEARTH_TRY(ReadInputs(signature, options));
  HEARTH_ASSIGN(const std::vector<int32_t> outputs, FindOutputs());
  HEARTH_TRY(FindProducers());
  for (int index = 0; index < operator_count(); ++index) HEARTH_TRY(ReadOperator(index));
  HEARTH_TRY(ReadOutputs(outputs));
  HEARTH_TRY(to_.Finish());
  FinishStates();
  graph.source_operator_count = operator_count();
  return Status::Ok();
}

Expanded SubgraphReader::ReadCalled(std::span<const ValueId> arguments) {
  HEARTH_TRY(BindArguments(arguments));
  HEARTH_TRY(FindProducers());
  HEARTH_TRY(tensors_.BindOwnStates());
  const size_t first_node = to_.graph().nodes().size();
  for (int index = 0; index < operator_count(); ++index) HEARTH_TRY(ReadOperator(index));
  HEARTH_ASSIGN(std::vector<ValueId> outputs, CalledOutputs());
  if (const Node* unknown = FirstUnknown(to_.graph(), first_node)) {
    const auto& op = std::get<UnknownOp>(unknown->op);
    return Error(StatusCode::kUnsupported, "subgraph {}, which it calls, holds {}{}{}", number_, op.name.substr(0, 200),
                 op.reason.empty() ? "" : ": ", op.reason.substr(0, 1000));
  }
  return outputs;
}

std::string SubgraphReader::OperatorLabel(int index) const {
  const std::string_view name = std::string_view(CodeOf(index).name).substr(0, 200);
  return number_ < 0 ? fmt::format("operator {} ({})", index, name)
                     : fmt::format("operator {} ({}) of subgraph {}", index, name, number_);
}

Result<std::vector<int32_t>> SubgraphReader::CopyIndices(const flatbuffers::Vector<int32_t>* indices,
                                                         std::string_view where) {
  if (indices != nullptr && !reading_.budget.copies.Charge(4 * size_t{indices->size()}))
    return CopyBudget::Exceeded(where);
  return CopyOf(indices);
}

Status SubgraphReader::BindArguments(std::span<const ValueId> arguments) {
  const std::string where = fmt::format("the call of subgraph {}", number_);
  HEARTH_ASSIGN(const std::vector<int32_t> inputs, CopyIndices(subgraph_.inputs(), where));
  if (inputs.size() != arguments.size()) {
    return Error(StatusCode::kMalformedInput, "{} gives {} tensors to {} inputs", where, arguments.size(),
                 inputs.size());
  }
  for (size_t k = 0; k < inputs.size(); ++k) {
    HEARTH_TRY(tensors_.CheckIndex(inputs[k], where));
    HEARTH_TRY(CheckProduced(inputs[k], where));
    TensorState& state = tensors_[inputs[k]];
    if (state.source == Source::kReady) {
      return Error(StatusCode::kMalformedInput, "{} writes {} twice", where, tensors_.Label(inputs[k]));
    }
    if (to_.marks().IsHandle(arguments[k])) {
      state.value = arguments[k];
    } else {
      HEARTH_TRY(tensors_.Bind(inputs[k], arguments[k]));
    }
    state.source = Source::kReady;
  }
  return Status::Ok();
}

Expanded SubgraphReader::CalledOutputs() {
  const std::string where = fmt::format("the list of outputs of subgraph {}", number_);
  HEARTH_ASSIGN(const std::vector<int32_t> outputs, CopyIndices(subgraph_.outputs(), where));
  std::vector<ValueId> values;
  for (const int32_t tensor : outputs) {
    HEARTH_TRY(tensors_.CheckIndex(tensor, where));
    HEARTH_TRY(CheckHasContent(tensor, where));
    HEARTH_ASSIGN(const ValueId value, tensors_.OperandOf(tensor, false));
    if (to_.marks().IsComplex(value)) {
      return Error(StatusCode::kUnsupported, "{} returns complex numbers", where);
    }
    values.push_back(value);
  }
  return values;
}

// Checks that an operator or the caller may write `tensor`.
Status SubgraphReader::CheckProduced(int32_t tensor, std::string_view where) {
  HEARTH_ASSIGN(const std::span<const std::byte> bytes, tensors_.ConstantBytes(tensor));
  HEARTH_TRY(tensors_.ShapeOf(tensor).status());
  if (!bytes.empty()) {
    return Error(StatusCode::kMalformedInput, "{} writes {}, which holds constant data", where, tensors_.Label(tensor));
  }
  // A state that an operator initializes is an ordinary tensor: each run computes it anew.
  tensors_[tensor].is_ordinary = true;
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
      if (tensors_[tensor].source != Source::kNone) {
        return Error(StatusCode::kMalformedInput, "{} writes {}, which {} already", where, tensors_.Label(tensor),
                     tensors_[tensor].source == Source::kReady ? "is a model input" : "another operator writes");
      }
      tensors_[tensor].source = Source::kLater;
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
  for (const size_t position : StateInputs(*row, inputs.size())) {
    if (position >= inputs.size() || inputs[position] == -1) continue;
    HEARTH_TRY(tensors_.CheckIndex(inputs[position], where));
    HEARTH_ASSIGN(const Shape shape, tensors_.ShapeOf(inputs[position]));
    // What has no elements never changes.
    if (shape.element_count() > 0 && tensors_.IsVariable(inputs[position])) tensors_[inputs[position]].is_state = true;
  }
  return Status::Ok();
}

Status SubgraphReader::CheckHasContent(int32_t tensor, std::string_view where) {
  Source& source = tensors_[tensor].source;
  if (source == Source::kReady) return Status::Ok();
  if (source == Source::kLater) {
    return Error(StatusCode::kMalformedInput,
                 "{} reads {} before it is made: the operators are out of order or form a cycle", where,
                 tensors_.Label(tensor));
  }
  HEARTH_ASSIGN(const bool is_constant, tensors_.IsConstant(tensor));
  if (!is_constant && !tensors_.IsVariable(tensor)) {
    return Error(StatusCode::kMalformedInput, "{} reads {}, which nothing makes and which holds no data", where,
                 tensors_.Label(tensor));
  }
  source = Source::kReady;
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
  if (row == nullptr || (row->read == nullptr && row->expand == nullptr)) return Status::Ok();
  const int count = static_cast<int>(inputs.size());
  if (count < row->required_inputs || count > row->max_inputs) {
    return Error(StatusCode::kMalformedInput, "{} has {} inputs, but needs {} to {}", where, count,
                 row->required_inputs, row->max_inputs);
  }
  const int required = row->max_inputs == kAnyCount ? count : row->required_inputs;
  for (int i = 0; i < required; ++i) {
    if (inputs[i] == -1) return Error(StatusCode::kMalformedInput, "input {} of {} is absent", i, where);
  }
  const size_t outputs = op(index).outputs() == nullptr ? 0 : op(index).outputs()->size();
  if (outputs > static_cast<size_t>(row->max_outputs)) {
    return Error(StatusCode::kMalformedInput, "{} has {} outputs instead of {}", where, outputs,
                 row->max_outputs == 1 ? "one" : fmt::format("at most {}", row->max_outputs));
  }
  return Status::Ok();
}

// A state that no operator changes, because Hearth does not know the operator, stays zero.
void SubgraphReader::FinishStates() {
  Graph& graph = to_.graph();
  std::erase_if(graph.states, [&](const StatePair& state) {
    if (state.written != kNoValue) return false;
    Result<std::vector<std::byte>> zeros = BytesOfZeros(to_.desc(state.read));
    HEARTH_CHECK(zeros.ok());  // its description was checked when it was charged
    graph.MakeConstant(state.read, std::move(zeros).value());
    return true;
  });
}

Result<const wire::SubGraph*> CalledSubgraph(const Reading& reading, int32_t subgraph) {
  const auto* subgraphs = reading.model.subgraphs();
  if (subgraph >= 0 && static_cast<uint32_t>(subgraph) < subgraphs->size())
    return subgraphs->Get(static_cast<uint32_t>(subgraph));
  return Error(StatusCode::kMalformedInput, "it calls subgraph {}; the model has {} subgraphs", subgraph,
               subgraphs->size());
}

Expanded CallSubgraph(Reading& reading, GraphWriter& to, int32_t subgraph, std::span<const ValueId> arguments) {
  HEARTH_ASSIGN(const wire::SubGraph* called, CalledSubgraph(reading, subgraph));
  if (Contains(reading.calls, subgraph) || reading.calls.size() >= kMaxDepth) {
    return Error(StatusCode::kMalformedInput, "it calls subgraph {}, which calls itself or too deep", subgraph);
  }
  HEARTH_TRY(
      reading.budget.ChargeCall(1 + (called->operators() == nullptr ? 0 : int64_t{called->operators()->size()})));
  HEARTH_TRY(reading.budget.ChargeSteps(called->tensors() == nullptr ? 0 : called->tensors()->size()));
  reading.calls.push_back(subgraph);
  const Origin origin = to.origin();
  Expanded outputs = SubgraphReader(reading, to, *called, subgraph).ReadCalled(arguments);
  to.origin() = origin;
  reading.calls.pop_back();
  return outputs;
}

}  // namespace hearth
