// Sparse matrices: made dense, or as lists of table rows that are added up.
#include <algorithm>

#include "core/base/error.h"
#include "frontends/tflite/op_readers.h"
#include "frontends/writer/scatter.h"

namespace hearth {
namespace {

constexpr int64_t kMostSparseElements = 1 << 24;

}  // namespace

// (indices, shape, values, default): values at their indices, the default elsewhere. Of several values with one index
// the last one stays.
Expanded ExpandSparseToDense(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const std::vector<int64_t> coordinates, to.Integers(op.operand(0)));
  HEARTH_ASSIGN(const Shape shape, to.ShapeIn(op.operand(1), kMostSparseElements));
  const Shape &indices = op.shape(0), &values = op.shape(2);
  const auto count = static_cast<int32_t>(indices.rank() == 0 ? 1 : indices[0]);
  const int64_t value_count = values.element_count();
  if (to.IsEmpty(op.operand(0)) || shape.element_count() == 0) return OneValue(to.AddFilled(shape, op.operand(3)));
  if (indices.rank() > 2 || coordinates.size() != static_cast<size_t>(count) * static_cast<size_t>(shape.rank()) ||
      (value_count != 1 && value_count != count) || op.shape(3).element_count() != 1 ||
      op.desc(2) != TensorDesc{op.desc(3).dtype, values, op.desc(3).quantization}) {
    return Error(StatusCode::kMalformedInput, "indices of shape {} and values of shape {} for the shape {}",
                 indices.ToString(), values.ToString(), shape.ToString());
  }
  HEARTH_ASSIGN(const std::vector<int64_t> places,
                FlatPlaces(coordinates, shape, static_cast<size_t>(shape.rank()), shape.rank()));
  HEARTH_TRY(to.budget().CheckRoom(shape, DType::kInt32));
  // The default comes after the values.
  std::vector<double> take(static_cast<size_t>(shape.element_count()), static_cast<double>(value_count));
  for (size_t i = 0; i < places.size(); ++i) {
    take[static_cast<size_t>(places[i])] = value_count == 1 ? 0.0 : static_cast<double>(i);
  }
  const Made flat = to.AddReshape(op.operand(2), {static_cast<int32_t>(value_count)});
  const Made all = to.Add(Concat{.axis = 0}, {flat, to.AddReshape(op.operand(3), {1})});
  const Made order = to.AddConstant({static_cast<int32_t>(take.size())}, DType::kInt32, take);
  return OneValue(to.AddReshape(to.Add(Gather{}, {all, order}), shape));
}

// (ids[n], indices[n, k], shape[k], weights[n], table): for each index without its last coordinate, the sum of its
// weighted table rows, divided as the options say.
Expanded ExpandEmbeddingLookupSparse(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const wire::EmbeddingLookupSparseOptions* options, op.Options<wire::EmbeddingLookupSparseOptions>());
  HEARTH_ASSIGN(const std::vector<int64_t> coordinates, to.Integers(op.operand(1)));
  HEARTH_ASSIGN(const Shape sparse, to.ShapeIn(op.operand(2), kMostSparseElements));
  const Shape table = op.shape(4), ids = op.shape(0);
  if (ids.rank() != 1 || op.shape(3) != ids || table.rank() < 2 || sparse.rank() < 2 ||
      op.shape(1) != Shape{ids[0], sparse.rank()} || table.rank() + sparse.rank() - 2 > Shape::kMaxRank ||
      op.desc(4).dtype != DType::kFloat32) {
    return Error(StatusCode::kUnsupported, "{} ids of rows of a table of shape {}", ids.ToString(), table.ToString());
  }
  std::vector<int32_t> dims(sparse.dims().begin(), sparse.dims().end() - 1);
  const int64_t count = Shape::FromSpan(dims).element_count();
  for (int d = 1; d < table.rank(); ++d) dims.push_back(table[d]);
  if (ids[0] == 0 || count == 0) {
    return OneValue(to.AddFilled(Shape::FromSpan(dims), to.AddNumber(DType::kFloat32, 0)));
  }
  HEARTH_ASSIGN(const std::vector<int64_t> places,
                FlatPlaces(coordinates, sparse, static_cast<size_t>(sparse.rank()), sparse.rank() - 1));
  const Made taken = to.AddReshape(to.Add(Gather{}, {op.operand(4), op.operand(0)}),
                                   {ids[0], static_cast<int32_t>(CountBetween(table, 1, table.rank()))});
  HEARTH_ASSIGN(ValueId weights, to.AddReshape(op.operand(3), {ids[0], 1}));
  HEARTH_ASSIGN(const ValueId rows, to.Add(BinaryKind::kMul, {taken, weights}));
  HEARTH_ASSIGN(ValueId sums, GatherRows(to, rows, places, count, {}));
  if (options->combiner() != wire::CombinerType_SUM) {
    const bool is_root = options->combiner() == wire::CombinerType_SQRTN;
    HEARTH_ASSIGN(weights, is_root ? to.Add(BinaryKind::kMul, {weights, weights}) : Made(weights));
    HEARTH_ASSIGN(const ValueId weight, GatherRows(to, weights, places, count, {}));
    std::vector<double> is_empty(static_cast<size_t>(count), 1.0);
    for (const int64_t place : places) is_empty[static_cast<size_t>(place)] = 0.0;
    const Made ones = to.AddConstant({static_cast<int32_t>(count), 1}, DType::kFloat32, is_empty);
    const Made divisor = to.Add(BinaryKind::kAdd, {weight, ones});
    HEARTH_ASSIGN(sums, to.Add(BinaryKind::kDiv, {sums, is_root ? to.Add(UnaryKind::kSqrt, divisor) : divisor}));
  }
  return OneValue(to.AddReshape(sums, Shape::FromSpan(dims)));
}

}  // namespace hearth
