// Each pass as data: a graph before, its nodes after, and equal results of both on random inputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/op_table.h"
#include "core/passes/pass.h"

namespace hearth {
namespace {

using PassFunction = Result<Verdict> (*)(Graph&, const DeviceInfo&);

constexpr uint32_t kSeed = 20240607;

Graph Parsed(std::string_view text) {
  Result<Graph> graph = GraphFromText(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  if (!graph.ok()) return Graph();
  // The texts must say what inference says.
  const std::string written = ToText(*graph);
  const Status inferred = InferShapes(*graph);
  EXPECT_TRUE(inferred.ok()) << inferred.message();
  EXPECT_EQ(ToText(*graph), written);
  EXPECT_TRUE(graph->Validate().ok()) << graph->Validate().message();
  return std::move(graph).value();
}

// The lines of inputs, nodes and outputs; values and constants that nobody reads any more stay in a graph.
std::string Structure(const Graph& graph) {
  std::string structure;
  std::string text = ToText(graph);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin) + 1;
    const std::string line = text.substr(begin, end - begin);
    const bool is_leaf = line.find(" = constant ") != std::string::npos || line.find(" = value ") != std::string::npos;
    if (!is_leaf && !line.starts_with("graph ")) structure += line;
    begin = end;
  }
  return structure;
}

std::vector<ReferenceTensor> RandomInputs(const Graph& graph) {
  std::mt19937 random(kSeed);
  std::uniform_real_distribution<double> uniform(-3, 3);
  std::vector<ReferenceTensor> inputs;
  for (ValueId id : graph.inputs) {
    ReferenceTensor& tensor = inputs.emplace_back();
    tensor.shape = graph.value(id).desc.shape;
    tensor.values.resize(tensor.shape.element_count());
    for (double& value : tensor.values) value = static_cast<float>(uniform(random));
  }
  return inputs;
}

void ExpectEqualResults(const Graph& before, const Graph& after) {
  const auto expected = EvaluateGraph(before, RandomInputs(before));
  const auto actual = EvaluateGraph(after, RandomInputs(before));
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  ASSERT_TRUE(actual.ok()) << actual.status().message();
  ASSERT_EQ(actual->size(), expected->size());
  for (size_t k = 0; k < expected->size(); ++k) {
    EXPECT_EQ((*actual)[k].shape, (*expected)[k].shape);
    ASSERT_EQ((*actual)[k].values.size(), (*expected)[k].values.size());
    for (size_t i = 0; i < (*expected)[k].values.size(); ++i) {
      const double value = (*expected)[k].values[i];
      ASSERT_NEAR((*actual)[k].values[i], value, 1e-5 * std::max(1.0, std::abs(value)))
          << "seed " << kSeed << ", output " << k << ", element " << i;
    }
  }
}

void ExpectValid(const Graph& after) {
  EXPECT_TRUE(after.Validate().ok()) << after.Validate().message();
  Graph inferred = after.Clone();
  EXPECT_TRUE(InferShapes(inferred).ok());
  EXPECT_EQ(ToText(inferred), ToText(after)) << "the pass left descriptions that inference does not give";
}

// Runs the pass and returns what it made; checks everything but the structure.
Graph Rewritten(PassFunction pass, std::string_view before) {
  const Graph original = Parsed(before);
  Graph graph = original.Clone();
  const Result<Verdict> verdict = pass(graph, DeviceInfo());
  EXPECT_TRUE(verdict.ok()) << verdict.status().message();
  if (!verdict.ok()) return graph;
  EXPECT_EQ(*verdict == Verdict::kChanged, ToText(graph) != ToText(original));
  EXPECT_EQ(graph.inputs, original.inputs);
  EXPECT_EQ(graph.outputs, original.outputs);
  ExpectValid(graph);
  ExpectEqualResults(original, graph);
  return graph;
}

void ExpectRewrite(PassFunction pass, std::string_view before, std::string_view after) {
  const std::string actual = Structure(Rewritten(pass, before));
  EXPECT_EQ(actual, after);
}

void ExpectUnchanged(PassFunction pass, std::string_view text) {
  const Graph graph = Rewritten(pass, text);
  EXPECT_EQ(ToText(graph), ToText(Parsed(text)));
}

// ---- remove_dead_nodes ----

TEST(RemoveDeadNodes, DropsChainsThatNoOutputNeeds) {
  ExpectRewrite(RemoveDeadNodes,
                R"(graph "g"
%0 = input : float32[4] "x"
%1 = abs(%0) : float32[4] "a" node "1"
%2 = neg(%1) : float32[4] "b" node "2"
%3 = exp(%2) : float32[4] "c" node "3"
%4 = square(%1) : float32[4] "y" node "4"
output %4
)",
                R"(%0 = input : float32[4] "x"
%1 = abs(%0) : float32[4] "a" node "1"
%4 = square(%1) : float32[4] "y" node "4"
output %4
)");
}

TEST(RemoveDeadNodes, KeepsOutputsThatAreReadInsideToo) {
  ExpectUnchanged(RemoveDeadNodes, R"(graph "g"
%0 = input : float32[4] "x"
%1 = abs(%0) : float32[4] "a" node "1"
%2 = neg(%1) : float32[4] "b" node "2"
output %1
output %2
output %0
)");
}

