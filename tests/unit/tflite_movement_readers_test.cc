// Readers of what moves elements, on models that the test writes: masks, -1 and negative axes come out resolved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "core/graph/op_text.h"
#include "frontends/tflite/reader.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;

// One operator with x as its only input that is not constant, and some outputs.
class MoveModel {
 public:
  explicit MoveModel(const std::vector<int32_t>& x_shape, int outputs = 1) {
    x = writer.AddTensor({"x", x_shape});
    for (int k = 0; k < outputs; ++k) y.push_back(writer.AddTensor({"y", {1}}));
  }
  int32_t Integers(const std::vector<int32_t>& numbers) { return writer.AddIntegers(numbers); }
  flatbuffers::FlatBufferBuilder& builder() { return writer.builder(); }

  // The operation, or UnknownOp with the error or the name.
  Op Read() {
    bytes_ = writer.Finish({x}, y);
    const Result<Graph> graph = ReadTfliteModel(bytes_);
    if (!graph.ok()) return UnknownOp{graph.status().message()};
    if (graph->nodes().size() != 1) return UnknownOp{"not one node"};
    EXPECT_EQ(graph->value(graph->nodes()[0].inputs[0]).name, "x");
    return graph->nodes()[0].op;
  }

  TfliteWriter writer;
  int32_t x;
  std::vector<int32_t> y;

 private:
  std::vector<std::byte> bytes_;
};

template <typename T>
void ExpectRead(MoveModel& model, const T& expected) {
  const Op op = model.Read();
  ASSERT_TRUE(std::holds_alternative<T>(op)) << OpName(op);
  EXPECT_TRUE(std::get<T>(op) == expected);
}

void ExpectError(MoveModel& model, const std::string& part) {
  const Op op = model.Read();
  ASSERT_TRUE(std::holds_alternative<UnknownOp>(op)) << OpName(op);
  const auto& unknown = std::get<UnknownOp>(op);  // the name is the error of a damaged operator
  EXPECT_THAT(unknown.name + unknown.reason, HasSubstr(part));
}

struct Masks {
  int begin = 0, end = 0, ellipsis = 0, new_axis = 0, shrink = 0;
  bool offset = false;
};

Op ReadStrided(const std::vector<int32_t>& shape, const std::vector<int32_t>& begin, const std::vector<int32_t>& end,
               const std::vector<int32_t>& strides, const Masks& masks = {}) {
  MoveModel model(shape);
  model.writer.AddOperator(45, {model.x, model.Integers(begin), model.Integers(end), model.Integers(strides)}, model.y,
                           wire::CreateStridedSliceOptions(model.builder(), masks.begin, masks.end, masks.ellipsis,
                                                           masks.new_axis, masks.shrink, masks.offset));
  return model.Read();
}

void ExpectSlice(const Op& op, const Slice& expected) {
  ASSERT_TRUE(std::holds_alternative<Slice>(op)) << OpName(op);
  const auto& slice = std::get<Slice>(op);
  EXPECT_EQ(slice.begin.ToString(), expected.begin.ToString());
  EXPECT_EQ(slice.size.ToString(), expected.size.ToString());
  EXPECT_EQ(slice.strides.ToString(), expected.strides.ToString());
  EXPECT_EQ(slice.shape.ToString(), expected.shape.ToString());
}

TEST(TfliteStridedSlice, CountsNegativePositionsFromTheEndAndCutsOff) {
  ExpectSlice(ReadStrided({10}, {-4}, {-1}, {1}), {{6}, {3}, {1}, {3}});
  ExpectSlice(ReadStrided({10}, {-40}, {40}, {3}), {{0}, {4}, {3}, {4}});
  ExpectSlice(ReadStrided({10}, {40}, {-40}, {-4}), {{9}, {3}, {-4}, {3}});
  ExpectSlice(ReadStrided({10}, {7}, {2}, {-2}), {{7}, {3}, {-2}, {3}});
}

TEST(TfliteStridedSlice, MasksTakeTheWholeRange) {
  ExpectSlice(ReadStrided({10}, {5}, {6}, {2}, {.begin = 1}), {{0}, {3}, {2}, {3}});
  ExpectSlice(ReadStrided({10}, {5}, {6}, {2}, {.end = 1}), {{5}, {3}, {2}, {3}});
  ExpectSlice(ReadStrided({10}, {5}, {6}, {-1}, {.begin = 1, .end = 1}), {{9}, {10}, {-1}, {10}});
}

