// Numbers that data make and that say how many rows there are: where they come from, and how large they can become.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "frontends/writer/expansions.h"
#include "frontends/writer/rows.h"

namespace hearth {
namespace {

constexpr int kMostSteps = 64, kMostLevels = 4;
constexpr double kMostCounted = 1 << 24;
constexpr int64_t kMostListed = 8;  // numbers of which the least is taken, or that are looked up

// An element of a value, by its number.
struct Element {
  ValueId of = kNoValue;
  int64_t at = 0;
};

// The node that makes a value; null for inputs and constants, and where the budget ends.
const Node* MakerOf(const NodeWriter& to, ValueId value) {
  return to.IsConstant(value) || !to.budget().ChargeSteps(1).ok() ? nullptr : to.ProducerOf(value);
}

// Whether a number of rows is itself in this type: not a truth value, no remainder.
bool HoldsCounts(DType dtype) {
  return dtype == DType::kInt32 || dtype == DType::kInt64 || dtype == DType::kFloat32;
}

// The same element of a list of numbers, or a single number for all.
Element OperandAt(const NodeWriter& to, ValueId operand, int64_t at) {
  return {operand, to.shape(operand).element_count() == 1 ? 0 : at};
}

// The constant that the element is; nothing if data make it.
std::optional<double> ConstantAt(const NodeWriter& to, Element element) {
  if (!to.IsConstant(element.of) || element.at >= to.shape(element.of).element_count()) return std::nullopt;
  return LoadElement(to.desc(element.of).dtype, to.graph().ConstantBytes(element.of), element.at);
}

// Of a sum with 0 or a product with 1, the other operand.
Element OtherOperand(const NodeWriter& to, const Node& node, int64_t at) {
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr || to.shape(node.outputs[0]).rank() > 1) return {};
  const bool is_sum = binary->kind == BinaryKind::kAdd, is_product = binary->kind == BinaryKind::kMul;
  for (size_t k = 0; k < 2 && (is_sum || is_product); ++k) {
    if (ConstantAt(to, OperandAt(to, node.inputs[k], at)) == (is_sum ? 0.0 : 1.0))
      return OperandAt(to, node.inputs[1 - k], at);
  }
  return {};
}

// The element that a slice or a transpose copies to element `at` of its result; kNoValue for other nodes.
Element MovedFrom(const NodeWriter& to, const Node& node, int64_t at) {
  const auto* slice = std::get_if<Slice>(&node.op);
  const auto* transpose = std::get_if<Transpose>(&node.op);
  if (slice == nullptr && transpose == nullptr) return {};
  const Shape shape = to.shape(node.inputs[0]);
  int64_t place = 0;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    const int from = slice != nullptr ? d : transpose->permutation[d];
    const int64_t size = slice != nullptr ? slice->size[d] : shape[from];
    const int64_t index = slice != nullptr ? slice->begin[d] + at % size * slice->strides[d] : at % size;
    place += index * CountBetween(shape, from + 1, shape.rank());
    at /= size;
  }
  return {node.inputs[0], place};
}

// The element that a node copies to element `at` of its result; kNoValue if it calculates it.
Element CopiedFrom(const NodeWriter& to, const Node& node, int64_t at) {
  if (node.inputs.empty() || at >= to.shape(node.outputs[0]).element_count()) return {};
  const bool is_cast = std::holds_alternative<Cast>(node.op);
  if (is_cast && !(HoldsCounts(to.desc(node.inputs[0]).dtype) && HoldsCounts(to.desc(node.outputs[0]).dtype)))
    return {};
  if (is_cast || std::holds_alternative<Reshape>(node.op)) return {node.inputs[0], at};
  if (std::holds_alternative<Binary>(node.op)) return OtherOperand(to, node, at);
  if (const Element moved = MovedFrom(to, node, at); moved.of != kNoValue) return moved;
  if (std::holds_alternative<Pack>(node.op) && to.shape(node.inputs[0]).rank() == 0)
    return {node.inputs[static_cast<size_t>(at)], 0};
  if (to.shape(node.inputs[0]).rank() != 1) return {};
  if (std::holds_alternative<Gather>(node.op)) {
    if (!to.IsConstant(node.inputs[1])) return {};
    const Result<std::vector<int64_t>> places = to.Integers(node.inputs[1]);
    const bool is_known = places.ok() && at < std::ssize(*places);
    const int64_t place = is_known ? (*places)[static_cast<size_t>(at)] : -1;
    return place >= 0 && place < to.shape(node.inputs[0])[0] ? Element{node.inputs[0], place} : Element();
  }
  if (!std::holds_alternative<Concat>(node.op)) return {};
  for (const ValueId part : node.inputs) {
    const int32_t size = to.shape(part)[0];
    if (at < size) return {part, at};
    at -= size;
  }
  return {};
}

