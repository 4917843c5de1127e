// Operations without a device kernel, which the host always runs: their attribute structs, members of Op (op.h).
#ifndef HEARTH_CORE_GRAPH_HOST_OPS_H_
#define HEARTH_CORE_GRAPH_HOST_OPS_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "core/graph/types.h"

namespace hearth {

// (x) -> the same bits read as another type. A smaller type gets a new last dimension: the parts of each element. A
// larger one drops the last dimension, which is one element.
struct Bitcast {
  DType to = DType::kFloat32;
};

// (x) -> (steps of x's shape, step[], zero[]): float32 numbers as uint8, in 255 steps of their range (CountSteps in
// ops/recurrent.h). zero: the step that is 0. With a NaN or an infinity in x the step is NaN, or infinite where
// the pass to_floats composes it, which it does where nothing multiplies bytes.
struct DynamicQuantize {};

// Random numbers by the counter-based generator Philox 4x32 with 10 rounds, as LiteRT draws them.
// (runs[1]) -> (numbers of `shape`, runs + 1): uniform in [0, 1) or standard normal.
// (logits[B,C], runs[1]) -> (classes[B,samples], runs + 1): multinomial.
// `runs` says how often the node drew before; as a state it makes each run continue the stream.
enum class RandomKind : uint8_t { kUniform, kStandardNormal, kMultinomial };
struct Random {
  RandomKind kind = RandomKind::kUniform;
  Shape shape;          // not of multinomial
  int32_t samples = 1;  // of multinomial
  int64_t seed = 0, seed2 = 0;
};

// (state[S,2]) -> (the state after it, words[words]): bits of a counter-based generator, all uint32. A row of the state
// is a number of 64 bits, its lower half first: the key, the counter, and with three rows of Philox the counter's upper
// half, which is the key otherwise.
enum class BitGenerator : uint8_t { kPhilox, kThreefry };
struct RandomBits {
  BitGenerator generator = BitGenerator::kPhilox;
  int32_t words = 1;
};

// (matrix[N,C], rows[M,C], places[M]) -> the matrix with row i of `rows` in row places[i], of several for one place the
// last, or combined with it by `kind`, one after the other. Rows whose place is outside, as -1, go nowhere.
enum class BinaryKind : uint8_t;
struct Scatter {
  std::optional<BinaryKind> kind;
};

// (condition) -> (places[N,rank], count[1]): the coordinates of the elements that are not zero, in order. N is the
// number of elements of the condition; the rows from `count` on are zeros.
struct Where {};

// (x[N]) -> (values[N], indices[N], count[1]): each number once, by its first appearance, and for each element the
// index of its number. The values from `count` on are zeros.
struct Unique {};

// (boxes[N,4], scores[N], least overlap[1], least score[1], sigma[1]?) -> (indices[most], scores[most] with a sigma,
// count): takes the box with the highest score, removes those whose intersection over union with it is at least the
// least overlap, and so on, among the boxes with more than the least score. A box has two opposite corners in any
// order. A sigma above 0 lowers the scores of overlapping boxes too (Bodla et al., "Soft-NMS"). Zeros follow the last
// box.
struct NonMaxSuppression {
  int32_t most = 1;
  // The order of equal scores: by index, as in ONNX, or as TFLite's heap gives them: 0 2 6 11 10 9 ... of twelve.
  bool lower_index_first = false;
};

// (values...) -> the same number of values: applies `body` while `condition` holds. Both graphs have no state. Null in
// a loop that was read from a text, which nothing can run.
struct LoopGraphs;  // core/graph/loop_graphs.h
struct Loop {
  std::shared_ptr<const LoopGraphs> graphs;
};

// (any...) -> any: an operator that the program registered (hearth/custom_op.h). Null in one that was read from a text.
struct CustomNode;  // core/graph/custom_node.h
struct Custom {
  std::shared_ptr<const CustomNode> node;
};

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_HOST_OPS_H_
