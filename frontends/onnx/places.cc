// Operators that read or write elements at indices.
#include <algorithm>

#include "core/base/error.h"
#include "frontends/onnx/operators.h"
#include "frontends/writer/scatter.h"

namespace hearth::onnx {
namespace {

// Indices as int32; negative ones count from the end. Of those in the last dimension, the k-th is among sizes[k]
// elements; a single size is that of all.
Made FromFront(OpView& op, size_t i, const std::vector<int32_t>& sizes) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(const ValueId indices, op.In(i));
  if (to.IsConstant(indices) && to.shape(indices).element_count() <= (1 << 20)) {
    HEARTH_ASSIGN(const std::vector<int64_t> numbers, to.Integers(indices));
    std::vector<double> made;
    for (size_t k = 0; k < numbers.size(); ++k) {
      const int64_t number = numbers[k], size = sizes[k % sizes.size()];
      if (number < -size || number >= size) {
        return Error(StatusCode::kMalformedInput, "index {} among {} elements", number, size);
      }
      made.push_back(static_cast<double>(number < 0 ? number + size : number));
    }
    return to.AddConstant(to.shape(indices), DType::kInt32, made);
  }
  const Shape each = sizes.size() == 1 ? Shape() : Shape{static_cast<int32_t>(sizes.size())};
  const Made narrow = to.AddCast(indices, DType::kInt32);
  HEARTH_TRY(narrow.status());
  const Made is_negative = to.Add(BinaryKind::kLess, {narrow, AddScalarLike(to, *narrow, 0)});
  const Made counts = to.AddConstant(each, DType::kInt32, std::vector<double>(sizes.begin(), sizes.end()));
  return to.Add(Select{}, {is_negative, to.Add(BinaryKind::kAdd, {narrow, counts}), narrow});
}

// Where the elements of `indices` point among those of `whole`: along `axis` to their number, along each other
// dimension to their own place. [elements, rank].
Made CoordinatesBeside(NodeWriter& to, ValueId indices, int axis, const Shape& whole) {
  const Shape shape = to.shape(indices);
  bool fits = shape.rank() == whole.rank();
  for (int d = 0; fits && d < shape.rank(); ++d) fits = d == axis || shape[d] <= whole[d];
  if (!fits) {
    return Error(StatusCode::kMalformedInput, "indices of shape {} for {}", shape.ToString(), whole.ToString());
  }
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
  const Made places = FromFront(op, 1, {desc.shape[axis]});
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
  HEARTH_ASSIGN(const ValueId places, FromFront(op, 1, {desc.shape[axis]}));
  const Shape made = op.to().shape(places);
  const Made coordinates = CoordinatesBeside(op.to(), places, axis, desc.shape);
  return Plain(op.to().AddReshape(op.to().Add(GatherNd{}, {op.In(0), coordinates}), made));
}

// Indices whose last dimension has coordinates in a tensor of this shape.
Made Coordinates(OpView& op, size_t i, const Shape& shape) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(i));
  const int rank = desc.shape.rank();
  if (rank == 0 || desc.shape[rank - 1] > shape.rank()) {
    return Error(StatusCode::kMalformedInput, "indices of shape {} for {}", desc.shape.ToString(), shape.ToString());
  }
  return FromFront(op, i, {shape.dims().begin(), shape.dims().begin() + desc.shape[rank - 1]});
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
  HEARTH_ASSIGN(const ValueId places, ComputedPlaces(to, listed, desc.shape, rows, n));
  HEARTH_ASSIGN(const ValueId matrix, to.AddReshape(op.In(0), {count, row}));
  HEARTH_ASSIGN(const ValueId updates, to.AddReshape(op.In(2), {rows, row}));
  return Plain(to.AddReshape(ScatterRows(to, matrix, updates, places, kind), desc.shape));
}

Results ReadScatterElements(OpView& op) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const int axis, op.AxisOf("axis", 0, desc.shape.rank()));
  HEARTH_ASSIGN(const std::optional<BinaryKind> kind, MeetingOf(op));
  HEARTH_ASSIGN(const ValueId indices, FromFront(op, 1, {desc.shape[axis]}));
  const auto rows = static_cast<int32_t>(to.shape(indices).element_count());
  HEARTH_ASSIGN(const TensorDesc given, op.Desc(2));
  if (given.shape != to.shape(indices)) {
    return Error(StatusCode::kMalformedInput, "updates of shape {} for indices of shape {}", given.shape.ToString(),
                 to.shape(indices).ToString());
  }
  HEARTH_ASSIGN(const ValueId coordinates, CoordinatesBeside(to, indices, axis, desc.shape));
  HEARTH_ASSIGN(const ValueId places, ComputedPlaces(to, coordinates, desc.shape, rows, desc.shape.rank()));
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
