#include "tests/testing/one_host_node.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "backends/cpu/cpu_executor.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_text.h"
#include "tests/testing/host_graph.h"

namespace hearth::testing {
namespace {

constexpr uint32_t kSeed = 20260403;

struct Answer {
  Status status;
  std::string kernel;
  std::vector<std::vector<std::byte>> first, second;  // of two runs
};

Answer AnswerOf(OneHostNode& one, int threads) {
  Graph& graph = one.graph;
  Answer answer;
  answer.status = InferShapes(graph);
  if (!answer.status.ok()) return answer;
  const std::unique_ptr<HostExecutor> executor = MakeCpuExecutor();
  Result<std::unique_ptr<HostProgram>> program = executor->Prepare(graph, AllNodes(graph), graph.outputs, threads);
  if (!program.ok()) {
    answer.status = program.status();
    return answer;
  }
  for (std::vector<std::vector<std::byte>>* outputs : {&answer.first, &answer.second}) {
    std::vector<HostTensor> tensors;
    for (size_t k = 0; k < one.inputs.size(); ++k) tensors.push_back({graph.inputs[k], one.inputs[k]});
    for (ValueId value : graph.outputs) outputs->emplace_back(graph.value(value).desc.size_bytes());
    for (size_t k = 0; k < outputs->size(); ++k) tensors.push_back({graph.outputs[k], (*outputs)[k]});
    std::vector<HostNodeTime> times;
    answer.status = (*program)->Run(tensors, {.times = &times});
    if (!answer.status.ok()) return answer;
    answer.kernel = times.at(0).kernel;
  }
  return answer;
}

void ExpectNear(const TensorDesc& desc, const std::vector<std::byte>& actual, const ReferenceTensor& wanted,
                double tolerance) {
  ASSERT_EQ(wanted.shape, desc.shape);
  for (size_t k = 0; k < wanted.values.size(); ++k) {
    const double got = LoadElement(desc.dtype, actual, static_cast<int64_t>(k)), want = wanted.values[k];
    if (desc.dtype == DType::kFloat32 && std::isfinite(want)) {
      ASSERT_NEAR(got, want, tolerance * std::max(1.0, std::fabs(want))) << "element " << k;
    } else {
      ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want)))
          << "element " << k << " is " << got << ", not " << want;
    }
  }
}

}  // namespace

ValueId OneHostNode::Input(const Shape& shape, DType dtype) {
  const ValueId value = graph.AddValue({.name = "in", .desc = {.dtype = dtype, .shape = shape}});
  graph.inputs.push_back(value);
  std::vector<std::byte>& bytes = inputs.emplace_back(graph.value(value).desc.size_bytes());
  std::mt19937 generator(kSeed + static_cast<uint32_t>(value));
  std::uniform_real_distribution<double> numbers(-6.0, 6.0);
  for (int64_t k = 0; k < shape.element_count(); ++k) StoreElement(dtype, bytes, k, numbers(generator));
  return value;
}

ValueId OneHostNode::Constant(const Shape& shape) {
  return graph.AddFloatConstant("constant", shape, RandomFloats(shape.element_count(), kSeed));
}

void OneHostNode::Add(Op op, std::vector<ValueId> operands, const std::vector<DType>& results) {
  for (DType dtype : results) graph.outputs.push_back(graph.AddValue({.name = "out", .desc = {.dtype = dtype}}));
  graph.AddNode({.op = std::move(op), .inputs = std::move(operands), .outputs = graph.outputs, .name = "node"});
}

std::string KernelOf(OneHostNode& one) {
  const Answer answer = AnswerOf(one, 1);
  return answer.status.ok() ? answer.kernel : std::string(answer.status.message());
}

void ExpectAsReference(OneHostNode one, const std::string& kernel, double tolerance) {
  const Status inferred = InferShapes(one.graph);
  ASSERT_TRUE(inferred.ok()) << inferred.message();
  SCOPED_TRACE(ToText(one.graph) + "seed " + std::to_string(kSeed));
  std::vector<ReferenceTensor> inputs;
  for (size_t k = 0; k < one.inputs.size(); ++k) {
    Result<ReferenceTensor> input = ReferenceFromBytes(one.graph.value(one.graph.inputs[k]).desc, one.inputs[k]);
    ASSERT_TRUE(input.ok());
    inputs.push_back(std::move(input).value());
  }
  const Result<std::vector<ReferenceTensor>> expected = EvaluateGraph(one.graph, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  const Answer alone = AnswerOf(one, 1), shared = AnswerOf(one, 3);
  ASSERT_TRUE(alone.status.ok()) << alone.status.message();
  EXPECT_EQ(alone.kernel, kernel);
  EXPECT_TRUE(alone.first == alone.second) << "the second run differs";
  EXPECT_TRUE(alone.first == shared.first) << "three threads differ";
  for (size_t k = 0; k < one.graph.outputs.size(); ++k) {
    ExpectNear(one.graph.value(one.graph.outputs[k]).desc, alone.first[k], expected->at(k), tolerance);
  }
}

}  // namespace hearth::testing
