// Small graphs with one float32 input, run on a device and by the float64 reference.
#ifndef HEARTH_TESTS_TESTING_ONE_INPUT_H_
#define HEARTH_TESTS_TESTING_ONE_INPUT_H_

#include <random>
#include <span>
#include <vector>

#include "core/device/options.h"
#include "core/graph/graph.h"
#include "runtime/devices/device_choice.h"

namespace hearth::testing {

struct Range {
  float lowest = 0.5f, highest = 1.5f;
};

// One seed determines the numbers of input and constants.
struct OneInputGraph {
  std::minstd_rand random{1};  // before x, which it makes
  Graph graph;
  std::vector<float> x;

  explicit OneInputGraph(const Shape& shape, const Range& range = {});

  ValueId input() const { return graph.inputs[0]; }
  std::vector<float> Numbers(const Shape& shape, const Range& range = {});
  ValueId Constant(const Shape& shape, const Range& range = {});
  ValueId ConstantOf(const Shape& shape, std::span<const float> numbers);
  // Adds a node, whose output becomes the graph's output.
  ValueId Node(Op op, const std::vector<ValueId>& inputs, DType dtype = DType::kFloat32);
};

struct TwoAnswers {
  std::vector<double> reference;
  std::vector<float> device;
};

// By how much the device is off, as a part of the largest number; infinity for a NaN.
double RelativeErrorOf(const TwoAnswers& answers);

// Rewrites the graph for the device.
Result<TwoAnswers> AnswersOf(const OpenedDevice& opened, OneInputGraph& made, Precision precision);

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_ONE_INPUT_H_
