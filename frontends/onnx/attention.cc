// Attention of queries to keys and values, in several heads.
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/error.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/product.h"

namespace hearth::onnx {
namespace {

constexpr double kHidden = -1e30;  // what a mask adds to a score: several may add up

// [batch, heads, length, size], from that or from [batch, length, heads * size].
Made Heads(OpView& op, size_t i, std::string_view attribute) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(const ValueId x, op.In(i));
  const Shape shape = to.shape(x);
  if (shape.rank() == 4) return x;
  const int64_t heads = op.Int(attribute, 0);
  if (shape.rank() != 3 || heads < 1 || heads > shape[2] || shape[2] % heads != 0) {
    return Error(StatusCode::kMalformedInput, "{} heads in shape {}", heads, shape.ToString());
  }
  const auto count = static_cast<int32_t>(heads);
  return to.AddTranspose(to.AddReshape(x, {shape[0], shape[1], count, shape[2] / count}), {0, 2, 1, 3});
}

// Keys or values with those of earlier calls before them.
Made WithPast(OpView& op, const Made& x, size_t past) {
  return op.Has(past) ? op.to().Add(Concat{.axis = 2}, {op.In(past), x}) : x;
}

// Each head of x as often as several heads of the queries share it.
Made Shared(NodeWriter& to, ValueId x, int32_t heads) {
  const Shape shape = to.shape(x);
  if (shape[1] == heads) return x;
  if (shape[1] < 1 || heads % shape[1] != 0) {
    return Error(StatusCode::kMalformedInput, "{} heads of queries for {} of keys", heads, shape[1]);
  }
  const Made apart = to.AddReshape(x, {shape[0], shape[1], 1, shape[2], shape[3]});
  const Shape repeated{shape[0], shape[1], heads / shape[1], shape[2], shape[3]};
  return to.AddReshape(to.Add(BroadcastTo{repeated}, {apart}), {shape[0], heads, shape[2], shape[3]});
}

// What is added to scores of `keys` keys: the numbers of the mask, or 0 where it is true.
Made MaskOf(OpView& op, int32_t keys) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(const ValueId mask, op.In(3));
  const Shape shape = to.shape(mask);
  const int last = shape.rank() - 1;
  if (last < 0 || shape[last] > keys) return Error(StatusCode::kMalformedInput, "a mask of {}", shape.ToString());
  const Made hidden = to.AddNumber(DType::kFloat32, kHidden);
  const Made added = to.desc(mask).dtype == DType::kBool
                         ? to.Add(Select{}, {mask, to.AddNumber(DType::kFloat32, 0.0), hidden})
                         : to.Add(BinaryKind::kMaximum, {mask, hidden});
  return to.AddPad(added, last, 0, keys - shape[last], kHidden);
}

// Query i sees the keys up to i + `before`.
Made CausalMask(NodeWriter& to, int32_t queries, int32_t keys, int32_t before) {
  HEARTH_TRY(to.budget().CheckRoom({queries, keys}, DType::kFloat32));
  std::vector<double> numbers;
  for (int64_t i = 0; i < queries; ++i) {
    for (int64_t key = 0; key < keys; ++key) numbers.push_back(key <= i + before ? 0.0 : kHidden);
  }
  return to.AddConstant({queries, keys}, DType::kFloat32, numbers);
}

