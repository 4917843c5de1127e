// Operators that read or write elements at indices.
#include <algorithm>

#include "core/base/error.h"
#include "frontends/onnx/operators.h"
#include "frontends/writer/scatter.h"

namespace hearth::onnx {
namespace {

// Indices as int32; negative ones count from the end of `size` elements.
Made FromFront(OpView& op, size_t i, int32_t size) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(const ValueId indices, op.In(i));
  if (to.IsConstant(indices) && to.shape(indices).element_count() <= (1 << 20)) {
    HEARTH_ASSIGN(const std::vector<int64_t> numbers, to.Integers(indices));
    std::vector<double> made;
    for (const int64_t number : numbers) {
      if (number < -int64_t{size} || number >= size) {
        return Error(StatusCode::kMalformedInput, "index {} among {} elements", number, size);
      }
      made.push_back(static_cast<double>(number < 0 ? number + size : number));
    }
    return to.AddConstant(to.shape(indices), DType::kInt32, made);
  }
  const Made narrow = to.AddCast(indices, DType::kInt32);
  HEARTH_TRY(narrow.status());
  const Made is_negative = to.Add(BinaryKind::kLess, {narrow, AddScalarLike(to, *narrow, 0)});
  return to.Add(Select{}, {is_negative, to.Add(BinaryKind::kAdd, {narrow, AddScalarLike(to, *narrow, size)}), narrow});
}

// Coordinates of all elements of a shape along each dimension but `axis`, and `indices` along that: [elements, rank].
Made CoordinatesBeside(NodeWriter& to, ValueId indices, int axis) {
  const Shape shape = to.shape(indices);
  const auto elements = static_cast<int32_t>(shape.element_count());
  std::vector<Made> columns;
  for (int d = 0; d < shape.rank(); ++d) {
    if (d == axis) {
      columns.push_back(to.AddReshape(indices, {elements, 1}));
      continue;
    }
    HEARTH_TRY(to.budget().CheckRoom({elements, 1}, DType::kInt32));
    const int64_t inner = CountBetween(shape, d + 1, shape.rank());
    std::vector<double> numbers;
    for (int64_t k = 0; k < elements; ++k) numbers.push_back(static_cast<double>(k / inner % shape[d]));
    columns.push_back(to.AddConstant({elements, 1}, DType::kInt32, numbers));
  }
  std::vector<ValueId> operands;
  for (const Made& column : columns) {
    HEARTH_TRY(column.status());
    operands.push_back(*column);
  }
  return operands.size() == 1 ? Made(operands[0]) : to.Add(Concat{.axis = 1}, operands);
}

// The flat place of each row of coordinates [rows, n] among the first n dimensions of a shape: int32[rows].
Made FlatPlacesOf(NodeWriter& to, const Made& coordinates, const Shape& shape) {
  HEARTH_TRY(coordinates.status());
  const int32_t rows = to.shape(*coordinates)[0], n = to.shape(*coordinates)[1];
  std::vector<double> steps;
  for (int d = 0; d < n; ++d) steps.push_back(static_cast<double>(CountBetween(shape, d + 1, n)));
  const Made scaled = to.Add(BinaryKind::kMul, {coordinates, to.AddConstant({1, n}, DType::kInt32, steps)});
  const Made sums = to.Add(Reduce{.kind = ReduceKind::kSum, .axes_mask = 2, .keep_dims = false}, {scaled});
  return to.AddReshape(sums, {rows});
}

Result<std::optional<BinaryKind>> MeetingOf(const OpView& op) {
  const std::string_view kind = op.Text("reduction", "none");
  if (kind == "none") return std::optional<BinaryKind>();
  if (kind == "add") return std::optional(BinaryKind::kAdd);
  if (kind == "mul") return std::optional(BinaryKind::kMul);
  if (kind == "max") return std::optional(BinaryKind::kMaximum);
  if (kind == "min") return std::optional(BinaryKind::kMinimum);
  return Error(StatusCode::kMalformedInput, "the reduction '{}'", kind.substr(0, 40));
}

Results ReadGather(OpView& op) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const int axis, op.AxisOf("axis", 0, desc.shape.rank()));
  HEARTH_ASSIGN(const TensorDesc indices, op.Desc(1));
  const Made places = FromFront(op, 1, desc.shape[axis]);
  // Devices read lists of indices.
  if (indices.shape.rank() > 0) return Plain(op.to().Add(Gather{axis, 0}, {op.In(0), places}));
  HEARTH_ASSIGN(const ValueId taken, op.to().Add(Gather{axis, 0}, {op.In(0), op.to().AddReshape(places, {1})}));
  std::vector<int32_t> dims(desc.shape.dims().begin(), desc.shape.dims().end());
  dims.erase(dims.begin() + axis);
  return Plain(op.to().AddReshape(taken, Shape::FromSpan(dims)));
}

Results ReadGatherElements(OpView& op) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const int axis, op.AxisOf("axis", 0, desc.shape.rank()));
  HEARTH_ASSIGN(const ValueId places, FromFront(op, 1, desc.shape[axis]));
  const Shape made = op.to().shape(places);
  const Made coordinates = CoordinatesBeside(op.to(), places, axis);
  return Plain(op.to().AddReshape(op.to().Add(GatherNd{}, {op.In(0), coordinates}), made));
}

