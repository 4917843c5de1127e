#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/evaluate.h"
#include "core/graph/op_text.h"
#include "tests/testing/one_node.h"
#include "tests/testing/op_from_text.h"

namespace hearth {
namespace {

using testing::FirstShape;
using ::testing::HasSubstr;
using testing::InputsOf;
using testing::OneNode;
using testing::Window;

TEST(Infer, ConvolutionFollowsThePaddingRules) {
  const Shape x = {1, 224, 224, 3}, filter = {32, 3, 3, 3}, bias = {32};
  EXPECT_EQ(FirstShape(Conv2D{Window(2, 1, PaddingMode::kSame)}, {x, filter, bias}), "1x112x112x32");
  EXPECT_EQ(FirstShape(Conv2D{Window(2, 1, PaddingMode::kValid)}, {x, filter}), "1x111x111x32");
  EXPECT_EQ(FirstShape(Conv2D{Window(1, 4, PaddingMode::kValid)}, {x, filter}), "1x216x216x32");
  EXPECT_EQ(FirstShape(Conv2D{Window(1, 4, PaddingMode::kSame)}, {x, filter}), "1x224x224x32");
  const Window2D explicit_padding = {.stride_h = 2, .padding = {PaddingMode::kExplicit, 1, 0, 2, 2}};
  EXPECT_EQ(FirstShape(Conv2D{explicit_padding}, {x, filter}), "1x112x226x32");
}

TEST(Infer, GroupsFollowFromTheFilter) {
  EXPECT_EQ(FirstShape(Conv2D{}, {{1, 2, 2, 8}, {6, 1, 1, 4}}), "1x2x2x6");
  EXPECT_THAT(FirstShape(Conv2D{}, {{1, 2, 2, 8}, {6, 1, 1, 3}}), HasSubstr("does not divide the input's 8"));
  EXPECT_THAT(FirstShape(Conv2D{}, {{1, 2, 2, 8}, {5, 1, 1, 4}}), HasSubstr("can't be split into 2 groups"));
}

TEST(Infer, DepthwiseTakesAMultiplier) {
  EXPECT_EQ(FirstShape(DepthwiseConv2D{}, {{1, 5, 5, 4}, {1, 3, 3, 8}, {8}}), "1x3x3x8");
  EXPECT_THAT(FirstShape(DepthwiseConv2D{}, {{1, 5, 5, 4}, {1, 3, 3, 6}}), HasSubstr("a multiple of"));
  EXPECT_THAT(FirstShape(DepthwiseConv2D{}, {{1, 5, 5, 4}, {2, 3, 3, 4}}), HasSubstr("must be [1, height"));
}

TEST(Infer, ConvolutionErrorsNameNodeAndValues) {
  EXPECT_EQ(FirstShape(Conv2D{}, {{1, 5, 4}, {1, 3, 3, 4}}),
            "conv_2d \"n\": input 0 has rank 3 (shape 1x5x4), needs rank 4");
  EXPECT_EQ(FirstShape(Conv2D{}, {{1, 5, 5, 4}, {7, 3, 3, 4}, {8}}),
            "conv_2d \"n\": bias has shape 8, needs one element for each of 7 output channels");
  EXPECT_EQ(FirstShape(Conv2D{}, {{1, 2, 5, 4}, {7, 3, 3, 4}}),
            "conv_2d \"n\": height: the window covers 3 elements (kernel 3, dilation 1), the padded input has only 2");
  EXPECT_EQ(FirstShape(Conv2D{}, {{1, 2, 5, 4}}), "conv_2d \"n\": has 1 inputs, needs 2 to 3");
  EXPECT_THAT(FirstShape(Conv2D{{.stride_h = 0}}, {{1, 5, 5, 4}, {7, 3, 3, 4}}), HasSubstr("stride 0x1"));
  EXPECT_THAT(FirstShape(Conv2D{{.dilation_w = -1}}, {{1, 5, 5, 4}, {7, 3, 3, 4}}), HasSubstr("dilation 1x-1"));
}

TEST(Infer, HugeAttributesAreRefusedNotOverflowed) {
  const Shape x = {1, 5, 5, 4}, filter = {7, 3, 3, 4};
  const Window2D wide = {.dilation_h = testing::kHuge, .dilation_w = testing::kHuge};
  EXPECT_THAT(FirstShape(Conv2D{wide}, {x, filter}), HasSubstr("too large"));
  Window2D wide_same = wide;
  wide_same.padding.mode = PaddingMode::kSame;
  EXPECT_THAT(FirstShape(Conv2D{wide_same}, {x, filter}), HasSubstr("too large"));
  const Window2D padded = {
      .padding = {PaddingMode::kExplicit, testing::kHuge, testing::kHuge, testing::kHuge, testing::kHuge}};
  EXPECT_THAT(FirstShape(Conv2D{padded}, {x, filter}), HasSubstr("too large"));
  const Window2D negative = {.padding = {PaddingMode::kExplicit, -1, 0, 0, 0}};
  EXPECT_THAT(FirstShape(Conv2D{negative}, {x, filter}), HasSubstr("must not be negative"));
  const Window2D big_strides = {
      .stride_h = testing::kHuge, .stride_w = testing::kHuge, .padding = {.mode = PaddingMode::kSame}};
  EXPECT_EQ(FirstShape(Conv2D{big_strides}, {x, filter}), "1x1x1x7");
  EXPECT_THAT(FirstShape(Pool2D{.kernel_h = testing::kHuge, .kernel_w = testing::kHuge}, {x}),
              HasSubstr("the window covers"));
  EXPECT_THAT(FirstShape(Resize{.height = testing::kHuge, .width = testing::kHuge}, {x}),
              HasSubstr("impossible shape"));
  EXPECT_THAT(FirstShape(Resize{.height = -1, .width = 3}, {x}), HasSubstr("must be positive"));
  EXPECT_THAT(FirstShape(Pad{{testing::kHuge, 0, 0, 0}, {testing::kHuge, 0, 0, 0}}, {x}),
              HasSubstr("a dimension of 4294967295"));
  EXPECT_THAT(FirstShape(Reshape{{testing::kHuge, testing::kHuge, testing::kHuge, testing::kHuge}}, {x}),
              HasSubstr("can't take the shape"));
}

TEST(Infer, EmptyAndImpossibleInputsAreRefusedByEveryOperation) {
  for (const Op& op : NamedOps()) {
    for (const Shape& shape :
         {Shape{0, 5, 5, 4}, Shape{1, 5, 5, 0}, Shape{testing::kHuge, testing::kHuge, testing::kHuge, testing::kHuge},
          Shape{-1, 5, 5, 4}}) {
      for (size_t count : {0, 1, 2, 3}) {
        Graph graph = OneNode(op, InputsOf(std::vector<Shape>(count, shape)));
        const Status status = InferShapes(graph);
        EXPECT_FALSE(status.ok()) << OpName(op) << " " << shape.ToString();
        EXPECT_THAT(status.message(), HasSubstr(OpName(op)));
      }
    }
  }
}

TEST(Infer, IdsOutOfRangeAreRefusedByEveryOperation) {
  for (const Op& op : NamedOps()) {
    for (ValueId id : {-1, -5, 1000}) {
      for (size_t count : {1, 2, 3}) {
        Graph graph = OneNode(op, InputsOf(std::vector<Shape>(count, Shape{1, 1, 1, 1})));
        graph.nodes()[0].inputs[0] = id;
        EXPECT_FALSE(InferShapes(graph).ok()) << OpName(op);
        graph = OneNode(op, InputsOf(std::vector<Shape>(count, Shape{1, 1, 1, 1})));
        graph.nodes()[0].outputs[0] = id;
        EXPECT_FALSE(InferShapes(graph).ok()) << OpName(op);
        graph.nodes()[0].outputs.clear();
        EXPECT_FALSE(InferShapes(graph).ok()) << OpName(op);
      }
    }
  }
}

TEST(Infer, BinaryBroadcasts) {
  EXPECT_EQ(FirstShape(Binary{}, {{1, 4, 5, 3}, {3}}), "1x4x5x3");
  EXPECT_EQ(FirstShape(Binary{}, {{4, 1}, {2, 1, 5}}), "2x4x5");
  EXPECT_EQ(FirstShape(Binary{}, {{}, {2, 3}}), "2x3");
  EXPECT_EQ(FirstShape(Binary{}, {{}, {}}), "scalar");
  EXPECT_THAT(FirstShape(Binary{}, {{4, 2}, {4, 3}}), HasSubstr("add \"n\": the inputs' shapes 4x2 and 4x3"));
  EXPECT_THAT(FirstShape(Binary{}, {{1 << 20, 1}, {1, 1 << 21}}), HasSubstr("impossible shape"));
}

TEST(Infer, ConcatAddsUpItsAxis) {
  EXPECT_EQ(FirstShape(Concat{3}, {{1, 2, 2, 3}, {1, 2, 2, 5}, {1, 2, 2, 1}}), "1x2x2x9");
  EXPECT_EQ(FirstShape(Concat{-3}, {{1, 2, 2, 3}, {1, 4, 2, 3}}), "1x6x2x3");
  EXPECT_THAT(FirstShape(Concat{4}, {{1, 2, 2, 3}}), HasSubstr("axis 4 is outside of rank 4"));
  EXPECT_THAT(FirstShape(Concat{-5}, {{1, 2, 2, 3}}), HasSubstr("axis -5"));
  EXPECT_THAT(FirstShape(Concat{0}, {{}}), HasSubstr("outside of rank 0"));
  EXPECT_THAT(FirstShape(Concat{3}, {{1, 2, 2, 3}, {1, 2, 3, 3}}), HasSubstr("does not fit input 0"));
  EXPECT_THAT(FirstShape(Concat{0}, {{testing::kHuge}, {testing::kHuge}}), HasSubstr("a dimension of 4294967294"));
}

TEST(Infer, TheOthersGiveTheirShapes) {
  EXPECT_EQ(
      FirstShape(Pool2D{.kernel_h = 3, .kernel_w = 2, .window = Window(2, 1, PaddingMode::kSame)}, {{1, 5, 5, 4}}),
      "1x3x3x4");
  EXPECT_EQ(FirstShape(Resize{.height = 7, .width = 9}, {{2, 5, 5, 4}}), "2x7x9x4");
  EXPECT_EQ(FirstShape(Reshape{{1, 100}}, {{1, 5, 5, 4}}), "1x100");
  EXPECT_EQ(FirstShape(Reshape{{}}, {{1, 1}}), "scalar");
  EXPECT_EQ(FirstShape(Softmax{}, {{2, 3, 4, 5, 6}}), "2x3x4x5x6");
  EXPECT_EQ(FirstShape(Pad{{0, 1, 2}, {3, 0, 4}}, {{1, 2, 3}}), "4x3x9");
  EXPECT_EQ(FirstShape(FullyConnected{}, {{2, 3, 4}, {5, 4}, {5}}), "6x5");
  EXPECT_EQ(FirstShape(FullyConnected{}, {{1, 2, 2, 4}, {5, 16}}), "1x5");
  EXPECT_EQ(FirstShape(FullyConnected{.keep_dims = true}, {{2, 3, 4}, {5, 4}}), "2x3x5");
  EXPECT_EQ(FirstShape(Reduce{ReduceKind::kMean, 0b0110}, {{2, 3, 4, 5}}), "2x5");
  EXPECT_EQ(FirstShape(Reduce{ReduceKind::kMean, 0b0110, true}, {{2, 3, 4, 5}}), "2x1x1x5");
}

TEST(Infer, TheOthersRefuseWhatDoesNotFit) {
  EXPECT_THAT(FirstShape(Reshape{{1, 99}}, {{1, 100}}), HasSubstr("can't take the shape 1x99"));
  EXPECT_THAT(FirstShape(Softmax{}, {{}}), HasSubstr("at least rank 1"));
  EXPECT_THAT(FirstShape(Pad{{0, 1}, {3, 0}}, {{1, 2, 3}}), HasSubstr("paddings for 2 and 2 dimensions"));
  EXPECT_THAT(FirstShape(Pad{{-1}, {3}}, {{1}}), HasSubstr("negative padding"));
  EXPECT_THAT(FirstShape(FullyConnected{}, {{2, 3}, {5, 4}}), HasSubstr("not a multiple of the filter's 4"));
  EXPECT_THAT(FirstShape(FullyConnected{.keep_dims = true}, {{2, 8}, {5, 4}}), HasSubstr("last dimension"));
  EXPECT_THAT(FirstShape(Reduce{ReduceKind::kMean, 0b10000}, {{2, 3, 4, 5}}), HasSubstr("outside of rank 4"));
  EXPECT_THAT(
      FirstShape(Resize{.height = 2, .width = 2, .align_corners = true, .half_pixel_centers = true}, {{1, 2, 2, 1}}),
      HasSubstr("exclude each other"));
  EXPECT_THAT(
      FirstShape(Pool2D{.kernel_h = 2, .kernel_w = 2, .window = {.padding = {PaddingMode::kExplicit, 0, 2, 0, 0}}},
                 {{1, 5, 5, 1}}),
      HasSubstr("a window would be empty"));
}

TEST(Infer, AnUnknownOperationIsUnsupportedAndNamed) {
  Graph graph = OneNode(UnknownOp{"TFLite_Detection_PostProcess"}, InputsOf({{1}}));
  graph.nodes()[0].source_index = 12;
  const Status status = InferShapes(graph);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("op 12 TFLite_Detection_PostProcess is not known to Hearth"));
}

TEST(Infer, ADeclaredShapeMustAgree) {
  Graph graph = OneNode(Softmax{}, InputsOf({{1, 10}}));
  graph.value(graph.outputs[0]).desc.shape = {1, 11};
  const Status status = InferShapes(graph);
  EXPECT_EQ(status.code(), StatusCode::kMalformedInput);
  EXPECT_THAT(status.message(), HasSubstr("'out' is declared as 1x11, but the inputs and attributes give 1x10"));
}

TEST(Infer, TheOutputKeepsItsTypeAndQuantization) {
  Graph graph = OneNode(Unary{UnaryKind::kRelu}, InputsOf({{1, 10}}));
  const TensorDesc quantized = {.dtype = DType::kUInt8, .shape = {1, 10}, .quantization = Quantization{{0.5f}, {3}, 0}};
  graph.value(graph.inputs[0]).desc = quantized;
  graph.value(graph.outputs[0]).desc = quantized;
  ASSERT_TRUE(InferShapes(graph).ok());
  EXPECT_EQ(graph.value(graph.outputs[0]).desc, quantized);
}

TEST(Infer, TypesThatHaveNoRealValueAreUnsupported) {
  Graph graph = OneNode(Unary{UnaryKind::kSqrt}, InputsOf({{1, 10}}));
  graph.value(graph.inputs[0]).desc.dtype = DType::kInt64;
  const Status status = InferShapes(graph);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("input 0 is int64"));
}

TEST(Infer, IntegersAreAllowedWhereARowHasAFormForThem) {
  for (const auto& [kind, fine] : {std::pair(BinaryKind::kDiv, true), std::pair(BinaryKind::kAtan2, false)}) {
    Graph graph = OneNode(Binary{kind}, InputsOf({{2}, {2}}));
    for (ValueId id : graph.inputs) graph.value(id).desc.dtype = DType::kInt32;
    EXPECT_EQ(InferShapes(graph).ok(), fine);
  }
}

}  // namespace
}  // namespace hearth
