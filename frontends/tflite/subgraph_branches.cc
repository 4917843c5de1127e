// IF and STABLEHLO_CASE: the branch that a constant condition selects, or all branches and a selection among their
// results.
#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "frontends/tflite/refused_operators.h"
#include "frontends/tflite/subgraph_reader.h"

namespace hearth {
namespace {

constexpr int32_t kIfOperator = 118, kCaseOperator = 209;
// The most branches that are computed to select one at run time.
constexpr uint32_t kMostBranches = 256;

}  // namespace

// The value of a constant condition; nothing if it is not constant.
Result<std::optional<bool>> SubgraphReader::KnownCondition(ValueId id) const {
  const TensorDesc& desc = graph_.value(id).desc;
  if (desc.dtype != DType::kBool || desc.shape.element_count() != 1) {
    return Error(StatusCode::kMalformedInput, "its condition '{}' is {}[{}], not one bool", graph_.value(id).name,
                 DTypeName(desc.dtype), desc.shape.ToString());
  }
  if (!graph_.IsConstant(id)) return std::optional<bool>();
  return std::optional(graph_.ConstantBytes(id)[0] != std::byte{0});
}

// Reshapes `value`, which has one element, to a scalar.
Result<ValueId> SubgraphReader::AddScalar(int index, ValueId value) {
  TensorDesc desc = graph_.value(value).desc;
  if (desc.shape.rank() == 0) return value;
  desc.shape = Shape();
  return AddMadeNode(index, Reshape{}, {value}, desc);
}

Result<ValueId> SubgraphReader::AddChoice(int index, ValueId condition, ValueId if_true, ValueId if_false) {
  if (if_true == if_false) return if_true;
  if (RowsOf(if_true) != kNoValue || RowsOf(if_false) != kNoValue) {
    return Error(StatusCode::kUnsupported, "its result has a number of rows that depends on data (WHERE, UNIQUE)");
  }
  const TensorDesc desc = graph_.value(if_true).desc;
  if (desc != graph_.value(if_false).desc) {
    return Error(
        StatusCode::kUnsupported,
        "its condition is computed from data, and it makes '{}' as {}[{}] or as {}[{}]: both must have the same shape",
        graph_.value(if_true).name, DTypeName(desc.dtype), desc.shape.ToString(),
        DTypeName(graph_.value(if_false).desc.dtype), graph_.value(if_false).desc.shape.ToString());
  }
  return AddMadeNode(index, Select{}, {condition, if_true, if_false}, desc);
}

// Computes both branches and selects between their results by a computed condition.
Result<std::vector<ValueId>> SubgraphReader::Choose(int index, ValueId condition, const Branch& then_branch,
                                                    const Branch& else_branch) {
  HEARTH_TRY(BeginStates(index));
  HEARTH_ASSIGN(Variables before, reading_.CopyVariables());
  HEARTH_ASSIGN(const std::vector<ValueId> if_true, then_branch());
  const Variables then_variables = std::exchange(reading_.variables, std::move(before));
  HEARTH_TRY(reading_.ChargeSteps(then_variables.size()));
  KeepBegun(then_variables, reading_.variables);
  HEARTH_ASSIGN(const std::vector<ValueId> if_false, else_branch());
  if (if_true.size() != if_false.size()) {
    return Error(StatusCode::kMalformedInput, "its branches have {} and {} outputs", if_true.size(), if_false.size());
  }
  HEARTH_ASSIGN(condition, AddScalar(index, condition));
  HEARTH_TRY(ChooseVariables(index, condition, then_variables, std::move(reading_.variables)));
  std::vector<ValueId> chosen;
  for (size_t k = 0; k < if_true.size(); ++k) {
    HEARTH_ASSIGN(const ValueId value, AddChoice(index, condition, if_true[k], if_false[k]));
    chosen.push_back(value);
  }
  return chosen;
}

Result<std::vector<ValueId>> SubgraphReader::ReadIf(int index, std::span<const ValueId> operands) {
  const auto* options = op(index).builtin_options_as_IfOptions();
  if (options == nullptr || operands.empty()) return Error(StatusCode::kUnsupported, "{}", WhyRefused(kIfOperator));
  HEARTH_ASSIGN(const std::optional<bool> known, KnownCondition(operands[0]));
  const auto branch = [&](int32_t subgraph) { return CallFresh(index, subgraph, operands.subspan(1)); };
  if (known) return branch(*known ? options->then_subgraph_index() : options->else_subgraph_index());
  return Choose(
      index, operands[0], [&] { return branch(options->then_subgraph_index()); },
      [&] { return branch(options->else_subgraph_index()); });
}

// The branch whose number is the first operand; any other number selects the last branch. Branches are read from the
// last to the first, with a choice after each: what the variables hold is kept for two branches at a time, not for all.
Result<std::vector<ValueId>> SubgraphReader::ReadCase(int index, std::span<const ValueId> operands) {
  const auto* options = op(index).builtin_options_2_as_StablehloCaseOptions();
  const auto* branches = options == nullptr ? nullptr : options->branch_subgraph_indices();
  const uint32_t count = branches == nullptr ? 0 : branches->size();
  if (count == 0 || operands.empty()) return Error(StatusCode::kUnsupported, "{}", WhyRefused(kCaseOperator));
  const TensorDesc desc = graph_.value(operands[0]).desc;
  if (desc.dtype != DType::kInt32 || desc.shape.element_count() != 1) {
    return Error(StatusCode::kMalformedInput, "its first operand is {}[{}], not one int32", DTypeName(desc.dtype),
                 desc.shape.ToString());
  }
  const auto branch = [&](uint32_t number) { return CallFresh(index, branches->Get(number), operands.subspan(1)); };
  if (graph_.IsConstant(operands[0])) {
    const auto number =
        static_cast<uint32_t>(static_cast<int32_t>(LoadElement(DType::kInt32, graph_.ConstantBytes(operands[0]), 0)));
    return branch(std::min(number, count - 1));
  }
  if (count == 1) return branch(0);
  if (count > kMostBranches) return Error(StatusCode::kUnsupported, "data select one of {} branches", count);
  HEARTH_TRY(BeginStates(index));
  HEARTH_ASSIGN(const Variables before, reading_.CopyVariables());
  HEARTH_ASSIGN(std::vector<ValueId> chosen, branch(count - 1));
  for (uint32_t number = count - 1; number-- > 0;) {
    HEARTH_ASSIGN(const ValueId its_number,
                  AddNumbers({DType::kInt32, desc.shape, std::nullopt}, {static_cast<double>(number)}));
    HEARTH_ASSIGN(const ValueId is_it, AddMadeNode(index, Binary{.kind = BinaryKind::kEqual}, {operands[0], its_number},
                                                   {DType::kBool, desc.shape, std::nullopt}));
    HEARTH_TRY(reading_.ChargeSteps(before.size() + reading_.variables.size()));
    Variables others = std::exchange(reading_.variables, before);
    KeepBegun(others, reading_.variables);
    const auto this_branch = [&] { return branch(number); };
    const auto later_branches = [&]() -> Result<std::vector<ValueId>> {  // which were read
      reading_.variables = std::move(others);
      return chosen;
    };
    HEARTH_ASSIGN(chosen, Choose(index, is_it, this_branch, later_branches));
  }
  return chosen;
}

}  // namespace hearth
