// Resource variables: CALL_ONCE, VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE. A variable that an operator changes
// becomes a state of the graph. One that only CALL_ONCE writes becomes a constant.
#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "frontends/tflite/op_readers.h"
#include "frontends/writer/names.h"
#include "frontends/writer/rows.h"

namespace hearth {
namespace {

// No converter writes longer names, and many values are named after a variable.
constexpr size_t kMostNameBytes = 1000;
constexpr size_t kMostVariables = 4096;  // branches and loops copy what all of them hold
constexpr int32_t kCallOnce = 129, kVarHandle = 142, kAssignVariable = 144;

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

// The variables that operators outside of initializations assign to, before they are read one by one; "*" stands for
// all.
std::set<std::string> FindChanged(const Reading& reading) {
  const auto& subgraphs = *reading.model.subgraphs();
  std::set<int32_t> initializations;
  for (const wire::SubGraph* subgraph : subgraphs) {
    for (uint32_t k = 0; subgraph->operators() != nullptr && k < subgraph->operators()->size(); ++k) {
      const wire::Operator& op = *subgraph->operators()->Get(k);
      const auto* options = reading.CodeOf(op) == kCallOnce ? op.builtin_options_as_CallOnceOptions() : nullptr;
      if (options != nullptr) initializations.insert(options->init_subgraph_index());
    }
  }
  std::set<std::string> changed;
  for (uint32_t number = 0; number < subgraphs.size(); ++number) {
    const auto* operators = subgraphs.Get(number)->operators();
    if (operators == nullptr || initializations.contains(static_cast<int32_t>(number))) continue;
    std::map<int32_t, std::string> names;  // by the tensor of the handle
    for (const wire::Operator* op : *operators) {
      const int32_t code = reading.CodeOf(*op);
      if (code == kVarHandle && op->outputs() != nullptr && op->outputs()->size() == 1) {
        const auto* options = op->builtin_options_as_VarHandleOptions();
        const auto name = options == nullptr ? std::nullopt : NameOfVariable(*options, reading.budget.copies);
        if (name) names.emplace(op->outputs()->Get(0), *name);
      } else if (code == kAssignVariable && op->inputs() != nullptr && op->inputs()->size() > 0) {
        const auto found = names.find(op->inputs()->Get(0));
        changed.insert(found == names.end() ? "*" : found->second);  // "*": the caller's handle, of any variable
      }
    }
  }
  return changed;
}

// The variable behind an operand.
Result<std::string> VariableBehind(const OperatorView& op) {
  const auto& handles = op.to().marks().handles;
  if (const auto found = handles.find(op.operand(0)); found != handles.end()) return found->second;
  return Error(StatusCode::kMalformedInput, "{} is not a handle of a variable", op.InputLabel(0));
}

}  // namespace

bool ChangesVariable(Reading& reading, const std::string& name) {
  if (!reading.changed_variables) reading.changed_variables = FindChanged(reading);
  return reading.changed_variables->contains(name) || reading.changed_variables->contains("*");
}

// The constant for a handle holds zeros.
Expanded ExpandVarHandle(OperatorView& op, GraphWriter& to) {
  const auto* options = op.op().builtin_options_as_VarHandleOptions();
  if (options == nullptr) return Error(StatusCode::kUnsupported, "it names no variable");
  const std::optional<std::string> name = NameOfVariable(*options, to.budget().copies);
  if (!name) return CopyBudget::Exceeded("its name");
  if (name->size() > kMostNameBytes) {
    return Error(StatusCode::kUnsupported, "its variable's name has {} bytes, at most {} are possible: rename it",
                 name->size(), kMostNameBytes);
  }
  Variables& variables = to.variables();
  if (const ValueId known = variables.HandleOf(*name); known != kNoValue) return std::vector{known};
  if (variables.handle_count() >= kMostVariables) {
    return Error(StatusCode::kUnsupported, "it has more than {} variables: make those constants that nothing assigns",
                 kMostVariables);
  }
  return OneValue(variables.AddHandle(*name, PlainType(DType::kInt32)));
}

Expanded ExpandCallOnce(OperatorView& op, GraphWriter& to) {
  if (to.outer() != nullptr) {
    return Error(StatusCode::kUnsupported,
                 "variables get their first values in a loop whose end depends on data: assign them before the loop");
  }
  const auto* options = op.op().builtin_options_as_CallOnceOptions();
  if (options == nullptr) return Error(StatusCode::kUnsupported, "it names no subgraph to call");
  if (!op.reading().initializations.insert(options->init_subgraph_index()).second) return std::vector<ValueId>();
  const bool was_initializing = to.variables().SetInitializing(true);
  const Status status = CallSubgraph(op.reading(), to, options->init_subgraph_index(), {}).status();
  to.variables().SetInitializing(was_initializing);
  HEARTH_TRY(status);
  return std::vector<ValueId>();
}

// (handle)
Expanded ExpandReadVariable(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const std::string name, VariableBehind(op));
  return OneValue(to.variables().Read(name));
}

// (handle, value)
Expanded ExpandAssignVariable(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const std::string name, VariableBehind(op));
  const ValueId value = op.operand(1);
  if (to.marks().IsHandle(value)) {
    return Error(StatusCode::kMalformedInput, "it assigns a handle of a variable");
  }
  if (HaveRows(to, {&value, 1})) {
    return Error(StatusCode::kUnsupported, "the assigned value has a number of rows that depends on data");
  }
  HEARTH_TRY(to.variables().Assign(name, value));
  return std::vector<ValueId>();
}

}  // namespace hearth
