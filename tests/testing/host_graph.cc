#include "tests/testing/host_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>

#include "backends/cpu/cpu_executor.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_text.h"

namespace hearth::testing {

std::vector<float> RandomFloats(int64_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(-2.0f, 2.0f);
  std::vector<float> floats(static_cast<size_t>(count));
  for (float& value : floats) value = distribution(generator);
  return floats;
}

namespace {

std::vector<std::vector<float>> RandomInputs(const Graph& graph) {
  std::vector<std::vector<float>> inputs;
  for (ValueId value : graph.inputs) {
    inputs.push_back(RandomFloats(graph.value(value).desc.shape.element_count(), kHostGraphSeed + 1000 + value));
  }
  return inputs;
}

}  // namespace

std::vector<int> AllNodes(const Graph& graph) {
  std::vector<int> nodes(graph.nodes().size());
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

std::vector<float> RunOnHost(const Graph& graph, int threads, int runs) {
  const std::unique_ptr<HostExecutor> executor = MakeCpuExecutor();
  Result<std::unique_ptr<HostProgram>> program = executor->Prepare(graph, AllNodes(graph), graph.outputs, threads);
  EXPECT_TRUE(program.ok()) << program.status().message();
  if (!program.ok()) return {};
  std::vector<std::vector<float>> inputs = RandomInputs(graph);
  std::vector<float> output(graph.value(graph.outputs[0]).desc.shape.element_count());
  std::vector<HostTensor> tensors;
  for (size_t k = 0; k < inputs.size(); ++k) {
    tensors.push_back({graph.inputs[k], std::as_writable_bytes(std::span(inputs[k]))});
  }
  tensors.push_back({graph.outputs[0], std::as_writable_bytes(std::span(output))});
  for (int run = 0; run < runs; ++run) {
    std::fill(output.begin(), output.end(), -12345.0f);
    const Status ran = (*program)->Run(tensors);
    EXPECT_TRUE(ran.ok()) << ran.message();
  }
  return output;
}

void ExpectReferenceResult(GraphUnderTest& test) {
  Graph& graph = test.graph();
  const Status inferred = InferShapes(graph);
  ASSERT_TRUE(inferred.ok()) << inferred.message();
  std::vector<ReferenceTensor> inputs;
  const std::vector<std::vector<float>> floats = RandomInputs(graph);
  for (size_t k = 0; k < floats.size(); ++k) {
    inputs.push_back({graph.value(graph.inputs[k]).desc.shape, {floats[k].begin(), floats[k].end()}});
  }
  const Result<std::vector<ReferenceTensor>> expected = EvaluateGraph(graph, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  const std::vector<float> actual = RunOnHost(graph, 2);
  const std::vector<double>& wanted = expected->at(0).values;
  ASSERT_EQ(actual.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_NEAR(actual[i], wanted[i], 2e-5 * std::max(1.0, std::abs(wanted[i])))
        << "element " << i << " of\n"
        << ToText(graph) << "seed " << kHostGraphSeed;
  }
}

}  // namespace hearth::testing