// ---- remove_no_ops ----

TEST(RemoveNoOps, DropsEveryKindBetweenOtherNodes) {
  ExpectRewrite(RemoveNoOps,
                R"(graph "g"
%0 = input : float32[1x2x2x4] "x"
%1 = copy(%0) : float32[1x2x2x4] "a" node "1"
%2 = reshape(%1) shape=1x2x2x4 : float32[1x2x2x4] "b" node "2"
%3 = resize_bilinear(%2) size=2x2 half_pixel_centers=true : float32[1x2x2x4] "c" node "3"
%4 = resize_nearest(%3) size=2x2 align_corners=true : float32[1x2x2x4] "d" node "4"
%5 = concat(%4) : float32[1x2x2x4] "e" node "5"
%6 = pad(%5) before=0x0x0x0 after=0x0x0x0 value=3 : float32[1x2x2x4] "f" node "6"
%7 = neg(%6) : float32[1x2x2x4] "y" node "7"
output %7
)",
                R"(%0 = input : float32[1x2x2x4] "x"
%7 = neg(%0) : float32[1x2x2x4] "y" node "7"
output %7
)");
}

TEST(RemoveNoOps, TheProducerMakesAnOutputThatKeepsItsId) {
  ExpectRewrite(RemoveNoOps,
                R"(graph "g"
%0 = input : float32[4] "x"
%1 = neg(%0) : float32[4] "inner" node "1"
%2 = exp(%1) : float32[4] "other" node "2"
%3 = copy(%1) : float32[4] "y" node "3"
output %2
output %3
)",
                R"(%0 = input : float32[4] "x"
%3 = neg(%0) : float32[4] "y" node "1"
%2 = exp(%3) : float32[4] "other" node "2"
output %2
output %3
)");
}

TEST(RemoveNoOps, KeepsWhatLinksInputsConstantsAndOutputsOfTheNetwork) {
  ExpectUnchanged(RemoveNoOps, R"(graph "g"
%0 = input : float32[4] "x"
%1 = constant : float32[2] "c" = {1, 2}
%2 = copy(%0) : float32[4] "from input" node "1"
%3 = copy(%1) : float32[2] "from constant" node "2"
%4 = neg(%0) : float32[4] "n" node "3"
%5 = copy(%4) : float32[4] "from output" node "4"
output %2
output %3
output %4
output %5
)");
}

TEST(RemoveNoOps, TwoCopiesOfOneValueThatAreBothOutputsLeaveOneCopy) {
  ExpectRewrite(RemoveNoOps,
                R"(graph "g"
%0 = input : float32[4] "x"
%1 = neg(%0) : float32[4] "n" node "1"
%2 = copy(%1) : float32[4] "y" node "2"
%3 = copy(%1) : float32[4] "z" node "3"
output %2
output %3
)",
                R"(%0 = input : float32[4] "x"
%2 = neg(%0) : float32[4] "y" node "1"
%3 = copy(%2) : float32[4] "z" node "3"
output %2
output %3
)");
}

TEST(RemoveNoOps, KeepsWhatChangesShapeSizeOrValues) {
  ExpectUnchanged(RemoveNoOps, R"(graph "g"
%0 = input : float32[1x2x2x4] "x"
%1 = reshape(%0) shape=1x4x1x4 : float32[1x4x1x4] "a" node "1"
%2 = resize_bilinear(%1) size=4x2 : float32[1x4x2x4] "b" node "2"
%3 = concat(%2) activation=relu : float32[1x4x2x4] "c" node "3"
%4 = concat(%3, %3) axis=3 : float32[1x4x2x8] "d" node "4"
%5 = pad(%4) before=0x1x0x0 after=0x0x0x0 : float32[1x5x2x8] "y" node "5"
%6 = abs(%5) : float32[1x5x2x8] "z" node "6"
output %6
)");
}

TEST(RemoveNoOps, ACopyToAnotherQuantizationIsNoNoOp) {
  ExpectUnchanged(RemoveNoOps, R"(graph "g"
%0 = input : int8[4]{0.5/0} "x"
%1 = concat(%0) : int8[4]{0.25/3} "a" node "1"
%2 = concat(%1) : int8[4]{0.5/0} "b" node "2"
output %2
)");
}

// ---- moves_to_reshapes, unify_transposes ----

