// Programs on the host: threads, profiles, the arena, errors, and which nodes XNNPACK takes.
#include "backends/cpu/cpu_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "backends/cpu/host/host_arena.h"
#include "backends/cpu/xnnpack_nodes.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_def.h"
#include "core/graph/op_text.h"
#include "tests/testing/host_graph.h"

namespace hearth {
namespace {

using testing::Activated;
using testing::AllNodes;
using ::testing::AllOf;
using testing::ExpectReferenceResult;
using testing::GraphUnderTest;
using ::testing::HasSubstr;
using testing::RunOnHost;

// conv -> sin (the reference's) -> conv, with a value that skips both; large enough for worker threads.
void AddMixedNodes(GraphUnderTest& test) {
  const ValueId in = test.Input({1, 40, 40, 16});
  const ValueId first =
      test.Add(Activated<Conv2D>(Activation::kRelu), {in, test.Constant({16, 1, 1, 16}), test.Constant({16})});
  const ValueId sine = test.Add(Unary{UnaryKind::kSin}, {first});
  const ValueId second = test.Add(Conv2D{}, {sine, test.Constant({16, 1, 1, 16}), test.Constant({16})});
  test.Add(Binary{BinaryKind::kAdd}, {second, first});
}

TEST(CpuExecutor, AReferenceNodeInTheMiddleFitsBetweenItsNeighbors) {
  GraphUnderTest test;
  AddMixedNodes(test);
  ExpectReferenceResult(test);
}

TEST(CpuExecutor, NumberOfThreadsAndRepetitionDoNotChangeABit) {
  GraphUnderTest test;
  AddMixedNodes(test);
  ASSERT_TRUE(InferShapes(test.graph()).ok());
  const std::vector<float> once = RunOnHost(test.graph(), 1);
  for (int threads : {1, 2, 3, 8}) {
    const std::vector<float> again = RunOnHost(test.graph(), threads, 2);
    ASSERT_EQ(again.size(), once.size());
    EXPECT_EQ(std::memcmp(again.data(), once.data(), once.size() * sizeof(float)), 0) << threads << " threads";
  }
}

// Whether XNNPACK runs the last node of the graph.
bool IsTakenByXnnpack(GraphUnderTest& test) {
  const Graph& graph = test.graph();
  EXPECT_TRUE(InferShapes(test.graph()).ok());
  FoundOffsets found;
  Result<HostArena> arena = HostArena::Create(graph, AllNodes(graph), graph.outputs, {}, found);
  EXPECT_TRUE(arena.ok());
  XnnpackNodes nodes;
  WorkerPool workers(1, 1);
  SharedWeights held;
  ProgramWeights weights(held, 0);
  const std::shared_ptr<HostExecutor> executor = MakeCpuExecutor();
  const Result<std::unique_ptr<HostNode>> node =
      nodes.Make({graph, graph.nodes().back(), *arena, workers, weights, *executor, nodes});
  EXPECT_TRUE(node.ok());
  return node.ok() && *node != nullptr;
}

TEST(CpuExecutor, AProfileHasATimeAndAKernelForEachNode) {
  GraphUnderTest test;
  const ValueId relu = test.Add(Unary{UnaryKind::kRelu}, {test.Input({1, 6, 6, 4})});
  test.Add(Reshape{{6, 24}}, {relu});
  ASSERT_TRUE(InferShapes(test.graph()).ok());
  const Graph& graph = test.graph();
  const std::unique_ptr<HostExecutor> executor = MakeCpuExecutor();
  auto program = executor->Prepare(graph, AllNodes(graph), graph.outputs, 1);
  ASSERT_TRUE(program.ok()) << program.status().message();
  std::vector<float> in(144), out(144);
  const HostTensor tensors[] = {{graph.inputs[0], std::as_writable_bytes(std::span(in))},
                                {graph.outputs[0], std::as_writable_bytes(std::span(out))}};
  std::vector<HostNodeTime> times;
  ASSERT_TRUE((*program)->Run(tensors, {.times = &times}).ok());
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].node, 0);
  EXPECT_EQ(times[1].node, 1);
  EXPECT_EQ(times[1].kernel, "copy");
  for (const HostNodeTime& time : times) {
    EXPECT_FALSE(time.kernel.empty());
    EXPECT_GE(time.milliseconds, 0.0);
  }
}

