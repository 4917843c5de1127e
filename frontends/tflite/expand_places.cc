// Diagonals, SCATTER_ND and segments: rows are moved, or added up, by index.
#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "frontends/tflite/expand_rows.h"

namespace hearth {
namespace {

constexpr int64_t kMostPlaces = 1 << 22;  // rows that are moved
constexpr double kMostPlacedElements = std::numeric_limits<int32_t>::max();
constexpr int32_t kSegmentProduct = 153, kSegmentMaximum = 154, kUnsortedSegmentSum = 155, kSegmentMinimum = 157;

Meeting MeetingOf(int32_t code, DType dtype) {
  constexpr double kFloat = std::numeric_limits<float>::max(), kInt = std::numeric_limits<int32_t>::max();
  const bool is_float = dtype == DType::kFloat32;
  switch (code) {
    case kSegmentProduct: return {BinaryKind::kMul, 1.0};
    case kSegmentMaximum: return {BinaryKind::kMaximum, is_float ? -kFloat : -kInt - 1};
    case kSegmentMinimum: return {BinaryKind::kMinimum, is_float ? kFloat : kInt};
    default: return {};
  }
}

// The shape for a diagonal: a square, or that of `around`, which has the diagonal's leading dimensions.
Result<Shape> ShapeAroundDiagonal(const Expansion& to, ValueId diagonal, ValueId around) {
  const TensorDesc& desc = to.desc(diagonal);
  if (desc.shape.rank() < 1 || desc.shape.rank() >= Shape::kMaxRank) {
    return Error(StatusCode::kUnsupported, "a diagonal of shape {}", desc.shape.ToString());
  }
  if (around != kNoValue && to.desc(around).quantization != desc.quantization) {
    return Error(StatusCode::kUnsupported, "a diagonal and a matrix of different scales");
  }
  const int last = desc.shape.rank() - 1;
  std::vector<int32_t> dims(desc.shape.dims().begin(), desc.shape.dims().end());
  dims.push_back(dims.back());
  Shape whole = Shape::FromSpan(dims);
  if (around == kNoValue) return whole;
  whole = to.shape(around);
  bool fits = whole.rank() == last + 2 && std::min(whole[last], whole[last + 1]) == desc.shape[last];
  for (int d = 0; fits && d < last; ++d) fits = whole[d] == desc.shape[d];
  if (fits) return whole;
  return Error(StatusCode::kMalformedInput, "a diagonal of shape {} for the shape {}", desc.shape.ToString(),
               whole.ToString());
}

// Writes the last dimension of `diagonal` into the diagonal of `around`, or of a square of zeros.
Result<ValueId> ExpandDiagonal(Expansion& to, ValueId diagonal, ValueId around) {
  HEARTH_ASSIGN(const Shape whole, ShapeAroundDiagonal(to, diagonal, around));
  const int last = to.shape(diagonal).rank() - 1;
  const int32_t length = to.shape(diagonal)[last], rows = whole[last], columns = whole[last + 1];
  if (static_cast<double>(rows) * columns > kMostPlaces) {
    return Error(StatusCode::kUnsupported, "a matrix of {} x {}", rows, columns);
  }
  HEARTH_TRY(to.CheckRoom({rows, columns}, DType::kBool));
  HEARTH_ASSIGN(ValueId row, to.AddPad(diagonal, last, 0, columns - length));
  Shape lying = whole;
  lying[last] = 1;
  HEARTH_ASSIGN(row, to.AddReshape(row, lying));
  std::vector<double> is_diagonal(static_cast<size_t>(rows) * static_cast<size_t>(columns));
  for (int32_t k = 0; k < length; ++k) {
    is_diagonal[static_cast<size_t>(k) * static_cast<size_t>(columns) + static_cast<size_t>(k)] = 1;
  }
  HEARTH_ASSIGN(const ValueId condition, to.AddConstant({rows, columns}, DType::kBool, is_diagonal));
  if (around == kNoValue) {
    TensorDesc zero = to.desc(diagonal);
    zero.shape = {1, 1};
    HEARTH_ASSIGN(around, to.AddConstant(zero, {0.0}));
  }
  return to.Add(Select{}, {condition, row, around}, to.desc(diagonal).dtype);
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

// The output shape of SCATTER_ND. Indices cover its first `depth` dimensions.
Result<Shape> ScatteredShape(const Expansion& to, int depth) {
  HEARTH_ASSIGN(const std::vector<int64_t> wanted, to.Integers(2));
  const Shape &indices = to.shape(to.operand(0)), &updates = to.shape(to.operand(1));
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

// The flat index of each row, from coordinates in the leading dimensions of `shape`.
Result<std::vector<int64_t>> FlatPlaces(const std::vector<int64_t>& coordinates, const Shape& shape, size_t depth) {
  std::vector<int64_t> places;
  for (size_t i = 0; i < coordinates.size(); i += depth) {
    int64_t place = 0;
    for (size_t d = 0; d < depth; ++d) {
      const int32_t size = shape[static_cast<int>(d)];
      if (coordinates[i + d] < 0 || coordinates[i + d] >= size) {
        return Error(StatusCode::kMalformedInput, "place {} of {}", coordinates[i + d], size);
      }
      place = place * size + coordinates[i + d];
    }
    places.push_back(place);
  }
  return places;
}

// The same for computed coordinates.
Result<ValueId> ComputedPlaces(Expansion& to, ValueId coordinates, const Shape& shape, int32_t rows, int depth) {
  std::vector<double> strides(static_cast<size_t>(depth), 1.0);
  for (int d = depth - 1; d > 0; --d) {
    strides[static_cast<size_t>(d - 1)] = strides[static_cast<size_t>(d)] * shape[d];
  }
  HEARTH_ASSIGN(ValueId places, to.Add(Cast{DType::kInt32}, {coordinates}, DType::kInt32));
  HEARTH_ASSIGN(places, to.AddReshape(places, {rows, depth}));
  HEARTH_ASSIGN(const ValueId by, to.AddConstant({1, depth}, DType::kInt32, strides));
  HEARTH_ASSIGN(places, to.AddBinary(BinaryKind::kMul, places, by));
  return to.Add(Reduce{ReduceKind::kSum, 2, false}, {places});
}

}  // namespace

Expanded ExpandMatrixDiag(Expansion& to) {
  return OneValue(ExpandDiagonal(to, to.operand(0), kNoValue));
}

Expanded ExpandMatrixSetDiag(Expansion& to) {
  return OneValue(ExpandDiagonal(to, to.operand(1), to.operand(0)));
}

// Sums, products, maxima or minima of the slices of the data, which have the dimensions after those of the numbers, by
// segment number.
Expanded ExpandSegments(Expansion& to) {
  const Shape data = to.shape(to.operand(0)), ids = to.shape(to.operand(1));
  const bool by_product = to.code() == kUnsortedSegmentSum && !to.IsConstant(to.operand(1));
  std::vector<int64_t> places;
  if (!by_product) {
    HEARTH_ASSIGN(places, to.Integers(1));
  }
  int64_t count = places.empty() ? 0 : std::min(places.back(), kMostPlaces) + 1;  // the largest int64 has no next one
  if (to.Has(2)) {
    HEARTH_ASSIGN(const std::vector<int64_t> wanted, to.Integers(2));
    count = wanted.size() == 1 ? wanted[0] : -1;
  }
  HEARTH_TRY(CheckSegments(data, ids, count));
  std::vector<int32_t> dims = {static_cast<int32_t>(count)};
  for (int d = ids.rank(); d < data.rank(); ++d) dims.push_back(data[d]);
  const Meeting meeting = MeetingOf(to.code(), to.desc(to.operand(0)).dtype);
  if (to.IsEmpty(to.operand(0)) || count == 0) {
    return OneValue(RowsOfNothing(to, to.desc(to.operand(0)), Shape::FromSpan(dims), meeting));
  }
  const auto row_count = static_cast<int32_t>(ids.element_count());
  HEARTH_ASSIGN(
      const ValueId rows,
      to.AddReshape(to.operand(0), {row_count, static_cast<int32_t>(CountBetween(data, ids.rank(), data.rank()))}));
  HEARTH_ASSIGN(const ValueId made, by_product ? SumRowsByProduct(to, rows, to.operand(1), count)
                                               : GatherRows(to, rows, places, count, meeting));
  return OneValue(to.AddReshape(made, Shape::FromSpan(dims)));
}

// (indices[..., n], updates[..., rest], shape): zeros plus the updates, summed per index.
Expanded ExpandScatterNd(Expansion& to) {
  const Shape indices = to.shape(to.operand(0));
  if (to.IsEmpty(to.operand(1))) {
    HEARTH_ASSIGN(const Shape made, to.ShapeOperand(2));
    return OneValue(RowsOfNothing(to, to.desc(to.operand(1)), made, {}));
  }
  const int depth = indices.rank() == 0 ? 0 : indices[indices.rank() - 1];
  if (depth == 0)
    return Error(StatusCode::kUnsupported, "indices without coordinates, of shape {}", indices.ToString());
  HEARTH_ASSIGN(const Shape shape, ScatteredShape(to, depth));
  const auto row_count = static_cast<int32_t>(indices.element_count() / depth);
  const auto inner = static_cast<int32_t>(CountBetween(shape, depth, shape.rank()));
  const int64_t count = shape.element_count() / inner;
  HEARTH_ASSIGN(const ValueId rows, to.AddReshape(to.operand(1), {row_count, inner}));
  ValueId made = kNoValue;
  if (to.IsConstant(to.operand(0))) {
    HEARTH_ASSIGN(const std::vector<int64_t> numbers, to.Integers(0));
    HEARTH_ASSIGN(const std::vector<int64_t> places, FlatPlaces(numbers, shape, static_cast<size_t>(depth)));
    HEARTH_ASSIGN(made, GatherRows(to, rows, places, count, {}));
  } else {
    HEARTH_ASSIGN(const ValueId places, ComputedPlaces(to, to.operand(0), shape, row_count, depth));
    HEARTH_ASSIGN(made, SumRowsByProduct(to, rows, places, count));
  }
  return OneValue(to.AddReshape(made, shape));
}

}  // namespace hearth
