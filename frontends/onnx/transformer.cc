// Operators of com.microsoft that onnxruntime's transformer optimizer and model builder write.
#include <algorithm>
#include <numeric>
#include <vector>

#include "core/base/error.h"
#include "frontends/onnx/attention.h"
#include "frontends/onnx/integer_products.h"
#include "frontends/onnx/product.h"

namespace hearth::onnx {
namespace {

constexpr int32_t kMostNumber = 1 << 30;

Made IntegersOf(OpView& op, size_t i, const Shape& shape) {
  return op.to().AddReshape(op.to().AddCast(op.In(i), DType::kInt32), shape);
}

// The three parts of the last dimension, side by side.
Expanded PartsOf(NodeWriter& to, ValueId x, const std::vector<int64_t>& sizes) {
  const int last = to.shape(x).rank() - 1;
  const auto is_size = [](int64_t size) { return size >= 1 && size <= kMostNumber; };
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

// What operand `i` adds to scores [batch, heads, queries, keys]: how many keys there are, and perhaps how many are left
// out before them; or which keys count, for all queries or for each.
Made MaskOfKeys(OpView& op, size_t i, int32_t batch, int32_t queries, int32_t keys) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(i));
  const Shape& shape = desc.shape;
  Made visible(kNoValue);
  if (shape == Shape{batch} || shape == Shape{2 * batch}) {
    const bool has_starts = shape[0] != batch;
    HEARTH_ASSIGN(const ValueId limits, IntegersOf(op, i, {has_starts ? 2 : 1, batch, 1, 1, 1}));
    const auto limit = [&](int32_t k) { return to.AddReshape(to.AddSlice(limits, 0, k, 1), {batch, 1, 1, 1}); };
    const Made key = to.AddIndices({1, 1, 1, keys});
    visible = to.Add(BinaryKind::kLess, {key, limit(0)});
    if (has_starts) {
      const Made begun = to.Add(BinaryKind::kGreaterEqual, {key, limit(1)});
      visible = to.Add(BinaryKind::kLogicalAnd, {visible, begun});
    }
  } else if (shape == Shape{batch, keys} || shape == Shape{batch, queries, keys}) {
    HEARTH_ASSIGN(const ValueId marks, IntegersOf(op, i, {batch, 1, shape.rank() == 2 ? 1 : queries, keys}));
    visible = to.Add(BinaryKind::kGreater, {marks, to.AddNumber(DType::kInt32, 0.0)});
  } else {
    return Error(StatusCode::kUnsupported, "a mask of shape {} for {} x {} keys", shape.ToString(), batch, keys);
  }
  return AddedWhere(to, visible, op.Float("mask_filter_value", -10000.0));
}

// Attention of whole heads under a mask, a bias of the scores, and perhaps only to earlier keys: [batch, queries, ...].
Made Attend(OpView& op, const Heads& heads, size_t mask_at, size_t bias_at) {
  NodeWriter& to = op.to();
  const Shape shape = to.shape(heads.queries), of_keys = to.shape(heads.keys);
  const int32_t queries = shape[2], keys = of_keys[2];
  Made added = op.Has(mask_at) ? MaskOfKeys(op, mask_at, shape[0], queries, keys) : Made(kNoValue);
  HEARTH_ASSIGN(const bool is_causal, op.Flag("unidirectional"));
  HEARTH_ASSIGN(const ValueId visible, VisibleKeys(to, queries, keys, to.AddNumber(DType::kInt32, keys - queries), -1,
                                                   is_causal && queries > 1 ? 0 : -1));
  if (visible != kNoValue) added = AddBoth(to, BinaryKind::kAdd, added, AddedWhere(to, visible, kHidden));
  HEARTH_ASSIGN(const ValueId all, AddBoth(to, BinaryKind::kAdd, added, op.Optional(bias_at)));
  HEARTH_ASSIGN(const Attended made, AddAttention(to, heads, {.scale = op.Float("scale", 0.0), .added = all}));
  return FromHeads(to, made.result);
}

// The operands of an attention behind its projection; those that the operator lacks lie behind the last one.
struct Beside {
  size_t mask, past, bias_of_scores;
};

// (results, keys and values) of queries, keys and values side by side.
Results AttendProjected(OpView& op, const Made& projected, const Beside& beside) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(const ValueId joined, projected);
  if (op.Int("do_rotary", 0) != 0) return Error(StatusCode::kUnsupported, "do_rotary");
  const Shape shape = to.shape(joined);
  const int64_t third = shape[shape.rank() - 1] / 3, count = op.Int("num_heads", 0);
  HEARTH_ASSIGN(const std::vector<ValueId> parts,
                PartsOf(to, joined, op.Ints("qkv_hidden_sizes", {third, third, third})));
  Heads heads;
  HEARTH_ASSIGN(heads.queries, HeadsOf(to, parts[0], count));
  HEARTH_ASSIGN(heads.keys, HeadsOf(to, parts[1], count));
  HEARTH_ASSIGN(heads.values, HeadsOf(to, parts[2], count));
  if (op.Has(beside.past)) {
    HEARTH_ASSIGN(const ValueId past, op.In(beside.past));
    const Shape before = to.shape(past);
    if (before.rank() != 5 || before[0] != 2)
      return Error(StatusCode::kMalformedInput, "a past of {}", before.ToString());
    const auto with_past = [&](int32_t k, ValueId fresh) {
      return to.Add(Concat{.axis = 2}, {to.AddReshape(to.AddSlice(past, 0, k, 1), Without(before, 0)), fresh});
    };
    HEARTH_ASSIGN(heads.keys, with_past(0, heads.keys));
    HEARTH_ASSIGN(heads.values, with_past(1, heads.values));
  }
  HEARTH_ASSIGN(const ValueId made, Attend(op, heads, beside.mask, beside.bias_of_scores));
  if (!op.HasOutput(1)) return Plain(made);
  HEARTH_ASSIGN(const ValueId present, to.Add(Pack{0}, {heads.keys, heads.values}));
  return std::vector{Tensor{.plain = made}, Tensor{.plain = present}};
}

