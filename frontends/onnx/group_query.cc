// GroupQueryAttention of com.microsoft, as onnxruntime's model builder writes decoders.
#include <algorithm>
#include <vector>

#include "core/base/error.h"
#include "frontends/onnx/attention.h"

namespace hearth::onnx {
namespace {

constexpr int32_t kMostNumber = 1 << 30;

// The new keys and values behind those of earlier calls.
struct Cached {
  ValueId keys = kNoValue, values = kNoValue;  // that queries see
  ValueId visible = kNoValue;                  // which of them: [batch, 1, queries, keys]
  ValueId present_keys = kNoValue, present_values = kNoValue;
};

// What one node's cache is made of.
class Cache {
 public:
  // `past`: how many keys each sequence has of earlier calls, [batch, 1].
  Cache(OpView& op, const Heads& fresh, ValueId past)
      : op_(op),
        to_(op.to()),
        fresh_(fresh),
        past_(past),
        batch_(to_.shape(fresh.queries)[0]),
        queries_(to_.shape(fresh.queries)[2]),
        window_(op.Int("local_window_size", -1)) {}

  // The whole past, of `keys` keys with the new ones: these follow the past ones of their sequence, and zeros them.
  Result<Cached> Whole(int32_t keys) {
    Shape before{batch_, 1, 0, 1};
    if (op_.Has(3)) {
      HEARTH_ASSIGN(const TensorDesc desc, op_.Desc(3));
      before = desc.shape;
    }
    if (before.rank() != 4) return Error(StatusCode::kMalformedInput, "a past of {}", before.ToString());
    const int32_t held = before[2], room = std::max(keys, held);
    HEARTH_TRY(to_.budget().CheckRoom({room}, DType::kInt32));
    const auto joined = [&](ValueId fresh, size_t i) -> Made {
      if (room == queries_) return fresh;
      const Made place = to_.AddIndices({1, room});
      const Made after = Minus(place, past_);  // the number of the new one
      const Made is_new = to_.Add(BinaryKind::kLess, {after, Number(queries_)});
      const Made is_past = to_.Add(BinaryKind::kLess, {after, Number(0)});
      const Made of_new = to_.Add(Select{}, {is_new, Plus(after, Number(held)), Number(held + queries_)});
      const Made padded = to_.AddPad(fresh, 2, 0, 1);
      const Made all = held == 0 ? padded : to_.Add(Concat{.axis = 2}, {op_.In(i), padded});
      return to_.Add(Gather{2, 1}, {all, to_.Add(Select{}, {is_past, place, of_new})});
    };
    Cached made;
    HEARTH_ASSIGN(made.present_keys, joined(fresh_.keys, 3));
    HEARTH_ASSIGN(made.present_values, joined(fresh_.values, 4));
    HEARTH_ASSIGN(made.keys, to_.AddSlice(made.present_keys, 2, 0, keys));
    HEARTH_ASSIGN(made.values, to_.AddSlice(made.present_values, 2, 0, keys));
    // Keys up to the query's own place; of a window, only the last ones of them. Or all of the sequence's.
    const bool is_causal = op_.Int("causal", 1) != 0;
    if (window_ == 0 || (window_ > 0 && !is_causal))
      return Error(StatusCode::kMalformedInput, "a window of {}", window_);
    const Shape each{batch_, 1, 1, 1};
    HEARTH_ASSIGN(made.visible, is_causal ? VisibleKeys(to_, queries_, keys, to_.AddReshape(past_, each),
                                                        window_ < 0 ? -1 : window_ - 1, 0)
                                          : VisibleKeys(to_, 1, keys, IntegersOf(op_, 5, each), -1, 0));
    return made;
  }

  // A past of fixed room, the last keys of each sequence from its first row on. How many there are follows from how
  // many there were in all: where they would exceed the room, as many are dropped at once as it has beyond the window,
  // and one.
  Result<Cached> Sliding() {
    HEARTH_ASSIGN(const TensorDesc held, op_.Desc(3));
    if (held.shape.rank() != 4 || window_ < 1 || window_ > held.shape[2] || op_.Has(10) || op_.Int("causal", 1) == 0) {
      return Error(StatusCode::kUnsupported, "a window of {} over a past of shape {}, with a bias or to both sides",
                   window_, held.shape.ToString());
    }
    const int32_t room = held.shape[2], all = room + queries_;
    const Made total = Plus(past_, Number(queries_));
    HEARTH_ASSIGN(const ValueId first_held, Minus(past_, Resident(past_, room)));  // places in the sequence
    HEARTH_ASSIGN(const ValueId first_left, Minus(total, Resident(total, room)));
    const Made at = to_.AddIndices({1, all});
    const Made is_held = to_.Add(BinaryKind::kLess, {at, Number(room)});
    const Made place = to_.Add(Select{}, {is_held, Plus(at, first_held), Plus(Minus(at, Number(room)), past_)});
    const Made is_old = to_.Add(BinaryKind::kLogicalAnd, {is_held, to_.Add(BinaryKind::kGreaterEqual, {place, past_})});
    const Made of_key = to_.AddReshape(place, {batch_, 1, 1, all});
    const Made own = Plus(to_.AddIndices({1, 1, queries_, 1}), to_.AddReshape(past_, {batch_, 1, 1, 1}));
    const Made is_before = to_.Add(BinaryKind::kLessEqual, {of_key, own});
    const Made is_near = to_.Add(BinaryKind::kGreater, {of_key, Minus(own, Number(static_cast<double>(window_)))});
    const Made counts = to_.Add(UnaryKind::kLogicalNot, to_.AddReshape(is_old, {batch_, 1, 1, all}));
    Cached made;
    HEARTH_ASSIGN(made.visible,
                  to_.Add(BinaryKind::kLogicalAnd, {to_.Add(BinaryKind::kLogicalAnd, {is_before, is_near}), counts}));
    HEARTH_ASSIGN(made.keys, to_.Add(Concat{.axis = 2}, {op_.In(3), fresh_.keys}));
    HEARTH_ASSIGN(made.values, to_.Add(Concat{.axis = 2}, {op_.In(4), fresh_.values}));
    const Made left = Plus(to_.AddIndices({1, room}), first_left);
    const Made was_held = to_.Add(BinaryKind::kLess, {left, past_});
    HEARTH_ASSIGN(const ValueId from,
                  to_.Add(Select{}, {was_held, Minus(left, first_held), Plus(Minus(left, past_), Number(room))}));
    HEARTH_ASSIGN(made.present_keys, to_.Add(Gather{2, 1}, {made.keys, from}));
    HEARTH_ASSIGN(made.present_values, to_.Add(Gather{2, 1}, {made.values, from}));
    return made;
  }

