// Operations that move elements: shapes, results against values worked out by hand, and the views behind the kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "core/graph/evaluate.h"
#include "core/graph/op_text.h"
#include "core/graph/ops/view_of.h"
#include "tests/testing/one_node.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A graph of one node: float32 inputs of these shapes (int32 for number `integer_input`), outputs of unknown shape.
Graph NodeOf(Op op, const std::vector<Shape>& shapes, size_t outputs = 1, int integer_input = -1) {
  std::vector<testing::NodeInput> inputs = testing::InputsOf(shapes);
  if (integer_input >= 0) inputs[integer_input].dtype = DType::kInt32;
  return testing::OneNode(std::move(op), inputs, std::vector(outputs, DType::kFloat32));
}

// The outputs' shapes, or the error.
std::string Inferred(Op op, const std::vector<Shape>& inputs, size_t outputs = 1, int integer_input = -1) {
  Graph graph = NodeOf(std::move(op), inputs, outputs, integer_input);
  const Status status = InferShapes(graph);
  if (!status.ok()) return status.message();
  std::string text;
  for (ValueId id : graph.outputs) text += (text.empty() ? "" : " ") + graph.value(id).desc.shape.ToString();
  return text;
}

using Values = std::vector<double>;

// The elements of all outputs; inputs hold 1, 2, 3, ... but for the `integers` of the last one.
std::vector<Values> Evaluated(Op op, const std::vector<Shape>& inputs, size_t outputs = 1,
                              const Values& integers = {}) {
  const int integer_input = integers.empty() ? -1 : static_cast<int>(inputs.size()) - 1;
  Graph graph = NodeOf(std::move(op), inputs, outputs, integer_input);
  const Status inferred = InferShapes(graph);
  EXPECT_TRUE(inferred.ok()) << inferred.message();
  if (!inferred.ok()) return {};
  std::vector<ReferenceTensor> tensors;
  double next = 1;
  for (const Shape& shape : inputs) {
    ReferenceTensor& tensor = tensors.emplace_back(ReferenceTensor{shape, Values(shape.element_count())});
    for (double& value : tensor.values) value = next++;
  }
  if (!integers.empty()) tensors.back().values = integers;
  const auto results = EvaluateGraph(graph, tensors);
  EXPECT_TRUE(results.ok()) << results.status().message();
  std::vector<Values> values;
  if (results.ok()) {
    for (const ReferenceTensor& tensor : *results) values.push_back(tensor.values);
  }
  return values;
}

Values Moved(Op op, const Shape& input) {
  std::vector<Values> results = Evaluated(std::move(op), {input});
  return results.empty() ? Values() : results[0];
}

TEST(MovementInfer, OutputsFollowFromAttributes) {
  EXPECT_EQ(Inferred(Transpose{{2, 0, 1}}, {{3, 4, 5}}), "5x3x4");
  EXPECT_EQ(Inferred(Slice{{1, 3}, {2, 2}, {1, -2}, {1, 2, 2}}, {{3, 4}}), "1x2x2");
  EXPECT_EQ(Inferred(Split{1, {3, 1}}, {{2, 4}}, 2), "2x3 2x1");
  EXPECT_EQ(Inferred(Unpack{0, 3}, {{3, 4}}, 3), "4 4 4");
  EXPECT_EQ(Inferred(Pack{1}, {{3, 4}, {3, 4}}), "3x2x4");
  EXPECT_EQ(Inferred(Pack{2}, {{3, 4}, {3, 4}, {3, 4}}), "3x4x3");
  EXPECT_EQ(Inferred(Tile{{2, 3}}, {{3, 4}}), "6x12");
  EXPECT_EQ(Inferred(BroadcastTo{{2, 3, 4}}, {{3, 1}}), "2x3x4");
  EXPECT_EQ(Inferred(Reverse{0b10}, {{3, 4}}), "3x4");
  EXPECT_EQ(Inferred(DepthToSpace{2}, {{1, 2, 3, 12}}), "1x4x6x3");
  EXPECT_EQ(Inferred(SpaceToDepth{2}, {{1, 4, 6, 3}}), "1x2x3x12");
  EXPECT_EQ(Inferred(SpaceToBatch{{2, 3}, {1, 0}, {0, 3}}, {{2, 5, 6, 7}}), "12x3x3x7");
  EXPECT_EQ(Inferred(BatchToSpace{{2}, {1}, {2}}, {{4, 5, 7}}), "2x7x7");
  EXPECT_EQ(Inferred(MirrorPad{{0, 2}, {1, 1}}, {{2, 3}}), "3x6");
  EXPECT_EQ(Inferred(DynamicUpdateSlice{}, {{4, 5}, {2, 3}, {2}}, 1, 2), "4x5");
}

