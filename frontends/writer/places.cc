// Diagonals, scattering, segments and reversed sequences: rows are moved, or added up, by index.
#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/graph/ops/coordinates.h"
#include "core/graph/quantize.h"
#include "frontends/writer/expansions.h"
#include "frontends/writer/scatter.h"

namespace hearth {
namespace {

constexpr int64_t kMostPlaces = 1 << 22;  // rows that are moved
constexpr double kMostPlacedElements = std::numeric_limits<int32_t>::max();

Meeting MeetingOf(BinaryKind kind, DType dtype) {
  constexpr double kFloat = std::numeric_limits<float>::max(), kInt = std::numeric_limits<int32_t>::max();
  const bool is_float = dtype == DType::kFloat32;
  switch (kind) {
    case BinaryKind::kMul: return {kind, 1.0};
    case BinaryKind::kMaximum: return {kind, is_float ? -kFloat : -kInt - 1};
    case BinaryKind::kMinimum: return {kind, is_float ? kFloat : kInt};
    default: return {};
  }
}

// The shape for a diagonal: a square, or that of `around`, which has the diagonal's leading dimensions.
Result<Shape> ShapeAroundDiagonal(const NodeWriter& to, ValueId diagonal, ValueId around) {
  const TensorDesc& desc = to.desc(diagonal);
  if (desc.shape.rank() < 1 || desc.shape.rank() >= Shape::kMaxRank) {
    return Error(StatusCode::kUnsupported, "a diagonal of shape {}", desc.shape.ToString());
  }
  if (around != kNoValue && to.desc(around).quantization != desc.quantization) {
    return Error(StatusCode::kUnsupported, "a diagonal and a matrix of different scales");
  }
  const int last = desc.shape.rank() - 1;
  if (around == kNoValue) return WithDimension(desc.shape, last, desc.shape[last]);
  const Shape& whole = to.shape(around);
  bool fits = whole.rank() == last + 2 && std::min(whole[last], whole[last + 1]) == desc.shape[last];
  for (int d = 0; fits && d < last; ++d) fits = whole[d] == desc.shape[d];
  if (fits) return whole;
  return Error(StatusCode::kMalformedInput, "a diagonal of shape {} for the shape {}", desc.shape.ToString(),
               whole.ToString());
}

// Checks the segment numbers of slices of `data`, and the number of segments.
Status CheckSegments(const Shape& data, const Shape& ids, int64_t count) {
  bool fits = ids.rank() >= 1 && ids.rank() <= data.rank() && count >= 0 && count <= kMostPlaces;
  for (int d = 0; fits && d < ids.rank(); ++d) fits = ids[d] == data[d];
  if (!fits) {
    return Error(StatusCode::kMalformedInput, "{} segments of shape {}, numbered by {}", count, data.ToString(),
                 ids.ToString());
  }
  if (static_cast<double>(CountBetween(data, ids.rank(), data.rank())) * static_cast<double>(count) >
      kMostPlacedElements) {
    return Error(StatusCode::kUnsupported, "{} segments", count);
  }
  return Status::Ok();
}

// The output shape of a scatter. Indices cover its first `depth` dimensions.
Result<Shape> ScatteredShape(const std::vector<int64_t>& wanted, const Shape& indices, const Shape& updates,
                             int depth) {
  bool fits = depth >= 1 && static_cast<size_t>(depth) <= wanted.size() && wanted.size() <= Shape::kMaxRank;
  std::vector<int32_t> dims;
  int64_t count = 1, inner = 1;
  for (size_t d = 0; fits && d < wanted.size(); ++d) {
    fits = wanted[d] >= 1 && wanted[d] <= kMostPlaces;
    int64_t& product = d < static_cast<size_t>(depth) ? count : inner;
    dims.push_back(static_cast<int32_t>(wanted[d]));
    product *= fits ? wanted[d] : 1;
    fits = fits && product <= kMostPlaces;
  }
  if (fits && updates.element_count() == indices.element_count() / depth * inner) return Shape::FromSpan(dims);
  return Error(StatusCode::kMalformedInput, "indices of shape {} and updates of shape {}", indices.ToString(),
               updates.ToString());
}

// Rows whose places are computed. Of truth values any makes true.
Made CombineAtPlaces(NodeWriter& to, ValueId rows, const Made& places, int64_t count, const Meeting& meeting) {
  const DType dtype = to.desc(rows).dtype;
  HEARTH_ASSIGN(const ValueId listed, to.AddReshape(to.AddCast(places, DType::kInt32), {to.shape(rows)[0]}));
  if (dtype != DType::kBool) return CombineRows(to, rows, listed, count, meeting);
  HEARTH_ASSIGN(const ValueId wide, to.AddCast(rows, DType::kInt32));
  return to.AddCast(CombineRows(to, wide, listed, count, meeting), dtype);
}

}  // namespace

Made AddDiagonal(NodeWriter& to, ValueId diagonal, ValueId around) {
  HEARTH_ASSIGN(const Shape whole, ShapeAroundDiagonal(to, diagonal, around));
  const int last = to.shape(diagonal).rank() - 1;
  const int32_t length = to.shape(diagonal)[last], rows = whole[last], columns = whole[last + 1];
  if (static_cast<double>(rows) * columns > kMostPlaces) {
    return Error(StatusCode::kUnsupported, "a matrix of {} x {}", rows, columns);
  }
  HEARTH_TRY(to.budget().CheckRoom({rows, columns}, DType::kBool));
  Shape lying = whole;
  lying[last] = 1;
  const Made row = to.AddReshape(to.AddPad(diagonal, last, 0, columns - length), lying);
  const Made condition = to.AddEach({rows, columns}, DType::kBool, [&](int64_t row_number, int64_t column) {
    return row_number == column && column < length ? 1.0 : 0.0;
  });
  if (around == kNoValue) {
    TensorDesc zero = to.desc(diagonal);
    zero.shape = {1, 1};
    HEARTH_ASSIGN(around, to.AddConstant(zero, {0.0}));
  }
  return to.Add(Select{}, {condition, row, around}, to.desc(diagonal).dtype);
}

Made AddSegments(NodeWriter& to, BinaryKind kind, ValueId data, ValueId numbers, std::optional<int64_t> given) {
  const Shape shape = to.shape(data), ids = to.shape(numbers);
  const bool is_computed = given && !to.IsConstant(numbers);
  std::vector<int64_t> places;
  if (!is_computed) {
    HEARTH_ASSIGN(places, to.Integers(numbers));
  }
  int64_t count = places.empty() ? 0 : std::min(places.back(), kMostPlaces) + 1;  // the largest int64 has no next one
  count = given.value_or(count);
  HEARTH_TRY(CheckSegments(shape, ids, count));
  std::vector<int32_t> dims = {static_cast<int32_t>(count)};
  for (int d = ids.rank(); d < shape.rank(); ++d) dims.push_back(shape[d]);
  const Shape made = Shape::FromSpan(dims);
  const Meeting meeting = MeetingOf(kind, to.desc(data).dtype);
  if (to.IsEmpty(data) || count == 0) return RowsOfNothing(to, to.desc(data), made, meeting);
  const auto row_count = static_cast<int32_t>(ids.element_count());
  const auto row_elements = static_cast<int32_t>(CountBetween(shape, ids.rank(), shape.rank()));
  HEARTH_ASSIGN(const ValueId rows, to.AddReshape(data, {row_count, row_elements}));
  return to.AddReshape(
      is_computed ? CombineAtPlaces(to, rows, numbers, count, meeting) : GatherRows(to, rows, places, count, meeting),
      made);
}

Made AddScatterNd(NodeWriter& to, ValueId indices, ValueId updates, ValueId wanted) {
  const Shape at = to.shape(indices);
  if (to.IsEmpty(updates)) {
    HEARTH_ASSIGN(const Shape made, to.ShapeIn(wanted));
    return RowsOfNothing(to, to.desc(updates), made, {});
  }
  const int depth = at.rank() == 0 ? 0 : at[at.rank() - 1];
  if (depth == 0) return Error(StatusCode::kUnsupported, "indices without coordinates, of shape {}", at.ToString());
  HEARTH_ASSIGN(const std::vector<int64_t> sizes, to.Integers(wanted));
  HEARTH_ASSIGN(const Shape shape, ScatteredShape(sizes, at, to.shape(updates), depth));
  const auto row_count = static_cast<int32_t>(at.element_count() / depth);
  const auto inner = static_cast<int32_t>(CountBetween(shape, depth, shape.rank()));
  const int64_t count = shape.element_count() / inner;
  HEARTH_ASSIGN(const ValueId rows, to.AddReshape(updates, {row_count, inner}));
  if (!to.IsConstant(indices)) {
    const Made places = ComputedPlaces(to, indices, shape, row_count, depth);
    return to.AddReshape(CombineAtPlaces(to, rows, places, count, {}), shape);
  }
  HEARTH_ASSIGN(const std::vector<int64_t> numbers, to.Integers(indices));
  HEARTH_ASSIGN(const std::vector<int64_t> places, FlatPlaces(numbers, shape, static_cast<size_t>(depth), depth));
  return to.AddReshape(GatherRows(to, rows, places, count, {}), shape);
}

Made AddNearest(NodeWriter& to, const Resize& resize, ValueId x) {
  if (to.shape(x).rank() != 4) return Error(StatusCode::kUnsupported, "of shape {}", to.shape(x).ToString());
  Made made = x;
  for (const int axis : {1, 2}) {
    const int32_t wanted = axis == 1 ? resize.height : resize.width;
    const int64_t size = to.shape(x)[axis];
    const Made pixels = to.AddEach({wanted}, DType::kInt32, [&](int64_t, int64_t k) {
      return static_cast<double>(NearestPixel(resize, k, wanted, size));
    });
    made = to.Add(Gather{.axis = axis}, {made, pixels});
  }
  return made;
}

// A gather with batch and sequence as the first two dimensions.
Made AddReverseSequence(NodeWriter& to, ValueId x, ValueId lengths, int axis, int batch_axis) {
  const Shape shape = to.shape(x);
  if (axis == batch_axis || to.shape(lengths) != Shape{shape[batch_axis]}) {
    return Error(StatusCode::kMalformedInput,
                 "sequences in dimension {} of {} with lengths of shape {} in dimension {}", axis, shape.ToString(),
                 to.shape(lengths).ToString(), batch_axis);
  }
  Shape order = shape, back = shape;
  order[0] = batch_axis;
  order[1] = axis;
  for (int d = 0, next = 2; d < shape.rank(); ++d) {
    if (d != batch_axis && d != axis) order[next++] = d;
  }
  for (int d = 0; d < shape.rank(); ++d) back[order[d]] = d;
  const Made column = to.AddReshape(to.AddCast(lengths, DType::kInt32), {shape[batch_axis], 1});
  const Made step = to.AddIndices({1, shape[axis]});
  const Made last = to.Add(BinaryKind::kSub, {column, to.AddNumber(DType::kInt32, 1)});
  const Made reversed = to.Add(BinaryKind::kSub, {last, step});
  const Made is_inside = to.Add(BinaryKind::kLess, {step, column});
  const Made indices = to.Add(Select{}, {is_inside, reversed, step}, DType::kInt32);
  const Made moved = to.AddTranspose(x, order);
  return to.AddTranspose(to.Add(Gather{.axis = 1, .batch_dims = 1}, {moved, indices}), back);
}

}  // namespace hearth
