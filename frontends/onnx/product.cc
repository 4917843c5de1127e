// Products of matrices.
#include "frontends/onnx/product.h"

#include <algorithm>

#include "core/base/error.h"
#include "frontends/onnx/operators.h"

namespace hearth::onnx {
namespace {

constexpr int kMostRank = 5;  // of BatchMatMul

// Leading dimensions as one, where both factors have the same.
Made AddBatched(NodeWriter& to, ValueId a, ValueId b) {
  const Shape left = to.shape(a), right = to.shape(b);
  const int rank = std::max(left.rank(), right.rank());
  if (rank <= kMostRank) return to.Add(BatchMatMul{}, {a, b});
  if (left.rank() != right.rank() || !std::equal(left.dims().begin(), left.dims().end() - 2, right.dims().begin())) {
    return Error(StatusCode::kUnsupported, "a product of {} by {}", left.ToString(), right.ToString());
  }
  const auto batch = static_cast<int32_t>(CountBetween(left, 0, rank - 2));
  const auto flat = [&](ValueId x) {
    const Shape shape = to.shape(x);
    return to.AddReshape(x, {batch, shape[rank - 2], shape[rank - 1]});
  };
  Shape made = left;
  made[rank - 1] = right[rank - 1];
  return to.AddReshape(to.Add(BatchMatMul{}, {flat(a), flat(b)}), made);
}

}  // namespace

Made AddProduct(NodeWriter& to, ValueId a, ValueId b, ValueId bias) {
  const Shape left = to.shape(a), right = to.shape(b);
  if (left.rank() == 0 || right.rank() == 0) return Error(StatusCode::kMalformedInput, "a product with a scalar");
  if (right.rank() == 2 && left.rank() >= 2 && to.IsConstant(b) && to.desc(a).dtype == DType::kFloat32) {
    Operands operands{a, AddPermuted(to, b, {1, 0})};
    if (bias != kNoValue) operands.ids.push_back(bias);
    return to.Add(FullyConnected{.keep_dims = true}, operands);
  }
  // Vectors as matrices of one row or column.
  const Made first = left.rank() == 1 ? to.AddReshape(a, {1, left[0]}) : Made(a);
  const Made second = right.rank() == 1 ? to.AddReshape(b, {right[0], 1}) : Made(b);
  HEARTH_TRY(first.status());
  HEARTH_TRY(second.status());
  Made product = AddBatched(to, *first, *second);
  if (product.ok() && (left.rank() == 1 || right.rank() == 1)) {
    std::vector<int32_t> dims(to.shape(*product).dims().begin(), to.shape(*product).dims().end());
    if (right.rank() == 1) dims.pop_back();
    if (left.rank() == 1) dims.erase(dims.end() - (right.rank() == 1 ? 1 : 2));
    product = to.AddReshape(product, Shape::FromSpan(dims));
  }
  return bias == kNoValue ? product : to.Add(BinaryKind::kAdd, {product, bias});
}

Results ReadMatMul(OpView& op) {
  HEARTH_ASSIGN(const ValueId a, op.In(0));
  HEARTH_ASSIGN(const ValueId b, op.In(1));
  Made made = AddProduct(op.to(), a, b, kNoValue);
  // FusedMatMul's factor.
  if (const double alpha = op.Float("alpha", 1.0); alpha != 1.0 && made.ok()) {
    made = op.to().Add(BinaryKind::kMul, {made, AddScalarLike(op.to(), *made, alpha)});
  }
  for (const std::string_view name : {"transA", "transB", "transBatchA", "transBatchB"}) {
    if (op.Int(name, 0) != 0) return Error(StatusCode::kUnsupported, "{}", name);
  }
  return Plain(made);
}

Results ReadGemm(OpView& op) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(ValueId a, op.In(0));
  HEARTH_ASSIGN(ValueId b, op.In(1));
  if (op.Int("transA", 0) != 0) {
    HEARTH_ASSIGN(a, AddPermuted(to, a, {1, 0}));
  }
  if (op.Int("transB", 0) != 0) {
    HEARTH_ASSIGN(b, AddPermuted(to, b, {1, 0}));
  }
  if (to.shape(a).rank() != 2 || to.shape(b).rank() != 2) {
    return Error(StatusCode::kMalformedInput, "{} by {}", to.shape(a).ToString(), to.shape(b).ToString());
  }
  const double alpha = op.Float("alpha", 1.0), beta = op.Float("beta", 1.0);
  ValueId added = kNoValue;
  if (op.Has(2) && beta != 0.0) {
    HEARTH_ASSIGN(added, op.In(2));
    if (beta != 1.0) {
      HEARTH_ASSIGN(added, to.Add(BinaryKind::kMul, {added, AddScalarLike(to, added, beta)}));
    }
  }
  // A constant bias of one number for each column belongs to the layer.
  const bool is_bias = added != kNoValue && to.IsConstant(added) && alpha == 1.0 &&
                       to.shape(added).element_count() == to.shape(b)[1] && to.shape(added).rank() > 0 &&
                       to.shape(added)[to.shape(added).rank() - 1] == to.shape(b)[1];
  const Made bias = is_bias ? to.AddReshape(added, {to.shape(b)[1]}) : Made(kNoValue);
  HEARTH_TRY(bias.status());
  Made made = AddProduct(to, a, b, *bias);
  if (alpha != 1.0 && made.ok()) made = to.Add(BinaryKind::kMul, {made, AddScalarLike(to, *made, alpha)});
  if (added != kNoValue && !is_bias) made = to.Add(BinaryKind::kAdd, {made, added});
  return Plain(made);
}

std::span<const OperatorRow> ProductOperators() {
  static constexpr OperatorRow kRows[] = {
      {"Gemm", ReadGemm},
      {"MatMul", ReadMatMul},
      {"FusedMatMul", ReadMatMul, 0, kMicrosoft},
  };
  return kRows;
}

}  // namespace hearth::onnx
