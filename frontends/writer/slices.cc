// Parts of tensors that begin where data say.
#include <algorithm>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "frontends/writer/expansions.h"
#include "frontends/writer/rows.h"

namespace hearth {
namespace {

// The operand's element that one of a broadcast result has.
int64_t ElementOf(const NodeWriter& to, ValueId operand, int64_t element) {
  return to.shape(operand).element_count() == 1 ? 0 : element;
}

// Follows a sum with a constant; false if the node is none.
bool FollowSum(const NodeWriter& to, const Node& node, Start& at) {
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr || binary->activation != Activation::kNone) return false;
  const bool is_sum = binary->kind == BinaryKind::kAdd;
  if (!is_sum && binary->kind != BinaryKind::kSub) return false;
  const size_t constant = to.IsConstant(node.inputs[1]) ? 1 : 0;
  if (!to.IsConstant(node.inputs[constant]) || (!is_sum && constant == 0)) return false;
  const ValueId other = node.inputs[constant];
  const double number =
      LoadElement(to.desc(other).dtype, to.graph().ConstantBytes(other), ElementOf(to, other, at.element));
  at.offset += is_sum ? ToInt64(number) : -ToInt64(number);
  at.value = node.inputs[1 - constant];
  at.element = ElementOf(to, at.value, at.element);
  return true;
}

// Follows a node that moves the element; false if it is another one.
bool FollowMove(const NodeWriter& to, const Node& node, Start& at) {
  const bool is_cast = std::holds_alternative<Cast>(node.op);
  const Element from = is_cast ? Element{node.inputs[0], at.element} : CopiedFrom(to, node, at.element);
  if (from.of == kNoValue) return false;
  at.value = from.of;
  at.element = from.at;
  return true;
}

// int32[1]: where `count` elements of a dimension of `dim` begin. As DYNAMIC_UPDATE_SLICE, inside of the dimension.
Made AddBegin(NodeWriter& to, const Start& start, int32_t span, int32_t dim, bool counts_from_end) {
  const auto elements = static_cast<int32_t>(to.shape(start.value).element_count());
  const Made list = to.AddReshape(to.AddCast(start.value, DType::kInt32), {elements});
  Made begin = to.AddSlice(list, 0, static_cast<int32_t>(start.element), 1);
  const auto number = [&](int64_t value) { return to.AddNumber(DType::kInt32, static_cast<double>(value)); };
  if (start.offset != 0) begin = to.Add(BinaryKind::kAdd, {begin, number(start.offset)});
  if (counts_from_end) {
    const Made is_from_end = to.Add(BinaryKind::kLess, {begin, number(0)});
    begin = to.Add(Select{}, {is_from_end, to.Add(BinaryKind::kAdd, {begin, number(dim)}), begin}, DType::kInt32);
  }
  if (span == 1) return begin;  // GATHER stays inside
  return to.Add(BinaryKind::kMaximum, {to.Add(BinaryKind::kMinimum, {begin, number(dim - span)}), number(0)});
}

}  // namespace

Start StartOf(const NodeWriter& to, ValueId integers, int64_t element) {
  Start at{integers, element, 0};
  // Nodes come after those that make their operands.
  size_t& left = to.budget().searched_nodes_left;
  for (auto node = to.graph().nodes().rbegin(); node != to.graph().nodes().rend() && left > 0; ++node, --left) {
    if (to.IsConstant(at.value)) break;
    if (node->outputs.size() != 1 || node->outputs[0] != at.value) continue;
    // Neither a rounded sum nor one that wraps sooner is the sum of its parts: int(x + 0.5), uint8(x + 3).
    const DType dtype = to.desc(at.value).dtype;
    if (dtype != DType::kInt32 && dtype != DType::kInt64) return at;
    if (!FollowSum(to, *node, at) && !FollowMove(to, *node, at)) return at;
  }
  if (!to.IsConstant(at.value)) return at;
  const TensorDesc& desc = to.desc(at.value);
  const double number = LoadElement(desc.dtype, to.graph().ConstantBytes(at.value), at.element);
  return {kNoValue, 0, at.offset + ToInt64(number)};
}

Made AddPartAt(NodeWriter& to, ValueId x, const std::vector<Part>& parts) {
  Slice known{.begin = to.shape(x), .size = to.shape(x), .strides = to.shape(x)};
  for (int d = 0; d < known.size.rank(); ++d) {
    const Part& part = parts[static_cast<size_t>(d)];
    const bool is_known = part.start.value == kNoValue;
    known.begin[d] = is_known ? static_cast<int32_t>(part.start.offset) : 0;
    known.strides[d] = is_known ? part.stride : 1;
    if (is_known) known.size[d] = part.count;
  }
  known.shape = known.size;
  Made made = known.size == to.shape(x) ? Made(x) : to.Add(known, {x});
  for (int d = 0; d < known.size.rank(); ++d) {
    const Part& part = parts[static_cast<size_t>(d)];
    if (part.start.value == kNoValue) continue;
    const int64_t span = int64_t{part.count - 1} * part.stride + 1;
    if (span > known.size[d]) {
      return Error(StatusCode::kUnsupported, "{} elements of a dimension of {}, from one on that data choose", span,
                   known.size[d]);
    }
    Made places = AddBegin(to, part.start, static_cast<int32_t>(span), known.size[d], part.counts_from_end);
    if (part.count > 1) {
      Made steps = to.AddIndices({part.count});
      if (part.stride != 1) steps = to.Add(BinaryKind::kMul, {steps, to.AddNumber(DType::kInt32, part.stride)});
      places = to.Add(BinaryKind::kAdd, {places, steps});
    }
    made = to.Add(Gather{.axis = d}, {made, places});
  }
  return made;
}

}  // namespace hearth
