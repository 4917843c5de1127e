// Operators of com.microsoft that onnxruntime's transformer optimizer and model builder write.
#include <algorithm>
#include <numeric>
#include <vector>

#include "core/base/error.h"
#include "frontends/onnx/attention.h"
#include "frontends/onnx/integer_products.h"
#include "frontends/onnx/shared.h"

namespace hearth::onnx {
namespace {

// What operand `i` adds to scores [batch, heads, queries, keys]: how many keys there are, and perhaps how many are left
// out before them; or which keys count, for all queries or for each.
Made MaskOfKeys(OpView& op, NodeWriter& to, size_t i, int32_t batch, int32_t queries, int32_t keys) {
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
Made Attend(OpView& op, NodeWriter& to, const Heads& heads, size_t mask_at, size_t bias_at) {
  const Shape shape = to.shape(heads.queries), of_keys = to.shape(heads.keys);
  const int32_t queries = shape[2], keys = of_keys[2];
  Made added = op.Has(mask_at) ? MaskOfKeys(op, to, mask_at, shape[0], queries, keys) : Made(kNoValue);
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
Results AttendProjected(OpView& op, NodeWriter& to, const Made& projected, const Beside& beside) {
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
  HEARTH_ASSIGN(const ValueId made, Attend(op, to, heads, beside.mask, beside.bias_of_scores));
  if (!op.HasOutput(1)) return Plain(made);
  return Plain({made, to.Add(Pack{0}, {heads.keys, heads.values})});
}

// (x[batch, length, size], weights, bias?, mask?, past?, bias of scores?)
Results ReadProjectedAttention(OpView& op, GraphWriter& to) {
  if (op.Int("past_present_share_buffer", 0) != 0 || op.Has(6)) {
    return Error(StatusCode::kUnsupported, "a past that shares its memory");
  }
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  HEARTH_ASSIGN(const ValueId weights, op.In(1));
  HEARTH_ASSIGN(const ValueId bias, op.Optional(2));
  return AttendProjected(op, to, AddProduct(to, x, weights, bias), {.mask = 3, .past = 4, .bias_of_scores = 5});
}

// (x, weights, bias, scale of x, scales of weights, mask?, zero points of x? and weights?, past?): x and weights are
// integers.
Results ReadQAttention(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  HEARTH_ASSIGN(const ValueId zero, RowZeroPoint(op, 6));
  const Made unit = to.Add(BinaryKind::kMul, {RowZeroPoint(op, 3), op.In(4)});
  const Made real = to.Add(BinaryKind::kMul, {to.AddCast(ExactProduct(op, to, x, zero, 1, 7), DType::kFloat32), unit});
  return AttendProjected(op, to, to.Add(BinaryKind::kAdd, {real, op.In(2)}),
                         {.mask = 5, .past = 8, .bias_of_scores = op.input_count()});
}

// (queries, keys, values, bias?, mask?, bias of scores?, past keys?, past values?) -> (results, keys, values)
Results ReadMultiHeadAttention(OpView& op, GraphWriter& to) {
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
  return Plain({Attend(op, to, heads, 4, 5), heads.keys, heads.values});
}

// (words, segments?, table of words, table of positions, table of segments?, scale, offset, mask?, positions?)
// -> (the normalized sum of what the tables hold, numbers of marks of the mask, the sum)
// Of QEmbedLayerNormalization, operands 2 to 6 are integers, whose scales are operands 8 to 12 and whose zero points
// are the last five.
Results ReadEmbedLayerNormalization(OpView& op, GraphWriter& to) {
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
  const Made marks = op.Has(7) ? to.Add(total, {IntegersOf(op, 7, {batch, length})})
                               : to.AddFilled({batch}, to.AddNumber(DType::kInt32, 0.0));
  return Plain({made, marks, x});
}

}  // namespace

constexpr OperatorRow kTransformerRows[] = {
    {"Attention", ReadProjectedAttention, 0, kMicrosoft},
    {"EmbedLayerNormalization", ReadEmbedLayerNormalization, 0, kMicrosoft},
    {"MultiHeadAttention", ReadMultiHeadAttention, 0, kMicrosoft},
    {"QAttention", ReadQAttention, 0, kMicrosoft},
    {"QEmbedLayerNormalization", ReadEmbedLayerNormalization, 1, kMicrosoft},
};
const OperatorList kTransformerOperators = kTransformerRows;

}  // namespace hearth::onnx
