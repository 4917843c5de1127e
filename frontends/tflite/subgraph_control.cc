// Operators that call other subgraphs: CALL, STABLEHLO_COMPOSITE, IF, STABLEHLO_CASE, WHILE. Called subgraphs are read
// into the one graph, a loop's body once per iteration. So every device runs them, and constants such as counters and
// indices are folded.
#include <algorithm>
#include <utility>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/graph/op_def.h"
#include "frontends/tflite/refused_operators.h"
#include "frontends/tflite/subgraph_reader.h"

namespace hearth {
namespace {

constexpr int32_t kCall = 31, kIf = 118, kWhile = 119, kComposite = 206, kCase = 209;
constexpr size_t kMaxDepth = 16;                  // nested calls
constexpr size_t kBytesPerInlinedOperator = 512;  // names and lists, on average
// After so many iterations the rest is counted if possible: writing them out must not be the way to find out that they
// don't fit.
constexpr int kTurnsBeforeCounting = 16;
// The most iterations that are written out if the end depends on data: devices compute all of them.
constexpr int kMostChosenTurns = 256;
// The same for a loop that cannot run on the host.
constexpr int kMostChosenTurnsWithoutAHost = 4096;

// The subgraph of a composite defines what it computes. Its name is only a hint.
bool IsCall(int32_t code) {
  return code == kCall || code == kIf || code == kWhile || code == kComposite || code == kCase;
}

Status TooManyOperators() {
  return Error(StatusCode::kUnsupported,
               "its unrolled turns have more than {} operators: convert with "
               "fewer turns (shorter sequences), or bound a loop whose end depends on data (maximum_iterations)",
               Reading::kMaxInlinedOperators);
}

// The first unknown operator of a called subgraph.
const Node* FirstUnknown(const Graph& graph, size_t first_node) {
  const auto found = std::find_if(graph.nodes().begin() + static_cast<ptrdiff_t>(first_node), graph.nodes().end(),
                                  [](const Node& node) { return std::holds_alternative<UnknownOp>(node.op); });
  return found == graph.nodes().end() ? nullptr : &*found;
}

}  // namespace

Status Reading::ChargeSteps(size_t steps) {
  if (steps > steps_left) {
    return Error(
        StatusCode::kUnsupported,
        "reading the model takes more than {} steps, since tensors or variables are gone through again at each "
        "call of a subgraph: call it less often, or convert with fewer variables",
        kMaxSteps);
  }
  steps_left -= steps;
  return Status::Ok();
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
    if (sources_[inputs[k]] == Source::kReady) {
      return Error(StatusCode::kMalformedInput, "{} writes {} twice", where, tensors_.Label(inputs[k]));
    }
    if (IsHandle(arguments[k])) {
      tensors_.Alias(inputs[k], arguments[k]);
    } else {
      HEARTH_TRY(tensors_.Bind(inputs[k], arguments[k]));
    }
    sources_[inputs[k]] = Source::kReady;
    has_open_shape_[inputs[k]] = true;
  }
  return Status::Ok();
}

Result<std::vector<ValueId>> SubgraphReader::CalledOutputs() {
  const std::string where = fmt::format("the list of outputs of subgraph {}", number_);
  HEARTH_ASSIGN(const std::vector<int32_t> outputs, CopyIndices(subgraph_.outputs(), where));
  std::vector<ValueId> values;
  for (const int32_t tensor : outputs) {
    HEARTH_TRY(tensors_.CheckIndex(tensor, where));
    HEARTH_TRY(CheckHasContent(tensor, where));
    HEARTH_ASSIGN(const ValueId value, InputValue(Op(Unary{}), tensor));
    values.push_back(value);
  }
  return values;
}

Result<std::vector<ValueId>> SubgraphReader::ReadCalled(int32_t number, std::span<const ValueId> arguments,
                                                        int32_t source_index) {
  number_ = number;
  source_index_ = source_index;
  PrepareLists();
  HEARTH_TRY(BindArguments(arguments));
  HEARTH_TRY(FindProducers());
  HEARTH_TRY(BindOwnStates());
  const size_t first_node = graph_.nodes().size();
  for (int index = 0; index < operator_count(); ++index) HEARTH_TRY(ReadOperator(index));
  HEARTH_ASSIGN(std::vector<ValueId> outputs, CalledOutputs());
  if (const Node* unknown = FirstUnknown(graph_, first_node)) {
    const auto& op = std::get<UnknownOp>(unknown->op);
    return Error(StatusCode::kUnsupported, "subgraph {}, which it calls, holds {}{}{}", number, op.name.substr(0, 200),
                 op.reason.empty() ? "" : ": ", op.reason.substr(0, 1000));
  }
  return outputs;
}

