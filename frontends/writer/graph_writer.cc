#include "frontends/writer/graph_writer.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "frontends/writer/names.h"
#include "frontends/writer/rows.h"

namespace hearth {
namespace {

// The most branches that are computed to select one at run time.
constexpr uint32_t kMostBranches = 256;

}  // namespace

Made GraphWriter::AddWithRunCount(const std::string& name, Op op, std::vector<ValueId> inputs, DType dtype) {
  variables_.Declare(name, {DType::kInt32, {1}, std::nullopt});
  HEARTH_ASSIGN(const ValueId runs, variables_.Read(name));
  inputs.push_back(runs);
  HEARTH_ASSIGN(const std::vector<ValueId> made,
                AddSeveral(std::move(op), std::move(inputs), {PlainType(dtype), PlainType(DType::kInt32)}));
  HEARTH_TRY(variables_.Assign(name, made[1]));
  return made[0];
}

Status GraphWriter::Finish() {
  HEARTH_TRY(AddRowOutputs(*this));
  variables_.Finish();
  graph().shape_inputs.assign(shape_inputs().begin(), shape_inputs().end());
  return Status::Ok();
}

Result<std::optional<bool>> GraphWriter::KnownCondition(ValueId id) const {
  if (desc(id).dtype != DType::kBool || shape(id).element_count() != 1) {
    return Error(StatusCode::kMalformedInput, "its condition '{}' is {}[{}], not one bool", graph().value(id).name,
                 DTypeName(desc(id).dtype), shape(id).ToString());
  }
  if (!IsConstant(id)) return std::optional<bool>();
  return std::optional(graph().ConstantBytes(id)[0] != std::byte{0});
}

Made GraphWriter::AddChoice(ValueId condition, ValueId if_true, ValueId if_false) {
  if (if_true == if_false) return if_true;
  const TensorDesc a = desc(if_true), &b = desc(if_false);
  const OpenDimension of_true = marks().OpenOf(if_true), of_false = marks().OpenOf(if_false);
  const bool is_open = of_true.count != kNoValue || of_false.count != kNoValue;
  if (a == b && !is_open) return AddAs(Select{}, {condition, if_true, if_false}, a);
  OpenDimension open = of_true.count == kNoValue ? of_false : of_true;
  for (int d = 0; !is_open && d < std::min(a.shape.rank(), b.shape.rank()); ++d) {
    if (a.shape[d] != b.shape[d]) open.dim = d;
  }
  Shape fits = a.shape;
  if (a.shape.rank() == b.shape.rank() && a.shape.rank() > 0) fits[open.dim] = b.shape[open.dim];
  const bool is_same = of_true.count == kNoValue || of_false.count == kNoValue || of_true.dim == of_false.dim;
  if (!is_same || fits != b.shape || a.dtype != b.dtype || a.quantization || b.quantization) {
    return Error(
        StatusCode::kUnsupported,
        "its condition is computed from data, and it makes '{}' as {}[{}] or as {}[{}]: both must have the same shape",
        graph().value(if_true).name, DTypeName(a.dtype), a.shape.ToString(), DTypeName(b.dtype), b.shape.ToString());
  }
  // Results of two sizes: as many rows as the branch makes that is taken.
  const size_t first_node = graph().nodes().size();
  const int32_t most = std::max(a.shape[open.dim], b.shape[open.dim]);
  const auto filled = [&](ValueId id, ValueId other) -> Made {
    if (shape(id)[open.dim] == most) return id;
    return IsEmpty(id) ? Made(other) : AddPad(id, open.dim, 0, most - shape(id)[open.dim]);
  };
  const auto count = [&](ValueId id, const OpenDimension& its) -> Made {
    return its.count == kNoValue ? AddNumber(DType::kInt32, shape(id)[open.dim]) : Made(its.count);
  };
  HEARTH_ASSIGN(const ValueId made,
                AddAs(Select{}, {condition, filled(if_true, if_false), filled(if_false, if_true)}, PlainType(a.dtype)));
  HEARTH_ASSIGN(const ValueId rows, Add(Select{}, {condition, count(if_true, of_true), count(if_false, of_false)}));
  CloseRows(*this, first_node);
  return AddRows(*this, made, rows, open.dim);
}

Expanded GraphWriter::AddFresh(const Branch& branch) {
  HEARTH_ASSIGN(const Variables::Contents before, variables_.BeginFresh());
  Expanded made = branch();
  variables_.EndFresh(before);
  return made;
}

Expanded GraphWriter::AddWhere(ValueId condition, const Branch& branch) {
  if (condition == kNoValue) return branch();
  HEARTH_ASSIGN(Variables::Contents before, variables_.Copy());
  HEARTH_ASSIGN(std::vector<ValueId> made, branch());
  HEARTH_TRY(ChooseVariables(condition, variables_.contents(), std::move(before)));
  return made;
}

Status GraphWriter::ChooseVariables(ValueId condition, const Variables::Contents& if_true,
                                    Variables::Contents if_false) {
  HEARTH_TRY(budget().ChargeSteps(2 * (if_true.size() + if_false.size())));
  Variables::Contents chosen = if_true;
  Variables::KeepBegun(if_false, chosen);
  Variables::KeepBegun(if_true, if_false);
  for (const auto& [name, other] : if_false) {
    chosen.try_emplace(name, Variables::Content{.first = other.first, .state = other.state});
  }
  for (auto& [name, variable] : chosen) {
    const auto found = if_false.find(name);
    const ValueId other = found == if_false.end() ? kNoValue : found->second.current;
    if (variable.current == other) continue;
    if (variable.current == kNoValue || other == kNoValue) {
      return Error(StatusCode::kUnsupported,
                   "whether it assigns to variable '{}', which holds nothing before, depends on data", name.text());
    }
    HEARTH_ASSIGN(variable.current, AddChoice(condition, variable.current, other));
    if (HaveRows(*this, {&variable.current, 1})) return NeedsAllRows();
  }
  variables_.Exchange(std::move(chosen));
  return Status::Ok();
}

// Computes both branches and selects between their results by a computed condition.
Expanded GraphWriter::Choose(ValueId condition, const Branch& then_branch, const Branch& else_branch) {
  HEARTH_TRY(variables_.BeginAll());
  HEARTH_ASSIGN(Variables::Contents before, variables_.Copy());
  HEARTH_ASSIGN(const std::vector<ValueId> if_true, then_branch());
  const Variables::Contents then_contents = variables_.Exchange(std::move(before));
  HEARTH_TRY(budget().ChargeSteps(then_contents.size()));
  variables_.KeepBegunOf(then_contents);
  HEARTH_ASSIGN(const std::vector<ValueId> if_false, else_branch());
  if (if_true.size() != if_false.size()) {
    return Error(StatusCode::kMalformedInput, "its branches have {} and {} outputs", if_true.size(), if_false.size());
  }
  HEARTH_ASSIGN(condition, AddScalar(condition));
  HEARTH_TRY(ChooseVariables(condition, then_contents, variables_.Exchange({})));
  std::vector<ValueId> chosen;
  for (size_t k = 0; k < if_true.size(); ++k) {
    HEARTH_ASSIGN(const ValueId value, AddChoice(condition, if_true[k], if_false[k]));
    chosen.push_back(value);
  }
  return chosen;
}

Expanded GraphWriter::AddBranches(ValueId condition, const Branch& then_branch, const Branch& else_branch) {
  HEARTH_ASSIGN(const std::optional<bool> known, KnownCondition(condition));
  if (known) return AddFresh(*known ? then_branch : else_branch);
  Expanded made = Choose(
      condition, [&] { return AddFresh(then_branch); }, [&] { return AddFresh(else_branch); });
  if (!made.ok()) return WithCondition(made.status(), condition);
  return made;
}

// A branch that no run takes with these shapes, such as that of another sample rate, need not fit them.
Status GraphWriter::WithCondition(const Status& failed, ValueId condition) {
  constexpr std::string_view kWayOut = "--constant '";
  if (failed.message().find(kWayOut) != std::string::npos || outer_ != nullptr) return failed;
  std::vector<std::string> names;
  for (const ValueId input : SmallInputsBehind(condition)) names.push_back(ShortName(graph().value(input).name));
  if (names.empty()) return failed;
  return Error(failed.code(), "{}; the input '{}' decides which branch is taken: fix what it holds ({}{}=...')",
               failed.message(), fmt::join(names, "', '"), kWayOut, names[0]);
}

// Branches are written from the last to the first, with a choice after each: what the variables hold is kept for two
// branches at a time, not for all.
Expanded GraphWriter::AddBranches(ValueId number, uint32_t count, const std::function<Expanded(uint32_t)>& branch) {
  const TensorDesc desc = this->desc(number);
  if (desc.dtype != DType::kInt32 || desc.shape.element_count() != 1) {
    return Error(StatusCode::kMalformedInput, "its first operand is {}[{}], not one int32", DTypeName(desc.dtype),
                 desc.shape.ToString());
  }
  const auto fresh = [&](uint32_t k) { return AddFresh([&] { return branch(k); }); };
  if (IsConstant(number)) {
    const auto known = static_cast<int32_t>(LoadElement(DType::kInt32, graph().ConstantBytes(number), 0));
    return fresh(std::min(static_cast<uint32_t>(known), count - 1));
  }
  if (count == 1) return fresh(0);
  if (count > kMostBranches) return Error(StatusCode::kUnsupported, "data select one of {} branches", count);
  HEARTH_TRY(variables_.BeginAll());
  HEARTH_ASSIGN(const Variables::Contents before, variables_.Copy());
  HEARTH_ASSIGN(std::vector<ValueId> chosen, fresh(count - 1));
  for (uint32_t k = count - 1; k-- > 0;) {
    const Made its_number = AddConstant(desc.shape, DType::kInt32, {static_cast<double>(k)});
    HEARTH_ASSIGN(const ValueId is_it, Add(BinaryKind::kEqual, {number, its_number}));
    HEARTH_TRY(budget().ChargeSteps(before.size() + variables_.contents().size()));
    Variables::Contents others = variables_.Exchange(before);
    variables_.KeepBegunOf(others);
    const auto later_branches = [&]() -> Expanded {  // which were written
      variables_.Exchange(std::move(others));
      return chosen;
    };
    HEARTH_ASSIGN(chosen, Choose(
                              is_it, [&] { return fresh(k); }, later_branches));
  }
  return chosen;
}

}  // namespace hearth
