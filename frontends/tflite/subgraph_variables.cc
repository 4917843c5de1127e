// Resource variables: CALL_ONCE, VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE. A variable that an operator changes
// becomes a state of the graph. One that only CALL_ONCE writes becomes a constant.
#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "frontends/tflite/subgraph_reader.h"

namespace hearth {
namespace {

// No converter writes longer names, and many values are named after a variable.
constexpr size_t kMostNameBytes = 1000;
constexpr size_t kMostVariables = 4096;  // branches and loops copy what all of them hold
constexpr int32_t kCallOnce = 129, kVarHandle = 142, kReadVariable = 143, kAssignVariable = 144;

bool IsOnVariable(int32_t code) {
  return code == kCallOnce || code == kVarHandle || code == kReadVariable || code == kAssignVariable;
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
  const std::string& name = *found;
  if (name.size() > kMostNameBytes) {
    return Error(StatusCode::kUnsupported, "its variable's name has {} bytes, at most {} are possible: rename it",
                 name.size(), kMostNameBytes);
  }
  if (const auto known = reading_.handle_of.find(name); known != reading_.handle_of.end()) return known->second;
  if (reading_.handle_of.size() >= kMostVariables) {
    return Error(StatusCode::kUnsupported, "it has more than {} variables: make those constants that nothing assigns",
                 kMostVariables);
  }
  return AddHandle(name, {DType::kInt32, Shape(), std::nullopt});
}

Result<ValueId> SubgraphReader::AddHandle(const std::string& name, const TensorDesc& desc) {
  if (!budget_.Charge(3 * name.size())) return CopyBudget::Exceeded("a handle of a variable");
  const ValueId handle = graph_.AddConstantValue(name + "_handle", desc, std::vector<std::byte>(sizeof(int32_t)));
  reading_.handles.emplace(handle, name);
  reading_.handle_of.emplace(name, handle);
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

Status SubgraphReader::ReadCallOnce(int index) {
  const auto* options = op(index).builtin_options_as_CallOnceOptions();
  if (options == nullptr) return Error(StatusCode::kUnsupported, "it names no subgraph to call");
  if (!reading_.initializations.insert(options->init_subgraph_index()).second) return Status::Ok();
  HEARTH_ASSIGN(Variables before, reading_.CopyVariables());
  const bool was_initializing = std::exchange(reading_.is_initializing, true);
  const Status status = Call(index, options->init_subgraph_index(), {}).status();
  reading_.is_initializing = was_initializing;
  if (!status.ok()) reading_.variables = std::move(before);
  return status;
}

// The operator's result: nothing, a handle, or a variable's content. `before`: the one variable that READ_VARIABLE and
// ASSIGN_VARIABLE may change, as it is now.
Result<std::vector<ValueId>> SubgraphReader::ReadOnVariable(int index, int32_t code, std::span<const int32_t> inputs,
                                                            std::optional<NamedVariable>& before) {
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
  before.emplace(name, reading_.variables[name]);
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
  std::optional<NamedVariable> before;
  const Result<std::vector<ValueId>> made = ReadOnVariable(index, row->code, inputs, before);
  // An UnknownOp cannot make a handle: no value has its type.
  if (!made.ok() && row->code == kVarHandle) return made.status().Within(OperatorLabel(index));
  HEARTH_TRY(FinishMade(index, inputs, outputs, made, first_node));
  if (before && IsRefused(first_node)) reading_.variables[before->first] = before->second;
  return true;
}

}  // namespace hearth
