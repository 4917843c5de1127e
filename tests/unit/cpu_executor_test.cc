// Nodes on the host against core's float64 reference. In builds without XNNPACK the same tests run the fallback.
#include "backends/cpu/cpu_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <random>

#include "backends/cpu/host_arena.h"
#include "backends/cpu/near_ties.h"
#include "backends/cpu/xnnpack_nodes.h"
#include "core/graph/evaluate.h"
#include "core/graph/graph_text.h"
#include "core/graph/op_def.h"
#include "core/graph/ops/elementwise_table.h"

namespace hearth {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr uint32_t kSeed = 20260401;

std::vector<float> RandomFloats(int64_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(-2.0f, 2.0f);
  std::vector<float> floats(static_cast<size_t>(count));
  for (float& value : floats) value = distribution(generator);
  return floats;
}

// A graph that grows node by node, with random constants; the last node's value is the output.
class GraphUnderTest {
 public:
  ValueId Input(const Shape& shape) {
    const ValueId value = graph_.AddValue({.name = "in", .desc = {.shape = shape}});
    graph_.inputs.push_back(value);
    return value;
  }
  ValueId Constant(const Shape& shape) {
    return graph_.AddFloatConstant("constant", shape, RandomFloats(shape.element_count(), ++seed_));
  }
  ValueId Add(Op op, std::vector<ValueId> inputs) {
    const ValueId value = graph_.AddValue({.name = "out"});
    graph_.AddNode({.op = std::move(op), .inputs = std::move(inputs), .outputs = {value}, .name = "node"});
    graph_.outputs = {value};
    return value;
  }
  Graph& graph() { return graph_; }