// Nothing but time would tell if they fell back to the reference.
TEST(CpuExecutor, XnnpackTakesTheCommonOperations) {
  if (HostKernelsName() == "reference") GTEST_SKIP() << "built with HEARTH_WITH_XNNPACK=OFF";
  const Pool2D average{PoolKind::kAverage, 3, 3}, max{PoolKind::kMax, 3, 3};
  const Window2D same{1, 1, 1, 1, {PaddingMode::kSame}};
  const Op of_one_image[] = {average,
                             max,
                             Pool2D{PoolKind::kAverage, 3, 3, same},
                             Pool2D{PoolKind::kMax, 3, 3, same},
                             Unary{UnaryKind::kRelu6},
                             Unary{UnaryKind::kHardSwish},
                             Unary{UnaryKind::kElu},
                             Unary{UnaryKind::kLeakyRelu, 0.1f},
                             Resize{ResizeKind::kBilinear, 9, 9},
                             Resize{ResizeKind::kBilinear, 9, 9, true},
                             Resize{ResizeKind::kBilinear, 9, 9, false, true},
                             Reduce{ReduceKind::kMean, 0b0110},
                             DepthToSpace{2},
                             Pad{{0, 1, 1, 0}, {0, 1, 1, 0}}};
  for (const Op& op : of_one_image) {
    GraphUnderTest test;
    test.Add(op, {test.Input({1, 6, 6, 4})});
    EXPECT_TRUE(IsTakenByXnnpack(test)) << ToText(test.graph());
  }
  const std::pair<Op, Shape> with_weights[] = {
      {Conv2D{same, Activation::kRelu6}, {8, 3, 3, 4}},
      {Conv2D{}, {8, 1, 1, 2}},
      {Conv2D{same, Activation::kTanh}, {8, 1, 1, 4}},
      {DepthwiseConv2D{same, Activation::kSigmoid}, {1, 3, 3, 8}},
      {DepthwiseConv2D{same, Activation::kRelu}, {1, 3, 3, 8}},
      {FullyConnected{}, {8, 4}},
      {Binary{BinaryKind::kAdd, Activation::kRelu}, {4}},
      {Binary{BinaryKind::kMul}, {6, 1, 4}},
      {Binary{BinaryKind::kMaximum}, {}},
      {PRelu{}, {1, 1, 4}},
      {TransposeConv{13, 13, 2, 2}, {8, 3, 3, 4}},
      {TransposeConv{12, 12, 2, 2, {PaddingMode::kExplicit, 1, 0, 1, 0}}, {8, 4, 4, 4}}};
  for (const auto& [op, weights] : with_weights) {
    GraphUnderTest test;
    test.Add(op, {test.Input({1, 6, 6, 4}), test.Constant(weights)});
    EXPECT_TRUE(IsTakenByXnnpack(test)) << ToText(test.graph());
  }
}

TEST(CpuExecutor, XnnpackRefusesWhatItWouldComputeOtherwise) {
  GraphUnderTest beta, computed_weights;
  beta.Add(Softmax{0.5f}, {beta.Input({1, 8})});
  EXPECT_FALSE(IsTakenByXnnpack(beta));
  computed_weights.Add(Conv2D{}, {computed_weights.Input({1, 6, 6, 4}), computed_weights.Input({8, 1, 1, 4})});
  EXPECT_FALSE(IsTakenByXnnpack(computed_weights));
}