TEST(MovementInfer, HostileAttributesAreErrors) {
  const Shape x = {2, 4, 6, 8};
  EXPECT_THAT(Inferred(Transpose{{0, 1, 2, 2}}, {x}), HasSubstr("is not a permutation"));
  EXPECT_THAT(Inferred(Transpose{{0, 1, 2, 4}}, {x}), HasSubstr("is not a permutation"));
  EXPECT_THAT(Inferred(Transpose{{0, 1, -2, 3}}, {x}), HasSubstr("is not a permutation"));
  EXPECT_THAT(Inferred(Transpose{{0, 1}}, {x}), HasSubstr("is not a permutation"));
  EXPECT_THAT(Inferred(Slice{{0}, {3}, {testing::kHuge}, {3}}, {{5}}), HasSubstr("3 elements from 0 by 2147483647"));
  EXPECT_THAT(Inferred(Slice{{0}, {testing::kHuge}, {testing::kHuge}, {testing::kHuge}}, {{5}}),
              HasSubstr("which has 5"));
  EXPECT_THAT(Inferred(Slice{{-1}, {2}, {1}, {2}}, {{5}}), HasSubstr("which has 5"));
  EXPECT_THAT(Inferred(Slice{{1}, {2}, {0}, {2}}, {{5}}), HasSubstr("by 0"));
  EXPECT_THAT(Inferred(Slice{{1}, {2}, {1}, {3}}, {{5}}), HasSubstr("can't be seen as 3"));
  EXPECT_EQ(Inferred(Slice{{4}, {1}, {-testing::kHuge - 1}, {1}}, {{5}}),
            "1");  // one element has no second one to step to
  EXPECT_THAT(Inferred(Split{4, {2}}, {x}), HasSubstr("outside of rank 4"));
  EXPECT_THAT(Inferred(Split{0, {3, -1}}, {x}, 2), HasSubstr("a dimension of -1"));
  EXPECT_THAT(Inferred(Split{0, {testing::kHuge, testing::kHuge}}, {x}, 2), HasSubstr("parts of 4294967294 elements"));
  EXPECT_THAT(Inferred(Unpack{0, -1}, {x}, 0), HasSubstr("-1 slices"));
  EXPECT_THAT(Inferred(Unpack{0, 3}, {x}, 3), HasSubstr("3 slices along dimension 0"));
  EXPECT_THAT(Inferred(Pack{5}, {x}), HasSubstr("outside of rank 5"));
  EXPECT_THAT(Inferred(Pack{0}, {x, {2, 4, 6, 7}}), HasSubstr("input 1 has shape 2x4x6x7"));
  EXPECT_THAT(Inferred(Pack{0}, {{1, 1, 1, 1, 1, 1, 1, 1}}), HasSubstr("rank 9"));
  EXPECT_THAT(Inferred(Tile{{testing::kHuge, 1, 1, 1}}, {x}), HasSubstr("a dimension of 4294967294"));
  EXPECT_THAT(Inferred(Tile{{-1, 1, 1, 1}}, {x}), HasSubstr("a dimension of -2"));
  EXPECT_THAT(Inferred(Tile{{0, 1, 1, 1}}, {x}), HasSubstr("has no elements"));
  EXPECT_THAT(Inferred(BroadcastTo{{4, 6, 8}}, {x}), HasSubstr("can't be broadcast"));
  EXPECT_THAT(Inferred(BroadcastTo{{testing::kHuge, testing::kHuge, testing::kHuge}}, {{1}}),
              HasSubstr("impossible shape"));
  EXPECT_THAT(Inferred(Reverse{0b10000}, {x}), HasSubstr("can't be reversed"));
  EXPECT_THAT(Inferred(DepthToSpace{16384}, {x}), HasSubstr("can't fill blocks"));
  EXPECT_THAT(Inferred(SpaceToDepth{16384}, {x}), HasSubstr("no whole blocks"));
  for (const int32_t block : {0, 16385, testing::kHuge}) {
    EXPECT_THAT(Inferred(DepthToSpace{block}, {x}), HasSubstr("must be from 1 to 16384"));
    EXPECT_THAT(Inferred(SpaceToDepth{block}, {{1, 0, 0, 8}}), HasSubstr("must be from 1 to 16384"));
  }
  EXPECT_THAT(Inferred(SpaceToBatch{{testing::kHuge, testing::kHuge}, {0, 0}, {0, 0}}, {x}),
              HasSubstr("not blocks of"));
  EXPECT_THAT(Inferred(SpaceToBatch{{1, 1}, {testing::kHuge, 0}, {testing::kHuge, 0}}, {x}),
              HasSubstr("not blocks of"));
  EXPECT_THAT(Inferred(SpaceToBatch{{2, 0}, {0, 0}, {0, 0}}, {x}), HasSubstr("for 2 spatial dimensions"));
  EXPECT_THAT(Inferred(SpaceToBatch{{2}, {0}, {0}}, {{4, 4}}), HasSubstr("needs rank 3 or 4"));
  EXPECT_THAT(Inferred(BatchToSpace{{testing::kHuge, testing::kHuge}, {0, 0}, {0, 0}}, {x}),
              HasSubstr("can't fill blocks"));
  EXPECT_THAT(Inferred(BatchToSpace{{2, 1}, {4, 0}, {4, 0}}, {x}), HasSubstr("cropped from 8"));
  EXPECT_THAT(Inferred(MirrorPad{{2}, {0}}, {{2}}), HasSubstr("its mirror image has 1"));
  EXPECT_THAT(Inferred(MirrorPad{{0}, {3}, true}, {{2}}), HasSubstr("its mirror image has 2"));
  EXPECT_THAT(Inferred(DynamicUpdateSlice{}, {{4, 5}, {2, 6}, {2}}, 1, 2), HasSubstr("does not fit"));
  EXPECT_THAT(Inferred(DynamicUpdateSlice{}, {{4, 5}, {2, 3}, {3}}, 1, 2), HasSubstr("starts at"));
  EXPECT_THAT(Inferred(DynamicUpdateSlice{}, {{4, 5}, {2, 3}, {2}}), HasSubstr("starts at float32"));
}