// Coordinates whose negative numbers count from the end.
Made Coordinates(OpView& op, size_t i, const Shape& shape) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(const ValueId indices, op.In(i));
  const Shape listed = to.shape(indices);
  if (listed.rank() == 0 || listed[listed.rank() - 1] > shape.rank()) {
    return Error(StatusCode::kMalformedInput, "indices of shape {} for {}", listed.ToString(), shape.ToString());
  }
  const Made narrow = to.AddCast(indices, DType::kInt32);
  HEARTH_TRY(narrow.status());
  std::vector<double> sizes(shape.dims().begin(), shape.dims().begin() + listed[listed.rank() - 1]);
  const Made wrapped =
      to.Add(BinaryKind::kAdd, {narrow, to.AddConstant({listed[listed.rank() - 1]}, DType::kInt32, sizes)});
  return to.Add(Select{}, {to.Add(BinaryKind::kLess, {narrow, AddScalarLike(to, *narrow, 0)}), wrapped, narrow});
}

Results ReadGatherNd(OpView& op) {
  if (op.Int("batch_dims", 0) != 0) return Error(StatusCode::kUnsupported, "batch_dims above 0");
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  return Plain(op.to().Add(GatherNd{}, {op.In(0), Coordinates(op, 1, desc.shape)}));
}

Results ReadScatterNd(OpView& op) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const std::optional<BinaryKind> kind, MeetingOf(op));
  HEARTH_ASSIGN(const ValueId listed, Coordinates(op, 1, desc.shape));
  const Shape indices = to.shape(listed);
  const int n = indices[indices.rank() - 1];
  const auto rows = static_cast<int32_t>(CountBetween(indices, 0, indices.rank() - 1));
  const auto count = static_cast<int32_t>(CountBetween(desc.shape, 0, n));
  const auto row = static_cast<int32_t>(CountBetween(desc.shape, n, desc.shape.rank()));
  HEARTH_ASSIGN(const ValueId places, FlatPlacesOf(to, to.AddReshape(listed, {rows, n}), desc.shape));
  HEARTH_ASSIGN(const ValueId matrix, to.AddReshape(op.In(0), {count, row}));
  HEARTH_ASSIGN(const ValueId updates, to.AddReshape(op.In(2), {rows, row}));
  return Plain(to.AddReshape(ScatterRows(to, matrix, updates, places, kind), desc.shape));
}

Results ReadScatterElements(OpView& op) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const int axis, op.AxisOf("axis", 0, desc.shape.rank()));
  HEARTH_ASSIGN(const std::optional<BinaryKind> kind, MeetingOf(op));
  HEARTH_ASSIGN(const ValueId indices, FromFront(op, 1, desc.shape[axis]));
  const auto rows = static_cast<int32_t>(to.shape(indices).element_count());
  HEARTH_ASSIGN(const ValueId places, FlatPlacesOf(to, CoordinatesBeside(to, indices, axis), desc.shape));
  HEARTH_ASSIGN(const ValueId matrix, to.AddReshape(op.In(0), {static_cast<int32_t>(desc.shape.element_count()), 1}));
  HEARTH_ASSIGN(const ValueId updates, to.AddReshape(op.In(2), {rows, 1}));
  return Plain(to.AddReshape(ScatterRows(to, matrix, updates, places, kind), desc.shape));
}

Results ReadOneHot(OpView& op) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(const double depth, op.Number(1));
  if (!(depth >= 1 && depth <= (1 << 24))) return Error(StatusCode::kMalformedInput, "a depth of {}", depth);
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const int axis, op.AxisOf("axis", -1, desc.shape.rank() + 1));
  HEARTH_ASSIGN(const ValueId indices, to.AddCast(op.In(0), DType::kInt32));
  const Made is_negative = to.Add(BinaryKind::kLess, {indices, AddScalarLike(to, indices, 0)});
  const Made wrapped = to.Add(BinaryKind::kAdd, {indices, AddScalarLike(to, indices, depth)});
  const Made places = to.Add(Select{}, {is_negative, wrapped, indices});
  HEARTH_ASSIGN(const ValueId values, op.In(2));
  const Made off = to.AddReshape(to.AddSlice(values, 0, 0, 1), Shape());
  const Made on = to.AddReshape(to.AddSlice(values, 0, 1, 1), Shape());
  return Plain(to.Add(OneHot{axis, static_cast<int32_t>(depth)}, {places, on, off}, to.desc(values).dtype));
}

}  // namespace

std::span<const OperatorRow> PlacesOperators() {
  static constexpr OperatorRow kRows[] = {
      {"Gather", ReadGather},       {"GatherElements", ReadGatherElements}, {"GatherND", ReadGatherNd},
      {"OneHot", ReadOneHot},       {"Scatter", ReadScatterElements},       {"ScatterElements", ReadScatterElements},
      {"ScatterND", ReadScatterNd},
  };
  return kRows;
}

}  // namespace hearth::onnx
