// Attention of queries to keys and values, in several heads (Vaswani et al., "Attention Is All You Need").
#ifndef HEARTH_FRONTENDS_ONNX_ATTENTION_H_
#define HEARTH_FRONTENDS_ONNX_ATTENTION_H_

#include <array>
#include <vector>

#include "frontends/onnx/operators.h"

namespace hearth::onnx {

inline constexpr double kHidden = -1e30;  // what a mask adds to a score: several may add up

// [batch, heads, length, size], of that or of [batch, length, heads * size]; and back.
Made HeadsOf(NodeWriter& to, const Made& x, int64_t heads);
Made FromHeads(NodeWriter& to, const Made& x);

// What is added to scores: 0 where `visible` is true, elsewhere `hidden`.
Made AddedWhere(NodeWriter& to, const Made& visible, double hidden);

// Either, or both combined; kNoValue is neither.
Made AddBoth(NodeWriter& to, BinaryKind kind, const Made& a, const Made& b);

// Which keys each query sees: at most `left` before its own place and `right` after it (-1: any number), of which the
// first query's is `first`. kNoValue: all.
Made VisibleKeys(NodeWriter& to, int32_t queries, int32_t keys, const Made& first, int64_t left, int64_t right);

// Keys or values with those of earlier calls, in operand `past`, before them.
Made WithPast(OpView& op, const Made& fresh, size_t past);

struct Heads {  // each [batch, heads, length, size]; several of the queries may share one of keys and values
  ValueId queries = kNoValue, keys = kNoValue, values = kNoValue;
};
struct Scoring {
  double scale = 0.0;  // 0: 1 / sqrt(size)
  double cap = 0.0;    // 0: none
  ValueId added = kNoValue;
  ValueId sinks = kNoValue;   // scores that take a share and have no value: [1, heads, 1, 1]
  bool may_see_none = false;  // a query from which `added` hides all keys has shares of 0
};
struct Attended {
  ValueId result = kNoValue;        // [batch, heads, queries, size]
  std::array<ValueId, 4> stages{};  // of the scores: products, capped, masked, as shares
};
Result<Attended> AddAttention(NodeWriter& to, const Heads& heads, const Scoring& scoring);

// Pairs of elements of the last dimension of x, of rank 4, turned by angles that are broadcast (Su et al., "RoFormer").
Made AddTurned(NodeWriter& to, ValueId x, ValueId cosine, ValueId sine, bool is_interleaved);

// Operand `i` as int32 of this shape.
Made IntegersOf(OpView& op, size_t i, const Shape& shape);
// The three parts of the last dimension of x, side by side.
Expanded PartsOf(NodeWriter& to, ValueId x, const std::vector<int64_t>& sizes);

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_ATTENTION_H_