Element SourceOf(const NodeWriter& to, Element element, int levels = kMostLevels);

// Whether two numbers are equal, where constants tell or one is no number of rows: those are not negative.
std::optional<bool> AreEqual(const NodeWriter& to, Element a, Element b, int levels) {
  a = SourceOf(to, a, levels);
  b = SourceOf(to, b, levels);
  const std::optional<double> first = ConstantAt(to, a), second = ConstantAt(to, b);
  if (first && second) return *first == *second;
  if (!first && !second) return std::nullopt;
  const auto count = to.marks().counts.find(first ? b.of : a.of);
  const double number = first ? *first : *second;
  if (count == to.marks().counts.end() || (number >= 0.0 && number <= count->second)) return std::nullopt;
  return false;
}

// The branch of a Select that the element is, where its condition is known: PyTorch makes sizes so where -1 keeps one.
Element ChosenFrom(const NodeWriter& to, const Node& select, int64_t at, int levels) {
  const Element condition = SourceOf(to, OperandAt(to, select.inputs[0], at), levels);
  const Node* maker = MakerOf(to, condition.of);
  const auto* binary = maker == nullptr ? nullptr : std::get_if<Binary>(&maker->op);
  std::optional<bool> is_first;
  if (const std::optional<double> known = ConstantAt(to, condition)) {
    is_first = *known != 0.0;
  } else if (binary != nullptr && binary->kind == BinaryKind::kEqual && to.shape(condition.of).rank() <= 1) {
    is_first = AreEqual(to, OperandAt(to, maker->inputs[0], condition.at),
                        OperandAt(to, maker->inputs[1], condition.at), levels);
  }
  return is_first ? OperandAt(to, select.inputs[*is_first ? 1 : 2], at) : Element();
}

// The element that is copied to this one, perhaps itself.
Element SourceOf(const NodeWriter& to, Element element, int levels) {
  for (int step = 0; step < kMostSteps; ++step) {
    const Node* maker = MakerOf(to, element.of);
    if (maker == nullptr) break;
    const bool is_choice = std::holds_alternative<Select>(maker->op) && to.shape(element.of).rank() <= 1 && levels > 0;
    const Element before =
        is_choice ? ChosenFrom(to, *maker, element.at, levels - 1) : CopiedFrom(to, *maker, element.at);
    if (before.of == kNoValue) break;
    element = before;
  }
  return element;
}

// How many truth values a node counts for each element of its result; 0 for other nodes.
int64_t TruthsCounted(const NodeWriter& to, const Node& node) {
  const auto* reduce = std::get_if<Reduce>(&node.op);
  const Node* counted = reduce == nullptr || reduce->kind != ReduceKind::kSum ? nullptr : MakerOf(to, node.inputs[0]);
  const bool are_truths = counted != nullptr && std::holds_alternative<Cast>(counted->op) &&
                          to.desc(counted->inputs[0]).dtype == DType::kBool;
  const int64_t sums = to.shape(node.outputs[0]).element_count();
  return are_truths && sums > 0 ? to.shape(node.inputs[0]).element_count() / sums : 0;
}

// A number of rows times a factor, and a number more; all whole.
struct Multiple {
  ValueId count = kNoValue;
  double factor = 0.0, more = 0.0;
};

// The element as such a number; nothing if it is another one.
std::optional<Multiple> MultipleOf(const NodeWriter& to, Element element, int levels) {
  element = SourceOf(to, element);
  if (const std::optional<double> known = ConstantAt(to, element)) return Multiple{.more = *known};
  const Node* maker = MakerOf(to, element.of);
  const auto* binary = maker == nullptr || levels == 0 ? nullptr : std::get_if<Binary>(&maker->op);
  const DType dtype = to.desc(element.of).dtype;
  // Floats are rounded, and cut off where they become counts: int(0.7f * 10) is 7, and less than that times 10 is not.
  const bool are_whole = dtype == DType::kInt32 || dtype == DType::kInt64;
  if (binary != nullptr && are_whole && to.shape(element.of).rank() <= 1) {
    std::optional<Multiple> a = MultipleOf(to, OperandAt(to, maker->inputs[0], element.at), levels - 1);
    std::optional<Multiple> b = MultipleOf(to, OperandAt(to, maker->inputs[1], element.at), levels - 1);
    const bool is_product = binary->kind == BinaryKind::kMul, is_difference = binary->kind == BinaryKind::kSub;
    if (a && b && is_product && (a->factor == 0.0 || b->factor == 0.0)) {
      if (a->factor != 0.0) std::swap(a, b);
      return Multiple{b->count, a->more * b->factor, a->more * b->more};
    }
    const bool is_of_one = a && b && (a->factor == 0.0 || b->factor == 0.0 || a->count == b->count);
    if (is_of_one && (is_difference || binary->kind == BinaryKind::kAdd)) {
      const double sign = is_difference ? -1.0 : 1.0;
      return Multiple{a->factor == 0.0 ? b->count : a->count, a->factor + sign * b->factor, a->more + sign * b->more};
    }
  }
  if (!to.marks().counts.contains(element.of)) return std::nullopt;
  return Multiple{element.of, 1.0, 0.0};
}

