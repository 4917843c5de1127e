// Resource variables: CALL_ONCE, VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE. A variable that an operator changes
// becomes a state of the graph. One that only CALL_ONCE writes becomes a constant.
#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_def.h"
#include "frontends/tflite/subgraph_reader.h"

namespace hearth {
namespace {

constexpr int32_t kCallOnce = 129, kVarHandle = 142, kReadVariable = 143, kAssignVariable = 144;

bool IsOnVariable(int32_t code) {
  return code == kCallOnce || code == kVarHandle || code == kReadVariable || code == kAssignVariable;
}

bool HoldsZeros(const Graph& graph, ValueId constant) {
  const Result<std::vector<std::byte>> zeros = BytesOfZeros(graph.value(constant).desc);
  return zeros.ok() && std::ranges::equal(*zeros, graph.ConstantBytes(constant));
}

// A name that is unique to the variable; nothing if the file exceeds its copy budget.
std::optional<std::string> NameOfVariable(const wire::VarHandleOptions& options, CopyBudget& budget) {
  std::string name;
  for (const flatbuffers::String* part : {options.container(), options.shared_name()}) {
    if (part == nullptr || part->size() == 0) continue;
    if (!budget.Charge(2 * size_t{part->size()})) return std::nullopt;
    name += (name.empty() ? "" : "/") + CleanName(part->string_view());
  }
  return name.empty() ? "variable" : name;
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

// Finds which variables the model's operators write, before they are read one by one.
class VariableScan {
 public:
  explicit VariableScan(Reading& reading) : reading_(reading) {
    const auto& subgraphs = *reading.model.subgraphs();
    for (const wire::SubGraph* subgraph : subgraphs) FindInitializations(*subgraph);
    for (uint32_t number = 0; number < subgraphs.size(); ++number) {
      if (!initializations_.contains(static_cast<int32_t>(number))) FindChanged(*subgraphs.Get(number));
    }
  }
  std::set<std::string> changed() && { return std::move(changed_); }

 private:
  int32_t CodeOf(const wire::Operator& op) const {
    if (op.opcode_index() >= reading_.codes.size()) return -1;
    const OperatorRow* row = reading_.codes[op.opcode_index()].row;
    return row == nullptr ? -1 : row->code;
  }
  void FindInitializations(const wire::SubGraph& subgraph) {
    if (subgraph.operators() == nullptr) return;
    for (const wire::Operator* op : *subgraph.operators()) {
      const auto* options = CodeOf(*op) == kCallOnce ? op->builtin_options_as_CallOnceOptions() : nullptr;
      if (options != nullptr) initializations_.insert(options->init_subgraph_index());
    }
  }
  void FindChanged(const wire::SubGraph& subgraph) {
    if (subgraph.operators() == nullptr) return;
    std::map<int32_t, std::string> names;  // by the tensor of the handle
    for (const wire::Operator* op : *subgraph.operators()) {
      const int32_t code = CodeOf(*op);
      if (code == kVarHandle && op->outputs() != nullptr && op->outputs()->size() == 1) {
        const auto* options = op->builtin_options_as_VarHandleOptions();
        const auto name = options == nullptr ? std::nullopt : NameOfVariable(*options, reading_.copies);
        if (name) names.emplace(op->outputs()->Get(0), *name);
      } else if (code == kAssignVariable && op->inputs() != nullptr && op->inputs()->size() > 0) {
        const auto found = names.find(op->inputs()->Get(0));
        changed_.insert(found == names.end() ? "*" : found->second);  // "*": the caller's handle, of any variable
      }
    }
  }

  Reading& reading_;
  std::set<int32_t> initializations_;
  std::set<std::string> changed_;
};

}  // namespace

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

bool SubgraphReader::ChangesVariable(const std::string& name) {
  if (IsOwn(name)) return true;
  if (!reading_.changed_variables) reading_.changed_variables = VariableScan(reading_).changed();
  return reading_.changed_variables->contains(name) || reading_.changed_variables->contains("*");
}

// The constant for a handle holds zeros; `reading_.handles` has the variable's name.
Result<ValueId> SubgraphReader::HandleOf(int index) {
  const auto* options = op(index).builtin_options_as_VarHandleOptions();
  if (options == nullptr) return Error(StatusCode::kUnsupported, "it names no variable");
  std::optional<std::string> found = NameOfVariable(*options, budget_);
  if (!found) return CopyBudget::Exceeded(OperatorLabel(index));
  std::string name = *std::move(found);
  for (const auto& [handle, known] : reading_.handles) {
    if (known == name) return handle;
  }
  const ValueId handle =
      graph_.AddConstantValue(name + "_handle", {DType::kInt32, Shape(), std::nullopt}, std::vector<std::byte>(4));
  reading_.handles.emplace(handle, std::move(name));
  return handle;
}

Result<std::string> SubgraphReader::VariableBehind(int32_t tensor) {
  HEARTH_ASSIGN(const ValueId handle, tensors_.ValueOf(tensor));
  const auto found = reading_.handles.find(handle);
  if (found != reading_.handles.end()) return found->second;
  return Error(StatusCode::kMalformedInput, "{} is not a handle of a variable", tensors_.Label(tensor));
}

// Another operator would read the handle's number.
Status SubgraphReader::CheckNoHandles(int index, std::span<const int32_t> inputs) {
  if (reading_.handles.empty()) return Status::Ok();
  for (const int32_t tensor : inputs) {
    if (tensor == -1 || !tensors_.IsMade(tensor)) continue;
    HEARTH_ASSIGN(const ValueId value, tensors_.ValueOf(tensor));
    if (!IsHandle(value)) continue;
    return Error(StatusCode::kMalformedInput, "{} reads {}, a handle of a variable, as numbers", OperatorLabel(index),
                 tensors_.Label(tensor));
  }
  return Status::Ok();
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
// subgraphs again whenever it runs the operator.
void SubgraphReader::BeginFreshCall() {
  for (const auto& [name, desc] : reading_.own_variables) {
    const auto found = reading_.variables.find(name);
    if (found == reading_.variables.end()) continue;
    const ValueId first = found->second.first;  // within a part of a loop: the content from outside
    found->second = {.first = graph_.IsConstant(first) ? first : kNoValue};
  }
  ++reading_.fresh_calls;
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
  if (found->shape.element_count() == 0) {  // it never changes
    const ValueId none = graph_.AddConstantValue(name, *found, {});
    reading_.variables[name] = {.first = none, .begun = none, .current = none};
    return none;
  }
  std::vector<std::string>& names = reading_.loop_variables;
  // The input may exist from iterations that were written out and undone.
  const auto place = static_cast<size_t>(std::ranges::find(names, name) - names.begin());
  if (place == names.size()) {
    names.push_back(name);
    graph_.inputs.push_back(graph_.AddValue({name, *found, std::nullopt}));
  }
  const ValueId input = graph_.inputs[graph_.inputs.size() - names.size() + place];
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
                   name);
    }
    HEARTH_ASSIGN(variable.current, AddChoice(index, condition, variable.current, other));
  }
  reading_.variables = std::move(chosen);
  return Status::Ok();
}

