#include "frontends/onnx/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/base/error.h"
#include "frontends/onnx/shared.h"

namespace hearth::onnx {
namespace {

constexpr int64_t kMostDistance = 1 << 30;

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

}  // namespace

Made HeadsOf(NodeWriter& to, const Made& x, int64_t heads) {
  HEARTH_TRY(x.status());
  const Shape shape = to.shape(*x);
  if (shape.rank() == 4) return x;
  if (shape.rank() != 3 || heads < 1 || heads > shape[2] || shape[2] % heads != 0) {
    return Error(StatusCode::kMalformedInput, "{} heads in shape {}", heads, shape.ToString());
  }
  const auto count = static_cast<int32_t>(heads);
  return to.AddTranspose(to.AddReshape(x, {shape[0], shape[1], count, shape[2] / count}), {0, 2, 1, 3});
}

Made FromHeads(NodeWriter& to, const Made& x) {
  HEARTH_TRY(x.status());
  const Shape shape = to.shape(*x);
  return to.AddReshape(to.AddTranspose(x, {0, 2, 1, 3}), {shape[0], shape[2], shape[1] * shape[3]});
}

Made AddedWhere(NodeWriter& to, const Made& visible, double hidden) {
  return to.Add(Select{}, {visible, to.AddNumber(DType::kFloat32, 0.0), to.AddNumber(DType::kFloat32, hidden)});
}

Made AddBoth(NodeWriter& to, BinaryKind kind, const Made& a, const Made& b) {
  if (a.ok() && *a == kNoValue) return b;
  return b.ok() && *b == kNoValue ? a : to.Add(kind, {a, b});
}

Made VisibleKeys(NodeWriter& to, int32_t queries, int32_t keys, const Made& first, int64_t left, int64_t right) {
  if (std::min(left, right) < -1) return Error(StatusCode::kMalformedInput, "windows of {} and {}", left, right);
  if (left == -1 && right == -1) return kNoValue;
  HEARTH_TRY(to.budget().CheckRoom({queries, keys}, DType::kInt32));
  const Made place = to.Add(BinaryKind::kAdd, {to.AddIndices({queries, 1}), first});
  const Made distance = to.Add(BinaryKind::kSub, {to.AddIndices({1, keys}), place});
  const auto limit = [&](int64_t reach, BinaryKind kind, double sign) -> Made {
    if (reach == -1) return kNoValue;
    const auto most = static_cast<double>(std::min(reach, kMostDistance));
    return to.Add(kind, {distance, to.AddNumber(DType::kInt32, sign * most)});
  };
  return AddBoth(to, BinaryKind::kLogicalAnd, limit(left, BinaryKind::kGreaterEqual, -1.0),
                 limit(right, BinaryKind::kLessEqual, 1.0));
}

Made WithPast(OpView& op, const Made& fresh, size_t past) {
  return op.Has(past) ? op.to().Add(Concat{.axis = 2}, {op.In(past), fresh}) : fresh;
}

Result<Attended> AddAttention(NodeWriter& to, const Heads& heads, const Scoring& scoring) {
  const Shape shape = to.shape(heads.queries), keys = to.shape(heads.keys);
  if (shape.rank() != 4 || keys.rank() != 4 || to.shape(heads.values).rank() != 4) {
    return Error(StatusCode::kMalformedInput, "queries of shape {}, keys of shape {}", shape.ToString(),
                 keys.ToString());
  }
  const double scale = scoring.scale == 0.0 ? 1.0 / std::sqrt(static_cast<double>(shape[3])) : scoring.scale;
  const double cap = scoring.cap;
  if (!(std::isfinite(scale) && cap >= 0.0)) {
    return Error(StatusCode::kMalformedInput, "scale={}, softcap={}", scale, cap);
  }
  const auto number = [&](double value) { return to.AddNumber(DType::kFloat32, value); };
  HEARTH_ASSIGN(const ValueId left, to.Add(BinaryKind::kMul, {heads.queries, number(scale)}));
  HEARTH_ASSIGN(const ValueId right, to.AddTranspose(Shared(to, heads.keys, shape[1]), {0, 1, 3, 2}));
  Attended made;
  auto& [products, capped, masked, shares] = made.stages;
  HEARTH_ASSIGN(products, AddProduct(to, left, right, kNoValue));
  capped = products;
  if (cap > 0.0) {
    const Made bent = to.Add(UnaryKind::kTanh, to.Add(BinaryKind::kDiv, {products, number(cap)}));
    HEARTH_ASSIGN(capped, to.Add(BinaryKind::kMul, {bent, number(cap)}));
  }
  const ValueId added = scoring.added;
  HEARTH_ASSIGN(masked, added == kNoValue ? Made(capped) : to.Add(BinaryKind::kAdd, {capped, added}));
  if (scoring.sinks == kNoValue) {
    HEARTH_ASSIGN(shares, to.Add(Softmax{}, {masked}));
  } else {
    const Shape all = to.shape(masked);
    const Made sinks = to.Add(BroadcastTo{{all[0], all[1], all[2], 1}}, {scoring.sinks});
    HEARTH_ASSIGN(shares, to.AddSlice(to.Add(Softmax{}, {to.Add(Concat{.axis = 3}, {masked, sinks})}), 3, 0, all[3]));
  }
  if (added != kNoValue && scoring.may_see_none) {
    const Reduce most{.kind = ReduceKind::kMax, .axes_mask = 1u << (to.shape(added).rank() - 1), .keep_dims = true};
    const Made sees = to.Add(BinaryKind::kGreater, {to.Add(most, {added}), number(kHidden / 2)});
    HEARTH_ASSIGN(shares, to.Add(BinaryKind::kMul, {shares, to.AddCast(sees, DType::kFloat32)}));
  }
  HEARTH_ASSIGN(const ValueId values, Shared(to, heads.values, shape[1]));
  HEARTH_ASSIGN(made.result, AddProduct(to, shares, values, kNoValue));
  return made;
}

Made AddTurned(NodeWriter& to, ValueId x, ValueId cosine, ValueId sine, bool is_interleaved) {
  Shape pairs = to.shape(x);
  const int32_t half = to.shape(cosine)[3], width = pairs[3];
  HEARTH_ASSIGN(const ValueId first, to.AddSlice(x, 3, 0, half, is_interleaved ? 2 : 1));
  HEARTH_ASSIGN(const ValueId second, to.AddSlice(x, 3, is_interleaved ? 1 : half, half, is_interleaved ? 2 : 1));
  const auto times = [&](ValueId a, ValueId b) { return to.Add(BinaryKind::kMul, {a, b}); };
  const Operands parts{to.Add(BinaryKind::kSub, {times(cosine, first), times(sine, second)}),
                       to.Add(BinaryKind::kAdd, {times(sine, first), times(cosine, second)})};
  pairs[3] = 2 * half;
  Made made = is_interleaved ? to.AddReshape(to.Add(Pack{4}, parts), pairs) : to.Add(Concat{.axis = 3}, parts);
  if (2 * half < width) made = to.Add(Concat{.axis = 3}, {made, to.AddSlice(x, 3, 2 * half, width - 2 * half)});
  return made;
}

namespace {

// What the mask adds to scores of `keys` keys.
Made MaskOf(OpView& op, NodeWriter& to, int32_t keys) {
  HEARTH_ASSIGN(const ValueId mask, op.In(3));
  const Shape shape = to.shape(mask);
  const int last = shape.rank() - 1;
  if (last < 0 || shape[last] > keys) return Error(StatusCode::kMalformedInput, "a mask of {}", shape.ToString());
  const Made added = to.desc(mask).dtype == DType::kBool
                         ? AddedWhere(to, mask, kHidden)
                         : to.Add(BinaryKind::kMaximum, {mask, to.AddNumber(DType::kFloat32, kHidden)});
  return to.AddPad(added, last, 0, keys - shape[last], kHidden);
}

// (queries, keys, values, mask?, past keys?, past values?, numbers of keys?) -> (results, keys, values, scores)
Results ReadAttention(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc given, op.Desc(0));
  const int64_t fewer = op.Int("kv_num_heads", 0);
  Heads heads;
  HEARTH_ASSIGN(heads.queries, HeadsOf(to, op.In(0), op.Int("q_num_heads", 0)));
  HEARTH_ASSIGN(const ValueId fresh, HeadsOf(to, op.In(1), fewer));
  HEARTH_ASSIGN(heads.keys, WithPast(op, fresh, 4));
  HEARTH_ASSIGN(heads.values, WithPast(op, HeadsOf(to, op.In(2), fewer), 5));
  const int32_t length = to.shape(heads.queries)[2], count = to.shape(heads.keys)[2];
  HEARTH_ASSIGN(const bool is_causal, op.Flag("is_causal"));
  Made first = to.AddNumber(DType::kInt32, count - to.shape(fresh)[2]);  // the place of the first query among the keys
  Made is_there(kNoValue);
  if (op.Has(6)) {
    HEARTH_ASSIGN(const TensorDesc lengths, op.Desc(6));
    const Shape each{static_cast<int32_t>(lengths.shape.element_count()), 1, 1, 1};
    const Made counts = to.AddReshape(to.AddCast(op.In(6), DType::kInt32), each);
    is_there = to.Add(BinaryKind::kLess, {to.AddIndices({1, count}), counts});
    first = to.Add(BinaryKind::kSub, {counts, to.AddNumber(DType::kInt32, length)});
  }
  const int64_t after = op.Int("right_window_size", -1);
  const Made near = VisibleKeys(to, length, count, first, op.Int("left_window_size", -1), is_causal ? 0 : after);
  HEARTH_ASSIGN(const ValueId visible, AddBoth(to, BinaryKind::kLogicalAnd, is_there, near));
  Made mask = op.Has(3) ? MaskOf(op, to, count) : Made(kNoValue);
  if (visible != kNoValue) mask = AddBoth(to, BinaryKind::kAdd, mask, AddedWhere(to, visible, kHidden));
  HEARTH_ASSIGN(const ValueId added, mask);
  if (op.Find("scale") != nullptr && !(op.Float("scale", 0.0) > 0.0))
    return Error(StatusCode::kMalformedInput, "scale={}", op.Float("scale", 0.0));
  const Scoring scoring{
      .scale = op.Float("scale", 0.0), .cap = op.Float("softcap", 0.0), .added = added, .may_see_none = true};
  HEARTH_ASSIGN(Attended made, AddAttention(to, heads, scoring));
  HEARTH_ASSIGN(made.result, given.shape.rank() == 3 ? FromHeads(to, made.result) : Made(made.result));
  if (added != kNoValue && op.HasOutput(3)) {  // as the format has it: hidden scores are infinitely low
    const double infinity = std::numeric_limits<double>::infinity();
    const Made hides = to.Add(BinaryKind::kLess, {added, to.AddNumber(DType::kFloat32, kHidden / 2)});
    HEARTH_ASSIGN(made.stages[2], to.Add(Select{}, {hides, to.AddNumber(DType::kFloat32, -infinity), made.stages[2]}));
  }
  const int64_t stage = op.Int("qk_matmul_output_mode", 0);
  if (stage < 0 || stage > 3) return Error(StatusCode::kMalformedInput, "qk_matmul_output_mode={}", stage);
  return Plain({made.result, heads.keys, heads.values, made.stages[static_cast<size_t>(stage)]});
}

// (x, cosines, sines, positions?), those of com.microsoft with the positions first: pairs of elements of each head are
// turned by the angles of their position (Su et al., "RoFormer").
Results ReadRotaryEmbedding(OpView& op, GraphWriter& to) {
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
  return Plain(to.AddReshape(AddTurned(to, x, cosine, sine, is_interleaved), shape));
}

}  // namespace

