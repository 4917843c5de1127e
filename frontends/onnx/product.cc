// Products of matrices.
#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/shared.h"

namespace hearth::onnx {
namespace {

constexpr int kMostRank = 5;            // of BatchMatMul
constexpr double kMostPairs = 1 << 24;  // of integers that are multiplied

// Neighbouring batch dimensions as one, if both factors have them or the same factor repeats along them.
Made AddBatched(NodeWriter& to, ValueId a, ValueId b) {
  const Shape left = to.shape(a), right = to.shape(b);
  const int rank = std::max(left.rank(), right.rank());
  if (rank <= kMostRank) return to.Add(BatchMatMul{}, {a, b});
  const auto size = [rank](const Shape& shape, int d) {
    const int own = d - (rank - shape.rank());
    return own < 0 ? 1 : shape[own];
  };
  std::vector<int32_t> of_left, of_right, made;
  for (int d = 0, before = 2; d < rank - 2; ++d) {
    const int32_t l = size(left, d), r = size(right, d);
    made.push_back(l == 1 ? r : l);
    if (l == 1 && r == 1) continue;
    if (l != r && l != 1 && r != 1) {
      return Error(StatusCode::kMalformedInput, "a product of {} by {}", left.ToString(), right.ToString());
    }
    const int kind = l == r ? 0 : l == 1 ? -1 : 1;
    if (kind != before) of_left.push_back(1), of_right.push_back(1);
    of_left.back() *= l;
    of_right.back() *= r;
    before = kind;
  }
  if (of_left.size() > kMostRank - 2) {
    return Error(StatusCode::kUnsupported, "a product of {} by {}, whose batch dimensions repeat by turns",
                 left.ToString(), right.ToString());
  }
  const auto as_matrices = [&](ValueId x, std::vector<int32_t> dims) {
    const Shape shape = to.shape(x);
    dims.insert(dims.end(), shape.dims().end() - 2, shape.dims().end());
    return to.AddReshape(x, Shape::FromSpan(dims));
  };
  made.insert(made.end(), {left[left.rank() - 2], right[right.rank() - 1]});
  return to.AddReshape(to.Add(BatchMatMul{}, {as_matrices(a, of_left), as_matrices(b, of_right)}),
                       Shape::FromSpan(made));
}

// Of integers: all products of pairs, summed. No device multiplies matrices of them.
Made IntegerProduct(NodeWriter& to, ValueId a, ValueId b) {
  const Shape left = to.shape(a), right = to.shape(b);
  const int rank = std::max(left.rank(), right.rank());
  const double pairs = static_cast<double>(left.element_count()) * right[right.rank() - 1] *
                       (left.rank() < right.rank() ? CountBetween(right, 0, right.rank() - 2) : 1);
  if (rank >= Shape::kMaxRank || pairs > kMostPairs) {
    return Error(StatusCode::kUnsupported, "a product of integers {} by {}", left.ToString(), right.ToString());
  }
  const Made products = to.Add(BinaryKind::kMul, {to.AddReshape(a, WithDimension(left, left.rank(), 1)),
                                                  to.AddReshape(b, WithDimension(right, right.rank() - 2, 1))});
  return to.Add(Reduce{.kind = ReduceKind::kSum, .axes_mask = 1u << (rank - 1), .keep_dims = false}, {products});
}

}  // namespace

Made OfMatrices(NodeWriter& to, ValueId a, ValueId b, const std::function<Made(ValueId, ValueId)>& product_of) {
  const Shape left = to.shape(a), right = to.shape(b);
  if (left.rank() == 0 || right.rank() == 0) return Error(StatusCode::kMalformedInput, "a product with a scalar");
  HEARTH_ASSIGN(const ValueId first, left.rank() == 1 ? to.AddReshape(a, {1, left[0]}) : Made(a));
  HEARTH_ASSIGN(const ValueId second, right.rank() == 1 ? to.AddReshape(b, {right[0], 1}) : Made(b));
  HEARTH_ASSIGN(const ValueId product, product_of(first, second));
  Shape made = to.shape(product);
  if (right.rank() == 1) made = Without(made, made.rank() - 1);
  if (left.rank() == 1) made = Without(made, made.rank() - (right.rank() == 1 ? 1 : 2));
  return to.AddReshape(product, made);
}

Made AddProduct(NodeWriter& to, ValueId a, ValueId b, ValueId bias) {
  const Shape left = to.shape(a), right = to.shape(b);
  if (right.rank() == 2 && left.rank() >= 2 && to.IsConstant(b) && to.desc(a).dtype == DType::kFloat32) {
    return to.Add(FullyConnected{.keep_dims = true}, {a, AddPermuted(to, b, {1, 0}), bias});
  }
  if (to.IsConstant(b)) {  // only layers read 8 bits
    HEARTH_ASSIGN(const ValueId floats, AddReadable(to, b));
    if (floats != b) return AddProduct(to, a, floats, bias);
  }
  const auto multiply = IsFloat(to.desc(a).dtype) ? AddBatched : IntegerProduct;
  const Made product = OfMatrices(to, a, b, [&](ValueId x, ValueId y) { return multiply(to, x, y); });
  return bias == kNoValue ? product : to.Add(BinaryKind::kAdd, {product, bias});
}

// With the last two dimensions exchanged.
Made Turned(NodeWriter& to, const Made& x) {
  HEARTH_TRY(x.status());
  const int rank = to.shape(*x).rank();
  return rank < 2 ? x : AddPermuted(to, x, Exchange(rank - 2, rank - 1, rank));
}

// A factor of FusedMatMul whose first dimension is that of its rows: that comes behind the batch.
Made RowsBehindBatch(NodeWriter& to, const Made& x) {
  HEARTH_TRY(x.status());
  const int rank = to.shape(*x).rank();
  if (rank < 3) return x;
  Shape order = to.shape(*x);
  for (int d = 0; d < rank; ++d) order[d] = d == rank - 1 ? d : (d + 1) % (rank - 1);
  return AddPermuted(to, x, order);
}

// Also FusedMatMul, which has a factor and attributes as Gemm.
Results ReadMatMul(OpView& op, GraphWriter& to) {
  const Made left = op.Int("transBatchA", 0) != 0 ? RowsBehindBatch(to, op.In(0)) : op.In(0);
  HEARTH_ASSIGN(const ValueId a, op.Int("transA", 0) != 0 ? Turned(to, left) : left);
  const bool is_turned = op.Int("transB", 0) != 0, is_behind = op.Int("transBatchB", 0) != 0;
  const ValueId layer = to.shape(a).rank() < 2 || is_behind ? kNoValue : op.BlockedLayer(1, is_turned);
  const auto product = [&]() -> Made {
    if (layer != kNoValue) return to.Add(FullyConnected{.keep_dims = true}, {a, layer});
    const Made right = is_behind ? RowsBehindBatch(to, op.In(1)) : op.Weights(1);
    HEARTH_ASSIGN(const ValueId b, is_turned ? Turned(to, right) : right);
    return AddProduct(to, a, b, kNoValue);
  };
  HEARTH_ASSIGN(const ValueId made, product());
  const double alpha = op.Float("alpha", 1.0);
  return Plain(alpha == 1.0 ? Made(made) : to.Add(BinaryKind::kMul, {made, AddScalarLike(to, made, alpha)}));
}

Results ReadGemm(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId a, op.Int("transA", 0) != 0 ? Turned(to, op.In(0)) : op.In(0));
  const ValueId layer = op.BlockedLayer(1, op.Int("transB", 0) != 0);
  HEARTH_ASSIGN(const ValueId given, layer != kNoValue ? Made(layer) : op.Weights(1));
  const bool is_turned = layer != kNoValue || op.Int("transB", 0) != 0;
  // A layer's weights, as they are: nothing is turned there and back.
  const bool is_layer = is_turned && to.IsConstant(given) && to.shape(given).rank() == 2 && to.shape(a).rank() == 2 &&
                        to.desc(a).dtype == DType::kFloat32;
  const bool is_copied = is_layer && to.desc(given).dtype == DType::kFloat32;  // from an odd address
  HEARTH_ASSIGN(const ValueId kept, is_copied ? AddReadable(to, given) : Made(given));
  HEARTH_ASSIGN(const ValueId b, is_turned && !is_layer ? Turned(to, kept) : Made(kept));
  if (to.shape(a).rank() != 2 || to.shape(b).rank() != 2) {
    return Error(StatusCode::kMalformedInput, "{} by {}", to.shape(a).ToString(), to.shape(b).ToString());
  }
  const int32_t columns = to.shape(b)[is_layer ? 0 : 1];
  const double alpha = op.Float("alpha", 1.0), beta = op.Float("beta", 1.0);
  HEARTH_ASSIGN(ValueId added, beta != 0.0 ? op.Optional(2) : Made(kNoValue));
  if (added != kNoValue && beta != 1.0) {
    HEARTH_ASSIGN(added, to.Add(BinaryKind::kMul, {added, AddScalarLike(to, added, beta)}));
  }
  // A constant bias of one number for each column belongs to the layer, but that of no products, which has none.
  const bool is_bias = added != kNoValue && to.IsConstant(added) && alpha == 1.0 && !to.IsEmpty(b) &&
                       to.shape(added).element_count() == columns && to.shape(added).rank() > 0 &&
                       to.shape(added)[to.shape(added).rank() - 1] == columns;
  const Made bias = is_bias ? to.AddReshape(added, {columns}) : Made(kNoValue);
  HEARTH_TRY(bias.status());
  Made made = is_layer ? to.Add(FullyConnected{.keep_dims = true}, {a, b, *bias}) : AddProduct(to, a, b, *bias);
  if (alpha != 1.0 && made.ok()) made = to.Add(BinaryKind::kMul, {made, AddScalarLike(to, *made, alpha)});
  if (added != kNoValue && !is_bias) made = to.Add(BinaryKind::kAdd, {made, added});
  return Plain(AddFusedActivation(op, made));
}