// (queries, keys, values, mask?, past keys?, past values?) -> (results, keys, values, scores)
Results ReadAttention(OpView& op) {
  NodeWriter& to = op.to();
  if (op.Int("left_window_size", -1) >= 0 || op.Int("right_window_size", -1) >= 0 || op.Has(6)) {
    return Error(StatusCode::kUnsupported, "windows, or lengths of keys at run time");
  }
  HEARTH_ASSIGN(const TensorDesc given, op.Desc(0));
  HEARTH_ASSIGN(const ValueId queries, Heads(op, 0, "q_num_heads"));
  HEARTH_ASSIGN(const ValueId fresh, Heads(op, 1, "kv_num_heads"));
  HEARTH_ASSIGN(const ValueId keys, WithPast(op, fresh, 4));
  HEARTH_ASSIGN(const ValueId values, WithPast(op, Heads(op, 2, "kv_num_heads"), 5));
  const Shape shape = to.shape(queries), of_keys = to.shape(keys);
  if (of_keys.rank() != 4 || to.shape(values).rank() != 4) {
    return Error(StatusCode::kMalformedInput, "queries of shape {}, keys of shape {}", shape.ToString(),
                 of_keys.ToString());
  }
  const int32_t length = shape[2], count = of_keys[2];
  const double factor = op.Float("scale", 1.0 / std::sqrt(static_cast<double>(shape[3])));
  if (!(factor >= 0.0)) return Error(StatusCode::kMalformedInput, "scale={}", factor);
  const double scale = std::sqrt(factor);
  const auto scaled = [&](const Made& x) {
    return to.Add(BinaryKind::kMul, {x, to.AddNumber(DType::kFloat32, scale)});
  };
  HEARTH_ASSIGN(const ValueId left, scaled(queries));
  HEARTH_ASSIGN(const ValueId right, to.AddTranspose(scaled(Shared(to, keys, shape[1])), {0, 1, 3, 2}));
  // The scores at their stages, one of which is an output: products, capped, masked, as shares.
  std::vector<ValueId> stages(4);
  HEARTH_ASSIGN(stages[0], AddProduct(to, left, right, kNoValue));
  stages[1] = stages[0];
  if (const double cap = op.Float("softcap", 0.0); cap > 0.0) {
    const Made limit = to.AddNumber(DType::kFloat32, cap);
    const Made bent = to.Add(UnaryKind::kTanh, to.Add(BinaryKind::kDiv, {stages[0], limit}));
    HEARTH_ASSIGN(stages[1], to.Add(BinaryKind::kMul, {bent, limit}));
  }
  Made mask = op.Has(3) ? MaskOf(op, count) : Made(kNoValue);
  if (op.Int("is_causal", 0) != 0) {
    const Made causal = CausalMask(to, length, count, count - to.shape(fresh)[2]);
    mask = op.Has(3) ? to.Add(BinaryKind::kAdd, {mask, causal}) : causal;
  }
  HEARTH_ASSIGN(const ValueId added, mask);
  HEARTH_ASSIGN(stages[2], added == kNoValue ? Made(stages[1]) : to.Add(BinaryKind::kAdd, {stages[1], added}));
  HEARTH_ASSIGN(stages[3], to.Add(Softmax{}, {stages[2]}));
  if (added != kNoValue) {  // a query that sees no key has shares of 0
    const Reduce most{.kind = ReduceKind::kMax, .axes_mask = 1u << (to.shape(added).rank() - 1), .keep_dims = true};
    const Made sees = to.Add(BinaryKind::kGreater, {to.Add(most, {added}), to.AddNumber(DType::kFloat32, kHidden / 2)});
    HEARTH_ASSIGN(stages[3], to.Add(BinaryKind::kMul, {stages[3], to.AddCast(sees, DType::kFloat32)}));
  }
  HEARTH_ASSIGN(const ValueId shared, Shared(to, values, shape[1]));
  HEARTH_ASSIGN(ValueId made, AddProduct(to, stages[3], shared, kNoValue));
  if (given.shape.rank() == 3) {
    HEARTH_ASSIGN(
        made, to.AddReshape(to.AddTranspose(made, {0, 2, 1, 3}), {shape[0], length, shape[1] * to.shape(values)[3]}));
  }
  if (added != kNoValue && op.HasOutput(3)) {  // as the format has it: hidden scores are infinitely low
    const double infinity = std::numeric_limits<double>::infinity();
    const Made hides = to.Add(BinaryKind::kLess, {added, to.AddNumber(DType::kFloat32, kHidden / 2)});
    HEARTH_ASSIGN(stages[2], to.Add(Select{}, {hides, to.AddNumber(DType::kFloat32, -infinity), stages[2]}));
  }
  const int64_t stage = op.Int("qk_matmul_output_mode", 0);
  if (stage < 0 || stage > 3) return Error(StatusCode::kMalformedInput, "qk_matmul_output_mode={}", stage);
  return std::vector{Tensor{.plain = made}, Tensor{.plain = keys}, Tensor{.plain = values},
                     Tensor{.plain = stages[static_cast<size_t>(stage)]}};
}

}  // namespace

std::span<const OperatorRow> AttentionOperators() {
  static constexpr OperatorRow kRows[] = {
      {"Attention", ReadAttention},
  };
  return kRows;
}

}  // namespace hearth::onnx