// Between what numbers an element lies, where constants and numbers of rows or of truths tell. The largest one is
// whole.
struct Limits {
  std::optional<double> least, most;
};

Limits LimitsOf(const NodeWriter& to, Element element, int levels) {
  element = SourceOf(to, element);
  if (const std::optional<double> known = ConstantAt(to, element)) {
    return {known, *known == std::floor(*known) ? known : std::nullopt};
  }
  if (const auto count = to.marks().counts.find(element.of); count != to.marks().counts.end())
    return {0, count->second};
  const std::optional<Multiple> multiple = MultipleOf(to, element, levels);
  if (multiple && multiple->factor > 0.0) {
    return {multiple->more, multiple->factor * to.marks().counts.at(multiple->count) + multiple->more};
  }
  const Node* maker = MakerOf(to, element.of);
  if (maker == nullptr || levels == 0 || to.shape(element.of).element_count() != 1) return {};
  if (const int64_t truths = TruthsCounted(to, *maker); truths > 0) return {0, static_cast<double>(truths)};
  const auto* binary = std::get_if<Binary>(&maker->op);
  const auto* reduce = std::get_if<Reduce>(&maker->op);
  const bool is_minimum = (binary != nullptr && binary->kind == BinaryKind::kMinimum) ||
                          (reduce != nullptr && reduce->kind == ReduceKind::kMin);
  Limits limits{std::numeric_limits<double>::infinity(), std::nullopt};
  for (const ValueId input : maker->inputs) {
    const int64_t count = to.shape(input).element_count();
    if (!is_minimum || count > kMostListed) return {};
    for (int64_t at = 0; at < count; ++at) {
      const Limits one = LimitsOf(to, {input, at}, levels - 1);
      if (!one.most && to.desc(input).dtype == DType::kFloat32) return {};  // perhaps no whole number
      if (one.most && (!limits.most || *one.most < *limits.most)) limits.most = one.most;
      if (limits.least) limits.least = one.least ? std::optional(std::min(*limits.least, *one.least)) : std::nullopt;
    }
  }
  return limits;
}

}  // namespace

Start StartOf(const NodeWriter& to, ValueId integers, int64_t element) {
  Element at{integers, element};
  int64_t offset = 0;
  while (const Node* maker = MakerOf(to, at.of)) {
    // Neither a rounded sum nor one that wraps sooner is the sum of its parts: int(x + 0.5), uint8(x + 3).
    const DType dtype = to.desc(at.of).dtype;
    if (maker->outputs.size() != 1 || (dtype != DType::kInt32 && dtype != DType::kInt64)) break;
    const auto* binary = std::get_if<Binary>(&maker->op);
    const bool is_plain = binary != nullptr && binary->activation == Activation::kNone;
    const bool is_sum = is_plain && binary->kind == BinaryKind::kAdd;
    const bool is_difference = is_plain && binary->kind == BinaryKind::kSub;
    const size_t constant = is_difference || (is_sum && to.IsConstant(maker->inputs[1])) ? 1 : 0;
    if ((is_sum || is_difference) && to.IsConstant(maker->inputs[constant])) {
      const int64_t number = ToInt64(*ConstantAt(to, OperandAt(to, maker->inputs[constant], at.at)));
      offset += is_sum ? number : -number;
      at = OperandAt(to, maker->inputs[1 - constant], at.at);
      continue;
    }
    const bool is_cast = std::holds_alternative<Cast>(maker->op);
    const Element from = is_cast ? Element{maker->inputs[0], at.at} : CopiedFrom(to, *maker, at.at);
    if (from.of == kNoValue) break;
    at = from;
  }
  const std::optional<double> known = ConstantAt(to, at);
  return known ? Start{kNoValue, 0, offset + ToInt64(*known)} : Start{at.of, at.at, offset};
}

std::optional<double> ConstantIn(const NodeWriter& to, ValueId list, int64_t at) {
  return ConstantAt(to, SourceOf(to, {list, at}));
}

std::optional<double> ConstantSum(const NodeWriter& to, ValueId count, ValueId list, int64_t at) {
  const std::optional<Multiple> rows = MultipleOf(to, {count, 0}, kMostLevels);
  const std::optional<Multiple> more = MultipleOf(to, {list, at}, kMostLevels);
  const bool is_constant = rows && more && rows->count == more->count && rows->factor + more->factor == 0.0;
  return is_constant ? std::optional(rows->more + more->more) : std::nullopt;
}