TEST(MovesToReshapes, WhatMovesNothingIsAReshape) {
  ExpectRewrite(MovesToReshapes,
                R"(graph "g"
%0 = input : float32[2x1x3x4] "x"
%1 = transpose(%0) permutation=1,0,2,3 : float32[1x2x3x4] "a" node "1"
%2 = slice(%1) begin=0,0,0,0 size=1,2,3,4 strides=1,1,1,1 shape=6x4 : float32[6x4] "b" node "2"
%3 = tile(%2) multiples=1x1 : float32[6x4] "c" node "3"
%4 = reverse(%1) axes=0 : float32[1x2x3x4] "d" node "4"
%5 = pack(%4) axis=1 : float32[1x1x2x3x4] "e" node "5"
%6 = unpack(%1) axis=0 : float32[2x3x4] "f" node "6"
%7 = depth_to_space(%0) block=1 : float32[2x1x3x4] "g" node "7"
output %3
output %5
output %6
output %7
)",
                R"(%0 = input : float32[2x1x3x4] "x"
%1 = reshape(%0) shape=1x2x3x4 : float32[1x2x3x4] "a" node "1"
%2 = reshape(%1) shape=6x4 : float32[6x4] "b" node "2"
%3 = reshape(%2) shape=6x4 : float32[6x4] "c" node "3"
%4 = reshape(%1) shape=1x2x3x4 : float32[1x2x3x4] "d" node "4"
%5 = reshape(%4) shape=1x1x2x3x4 : float32[1x1x2x3x4] "e" node "5"
%6 = reshape(%1) shape=2x3x4 : float32[2x3x4] "f" node "6"
%7 = reshape(%0) shape=2x1x3x4 : float32[2x1x3x4] "g" node "7"
output %3
output %5
output %6
output %7
)");
}

TEST(MovesToReshapes, WhatMovesSomethingStays) {
  ExpectUnchanged(MovesToReshapes, R"(graph "g"
%0 = input : float32[2x1x3x4] "x"
%1 = transpose(%0) permutation=0,1,3,2 : float32[2x1x4x3] "a" node "1"
%2 = slice(%0) begin=0,0,0,0 size=1,1,3,4 strides=1,1,1,1 shape=1x1x3x4 : float32[1x1x3x4] "b" node "2"
%3 = tile(%0) multiples=2x1x1x1 : float32[4x1x3x4] "c" node "3"
%4 = reverse(%0) axes=2 : float32[2x1x3x4] "d" node "4"
%5 = broadcast_to(%0) shape=2x5x3x4 : float32[2x5x3x4] "f" node "6"
output %1
output %2
output %3
output %4
output %5
)");
}

TEST(UnifyTransposes, TwoBecomeOne) {
  ExpectRewrite(UnifyTransposes,
                R"(graph "g"
%0 = input : float32[2x3x4x5] "x"
%1 = transpose(%0) permutation=0,3,1,2 : float32[2x5x3x4] "a" node "1"
%2 = transpose(%1) permutation=2,0,3,1 : float32[3x2x4x5] "b" node "2"
output %2
)",
                R"(%0 = input : float32[2x3x4x5] "x"
%1 = transpose(%0) permutation=0,3,1,2 : float32[2x5x3x4] "a" node "1"
%2 = transpose(%0) permutation=1,0,2,3 : float32[3x2x4x5] "b" node "2"
output %2
)");
}

// ---- unify_reshapes ----

TEST(UnifyReshapes, TheLastReadsTheFirstInput) {
  ExpectRewrite(UnifyReshapes,
                R"(graph "g"
%0 = input : float32[2x6] "x"
%1 = reshape(%0) shape=3x4 : float32[3x4] "a" node "1"
%2 = reshape(%1) shape=12 : float32[12] "b" node "2"
%3 = reshape(%2) shape=1x12 : float32[1x12] "y" node "3"
%4 = neg(%1) : float32[3x4] "z" node "4"
output %3
output %4
)",
                R"(%0 = input : float32[2x6] "x"
%1 = reshape(%0) shape=3x4 : float32[3x4] "a" node "1"
%2 = reshape(%0) shape=12 : float32[12] "b" node "2"
%3 = reshape(%0) shape=1x12 : float32[1x12] "y" node "3"
%4 = neg(%1) : float32[3x4] "z" node "4"
output %3
output %4
)");
}

TEST(UnifyReshapes, ASingleReshapeStays) {
  ExpectUnchanged(UnifyReshapes, R"(graph "g"
%0 = input : float32[2x6] "x"
%1 = reshape(%0) shape=3x4 : float32[3x4] "a" node "1"
%2 = neg(%1) : float32[3x4] "b" node "2"
%3 = reshape(%2) shape=12 : float32[12] "y" node "3"
output %3
)");
}

// ---- fold_padding ----

TEST(FoldPadding, AddsToTheValidPaddingOfAConvolution) {
  ExpectRewrite(FoldPadding,
                R"(graph "g"
%0 = input : float32[1x4x5x2] "x"
%1 = constant : float32[3x3x3x2] "w" = fill(pattern)
%2 = pad(%0) before=0x1x0x0 after=0x2x3x0 : float32[1x7x8x2] "p" node "pad" operator 0
%3 = conv_2d(%2, %1, none) stride=2x2 activation=relu : float32[1x3x3x3] "y" node "conv" operator 1
output %3
)",
                R"(%0 = input : float32[1x4x5x2] "x"
%3 = conv_2d(%0, %1, none) stride=2x2 padding=1,2,0,3 activation=relu : float32[1x3x3x3] "y" node "conv" operator 1
output %3
)");
}

