// Attention of queries to keys and values, in several heads.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/error.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/product.h"

namespace hearth::onnx {
namespace {

constexpr double kHidden = -1e30;  // what a mask adds to a score: several may add up
constexpr int64_t kMostDistance = 1 << 30;

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

// What is added to scores: 0 where `visible` is true.
Made AddedWhere(NodeWriter& to, const Made& visible) {
  return to.Add(Select{}, {visible, to.AddNumber(DType::kFloat32, 0.0), to.AddNumber(DType::kFloat32, kHidden)});
}

// The same of the mask, for `keys` keys.
Made MaskOf(OpView& op, int32_t keys) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(const ValueId mask, op.In(3));
  const Shape shape = to.shape(mask);
  const int last = shape.rank() - 1;
  if (last < 0 || shape[last] > keys) return Error(StatusCode::kMalformedInput, "a mask of {}", shape.ToString());
  const Made added = to.desc(mask).dtype == DType::kBool
                         ? AddedWhere(to, mask)
                         : to.Add(BinaryKind::kMaximum, {mask, to.AddNumber(DType::kFloat32, kHidden)});
  return to.AddPad(added, last, 0, keys - shape[last], kHidden);
}

// Which keys each query sees, by rules and lengths: kNoValue where it sees all. `past` keys lie before the new ones.
Made VisibleKeys(OpView& op, int32_t queries, int32_t keys, int32_t past) {
  NodeWriter& to = op.to();
  const int64_t left = op.Int("left_window_size", -1), right = op.Int("right_window_size", -1);
  HEARTH_ASSIGN(const bool is_causal, op.Flag("is_causal"));
  if (std::min(left, right) < -1) return Error(StatusCode::kMalformedInput, "windows of {} and {}", left, right);
  HEARTH_TRY(to.budget().CheckRoom({queries, keys}, DType::kInt32));
  const auto number = [&](int64_t n) {
    return to.AddNumber(DType::kInt32, static_cast<double>(std::clamp(n, -kMostDistance, kMostDistance)));
  };
  Made visible(kNoValue);
  const auto limit = [&](BinaryKind kind, const Made& a, const Made& b) {
    const Made sees = to.Add(kind, {a, b});
    visible = visible.ok() && *visible == kNoValue ? sees : to.Add(BinaryKind::kLogicalAnd, {visible, sees});
  };
  const Made key = to.AddIndices({1, keys});
  Made first = number(past);  // the place of the first query among the keys
  if (op.Has(6)) {
    HEARTH_ASSIGN(const TensorDesc lengths, op.Desc(6));
    const auto batch = static_cast<int32_t>(lengths.shape.element_count());
    const Made counts = to.AddReshape(to.AddCast(op.In(6), DType::kInt32), {batch, 1, 1, 1});
    limit(BinaryKind::kLess, key, counts);
    first = to.Add(BinaryKind::kSub, {counts, number(queries)});
  }
  const Made place = to.Add(BinaryKind::kAdd, {to.AddIndices({queries, 1}), first});
  const Made distance = to.Add(BinaryKind::kSub, {key, place});
  if (is_causal) limit(BinaryKind::kLessEqual, distance, number(0));
  if (left >= 0) limit(BinaryKind::kGreaterEqual, distance, number(-left));
  if (right >= 0) limit(BinaryKind::kLessEqual, distance, number(right));
  return visible;
}

// (queries, keys, values, mask?, past keys?, past values?, numbers of keys?) -> (results, keys, values, scores)
Results ReadAttention(OpView& op) {
  NodeWriter& to = op.to();
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
  const double cap = op.Float("softcap", 0.0);
  if (!(cap >= 0.0)) return Error(StatusCode::kMalformedInput, "softcap={}", cap);
  if (cap > 0.0) {
    const Made limit = to.AddNumber(DType::kFloat32, cap);
    const Made bent = to.Add(UnaryKind::kTanh, to.Add(BinaryKind::kDiv, {stages[0], limit}));
    HEARTH_ASSIGN(stages[1], to.Add(BinaryKind::kMul, {bent, limit}));
  }
  Made mask = op.Has(3) ? MaskOf(op, count) : Made(kNoValue);
  HEARTH_ASSIGN(const ValueId visible, VisibleKeys(op, length, count, count - to.shape(fresh)[2]));
  if (visible != kNoValue) {
    const Made seen = AddedWhere(to, visible);
    mask = op.Has(3) ? to.Add(BinaryKind::kAdd, {mask, seen}) : seen;
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

// (x, cosines, sines, positions?), those of com.microsoft with the positions first: pairs of elements of each head are
// turned by the angles of their position (Su et al., "RoFormer").
Results ReadRotaryEmbedding(OpView& op) {
  NodeWriter& to = op.to();
  const bool is_microsoft = op.kind() != 0;
  const size_t positions_at = is_microsoft ? 1 : 3, cosines_at = is_microsoft ? 2 : 1;
  HEARTH_ASSIGN(const TensorDesc given, op.Desc(0));
  HEARTH_ASSIGN(const TensorDesc angles, op.Desc(cosines_at));
  const Shape shape = given.shape;
  const int rank = shape.rank(), last = angles.shape.rank() - 1;
  const int32_t half = last < 1 ? 0 : angles.shape[last];
  if (rank < 3 || rank > 4 || half < 1 || half > kMostDistance / 2 || op.Int("is_packed_batching", 0) != 0) {
    return Error(StatusCode::kUnsupported, "an operand of shape {}, angles of shape {}", shape.ToString(),
                 angles.shape.ToString());
  }
  // [batch, heads, length, size], or with a rank of 3 [batch, length, heads, size].
  const int32_t length = shape[rank == 4 ? 2 : 1];
  const int64_t heads = rank == 4                    ? shape[1]
                        : op.Int("num_heads", 0) > 0 ? op.Int("num_heads", 0)
                                                     : shape[2] / (2 * half);
  const int64_t size = rank == 4 ? shape[3] : heads < 1 || shape[2] % heads != 0 ? 0 : shape[2] / heads;
  const int64_t turned = op.Int("rotary_embedding_dim", 0);
  if (size < 2 * half || (turned != 0 && turned != 2 * half)) {
    return Error(StatusCode::kMalformedInput, "{} heads of shape {} with {} angles", heads, shape.ToString(), half);
  }
  const auto count = static_cast<int32_t>(heads), width = static_cast<int32_t>(size);
  HEARTH_ASSIGN(const ValueId x, to.AddReshape(op.In(0), rank == 4 ? shape : Shape{shape[0], length, count, width}));
  Made positions = op.Has(positions_at) ? to.AddCast(op.In(positions_at), DType::kInt32) : Made(kNoValue);
  HEARTH_TRY(positions.status());
  if (*positions != kNoValue && to.shape(*positions).rank() == 1) {  // that of the first element
    positions = to.Add(BinaryKind::kAdd, {to.AddIndices({1, length}), positions});
  }
  const auto angle = [&](size_t i) -> Made {
    const Made taken = *positions == kNoValue ? op.In(i) : to.Add(Gather{0, 0}, {op.In(i), positions});
    HEARTH_ASSIGN(const ValueId list, taken);
    const auto batch =
        static_cast<int32_t>(to.shape(list).element_count() / std::max<int64_t>(1, int64_t{half} * length));
    return to.AddReshape(list, rank == 4 ? Shape{batch, 1, length, half} : Shape{batch, length, 1, half});
  };
  HEARTH_TRY(positions.status());
  HEARTH_ASSIGN(const ValueId cosine, angle(cosines_at));
  HEARTH_ASSIGN(const ValueId sine, angle(cosines_at + 1));
  HEARTH_ASSIGN(const bool is_interleaved, op.Flag("interleaved"));
  HEARTH_ASSIGN(const ValueId first, to.AddSlice(x, 3, 0, half, is_interleaved ? 2 : 1));
  HEARTH_ASSIGN(const ValueId second, to.AddSlice(x, 3, is_interleaved ? 1 : half, half, is_interleaved ? 2 : 1));
  const auto times = [&](ValueId a, ValueId b) { return to.Add(BinaryKind::kMul, {a, b}); };
  const Operands parts{to.Add(BinaryKind::kSub, {times(cosine, first), times(sine, second)}),
                       to.Add(BinaryKind::kAdd, {times(sine, first), times(cosine, second)})};
  Shape pairs = to.shape(x);
  pairs[3] = 2 * half;
  Made made = is_interleaved ? to.AddReshape(to.Add(Pack{4}, parts), pairs) : to.Add(Concat{.axis = 3}, parts);
  if (2 * half < width) made = to.Add(Concat{.axis = 3}, {made, to.AddSlice(x, 3, 2 * half, width - 2 * half)});
  return Plain(to.AddReshape(made, shape));
}

}  // namespace

std::span<const OperatorRow> AttentionOperators() {
  static constexpr OperatorRow kRows[] = {
      {"Attention", ReadAttention},
      {"RotaryEmbedding", ReadRotaryEmbedding},
      {"RotaryEmbedding", ReadRotaryEmbedding, 1, kMicrosoft},
  };
  return kRows;
}

}  // namespace hearth::onnx
