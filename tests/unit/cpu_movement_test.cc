// Movement of elements on the host against core's float64 reference.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>

#include "backends/cpu/cpu_executor.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_text.h"
#include "tests/testing/child_process.h"

namespace hearth {
namespace {

using testing::ExitCodeInLittleMemory;

constexpr uint32_t kMovementSeed = 20260402;

struct Run {
  Status status;
  std::vector<std::vector<std::byte>> outputs;
  std::vector<std::string> kernels;
};

Run RunOnHost(const Graph& graph, std::vector<std::byte> input, int threads) {
  std::vector<int> nodes(graph.nodes().size());
  std::iota(nodes.begin(), nodes.end(), 0);
  const std::unique_ptr<HostExecutor> executor = MakeCpuExecutor();
  Result<std::unique_ptr<HostProgram>> program = executor->Prepare(graph, nodes, graph.outputs, threads);
  if (!program.ok()) return {program.status(), {}, {}};
  Run run;
  std::vector<HostTensor> tensors = {{graph.inputs[0], input}};
  for (ValueId value : graph.outputs) run.outputs.emplace_back(graph.value(value).desc.size_bytes());
  for (size_t k = 0; k < run.outputs.size(); ++k) tensors.push_back({graph.outputs[k], run.outputs[k]});
  std::vector<HostNodeTime> times;
  run.status = (*program)->Run(tensors, {.times = &times});
  for (const HostNodeTime& time : times) run.kernels.emplace_back(time.kernel);
  return run;
}

// One node whose every output is one of the graph's.
Graph OneNode(const Op& op, const TensorDesc& in, size_t outputs = 1) {
  Graph graph;
  const ValueId x = graph.AddValue({.name = "x", .desc = in});
  graph.inputs = {x};
  for (size_t k = 0; k < outputs; ++k) {
    graph.outputs.push_back(
        graph.AddValue({.name = "y", .desc = {.dtype = in.dtype, .quantization = in.quantization}}));
  }
  graph.AddNode({.op = op, .inputs = {x}, .outputs = graph.outputs, .name = "node"});
  return graph;
}

void ExpectMoved(Graph graph, const std::string& kernel = "movement") {
  const Status inferred = InferShapes(graph);
  ASSERT_TRUE(inferred.ok()) << inferred.message();
  const TensorDesc& in = graph.value(graph.inputs[0]).desc;
  std::vector<std::byte> input(in.size_bytes());
  std::mt19937 generator(kMovementSeed);
  if (in.dtype == DType::kFloat32) {
    std::vector<float> floats(input.size() / sizeof(float));
    for (float& value : floats) value = static_cast<float>(generator() % 1000) - 500.0f;
    std::memcpy(input.data(), floats.data(), input.size());
  } else {
    const size_t element_bytes = static_cast<size_t>(BitsOf(in.dtype)) / 8;  // small numbers, which doubles hold
    for (size_t k = 0; k < input.size(); k += element_bytes) input[k] = static_cast<std::byte>(generator() % 100);
  }
  const Result<ReferenceTensor> x = ReferenceFromBytes(in, input);
  ASSERT_TRUE(x.ok());
  const Result<std::vector<ReferenceTensor>> expected = EvaluateGraph(graph, std::span(&*x, 1));
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  for (int threads : {1, 3}) {
    const Run run = RunOnHost(graph, input, threads);
    ASSERT_TRUE(run.status.ok()) << run.status.message();
    EXPECT_EQ(run.kernels, std::vector<std::string>{kernel}) << ToText(graph);
    for (size_t k = 0; k < graph.outputs.size(); ++k) {
      std::vector<std::byte> wanted(run.outputs[k].size());
      ASSERT_TRUE(ReferenceToBytes(expected->at(k), graph.value(graph.outputs[k]).desc, wanted).ok());
      EXPECT_EQ(run.outputs[k], wanted) << "output " << k << " of\n" << ToText(graph) << "seed " << kMovementSeed;
    }
  }
}

TensorDesc FloatDesc(Shape shape) {
  return {.dtype = DType::kFloat32, .shape = shape};
}

TEST(CpuMovement, TransposesFollowTheReference) {
  for (const Shape& permutation : {Shape{0, 2, 1, 3}, Shape{3, 2, 1, 0}, Shape{0, 3, 1, 2}, Shape{1, 0, 3, 2}}) {
    ExpectMoved(OneNode(Transpose{permutation}, FloatDesc({2, 5, 7, 3})));
    ExpectMoved(OneNode(Transpose{permutation}, FloatDesc({3, 33, 65, 17})));
  }
}

TEST(CpuMovement, SlicesWithStepsInBothDirectionsFollowTheReference) {
  ExpectMoved(OneNode(Slice{{0, 1, 2}, {2, 3, 4}, {1, 1, 1}, {2, 3, 4}}, FloatDesc({2, 5, 7})));
  ExpectMoved(OneNode(Slice{{1, 4, 6}, {2, 2, 3}, {-1, -3, -2}, {2, 2, 3}}, FloatDesc({2, 5, 7})));
}

TEST(CpuMovement, SplitsAndUnpackedSlicesFollowTheReference) {
  ExpectMoved(OneNode(Split{2, {1, 3, 2}}, FloatDesc({2, 4, 6, 5}), 3));
  ExpectMoved(OneNode(Unpack{1, 4}, FloatDesc({3, 4, 5}), 4));
}

TEST(CpuMovement, RepetitionsFollowTheReference) {
  ExpectMoved(OneNode(Tile{{2, 1, 3, 1}}, FloatDesc({1, 3, 5, 2})));
  ExpectMoved(OneNode(BroadcastTo{{4, 3, 6}}, FloatDesc({3, 1})));
  ExpectMoved(OneNode(Reverse{0b101}, FloatDesc({3, 4, 5})));
}

TEST(CpuMovement, BlocksFollowTheReference) {
  ExpectMoved(OneNode(SpaceToDepth{2}, FloatDesc({2, 4, 6, 3})));
  ExpectMoved(OneNode(SpaceToBatch{{2, 3}, {1, 0}, {0, 2}}, FloatDesc({2, 5, 7, 3})));
  ExpectMoved(OneNode(SpaceToBatch{{4}, {3}, {2}}, FloatDesc({3, 7, 2})));
  ExpectMoved(OneNode(BatchToSpace{{2, 3}, {1, 0}, {0, 2}}, FloatDesc({12, 3, 3, 4})));
  ExpectMoved(OneNode(BatchToSpace{{4}, {1}, {2}}, FloatDesc({8, 3, 5})));
}

TEST(CpuMovement, MirroredBordersFollowTheReference) {
  for (bool symmetric : {false, true}) {
    ExpectMoved(OneNode(MirrorPad{{0, 2, 1, 0}, {0, 1, 3, 0}, symmetric}, FloatDesc({2, 4, 5, 3})));
    ExpectMoved(OneNode(MirrorPad{{1, 1}, {1, 2}, symmetric}, FloatDesc({2, 40})));
  }
}

TEST(CpuMovement, NearestPixelsFollowTheReference) {
  for (const auto& [align, half] : {std::pair(false, false), {true, false}, {false, true}}) {
    for (int32_t channels : {1, 3, 32}) {
      ExpectMoved(OneNode(Resize{ResizeKind::kNearest, 9, 14, align, half}, FloatDesc({2, 4, 7, channels})));
      ExpectMoved(OneNode(Resize{ResizeKind::kNearest, 3, 2, align, half}, FloatDesc({1, 8, 7, channels})));
    }
  }
}

TEST(CpuMovement, EveryTypeIsMovedAsItIs) {
  for (DType dtype : {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64}) {
    ExpectMoved(OneNode(Transpose{{2, 0, 1}}, {.dtype = dtype, .shape = {3, 4, 5}}));
    ExpectMoved(OneNode(MirrorPad{{0, 1, 0}, {0, 2, 0}, true}, {.dtype = dtype, .shape = {3, 4, 5}}));
    ExpectMoved(OneNode(Pad{{0, 1, 0}, {2, 0, 3}, -77}, {.dtype = dtype, .shape = {3, 4, 5}}));
  }
}

// Doubles, with which the reference moves, hold no odd number of this size.
TEST(CpuMovement, LongIntegersOfAnOddAddressKeepTheirBits) {
  constexpr int64_t kLong = (int64_t{1} << 53) + 1;
  std::vector<std::byte> file(sizeof(kLong) + 1);
  std::memcpy(file.data() + 1, &kLong, sizeof(kLong));
  Graph graph = OneNode(Pad{{0}, {1}}, {DType::kInt64, {1}});
  const ConstantId constant = graph.BorrowConstant(std::span(file).subspan(1), std::nullopt);
  graph.nodes()[0].inputs = {graph.AddValue({.name = "long", .desc = {DType::kInt64, {1}}, .constant = constant})};
  ASSERT_TRUE(InferShapes(graph).ok());
  const auto run = RunOnHost(graph, std::vector<std::byte>(sizeof(kLong)), 1);
  ASSERT_TRUE(run.status.ok()) << run.status.message();
  EXPECT_EQ(std::memcmp(run.outputs[0].data(), &kLong, sizeof(kLong)), 0);
}

// With columns and neighbours that don't fill the squares, several tiles, pieces for threads, and all places for the
// neighbours.
TEST(CpuMovement, TransposesOfEachTypeAndSizeFollowTheReference) {
  for (DType dtype : {DType::kUInt8, DType::kInt16, DType::kFloat32, DType::kInt64}) {
    for (const Shape& in : {Shape{67, 131}, Shape{3, 4099}, Shape{4099, 5}, Shape{64, 64}, Shape{1, 257}}) {
      SCOPED_TRACE(in.ToString());
      ExpectMoved(OneNode(Transpose{{1, 0}}, {dtype, in}));
    }
    for (const Shape& order : {Shape{0, 2, 3, 1}, Shape{0, 3, 1, 2}, Shape{3, 2, 1, 0}, Shape{3, 0, 2, 1}}) {
      SCOPED_TRACE(order.ToString());
      ExpectMoved(OneNode(Transpose{order}, {dtype, {2, 19, 37, 23}}));
    }
  }
}

TEST(CpuMovement, QuantizedValuesKeepTheirGrid) {
  TensorDesc desc{.dtype = DType::kInt8, .shape = {2, 5, 6, 3}};
  desc.quantization = Quantization{.scales = {0.25f}, .zero_points = {-3}};
  ExpectMoved(OneNode(SpaceToBatch{{2, 2}, {1, 0}, {0, 0}}, desc));
  ExpectMoved(OneNode(Resize{ResizeKind::kNearest, 10, 12}, desc));
  ExpectMoved(OneNode(Tile{{1, 2, 2, 1}}, desc));
}

TEST(CpuMovement, RowsThatAreLongerThanTheListOfPlacesAreMovedWhole) {
  ExpectMoved(OneNode(Slice{{1, 0}, {2, 20000}, {1, 1}, {2, 20000}}, FloatDesc({4, 20000})));
  ExpectMoved(OneNode(Transpose{{1, 0}}, FloatDesc({20000, 3})));
}

TEST(CpuMovement, LongRowsWithOneStepFollowTheReference) {
  ExpectMoved(OneNode(BroadcastTo{{2, 9001}}, FloatDesc({2, 1})));
  ExpectMoved(OneNode(Reverse{0b1}, {.dtype = DType::kInt8, .shape = {9001}}));
  ExpectMoved(OneNode(Transpose{{1, 0}}, {.dtype = DType::kInt16, .shape = {9001, 2}}));
  ExpectMoved(OneNode(Slice{{18000}, {9001}, {-2}, {9001}}, {.dtype = DType::kInt64, .shape = {18001}}));
}

TEST(CpuMovement, LongRowsWithBordersFollowTheReference) {
  ExpectMoved(OneNode(Pad{{9000}, {1}, -7}, FloatDesc({20})));
  ExpectMoved(OneNode(Pad{{0, 3}, {0, 1}, -7}, {.dtype = DType::kInt8, .shape = {3, 9001}}));
  ExpectMoved(OneNode(MirrorPad{{9000}, {2}, false}, FloatDesc({9001})));
}

TEST(CpuMovement, BlocksOfThousandsOfPixelsAreTheReferences) {
  TensorDesc desc{.dtype = DType::kInt8, .shape = {2, 47, 58, 1}};
  ExpectMoved(OneNode(SpaceToBatch{{50, 60}, {1, 0}, {2, 2}}, desc), "reference");
  desc.quantization = Quantization{.scales = {0.25f}, .zero_points = {-3}};
  ExpectMoved(OneNode(SpaceToBatch{{50, 60}, {1, 0}, {2, 2}}, desc), "reference");
  ExpectMoved(OneNode(SpaceToBatch{{32, 64}, {1, 3}, {16, 3}}, desc));
}

bool IsPrepared(const Op& op, const TensorDesc& in) {
  Graph graph = OneNode(op, in);
  if (!InferShapes(graph).ok()) return false;
  const int node = 0;
  return MakeCpuExecutor()->Prepare(graph, std::span(&node, 1), graph.outputs, 1).ok();
}

TEST(CpuMovement, LongRowsTakeNoListOfTheirElements) {
  constexpr int32_t kLong = 6'000'000;
  const std::vector<std::pair<Op, Shape>> nodes = {
      {BroadcastTo{{kLong}}, {1}}, {Reverse{0b1}, {kLong}}, {Transpose{{1, 0}}, {kLong, 2}}};
  for (const auto& [op, shape] : nodes) {
    const TensorDesc in{.dtype = DType::kInt8, .shape = shape};
    EXPECT_EQ(ExitCodeInLittleMemory([&op = op, &in] { return IsPrepared(op, in); }), 0) << shape.ToString();
  }
}

TEST(CpuMovement, BlocksOfAMillionPixelsTakeLittleMemory) {
  const TensorDesc in{.dtype = DType::kInt8, .shape = {1, 1024, 1024, 1}};
  EXPECT_EQ(ExitCodeInLittleMemory([&in] { return IsPrepared(SpaceToBatch{{1024, 1024}, {0, 0}, {0, 0}}, in); }), 0);
}

}  // namespace
}  // namespace hearth