 private:
  Graph graph_;
  uint32_t seed_ = kSeed;
};

std::vector<std::vector<float>> RandomInputs(const Graph& graph) {
  std::vector<std::vector<float>> inputs;
  for (ValueId value : graph.inputs) {
    inputs.push_back(RandomFloats(graph.value(value).desc.shape.element_count(), kSeed + 1000 + value));
  }
  return inputs;
}

std::vector<int> AllNodes(const Graph& graph) {
  std::vector<int> nodes(graph.nodes().size());
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

// The first output after `runs` runs of one program; empty after an error.
std::vector<float> RunOnHost(const Graph& graph, int threads, int runs = 1) {
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
    ASSERT_NEAR(actual[i], wanted[i], 2e-5 * std::max(1.0, std::abs(wanted[i]))) << "element " << i << " of\n"
                                                                                 << ToText(graph) << "seed " << kSeed;
  }
}

template <typename OpType>
OpType Activated(Activation activation) {
  OpType op;
  op.activation = activation;
  return op;
}

constexpr Padding2D kPaddings[] = {{PaddingMode::kValid}, {PaddingMode::kSame}, {PaddingMode::kExplicit, 1, 2, 0, 2}};
constexpr Activation kActivations[] = {Activation::kNone,      Activation::kRelu, Activation::kRelu6,
                                       Activation::kReluN1To1, Activation::kTanh, Activation::kSigmoid};

Window2D Window(int stride, int dilation, const Padding2D& padding) {
  return {stride, stride + (stride > 1 ? 1 : 0), dilation, dilation, padding};
}

TEST(CpuExecutor, ConvolutionFollowsTheReferenceForEachPaddingStrideAndDilation) {
  for (const Padding2D& padding : kPaddings) {
    for (int stride : {1, 2}) {
      for (int dilation : {1, 2}) {
        GraphUnderTest test;
        Conv2D conv;
        conv.window = Window(stride, dilation, padding);
        test.Add(conv, {test.Input({2, 10, 9, 5}), test.Constant({7, 3, 3, 5}), test.Constant({7})});
        ExpectReferenceResult(test);
      }
    }
  }
}

TEST(CpuExecutor, ConvolutionFollowsTheReferenceForEachActivation) {
  for (Activation activation : kActivations) {
    GraphUnderTest test;
    test.Add(Activated<Conv2D>(activation),
             {test.Input({1, 5, 5, 3}), test.Constant({6, 1, 1, 3}), test.Constant({6})});
    ExpectReferenceResult(test);
  }
}

TEST(CpuExecutor, FunctionsOfElementsFollowTheReference) {
  for (const UnaryRow& row : UnaryRows()) {
    if (row.rule != ElementRule::kNumbers || row.text.empty()) continue;
    GraphUnderTest test;
    const ValueId x = test.Input({1, 7, 5, 3});
    const bool needs_positive =
        row.kind == UnaryKind::kLog || row.kind == UnaryKind::kRsqrt || row.kind == UnaryKind::kSqrt;
    test.Add(Unary{row.kind, 0.3f}, {needs_positive ? test.Add(Unary{UnaryKind::kSquare}, {x}) : x});
    ExpectReferenceResult(test);
  }
}

TEST(CpuExecutor, ConvolutionTakesGroupsAnAbsentBiasAndWeightsThatAreComputed) {
  GraphUnderTest grouped;
  grouped.Add(Conv2D{}, {grouped.Input({1, 6, 6, 8}), grouped.Constant({6, 3, 3, 4}), kNoValue});
  ExpectReferenceResult(grouped);
  GraphUnderTest computed;
  computed.Add(Conv2D{}, {computed.Input({1, 6, 6, 2}), computed.Input({3, 3, 3, 2})});
  ExpectReferenceResult(computed);
}

TEST(CpuExecutor, DepthwiseConvolutionFollowsTheReferenceForEachMultiplier) {
  for (const Padding2D& padding : kPaddings) {
    for (int multiplier : {1, 3}) {
      GraphUnderTest test;
      DepthwiseConv2D conv;
      conv.window = Window(multiplier, multiplier == 1 ? 2 : 1, padding);
      conv.activation = Activation::kRelu6;
      test.Add(conv,
               {test.Input({2, 10, 9, 5}), test.Constant({1, 3, 3, 5 * multiplier}), test.Constant({5 * multiplier})});
      ExpectReferenceResult(test);
    }
  }
}

TEST(CpuExecutor, DepthwiseConvolutionOfOneChannelFollowsTheReference) {
  GraphUnderTest test;
  test.Add(DepthwiseConv2D{}, {test.Input({1, 7, 7, 1}), test.Constant({1, 3, 3, 4}), test.Constant({4})});
  ExpectReferenceResult(test);
}

TEST(CpuExecutor, PoolsDoNotCountPaddedElements) {
  for (PoolKind kind : {PoolKind::kAverage, PoolKind::kMax}) {
    for (const Padding2D& padding : kPaddings) {
      for (int stride : {1, 2}) {
        GraphUnderTest test;
        Pool2D pool{.kind = kind, .kernel_h = 3, .kernel_w = 4};
        pool.window = Window(stride, 1, padding);
        pool.activation = Activation::kRelu;
        test.Add(pool, {test.Input({2, 9, 8, 5})});
        ExpectReferenceResult(test);
      }
    }
  }
}

TEST(CpuExecutor, PoolsWithOneElementOrWithGapsFollowTheReference) {
  for (PoolKind kind : {PoolKind::kAverage, PoolKind::kMax}) {
    for (int kernel : {1, 2}) {
      GraphUnderTest test;
      Pool2D pool{.kind = kind, .kernel_h = kernel, .kernel_w = kernel};
      pool.window = {3, 3, 1, 1, {PaddingMode::kValid}};
      test.Add(pool, {test.Input({1, 8, 8, 3})});
      ExpectReferenceResult(test);
    }
  }
}

TEST(CpuExecutor, FullyConnectedFollowsTheReferenceWithAndWithoutItsDimensions) {
  for (bool keep_dims : {false, true}) {
    for (Activation activation : {Activation::kNone, Activation::kRelu, Activation::kTanh}) {
      GraphUnderTest test;
      FullyConnected op = Activated<FullyConnected>(activation);
      op.keep_dims = keep_dims;
      test.Add(op, {test.Input({2, 3, 33}), test.Constant({17, 33}), test.Constant({17})});
      ExpectReferenceResult(test);
    }
  }
}

TEST(CpuExecutor, NormalizationFollowsTheReferenceForEachKindAndOperand) {
  for (Activation activation : kActivations) {
    for (MeanVarianceNormalization op : {MeanVarianceNormalization{.axes_mask = 8},
                                         {.axes_mask = 6},
                                         {.axes_mask = 2},
                                         {.axes_mask = 6, .groups = 2},
                                         {.axes_mask = 8, .root_mean_square = true}}) {
      op.epsilon = 0.01f;
      op.activation = activation;
      GraphUnderTest bare, with_constants, with_inputs;
      bare.Add(op, {bare.Input({2, 3, 5, 16})});
      ExpectReferenceResult(bare);
      with_constants.Add(
          op, {with_constants.Input({2, 3, 5, 16}), with_constants.Constant({16}), with_constants.Constant({1, 16})});
      ExpectReferenceResult(with_constants);
      with_inputs.Add(op, {with_inputs.Input({2, 3, 5, 16}), kNoValue, with_inputs.Input({16})});
      ExpectReferenceResult(with_inputs);
    }
  }
}

TEST(CpuExecutor, BinaryOperationsBroadcastLikeTheReference) {
  for (BinaryKind kind : {BinaryKind::kAdd, BinaryKind::kSub, BinaryKind::kMul, BinaryKind::kMaximum,
                          BinaryKind::kMinimum, BinaryKind::kSquaredDifference, BinaryKind::kFloorDiv}) {
    for (const Shape& other : {Shape{2, 3, 4, 5}, Shape{5}, Shape{3, 1, 5}, Shape{2, 1, 1, 1}, Shape{}}) {
      GraphUnderTest with_input, with_constant;
      with_input.Add(Binary{kind}, {with_input.Input({2, 3, 4, 5}), with_input.Input(other)});
      ExpectReferenceResult(with_input);
      with_constant.Add(Binary{kind, Activation::kRelu6},
                        {with_constant.Constant(other), with_constant.Input({2, 3, 4, 5})});
      ExpectReferenceResult(with_constant);
    }
  }
}

TEST(CpuExecutor, UnaryOperationsFollowTheReference) {
  for (int kind = 0; kind <= static_cast<int>(UnaryKind::kCopy); ++kind) {
    const Unary op{static_cast<UnaryKind>(kind), 0.25f};
    if (RowOf(op.kind).rule != ElementRule::kNumbers || RowOf(op.kind).text.empty()) continue;  // not for real numbers
    const bool of_positives = op.kind == UnaryKind::kLog || op.kind == UnaryKind::kSqrt || op.kind == UnaryKind::kRsqrt;
    GraphUnderTest test;
    ValueId in = test.Input({3, 37});
    if (of_positives) in = test.Add(Unary{UnaryKind::kExp}, {in});
    test.Add(op, {in});
    ExpectReferenceResult(test);
  }
}

TEST(CpuExecutor, TransposedConvolutionPReluAndDepthToSpaceFollowTheReference) {
  for (const int size : {13, 14}) {
    GraphUnderTest test;
    const ValueId prelu = test.Add(PRelu{}, {test.Input({2, 6, 6, 4}), test.Constant({1, 1, 4})});
    const TransposeConv conv{size, size, 2, 2, {}, Activation::kRelu6};
    const ValueId larger = test.Add(conv, {prelu, test.Constant({8, 3, 3, 4}), test.Constant({8})});
    test.Add(DepthToSpace{2}, {larger});
    ExpectReferenceResult(test);
  }
  GraphUnderTest same;
  same.Add(TransposeConv{12, 11, 2, 2, {PaddingMode::kSame}}, {same.Input({1, 6, 6, 4}), same.Constant({5, 3, 3, 4})});
  ExpectReferenceResult(same);
}

TEST(CpuExecutor, ConcatenationFollowsTheReferenceOnEachAxis) {
  for (int axis : {0, 1, 2, -1}) {
    for (Activation activation : {Activation::kNone, Activation::kRelu}) {
      GraphUnderTest test;
      Shape first{2, 3, 4}, second{2, 3, 4};
      second[axis < 0 ? axis + 3 : axis] = 5;
      Concat op = Activated<Concat>(activation);
      op.axis = axis;
      test.Add(op, {test.Input(first), test.Constant(second), test.Input(first)});
      ExpectReferenceResult(test);
    }
  }
}

TEST(CpuExecutor, ResizeFollowsTheReferenceInItsThreeVariants) {
  for (ResizeKind kind : {ResizeKind::kBilinear, ResizeKind::kNearest}) {
    for (const auto& [align_corners, half_pixel] :
         {std::pair(false, false), std::pair(true, false), std::pair(false, true)}) {
      for (int size : {3, 13, 1}) {
        GraphUnderTest test;
        test.Add(Resize{kind, size, size + 1, align_corners, half_pixel}, {test.Input({2, 6, 5, 3})});
        ExpectReferenceResult(test);
      }
    }
  }
}

TEST(CpuExecutor, SoftmaxFollowsTheReferenceForAnyBeta) {
  for (float beta : {1.0f, 0.5f}) {
    GraphUnderTest test;
    test.Add(Softmax{beta}, {test.Input({2, 3, 101})});
    ExpectReferenceResult(test);
  }
}

TEST(CpuExecutor, ReshapeMeanAndPadFollowTheReference) {
  GraphUnderTest test;
  const ValueId padded = test.Add(Pad{{0, 1, 0, 2}, {0, 2, 1, 0}, 0.5f}, {test.Input({2, 4, 5, 3})});
  const ValueId mean = test.Add(Reduce{ReduceKind::kMean, 0b0110, true}, {padded});
  const ValueId flat = test.Add(Reshape{{5, 2}}, {mean});
  test.Add(Reduce{ReduceKind::kMean, 0b10, false}, {flat});
  ExpectReferenceResult(test);
}

// Bytes in, a quantized graph on the host, bytes out; and the same by the reference.
struct QuantizedResults {
  std::vector<uint8_t> host, reference;
};
QuantizedResults RunQuantized(Graph& graph) {
  EXPECT_TRUE(InferShapes(graph).ok());
  const std::unique_ptr<HostExecutor> executor = MakeCpuExecutor();
  const auto program = executor->Prepare(graph, AllNodes(graph), graph.outputs, 2);
  EXPECT_TRUE(program.ok()) << program.status().message();
  const TensorDesc &in = graph.value(graph.inputs[0]).desc, &out = graph.value(graph.outputs[0]).desc;
  QuantizedResults results{std::vector<uint8_t>(out.size_bytes()), std::vector<uint8_t>(out.size_bytes())};
  std::vector<uint8_t> given(in.size_bytes());
  std::mt19937 generator(kSeed);
  for (uint8_t& byte : given) byte = static_cast<uint8_t>(generator());
  const HostTensor tensors[] = {{graph.inputs[0], std::as_writable_bytes(std::span(given))},
                                {graph.outputs[0], std::as_writable_bytes(std::span(results.host))}};
  EXPECT_TRUE((*program)->Run(tensors).ok());
  const Result<ReferenceTensor> x = ReferenceFromBytes(in, std::as_bytes(std::span(given)));
  const auto expected = EvaluateGraph(graph, std::span(&x.value(), 1));
  EXPECT_TRUE(expected.ok()) << expected.status().message();
  EXPECT_TRUE(ReferenceToBytes(expected->at(0), out, std::as_writable_bytes(std::span(results.reference))).ok());
  return results;
}

// A convolution whose sums float32 holds exactly, then what XNNPACK and copies do with quantized values.
TEST(CpuExecutor, QuantizedValuesAreWhatTheReferenceMakesOfThem) {
  for (const DType dtype : {DType::kInt8, DType::kUInt8}) {
    const int64_t zero_point = dtype == DType::kInt8 ? 3 : 130;
    const auto grid = [&](float scale) { return Quantization{{scale}, {zero_point}, 0}; };
    Graph graph;
    const auto value = [&](const char* name, const Quantization& quantization) {
      return graph.AddValue({.name = name, .desc = {dtype, {}, quantization}});
    };
    const ValueId x = graph.AddValue({.name = "x", .desc = {dtype, {1, 7, 5, 3}, grid(0.25f)}});
    std::vector<float> weights(5 * 3 * 3 * 3);
    for (size_t k = 0; k < weights.size(); ++k) weights[k] = static_cast<float>(static_cast<int>(k * 7 % 9) - 4) / 4;
    const ValueId w = graph.AddFloatConstant("w", {5, 3, 3, 3}, weights);
    const ValueId conv = value("conv", grid(0.5f)), turned = value("turned", grid(0.5f));
    const ValueId coarser = value("coarser", grid(2.0f)), relu = value("relu", grid(2.0f));
    graph.inputs = {x};
    graph.AddNode({.op = Conv2D{}, .inputs = {x, w}, .outputs = {conv}, .name = "conv"});
    graph.AddNode({.op = Reshape{{5, 3, 5}}, .inputs = {conv}, .outputs = {turned}, .name = "reshape"});
    graph.AddNode({.op = Unary{UnaryKind::kCopy}, .inputs = {turned}, .outputs = {coarser}, .name = "requantize"});
    graph.AddNode({.op = Unary{UnaryKind::kRelu}, .inputs = {coarser}, .outputs = {relu}, .name = "relu"});
    graph.outputs = {relu};
    const QuantizedResults results = RunQuantized(graph);
    EXPECT_EQ(results.host, results.reference) << DTypeName(dtype);
  }
}

TEST(CpuExecutor, ValuesThatAreNotFloat32AreConvertedByTheReference) {
  Graph graph;
  const TensorDesc stored{DType::kUInt8, {1, 4}, Quantization{{0.5f}, {10}, 0}};
  const ValueId in = graph.AddValue({.name = "in", .desc = stored});
  const ValueId out = graph.AddValue({.name = "out", .desc = stored});
  graph.inputs = {in};
  graph.outputs = {out};
  graph.AddNode({.op = Unary{UnaryKind::kRelu}, .inputs = {in}, .outputs = {out}, .name = "node"});
  const std::unique_ptr<HostExecutor> executor = MakeCpuExecutor();
  const auto program = executor->Prepare(graph, AllNodes(graph), graph.outputs, 1);
  ASSERT_TRUE(program.ok()) << program.status().message();
  std::vector<uint8_t> given = {0, 9, 10, 255}, wanted(4);
  const HostTensor tensors[] = {{out, std::as_writable_bytes(std::span(wanted))},
                                {in, std::as_writable_bytes(std::span(given))}};
  ASSERT_TRUE((*program)->Run(tensors).ok());
  EXPECT_THAT(wanted, ::testing::ElementsAre(10, 10, 10, 255));
}

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
  const Result<HostArena> arena = HostArena::Create(graph, AllNodes(graph), graph.outputs);
  EXPECT_TRUE(arena.ok());
  XnnpackNodes nodes;
  WorkerPool workers(1, 1);
  const Result<std::unique_ptr<HostNode>> node = nodes.Make({graph, graph.nodes().back(), *arena, workers});
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
  ASSERT_TRUE((*program)->Run(tensors, &times).ok());
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
                             Unary{UnaryKind::kLogistic},
                             Unary{UnaryKind::kHardSwish},
                             Unary{UnaryKind::kElu},
                             Unary{UnaryKind::kLeakyRelu, 0.1f},
                             Softmax{},
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
  const std::pair<Op, Shape> with_weights[] = {{Conv2D{same, Activation::kRelu6}, {8, 3, 3, 4}},
                                               {Conv2D{}, {8, 1, 1, 2}},
                                               {Conv2D{same, Activation::kTanh}, {8, 1, 1, 4}},
                                               {DepthwiseConv2D{same, Activation::kSigmoid}, {1, 3, 3, 8}},
                                               {DepthwiseConv2D{same, Activation::kRelu}, {1, 3, 3, 8}},
                                               {FullyConnected{}, {8, 4}},
                                               {Binary{BinaryKind::kAdd, Activation::kRelu}, {4}},
                                               {Binary{BinaryKind::kMul}, {6, 1, 4}},
                                               {Binary{BinaryKind::kMaximum}, {}},
                                               {PRelu{}, {1, 1, 4}},
                                               {TransposeConv{13, 13, 2, 2}, {8, 3, 3, 4}}};
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
  EXPECT_EQ((*program)->naive_bytes(), 5 * kValueBytes);
  EXPECT_EQ((*program)->arena_bytes(), 2 * kValueBytes);
  EXPECT_EQ((*program)->lower_bound_bytes(), 2 * kValueBytes);
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

// A 1x1 convolution of two channels into two on a grid of whole numbers; `add_filter` adds the filter [2,1,1,2].
Graph RoundedConvolution(const std::function<ValueId(Graph&)>& add_filter) {
  Graph graph;
  const ValueId x = graph.AddValue({.name = "x", .desc = {.shape = {1, 1, 1, 2}}});
  graph.inputs = {x};
  const ValueId filter = add_filter(graph);
  const ValueId y = graph.AddValue({.name = "y", .desc = {.dtype = DType::kInt8}});
  graph.value(y).desc.quantization = Quantization{{1.0f}, {0}, 0};
  graph.AddNode({.op = Conv2D{}, .inputs = {x, filter}, .outputs = {y}, .name = "conv"});
  graph.outputs = {y};
  EXPECT_TRUE(InferShapes(graph).ok());
  return graph;
}

TEST(NearTies, AreSummedAgainInFloat64) {
  const Graph graph = RoundedConvolution([](Graph& g) {
    return g.AddFloatConstant("w", {2, 1, 1, 2}, std::vector<float>{0.5f, -0x1p-26f, 0.25f, 0.0f});
  });
  const std::unique_ptr<NearTies> ties = NearTies::Of(graph, graph.nodes()[0]);
  ASSERT_NE(ties, nullptr);
  std::vector<float> sums = {0.50001f, 0.25f};  // a float kernel's: the first in doubt, the second not
  ties->Refine(std::vector<float>{1.0f, 64.0f}, sums);
  EXPECT_EQ(sums[0], static_cast<float>(0.5 - 64 * 0x1p-26));
  EXPECT_LT(sums[0], 0.5f);
  EXPECT_EQ(sums[1], 0.25f);
}

TEST(NearTies, FiltersOf8BitsCountByTheirChannelsGrid) {
  for (const DType dtype : {DType::kInt8, DType::kUInt8}) {
    const Graph graph = RoundedConvolution([dtype](Graph& g) {
      return g.AddConstantValue("w", {dtype, {2, 1, 1, 2}, Quantization{{0.5f, 0.25f}, {1, 2}, 0}},
                                {std::byte{4}, std::byte{0}, std::byte{4}, std::byte{1}});
    });
    const std::unique_ptr<NearTies> ties = NearTies::Of(graph, graph.nodes()[0]);
    ASSERT_NE(ties, nullptr);
    std::vector<float> sums = {2.50001f, 1.50001f};  // both in doubt
    ties->Refine(std::vector<float>{2.0f, 1.0f}, sums);
    EXPECT_EQ(sums[0], 2 * 1.5f - 0.5f);
    EXPECT_EQ(sums[1], 2 * 0.5f - 0.25f);
  }
}

}  // namespace
}  // namespace hearth