// (x[batch, length, size], weights, bias?, mask?, past?, bias of scores?)
Results ReadProjectedAttention(OpView& op) {
  if (op.Int("past_present_share_buffer", 0) != 0 || op.Has(6)) {
    return Error(StatusCode::kUnsupported, "a past that shares its memory");
  }
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  HEARTH_ASSIGN(const ValueId weights, op.In(1));
  HEARTH_ASSIGN(const ValueId bias, op.Optional(2));
  return AttendProjected(op, AddProduct(op.to(), x, weights, bias), {.mask = 3, .past = 4, .bias_of_scores = 5});
}

// (x, weights, bias, scale of x, scales of weights, mask?, zero points of x? and weights?, past?): x and weights are
// integers.
Results ReadQAttention(OpView& op) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  HEARTH_ASSIGN(const ValueId zero, RowZeroPoint(op, 6));
  const Made unit = to.Add(BinaryKind::kMul, {RowZeroPoint(op, 3), op.In(4)});
  const Made real = to.Add(BinaryKind::kMul, {to.AddCast(ExactProduct(op, x, zero, 1, 7), DType::kFloat32), unit});
  return AttendProjected(op, to.Add(BinaryKind::kAdd, {real, op.In(2)}),
                         {.mask = 5, .past = 8, .bias_of_scores = op.input_count()});
}