TEST(FoldPadding, MakesSamePaddingOfADilatedDepthwiseConvolutionExplicit) {
  ExpectRewrite(FoldPadding,
                R"(graph "g"
%0 = input : float32[2x4x4x2] "x"
%1 = constant : float32[1x3x3x2] "w" = fill(pattern)
%2 = pad(%0) before=0x1x1x0 after=0x1x1x0 : float32[2x6x6x2] "p" node "pad"
%3 = depthwise_conv_2d(%2, %1) dilation=2x1 padding=same : float32[2x6x6x2] "y" node "conv"
output %3
)",
                R"(%0 = input : float32[2x4x4x2] "x"
%3 = depthwise_conv_2d(%0, %1) dilation=2x1 padding=3,3,2,2 : float32[2x6x6x2] "y" node "conv"
output %3
)");
}

TEST(FoldPadding, TwoPadsInARowAreBothFolded) {
  ExpectRewrite(
      [](Graph& graph, const DeviceInfo& device) -> Result<Verdict> {
        const Pass pass{"fold_padding", FoldPadding};
        const Status status = RunPasses(graph, device, std::span(&pass, 1), {});
        return status.ok() ? Result<Verdict>(Verdict::kChanged) : Result<Verdict>(status);
      },
      R"(graph "g"
%0 = input : float32[1x3x3x1] "x"
%1 = constant : float32[1x2x2x1] "w" = {1, 2, 3, 4}
%2 = pad(%0) before=0x1x1x0 after=0x0x0x0 : float32[1x4x4x1] "p" node "1"
%3 = pad(%2) before=0x0x0x0 after=0x1x1x0 : float32[1x5x5x1] "q" node "2"
%4 = conv_2d(%3, %1) : float32[1x4x4x1] "y" node "3"
output %4
)",
      R"(%0 = input : float32[1x3x3x1] "x"
%4 = conv_2d(%0, %1) padding=1,1,1,1 : float32[1x4x4x1] "y" node "3"
output %4
)");
}

constexpr std::string_view kPadKeptCases[] = {
    // A value other than zero.
    R"(graph "g"
%0 = input : float32[1x3x3x1] "x"
%1 = constant : float32[1x2x2x1] "w" = {1, 2, 3, 4}
%2 = pad(%0) before=0x1x1x0 after=0x0x0x0 value=-1 : float32[1x4x4x1] "p" node "1"
%3 = conv_2d(%2, %1) : float32[1x3x3x1] "y" node "2"
output %3
)",
    // On channels.
    R"(graph "g"
%0 = input : float32[1x3x3x1] "x"
%1 = constant : float32[1x1x1x2] "w" = {1, 2}
%2 = pad(%0) before=0x1x1x0 after=0x0x0x1 : float32[1x4x4x2] "p" node "1"
%3 = conv_2d(%2, %1) : float32[1x4x4x1] "y" node "2"
output %3
)",
    // On batches.
    R"(graph "g"
%0 = input : float32[1x3x3x1] "x"
%1 = constant : float32[1x1x1x1] "w" = {2}
%2 = pad(%0) before=1x1x1x0 after=0x0x0x0 : float32[2x4x4x1] "p" node "1"
%3 = conv_2d(%2, %1) : float32[2x4x4x1] "y" node "2"
output %3
)",
    // Read by another node.
    R"(graph "g"
%0 = input : float32[1x3x3x1] "x"
%1 = constant : float32[1x1x1x1] "w" = {2}
%2 = pad(%0) before=0x1x1x0 after=0x0x0x0 : float32[1x4x4x1] "p" node "1"
%3 = conv_2d(%2, %1) : float32[1x4x4x1] "y" node "2"
%4 = neg(%2) : float32[1x4x4x1] "z" node "3"
output %3
output %4
)",
    // An output of the network.
    R"(graph "g"
%0 = input : float32[1x3x3x1] "x"
%1 = constant : float32[1x1x1x1] "w" = {2}
%2 = pad(%0) before=0x1x1x0 after=0x0x0x0 : float32[1x4x4x1] "p" node "1"
%3 = conv_2d(%2, %1) : float32[1x4x4x1] "y" node "2"
output %2
output %3
)",
    // Before pooling, where padded zeros count and a pool's own padding does not.
    R"(graph "g"
%0 = input : float32[1x3x3x1] "x"
%1 = pad(%0) before=0x1x1x0 after=0x0x0x0 : float32[1x4x4x1] "p" node "1"
%2 = average_pool_2d(%1) kernel=2x2 : float32[1x3x3x1] "y" node "2"
output %2
)",
    R"(graph "g"
%0 = input : float32[1x3x3x1] "x"
%1 = pad(%0) before=0x1x1x0 after=0x0x0x0 : float32[1x4x4x1] "p" node "1"
%2 = max_pool_2d(%1) kernel=2x2 : float32[1x3x3x1] "y" node "2"
output %2
)",
};

TEST(FoldPadding, KeepsPadsThatAConvolutionCannotExpress) {
  for (std::string_view text : kPadKeptCases) {
    SCOPED_TRACE(text);
    ExpectUnchanged(FoldPadding, text);
  }
}

// ---- fuse_bias ----