Made IntegersOf(OpView& op, size_t i, const Shape& shape) {
  return op.to().AddReshape(op.to().AddCast(op.In(i), DType::kInt32), shape);
}

Expanded PartsOf(NodeWriter& to, ValueId x, const std::vector<int64_t>& sizes) {
  const int last = to.shape(x).rank() - 1;
  const auto is_size = [](int64_t size) { return size >= 1 && size <= kMostDistance; };
  const bool are_sizes = sizes.size() == 3 && std::ranges::all_of(sizes, is_size);
  if (last < 0 || !are_sizes || std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) != to.shape(x)[last]) {
    return Error(StatusCode::kMalformedInput, "queries, keys and values in shape {}", to.shape(x).ToString());
  }
  std::vector<ValueId> parts;
  int32_t first = 0;
  for (const int64_t size : sizes) {
    HEARTH_ASSIGN(const ValueId part, to.AddSlice(x, last, first, static_cast<int32_t>(size)));
    parts.push_back(part);
    first += static_cast<int32_t>(size);
  }
  return parts;
}

constexpr OperatorRow kAttentionRows[] = {
    {"Attention", ReadAttention},
    {"RotaryEmbedding", ReadRotaryEmbedding},
    {"RotaryEmbedding", ReadRotaryEmbedding, 1, kMicrosoft},
};
const OperatorList kAttentionOperators = kAttentionRows;

}  // namespace hearth::onnx