Status SubgraphReader::ReadCallOnce(int index) {
  const auto* options = op(index).builtin_options_as_CallOnceOptions();
  if (options == nullptr) return Error(StatusCode::kUnsupported, "it names no subgraph to call");
  if (!reading_.initializations.insert(options->init_subgraph_index()).second) return Status::Ok();
  const bool was_initializing = std::exchange(reading_.is_initializing, true);
  const Status status = Call(index, options->init_subgraph_index(), {}).status();
  reading_.is_initializing = was_initializing;
  return status;
}

// The operator's result: nothing, a handle, or a variable's content.
Result<std::vector<ValueId>> SubgraphReader::ReadOnVariable(int index, int32_t code, std::span<const int32_t> inputs) {
  if (code == kCallOnce) {
    if (reading_.outer != nullptr) {
      return Error(StatusCode::kUnsupported,
                   "variables get their first values in a loop whose end depends on data: assign them before the loop");
    }
    HEARTH_TRY(ReadCallOnce(index));
    return std::vector<ValueId>();
  }
  if (code == kVarHandle) {
    HEARTH_ASSIGN(const ValueId handle, HandleOf(index));
    return std::vector{handle};
  }
  if (inputs.size() != (code == kReadVariable ? 1 : 2) || std::ranges::count(inputs, -1) > 0) {
    return Error(StatusCode::kMalformedInput, "it has {} inputs", inputs.size());
  }
  HEARTH_ASSIGN(const std::string name, VariableBehind(inputs[0]));
  if (code == kReadVariable) {
    HEARTH_ASSIGN(const ValueId current, CurrentValue(index, name));
    return std::vector{current};
  }
  HEARTH_ASSIGN(const ValueId value, InputValue(Op(Unary{}), inputs[1]));
  if (IsHandle(value)) return Error(StatusCode::kMalformedInput, "it assigns a handle of a variable");
  if (RowsOf(value) != kNoValue) {
    return Error(StatusCode::kUnsupported, "the assigned value has a number of rows that depends on data");
  }
  HEARTH_TRY(Assign(name, value));
  return std::vector<ValueId>();
}

// True if the operator works on variables; an UnknownOp says why it cannot be read.
Result<bool> SubgraphReader::ReadVariableOperator(int index, const std::vector<int32_t>& inputs,
                                                  const std::vector<int32_t>& outputs) {
  const OperatorRow* row = CodeOf(index).row;
  if (row == nullptr || !IsOnVariable(row->code)) return false;
  const size_t first_node = graph_.nodes().size();
  Variables before = reading_.variables;
  HEARTH_TRY(FinishMade(index, inputs, outputs, ReadOnVariable(index, row->code, inputs), first_node));
  const bool is_refused =
      graph_.nodes().size() > first_node && std::holds_alternative<UnknownOp>(graph_.nodes().back().op);
  if (is_refused) reading_.variables = std::move(before);  // undoes its changes
  return true;
}

// Adds the states that variables became, with their content at the end of a run.
void SubgraphReader::FinishVariables() {
  for (const auto& [name, variable] : reading_.variables) {
    if (variable.state == kNoValue) continue;
    const bool is_made = graph_.ProducerOf(variable.current) >= 0;
    graph_.states.push_back({variable.state, is_made ? variable.current : AddCopy(variable.current)});
  }
  if (reading_.was_run == kNoValue) return;
  const TensorDesc desc = graph_.value(reading_.was_run).desc;
  const ValueId yes = graph_.AddConstantValue("yes", desc, {std::byte{1}});
  const ValueId set = graph_.AddValue({"variables_are_set", desc, std::nullopt});
  graph_.AddNode({.op = Binary{.kind = BinaryKind::kLogicalOr}, .inputs = {reading_.was_run, yes}, .outputs = {set}});
  graph_.states.push_back({reading_.was_run, set});
}

}  // namespace hearth
