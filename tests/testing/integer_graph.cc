#include "tests/testing/integer_graph.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "backends/cpu/cpu_executor.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_text.h"
#include "tests/testing/host_graph.h"

namespace hearth::testing {

ValueId IntegerGraph::Input(const Shape& shape, const Grid& grid) {
  const ValueId value = graph_.AddValue({.name = "in", .desc = grid.Of(shape)});
  graph_.inputs.push_back(value);
  return value;
}

ValueId IntegerGraph::Constant(const Shape& shape, const Grid& grid) {
  const TensorDesc desc = grid.Of(shape);
  std::vector<std::byte> bytes(desc.size_bytes());
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random_());
  return graph_.AddConstantValue("constant", desc, std::move(bytes));
}

ValueId IntegerGraph::Bias(float scale, const std::vector<float>& scales, int32_t channels, int32_t largest) {
  std::vector<int32_t> numbers(static_cast<size_t>(channels));
  std::uniform_int_distribution<int32_t> any(-largest, largest);
  for (int32_t& number : numbers) number = any(random_);
  Quantization grid;
  for (float weight_scale : scales) grid.scales.push_back(scale * weight_scale);
  grid.zero_points.assign(scales.size(), 0);
  const auto bytes = std::as_bytes(std::span(numbers));
  return graph_.AddConstantValue("bias", {DType::kInt32, {channels}, grid}, {bytes.begin(), bytes.end()});
}

ValueId IntegerGraph::Add(Op op, std::vector<ValueId> inputs, const Grid& grid) {
  return AddAs(std::move(op), std::move(inputs), grid.Of({}));
}

ValueId IntegerGraph::AddAs(Op op, std::vector<ValueId> inputs, const TensorDesc& desc) {
  const ValueId value = graph_.AddValue({.name = "out", .desc = desc});
  graph_.AddNode({.op = std::move(op), .inputs = std::move(inputs), .outputs = {value}, .name = "node"});
  graph_.outputs = {value};
  return value;
}

IntegerResults RunIntegers(Graph& graph, int threads) {
  const Status inferred = InferShapes(graph);
  EXPECT_TRUE(inferred.ok()) << inferred.message();
  if (!inferred.ok()) return {};
  const std::unique_ptr<HostExecutor> executor = MakeCpuExecutor();
  const auto program = executor->Prepare(graph, AllNodes(graph), graph.outputs, threads);
  EXPECT_TRUE(program.ok()) << program.status().message();
  if (!program.ok()) return {};
  std::mt19937 random(kHostGraphSeed);
  std::vector<std::vector<uint8_t>> given;
  std::vector<ReferenceTensor> operands;
  std::vector<HostTensor> tensors;
  for (ValueId input : graph.inputs) {
    const TensorDesc& desc = graph.value(input).desc;
    given.emplace_back(desc.size_bytes());
    for (uint8_t& byte : given.back()) byte = static_cast<uint8_t>(random());
    operands.push_back(*ReferenceFromBytes(desc, std::as_bytes(std::span(given.back()))));
  }
  for (size_t k = 0; k < given.size(); ++k) {
    tensors.push_back({graph.inputs[k], std::as_writable_bytes(std::span(given[k]))});
  }
  const TensorDesc& out = graph.value(graph.outputs[0]).desc;
  IntegerResults results{std::vector<uint8_t>(out.size_bytes()), std::vector<uint8_t>(out.size_bytes()), {}};
  tensors.push_back({graph.outputs[0], std::as_writable_bytes(std::span(results.host))});
  std::vector<HostNodeTime> times;
  const Status ran = (*program)->Run(tensors, {.times = &times});
  EXPECT_TRUE(ran.ok()) << ran.message();
  for (const HostNodeTime& time : times) results.kernels.emplace_back(time.kernel);
  const auto expected = EvaluateGraph(graph, operands);
  EXPECT_TRUE(expected.ok()) << expected.status().message();
  if (!expected.ok()) return {};
  EXPECT_TRUE(ReferenceToBytes(expected->at(0), out, std::as_writable_bytes(std::span(results.reference))).ok());
  return results;
}

void ExpectIntegersAsReference(IntegerGraph& integers, int threads) {
  Graph& graph = integers.graph();
  const IntegerResults results = RunIntegers(graph, threads);
  for (const std::string& kernel : results.kernels) {
    EXPECT_TRUE(kernel == "integer" || kernel == "copy" || kernel == "movement") << kernel << "\n" << ToText(graph);
  }
  const bool is_signed = graph.value(graph.outputs[0]).desc.dtype == DType::kInt8;
  const auto number = [&](uint8_t byte) { return is_signed ? int{static_cast<int8_t>(byte)} : int{byte}; };
  size_t different = 0;
  for (size_t k = 0; k < results.host.size(); ++k) {
    const int here = number(results.host[k]), there = number(results.reference[k]);
    ASSERT_LE(std::abs(here - there), 1) << here << " for " << there << " at element " << k << " of\n" << ToText(graph);
    different += here != there ? 1 : 0;
  }
  EXPECT_LE(different, results.host.size() / 500) << "of " << results.host.size() << " in\n" << ToText(graph);
}

}  // namespace hearth::testing
