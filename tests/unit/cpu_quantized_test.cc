// Quantized and converted values on the host against core's reference, and sums close to a tie.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "backends/cpu/cpu_executor.h"
#include "backends/cpu/host/rounding_ties.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_def.h"
#include "tests/testing/host_graph.h"

namespace hearth {
namespace {

using testing::AllNodes;
using testing::kHostGraphSeed;

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
  std::mt19937 generator(kHostGraphSeed);
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

// Of one scale for each channel, or of 32 bits.
TEST(CpuExecutor, QuantizedValuesThatAreNotHeldAsFloatsAreAddedByTheReference) {
  const Quantization one_scale{{0.25f}, {0}, 0}, four_scales{{0.5f, 1.0f, 2.0f, 4.0f}, {0, 0, 0, 0}, 3};
  const std::pair<TensorDesc, Quantization> inputs_and_results[] = {
      {{DType::kInt8, {1, 5, 7, 4}, one_scale}, four_scales},
      {{DType::kInt32, {1, 5, 7, 4}, one_scale}, {{2.0f}, {0}, 0}},
  };
  for (const auto& [in, result] : inputs_and_results) {
    Graph graph;
    const ValueId x = graph.AddValue({.name = "x", .desc = in});
    const ValueId y = graph.AddValue({.name = "y", .desc = {in.dtype, {}, result}});
    graph.inputs = {x};
    graph.outputs = {y};
    graph.AddNode({.op = Binary{BinaryKind::kAdd}, .inputs = {x, x}, .outputs = {y}, .name = "add"});
    const QuantizedResults results = RunQuantized(graph);
    EXPECT_EQ(results.host, results.reference) << DTypeName(in.dtype);
  }
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

TEST(RoundingTies, AreSummedAgainInFloat64) {
  const Graph graph = RoundedConvolution([](Graph& g) {
    return g.AddFloatConstant("w", {2, 1, 1, 2}, std::vector<float>{0.5f, -0x1p-26f, 0.25f, 0.0f});
  });
  const std::unique_ptr<RoundingTies> ties = RoundingTies::Of(graph, graph.nodes()[0]);
  ASSERT_NE(ties, nullptr);
  std::vector<float> sums = {0.50001f, 0.25f};  // a float kernel's: the first in doubt, the second not
  ties->Refine(std::vector<float>{1.0f, 64.0f}, sums, 0);
  EXPECT_EQ(sums[0], static_cast<float>(0.5 - 64 * 0x1p-26));
  EXPECT_LT(sums[0], 0.5f);
  EXPECT_EQ(sums[1], 0.25f);
}

TEST(RoundingTies, FiltersOf8BitsCountByTheirChannelsGrid) {
  for (const DType dtype : {DType::kInt8, DType::kUInt8}) {
    const Graph graph = RoundedConvolution([dtype](Graph& g) {
      return g.AddConstantValue("w", {dtype, {2, 1, 1, 2}, Quantization{{0.5f, 0.25f}, {1, 2}, 0}},
                                {std::byte{4}, std::byte{0}, std::byte{4}, std::byte{1}});
    });
    const std::unique_ptr<RoundingTies> ties = RoundingTies::Of(graph, graph.nodes()[0]);
    ASSERT_NE(ties, nullptr);
    std::vector<float> sums = {2.50001f, 1.50001f};  // both in doubt
    ties->Refine(std::vector<float>{2.0f, 1.0f}, sums, 0);
    EXPECT_EQ(sums[0], 2 * 1.5f - 0.5f);
    EXPECT_EQ(sums[1], 2 * 0.5f - 0.25f);
  }
}

}  // namespace
}  // namespace hearth