Result<const wire::SubGraph*> SubgraphReader::CalledSubgraph(int32_t subgraph) const {
  const auto* subgraphs = reading_.model.subgraphs();
  if (subgraph >= 0 && static_cast<uint32_t>(subgraph) < subgraphs->size())
    return subgraphs->Get(static_cast<uint32_t>(subgraph));
  return Error(StatusCode::kMalformedInput, "it calls subgraph {}; the model has {} subgraphs", subgraph,
               subgraphs->size());
}

// Calls `subgraph` for operator `index`.
Result<std::vector<ValueId>> SubgraphReader::Call(int index, int32_t subgraph, std::span<const ValueId> arguments) {
  HEARTH_ASSIGN(const wire::SubGraph* called, CalledSubgraph(subgraph));
  std::vector<int32_t>& calls = reading_.calls;
  if (Contains(calls, subgraph) || calls.size() >= kMaxDepth) {
    return Error(StatusCode::kMalformedInput, "it calls subgraph {}, which calls itself or too deep", subgraph);
  }
  const int64_t operators = 1 + (called->operators() == nullptr ? 0 : int64_t{called->operators()->size()});
  if (operators > reading_.inlined_operators_left) return TooManyOperators();
  const int64_t tensors = called->tensors() == nullptr ? 0 : int64_t{called->tensors()->size()};
  HEARTH_TRY(reading_.ChargeSteps(static_cast<size_t>(tensors)));
  reading_.inlined_operators_left -= operators;
  budget_.Add(kBytesPerInlinedOperator * static_cast<size_t>(operators));
  calls.push_back(subgraph);
  Result<std::vector<ValueId>> outputs =
      SubgraphReader(reading_, *called, nullptr).ReadCalled(subgraph, arguments, SourceIndex(index));
  calls.pop_back();
  return outputs;
}

Result<std::vector<ValueId>> SubgraphReader::CallFresh(int index, int32_t subgraph,
                                                       std::span<const ValueId> arguments) {
  HEARTH_ASSIGN(const Variables before, BeginFreshCall());
  Result<std::vector<ValueId>> outputs = Call(index, subgraph, arguments);
  EndFreshCall(before);
  return outputs;
}

// Calls `subgraph`, the assignments of which hold only if `condition` does; kNoValue: always.
Result<std::vector<ValueId>> SubgraphReader::CallWhere(int index, ValueId condition, int32_t subgraph,
                                                       std::span<const ValueId> arguments) {
  if (condition == kNoValue) return Call(index, subgraph, arguments);
  HEARTH_ASSIGN(Variables before, reading_.CopyVariables());
  HEARTH_ASSIGN(std::vector<ValueId> outputs, Call(index, subgraph, arguments));
  HEARTH_TRY(ChooseVariables(index, condition, reading_.variables, std::move(before)));
  return outputs;
}

// Adds a node for operator `index` and returns its result, a constant if its operands are constant.
Result<ValueId> SubgraphReader::AddMadeNode(int index, Op op, std::vector<ValueId> inputs, TensorDesc desc) {
  if (!budget_.ChargeScales(desc)) return CopyBudget::Exceeded("a result");
  const ValueId made = graph_.AddValue(
      {fmt::format("{}_{}", CodeOf(index).row->name, graph_.values().size()), std::move(desc), std::nullopt});
  Node node{std::move(op), std::move(inputs), {made}, "", SourceIndex(index)};
  DropEmptyOperands(graph_, node);
  HEARTH_TRY(OpDefOf(node.op).infer(graph_, node));
  graph_.AddNode(std::move(node));
  ConstantResults constants = ConstantsOfLastNode();
  if (constants.empty()) return made;
  graph_.MakeConstant(made, std::move(constants[0]));
  graph_.nodes().pop_back();
  return made;
}