TEST(TfliteStridedSlice, ShrinkAndNewAxisChangeTheShapeOnly) {
  ExpectSlice(ReadStrided({4, 5}, {-1, 1}, {0, 3}, {1, 1}, {.shrink = 1}), {{3, 1}, {1, 2}, {1, 1}, {2}});
  ExpectSlice(ReadStrided({4, 5}, {0, 1, 0}, {0, 3, 5}, {1, 1, 1}, {.new_axis = 1}),
              {{1, 0}, {2, 5}, {1, 1}, {1, 2, 5}});
  ExpectSlice(ReadStrided({4}, {2}, {0}, {1}, {.shrink = 1}), {{2}, {1}, {1}, {}});
}

TEST(TfliteStridedSlice, AnEllipsisStandsForAllThatIsNotNamed) {
  ExpectSlice(ReadStrided({2, 3, 4, 5}, {1, 0, 2}, {2, 0, 4}, {1, 1, 1}, {.ellipsis = 2}),
              {{1, 0, 0, 2}, {1, 3, 4, 2}, {1, 1, 1, 1}, {1, 3, 4, 2}});
  ExpectSlice(ReadStrided({2, 3}, {0, 0, 1}, {0, 0, 2}, {1, 1, 1}, {.ellipsis = 1, .new_axis = 2, .shrink = 4}),
              {{0, 1}, {2, 1}, {1, 1}, {2, 1}});
  ExpectSlice(ReadStrided({2, 3}, {1}, {2}, {1}), {{1, 0}, {1, 3}, {1, 1}, {1, 3}});
}

TEST(TfliteStridedSlice, WithOffsetTheEndCountsFromTheBegin) {
  ExpectSlice(ReadStrided({10}, {3}, {4}, {1}, {.offset = true}), {{3}, {4}, {1}, {4}});
  ExpectSlice(ReadStrided({10}, {-3}, {100}, {1}, {.offset = true}), {{7}, {3}, {1}, {3}});
}

TEST(TfliteStridedSlice, OfNoElementsIsAConstant) {
  for (const auto& [begin, end, stride] : {std::array{3, 3, 1}, std::array{1, 3, -1}}) {
    MoveModel model({4});
    model.writer.AddOperator(45, {model.x, model.Integers({begin}), model.Integers({end}), model.Integers({stride})},
                             model.y, wire::CreateStridedSliceOptions(model.builder(), 0, 0, 0, 0, 0, false));
    const auto bytes = model.writer.Finish({model.x}, model.y);
    const Result<Graph> graph = ReadTfliteModel(bytes);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    EXPECT_TRUE(graph->nodes().empty());
    EXPECT_EQ(graph->value(graph->outputs[0]).desc.shape, Shape{0});
  }
}

TEST(TfliteStridedSlice, WithoutMeaningIsRefused) {
  const auto error = [](const Op& op) { return OpName(op); };
  EXPECT_THAT(error(ReadStrided({4}, {0}, {4}, {0})), HasSubstr("a stride of 0"));
  EXPECT_THAT(error(ReadStrided({4}, {0, 0}, {4, 4}, {1, 1})), HasSubstr("ranges for 2 dimensions"));
  EXPECT_THAT(error(ReadStrided({4}, {0}, {4, 4}, {1})), HasSubstr("1 begins, 2 ends"));
  EXPECT_THAT(error(ReadStrided({4}, {0}, {4}, {-1}, {.shrink = 1})), HasSubstr("taken out with stride -1"));
  EXPECT_EQ(error(ReadStrided({4}, {4}, {0}, {1}, {.shrink = 1})), "STRIDED_SLICE");
}

TEST(TfliteSlice, ASizeOfMinusOneGoesToTheEnd) {
  MoveModel model({4, 5});
  model.writer.AddOperator(65, {model.x, model.Integers({1, 2}), model.Integers({-1, 2})}, model.y);
  ExpectRead(model, Slice{{1, 2}, {3, 2}, {1, 1}, {3, 2}});
  MoveModel outside({4, 5});
  outside.writer.AddOperator(65, {outside.x, outside.Integers({1, 2}), outside.Integers({1, 4})}, outside.y);
  ExpectError(outside, "4 elements of dimension 1 of shape 4x5");
}

TEST(TfliteSplit, EqualPartsFollowFromTheOutputs) {
  MoveModel model({2, 6}, 3);
  model.writer.AddOperator(49, {model.Integers({-1}), model.x}, model.y, wire::CreateSplitOptions(model.builder(), 3));
  ExpectRead(model, Split{1, {2, 2, 2}});
  MoveModel uneven({2, 7}, 3);
  uneven.writer.AddOperator(49, {uneven.Integers({1}), uneven.x}, uneven.y,
                            wire::CreateSplitOptions(uneven.builder(), 3));
  ExpectError(uneven, "can't be split into 3 equal parts");
}