// (queries, keys, values, bias?, mask?, bias of scores?, past keys?, past values?) -> (results, keys, values)
Results ReadMultiHeadAttention(OpView& op) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(const TensorDesc given, op.Desc(0));
  if (!op.Has(1) || !op.Has(2) || given.shape.rank() != 3 || op.Has(8) || op.Has(9) || op.HasOutput(3)) {
    return Error(StatusCode::kUnsupported,
                 "queries packed with keys and values, a past that shares its memory, or scores as a result");
  }
  const int64_t count = op.Int("num_heads", 0);
  int32_t first = 0;  // of the bias
  const auto heads_of = [&](size_t i) -> Made {
    HEARTH_ASSIGN(ValueId x, op.In(i));
    const Shape shape = to.shape(x);
    if (op.Has(3) && shape.rank() == 3) {
      HEARTH_ASSIGN(x, to.Add(BinaryKind::kAdd, {x, to.AddSlice(op.In(3), 0, first, shape[2])}));
      first += shape[2];
    }
    return HeadsOf(to, x, count);
  };
  Heads heads;
  HEARTH_ASSIGN(heads.queries, heads_of(0));
  HEARTH_ASSIGN(heads.keys, WithPast(op, heads_of(1), 6));
  HEARTH_ASSIGN(heads.values, WithPast(op, heads_of(2), 7));
  HEARTH_ASSIGN(const ValueId made, Attend(op, heads, 4, 5));
  return std::vector{Tensor{.plain = made}, Tensor{.plain = heads.keys}, Tensor{.plain = heads.values}};
}