TEST(CpuExecutor, IntermediateValuesShareOneArena) {
  GraphUnderTest test;
  ValueId value = test.Input({1, 32, 32, 4});
  for (int k = 0; k < 6; ++k) value = test.Add(Unary{UnaryKind::kAbs}, {value});
  ASSERT_TRUE(InferShapes(test.graph()).ok());
  const std::unique_ptr<HostExecutor> executor = MakeCpuExecutor();
  const auto program = executor->Prepare(test.graph(), AllNodes(test.graph()), test.graph().outputs, 1);
  ASSERT_TRUE(program.ok());
  constexpr uint64_t kValueBytes = 32 * 32 * 4 * sizeof(float);
  EXPECT_EQ((*program)->naive_bytes(), 6 * kValueBytes) << "the input, and all but the output";
  EXPECT_EQ((*program)->arena_bytes(), 2 * kValueBytes);
  EXPECT_EQ((*program)->lower_bound_bytes(), 2 * kValueBytes);
}

TEST(CpuExecutor, ProductsOfComputedMatricesPackThemIntoOneScratchMemory) {
  GraphUnderTest test;
  const ValueId matrix = test.Add(Unary{UnaryKind::kAbs}, {test.Input({64, 64})});
  ValueId value = test.Input({4, 64});
  for (int k = 0; k < 20; ++k) value = test.Add(BatchMatMul{}, {value, matrix});
  ASSERT_TRUE(InferShapes(test.graph()).ok());
  const std::unique_ptr<HostExecutor> executor = MakeCpuExecutor();
  const auto program = executor->Prepare(test.graph(), AllNodes(test.graph()), test.graph().outputs, 1);
  ASSERT_TRUE(program.ok());
  constexpr uint64_t kMatrixBytes = 64 * 64 * sizeof(float), kValueBytes = 4 * 64 * sizeof(float);
  EXPECT_GE((*program)->arena_bytes(), 2 * kMatrixBytes) << "the matrix and its packed copy are counted";
  EXPECT_LE((*program)->arena_bytes(), 3 * kMatrixBytes + 2 * kValueBytes);
}

TEST(CpuExecutor, AnUnknownOperationIsRefusedByNameAndIndex) {
  GraphUnderTest test;
  const ValueId negated = test.Add(Unary{UnaryKind::kNeg}, {test.Input({4})});
  ASSERT_TRUE(InferShapes(test.graph()).ok());
  const ValueId out = test.Add(UnknownOp{"FROBNICATE"}, {negated});
  test.graph().value(out).desc.shape = {4};
  const std::unique_ptr<HostExecutor> executor = MakeCpuExecutor();
  const auto program = executor->Prepare(test.graph(), AllNodes(test.graph()), test.graph().outputs, 1);
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(program.status().message(), AllOf(HasSubstr("FROBNICATE"), HasSubstr("node 1")));
}

TEST(CpuExecutor, MissingMemoryForAValueIsAnErrorThatNamesIt) {
  GraphUnderTest test;
  test.Add(Unary{UnaryKind::kNeg}, {test.Input({4})});
  ASSERT_TRUE(InferShapes(test.graph()).ok());
  const std::unique_ptr<HostExecutor> executor = MakeCpuExecutor();
  const auto program = executor->Prepare(test.graph(), AllNodes(test.graph()), test.graph().outputs, 1);
  ASSERT_TRUE(program.ok());
  const Status ran = (*program)->Run({});
  EXPECT_EQ(ran.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(ran.message(), HasSubstr("'in'"));
}

TEST(CpuExecutor, TheCpuIsADeviceWithANameAndCores) {
  const DeviceInfo info = CpuDeviceInfo();
  EXPECT_EQ(info.backend, kHostBackend);
  EXPECT_FALSE(info.name.empty());
  EXPECT_THAT(info.driver_version, HasSubstr("reference"));
  EXPECT_GE(info.compute_units, 1u);
}

}  // namespace
}  // namespace hearth
