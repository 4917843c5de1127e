// WHERE and UNIQUE, and operators on tensors whose number of rows depends on data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/testing/builtin_codes.h"
#include "tests/testing/one_expansion.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

// Models whose first operator asks which elements of x are above 0.
struct Above0 : OneExpansion {
  explicit Above0(const std::vector<int32_t>& shape) : OneExpansion(shape) {
    const int32_t is_above = Made(kGreater, {x, writer.AddConstant<float>({"", {}}, {0.0f})}, {"", shape, kBool});
    places = Made(kWhere, {is_above}, {"places", {1, static_cast<int32_t>(shape.size())}, kLong});
  }
  int32_t Made(int32_t code, const std::vector<int32_t>& inputs, const WrittenTensor& tensor) {
    const int32_t made = writer.AddTensor(tensor);
    writer.AddOperator(code, inputs, {made});
    return made;
  }
  // The elements above 0.
  int32_t Found() { return Made(kGatherNd, {x, places}, {"found", {1}}); }
  template <typename Options>
  int32_t MadeWith(int32_t code, const std::vector<int32_t>& inputs, const WrittenTensor& tensor,
                   flatbuffers::Offset<Options> options) {
    const int32_t made = writer.AddTensor(tensor);
    writer.AddOperator(code, inputs, {made}, options);
    return made;
  }
  int32_t Reduced(int32_t code, int32_t value) {
    return MadeWith(code, {value, writer.AddIntegers({0})}, {"reduced", {}},
                    wire::CreateReducerOptions(writer.builder(), false));
  }

  int32_t places;
};

