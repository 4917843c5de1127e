#include "tests/testing/one_input.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/passes/pass.h"
#include "tests/testing/run_lowered.h"

namespace hearth::testing {

OneInputGraph::OneInputGraph(const Shape& shape, const Range& range) : x(Numbers(shape, range)) {
  graph.inputs = {graph.AddValue({.name = "x", .desc = {.shape = shape}})};
}

std::vector<float> OneInputGraph::Numbers(const Shape& shape, const Range& range) {
  std::uniform_real_distribution<float> between(range.lowest, range.highest);
  std::vector<float> numbers(static_cast<size_t>(shape.element_count()));
  for (float& number : numbers) number = between(random);
  return numbers;
}

ValueId OneInputGraph::Constant(const Shape& shape, const Range& range) {
  return ConstantOf(shape, Numbers(shape, range));
}

ValueId OneInputGraph::ConstantOf(const Shape& shape, std::span<const float> numbers) {
  return graph.AddFloatConstant("c", shape, numbers);
}

ValueId OneInputGraph::Node(Op op, const std::vector<ValueId>& inputs, DType dtype) {
  const ValueId out = graph.AddValue({.name = "y", .desc = {.dtype = dtype}});
  graph.AddNode({.op = std::move(op), .inputs = inputs, .outputs = {out}, .name = "n"});
  graph.outputs = {out};
  return out;
}

double RelativeErrorOf(const TwoAnswers& answers) {
  double worst = 0, largest = 0;
  for (size_t k = 0; k < answers.device.size(); ++k) {
    const double difference = std::fabs(answers.device[k] - answers.reference[k]);
    worst = std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(worst, difference);
    largest = std::max(largest, std::fabs(answers.reference[k]));
  }
  return worst / largest;
}

Result<TwoAnswers> AnswersOf(const OpenedDevice& opened, OneInputGraph& made, Precision precision) {
  Graph& graph = made.graph;
  HEARTH_TRY(InferShapes(graph));
  const ReferenceTensor x = {graph.value(made.input()).desc.shape, {made.x.begin(), made.x.end()}, {}};
  HEARTH_ASSIGN(const std::vector<ReferenceTensor> reference, EvaluateGraph(graph, {&x, 1}));
  HEARTH_TRY(RunPasses(graph, opened.info, {}));
  LowerOptions options{.precision = precision};
  HEARTH_ASSIGN(const std::vector<std::byte> bytes,
                RunLowered(opened, graph, options, std::as_bytes(std::span(made.x))));
  TwoAnswers answers = {reference[0].values, std::vector<float>(bytes.size() / sizeof(float))};
  std::memcpy(answers.device.data(), bytes.data(), bytes.size());
  return answers;
}

}  // namespace hearth::testing