 private:
  Made Number(double number) { return to_.AddNumber(DType::kInt32, number); }
  Made Plus(const Made& a, const Made& b) { return to_.Add(BinaryKind::kAdd, {a, b}); }
  Made Minus(const Made& a, const Made& b) { return to_.Add(BinaryKind::kSub, {a, b}); }
  // How many of so many keys such a cache holds.
  Made Resident(const Made& keys, int32_t room) {
    const Made step = Number(static_cast<double>(room - window_ + 1));
    const Made beyond = Minus(keys, Number(room));
    const Made steps = to_.Add(BinaryKind::kFloorDiv, {Minus(Plus(beyond, step), Number(1)), step});
    const Made dropped = to_.Add(BinaryKind::kMaximum, {to_.Add(BinaryKind::kMul, {steps, step}), Number(0)});
    return Minus(keys, dropped);
  }

  OpView& op_;
  NodeWriter& to_;
  const Heads& fresh_;
  ValueId past_;
  int32_t batch_, queries_;
  int64_t window_;
};

// (queries, keys, values, past keys?, past values?, numbers of keys - 1, their largest number, cosines?, sines?,
// positions?, bias of scores?, sinks?, -, -, norms of queries and keys?) -> (results, keys, values). Sequences of a
// batch have pasts of their own lengths; without a past of other length than the new keys, this is the first call.
Results ReadGroupQueryAttention(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const bool turns, op.Flag("do_rotary"));
  const std::string_view plain = "NONE";
  if (op.Text("k_quant_type", plain) != plain || op.Text("v_quant_type", plain) != plain || op.HasOutput(3) ||
      op.Has(12) || op.Has(13) || op.Has(16) || op.Has(3) != op.Has(4) || op.Has(14) != op.Has(15)) {
    return Error(StatusCode::kUnsupported,
                 "a quantized cache, keys without values, scores as a result, or sequences that end early");
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
  if (op.Has(14)) {
    const auto normed = [&](ValueId x, size_t weights, std::string_view epsilon) -> Made {
      const double given = op.Float(epsilon, op.Float("qk_norm_epsilon", 1e-6));
      const MeanVarianceNormalization norm{
          .axes_mask = 1u << 3, .root_mean_square = true, .epsilon = static_cast<float>(given)};
      return to.Add(norm, {x, op.In(weights)});
    };
    HEARTH_ASSIGN(heads.queries, normed(heads.queries, 14, "q_norm_epsilon"));
    HEARTH_ASSIGN(heads.keys, normed(heads.keys, 15, "k_norm_epsilon"));
  }
  const int32_t batch = shape[0], queries = shape[1];
  HEARTH_ASSIGN(const bool is_sliding, op.Flag("sliding_window_cache"));
  HEARTH_ASSIGN(const int64_t total, is_sliding ? Result<int64_t>(queries + int64_t{1}) : op.Integer(6));
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
  Cache cache(op, heads, past);
  HEARTH_ASSIGN(const Cached cached, is_sliding ? cache.Sliding() : cache.Whole(keys));
  heads.keys = cached.keys;
  heads.values = cached.values;
  Scoring scoring{.scale = op.Float("scale", 0.0), .cap = op.Float("softcap", 0.0)};
  HEARTH_ASSIGN(scoring.added, AddBoth(to, BinaryKind::kAdd, AddedWhere(to, cached.visible, kHidden), op.Optional(10)));
  if (op.Has(11)) {
    HEARTH_ASSIGN(scoring.sinks, to.AddReshape(op.In(11), {1, static_cast<int32_t>(count), 1, 1}));
  } else if (op.Int("smooth_softmax", 0) == 1) {
    HEARTH_ASSIGN(scoring.sinks,
                  to.AddFilled({1, static_cast<int32_t>(count), 1, 1}, to.AddNumber(DType::kFloat32, 0.0)));
  }
  HEARTH_ASSIGN(const Attended made, AddAttention(to, heads, scoring));
  return Plain({FromHeads(to, made.result), cached.present_keys, cached.present_values});
}

}  // namespace

constexpr OperatorRow kGroupQueryRows[] = {
    {"GroupQueryAttention", ReadGroupQueryAttention, 0, kMicrosoft},
};
const OperatorList kGroupQueryOperators = kGroupQueryRows;

}  // namespace hearth::onnx
