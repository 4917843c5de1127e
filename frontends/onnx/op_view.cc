#include "frontends/onnx/op_view.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "frontends/onnx/graph_reader.h"
#include "frontends/onnx/operators.h"
#include "frontends/writer/names.h"

namespace hearth::onnx {
namespace {

// From plain order to that with dimension 1 at the end.
Shape ToLastPermutation(int rank) {
  std::vector<int32_t> dims(static_cast<size_t>(rank));
  std::iota(dims.begin(), dims.end(), 0);
  std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
  return Shape::FromSpan(dims);
}
Shape ToPlainPermutation(int rank) {
  std::vector<int32_t> dims(static_cast<size_t>(rank));
  std::iota(dims.begin(), dims.end(), 0);
  std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
  return Shape::FromSpan(dims);
}

Shape Permuted(const Shape& shape, const Shape& permutation) {
  Shape made = shape;
  for (int d = 0; d < shape.rank(); ++d) made[d] = shape[permutation[d]];
  return made;
}

template <typename Element>
void PermuteBytes(const std::byte* from, const Shape& shape, const Shape& permutation, std::byte* to) {
  const int rank = shape.rank();
  std::array<int64_t, Shape::kMaxRank> steps{}, at{};
  for (int d = 0; d < rank; ++d) steps[static_cast<size_t>(d)] = CountBetween(shape, permutation[d] + 1, rank);
  const Shape made = Permuted(shape, permutation);
  int64_t source = 0;
  for (int64_t i = 0, count = shape.element_count(); i < count; ++i) {
    StoreAt(to, i, LoadAt<Element>(from, source));
    for (int d = rank - 1; d >= 0; --d) {
      const auto k = static_cast<size_t>(d);
      source += steps[k];
      if (++at[k] < made[d]) break;
      source -= steps[k] * made[d];
      at[k] = 0;
    }
  }
}

// Whether the dimensions that are not 1 keep their order.
bool KeepsOrder(const Shape& shape, const Shape& permutation) {
  int before = -1;
  for (const int32_t d : permutation.dims()) {
    if (shape[d] == 1) continue;
    if (d < before) return false;
    before = d;
  }
  return true;
}

}  // namespace

int AxisIn(Order order, int axis, int rank) {
  if (order == Order::kPlain || axis == 0) return axis;
  return axis == 1 ? rank - 1 : axis - 1;
}

Made AddPermuted(NodeWriter& to, const Made& value, Shape permutation) {
  if (!value.ok() || std::ranges::is_sorted(permutation.dims())) return value;
  const TensorDesc desc = to.desc(*value);
  if (desc.shape.rank() != permutation.rank()) {
    return Error(StatusCode::kMalformedInput, "a tensor of shape {} has rank {}, but {} is needed",
                 desc.shape.ToString(), desc.shape.rank(), permutation.rank());
  }
  if (KeepsOrder(desc.shape, permutation)) return to.AddReshape(value, Permuted(desc.shape, permutation));
  if (!to.IsConstant(*value) || desc.quantization || BitsOf(desc.dtype) % 8 != 0) {
    return to.AddTranspose(value, permutation);
  }
  std::vector<int64_t> key{*value};
  key.insert(key.end(), permutation.dims().begin(), permutation.dims().end());
  if (const auto found = to.stacked().find(key); found != to.stacked().end()) return found->second;
  if (!to.budget().ChargeMade(desc.size_bytes())) return CopyBudget::Exceeded("a constant");
  const std::span<const std::byte> from = to.graph().ConstantBytes(*value);
  std::vector<std::byte> bytes(from.size());
  switch (BitsOf(desc.dtype)) {
    case 8: PermuteBytes<uint8_t>(from.data(), desc.shape, permutation, bytes.data()); break;
    case 16: PermuteBytes<uint16_t>(from.data(), desc.shape, permutation, bytes.data()); break;
    case 32: PermuteBytes<uint32_t>(from.data(), desc.shape, permutation, bytes.data()); break;
    default: PermuteBytes<uint64_t>(from.data(), desc.shape, permutation, bytes.data());
  }
  const TensorDesc made{desc.dtype, Permuted(desc.shape, permutation), std::nullopt};
  const ValueId moved = to.graph().AddConstantValue(to.graph().value(*value).name, made, std::move(bytes));
  to.stacked().emplace(std::move(key), moved);
  return moved;
}

Made ToOrder(NodeWriter& to, ValueId value, Order from, Order order) {
  const int rank = to.shape(value).rank();
  if (from == order || rank < 3) return value;
  return AddPermuted(to, value, order == Order::kLast ? ToLastPermutation(rank) : ToPlainPermutation(rank));
}

int OpView::kind() const {
  return row_->kind;
}

GraphWriter& OpView::to() const {
  return reader_.to();
}

bool OpView::Has(size_t i) const {
  return i < node_.inputs.size() && !node_.inputs[i].empty() && !reader_.IsAbsent(node_.inputs[i]);
}

Tensor* OpView::Find(size_t i) const {
  return Has(i) ? reader_.Find(node_.inputs[i]) : nullptr;
}

Made OpView::In(size_t i, Order order) const {
  Tensor* tensor = Find(i);
  if (tensor == nullptr) {
    if (!Has(i)) return Error(StatusCode::kMalformedInput, "its operand {} is absent", i);
    HEARTH_ASSIGN(const ValueId added, reader_.ValueOf(node_.inputs[i]));
    static_cast<void>(added);
    tensor = Find(i);
  }
  const bool has_orders = to().shape(tensor->plain == kNoValue ? tensor->last : tensor->plain).rank() >= 3;
  ValueId& wanted = order == Order::kLast && has_orders ? tensor->last : tensor->plain;
  if (wanted != kNoValue) return wanted;
  const Order other = order == Order::kLast ? Order::kPlain : Order::kLast;
  HEARTH_ASSIGN(wanted, ToOrder(to(), other == Order::kPlain ? tensor->plain : tensor->last, other, order));
  return wanted;
}

Order OpView::OrderOf(size_t i) const {
  const Tensor* tensor = Find(i);
  return tensor != nullptr && tensor->plain == kNoValue ? Order::kLast : Order::kPlain;
}

Order OpView::CommonOrder(size_t first, size_t count) const {
  int rank = 0, last_rank = -1;
  for (size_t i = first; i < first + count; ++i) {
    const Result<TensorDesc> desc = Desc(i);
    if (!desc.ok()) continue;
    rank = std::max(rank, desc->shape.rank());
    if (OrderOf(i) == Order::kLast) last_rank = std::max(last_rank, desc->shape.rank());
  }
  return last_rank == rank ? Order::kLast : Order::kPlain;
}

Made OpView::Broadcastable(size_t i, int rank, Order order) const {
  HEARTH_ASSIGN(const TensorDesc desc, Desc(i));
  const int missing = rank - desc.shape.rank();
  if (order == Order::kPlain || missing <= 0) return In(i, order);
  if (desc.shape.element_count() == 1) return In(i);
  if (rank > Shape::kMaxRank) return Error(StatusCode::kUnsupported, "rank {}", rank);
  std::vector<int32_t> dims(static_cast<size_t>(missing), 1);
  dims.insert(dims.end(), desc.shape.dims().begin(), desc.shape.dims().end());
  HEARTH_ASSIGN(const ValueId widened, to().AddReshape(In(i), Shape::FromSpan(dims)));
  return ToOrder(to(), widened, Order::kPlain, order);
}

Result<Aligned> Align(const OpView& op, size_t first, size_t count) {
  Aligned aligned{op.CommonOrder(first, count), {}};
  int rank = 0;
  for (size_t i = first; i < first + count; ++i) {
    HEARTH_ASSIGN(const TensorDesc desc, op.Desc(i));
    rank = std::max(rank, desc.shape.rank());
  }
  for (size_t i = first; i < first + count; ++i) {
    HEARTH_ASSIGN(const ValueId value, op.Broadcastable(i, rank, aligned.order));
    aligned.values.push_back(value);
  }
  return aligned;
}

Result<TensorDesc> OpView::Desc(size_t i) const {
  const Tensor* tensor = Find(i);
  if (tensor == nullptr || tensor->plain != kNoValue) {
    HEARTH_ASSIGN(const ValueId value, In(i));
    return to().desc(value);
  }
  TensorDesc desc = to().desc(tensor->last);
  desc.shape = Permuted(desc.shape, ToPlainPermutation(desc.shape.rank()));
  return desc;
}

Result<std::vector<int64_t>> OpView::Numbers(size_t i) const {
  HEARTH_ASSIGN(const ValueId value, In(i));
  return to().Integers(value);
}

Result<std::optional<std::vector<int64_t>>> OpView::NumbersOr(size_t i, std::string_view attribute) const {
  if (Has(i)) {
    HEARTH_ASSIGN(std::vector<int64_t> numbers, Numbers(i));
    return std::optional(std::move(numbers));
  }
  const AttributeProto* found = Find(attribute);
  return found == nullptr ? std::nullopt : std::optional(found->ints);
}

Result<double> OpView::Number(size_t i) const {
  HEARTH_ASSIGN(const ValueId value, In(i));
  return to().Number(value);
}

bool OpView::IsConstant(size_t i) const {
  const Made value = Has(i) && OrderOf(i) == Order::kPlain ? In(i) : Made(kNoValue);
  return value.ok() && to().IsConstant(*value);
}

const AttributeProto* OpView::Find(std::string_view name) const {
  const auto found = std::ranges::find(node_.attributes, name, &AttributeProto::name);
  if (found == node_.attributes.end()) return nullptr;
  if (found->reference.empty()) return &*found;
  if (reader_.attributes() == nullptr) return nullptr;
  const auto given = reader_.attributes()->find(found->reference);
  return given == reader_.attributes()->end() ? nullptr : given->second;
}

int64_t OpView::Int(std::string_view name, int64_t otherwise) const {
  const AttributeProto* found = Find(name);
  return found == nullptr ? otherwise : found->i;
}
double OpView::Float(std::string_view name, double otherwise) const {
  const AttributeProto* found = Find(name);
  return found == nullptr ? otherwise : static_cast<double>(found->f);
}
std::string_view OpView::Text(std::string_view name, std::string_view otherwise) const {
  const AttributeProto* found = Find(name);
  return found == nullptr ? otherwise : found->s;
}
std::vector<int64_t> OpView::Ints(std::string_view name, std::vector<int64_t> otherwise) const {
  const AttributeProto* found = Find(name);
  return found == nullptr ? std::move(otherwise) : found->ints;
}

Result<int> OpView::Axis(int64_t axis, int rank) {
  if (axis >= -rank && axis < rank) return static_cast<int>(axis < 0 ? axis + rank : axis);
  return Error(StatusCode::kMalformedInput, "axis {} lies outside of rank {}", axis, rank);
}

}  // namespace hearth::onnx