// Writes the iterations one after the other. If the end depends on data, they run until the condition is known to be
// false, and the result is the state when the condition first was false.
Result<std::vector<ValueId>> SubgraphReader::WriteOutTurns(int index, const wire::WhileOptions& options,
                                                           std::vector<ValueId> state, int& chosen_turns_left) {
  std::vector<ValueId> result = state;
  ValueId goes_on = kNoValue;  // whether it continues, if that depends on data
  const int64_t operators_left = reading_.inlined_operators_left;
  for (int turn = 0;; ++turn) {
    if (turn == kTurnsBeforeCounting && goes_on == kNoValue) {
      const int64_t operators = (operators_left - reading_.inlined_operators_left) / turn;
      if (!DoTurnsFit(index, options, state, operators).value_or(true)) return TooManyOperators();
    }
    HEARTH_ASSIGN(const std::vector<ValueId> condition,
                  CallWhere(index, goes_on, options.cond_subgraph_index(), state));
    if (condition.size() != 1) {
      return Error(StatusCode::kMalformedInput, "its condition has {} outputs", condition.size());
    }
    HEARTH_ASSIGN(const std::optional<bool> known, KnownCondition(condition[0]));
    if (known && !*known) return result;
    if (!known) {
      HEARTH_ASSIGN(const ValueId now, AddScalar(index, condition[0]));
      const Op both = Binary{.kind = BinaryKind::kLogicalAnd};
      HEARTH_ASSIGN(goes_on, goes_on == kNoValue ? Result<ValueId>(now)
                                                 : AddMadeNode(index, both, {goes_on, now}, graph_.value(now).desc));
      HEARTH_TRY(BeginStates(index));
    }
    if (goes_on != kNoValue && --chosen_turns_left < 0) {
      return Error(StatusCode::kUnsupported, "its end depends on data after many turns: bound it (maximum_iterations)");
    }
    HEARTH_ASSIGN(state, CallWhere(index, goes_on, options.body_subgraph_index(), state));
    if (state.size() != result.size()) {
      return Error(StatusCode::kMalformedInput, "its body makes {} tensors of {}", state.size(), result.size());
    }
    for (size_t k = 0; k < state.size(); ++k) {
      if (goes_on == kNoValue) {
        result[k] = state[k];
      } else {
        HEARTH_ASSIGN(result[k], AddChoice(index, goes_on, state[k], result[k]));
      }
    }
  }
}

Result<std::vector<ValueId>> SubgraphReader::ReadWhile(int index, const std::vector<ValueId>& values) {
  const auto* options = op(index).builtin_options_as_WhileOptions();
  if (options == nullptr) return Error(StatusCode::kUnsupported, "{}", WhyRefused(kWhile));
  HEARTH_ASSIGN(const Variables before, BeginFreshCall());
  Result<std::vector<ValueId>> made = ReadTurns(index, *options, values);
  EndFreshCall(before);
  return made;
}

// Writes the loop out if it is a bounded list of operators, so that devices run it. Otherwise the host runs it.
Result<std::vector<ValueId>> SubgraphReader::ReadTurns(int index, const wire::WhileOptions& options,
                                                       const std::vector<ValueId>& values) {
  const size_t nodes = graph_.nodes().size(), states = graph_.states.size();
  HEARTH_ASSIGN(const Variables variables, reading_.CopyVariables());
  const int64_t operators_left = reading_.inlined_operators_left;
  const auto undo = [&] {
    graph_.nodes().erase(graph_.nodes().begin() + static_cast<ptrdiff_t>(nodes), graph_.nodes().end());
    graph_.states.resize(states);
    reading_.variables = variables;
  };
  // An inner loop occurs in each iteration of the outer one. It is tried only once: 256 iterations would become 65,536.
  int chosen_turns_left = reading_.loops_of_the_host.contains(&op(index)) ? 0 : kMostChosenTurns;
  Result<std::vector<ValueId>> written = WriteOutTurns(index, options, values, chosen_turns_left);
  if (written.ok() || written.status().code() != StatusCode::kUnsupported) return written;
  undo();
  // Operators that were undone no longer count, but only half of the budget comes back: that bounds the work.
  reading_.inlined_operators_left = std::max(reading_.inlined_operators_left, operators_left / 2);
  Result<std::vector<ValueId>> loop = AddLoop(index, options, values);
  if (loop.ok() && chosen_turns_left < 0) reading_.loops_of_the_host.insert(&op(index));
  if (loop.ok() || loop.status().code() != StatusCode::kUnsupported) return loop;
  undo();
  if (chosen_turns_left < 0) {
    chosen_turns_left = kMostChosenTurnsWithoutAHost;
    written = WriteOutTurns(index, options, values, chosen_turns_left);
    if (written.ok() || written.status().code() != StatusCode::kUnsupported) return written;
  }
  if (written.status().message() == loop.status().message()) return loop;
  return Error(StatusCode::kUnsupported, "{}; as a loop on the CPU: {}", written.status().message(),
               loop.status().message());
}

