// Recurrent networks: LSTM, RNN, SVDF.
#ifndef HEARTH_CORE_GRAPH_OPS_RECURRENT_H_
#define HEARTH_CORE_GRAPH_OPS_RECURRENT_H_

#include <algorithm>
#include <cmath>
#include <span>

#include "core/graph/op_def.h"

namespace hearth {

class NodeInference;

// Inputs of an Lstm node, in order.
enum LstmInput : size_t {
  kLstmX,
  kLstmH,
  kLstmC,
  kLstmWeights,
  kLstmRecurrent,
  kLstmBias,
  kLstmPeephole,
  kLstmNormalization,
  kLstmProjection,
  kLstmProjectionBias,
  // Scales [G*U] of weights and recurrent weights that are whole numbers: products take x, and each step's h, in steps
  // (CountSteps), so that sums are whole. Both or none.
  kLstmWeightScales,
  kLstmRecurrentScales,
};

// The layout of a sequence: step t of batch b is pixel t * step_stride + b * batch_stride.
struct SequenceShape {
  int32_t batch = 1, steps = 1;
  int32_t step_stride = 1, batch_stride = 1;
};
SequenceShape SequenceOf(const Shape& x, bool time_major);

// kUnsupported if steps of the input `x` have no elements, but those of the output `y` have.
Status CheckSteps(const NodeInference& inference, const Shape& x, const Shape& y);

// The size of a step, and how many steps 0 lies above the least number.
template <typename Number>
struct CountedSteps {
  Number step = 1, zero = 0;
};
// Counts numbers in 255 steps from the least to the largest, of which one is 0: ONNX's DynamicQuantizeLinear, less its
// zero point.
template <typename Number>
CountedSteps<Number> CountSteps(std::span<const Number> from, std::span<Number> to) {
  Number least = 0, largest = 0;
  for (const Number number : from) {
    least = std::min(least, number);
    largest = std::max(largest, number);
  }
  const Number exact = (largest - least) / 255, step = exact > 0 ? exact : 1;  // 0 also of the least numbers
  const Number zero = std::min<Number>(std::rint(-least / step), 255);
  for (size_t k = 0; k < from.size(); ++k) to[k] = std::clamp<Number>(std::rint(from[k] / step) + zero, 0, 255) - zero;
  return {step, zero};
}

// Added to a gate's variance before its root is taken: TFLite's number.
inline constexpr float kLayerNormalizationEpsilon = 1e-8f;

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_RECURRENT_H_