TEST(FuseBias, AVectorBecomesTheBiasOfAConvolutionThatHasNone) {
  const std::string_view before = R"(graph "g"
%0 = input : float32[1x3x3x2] "x"
%1 = constant : float32[3x2x2x2] "w" = fill(pattern)
%2 = constant : float32[3] "c" = {1, -2, 0.5}
%3 = conv_2d(%0, %1) : float32[1x2x2x3] "t" node "conv" operator 0
%4 = add(%3, %2) activation=relu6 : float32[1x2x2x3] "y" node "add" operator 1
output %4
)";
  ExpectRewrite(FuseBias, before, R"(%0 = input : float32[1x3x3x2] "x"
%4 = conv_2d(%0, %1, %5) activation=relu6 : float32[1x2x2x3] "y" node "conv" operator 0
output %4
)");
  const Graph after = Rewritten(FuseBias, before);
  const Result<std::vector<float>> bias = ConstantAsFloats(after, 5);
  ASSERT_TRUE(bias.ok());
  EXPECT_EQ(*bias, (std::vector<float>{1, -2, 0.5}));
}

TEST(FuseBias, AScalarIsAddedToEveryChannelOfTheOldBias) {
  ExpectRewrite(FuseBias,
                R"(graph "g"
%0 = input : float32[1x3x3x2] "x"
%1 = constant : float32[1x2x2x4] "w" = fill(pattern)
%2 = constant : float32[4] "b" = {1, 2, 3, 4}
%3 = constant : float32[] "c" = {0.25}
%4 = depthwise_conv_2d(%0, %1, %2) : float32[1x2x2x4] "t" node "conv"
%5 = add(%3, %4) : float32[1x2x2x4] "y" node "add"
output %5
)",
                R"(%0 = input : float32[1x3x3x2] "x"
%5 = depthwise_conv_2d(%0, %1, %6) : float32[1x2x2x4] "y" node "conv"
output %5
)");
}

TEST(FuseBias, ASubtractedVectorIsNegated) {
  ExpectRewrite(FuseBias,
                R"(graph "g"
%0 = input : float32[2x3] "x"
%1 = constant : float32[4x3] "w" = fill(pattern)
%2 = constant : float32[1x4] "c" = {1, 2, 3, 4}
%3 = fully_connected(%0, %1, none) : float32[2x4] "t" node "fc"
%4 = sub(%3, %2) : float32[2x4] "y" node "sub"
output %4
)",
                R"(%0 = input : float32[2x3] "x"
%4 = fully_connected(%0, %1, %5) : float32[2x4] "y" node "fc"
output %4
)");
}

TEST(FuseBias, ScaleAndShiftAfterEveryKindOfWeightedNodeAreFolded) {
  ExpectRewrite(FuseBias,
                R"(graph "g"
%0 = input : float32[1x3x3x2] "x"
%1 = constant : float32[4x2x2x2] "w0" = fill(pattern)
%2 = constant : float32[1x2x2x4] "w1" = fill(pattern)
%3 = constant : float32[3x4] "w2" = fill(pattern)
%4 = constant : float32[4] "s" = {1, -2, 0, 4}
%5 = constant : float32[1x1x1x4] "c" = {1, 2, 3, 4}
%6 = constant : float32[3] "r" = {2, 3, 4}
%7 = conv_2d(%0, %1, %4) : float32[1x2x2x4] "a" node "conv"
%8 = mul(%7, %4) : float32[1x2x2x4] "b" node "mul"
%9 = add(%8, %5) : float32[1x2x2x4] "d" node "add"
%10 = depthwise_conv_2d(%9, %2, none) : float32[1x1x1x4] "e" node "depthwise"
%11 = mul(%4, %10) activation=relu : float32[1x1x1x4] "f" node "mul 2"
%12 = reshape(%11) shape=1x4 : float32[1x4] "h" node "flat"
%13 = fully_connected(%12, %3, %6) : float32[1x3] "i" node "fc"
%14 = mul(%13, %6) : float32[1x3] "y" node "mul 3"
output %14
)",
                R"(%0 = input : float32[1x3x3x2] "x"
%9 = conv_2d(%0, %15, %17) : float32[1x2x2x4] "d" node "conv"
%11 = depthwise_conv_2d(%9, %18, none) activation=relu : float32[1x1x1x4] "f" node "depthwise"
%12 = reshape(%11) shape=1x4 : float32[1x4] "h" node "flat"
%14 = fully_connected(%12, %19, %20) : float32[1x3] "y" node "fc"
output %14
)");
}

constexpr std::string_view kBiasKeptCases[] = {
    // The convolution has an activation already.
    R"(graph "g"
%0 = input : float32[1x2x2x1] "x"
%1 = constant : float32[2x1x1x1] "w" = {1, 2}
%2 = constant : float32[2] "c" = {1, -2}
%3 = conv_2d(%0, %1) activation=relu : float32[1x2x2x2] "t" node "1"
%4 = add(%3, %2) : float32[1x2x2x2] "y" node "2"
output %4
)",
    // Its result is read twice.
    R"(graph "g"
