#include "frontends/onnx/order.h"

#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "core/graph/strided_view.h"

namespace hearth::onnx {
namespace {

// From the other order to this one.
Shape PermutationTo(Order order, int rank) {
  std::vector<int32_t> dims(static_cast<size_t>(rank));
  std::iota(dims.begin(), dims.end(), 0);
  std::rotate(dims.begin() + 1, order == Order::kLast ? dims.begin() + 2 : dims.end() - 1, dims.end());
  return Shape::FromSpan(dims);
}

Shape Permuted(const Shape& shape, const Shape& permutation) {
  Shape made = shape;
  for (int d = 0; d < shape.rank(); ++d) made[d] = shape[permutation[d]];
  return made;
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

// Whether whoever reads the constant finds it at an aligned address. Nobody computes with its bytes yet
// (Graph::ConstantBytes).
bool IsReadAligned(const NodeWriter& to, ValueId value) {
  const Constant& constant = to.graph().constant(*to.graph().value(value).constant);
  return constant.elements != nullptr || IsAligned(to.desc(value).dtype, constant.bytes);
}

// The constant as a view of all its elements, and aligned: made of the file's bytes by whoever reads it, if it is
// large.
Made AddReordered(NodeWriter& to, ValueId value, const StridedView& view, const TensorDesc& made) {
  Graph& graph = to.graph();
  if (!to.budget().ChargeMade(made.size_bytes())) return ReadingBudget::TooMuchMade("a constant");
  if (const auto moved = graph.AddReordered(value, view)) return graph.AddValue({graph.value(value).name, made, moved});
  const OrderedBytes from = graph.ReadConstant(value);
  OrderedBytes ordered;
  if (!from.bytes.empty()) ordered = InForm({view}, BitsOf(made.dtype), from.bytes);
  return graph.AddConstantValue(graph.value(value).name, made, {ordered.bytes.begin(), ordered.bytes.end()});
}

}  // namespace

Results InOrder(Order order, const Operands& values) {
  HEARTH_TRY(values.status);
  std::vector<Tensor> made;
  for (const ValueId value : values.ids) made.push_back(TensorIn(order, value));
  return made;
}

Shape PlainShape(const Shape& last) {
  return Permuted(last, PermutationTo(Order::kPlain, last.rank()));
}

int AxisIn(Order order, int axis, int rank) {
  if (order == Order::kPlain || axis == 0) return axis;
  return axis == 1 ? rank - 1 : axis - 1;
}

bool IsAligned(DType dtype, std::span<const std::byte> bytes) {
  const size_t alignment = std::clamp<size_t>(static_cast<size_t>(BitsOf(dtype)) / 8, 1, 4);
  return reinterpret_cast<uintptr_t>(bytes.data()) % alignment == 0;
}

Made AddReadable(NodeWriter& to, ValueId stored) {
  const TensorDesc desc = to.desc(stored);
  if (IsOfFewBits(desc)) return to.AddWidened(stored);
  if (IsReadAligned(to, stored)) return stored;
  return to.Once(NodeWriter::MadeOnce::kAligned, {stored}, [&] {
    return AddReordered(to, stored, {0, {{desc.shape.element_count(), 1}}}, desc);
  });
}

Made AddPermuted(NodeWriter& to, const Made& value, Shape permutation) {
  if (!value.ok() || std::ranges::is_sorted(permutation.dims())) return value;
  const TensorDesc desc = to.desc(*value);
  if (desc.shape.rank() != permutation.rank()) {
    return Error(StatusCode::kMalformedInput, "a tensor of shape {} has rank {}, but {} is needed",
                 desc.shape.ToString(), desc.shape.rank(), permutation.rank());
  }
  // Of dimensions of size 1, only a transpose says which one holds the rows that data make.
  const OpenDimension open = to.marks().OpenOf(*value);
  const bool is_lost = open.count != kNoValue && desc.shape[open.dim] == 1;
  const bool keeps_order = KeepsOrder(desc.shape, permutation) && !is_lost;
  const bool has_blocks = desc.quantization && desc.quantization->blocks != nullptr;
  if (!to.IsConstant(*value) || has_blocks || BitsOf(desc.dtype) % 8 != 0) {
    return keeps_order ? to.AddReshape(value, Permuted(desc.shape, permutation)) : to.AddTranspose(value, permutation);
  }
  std::vector<int64_t> key{*value};
  key.insert(key.end(), permutation.dims().begin(), permutation.dims().end());
  return to.Once(NodeWriter::MadeOnce::kPermuted, std::move(key), [&] {
    TensorDesc made{desc.dtype, Permuted(desc.shape, permutation), desc.quantization};
    if (made.quantization) {
      const auto moved_to = std::ranges::find(permutation.dims(), desc.quantization->dimension);
      made.quantization->dimension = static_cast<int32_t>(moved_to - permutation.dims().begin());
    }
    if (keeps_order && IsReadAligned(to, *value)) return to.AddSameBytes(*value, std::move(made));
    // Few numbers that a file spreads over many elements are put in order at each run.
    if (!made.quantization && !to.budget().HasAmpleRoom(made.size_bytes())) return to.AddTranspose(value, permutation);
    StridedView view;
    for (int d = 0; d < permutation.rank(); ++d)
      view.digits.push_back({made.shape[d], CountBetween(desc.shape, permutation[d] + 1, permutation.rank())});
    return AddReordered(to, *value, view, made);
  });
}

Made ToOrder(NodeWriter& to, ValueId value, Order from, Order order) {
  const int rank = to.shape(value).rank();
  if (from == order || rank < 3) return value;
  const Shape permutation = PermutationTo(order, rank);
  HEARTH_ASSIGN(const ValueId moved, AddPermuted(to, value, permutation));
  auto& known = to.marks().centered;
  if (const auto found = known.find(value); found != known.end() && !known.contains(moved)) {
    const auto [centered, zero_point] = found->second;
    HEARTH_ASSIGN(const ValueId moved_too, AddPermuted(to, centered, permutation));
    known.emplace(moved, std::pair(moved_too, zero_point));
  }
  return moved;
}

}  // namespace hearth::onnx
