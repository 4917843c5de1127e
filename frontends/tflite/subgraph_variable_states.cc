// The content of resource variables and of variable tensors of called subgraphs while the operators are read, and the
// states that they become.
#include <algorithm>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "frontends/tflite/subgraph_reader.h"

namespace hearth {
namespace {

bool HoldsZeros(const Graph& graph, ValueId constant) {
  const Result<std::vector<std::byte>> zeros = BytesOfZeros(graph.value(constant).desc);
  return zeros.ok() && std::ranges::equal(*zeros, graph.ConstantBytes(constant));
}

// The description of a variable's content outside of the loop.
const TensorDesc* HeldOutside(const Reading& reading, const std::string& name) {
  for (const Reading* outer = reading.outer; outer != nullptr; outer = outer->outer) {
    const auto found = outer->variables.find(name);
    if (found == outer->variables.end()) continue;
    const Variable& variable = found->second;
    const ValueId value = variable.current == kNoValue ? variable.first : variable.current;
    if (value != kNoValue) return &outer->graph.value(value).desc;
  }
  return nullptr;
}

}  // namespace

Result<Variables> Reading::CopyVariables() {
  HEARTH_TRY(ChargeSteps(variables.size()));
  return variables;
}

void KeepBegun(const Variables& from, Variables& to) {
  for (const auto& [name, variable] : from) {
    if (variable.begun == kNoValue) continue;
    Variable& other = to[name];
    if (other.begun != kNoValue) continue;
    const ValueId current = other.current;
    other = variable;
    other.current = current == kNoValue ? variable.begun : current;
  }
}

// A state that is false until a run has ended.
ValueId SubgraphReader::WasRun() {
  if (reading_.was_run == kNoValue) {
    reading_.was_run = graph_.AddValue({"variables_were_set", {DType::kBool, Shape(), std::nullopt}, std::nullopt});
  }
  return reading_.was_run;
}

// The variable's content when a run begins. States begin with zeros, so the first run selects other initial values.
Result<ValueId> SubgraphReader::BeginState(int index, const std::string& name) {
  const ValueId first = reading_.variables[name].first;
  const TensorDesc desc = graph_.value(first).desc;
  if (HasNoElements(graph_, first)) {  // and never changes
    reading_.variables[name].begun = reading_.variables[name].current = first;
    return first;
  }
  if (desc.size_bytes() > reading_.state_bytes_left) {
    return Error(StatusCode::kUnsupported, "variable '{}' is state of {} bytes; at most {} are possible in all", name,
                 desc.size_bytes(), Reading::kMaxStateBytes);
  }
  reading_.state_bytes_left -= desc.size_bytes();
  // A refused operator begins it in vain, and the next one again.
  if (!budget_.Charge(name.size()) || !budget_.ChargeScales(desc)) return CopyBudget::Exceeded("a variable");
  const ValueId state = graph_.AddValue({name, desc, std::nullopt});
  ValueId begun = state;
  if (!HoldsZeros(graph_, first)) {
    HEARTH_ASSIGN(begun, AddMadeNode(index, Select{}, {WasRun(), state, first}, desc));
  }
  reading_.variables[name].state = state;
  reading_.variables[name].begun = reading_.variables[name].current = begun;
  return begun;
}

Result<ValueId> SubgraphReader::AddZeros(const std::string& name) {
  const TensorDesc& desc = reading_.own_variables.at(name);
  if (!tensors_.ChargeMade(desc.size_bytes())) {
    return Error(StatusCode::kUnsupported, "variable '{}' begins with {} bytes of zeros", name, desc.size_bytes());
  }
  HEARTH_ASSIGN(std::vector<std::byte> zeros, BytesOfZeros(desc));
  return graph_.AddConstantValue(name + "_first", desc, std::move(zeros));
}

// Subgraphs that IF and WHILE call start with fresh variables and keep them between iterations: LiteRT prepares the
// subgraphs again whenever it runs the operator. Returns what these variables were until then.
Result<Variables> SubgraphReader::BeginFreshCall() {
  HEARTH_TRY(reading_.ChargeSteps(2 * reading_.own_variables.size()));
  Variables before;
  for (const auto& [name, desc] : reading_.own_variables) {
    const auto found = reading_.variables.find(name);
    if (found == reading_.variables.end()) continue;
    before.emplace_hint(before.end(), found->first, found->second);  // shares the name
    const ValueId first = found->second.first;  // within a part of a loop: the content from outside
    found->second = {.first = graph_.IsConstant(first) ? first : kNoValue};
  }
  ++reading_.fresh_calls;
  return before;
}

void SubgraphReader::EndFreshCall(const Variables& before) {
  --reading_.fresh_calls;
  for (const auto& [name, desc] : reading_.own_variables) {
    const auto found = before.find(name);
    Variable& variable = reading_.variables[name];
    const ValueId first = variable.first;
    variable = found == before.end() ? Variable() : found->second;
    if (variable.first == kNoValue && !reading_.is_initializing) variable.first = first;
  }
}

// Variable tensors of a called subgraph are its own variables.
Status SubgraphReader::BindOwnStates() {
  for (int32_t tensor = 0; tensor < tensors_.count(); ++tensor) {
    if (!tensors_.IsState(tensor) || sources_[tensor] != Source::kNone) continue;
    HEARTH_ASSIGN(TensorDesc desc, tensors_.Describe(tensor));
    const std::string name = NameOfOwnState(tensor);
    reading_.own_variables.emplace(name, std::move(desc));
    HEARTH_ASSIGN(const ValueId now, CurrentValue(0, name));
    HEARTH_TRY(tensors_.Bind(tensor, now));
  }
  return Status::Ok();
}

// Within a part of a loop on the host, a variable's content comes from outside the loop.
Result<ValueId> SubgraphReader::BeginInLoop(const std::string& name) {
  const TensorDesc* found = IsOwn(name) ? &reading_.own_variables.at(name) : HeldOutside(reading_, name);
  if (found == nullptr) {
    return Error(StatusCode::kUnsupported,
                 "variable '{}' has no value before a loop whose end depends on data: assign to it before the loop",
                 name);
  }
  // Copies of the name: for the value, the variables and two lists.
  if (!budget_.Charge(4 * name.size()) || !budget_.ChargeScales(*found)) return CopyBudget::Exceeded("a loop");
  if (found->shape.element_count() == 0) {  // it never changes
    const ValueId none = graph_.AddConstantValue(name, *found, {});
    reading_.variables[name] = {.first = none, .begun = none, .current = none};
    return none;
  }
  std::vector<std::string>& names = reading_.loop_variables;
  // The input may exist from iterations that were written out and undone.
  const auto [known, is_new] = reading_.loop_place_of.try_emplace(name, names.size());
  if (is_new) {
    names.push_back(name);
    graph_.inputs.push_back(graph_.AddValue({name, *found, std::nullopt}));
  }
  const ValueId input = graph_.inputs[graph_.inputs.size() - names.size() + known->second];
  reading_.variables[name] = {.first = input, .begun = input, .current = input};
  return input;
}

Result<ValueId> SubgraphReader::CurrentValue(int index, const std::string& name) {
  Variable& variable = reading_.variables[name];
  if (variable.current != kNoValue) return variable.current;
  const bool is_fresh = IsOwn(name) && reading_.fresh_calls > 0;
  if (reading_.outer != nullptr && !is_fresh) return BeginInLoop(name);
  if (variable.first == kNoValue && IsOwn(name)) {
    HEARTH_ASSIGN(variable.first, AddZeros(name));
  }
  if (is_fresh) return variable.begun = variable.current = variable.first;
  if (variable.first == kNoValue) {
    return Error(StatusCode::kUnsupported, "it reads variable '{}' before anything was assigned to it", name);
  }
  if (reading_.is_initializing || !ChangesVariable(name)) return variable.first;
  return BeginState(index, name);
}

Status SubgraphReader::Assign(const std::string& name, ValueId value) {
  if (reading_.outer != nullptr && reading_.variables[name].current == kNoValue) HEARTH_TRY(BeginInLoop(name).status());
  Variable& variable = reading_.variables[name];
  if (reading_.is_initializing && !graph_.IsConstant(value)) {
    return Error(StatusCode::kUnsupported,
                 "the first value of variable '{}' cannot be calculated when the model is read", name);
  }
  if (reading_.is_initializing) {
    variable.first = value;
    return Status::Ok();
  }
  if (variable.first != kNoValue && graph_.value(variable.first).desc != graph_.value(value).desc) {
    const TensorDesc &before = graph_.value(variable.first).desc, &now = graph_.value(value).desc;
    return Error(StatusCode::kUnsupported,
                 "variable '{}' begins as {}[{}] and becomes {}[{}]: it must keep its type, shape and scale", name,
                 DTypeName(before.dtype), before.shape.ToString(), DTypeName(now.dtype), now.shape.ToString());
  }
  variable.current = value;
  return Status::Ok();
}

// Before conditional operators: gives each variable that an operator changes a content on both branches.
Status SubgraphReader::BeginStates(int index) {
  std::vector<std::string> names;
  for (const auto& [name, variable] : reading_.variables) {
    const bool has_begun = variable.current != kNoValue || variable.first == kNoValue;
    if (!has_begun && !IsOwn(name) && ChangesVariable(name)) names.push_back(name);
  }
  for (const std::string& name : names) HEARTH_TRY(CurrentValue(index, name).status());
  return Status::Ok();
}

Status SubgraphReader::ChooseVariables(int index, ValueId condition, const Variables& if_true, Variables if_false) {
  HEARTH_TRY(reading_.ChargeSteps(2 * (if_true.size() + if_false.size())));
  Variables chosen = if_true;
  KeepBegun(if_false, chosen);
  KeepBegun(if_true, if_false);
  for (const auto& [name, other] : if_false) {
    chosen.try_emplace(name, Variable{.first = other.first, .state = other.state});
  }
  for (auto& [name, variable] : chosen) {
    const auto found = if_false.find(name);
    const ValueId other = found == if_false.end() ? kNoValue : found->second.current;
    if (variable.current == other) continue;
    if (variable.current == kNoValue || other == kNoValue) {
      return Error(StatusCode::kUnsupported,
                   "whether it assigns to variable '{}', which holds nothing before, depends "
                   "on data",
                   name.text());
    }
    HEARTH_ASSIGN(variable.current, AddChoice(index, condition, variable.current, other));
  }
  reading_.variables = std::move(chosen);
  return Status::Ok();
}

// What an input or constant is, as the next content of `variable`: a node must make that. It has the variable's name,
// since the same input may be assigned to many, and may have a long one.
ValueId SubgraphReader::AddNextContent(const Variable& variable) {
  const Value& state = graph_.value(variable.state);
  const ValueId next = graph_.AddValue({state.name + "_next", state.desc, std::nullopt});
  graph_.AddNode({.op = Unary{.kind = UnaryKind::kCopy}, .inputs = {variable.current}, .outputs = {next}});
  return next;
}

// Adds the states that variables became, with their content at the end of a run.
void SubgraphReader::FinishVariables() {
  const std::vector<int> producers = graph_.Producers();
  for (const auto& [name, variable] : reading_.variables) {
    if (variable.state == kNoValue) continue;
    const bool is_made = producers[static_cast<size_t>(variable.current)] >= 0;
    graph_.states.push_back({variable.state, is_made ? variable.current : AddNextContent(variable)});
  }
  if (reading_.was_run == kNoValue) return;
  const TensorDesc desc = graph_.value(reading_.was_run).desc;
  const ValueId yes = graph_.AddConstantValue("yes", desc, {std::byte{1}});
  const ValueId set = graph_.AddValue({"variables_are_set", desc, std::nullopt});
  graph_.AddNode({.op = Binary{.kind = BinaryKind::kLogicalOr}, .inputs = {reading_.was_run, yes}, .outputs = {set}});
  graph_.states.push_back({reading_.was_run, set});
}

}  // namespace hearth