%0 = input : float32[1x2x2x1] "x"
%1 = constant : float32[2x1x1x1] "w" = {1, 2}
%2 = constant : float32[2] "c" = {1, -2}
%3 = conv_2d(%0, %1) : float32[1x2x2x2] "t" node "1"
%4 = add(%3, %2) : float32[1x2x2x2] "y" node "2"
%5 = neg(%3) : float32[1x2x2x2] "z" node "3"
output %4
output %5
)",
    // Its result is an output of the network.
    R"(graph "g"
%0 = input : float32[1x2x2x1] "x"
%1 = constant : float32[2x1x1x1] "w" = {1, 2}
%2 = constant : float32[2] "c" = {1, -2}
%3 = conv_2d(%0, %1) : float32[1x2x2x2] "t" node "1"
%4 = add(%3, %2) : float32[1x2x2x2] "y" node "2"
output %3
output %4
)",
    // The constant varies along the width, not the channels.
    R"(graph "g"
%0 = input : float32[1x2x2x1] "x"
%1 = constant : float32[2x1x1x1] "w" = {1, 2}
%2 = constant : float32[2x1] "c" = {1, -2}
%3 = conv_2d(%0, %1) : float32[1x2x2x2] "t" node "1"
%4 = add(%3, %2) : float32[1x2x2x2] "y" node "2"
output %4
)",
    // The sum has more elements than the convolution.
    R"(graph "g"
%0 = input : float32[1x2x2x1] "x"
%1 = constant : float32[1x1x1x1] "w" = {2}
%2 = constant : float32[3] "c" = {1, -2, 3}
%3 = conv_2d(%0, %1) : float32[1x2x2x1] "t" node "1"
%4 = add(%3, %2) : float32[1x2x2x3] "y" node "2"
output %4
)",
    // The sum has another rank.
    R"(graph "g"
%0 = input : float32[1x2x2x1] "x"
%1 = constant : float32[2x1x1x1] "w" = {1, 2}
%2 = constant : float32[1x1x1x1x2] "c" = {1, -2}
%3 = conv_2d(%0, %1) : float32[1x2x2x2] "t" node "1"
%4 = add(%3, %2) : float32[1x1x2x2x2] "y" node "2"
output %4
)",
    // Subtracted from a constant; divided; added to another tensor.
    R"(graph "g"
%0 = input : float32[1x2x2x2] "x"
%1 = constant : float32[2x1x1x2] "w" = {1, 2, 3, 4}
%2 = constant : float32[2] "c" = {1, -2}
%3 = conv_2d(%0, %1) : float32[1x2x2x2] "s" node "1"
%4 = sub(%2, %3) : float32[1x2x2x2] "t" node "2"
%5 = conv_2d(%4, %1) : float32[1x2x2x2] "u" node "3"
%6 = div(%5, %2) : float32[1x2x2x2] "v" node "4"
%7 = conv_2d(%6, %1) : float32[1x2x2x2] "z" node "5"
%8 = add(%7, %0) : float32[1x2x2x2] "y" node "6"
output %8
)",
    // A bias or filter that the network computes can't be changed.
    R"(graph "g"
%0 = input : float32[1x2x2x1] "x"
%1 = constant : float32[2x1x1x1] "w" = {1, 2}
%2 = constant : float32[2] "c" = {1, -2}
%3 = input : float32[2] "b"
%4 = conv_2d(%0, %1, %3) : float32[1x2x2x2] "t" node "1"
%5 = add(%4, %2) : float32[1x2x2x2] "y" node "2"
output %5
)",
    R"(graph "g"
%0 = input : float32[1x2x2x1] "x"
%1 = input : float32[2x1x1x1] "w"
%2 = constant : float32[2] "c" = {1, -2}
%3 = conv_2d(%0, %1) : float32[1x2x2x2] "t" node "1"
%4 = mul(%3, %2) : float32[1x2x2x2] "y" node "2"
output %4
)",
};

TEST(FuseBias, KeepsWhatIsNoBiasOrScale) {
  for (std::string_view text : kBiasKeptCases) {
    SCOPED_TRACE(text);
    ExpectUnchanged(FuseBias, text);
  }
}

TEST(FuseBias, AnInfiniteScaleIsNotMovedIntoTheWeights) {
  Graph graph = Parsed(R"(graph "g"
%0 = input : float32[1x2x2x1] "x"
%1 = constant : float32[2x1x1x1] "w" = {1e30, 2}
%2 = constant : float32[2] "c" = {1e30, -2}
%3 = conv_2d(%0, %1) : float32[1x2x2x2] "t" node "1"
%4 = mul(%3, %2) : float32[1x2x2x2] "y" node "2"
output %4
)");
  const Result<Verdict> verdict = FuseBias(graph, DeviceInfo());
  ASSERT_TRUE(verdict.ok());
  EXPECT_EQ(*verdict, Verdict::kUnchanged);
  EXPECT_EQ(graph.nodes().size(), 2u);
}

// ---- fuse_activation ----

