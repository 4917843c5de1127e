// Sparse matrices: made dense, or as lists of table rows that are added up.
#include <algorithm>

#include "core/base/error.h"
#include "frontends/tflite/expand_rows.h"

namespace hearth {
namespace {

constexpr int64_t kMostSparseElements = 1 << 24;

// The flat index of each of `count` elements, from their coordinates in the first dimensions of `shape`.
Result<std::vector<int64_t>> PlacesIn(const Shape& shape, const std::vector<int64_t>& coordinates, int64_t count,
                                      int dims) {
  std::vector<int64_t> places;
  if (count == 0) return places;
  const size_t listed = coordinates.size() / static_cast<size_t>(count);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    int64_t place = 0;
    for (int d = 0; d < dims; ++d) {
      const int64_t at = coordinates[i * listed + static_cast<size_t>(d)];
      if (at < 0 || at >= shape[d]) return Error(StatusCode::kMalformedInput, "place {} of {}", at, shape[d]);
      place = place * shape[d] + at;
    }
    places.push_back(place);
  }
  return places;
}

}  // namespace

// (indices, shape, values, default): values at their indices, the default elsewhere. Of several values with one index
// the last one stays.
Expanded ExpandSparseToDense(Expansion& to) {
  HEARTH_ASSIGN(const std::vector<int64_t> coordinates, to.Integers(0));
  HEARTH_ASSIGN(const Shape shape, to.ShapeOperand(1, kMostSparseElements));
  const Shape &indices = to.shape(to.operand(0)), &values = to.shape(to.operand(2));
  const auto count = static_cast<int32_t>(indices.rank() == 0 ? 1 : indices[0]);
  const int64_t value_count = values.element_count();
  if (to.IsEmpty(to.operand(0)) || shape.element_count() == 0) return OneValue(to.AddFilled(shape, to.operand(3)));
  if (indices.rank() > 2 || coordinates.size() != static_cast<size_t>(count) * static_cast<size_t>(shape.rank()) ||
      (value_count != 1 && value_count != count) || to.shape(to.operand(3)).element_count() != 1 ||
      to.desc(to.operand(2)) != TensorDesc{to.desc(to.operand(3)).dtype, values, to.desc(to.operand(3)).quantization}) {
    return Error(StatusCode::kMalformedInput, "indices of shape {} and values of shape {} for the shape {}",
                 indices.ToString(), values.ToString(), shape.ToString());
  }
  HEARTH_ASSIGN(const std::vector<int64_t> places, PlacesIn(shape, coordinates, count, shape.rank()));
  HEARTH_TRY(to.CheckRoom(shape, DType::kInt32));
  // The default comes after the values.
  std::vector<double> take(static_cast<size_t>(shape.element_count()), static_cast<double>(value_count));
  for (size_t i = 0; i < places.size(); ++i) {
    take[static_cast<size_t>(places[i])] = value_count == 1 ? 0.0 : static_cast<double>(i);
  }
  HEARTH_ASSIGN(const ValueId flat, to.AddReshape(to.operand(2), {static_cast<int32_t>(value_count)}));
  HEARTH_ASSIGN(const ValueId number, to.AddReshape(to.operand(3), {1}));
  HEARTH_ASSIGN(const ValueId all, to.Add(Concat{.axis = 0}, {flat, number}));
  HEARTH_ASSIGN(const ValueId order, to.AddConstant({static_cast<int32_t>(take.size())}, DType::kInt32, take));
  HEARTH_ASSIGN(const ValueId dense, to.Add(Gather{}, {all, order}));
  return OneValue(to.AddReshape(dense, shape));
}

// (ids[n], indices[n, k], shape[k], weights[n], table): for each index without its last coordinate, the sum of its
// weighted table rows, divided as the options say.
Expanded ExpandEmbeddingLookupSparse(Expansion& to) {
  HEARTH_ASSIGN(const wire::EmbeddingLookupSparseOptions* options, to.Options<wire::EmbeddingLookupSparseOptions>());
  HEARTH_ASSIGN(const std::vector<int64_t> coordinates, to.Integers(1));
  HEARTH_ASSIGN(const Shape sparse, to.ShapeOperand(2, kMostSparseElements));
  const Shape table = to.shape(to.operand(4)), ids = to.shape(to.operand(0));
  if (ids.rank() != 1 || to.shape(to.operand(3)) != ids || table.rank() < 2 || sparse.rank() < 2 ||
      to.shape(to.operand(1)) != Shape{ids[0], sparse.rank()} || table.rank() + sparse.rank() - 2 > Shape::kMaxRank ||
      to.desc(to.operand(4)).dtype != DType::kFloat32) {
    return Error(StatusCode::kUnsupported, "{} ids of rows of a table of shape {}", ids.ToString(), table.ToString());
  }
  std::vector<int32_t> dims(sparse.dims().begin(), sparse.dims().end() - 1);
  const int64_t count = Shape::FromSpan(dims).element_count();
  for (int d = 1; d < table.rank(); ++d) dims.push_back(table[d]);
  if (ids[0] == 0 || count == 0) {
    HEARTH_ASSIGN(const ValueId zero, to.AddNumber(DType::kFloat32, 0));
    return OneValue(to.AddFilled(Shape::FromSpan(dims), zero));
  }
  HEARTH_ASSIGN(const std::vector<int64_t> places, PlacesIn(sparse, coordinates, ids[0], sparse.rank() - 1));
  HEARTH_ASSIGN(ValueId rows, to.Add(Gather{}, {to.operand(4), to.operand(0)}));
  HEARTH_ASSIGN(rows, to.AddReshape(rows, {ids[0], static_cast<int32_t>(CountBetween(table, 1, table.rank()))}));
  HEARTH_ASSIGN(ValueId weights, to.AddReshape(to.operand(3), {ids[0], 1}));
  HEARTH_ASSIGN(rows, to.AddBinary(BinaryKind::kMul, rows, weights));
  HEARTH_ASSIGN(ValueId sums, GatherRows(to, rows, places, count, {}));
  if (options->combiner() != wire::CombinerType_SUM) {
    const bool is_root = options->combiner() == wire::CombinerType_SQRTN;
    if (is_root) {
      HEARTH_ASSIGN(weights, to.AddBinary(BinaryKind::kMul, weights, weights));
    }
    HEARTH_ASSIGN(ValueId divisor, GatherRows(to, weights, places, count, {}));
    std::vector<double> is_empty(static_cast<size_t>(count), 1.0);
    for (const int64_t place : places) is_empty[static_cast<size_t>(place)] = 0.0;
    HEARTH_ASSIGN(const ValueId ones, to.AddConstant({static_cast<int32_t>(count), 1}, DType::kFloat32, is_empty));
    HEARTH_ASSIGN(divisor, to.AddBinary(BinaryKind::kAdd, divisor, ones));
    if (is_root) {
      HEARTH_ASSIGN(divisor, to.Add(Unary{.kind = UnaryKind::kSqrt}, {divisor}));
    }
    HEARTH_ASSIGN(sums, to.AddBinary(BinaryKind::kDiv, sums, divisor));
  }
  return OneValue(to.AddReshape(sums, Shape::FromSpan(dims)));
}

}  // namespace hearth