std::optional<double> MostOf(const NodeWriter& to, ValueId number) {
  return LimitsOf(to, {number, 0}, kMostLevels).most;
}

Made KnownNumbers(NodeWriter& to, const Made& list) {
  if (!list.ok() || to.IsConstant(*list)) return list;
  const TensorDesc desc = to.desc(*list);
  const bool is_list = desc.shape.rank() <= 1 && desc.shape.element_count() <= kMostListed;
  if (!is_list || (desc.dtype != DType::kInt32 && desc.dtype != DType::kInt64)) return list;
  std::vector<double> numbers;
  for (int64_t k = 0; k < desc.shape.element_count(); ++k) {
    const std::optional<double> number = ConstantIn(to, *list, k);
    if (!number) return list;
    numbers.push_back(*number);
  }
  return to.AddConstant(desc, numbers);
}

Result<OpenSizes> SizesIn(NodeWriter& to, ValueId list) {
  const auto count = static_cast<int32_t>(to.shape(list).element_count());
  OpenSizes sizes;
  if (to.IsConstant(list) || count > Shape::kMaxRank) {
    HEARTH_ASSIGN(sizes.dims, to.Integers(list));
    return sizes;
  }
  for (int32_t k = 0; k < count; ++k) {
    const Element source = SourceOf(to, {list, k});
    const std::optional<double> most = LimitsOf(to, source, kMostLevels).most;
    const bool is_known = to.IsConstant(source.of);
    if (!most || (!is_known && !(*most >= 1.0 && *most < kMostCounted))) return to.Integers(list).status();
    sizes.dims.push_back(ToInt64(*most));
    if (is_known) continue;
    if (sizes.open.count != kNoValue) return NeedsAllRows();
    HEARTH_ASSIGN(const ValueId size, to.AddSlice(to.AddReshape(list, {count}), 0, k, 1));
    HEARTH_ASSIGN(const ValueId rows, AddCount(to, size, static_cast<int32_t>(*most)));
    sizes.open = {k, rows};
  }
  return sizes;
}

Made WithRows(NodeWriter& to, const Made& value, const OpenDimension& open) {
  if (!value.ok() || open.count == kNoValue) return value;
  return AddRows(to, *value, open.count, open.dim);
}

bool IsNotNegative(const NodeWriter& to, ValueId list, int64_t at) {
  return LimitsOf(to, {list, at}, kMostLevels).least.value_or(-1.0) >= 0.0;
}

Made AddCount(NodeWriter& to, ValueId number, int32_t most) {
  const Element source = SourceOf(to, {number, 0});
  const auto count = to.marks().counts.find(source.of);
  if (count != to.marks().counts.end() && count->second <= most) return count->first;
  const std::optional<Multiple> multiple = MultipleOf(to, source, kMostLevels);
  if (multiple && multiple->factor == 1.0 && multiple->more > 0.0) {
    const double largest = to.marks().counts.at(multiple->count) + multiple->more;
    if (largest <= most) return AddSumOfCount(to, multiple->count, static_cast<int32_t>(multiple->more));
  }
  HEARTH_ASSIGN(const ValueId made, to.Once(NodeWriter::MadeOnce::kCount, {source.of, source.at, most}, [&] {
    const Made wanted = to.AddReshape(to.AddCast(number, DType::kInt32), {1});
    const Made at_most = to.Add(BinaryKind::kMinimum, {wanted, to.AddNumber(DType::kInt32, most)});
    return to.Add(BinaryKind::kMaximum, {at_most, to.AddNumber(DType::kInt32, 0)});
  }));
  to.marks().counts.emplace(made, most);
  return made;
}

Made AddSumOfCount(NodeWriter& to, ValueId count, int32_t more) {
  const std::optional<Multiple> multiple = MultipleOf(to, {count, 0}, kMostLevels);
  if (multiple && multiple->factor == 1.0) {
    count = multiple->count;
    more += static_cast<int32_t>(multiple->more);
  }
  HEARTH_ASSIGN(const ValueId made, to.Once(NodeWriter::MadeOnce::kSumOfCount, {count, more}, [&] {
    return to.Add(BinaryKind::kAdd, {count, to.AddNumber(DType::kInt32, more)});
  }));
  to.marks().counts.emplace(made, to.marks().counts.at(count) + more);
  return made;
}

Made AddProductOfCount(NodeWriter& to, ValueId count, int32_t factor, int32_t most) {
  if (factor == 1) return count;
  HEARTH_ASSIGN(const ValueId made, to.Once(NodeWriter::MadeOnce::kProductOfCount, {count, factor}, [&] {
    return to.Add(BinaryKind::kMul, {count, to.AddNumber(DType::kInt32, factor)});
  }));
  to.marks().counts.emplace(made, most);
  return made;
}

}  // namespace hearth