TEST(FuseActivation, EveryProducerTakesAnActivation) {
  ExpectRewrite(FuseActivation,
                R"(graph "g"
%0 = input : float32[1x4x4x2] "x"
%1 = constant : float32[2x1x1x2] "w0" = {1, -2, 3, 4}
%2 = constant : float32[1x1x1x2] "w1" = {1, -2}
%3 = constant : float32[3x4] "w2" = fill(pattern)
%4 = conv_2d(%0, %1) : float32[1x4x4x2] "a" node "conv"
%5 = relu(%4) : float32[1x4x4x2] "b" node "relu"
%6 = depthwise_conv_2d(%5, %2) : float32[1x4x4x2] "c" node "depthwise"
%7 = relu6(%6) : float32[1x4x4x2] "d" node "relu6"
%8 = max_pool_2d(%7) kernel=4x4 : float32[1x1x1x2] "e" node "pool"
%9 = relu_n1_to_1(%8) : float32[1x1x1x2] "f" node "relu_n1_to_1"
%10 = add(%9, %9) : float32[1x1x1x2] "h" node "add"
%11 = tanh(%10) : float32[1x1x1x2] "i" node "tanh"
%12 = concat(%11, %11) : float32[1x1x1x4] "j" node "concat"
%13 = logistic(%12) : float32[1x1x1x4] "k" node "logistic"
%14 = fully_connected(%13, %3) : float32[1x3] "l" node "fc"
%15 = relu(%14) : float32[1x3] "y" node "relu 2"
output %15
)",
                R"(%0 = input : float32[1x4x4x2] "x"
%5 = conv_2d(%0, %1) activation=relu : float32[1x4x4x2] "b" node "conv"
%7 = depthwise_conv_2d(%5, %2) activation=relu6 : float32[1x4x4x2] "d" node "depthwise"
%9 = max_pool_2d(%7) kernel=4x4 activation=relu_n1_to_1 : float32[1x1x1x2] "f" node "pool"
%11 = add(%9, %9) activation=tanh : float32[1x1x1x2] "i" node "add"
%13 = concat(%11, %11) activation=sigmoid : float32[1x1x1x4] "k" node "concat"
%15 = fully_connected(%13, %3) activation=relu : float32[1x3] "y" node "fc"
output %15
)");
}

TEST(FuseActivation, OnlyTheFirstOfTwoActivationsIsTaken) {
  ExpectRewrite(FuseActivation,
                R"(graph "g"
%0 = input : float32[4] "x"
%1 = add(%0, %0) : float32[4] "a" node "add"
%2 = relu(%1) : float32[4] "b" node "relu"
%3 = tanh(%2) : float32[4] "y" node "tanh"
output %3
)",
                R"(%0 = input : float32[4] "x"
%2 = add(%0, %0) activation=relu : float32[4] "b" node "add"
%3 = tanh(%2) : float32[4] "y" node "tanh"
output %3
)");
}

constexpr std::string_view kActivationKeptCases[] = {
    // Read twice.
    R"(graph "g"
%0 = input : float32[4] "x"
%1 = add(%0, %0) : float32[4] "a" node "1"
%2 = relu(%1) : float32[4] "b" node "2"
%3 = neg(%1) : float32[4] "c" node "3"
output %2
output %3
)",
    // An output of the network.
    R"(graph "g"
%0 = input : float32[4] "x"
%1 = add(%0, %0) : float32[4] "a" node "1"
%2 = relu(%1) : float32[4] "b" node "2"
output %1
output %2
)",
    // Producers without the attribute, functions that are no activation attribute, inputs of the network.
    R"(graph "g"
%0 = input : float32[4] "x"
%1 = relu(%0) : float32[4] "a" node "1"
%2 = softmax(%1) : float32[4] "b" node "2"
%3 = relu(%2) : float32[4] "c" node "3"
%4 = add(%3, %3) : float32[4] "d" node "4"
%5 = hard_swish(%4) : float32[4] "e" node "5"
%6 = mul(%5, %5) : float32[4] "f" node "6"
%7 = elu(%6) : float32[4] "y" node "7"
output %7
)",
};

TEST(FuseActivation, KeepsWhatNoProducerCanTake) {
  for (std::string_view text : kActivationKeptCases) {
    SCOPED_TRACE(text);
    ExpectUnchanged(FuseActivation, text);
  }
}

TEST(FuseActivation, QuantizedValuesKeepTheirRoundingInBetween) {
  ExpectUnchanged(FuseActivation, R"(graph "g"
%0 = input : int8[4]{0.5/0} "x"
%1 = add(%0, %0) : int8[4]{0.5/0} "a" node "1"
%2 = relu(%1) : int8[4]{0.5/0} "b" node "2"
output %2
)");
}

// ---- The pipeline ----