// Of matrices of a few rows: from the last row on, the determinant of each choice of columns, which is a sum of the row
// above times the determinants without one of its columns (Laplace).
Results ReadDet(OpView& op, GraphWriter& to) {
  constexpr int32_t kMostRows = 5;
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  const Shape shape = to.shape(x);
  const int rank = shape.rank();
  if (rank < 2 || shape[rank - 1] != shape[rank - 2] || shape[rank - 1] < 1 || shape[rank - 1] > kMostRows) {
    return Error(StatusCode::kUnsupported, "determinants of {}, of up to {} rows", shape.ToString(), kMostRows);
  }
  const int32_t size = shape[rank - 1], choices = 1 << size;
  std::vector<Made> minors(static_cast<size_t>(choices), Made(kNoValue));  // by the bits of their columns
  for (int32_t row = size - 1; row >= 0; --row) {
    const Made line = to.AddSlice(x, rank - 2, row, 1);
    for (int32_t chosen = choices - 1; chosen > 0; --chosen) {
      if (std::popcount(static_cast<uint32_t>(chosen)) != size - row) continue;
      Made sum(kNoValue);
      bool is_added = true;
      for (int32_t column = 0; column < size; ++column) {
        if ((chosen >> column & 1) == 0) continue;
        const Made element = to.AddSlice(line, rank - 1, column, 1);
        const Made& rest = minors[static_cast<size_t>(chosen & ~(1 << column))];
        const Made part = row == size - 1 ? element : to.Add(BinaryKind::kMul, {element, rest});
        HEARTH_TRY(sum.status());
        sum = *sum == kNoValue ? part : to.Add(is_added ? BinaryKind::kAdd : BinaryKind::kSub, {sum, part});
        is_added = !is_added;
      }
      minors[static_cast<size_t>(chosen)] = sum;
    }
  }
  return Plain(to.AddReshape(minors.back(), Without(Without(shape, rank - 1), rank - 2)));
}

constexpr OperatorRow kProductRows[] = {
    {"Det", ReadDet},
    {"Gemm", ReadGemm},
    {"FusedGemm", ReadGemm, 0, kMicrosoft},
    {"MatMul", ReadMatMul},
    {"FusedMatMul", ReadMatMul, 0, kMicrosoft},
};
const OperatorList kProductOperators = kProductRows;

}  // namespace hearth::onnx
