// Which float32 values may hold integers that 16 bits would change, and how plans hold them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/graph/value_analysis.h"
#include "core/plan/plan_builder.h"
#include "tests/testing/parsed_graph.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// The names of such values.
std::vector<std::string> HoldersOf(std::string_view text) {
  const Graph graph = testing::Parsed(text);
  const std::vector<bool> holds = ValuesThatHoldIntegers(graph);
  std::vector<std::string> names;
  for (size_t v = 0; v < holds.size(); ++v) {
    if (holds[v]) names.push_back(graph.value(static_cast<ValueId>(v)).name);
  }
  return names;
}

TEST(IntegersInFloats, AreHeldBeforeACastToIndices) {
  EXPECT_THAT(HoldersOf(R"(%0 = input : float32[4x16] "ids"
%1 = constant : float32[30000x8] "table" = fill(0.5)
%2 = cast(%0) to=int32 : int32[4x16] "rows"
%3 = gather(%1, %2) axis=0 : float32[4x16x8] "y"
output %3
)"),
              ElementsAre("ids"));
}

// The row and column of an index.
TEST(IntegersInFloats, AreHeldWhileTheyAreCalculated) {
  EXPECT_THAT(HoldersOf(R"(%0 = input : int32[2x21] "x"
%1 = constant : float32[1] "width" = {96}
%2 = cast(%0) to=float32 : float32[2x21] "index"
%3 = div(%2, %1) : float32[2x21] "quotient"
%4 = floor(%3) : float32[2x21] "row"
%5 = mul(%4, %1) : float32[2x21] "start"
%6 = sub(%2, %5) : float32[2x21] "column"
output %6
)"),
              UnorderedElementsAre("width", "index", "quotient", "row", "start", "column"));
}

TEST(IntegersInFloats, AreHeldThroughSumsAndMovement) {
  EXPECT_THAT(HoldersOf(R"(%0 = input : bool[4x512] "mask"
%1 = cast(%0) to=float32 : float32[4x512] "steps"
%2 = cumsum(%1) axis=1 : float32[4x512] "sums"
%3 = reshape(%2) shape=2x1024 : float32[2x1024] "moved"
%4 = cast(%3) to=int32 : int32[2x1024] "y"
output %4
)"),
              ElementsAre("steps", "sums", "moved"));
}

TEST(IntegersInFloats, AreHeldThatRoundingMakes) {
  EXPECT_THAT(HoldersOf(R"(%0 = input : float32[1x8x8x1] "x"
%1 = constant : float32[1x1x1x1] "w" = {3}
%2 = constant : float32[1] "rows" = {96}
%3 = conv_2d(%0, %1) : float32[1x8x8x1] "a"
%4 = round(%3) : float32[1x8x8x1] "row"
%5 = mul(%4, %2) : float32[1x8x8x1] "index"
%6 = cast(%5) to=int32 : int32[1x8x8x1] "y"
output %6
)"),
              UnorderedElementsAre("rows", "row", "index"));
}

TEST(IntegersInFloats, AreWhatIsComparedWithALargeNumber) {
  const auto compared_with = [](std::string_view number) {
    return HoldersOf(R"(%0 = input : float32[4x16] "ids"
%1 = constant : float32[1] "number" = {)" +
                     std::string(number) + R"(}
%2 = equal(%0, %1) : bool[4x16] "y"
output %2
)");
  };
  EXPECT_THAT(compared_with("20001"), ElementsAre("ids", "number"));
  EXPECT_THAT(compared_with("0.3"), IsEmpty());
  EXPECT_THAT(compared_with("-inf"), IsEmpty());
}

TEST(IntegersInFloats, AreWhatIsComparedWithThem) {
  EXPECT_THAT(HoldersOf(R"(%0 = input : float32[4x16] "ids"
%1 = input : int32[4x16] "x"
%2 = cast(%1) to=float32 : float32[4x16] "others"
%3 = equal(%0, %2) : bool[4x16] "y"
output %3
)"),
              ElementsAre("ids", "others"));
}

// Positions times frequencies: 16 bits would round an angle of 1000 by up to 0.25.
TEST(IntegersInFloats, AreLikeAngles) {
  EXPECT_THAT(HoldersOf(R"(%0 = input : float32[4x1] "positions"
%1 = constant : float32[1x8] "frequencies" = {1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003}
%2 = mul(%0, %1) : float32[4x8] "angles"
%3 = reshape(%2) shape=32 : float32[32] "moved"
%4 = sin(%3) : float32[32] "y"
output %4
)"),
              UnorderedElementsAre("positions", "frequencies", "angles", "moved"));
}

// Half a picture of 512 columns is a step of 0.25 columns in 16 bits, which is an error of an edge's height.
TEST(IntegersInFloats, AreLikePlacesInAPicture) {
  EXPECT_THAT(HoldersOf(R"(%0 = input : float32[1x64x512x4] "x"
%1 = input : float32[1x8x8x2] "a"
%2 = constant : float32[2x1x1x2] "w" = {1, 2, 3, 4}
%3 = conv_2d(%1, %2) : float32[1x8x8x2] "flow"
%4 = tanh(%3) : float32[1x8x8x2] "points"
%5 = constant : float32[2] "sizes" = {256, 32}
%6 = mul(%4, %5) : float32[1x8x8x2] "places"
%7 = resampler(%0, %6) : float32[1x8x8x4] "y"
output %7
)"),
              UnorderedElementsAre("flow", "points", "sizes", "places"));
}