TEST(TfliteSplitV, OnePartMayTakeWhatIsLeft) {
  MoveModel model({20}, 14);
  std::vector<int32_t> sizes(14, 1);
  sizes[3] = -1;
  model.writer.AddOperator(102, {model.x, model.Integers(sizes), model.Integers({0})}, model.y,
                           wire::CreateSplitVOptions(model.builder(), 14));
  sizes[3] = 7;
  ExpectRead(model, Split{0, sizes});
  MoveModel two({20}, 2);
  two.writer.AddOperator(102, {two.x, two.Integers({-1, -1}), two.Integers({0})}, two.y,
                         wire::CreateSplitVOptions(two.builder(), 2));
  ExpectError(two, "can't divide dimension 0");
}

TEST(TflitePack, CountsItsNewAxisFromTheEndOfTheResult) {
  MoveModel model({2, 3});
  model.writer.AddOperator(83, {model.x, model.x}, model.y, wire::CreatePackOptions(model.builder(), 2, -1));
  ExpectRead(model, Pack{2});
  MoveModel unpacked({2, 3}, 2);
  unpacked.writer.AddOperator(88, {unpacked.x}, unpacked.y, wire::CreateUnpackOptions(unpacked.builder(), 2, -2));
  ExpectRead(unpacked, Unpack{0, 2});
  MoveModel wrong({2, 3}, 3);
  wrong.writer.AddOperator(88, {wrong.x}, wrong.y, wire::CreateUnpackOptions(wrong.builder(), 3, 0));
  ExpectError(wrong, "3 slices along dimension 0");
}

TEST(TfliteMoves, TakeTheirListsFromConstants) {
  const auto with_list = [](int code, std::vector<int32_t> list) {
    auto model = std::make_unique<MoveModel>(std::vector<int32_t>{2, 3, 4, 4});
    model->writer.AddOperator(code, {model->x, model->Integers(list)}, model->y);
    return model;
  };
  ExpectRead(*with_list(39, {0, -1, 1, 2}), Transpose{{0, 3, 1, 2}});
  ExpectRead(*with_list(69, {1, 2, 3, 4}), Tile{{1, 2, 3, 4}});
  ExpectRead(*with_list(130, {5, 2, 3, 4, 4}), BroadcastTo{{5, 2, 3, 4, 4}});
  ExpectRead(*with_list(105, {1, -1}), Reverse{0b1010});
  ExpectError(*with_list(39, {0, 1, 2, 4}), "axis 4");
  ExpectError(*with_list(39, {0, 1, 2}), "3 numbers");
}

TEST(TfliteMoves, ReadBlocksAndAmounts) {
  MoveModel depth({1, 2, 2, 9});
  depth.writer.AddOperator(5, {depth.x}, depth.y, wire::CreateDepthToSpaceOptions(depth.builder(), 3));
  ExpectRead(depth, DepthToSpace{3});
  MoveModel space({1, 3, 6, 1});
  space.writer.AddOperator(26, {space.x}, space.y, wire::CreateSpaceToDepthOptions(space.builder(), 3));
  ExpectRead(space, SpaceToDepth{3});
  MoveModel to_batch({1, 3, 6, 1});
  to_batch.writer.AddOperator(38, {to_batch.x, to_batch.Integers({2, 3}), to_batch.Integers({1, 0, 0, 3})}, to_batch.y);
  ExpectRead(to_batch, SpaceToBatch{{2, 3}, {1, 0}, {0, 3}});
  MoveModel to_space({4, 3, 6});
  to_space.writer.AddOperator(37, {to_space.x, to_space.Integers({2}), to_space.Integers({1, 2})}, to_space.y);
  ExpectRead(to_space, BatchToSpace{{2}, {1}, {2}});
  MoveModel mirror({3, 4});
  mirror.writer.AddOperator(100, {mirror.x, mirror.Integers({1, 2, 3, 0})}, mirror.y,
                            wire::CreateMirrorPadOptions(mirror.builder(), wire::MirrorPadMode_SYMMETRIC));
  ExpectRead(mirror, MirrorPad{{1, 3}, {2, 0}, true});
  MoveModel negative({3, 4});
  negative.writer.AddOperator(100, {negative.x, negative.Integers({1, -2, 3, 0})}, negative.y);
  ExpectError(negative, "negative amounts");
}

TEST(TfliteMoves, PadV2TakesTheRealNumberOfAnyType) {
  MoveModel model({3});
  const int32_t value = model.writer.AddConstant<int32_t>({"value", {1}, wire::TensorType_INT32}, {123456789});
  model.writer.AddOperator(60, {model.x, model.Integers({1, 2}), value}, model.y);
  ExpectRead(model, Pad{{1}, {2}, 123456789.0});
}

}  // namespace
}  // namespace hearth
