#include "frontends/writer/variables.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/evaluate.h"

namespace hearth {
namespace {

bool HoldsZeros(const Graph& graph, ValueId constant) {
  const Result<std::vector<std::byte>> zeros = BytesOfZeros(graph.value(constant).desc);
  return zeros.ok() && std::ranges::equal(*zeros, graph.ConstantBytes(constant));
}

}  // namespace

void Variables::Declare(const std::string& name, const TensorDesc& desc) {
  Own().emplace(name, desc);
}

Made Variables::AddHandle(const std::string& name, const TensorDesc& desc) {
  if (!to_.budget().copies.Charge(3 * name.size())) return CopyBudget::Exceeded("a handle of a variable");
  const ValueId handle = to_.graph().AddConstantValue(name + "_handle", desc, std::vector<std::byte>(sizeof(int32_t)));
  to_.marks().handles.emplace(handle, name);
  handle_of_.emplace(name, handle);
  return handle;
}

ValueId Variables::HandleOf(const std::string& name) const {
  const auto found = handle_of_.find(name);
  return found == handle_of_.end() ? kNoValue : found->second;
}

bool Variables::IsChanged(const std::string& name) {
  if (outer_ != nullptr) return outer_->IsChanged(name);
  return IsOwn(name) || (changes_ && changes_(name));
}

// The description of a variable's content outside of the loop.
const TensorDesc* Variables::DescOutside(const std::string& name) const {
  for (const Variables* outer = outer_; outer != nullptr; outer = outer->outer_) {
    const auto found = outer->contents_.find(name);
    if (found == outer->contents_.end()) continue;
    const Content& variable = found->second;
    const ValueId value = variable.current == kNoValue ? variable.first : variable.current;
    if (value != kNoValue) return &outer->to_.desc(value);
  }
  return nullptr;
}

Result<Variables::Contents> Variables::Copy() {
  HEARTH_TRY(to_.budget().ChargeSteps(contents_.size()));
  return contents_;
}

void Variables::KeepBegun(const Contents& from, Contents& to) {
  for (const auto& [name, variable] : from) {
    if (variable.begun == kNoValue) continue;
    Content& other = to[name];
    if (other.begun != kNoValue) continue;
    const ValueId current = other.current;
    other = variable;
    other.current = current == kNoValue ? variable.begun : current;
  }
}

// A state that is false until a run has ended.
ValueId Variables::WasRun() {
  if (was_run_ == kNoValue) {
    was_run_ = to_.graph().AddValue({"variables_were_set", PlainType(DType::kBool), std::nullopt});
  }
  return was_run_;
}

// The variable's content when a run begins. States begin with zeros, so the first run selects other initial values.
Made Variables::BeginState(const std::string& name, Content& variable) {
  const ValueId first = variable.first;
  const TensorDesc desc = to_.desc(first);
  if (to_.IsEmpty(first)) return variable.begun = variable.current = first;  // and never changes
  HEARTH_TRY(to_.budget().ChargeState(desc, fmt::format("variable '{}'", name)));
  // A refused operator begins it in vain, and the next one again.
  CopyBudget& copies = to_.budget().copies;
  if (!copies.Charge(name.size()) || !copies.ChargeScales(desc)) return CopyBudget::Exceeded("a variable");
  const ValueId state = to_.graph().AddValue({name, desc, std::nullopt});
  HEARTH_ASSIGN(const ValueId begun,
                HoldsZeros(to_.graph(), first) ? Made(state) : to_.AddAs(Select{}, {WasRun(), state, first}, desc));
  variable.state = state;
  return variable.begun = variable.current = begun;
}

Made Variables::AddZeros(const std::string& name) {
  const TensorDesc& desc = Own().at(name);
  if (!to_.budget().ChargeMade(desc.size_bytes())) {
    return Error(StatusCode::kUnsupported, "variable '{}' begins with {} bytes of zeros", name, desc.size_bytes());
  }
  HEARTH_ASSIGN(std::vector<std::byte> zeros, BytesOfZeros(desc));
  return to_.graph().AddConstantValue(name + "_first", desc, std::move(zeros));
}

Result<Variables::Contents> Variables::BeginFresh() {
  HEARTH_TRY(to_.budget().ChargeSteps(2 * Own().size()));
  Contents before;
  for (const auto& [name, desc] : Own()) {
    const auto found = contents_.find(name);
    if (found == contents_.end()) continue;
    before.emplace_hint(before.end(), found->first, found->second);  // shares the name
    const ValueId first = found->second.first;  // within a part of a loop: the content from outside
    found->second = {.first = to_.IsConstant(first) ? first : kNoValue};
  }
  ++fresh_parts_;
  return before;
}

void Variables::EndFresh(const Contents& before) {
  --fresh_parts_;
  for (const auto& [name, desc] : Own()) {
    const auto found = before.find(name);
    Content& variable = contents_[name];
    const ValueId first = variable.first;
    variable = found == before.end() ? Content() : found->second;
    if (variable.first == kNoValue && !is_initializing_) variable.first = first;
  }
}

Made Variables::BeginInLoop(const std::string& name) {
  const TensorDesc* found = IsOwn(name) ? &Own().at(name) : DescOutside(name);
  if (found == nullptr) {
    return Error(StatusCode::kUnsupported,
                 "variable '{}' has no value before a loop whose end depends on data: assign to it before the loop",
                 name);
  }
  // Copies of the name: for the value, the variables and two lists.
  CopyBudget& copies = to_.budget().copies;
  if (!copies.Charge(4 * name.size()) || !copies.ChargeScales(*found)) return CopyBudget::Exceeded("a loop");
  Graph& graph = to_.graph();
  ValueId input = kNoValue;
  if (found->shape.element_count() == 0) {  // it never changes
    input = graph.AddConstantValue(name, *found, {});
  } else {
    // The input may exist from iterations that were written out and undone.
    const auto [known, is_new] = loop_places_.try_emplace(name, loop_names_.size());
    if (is_new) {
      loop_names_.push_back(name);
      to_.AddInput(name, *found);
    }
    input = graph.inputs[graph.inputs.size() - loop_names_.size() + known->second];
  }
  contents_[name] = {.first = input, .begun = input, .current = input};
  return input;
}

Made Variables::Read(const std::string& name) {
  Content& variable = contents_[name];
  if (variable.current != kNoValue) return variable.current;
  const bool is_fresh = IsOwn(name) && fresh_parts_ > 0;
  if (outer_ != nullptr && !is_fresh) return BeginInLoop(name);
  if (variable.first == kNoValue && IsOwn(name)) {
    HEARTH_ASSIGN(variable.first, AddZeros(name));
  }
  if (is_fresh) return variable.begun = variable.current = variable.first;
  if (variable.first == kNoValue) {
    return Error(StatusCode::kUnsupported, "it reads variable '{}' before anything was assigned to it", name);
  }
  if (is_initializing_ || !IsChanged(name)) return variable.first;
  return BeginState(name, variable);
}

Status Variables::Assign(const std::string& name, ValueId value) {
  if (outer_ != nullptr && contents_[name].current == kNoValue) HEARTH_TRY(BeginInLoop(name).status());
  Content& variable = contents_[name];
  if (is_initializing_ && !to_.IsConstant(value)) {
    return Error(StatusCode::kUnsupported,
                 "the first value of variable '{}' cannot be calculated when the model is read", name);
  }
  if (is_initializing_) {
    variable.first = value;
    return Status::Ok();
  }
  if (variable.first != kNoValue && to_.desc(variable.first) != to_.desc(value)) {
    const TensorDesc &before = to_.desc(variable.first), &now = to_.desc(value);
    return Error(StatusCode::kUnsupported,
                 "variable '{}' begins as {}[{}] and becomes {}[{}]: it must keep its type, shape and scale", name,
                 DTypeName(before.dtype), before.shape.ToString(), DTypeName(now.dtype), now.shape.ToString());
  }
  variable.current = value;
  return Status::Ok();
}

Status Variables::BeginAll() {
  std::vector<std::string> names;
  for (const auto& [name, variable] : contents_) {
    const bool has_begun = variable.current != kNoValue || variable.first == kNoValue;
    if (!has_begun && !IsOwn(name) && IsChanged(name)) names.push_back(name);
  }
  for (const std::string& name : names) HEARTH_TRY(Read(name).status());
  return Status::Ok();
}

void Variables::Finish() {
  Graph& graph = to_.graph();
  const std::vector<int> producers = graph.Producers();
  for (const auto& [name, variable] : contents_) {
    if (variable.state == kNoValue) continue;
    ValueId next = variable.current;
    if (producers[static_cast<size_t>(next)] < 0) {
      // An input or constant; a node must make a state's content. It has the variable's name, since the same input may
      // be assigned to many, and may have a long one.
      const Value state = graph.value(variable.state);
      next = graph.AddValue({state.name + "_next", state.desc, std::nullopt});
      graph.AddNode({.op = Unary{.kind = UnaryKind::kCopy}, .inputs = {variable.current}, .outputs = {next}});
    }
    graph.states.push_back({variable.state, next});
  }
  if (was_run_ == kNoValue) return;
  const TensorDesc desc = PlainType(DType::kBool);
  const ValueId yes = graph.AddConstantValue("yes", desc, {std::byte{1}});
  const ValueId set = graph.AddValue({"variables_are_set", desc, std::nullopt});
  graph.AddNode({.op = Binary{.kind = BinaryKind::kLogicalOr}, .inputs = {was_run_, yes}, .outputs = {set}});
  graph.states.push_back({was_run_, set});
}

}  // namespace hearth
