// Operators that the reader makes of several nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/builtin_codes.h"
#include "tests/testing/one_expansion.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kLowest = -3.402823466e+38f;

TEST(TfliteExpansion, MatrixDiagPutsTheLastDimensionOnDiagonals) {
  OneExpansion model({2, 2});
  EXPECT_THAT(model.Answer(113, {model.x}, {2, 2, 2}), ElementsAre(1, 0, 0, 2, 3, 0, 0, 4));
}

TEST(TfliteExpansion, MatrixSetDiagReplacesTheDiagonalOfMatricesThatAreNotSquare) {
  OneExpansion wide({2, 3});
  const int32_t two = wide.writer.AddConstant<float>({"", {2}}, {7, 8});
  EXPECT_THAT(wide.Answer(115, {wide.x, two}, {2, 3}), ElementsAre(7, 2, 3, 4, 8, 6));
  OneExpansion high({3, 2});
  const int32_t diagonal = high.writer.AddConstant<float>({"", {2}}, {7, 8});
  EXPECT_THAT(high.Answer(115, {high.x, diagonal}, {3, 2}), ElementsAre(7, 2, 3, 8, 5, 6));
}

TEST(TfliteExpansion, ScatterNdAddsUpUpdatesOfOnePlaceAndLeavesZerosElsewhere) {
  OneExpansion model({3, 2});
  const int32_t places = model.Numbers({3, 1}, {2, 0, 2}), shape = model.Numbers({2}, {4, 2});
  EXPECT_THAT(model.Answer(122, {places, model.x, shape}, {4, 2}), ElementsAre(3, 4, 0, 0, 6, 8, 0, 0));
}

TEST(TfliteExpansion, SegmentSumAddsUpRowsOfOneNumber) {
  OneExpansion model({3, 2});
  EXPECT_THAT(model.Answer(125, {model.x, model.Numbers({3}, {0, 0, 1})}, {2, 2}), ElementsAre(4, 6, 5, 6));
}

TEST(TfliteExpansion, UnsortedSegmentsLeaveNegativeNumbersOutAndFillEmptyOnes) {
  const auto of = [](int32_t code) {
    OneExpansion model({4});
    return model.Answer(code, {model.x, model.Numbers({4}, {2, -1, 0, 2}), model.Numbers({}, {3})}, {3});
  };
  EXPECT_THAT(of(155), ElementsAre(3, 0, 5));
  EXPECT_THAT(of(153), ElementsAre(3, 1, 4));
  EXPECT_THAT(of(154), ElementsAre(3, kLowest, 4));
  EXPECT_THAT(of(157), ElementsAre(3, -kLowest, 1));
}

TEST(TfliteExpansion, PlacesOutsideAreErrorsAndComputedOnesAreRefused) {
  OneExpansion outside({1, 2});
  const int32_t places = outside.Numbers({1, 1}, {4}), shape = outside.Numbers({2}, {4, 2});
  EXPECT_THAT(outside.Read(122, {places, outside.x, shape}, {4, 2}).status().message(), HasSubstr("place 4 of 4"));
  OneExpansion computed({2});
  const int32_t cast = computed.writer.AddTensor({"numbers", {2}, kInt});
  computed.writer.AddOperator(53, {computed.x}, {cast});
  Result<Graph> graph = computed.Read(125, {computed.x, cast}, {2});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_THAT(std::get<UnknownOp>(graph->nodes().back().op).reason, HasSubstr("computed at run time"));
}

}  // namespace
}  // namespace hearth