Result<std::vector<ValueId>> SubgraphReader::ReadCalls(int index, const std::vector<int32_t>& inputs) {
  std::vector<ValueId> operands;
  for (const int32_t tensor : inputs) {
    if (tensor == -1) return Error(StatusCode::kMalformedInput, "an input is absent");
    HEARTH_ASSIGN(const ValueId value, InputValue(Op(Unary{}), tensor));
    operands.push_back(value);
  }
  const int32_t code = CodeOf(index).row->code;
  if (code == kIf) return ReadIf(index, operands);
  if (code == kWhile) return ReadWhile(index, operands);
  if (code == kCase) return ReadCase(index, operands);
  if (code == kComposite) {
    const auto* composite = op(index).builtin_options_2_as_StableHLOCompositeOptions();
    if (composite == nullptr) return Error(StatusCode::kUnsupported, "{}", WhyRefused(kCall));
    return Call(index, composite->decomposition_subgraph_index(), operands);
  }
  const auto* options = op(index).builtin_options_as_CallOptions();
  if (options == nullptr) return Error(StatusCode::kUnsupported, "{}", WhyRefused(kCall));
  return Call(index, static_cast<int32_t>(std::min<uint32_t>(options->subgraph(), 1u << 30)), operands);
}

Status SubgraphReader::BindOutput(int index, int32_t tensor, ValueId value) {
  has_open_shape_[tensor] = true;
  if (IsHandle(value)) {
    tensors_.Alias(tensor, value);
    return Status::Ok();
  }
  if (!is_model_output_[tensor]) return tensors_.Bind(tensor, value);
  if (graph_.value(value).desc.shape.element_count() == 0) {  // devices can't copy it
    tensors_.SetShape(tensor, graph_.value(value).desc.shape);
    return tensors_.Fold(tensor, {});
  }
  // The output keeps its own name.
  tensors_.SetShape(tensor, graph_.value(value).desc.shape);
  HEARTH_ASSIGN(const ValueId output, tensors_.ValueOf(tensor));
  if (graph_.value(output).desc != graph_.value(value).desc) {
    return Error(StatusCode::kMalformedInput, "{} has another type than what is made for it", tensors_.Label(tensor));
  }
  if (RowsOf(value) != kNoValue) reading_.rows.emplace(output, RowsOf(value));
  graph_.AddNode({.op = Unary{.kind = UnaryKind::kCopy},
                  .inputs = {value},
                  .outputs = {output},
                  .source_index = SourceIndex(index)});
  return Status::Ok();
}

// Binds the results of several nodes made for operator `index`, or an UnknownOp if they are unsupported.
Status SubgraphReader::FinishMade(int index, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs,
                                  const Result<std::vector<ValueId>>& made, size_t first_node) {
  Status status = made.status();
  if (status.ok() && made->size() != outputs.size()) {
    status = Error(StatusCode::kMalformedInput, "it has {} outputs, {} are made", outputs.size(), made->size());
  }
  for (size_t k = 0; status.ok() && k < outputs.size(); ++k) status = BindOutput(index, outputs[k], (*made)[k]);
  if (status.ok()) return status;
  if (status.code() != StatusCode::kUnsupported) return status.Within(OperatorLabel(index));
  graph_.nodes().erase(graph_.nodes().begin() + static_cast<ptrdiff_t>(first_node), graph_.nodes().end());
  for (const int32_t tensor : outputs) tensors_.Forget(tensor);
  if (!budget_.Charge(status.message().size())) return CopyBudget::Exceeded(OperatorLabel(index));
  return AddNode(index, UnknownOp{CodeOf(index).name, std::string(status.message())}, inputs, outputs);
}

// Whether the nodes from `first_node` on are what FinishMade makes of an unsupported operator.
bool SubgraphReader::IsRefused(size_t first_node) const {
  return graph_.nodes().size() > first_node && std::holds_alternative<UnknownOp>(graph_.nodes().back().op);
}

// True if the operator calls subgraphs: its results are bound, or an UnknownOp says why not.
Result<bool> SubgraphReader::ReadControl(int index, const std::vector<int32_t>& inputs,
                                         const std::vector<int32_t>& outputs) {
  const OperatorRow* row = CodeOf(index).row;
  if (row == nullptr || !IsCall(row->code)) return false;
  const size_t first_node = graph_.nodes().size(), states = graph_.states.size();
  Result<Variables> variables = reading_.CopyVariables();
  const Result<std::vector<ValueId>> made =
      variables.ok() ? ReadCalls(index, inputs) : Result<std::vector<ValueId>>(variables.status());
  if (!made.ok()) graph_.states.resize(states);
  HEARTH_TRY(FinishMade(index, inputs, outputs, made, first_node));
  if (variables.ok() && IsRefused(first_node)) reading_.variables = std::move(variables).value();
  return true;
}

}  // namespace hearth