TEST(MovementInfer, TheTypeStays) {
  Graph graph = NodeOf(Reverse{1}, {{4}});
  graph.value(graph.outputs[0]).desc.dtype = DType::kInt32;
  EXPECT_THAT(InferShapes(graph).message(), HasSubstr("output 0 is int32, input 0 is float32"));
}

TEST(MovementReference, TransposeTakesInputDimensionsInTheOrderOfThePermutation) {
  EXPECT_THAT(Moved(Transpose{{1, 0}}, {2, 3}), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(Moved(Transpose{{1, 2, 0}}, {2, 1, 3}), ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST(MovementReference, SliceStepsForwardsAndBackwards) {
  EXPECT_THAT(Moved(Slice{{1, 0}, {1, 2}, {1, 2}, {2}}, {2, 3}), ElementsAre(4, 6));
  EXPECT_THAT(Moved(Slice{{1, 2}, {2, 3}, {-1, -1}, {2, 3}}, {2, 3}), ElementsAre(6, 5, 4, 3, 2, 1));
}

TEST(MovementReference, SplitAndUnpackDealOutTheirDimension) {
  EXPECT_THAT(Evaluated(Split{1, {1, 2}}, {{2, 3}}, 2), ElementsAre(ElementsAre(1, 4), ElementsAre(2, 3, 5, 6)));
  EXPECT_THAT(Evaluated(Unpack{1, 2}, {{2, 2}}, 2), ElementsAre(ElementsAre(1, 3), ElementsAre(2, 4)));
}

TEST(MovementReference, PackMakesADimension) {
  EXPECT_THAT(Evaluated(Pack{0}, {{2}, {2}}), ElementsAre(ElementsAre(1, 2, 3, 4)));
  EXPECT_THAT(Evaluated(Pack{1}, {{2}, {2}}), ElementsAre(ElementsAre(1, 3, 2, 4)));
}

TEST(MovementReference, TileAndBroadcastRepeat) {
  EXPECT_THAT(Moved(Tile{{2, 2}}, {1, 2}), ElementsAre(1, 2, 1, 2, 1, 2, 1, 2));
  EXPECT_THAT(Moved(Tile{{1, 2}}, {2, 1}), ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(Moved(BroadcastTo{{2, 2, 2}}, {2, 1}), ElementsAre(1, 1, 2, 2, 1, 1, 2, 2));
}

TEST(MovementReference, ReverseTurnsOnlyItsDimensionsRound) {
  EXPECT_THAT(Moved(Reverse{0b10}, {2, 3}), ElementsAre(3, 2, 1, 6, 5, 4));
  EXPECT_THAT(Moved(Reverse{0b01}, {2, 3}), ElementsAre(4, 5, 6, 1, 2, 3));
}

TEST(MovementReference, DepthToSpaceFillsABlockRowByRow) {
  // Channels 1 2 | 3 4 | 5 6 | 7 8 are the four pixels of a block, two channels each.
  EXPECT_THAT(Moved(DepthToSpace{2}, {1, 1, 1, 8}), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(Moved(DepthToSpace{2}, {1, 1, 2, 4}), ElementsAre(1, 2, 5, 6, 3, 4, 7, 8));
  EXPECT_THAT(Moved(SpaceToDepth{2}, {1, 2, 4, 1}), ElementsAre(1, 2, 5, 6, 3, 4, 7, 8));
}

TEST(MovementReference, SpaceToBatchPutsTheBatchInnermost) {
  EXPECT_THAT(Moved(SpaceToBatch{{2, 2}, {0, 0}, {0, 0}}, {1, 2, 4, 1}), ElementsAre(1, 3, 2, 4, 5, 7, 6, 8));
  EXPECT_THAT(Moved(SpaceToBatch{{2}, {1}, {0}}, {2, 3, 1}), ElementsAre(0, 2, 0, 5, 1, 3, 4, 6));
  EXPECT_THAT(Moved(BatchToSpace{{2, 2}, {0, 0}, {0, 0}}, {4, 1, 2, 1}), ElementsAre(1, 3, 2, 4, 5, 7, 6, 8));
  EXPECT_THAT(Moved(BatchToSpace{{2}, {1}, {0}}, {4, 2, 1}), ElementsAre(5, 2, 6, 7, 4, 8));
}

TEST(MovementReference, MirrorsRepeatTheEdgeOrNot) {
  EXPECT_THAT(Moved(MirrorPad{{2}, {1}, false}, {3}), ElementsAre(3, 2, 1, 2, 3, 2));
  EXPECT_THAT(Moved(MirrorPad{{2}, {1}, true}, {3}), ElementsAre(2, 1, 1, 2, 3, 3));
}

TEST(MovementReference, AnUpdateIsMovedUntilItFits) {
  const std::vector<Shape> shapes = {{4}, {2}, {1}};  // the update holds 5 and 6
  EXPECT_THAT(Evaluated(DynamicUpdateSlice{}, shapes, 1, {1}), ElementsAre(ElementsAre(1, 5, 6, 4)));
  EXPECT_THAT(Evaluated(DynamicUpdateSlice{}, shapes, 1, {9}), ElementsAre(ElementsAre(1, 2, 5, 6)));
  EXPECT_THAT(Evaluated(DynamicUpdateSlice{}, shapes, 1, {-9}), ElementsAre(ElementsAre(5, 6, 3, 4)));
}

// What the device kernel does with a view.
Values ThroughView(const StridedView& view, size_t count) {
  Values moved;
  for (size_t k = 0; k < count; ++k) {
    auto rest = static_cast<int64_t>(k);
    int64_t at = view.base;
    for (size_t d = view.digits.size(); d-- > 0;) {
      at += rest % view.digits[d].radix * view.digits[d].stride;
      rest /= view.digits[d].radix;
    }
    moved.push_back(static_cast<double>(at + 1));
  }
  return moved;
}

TEST(StridedView, SaysWhatTheReferenceDoes) {
  const std::pair<Op, Shape> nodes[] = {{Transpose{{2, 0, 3, 1}}, {2, 3, 4, 5}},
                                        {Transpose{{4, 3, 2, 1, 0}}, {2, 3, 1, 4, 5}},
                                        {Slice{{1, 4, 0}, {2, 2, 3}, {1, -3, 1}, {2, 1, 2, 3}}, {3, 5, 3}},
                                        {Tile{{2, 1, 3}}, {2, 3, 4}},
                                        {BroadcastTo{{2, 3, 4, 5}}, {3, 1, 5}},
                                        {Reverse{0b1011}, {2, 3, 4, 5}},
                                        {DepthToSpace{3}, {2, 2, 3, 18}},
                                        {SpaceToDepth{3}, {2, 3, 6, 5}}};
  for (const auto& [op, shape] : nodes) {
    Graph graph = NodeOf(op, {shape});
    ASSERT_TRUE(InferShapes(graph).ok());
    const auto view = ViewOf(graph, graph.nodes()[0], 0);
    ASSERT_TRUE(view.has_value()) << OpName(op);
    const Values expected = Moved(op, shape);
    EXPECT_EQ(ThroughView(*view, expected.size()), expected) << OpName(op);
  }
}

// The numbers 1, 2, ... of a tensor, copied through the view.
template <typename Element>
Values CopiedThrough(const StridedView& view, size_t count, size_t results) {
  std::vector<Element> from(count), to(results);
  std::iota(from.begin(), from.end(), Element{1});
  CopyView(view, sizeof(Element), reinterpret_cast<const std::byte*>(from.data()),
           reinterpret_cast<std::byte*>(to.data()));
  return {to.begin(), to.end()};
}

TEST(StridedView, CopiesElementsOfAnySizeInItsOrder) {
  const std::pair<Op, Shape> nodes[] = {{Transpose{{1, 0}}, {17, 14}},
                                        {Transpose{{1, 0}}, {3, 40}},
                                        {Transpose{{0, 2, 1}}, {2, 33, 3}},
                                        {Transpose{{3, 1, 0, 2}}, {3, 4, 2, 5}},
                                        {Slice{{2, 1}, {5, 3}, {1, 2}, {5, 3}}, {9, 8}},
                                        {Reverse{0b11}, {9, 8}},
                                        {BroadcastTo{{2, 30, 3}}, {30, 1}},
                                        {Reshape{{12}}, {3, 4}}};
  for (const auto& [op, shape] : nodes) {
    Graph graph = NodeOf(op, {shape});
    ASSERT_TRUE(InferShapes(graph).ok());
    const auto view = ViewOf(graph, graph.nodes()[0], 0);
    ASSERT_TRUE(view.has_value()) << OpName(op);
    const auto count = static_cast<size_t>(shape.element_count());
    const auto results = static_cast<size_t>(graph.value(graph.outputs[0]).desc.shape.element_count());
    const Values expected = ThroughView(*view, results);
    EXPECT_EQ(CopiedThrough<uint8_t>(*view, count, results), expected) << OpName(op);
    EXPECT_EQ(CopiedThrough<uint16_t>(*view, count, results), expected) << OpName(op);
    EXPECT_EQ(CopiedThrough<float>(*view, count, results), expected) << OpName(op);
    EXPECT_EQ(CopiedThrough<int64_t>(*view, count, results), expected) << OpName(op);
  }
}

TEST(StridedView, JoinsDigitsThatContinueEachOther) {
  Graph graph = NodeOf(Transpose{{0, 2, 3, 1}}, {{1, 3, 4, 5}});
  ASSERT_TRUE(InferShapes(graph).ok());
  const auto view = ViewOf(graph, graph.nodes()[0], 0);
  ASSERT_TRUE(view.has_value());
  EXPECT_THAT(view->digits, ElementsAre(StridedView::Digit{20, 1}, StridedView::Digit{3, 20}));
  EXPECT_FALSE(view->is_identity());
}

TEST(StridedView, MovingDimensionsOfOneElementMovesNothing) {
  Graph graph = NodeOf(Transpose{{0, 3, 1, 2}}, {{2, 3, 4, 1}});
  ASSERT_TRUE(InferShapes(graph).ok());
  EXPECT_TRUE(ViewOf(graph, graph.nodes()[0], 0)->is_identity());
}

}  // namespace
}  // namespace hearth