TEST(TfliteRows, WhereGivesCoordinatesInOrderAndTheirNumberBesideThem) {
  Above0 model({2, 3});
  const auto outputs = model.Outputs({model.places}, {0, 5, -1, 7, 0, 9});
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_THAT(outputs[0], ElementsAre(0, 1, 1, 0, 1, 2, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(outputs[1], ElementsAre(3));
}

TEST(TfliteRows, TheNumberIsAnOutputBehindTheModelsOwn) {
  Above0 model({4});
  const int32_t twice = model.Made(kAdd, {model.x, model.x}, {"twice", {4}});
  model.bytes = model.writer.Finish({model.x}, {model.places, twice});
  const Result<Graph> graph = ReadTfliteModel(model.bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->outputs.size(), 3u);
  EXPECT_EQ(graph->value(graph->outputs[1]).name, "twice");
  EXPECT_EQ(graph->value(graph->outputs[2]).name, "places_rows");
  EXPECT_EQ(graph->value(graph->outputs[0]).desc.shape, (Shape{4, 1}));
}

TEST(TfliteRows, ElementsThatAMaskChoosesComeFirst) {
  Above0 model({5});
  const auto outputs = model.Outputs({model.Found()}, {-1, 4, 0, 6, 7});
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_THAT(std::vector<double>(outputs[0].begin(), outputs[0].begin() + 3), ElementsAre(4, 6, 7));
  EXPECT_THAT(outputs[1], ElementsAre(3));
}

TEST(TfliteRows, RowsThatAMaskChoosesStayRowsThroughReshapeCastAndGather) {
  Above0 model({3});
  const int32_t flat = model.Made(kReshape, {model.places, model.writer.AddIntegers({-1})}, {"", {1}, kLong});
  const int32_t indices = model.Made(kCast, {flat}, {"", {1}, kInt});
  const int32_t table = model.writer.AddConstant<float>({"", {3, 2}}, {10, 11, 20, 21, 30, 31});
  const int32_t rows = model.Made(kGather, {table, indices}, {"rows", {1, 2}});
  const int32_t more = model.Made(kAdd, {rows, model.writer.AddConstant<float>({"", {2}}, {1, 2})}, {"more", {1, 2}});
  const auto outputs = model.Outputs({more}, {1, 0, 1});
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_THAT(std::vector<double>(outputs[0].begin(), outputs[0].begin() + 4), ElementsAre(11, 13, 31, 33));
  EXPECT_THAT(outputs[1], ElementsAre(2));
}

TEST(TfliteRows, ReductionsTakeOnlyTheRowsThatCount) {
  Above0 model({4});
  const int32_t found = model.Found();
  const std::vector<int32_t> reduced = {model.Reduced(kSum, found), model.Reduced(kMean, found),
                                        model.Reduced(kReduceMax, found)};
  const auto outputs = model.Outputs(reduced, {3, -8, 0, 1});
  ASSERT_EQ(outputs.size(), 3u);  // their sizes are known
  EXPECT_THAT(outputs, ElementsAre(ElementsAre(4), ElementsAre(2), ElementsAre(3)));
}

TEST(TfliteRows, ShapeTellsHowManyThereAre) {
  Above0 model({2, 2});
  const int32_t shape = model.Made(kShape, {model.places}, {"shape", {2}, kInt});
  EXPECT_THAT(model.Outputs({shape}, {1, 0, 1, 1}), ElementsAre(ElementsAre(3, 2)));
}

TEST(TfliteRows, OfSeveralDimensionsOfOneAReshapeSaysWhichHoldsThem) {
  const auto shape_of = [](int32_t code, const std::vector<int32_t>& operand) {
    Above0 model({1});
    const int32_t reshaped = model.Made(code, {model.Found(), model.writer.AddIntegers(operand)}, {"", {1, 1}});
    const int32_t shape = model.Made(kShape, {reshaped}, {"shape", {2}, kInt});
    return model.Outputs({shape}, {-1});
  };
  EXPECT_THAT(shape_of(kReshape, {-1, 1}), ElementsAre(ElementsAre(0, 1)));
  EXPECT_THAT(shape_of(kReshape, {1, -1}), ElementsAre(ElementsAre(1, 0)));
  EXPECT_THAT(shape_of(kExpandDims, {0}), ElementsAre(ElementsAre(1, 0)));
  EXPECT_THAT(shape_of(kExpandDims, {1}), ElementsAre(ElementsAre(0, 1)));
}

TEST(TfliteRows, StayInTheirDimensionOfOneWhereASliceIsTaken) {
  const auto shape_of = [](int32_t taken_out, const std::vector<int32_t>& end) {
    Above0 model({1});
    const int32_t rows = model.Made(kReshape, {model.Found(), model.writer.AddIntegers({1, -1, 1})}, {"", {1, 1, 1}});
    const std::vector<int32_t> inputs = {rows, model.writer.AddIntegers({0, 0, 0}), model.writer.AddIntegers(end),
                                         model.writer.AddIntegers({1, 1, 1})};
    const int32_t slice =
        model.MadeWith(kStridedSlice, inputs, {"", {1, 1}},
                       wire::CreateStridedSliceOptions(model.writer.builder(), 0, 2, 0, 0, taken_out, false));
    const int32_t shape = model.Made(kShape, {slice}, {"shape", {2}, kInt});
    return model.Outputs({shape}, {-1});
  };
  EXPECT_THAT(shape_of(0, {1, 0, 1}), ElementsAre(ElementsAre(1, 0, 1)));
  EXPECT_THAT(shape_of(1, {1, 0, 1}), ElementsAre(ElementsAre(0, 1)));
  EXPECT_THAT(shape_of(4, {1, 0, 1}), ElementsAre(ElementsAre(1, 0)));
}

TEST(TfliteRows, AreNotTheDimensionThatAReshapeFixesToTheirLargestNumber) {
  Above0 model({4});
  const int32_t reshaped = model.Made(kReshape, {model.Found(), model.writer.AddIntegers({4, -1})}, {"", {4, 1}});
  EXPECT_THAT(RefusalOf(model.writer.Finish({model.x}, {reshaped})), HasSubstr("depends on data"));
}

TEST(TfliteRows, AnOperatorThatNeedsTheSizeIsRefusedWithTheWayOut) {
  Above0 model({4});
  const int32_t found = model.Found();
  const int32_t joined = model.MadeWith(kConcatenation, {found, model.x}, {"joined", {5}},
                                        wire::CreateConcatenationOptions(model.writer.builder(), 0));
  model.bytes = model.writer.Finish({model.x}, {joined});
  EXPECT_THAT(RefusalOf(model.bytes), HasSubstr("depends on data"));
}

TEST(TfliteRows, OnlyTheFirstOnesAreTakenOutOfThem) {
  for (const auto& [begin, end, rows] : {std::tuple(0, 2, 2), {0, 4, 3}, {0, -1, -1}, {-3, 3, -1}, {-4, 4, 3}}) {
    Above0 model({4});
    flatbuffers::FlatBufferBuilder& builder = model.writer.builder();
    const std::vector<int32_t> inputs = {model.Found(), model.writer.AddIntegers({begin}),
                                         model.writer.AddIntegers({end}), model.writer.AddIntegers({1})};
    const int32_t some = model.MadeWith(kStridedSlice, inputs, {"some", {1}},
                                        wire::CreateStridedSliceOptions(builder, 0, 0, 0, 0, 0, false));
    if (rows < 0) {
      EXPECT_THAT(RefusalOf(model.writer.Finish({model.x}, {some})), HasSubstr("depends on data"))
          << begin << " " << end;
      continue;
    }
    const auto outputs = model.Outputs({some}, {3, -8, 1, 1});
    ASSERT_EQ(outputs.size(), 2u);
    EXPECT_THAT(outputs[1], ElementsAre(rows)) << begin << " " << end;
  }
}

// Beside each goes an output with its number of rows, which is named after it.
TEST(TfliteRows, RowsListedAsManyOutputsDoNotTakeManyTimesTheFilesSize) {
  Above0 model({4});
  const int32_t found = model.Made(kGatherNd, {model.x, model.places}, {std::string(100'000, 'f'), {1}});
  const std::vector<int32_t> outputs(100, found);
  EXPECT_THAT(RefusalOf(model.writer.Finish({model.x}, outputs)),
              HasSubstr("would copy more than four times the file's size"));
}

// The numbers of 2^31 rows would take 16 GiB.
TEST(TfliteRows, AFileOfSomeBytesCannotAskForTheNumbersOfAllRows) {
  Above0 model({std::numeric_limits<int32_t>::max()});
  const int32_t reduced = model.Reduced(kSum, model.Found());
  EXPECT_THAT(RefusalOf(model.writer.Finish({model.x}, {reduced})), HasSubstr("too many constants"));
}

TEST(TfliteRows, OfAConstantAreAsManyAsThereAre) {
  OneExpansion model({3});
  const int32_t mask = model.writer.AddConstant<uint8_t>({"", {4}, kBool}, {0, 1, 0, 1});
  const int32_t places = model.writer.AddTensor({"places", {1, 1}, kLong});
  model.writer.AddOperator(kWhere, {mask}, {places});
  const int32_t y = model.writer.AddTensor({"y", {1, 1}});
  model.writer.AddOperator(kCast, {places}, {y});
  EXPECT_THAT(model.Outputs({y}, {0, 0, 0}), ElementsAre(ElementsAre(1, 3)));
}

TEST(TfliteRows, UniqueGivesEachNumberOnceAndWhereItWent) {
  OneExpansion model({5});
  const int32_t values = model.writer.AddTensor({"values", {1}}), places = model.writer.AddTensor({"at", {5}, kInt});
  model.writer.AddOperator(kUnique, {model.x}, {values, places});
  const int32_t again = model.writer.AddTensor({"again", {5}});
  model.writer.AddOperator(kGather, {values, places}, {again});
  const std::vector<double> x = {3, 1, 3, 2, 1};
  const auto outputs = model.Outputs({values, places, again}, x);
  ASSERT_EQ(outputs.size(), 4u);
  EXPECT_THAT(outputs[0], ElementsAre(3, 1, 2, 0, 0));
  EXPECT_THAT(outputs[1], ElementsAre(0, 1, 0, 2, 1));
  EXPECT_THAT(outputs[2], ElementsAreArray(x));
  EXPECT_THAT(outputs[3], ElementsAre(3));
}

}  // namespace
}  // namespace hearth