// (queries, keys, values, past keys?, past values?, numbers of keys - 1, their largest number, cosines?, sines?,
// positions?, bias of scores?, sinks?) -> (results, keys, values). Sequences of a batch have pasts of their own
// lengths; without a past of other length than the new keys, this is the first call.
Results ReadGroupQueryAttention(OpView& op) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(const bool turns, op.Flag("do_rotary"));
  const std::string_view plain = "NONE";
  if (op.Text("k_quant_type", plain) != plain || op.Text("v_quant_type", plain) != plain || op.HasOutput(3) ||
      op.Int("sliding_window_cache", 0) != 0 || op.input_count() > 12 || op.Has(3) != op.Has(4)) {
    return Error(StatusCode::kUnsupported,
                 "a quantized or sliding cache, keys without values, scores as a result, or norms of queries and keys");
  }
  const int64_t count = op.Int("num_heads", 0), fewer = op.Int("kv_num_heads", 0);
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  const Shape shape = to.shape(x);
  const int64_t size = shape.rank() != 3 || count < 1 || fewer < 1 || count > kMostNumber || fewer > kMostNumber
                           ? 0
                           : shape[2] / (op.Has(1) ? count : count + 2 * fewer);
  if (size < 1) return Error(StatusCode::kMalformedInput, "{} and {} heads in {}", count, fewer, shape.ToString());
  std::vector<ValueId> parts{x};
  if (op.Has(1)) {
    for (const size_t i : {1, 2}) {
      HEARTH_ASSIGN(const ValueId part, op.In(i));
      parts.push_back(part);
    }
  } else {
    HEARTH_ASSIGN(parts, PartsOf(to, x, {count * size, fewer * size, fewer * size}));
  }
  Heads heads;
  HEARTH_ASSIGN(heads.queries, HeadsOf(to, parts[0], count));
  HEARTH_ASSIGN(heads.keys, HeadsOf(to, parts[1], fewer));
  HEARTH_ASSIGN(heads.values, HeadsOf(to, parts[2], fewer));
  const int32_t batch = shape[0], queries = shape[1];
  HEARTH_ASSIGN(const int64_t total, op.Integer(6));
  if (total < queries || total > kMostNumber || to.shape(heads.keys)[2] != queries) {
    return Error(StatusCode::kMalformedInput, "{} queries and new keys, {} keys in all", queries, total);
  }
  const auto keys = static_cast<int32_t>(total);
  const auto number = [&](double n) { return to.AddNumber(DType::kInt32, n); };
  const auto plus = [&](const Made& a, const Made& b) { return to.Add(BinaryKind::kAdd, {a, b}); };
  // How many keys each sequence has of earlier calls: [batch, 1].
  HEARTH_ASSIGN(const ValueId past, keys == queries ? to.AddFilled({batch, 1}, number(0))
                                                    : plus(IntegersOf(op, 5, {batch, 1}), number(1 - queries)));
  if (turns) {
    Made positions = op.Has(9) ? IntegersOf(op, 9, {batch, queries}) : plus(past, to.AddIndices({1, queries}));
    HEARTH_ASSIGN(const ValueId at, positions);
    const auto angle = [&](size_t i) -> Made {
      HEARTH_ASSIGN(const TensorDesc angles, op.Desc(i));
      if (angles.shape.rank() != 2 || angles.shape[1] > size / 2) {
        return Error(StatusCode::kMalformedInput, "angles of shape {}", angles.shape.ToString());
      }
      return to.AddReshape(to.Add(Gather{0, 0}, {op.In(i), at}), {batch, 1, queries, angles.shape[1]});
    };
    HEARTH_ASSIGN(const ValueId cosine, angle(7));
    HEARTH_ASSIGN(const ValueId sine, angle(8));
    HEARTH_ASSIGN(const bool is_interleaved, op.Flag("rotary_interleaved"));
    HEARTH_ASSIGN(heads.queries, AddTurned(to, heads.queries, cosine, sine, is_interleaved));
    HEARTH_ASSIGN(heads.keys, AddTurned(to, heads.keys, cosine, sine, is_interleaved));
  }
  // The new keys follow the past ones of their sequence; zeros follow them.
  Shape before{batch, 1, 0, 1};
  if (op.Has(3)) {
    HEARTH_ASSIGN(const TensorDesc desc, op.Desc(3));
    before = desc.shape;
  }
  if (before.rank() != 4) return Error(StatusCode::kMalformedInput, "a past of {}", before.ToString());
  const int32_t held = before[2], room = std::max(keys, held);
  HEARTH_TRY(to.budget().CheckRoom({room}, DType::kInt32));
  const auto joined = [&](ValueId fresh, size_t i) -> Made {
    if (room == queries) return fresh;
    const Made place = to.AddIndices({1, room});
    const Made after = to.Add(BinaryKind::kSub, {place, past});  // the number of the new one
    const Made in_all = plus(after, number(held));
    const Made is_new = to.Add(BinaryKind::kLess, {after, number(queries)});
    const Made is_past = to.Add(BinaryKind::kLess, {after, number(0)});
    const Made none = number(held + queries);
    const Made taken = to.Add(Select{}, {is_past, place, to.Add(Select{}, {is_new, in_all, none})});
    const Made padded = to.AddPad(fresh, 2, 0, 1);
    const Made all = held == 0 ? padded : to.Add(Concat{.axis = 2}, {op.In(i), padded});
    return to.Add(Gather{2, 1}, {all, taken});
  };
  HEARTH_ASSIGN(heads.keys, joined(heads.keys, 3));
  HEARTH_ASSIGN(heads.values, joined(heads.values, 4));
  const Tensor present_keys{.plain = heads.keys}, present_values{.plain = heads.values};
  HEARTH_ASSIGN(heads.keys, to.AddSlice(heads.keys, 2, 0, keys));
  HEARTH_ASSIGN(heads.values, to.AddSlice(heads.values, 2, 0, keys));
  // Keys up to the query's own place; of a window, only the last ones of them. Or all of the sequence's.
  const int64_t window = op.Int("local_window_size", -1);
  const bool is_causal = op.Int("causal", 1) != 0;
  if (window == 0 || (window > 0 && !is_causal)) return Error(StatusCode::kMalformedInput, "a window of {}", window);
  const Shape each{batch, 1, 1, 1};
  HEARTH_ASSIGN(const ValueId visible,
                is_causal ? VisibleKeys(to, queries, keys, to.AddReshape(past, each), window < 0 ? -1 : window - 1, 0)
                          : VisibleKeys(to, 1, keys, IntegersOf(op, 5, each), -1, 0));
  Scoring scoring{.scale = op.Float("scale", 0.0), .cap = op.Float("softcap", 0.0)};
  HEARTH_ASSIGN(scoring.added, AddBoth(to, BinaryKind::kAdd, AddedWhere(to, visible, kHidden), op.Optional(10)));
  if (op.Has(11)) {
    HEARTH_ASSIGN(scoring.sinks, to.AddReshape(op.In(11), {1, static_cast<int32_t>(count), 1, 1}));
  } else if (op.Int("smooth_softmax", 0) == 1) {
    HEARTH_ASSIGN(scoring.sinks,
                  to.AddFilled({1, static_cast<int32_t>(count), 1, 1}, to.AddNumber(DType::kFloat32, 0.0)));
  }
  HEARTH_ASSIGN(const Attended made, AddAttention(to, heads, scoring));
  HEARTH_ASSIGN(const ValueId result, FromHeads(to, made.result));
  return std::vector{Tensor{.plain = result}, present_keys, present_values};
}

