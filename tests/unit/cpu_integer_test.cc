// Nodes on stored 8-bit numbers against core's float64 reference on the same grids.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cpu/cpu_executor.h"
#include "backends/cpu/integer/matrix_kernel.h"
#include "core/graph/evaluate.h"
#include "tests/testing/host_graph.h"
#include "tests/testing/integer_graph.h"

namespace hearth {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using testing::ExpectIntegersAsReference;
using testing::Grid;
using testing::IntegerGraph;
using testing::IntegerResults;
using testing::RunIntegers;

#define SKIP_WITHOUT_INTEGER_LAYERS() \
  if (BestIntegerSet() == IntegerSet::kNone) GTEST_SKIP() << "this processor has no AVX2: layers run in floats"

// Grids as converters make them: int8 with one scale for each channel, uint8 with zero points everywhere.
struct Types {
  Grid in, weights, out;
};
std::vector<Types> TypesOf(int32_t channels, int32_t dimension) {
  std::vector<float> scales;
  for (int32_t c = 0; c < channels; ++c) scales.push_back(0.0031f + 0.00017f * static_cast<float>(c % 7));
  return {{{DType::kInt8, {0.043f}, {-7}}, {DType::kInt8, scales, {}, dimension}, {DType::kInt8, {0.71f}, {11}}},
          {{DType::kUInt8, {0.017f}, {119}}, {DType::kUInt8, {0.0043f}, {141}}, {DType::kUInt8, {0.29f}, {101}}},
          {{DType::kInt8, {0.043f}, {-128}}, {DType::kInt8, {0.0067f}, {3}}, {DType::kUInt8, {0.71f}, {0}}}};
}

Window2D Windowed(int32_t stride, int32_t dilation, PaddingMode mode) {
  return {stride, stride, dilation, dilation, {mode}};
}

TEST(CpuIntegers, ConvolutionsAreTheReferencesOnTheirGrids) {
  SKIP_WITHOUT_INTEGER_LAYERS();
  struct Size {
    int32_t in, out, kernel, stride, dilation;
    PaddingMode mode;
  };
  for (const Size& size : {Size{3, 8, 3, 2, 1, PaddingMode::kSame}, Size{16, 24, 1, 1, 1, PaddingMode::kSame},
                           Size{5, 17, 1, 2, 1, PaddingMode::kValid}, Size{7, 33, 3, 1, 2, PaddingMode::kSame},
                           Size{21, 70, 1, 1, 1, PaddingMode::kValid}, Size{9, 101, 5, 1, 1, PaddingMode::kSame},
                           Size{1, 1, 2, 1, 1, PaddingMode::kSame}, Size{40, 80, 3, 1, 1, PaddingMode::kValid}}) {
    for (const Types& types : TypesOf(size.out, 0)) {
      IntegerGraph graph;
      const ValueId x = graph.Input({2, 9, 11, size.in}, types.in);
      const ValueId w = graph.Constant({size.out, size.kernel, size.kernel, size.in}, types.weights);
      const ValueId bias = graph.Bias(types.in.scales[0], types.weights.scales, size.out);
      graph.Add(Conv2D{Windowed(size.stride, size.dilation, size.mode), Activation::kNone}, {x, w, bias}, types.out);
      ExpectIntegersAsReference(graph);
    }
  }
}

// Lines so long that windows are read where they lie, but at their ends.
TEST(CpuIntegers, ConvolutionsOfLongLinesAreTheReferences) {
  SKIP_WITHOUT_INTEGER_LAYERS();
  struct Size {
    int32_t height, width, in, out, kernel, stride, dilation, groups;
    PaddingMode mode;
  };
  constexpr PaddingMode kSame = PaddingMode::kSame, kValid = PaddingMode::kValid;
  for (const Size& size : {Size{5, 61, 3, 8, 3, 2, 1, 1, kSame}, Size{4, 27, 16, 20, 3, 1, 1, 1, kSame},
                           Size{3, 210, 8, 66, 3, 1, 1, 1, kSame}, Size{7, 40, 6, 17, 3, 1, 3, 1, kSame},
                           Size{6, 33, 12, 30, 3, 1, 1, 3, kSame}, Size{5, 70, 9, 4, 1, 2, 1, 1, kSame},
                           Size{6, 35, 2, 6, 5, 1, 1, 1, kSame}, Size{8, 60, 4, 7, 4, 2, 1, 1, kValid},
                           Size{5, 30, 7, 33, 2, 1, 2, 1, kValid}}) {
    for (const Types& types : TypesOf(size.out, 0)) {
      IntegerGraph graph;
      const ValueId x = graph.Input({2, size.height, size.width, size.in}, types.in);
      const ValueId w = graph.Constant({size.out, size.kernel, size.kernel, size.in / size.groups}, types.weights);
      const ValueId bias = graph.Bias(types.in.scales[0], types.weights.scales, size.out);
      graph.Add(Conv2D{Windowed(size.stride, size.dilation, size.mode), Activation::kNone}, {x, w, bias}, types.out);
      ExpectIntegersAsReference(graph);
    }
  }
}

TEST(CpuIntegers, GroupedConvolutionsAreTheReferences) {
  SKIP_WITHOUT_INTEGER_LAYERS();
  for (const Types& types : TypesOf(30, 0)) {
    IntegerGraph graph;
    const ValueId x = graph.Input({1, 6, 7, 12}, types.in);
    const ValueId w = graph.Constant({30, 3, 3, 4}, types.weights);
    graph.Add(Conv2D{Windowed(1, 1, PaddingMode::kSame), Activation::kNone}, {x, w}, types.out);
    ExpectIntegersAsReference(graph);
  }
}

TEST(CpuIntegers, DepthwiseConvolutionsAreTheReferencesOnTheirGrids) {
  SKIP_WITHOUT_INTEGER_LAYERS();
  for (const int32_t channels : {3, 16, 32, 64, 100, 193}) {
    for (const int32_t kernel : {2, 3, 5}) {
      for (const Types& types : TypesOf(channels, 3)) {
        IntegerGraph graph;
        const ValueId x = graph.Input({2, 7, 9, channels}, types.in);
        const ValueId w = graph.Constant({1, kernel, kernel, channels}, types.weights);
        const ValueId bias = graph.Bias(types.in.scales[0], types.weights.scales, channels);
        graph.Add(
            DepthwiseConv2D{Windowed(kernel == 3 ? 2 : 1, kernel == 2 ? 2 : 1, PaddingMode::kSame), Activation::kRelu6},
            {x, w, bias}, types.out);
        ExpectIntegersAsReference(graph);
      }
    }
  }
}

TEST(CpuIntegers, ADepthwiseConvolutionOfOneChannelHasManyOutputs) {
  SKIP_WITHOUT_INTEGER_LAYERS();
  for (const Types& types : TypesOf(19, 3)) {
    IntegerGraph graph;
    const ValueId x = graph.Input({1, 8, 5, 1}, types.in);
    const ValueId w = graph.Constant({1, 3, 3, 19}, types.weights);
    graph.Add(DepthwiseConv2D{Windowed(1, 1, PaddingMode::kSame), Activation::kNone}, {x, w}, types.out);
    ExpectIntegersAsReference(graph);
  }
}

TEST(CpuIntegers, FullyConnectedLayersAreTheReferences) {
  SKIP_WITHOUT_INTEGER_LAYERS();
  for (const int32_t rows : {1, 2, 5, 13}) {
    for (const Types& types : TypesOf(77, 0)) {
      IntegerGraph graph;
      const ValueId x = graph.Input({rows, 130}, types.in);
      const ValueId w = graph.Constant({77, 130}, types.weights);
      const ValueId bias = graph.Bias(types.in.scales[0], types.weights.scales, 77);
      graph.Add(FullyConnected{}, {x, w, bias}, types.out);
      ExpectIntegersAsReference(graph);
    }
  }
}

TEST(CpuIntegers, SumsThatLeaveTheTypeBecomeItsEnds) {
  SKIP_WITHOUT_INTEGER_LAYERS();
  for (const DType dtype : {DType::kInt8, DType::kUInt8}) {
    const Grid coarse{dtype, {1.0f}, {dtype == DType::kInt8 ? -3 : 130}}, fine{dtype, {0.001f}, {5}};
    IntegerGraph graph;
    const ValueId x = graph.Input({1, 4, 4, 8}, coarse);
    graph.Add(Conv2D{}, {x, graph.Constant({20, 1, 1, 8}, coarse)}, fine);
    ExpectIntegersAsReference(graph);
    const std::vector<uint8_t> ends = RunIntegers(graph.graph()).host;
    const auto lowest = static_cast<uint8_t>(dtype == DType::kInt8 ? 0x80 : 0x00);
    const auto highest = static_cast<uint8_t>(dtype == DType::kInt8 ? 0x7f : 0xff);
    EXPECT_THAT(ends, ::testing::Contains(lowest));
    EXPECT_THAT(ends, ::testing::Contains(highest));
  }
}

// Half a step in both directions, with scales that floats hold. As XNNPACK in LiteRT 2.3.0 does.
TEST(CpuIntegers, TiesGoToTheEvenNumber) {
  SKIP_WITHOUT_INTEGER_LAYERS();
  const Grid halves{DType::kInt8, {0.5f}, {0}}, ones{DType::kInt8, {1.0f}, {0}};
  IntegerGraph graph;
  const ValueId x = graph.Input({1, 16, 16, 1}, halves);
  const ValueId w = graph.graph().AddConstantValue("one", ones.Of({1, 1, 1, 1}), {std::byte{1}});
  graph.Add(Conv2D{}, {x, w}, ones);
  const IntegerResults results = RunIntegers(graph.graph());
  EXPECT_THAT(results.kernels, ElementsAre("integer"));
  size_t ties = 0;
  for (size_t k = 0; k < results.host.size(); ++k) {
    const int here = static_cast<int8_t>(results.host[k]), there = static_cast<int8_t>(results.reference[k]);
    if (here == there) continue;  // no tie, or one whose even number lies away from zero
    EXPECT_EQ(std::abs(there) - std::abs(here), 1);
    EXPECT_EQ(here % 2, 0);
    ++ties;
  }
  EXPECT_GT(ties, 30u);
}

TEST(CpuIntegers, OperationsOfTwoValuesAreTheReferences) {
  for (const DType dtype : {DType::kInt8, DType::kUInt8}) {
    const int64_t middle = dtype == DType::kInt8 ? -5 : 120;
    const Grid a{dtype, {0.031f}, {middle}}, b{dtype, {0.047f}, {middle + 9}}, out{dtype, {0.053f}, {middle - 3}};
    for (const BinaryKind kind :
         {BinaryKind::kAdd, BinaryKind::kSub, BinaryKind::kMul, BinaryKind::kMaximum, BinaryKind::kMinimum}) {
      for (const Shape& shape :
           {Shape{1, 5, 7, 9}, Shape{9}, Shape{1, 1, 1, 9}, Shape{1}, Shape{7, 9}, Shape{5, 1, 9}, Shape{7, 1}}) {
        IntegerGraph graph;
        const ValueId x = graph.Input({1, 5, 7, 9}, a), y = graph.Input(shape, b);
        graph.Add(Binary{kind, Activation::kRelu}, {x, y}, out);
        graph.Add(Binary{kind, Activation::kNone}, {graph.Constant(shape, b), graph.graph().outputs[0]}, a);
        ExpectIntegersAsReference(graph);
      }
    }
  }
}

// On a grid so fine that a fused multiply-add would show.
TEST(CpuIntegers, TheDifferenceOfEqualValuesIsZero) {
  IntegerGraph graph;
  const ValueId x = graph.Input({3, 40}, {DType::kInt8, {0.0223f}, {-31}});
  graph.Add(Binary{BinaryKind::kSub, Activation::kNone}, {x, x}, {DType::kInt8, {1e-9f}, {-7}});
  EXPECT_THAT(RunIntegers(graph.graph()).host, Each(static_cast<uint8_t>(-7)));
}

TEST(CpuIntegers, FunctionsOfOneValueAreTheReferencesBitForBit) {
  const Grid in{DType::kInt8, {0.04f}, {-11}}, other{DType::kUInt8, {0.02f}, {30}};
  for (const UnaryKind kind : {UnaryKind::kTanh, UnaryKind::kLogistic, UnaryKind::kHardSwish, UnaryKind::kAbs,
                               UnaryKind::kQuantize, UnaryKind::kLog, UnaryKind::kCopy}) {
    for (const Grid& out : {in, other}) {
      if (kind != UnaryKind::kQuantize && out.dtype != in.dtype) continue;
      IntegerGraph graph;
      graph.Add(Unary{kind, 0.2f}, {graph.Input({3, 100}, in)}, out);
      const IntegerResults results = RunIntegers(graph.graph());
      EXPECT_EQ(results.host, results.reference) << static_cast<int>(kind);
      EXPECT_THAT(results.kernels, ElementsAre("integer"));
    }
  }
}

// As swish: one table of x. The function's own node is left out, unless another reader has it.
TEST(CpuIntegers, AProductOfANumberAndAFunctionOfItIsOneTable) {
  for (const DType dtype : {DType::kInt8, DType::kUInt8}) {
    const int64_t middle = dtype == DType::kInt8 ? -5 : 120;
    const Grid in{dtype, {0.031f}, {middle}}, share{dtype, {1.0f / 256}, {dtype == DType::kInt8 ? -128 : 0}};
    for (const bool is_first : {true, false}) {
      const auto results_of = [&](bool has_reader) {
        IntegerGraph graph;
        const ValueId x = graph.Input({3, 77}, in), of_x = graph.Add(Unary{UnaryKind::kLogistic}, {x}, share);
        const std::vector<ValueId> operands = is_first ? std::vector{x, of_x} : std::vector{of_x, x};
        const ValueId product = graph.Add(Binary{BinaryKind::kMul, Activation::kNone}, operands, in);
        if (has_reader) graph.Add(Binary{BinaryKind::kAdd, Activation::kNone}, {product, of_x}, in);
        return RunIntegers(graph.graph());
      };
      const IntegerResults alone = results_of(false);
      EXPECT_THAT(alone.kernels, ElementsAre("merged", "integer"));
      for (size_t k = 0; k < alone.host.size(); ++k) {
        const int apart = static_cast<int8_t>(alone.host[k] - alone.reference[k]);
        ASSERT_LE(std::abs(apart), 1) << "at " << k;
      }
      EXPECT_THAT(results_of(true).kernels, ElementsAre("integer", "integer", "integer"));
    }
  }
}

// The stored numbers that the operation makes of `x`, on the CPU.
std::vector<int> NumbersOf(const Op& op, const Shape& shape, const Grid& in, const Grid& out,
                           const std::vector<int8_t>& x) {
  IntegerGraph graph;
  const ValueId input = graph.Input(shape, in);
  graph.Add(op, {input}, out);
  EXPECT_TRUE(InferShapes(graph.graph()).ok());
  const std::unique_ptr<HostExecutor> executor = MakeCpuExecutor();
  const auto program = executor->Prepare(graph.graph(), testing::AllNodes(graph.graph()), graph.graph().outputs, 1);
  EXPECT_TRUE(program.ok()) << program.status().message();
  std::vector<int8_t> given = x, made(graph.graph().value(graph.graph().outputs[0]).desc.size_bytes());
  const std::vector<HostTensor> tensors = {{input, std::as_writable_bytes(std::span(given))},
                                           {graph.graph().outputs[0], std::as_writable_bytes(std::span(made))}};
  std::vector<HostNodeTime> times;
  EXPECT_TRUE((*program)->Run(tensors, {.times = &times}).ok());
  for (const HostNodeTime& time : times) EXPECT_EQ(time.kernel, "integer");
  return {made.begin(), made.end()};
}

// What LiteRT 2.3.0 gives by default, each by its own rule.
TEST(CpuIntegers, LayersRoundAsLiteRtsDo) {
  const Grid ones{DType::kInt8, {1.0f}, {0}}, halves{DType::kInt8, {0.5f}, {0}}, shifted{DType::kInt8, {1.0f}, {3}};
  // Averages of stored numbers, away from zero: (1 + 2) / 2, (-1 - 2) / 2, and 0.5 and -0.5.
  const Op average = Pool2D{PoolKind::kAverage, 1, 2, Windowed(2, 1, PaddingMode::kValid), Activation::kNone};
  EXPECT_THAT(NumbersOf(average, {1, 1, 8, 1}, shifted, shifted, {1, 2, -1, -2, 0, 1, 0, -1}),
              ElementsAre(2, -2, 1, -1));
  // Means to even.
  const Op mean = Reduce{ReduceKind::kMean, 0b10, false};
  EXPECT_THAT(NumbersOf(mean, {4, 2}, ones, ones, {1, 2, -1, -2, 0, 1, 2, 3}), ElementsAre(2, -2, 0, 2));
  // 8 bits of the factor 0.3: 77 / 256, ties up.
  const Op leaky = Unary{UnaryKind::kLeakyRelu, 0.3f};
  EXPECT_THAT(NumbersOf(leaky, {5}, ones, ones, {-128, -10, -5, 0, 77}), ElementsAre(-38, -3, -2, 0, 77));
  const Op quantize = Unary{UnaryKind::kQuantize};
  EXPECT_THAT(NumbersOf(quantize, {4}, halves, ones, {1, -1, 3, -3}), ElementsAre(1, 0, 2, -1));
  // Weights of 11 bits, ties up: between 0 and 1, and -1 and 0.
  const Op resize = Resize{.kind = ResizeKind::kBilinear, .height = 1, .width = 4};
  EXPECT_THAT(NumbersOf(resize, {1, 1, 2, 1}, ones, ones, {0, 1}), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(NumbersOf(resize, {1, 1, 2, 1}, ones, ones, {-1, 0}), ElementsAre(-1, 0, 0, 0));
}

TEST(CpuIntegers, MaximaAndMeansOfWindowsAreTheReferences) {
  for (const PoolKind kind : {PoolKind::kMax, PoolKind::kAverage}) {
    for (const int32_t channels : {1, 5, 64, 70}) {
      for (const Grid& out : {Grid{DType::kInt8, {0.05f}, {-4}}, Grid{DType::kInt8, {0.0371f}, {9}}}) {  // without ties
        if (kind == PoolKind::kAverage && out.scales[0] == 0.05f) continue;  // of stored numbers: see above
        IntegerGraph graph;
        const ValueId x = graph.Input({2, 8, 9, channels}, {DType::kInt8, {0.05f}, {-4}});
        graph.Add(Pool2D{kind, 3, 2, Windowed(2, 1, PaddingMode::kSame), Activation::kRelu}, {x}, out);
        ExpectIntegersAsReference(graph);
      }
    }
  }
}

TEST(CpuIntegers, MeansOverNeighbouringDimensionsAreTheReferences) {
  const Grid in{DType::kUInt8, {0.05f}, {100}}, out{DType::kUInt8, {0.021f}, {77}};
  for (const uint32_t axes : {0b0110u, 0b1000u, 0b0010u, 0b1110u}) {
    IntegerGraph graph;
    graph.Add(Reduce{ReduceKind::kMean, axes, true}, {graph.Input({2, 6, 7, 33}, in)}, out);
    ExpectIntegersAsReference(graph);
  }
}

TEST(CpuIntegers, MovedBytesStayBytesAndPaddingIsTheZeroPoint) {
  const Grid grid{DType::kInt8, {0.05f}, {-7}}, other{DType::kInt8, {0.09f}, {12}};
  IntegerGraph graph;
  const ValueId x = graph.Input({1, 4, 6, 3}, grid), y = graph.Input({1, 4, 6, 2}, other);
  const ValueId padded = graph.Add(Pad{{0, 1, 2, 0}, {0, 1, 0, 0}, 0.0}, {x}, grid);
  const ValueId marked = graph.Add(Pad{{0, 1, 2, 0}, {0, 1, 0, 0}, 1.5}, {y}, other);
  const ValueId joined = graph.Add(Concat{3, Activation::kRelu}, {padded, marked}, grid);
  const ValueId blocks = graph.Add(SpaceToBatch{{2, 2}, {0, 0}, {0, 0}}, {joined}, grid);
  const ValueId turned = graph.Add(Transpose{{0, 2, 1, 3}}, {blocks}, grid);
  graph.Add(Reshape{{48, 5}}, {turned}, grid);
  const IntegerResults results = RunIntegers(graph.graph());
  EXPECT_EQ(results.host, results.reference);
  EXPECT_THAT(results.kernels, ElementsAre("movement", "movement", "copy", "movement", "movement", "copy"));
}

// A value that an integer node makes, and that two nodes in floats and one in integers read.
TEST(CpuIntegers, ValuesAreConvertedWhereANeighbourWantsThemOtherwise) {
  const Grid grid{DType::kInt8, {0.05f}, {-7}}, shares{DType::kInt8, {1.0f / 256}, {-128}};
  IntegerGraph graph;
  const ValueId x = graph.Input({4, 9}, grid);
  const ValueId doubled = graph.Add(Binary{BinaryKind::kAdd, Activation::kNone}, {x, x}, grid);
  const ValueId first = graph.Add(Softmax{}, {doubled}, shares);
  const ValueId second = graph.Add(Softmax{}, {doubled}, shares);
  const ValueId sum = graph.Add(Binary{BinaryKind::kAdd, Activation::kNone}, {first, second}, grid);
  graph.Add(Binary{BinaryKind::kMul, Activation::kNone}, {sum, doubled}, grid);
  const IntegerResults results = RunIntegers(graph.graph());
  EXPECT_EQ(results.host, results.reference);
  EXPECT_EQ(results.kernels[0], "integer");
  EXPECT_NE(results.kernels[1], "integer");
  EXPECT_EQ(results.kernels[4], "integer");
}

TEST(CpuIntegers, FloatsBecomeBytesAndFloatsAgain) {
  IntegerGraph graph;
  const Grid grid{DType::kUInt8, {0.05f}, {30}};
  const TensorDesc floats{DType::kFloat32, {}, std::nullopt};
  const ValueId real = graph.AddAs(Unary{UnaryKind::kDequantize}, {graph.Input({5, 5}, grid)}, floats);
  const ValueId bytes = graph.Add(Unary{UnaryKind::kQuantize}, {real}, {DType::kInt8, {0.11f}, {-20}});
  graph.AddAs(Unary{UnaryKind::kDequantize}, {bytes}, floats);
  const IntegerResults results = RunIntegers(graph.graph());
  EXPECT_EQ(results.host, results.reference);
  EXPECT_THAT(results.kernels, Each("integer"));
}

// Each is right in floats: a bias between two units, weights that are made in the run, an activation that is no clamp.
TEST(CpuIntegers, WhatIntegersCannotDoExactlyRunsInFloats) {
  const Grid grid{DType::kInt8, {0.5f}, {0}}, coarse{DType::kInt8, {16.0f}, {0}};
  IntegerGraph between, made, curved;
  const ValueId x = between.Input({1, 2, 2, 3}, grid);
  const ValueId bias = between.graph().AddFloatConstant("bias", {4}, std::vector<float>{0.1f, 0.2f, 0.3f, 0.4f});
  between.Add(Conv2D{}, {x, between.Constant({4, 1, 1, 3}, grid), bias}, grid);
  const ValueId y = made.Input({1, 2, 2, 3}, grid);
  made.Add(Conv2D{}, {y, made.Input({4, 1, 1, 3}, grid)}, coarse);
  const ValueId z = curved.Input({1, 2, 2, 3}, grid);
  curved.Add(Conv2D{{}, Activation::kTanh}, {z, curved.Constant({4, 1, 1, 3}, grid)}, grid);
  for (IntegerGraph* graph : {&between, &made, &curved}) {
    const IntegerResults results = RunIntegers(graph->graph());
    EXPECT_EQ(results.host, results.reference);
    EXPECT_NE(results.kernels.at(0), "integer");
  }
}

TEST(CpuIntegers, SumsThatMayNeedMoreThan32BitsRunInFloats) {
  const Grid grid{DType::kInt8, {0.01f}, {-128}}, coarse{DType::kInt8, {512.0f}, {-128}};
  IntegerGraph graph;
  const ValueId x = graph.Input({1, 40000}, grid);
  graph.Add(FullyConnected{}, {x, graph.Constant({2, 40000}, grid)}, coarse);
  const IntegerResults results = RunIntegers(graph.graph());
  EXPECT_EQ(results.host, results.reference);
  EXPECT_NE(results.kernels.at(0), "integer");
}

TEST(CpuIntegers, NumberOfThreadsDoesNotChangeABit) {
  SKIP_WITHOUT_INTEGER_LAYERS();
  const Types types = TypesOf(96, 0)[0];
  IntegerGraph graph;
  const ValueId x = graph.Input({1, 30, 31, 64}, types.in);
  const ValueId w = graph.Constant({96, 3, 3, 64}, types.weights);
  graph.Add(Conv2D{Windowed(1, 1, PaddingMode::kSame), Activation::kRelu}, {x, w}, types.out);
  const std::vector<uint8_t> once = RunIntegers(graph.graph(), 1).host;
  for (int threads : {2, 3, 8}) EXPECT_EQ(RunIntegers(graph.graph(), threads).host, once) << threads;
}

}  // namespace
}  // namespace hearth