constexpr std::string_view kWholeNet = R"(graph "g"
%0 = input : float32[1x6x6x2] "x"
%1 = constant : float32[4x3x3x2] "w" = fill(pattern)
%2 = constant : float32[4] "s" = {1, -2, 3, 4}
%3 = copy(%0) : float32[1x6x6x2] "a" node "copy"
%4 = pad(%3) before=0x1x1x0 after=0x1x1x0 : float32[1x8x8x2] "b" node "pad"
%5 = tile(%4) multiples=1x1x1x1 : float32[1x8x8x2] "c" node "tile"
%6 = conv_2d(%5, %1) stride=2x2 : float32[1x3x3x4] "d" node "conv" operator 3
%7 = mul(%6, %2) : float32[1x3x3x4] "e" node "mul"
%8 = reshape(%7) shape=1x3x3x4 : float32[1x3x3x4] "f" node "same shape"
%9 = add(%8, %2) : float32[1x3x3x4] "h" node "add"
%10 = relu(%9) : float32[1x3x3x4] "i" node "relu"
%11 = exp(%10) : float32[1x3x3x4] "dead" node "dead"
%12 = reshape(%10) shape=9x4 : float32[9x4] "j" node "reshape"
%14 = transpose(%12) permutation=1,0 : float32[4x9] "k" node "transpose"
%15 = transpose(%14) permutation=1,0 : float32[9x4] "l" node "transpose 2"
%13 = reshape(%15) shape=36 : float32[36] "y" node "reshape 2"
output %13
)";

Graph AfterPasses(std::string_view text, const PassOptions& options) {
  Graph graph = Parsed(text);
  const Status status = RunPasses(graph, DeviceInfo(), options);
  EXPECT_TRUE(status.ok()) << status.message();
  ExpectValid(graph);
  ExpectEqualResults(Parsed(text), graph);
  return graph;
}

TEST(Pipeline, PassesWorkTogetherUntilNothingChanges) {
  EXPECT_EQ(Structure(AfterPasses(kWholeNet, {})), R"(%0 = input : float32[1x6x6x2] "x"
%10 = conv_2d(%0, %16, %17) stride=2x2 padding=1,1,1,1 activation=relu : float32[1x3x3x4] "i" node "conv" operator 3
%13 = reshape(%10) shape=36 : float32[36] "y" node "reshape 2"
output %13
)");
}

TEST(Pipeline, ASecondRunChangesNothing) {
  Graph graph = AfterPasses(kWholeNet, {});
  const std::string once = ToText(graph);
  ASSERT_TRUE(RunPasses(graph, DeviceInfo(), {}).ok());
  EXPECT_EQ(ToText(graph), once);
}

TEST(Pipeline, EachPassCanBeLeftOutByName) {
  for (const Pass& pass : DefaultPasses()) {
    SCOPED_TRACE(pass.name);
    const Graph graph = AfterPasses(kWholeNet, {.disabled = {std::string(pass.name)}});
    EXPECT_GT(graph.nodes().size(), 2u);
  }
}

TEST(Pipeline, DisablingAnUnknownPassIsAnErrorThatListsThePasses) {
  Graph graph = Parsed(kWholeNet);
  const Status status = RunPasses(graph, DeviceInfo(), {.disabled = {"fold_paddings"}});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("fold_paddings"), std::string::npos);
  EXPECT_NE(status.message().find("fuse_activation"), std::string::npos);
}

class RecordingObserver : public PassObserver {
 public:
  void AfterPass(std::string_view name, Verdict verdict, const Graph& graph) override {
    names.emplace_back(name);
    changes += verdict == Verdict::kChanged ? 1 : 0;
    last_node_count = graph.nodes().size();
  }
  std::vector<std::string> names;
  int changes = 0;
  size_t last_node_count = 0;
};

TEST(Pipeline, TheObserverSeesEveryRunInOrderAndALastRoundWithoutChanges) {
  RecordingObserver observer;
  const Graph graph = AfterPasses(kWholeNet, {.observer = &observer});
  const size_t pass_count = DefaultPasses().size();
  ASSERT_EQ(observer.names.size() % pass_count, 0u);
  for (size_t i = 0; i < observer.names.size(); ++i) {
    EXPECT_EQ(observer.names[i], DefaultPasses()[i % pass_count].name);
  }
  EXPECT_GE(observer.changes, 6);
  EXPECT_EQ(observer.last_node_count, graph.nodes().size());
}

TEST(Pipeline, AnInvalidGraphIsBlamedOnThePassThatLeftIt) {
  const Pass broken{"break_it", [](Graph& graph, const DeviceInfo&) -> Result<Verdict> {
                      graph.nodes().clear();
                      return Verdict::kChanged;
                    }};
  Graph graph = Parsed(kWholeNet);
  const Status status = RunPasses(graph, DeviceInfo(), std::span(&broken, 1), {});
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_NE(status.message().find("break_it"), std::string::npos);
}

TEST(Pipeline, PassesThatNeverSettleAreStopped) {
  const Pass restless{"restless", [](Graph&, const DeviceInfo&) -> Result<Verdict> { return Verdict::kChanged; }};
  RecordingObserver observer;
  Graph graph = Parsed(kWholeNet);
  EXPECT_TRUE(RunPasses(graph, DeviceInfo(), std::span(&restless, 1), {.observer = &observer}).ok());
  EXPECT_EQ(observer.names.size(), 32u);
}

TEST(Pipeline, AnEmptyGraphAndOneWhoseInputIsItsOutputAreLeftAlone) {
  Graph empty;
  EXPECT_TRUE(RunPasses(empty, DeviceInfo(), {}).ok());
  AfterPasses("graph \"g\"\n%0 = input : float32[2] \"x\"\noutput %0\n", {});
}

}  // namespace
}  // namespace hearth