// (words, segments?, table of words, table of positions, table of segments?, scale, offset, mask?, positions?)
// -> (the normalized sum of what the tables hold, numbers of marks of the mask, the sum)
// Of QEmbedLayerNormalization, operands 2 to 6 are integers, whose scales are operands 8 to 12 and whose zero points
// are the last five.
Results ReadEmbedLayerNormalization(OpView& op) {
  NodeWriter& to = op.to();
  const bool has_integers = op.kind() != 0;
  HEARTH_ASSIGN(const TensorDesc words, op.Desc(0));
  if (words.shape.rank() != 2) return Error(StatusCode::kMalformedInput, "words of {}", words.shape.ToString());
  const int32_t batch = words.shape[0], length = words.shape[1];
  const auto real = [&](size_t i, const Made& value) -> Made {
    if (!has_integers) return value;
    HEARTH_ASSIGN(const ValueId scale, op.In(i + 6));
    return RealOf(to, value, RowZeroPoint(op, i + 11), to.AddReshape(scale, Shape()));
  };
  const auto row = [&](size_t table, const Made& numbers) {
    return real(table, to.Add(Gather{0, 0}, {op.In(table), numbers}));
  };
  const bool has_positions = !has_integers && op.Has(8);
  const Made positions = has_positions ? to.AddCast(op.In(8), DType::kInt32) : to.AddIndices({1, length});
  Made sum = to.Add(BinaryKind::kAdd, {row(2, to.AddCast(op.In(0), DType::kInt32)), row(3, positions)});
  if (op.Has(1)) sum = to.Add(BinaryKind::kAdd, {sum, row(4, to.AddCast(op.In(1), DType::kInt32))});
  HEARTH_ASSIGN(const ValueId x, sum);
  const MeanVarianceNormalization norm{.axes_mask = 1u << 2, .epsilon = static_cast<float>(op.Float("epsilon", 1e-12))};
  HEARTH_ASSIGN(const ValueId made, to.Add(norm, {x, real(5, op.In(5)), real(6, op.In(6))}));
  const Reduce total{.kind = ReduceKind::kSum, .axes_mask = 1u << 1, .keep_dims = false};
  HEARTH_ASSIGN(const ValueId marks, op.Has(7) ? to.Add(total, {IntegersOf(op, 7, {batch, length})})
                                               : to.AddFilled({batch}, to.AddNumber(DType::kInt32, 0.0)));
  return std::vector{Tensor{.plain = made}, Tensor{.plain = marks}, Tensor{.plain = x}};
}

}  // namespace

std::span<const OperatorRow> TransformerOperators() {
  static constexpr OperatorRow kRows[] = {
      {"Attention", ReadProjectedAttention, 0, kMicrosoft},
      {"EmbedLayerNormalization", ReadEmbedLayerNormalization, 0, kMicrosoft},
      {"GroupQueryAttention", ReadGroupQueryAttention, 0, kMicrosoft},
      {"MultiHeadAttention", ReadMultiHeadAttention, 0, kMicrosoft},
      {"QAttention", ReadQAttention, 0, kMicrosoft},
      {"QEmbedLayerNormalization", ReadEmbedLayerNormalization, 1, kMicrosoft},
  };
  return kRows;
}

}  // namespace hearth::onnx