TEST(IntegersInFloats, AreLikePlacesThatAreRoundedDownToIndices) {
  EXPECT_THAT(HoldersOf(R"(%0 = input : float32[2x8x4] "a"
%1 = input : float32[2x4x3] "matrix"
%2 = batch_matmul(%0, %1) : float32[2x8x3] "places"
%3 = floor(%2) : float32[2x8x3] "cells"
%4 = constant : float32[1] "last" = {511}
%5 = minimum(%3, %4) : float32[2x8x3] "clamped"
%6 = cast(%5) to=int32 : int32[2x8x3] "y"
output %6
)"),
              UnorderedElementsAre("a", "matrix", "places", "cells", "last", "clamped"));
}

TEST(IntegersInFloats, AreInAStateBeforeAndAfterARun) {
  EXPECT_THAT(HoldersOf(R"(%0 = input : int32[1x2x2x1] "x"
%1 = value : float32[1x2x2x1] "old count"
%2 = constant : float32[1] "one" = {1}
%3 = add(%1, %2) : float32[1x2x2x1] "new count"
%4 = cast(%1) to=int32 : int32[1x2x2x1] "count"
%5 = add(%4, %0) : int32[1x2x2x1] "y"
state %1 = %3
output %5
)"),
              UnorderedElementsAre("old count", "one", "new count"));
}

// Whole networks and pictures would take twice the memory.
TEST(IntegersInFloats, EndAtConvolutionsActivationsAndSumsWithTheirResults) {
  EXPECT_THAT(HoldersOf(R"(%0 = input : float32[1x8x8x1] "x"
%1 = input : int32[1x8x8x1] "mask"
%2 = constant : float32[1x1x1x1] "w" = {3}
%3 = conv_2d(%0, %2) : float32[1x8x8x1] "a"
%4 = cast(%1) to=float32 : float32[1x8x8x1] "real mask"
%5 = add(%3, %4) : float32[1x8x8x1] "masked"
%6 = softmax(%5) : float32[1x8x8x1] "probability"
%7 = add(%6, %3) : float32[1x8x8x1] "sum"
%8 = cast(%7) to=int32 : int32[1x8x8x1] "y"
output %8
)"),
              ElementsAre("real mask", "sum"));
}

// As the pass to_floats writes them, and networks whose results are rounded.
TEST(IntegersInFloats, AreSumsOfProductsThatAreRounded) {
  EXPECT_THAT(HoldersOf(R"(%0 = input : float32[4x300] "x"
%1 = constant : float32[8x300] "w" = fill(100)
%2 = fully_connected(%0, %1) keep_dims=true : float32[4x8] "sums"
%3 = reshape(%2) shape=2x16 : float32[2x16] "moved"
%4 = round(%3) : float32[2x16] "rounded"
%5 = reshape(%4) shape=32 : float32[32] "moved again"
%6 = cast(%5) to=int32 : int32[32] "y"
output %6
)"),
              ElementsAre("sums", "moved", "rounded", "moved again"));
}

TEST(IntegersInFloats, OfEightBitsAndBoolsFitInto16) {
  EXPECT_THAT(HoldersOf(R"(%0 = input : uint8[1x8x8x3] "picture"
%1 = input : bool[1x8x8x3] "mask"
%2 = constant : float32[1] "scale" = {0.00392}
%3 = cast(%0) to=float32 : float32[1x8x8x3] "real"
%4 = cast(%1) to=float32 : float32[1x8x8x3] "real mask"
%5 = mul(%3, %2) : float32[1x8x8x3] "scaled"
%6 = mul(%5, %4) : float32[1x8x8x3] "y"
%7 = cast(%6) to=uint8 : uint8[1x8x8x3] "bytes"
output %6
output %7
)"),
              IsEmpty());
}

TEST(IntegersInFloats, AreStoredIn32BitsInPlansOf16) {
  DeviceInfo device;
  device.backend = "vulkan";
  device.type = DeviceType::kDiscreteGpu;
  device.max_local_invocations = 256;
  device.max_local_size = {256, 256, 64};
  device.max_storage_buffers = 8;
  device.fp16_storage = true;
  const Graph graph = testing::Parsed(R"(%0 = input : float32[4x16] "ids"
%1 = input : float32[4x16] "x"
%2 = cast(%0) to=int32 : int32[4x16] "rows"
%3 = relu(%1) : float32[4x16] "y"
output %2
output %3
)");
  const LowerOptions options{.precision = Precision::kFp16};
  const Plan plan = testing::Lowered(graph, device, options);
  ASSERT_EQ(plan.inputs.size(), 2u);
  EXPECT_EQ(plan.inputs[0].transfer.storage, StorageType::kFloat32);
  EXPECT_EQ(plan.inputs[1].transfer.storage, StorageType::kFloat16);
}

}  // namespace
}  // namespace hearth
