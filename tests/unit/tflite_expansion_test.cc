// Operators that the reader makes of several nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "tests/testing/builtin_codes.h"
#include "tests/testing/child_process.h"
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

TEST(TfliteExpansion, NumbersBeyond63BitsAndQuantizedOnesAreNoPlaces) {
  OneExpansion largest({2});
  const int32_t last =
      largest.writer.AddConstant<int64_t>({"", {2}, wire::TensorType_INT64}, {0, std::numeric_limits<int64_t>::max()});
  EXPECT_THAT(RefusalOf(largest.Read(125, {largest.x, last}, {2})), HasSubstr("4194305 segments"));
  OneExpansion quantized({2});
  const WrittenQuantization steps = {.scales = {1e30f}, .zero_points = {0}};
  const int32_t places = quantized.writer.AddConstant<int32_t>({"places", {2}, kInt, steps}, {0, 2147483647});
  EXPECT_THAT(RefusalOf(quantized.Read(125, {quantized.x, places}, {2})), HasSubstr("where integers belong"));
}

// Each of them is refused by a file's limit on constants, before it computes its numbers. A file of this size may make
// 16 MiB and 64 times its own size.
TEST(TfliteExpansion, NumbersThatTheFileIsTooSmallForAreNotComputed) {
  const auto expect_refused = [](const char* what, const std::function<std::string(OneExpansion&)>& read) {
    SCOPED_TRACE(what);
    EXPECT_EQ(testing::ExitCodeInLittleMemory([&read] {
                OneExpansion model({1, 1});
                return read(model).find("too many constants") != std::string::npos;
              }),
              0);
  };
  expect_refused("a sparse matrix", [](OneExpansion& to) {
    const int32_t shape = to.Numbers({1}, {1 << 24}), none = to.writer.AddConstant<float>({"", {}}, {0.0f});
    return RefusalOf(to.Read(68, {to.Numbers({1}, {0}), shape, to.x, none}, {1 << 24}));
  });
  expect_refused("a transform", [](OneExpansion& to) {
    return RefusalOf(to.Read(131, {to.x, to.Numbers({2}, {1, 2237})}, {1, 1119}));  // a prime: one matrix
  });
}

TEST(TfliteExpansion, AFilledShapeWhoseSizesDoNotMultiplyIsRefused) {
  OneExpansion model({});
  const int32_t shape = model.Numbers({4}, {2147483647, 2147483647, 2147483647, 2147483647});
  EXPECT_FALSE(RefusalOf(model.Read(94, {shape, model.x}, {1})).empty());
  OneExpansion constant({});
  const int32_t sizes = constant.Numbers({4}, {2147483647, 2147483647, 2147483647, 2147483647});
  const int32_t number = constant.writer.AddConstant<float>({"", {}}, {1.0f});
  EXPECT_FALSE(RefusalOf(constant.Read(94, {sizes, number}, {1})).empty());
}

}  // namespace
}  // namespace hearth
