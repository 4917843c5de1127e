// Tensors of rank 7 and 8: what devices take of them, and that they are answered right.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "backends/null/device.h"
#include "hearth/session.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/device_names.h"
#include "tests/testing/on_device.h"
#include "tests/testing/parsed_graph.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

// Where a device places the last of these nodes, as graph texts say them.
Placement PlacementOf(const std::string& nodes, int last) {
  const Graph graph = testing::Parsed(fmt::format("graph \"ranks\"\n{}\noutput %{}\n", nodes, last));
  return PlaceNodes(graph, NullDeviceInfo(), {}).back();
}

TEST(HighRanks, DevicesTakeWhatJoinsToAsManyDimensionsAsKernelsCount) {
  const std::string x = "%0 = input : float32[2x3x2x2x1x3x2x5] \"x\"\n";
  for (const char* node :
       {"%1 = neg(%0) : float32[2x3x2x2x1x3x2x5] \"y\"", "%1 = softmax(%0) beta=1 : float32[2x3x2x2x1x3x2x5] \"y\"",
        "%1 = reshape(%0) shape=6x120 : float32[6x120] \"y\"",
        "%1 = transpose(%0) permutation=7,6,5,4,3,2,1,0 : float32[5x2x3x1x2x2x3x2] \"y\"",
        "%1 = pad(%0) before=1x0x0x0x1x0x0x0 after=0x0x0x0x0x0x2x0 : float32[3x3x2x2x2x3x4x5] \"y\"",
        "%1 = cumsum(%0) axis=3 : float32[2x3x2x2x1x3x2x5] \"y\""}) {
    const Placement placement = PlacementOf(x + node, 1);
    EXPECT_TRUE(placement.on_device) << node << ": " << placement.reason;
  }
  const Placement sum = PlacementOf(x + "%1 = input : float32[2x1x1x2x1x3x2x5] \"x\"\n"
                                        "%2 = add(%0, %1) : float32[2x3x2x2x1x3x2x5] \"y\"",
                                    2);
  EXPECT_TRUE(sum.on_device) << sum.reason;
}

TEST(HighRanks, WhatDoesNotJoinRunsOnTheCpuAndSaysWhy) {
  const std::string x = "%0 = input : float32[2x3x2x3x2x3x2x5] \"x\"\n";
  const auto reason = [&](const std::string& nodes, int last) { return PlacementOf(x + nodes, last).reason; };
  EXPECT_THAT(reason("%1 = input : float32[2x1x2x1x2x1x2x1] \"x\"\n"
                     "%2 = mul(%0, %1) : float32[2x3x2x3x2x3x2x5] \"y\"",
                     2),
              HasSubstr("broadcast in 8 dimensions, of which kernels take 6"));
  EXPECT_THAT(reason("%1 = pad(%0) before=1x0x1x0x1x0x1x0 after=0x1x0x1x0x1x0x1 : float32[3x4x3x4x3x4x3x6] \"y\"", 1),
              HasSubstr("pads 8 dimensions"));
  EXPECT_THAT(reason("%1 = tile(%0) multiples=1x2x1x2x1x2x1x2 : float32[2x6x2x6x2x6x2x10] \"y\"", 1), "");
  EXPECT_THAT(reason("%1 = tile(%0) multiples=2x2x2x2x2x2x2x2 : float32[4x6x4x6x4x6x4x10] \"y\"", 1),
              HasSubstr("move along 15 dimensions, kernels take 11"));
}

class HighRanksOnDevices : public testing::SessionsOnDevice {};

// The sums over dimensions 1, 4 and 6 of 8, with a number added for each of dimension 0, turned.
TEST_P(HighRanksOnDevices, AreAnsweredAsTheReferenceDoes) {
  const std::vector<int32_t> shape = {2, 3, 1, 2, 2, 1, 3, 2}, turned = {2, 1, 2, 1, 2, 1, 1, 1};
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", shape}), d = writer.AddTensor({"d", shape});
  const int32_t first = writer.AddConstant<float>({"", {2, 1, 1, 1, 1, 1, 1, 1}}, {-1, -10});
  const int32_t sum = writer.AddTensor({"sum", {2, 1, 1, 2, 1, 1, 1, 2}}), y = writer.AddTensor({"y", turned});
  writer.AddOperator(kAdd, {x, first}, {d});
  writer.AddOperator(kSum, {d, writer.AddIntegers({1, 4, 6})}, {sum},
                     wire::CreateReducerOptions(writer.builder(), true));
  writer.AddOperator(kTranspose, {sum, writer.AddIntegers({7, 6, 3, 4, 0, 2, 5, 1})}, {y});
  Session session = Opened(writer.Finish({x}, {y}));
  std::vector<float> numbers(2 * 3 * 2 * 2 * 3 * 2);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  std::vector<float> expected(8);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const size_t outer = i / 72, third = i / 12 % 2, last = i % 2;
    expected[(last * 2 + third) * 2 + outer] += numbers[i] - (outer == 0 ? 1.0f : 10.0f);
  }
  ASSERT_TRUE(session.SetInput<float>(0, numbers).ok());
  const Status ran = session.Run();
  ASSERT_TRUE(ran.ok()) << ran.message();
  EXPECT_THAT(session.output<float>(0).value(), ElementsAreArray(expected));
  const Status resized = session.Resize({{"x", {2, 3, 1, 2, 2, 1, 3, 2, 1}}});
  EXPECT_FALSE(resized.ok());
}

INSTANTIATE_TEST_SUITE_P(Devices, HighRanksOnDevices, ::testing::ValuesIn(testing::DeviceNames()));

}  // namespace
}  // namespace hearth
