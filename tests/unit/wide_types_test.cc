// Tensors of float64, uint64, uint32 and uint16: exact wherever they run, on the CPU where a device can't be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

#include "backends/null/device.h"
#include "core/graph/evaluate.h"
#include "core/lowering/lower.h"
#include "frontends/tflite/reader.h"
#include "hearth/session.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/device_names.h"
#include "tests/testing/on_device.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int32_t kBitcast = 159, kBitwiseXor = 160, kBitGenerator = 204;
constexpr auto kDouble = wire::TensorType_FLOAT64;
constexpr auto kWord = wire::TensorType_UINT32;
constexpr auto kShort = wire::TensorType_UINT16;
constexpr auto kUnsignedLong = wire::TensorType_UINT64;

class WideTypes : public testing::SessionsOnDevice {};

TEST_P(WideTypes, Uint32WrapsAndKeepsEveryBit) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2, 2}, kWord}), y = writer.AddTensor({"y", {2, 2}, kWord});
  const int32_t turned = writer.AddTensor({"turned", {2, 2}, kWord});
  writer.AddOperator(kMul, {x, writer.AddConstant<uint32_t>({"", {2}, kWord}, {3, 2})}, {y});
  writer.AddOperator(kTranspose, {y, writer.AddIntegers({1, 0})}, {turned});
  Session session = Opened(writer.Finish({x}, {turned}));
  ASSERT_TRUE(session.SetInput<uint32_t>(0, std::vector<uint32_t>{4294967295u, 2147483648u, 16777217u, 5}).ok());
  const Status ran = session.Run();
  ASSERT_TRUE(ran.ok()) << ran.message();
  EXPECT_THAT(session.output<uint32_t>(0).value(), ElementsAre(4294967293u, 50331651u, 0u, 10u));
}

TEST_P(WideTypes, Float64IsNotRoundedToFloat32) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {3}, kDouble}), y = writer.AddTensor({"y", {3}, kDouble});
  const int32_t narrow = writer.AddTensor({"narrow", {3}}), again = writer.AddTensor({"again", {3}});
  writer.AddOperator(kAdd, {x, writer.AddConstant<double>({"", {1}, kDouble}, {1.0})}, {y});
  writer.AddOperator(kCast, {y}, {narrow});
  writer.AddOperator(kNeg, {narrow}, {again});
  Session session = Opened(writer.Finish({x}, {y, again}));
  ASSERT_TRUE(session.SetInput<double>(0, std::vector<double>{0x1p-50, -0.25, 1e300}).ok());
  const Status ran = session.Run();
  ASSERT_TRUE(ran.ok()) << ran.message();
  EXPECT_THAT(session.output<double>(0).value(), ElementsAre(1.0 + 0x1p-50, 0.75, 1e300));
  EXPECT_THAT(session.output<float>(1).value(), ElementsAre(-1.0f, -0.75f, -std::numeric_limits<float>::infinity()));
}

TEST_P(WideTypes, Uint16HasNoSign) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {4}, kShort}), y = writer.AddTensor({"y", {4}, kShort});
  const int32_t real = writer.AddTensor({"real", {4}}), back = writer.AddTensor({"back", {4}, kShort});
  writer.AddOperator(kBitwiseXor, {x, writer.AddConstant<uint16_t>({"", {1}, kShort}, {0x8001})}, {y});
  writer.AddOperator(kCast, {y}, {real});
  writer.AddOperator(kCast, {real}, {back});
  Session session = Opened(writer.Finish({x}, {y, real, back}));
  ASSERT_TRUE(session.SetInput<uint16_t>(0, std::vector<uint16_t>{0, 1, 0x7ffe, 0xffff}).ok());
  const Status ran = session.Run();
  ASSERT_TRUE(ran.ok()) << ran.message();
  EXPECT_THAT(session.output<uint16_t>(0).value(), ElementsAre(0x8001, 0x8000, 0xffff, 0x7ffe));
  EXPECT_THAT(session.output<float>(1).value(), ElementsAre(32769.0f, 32768.0f, 65535.0f, 32766.0f));
  EXPECT_THAT(session.output<uint16_t>(2).value(), ElementsAre(0x8001, 0x8000, 0xffff, 0x7ffe));
}

TEST_P(WideTypes, Uint16Wraps) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {4}, kShort}), y = writer.AddTensor({"y", {4}, kShort});
  writer.AddOperator(kMul, {x, x}, {y});
  Session session = Opened(writer.Finish({x}, {y}));
  ASSERT_TRUE(session.SetInput<uint16_t>(0, std::vector<uint16_t>{3, 255, 256, 65535}).ok());
  const Status ran = session.Run();
  ASSERT_TRUE(ran.ok()) << ran.message();
  EXPECT_THAT(session.output<uint16_t>(0).value(), ElementsAre(9, 65025, 0, 1));
}

TEST_P(WideTypes, IntegersOf64BitsKeepEveryDigitAlsoAsConstantsThatMove) {
  const int64_t wide = (int64_t{1} << 62) + 1;
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2, 1}, kLong}), turned = writer.AddTensor({"turned", {2, 1}, kLong});
  const int32_t sum = writer.AddTensor({"sum", {2, 1}, kLong});
  const int32_t constant = writer.AddConstant<int64_t>({"c", {1, 2}, kLong}, {wide, -wide});
  writer.AddOperator(kTranspose, {constant, writer.AddIntegers({1, 0})}, {turned});
  writer.AddOperator(kAdd, {x, turned}, {sum});
  Session session = Opened(writer.Finish({x}, {sum}));
  ASSERT_TRUE(session.SetInput<int64_t>(0, std::vector<int64_t>{2, 4}).ok());
  const Status ran = session.Run();
  ASSERT_TRUE(ran.ok()) << ran.message();
  EXPECT_THAT(session.output<int64_t>(0).value(), ElementsAre(wide + 2, 4 - wide));
}

TEST_P(WideTypes, IntegersOf64BitsAreToldApartByEveryDigit) {
  const int64_t wide = (int64_t{1} << 62) + 1;
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {5}, kLong}), values = writer.AddTensor({"values", {5}, kLong});
  const int32_t places = writer.AddTensor({"places", {5}, wire::TensorType_INT32});
  writer.AddOperator(kUnique, {x}, {values, places});
  Session session = Opened(writer.Finish({x}, {values, places}));
  ASSERT_TRUE(session.SetInput<int64_t>(0, std::vector<int64_t>{wide, wide - 1, wide, 5, wide + 1}).ok());
  const Status ran = session.Run();
  ASSERT_TRUE(ran.ok()) << ran.message();
  EXPECT_THAT(session.output<int64_t>(0).value(), ElementsAre(wide, wide - 1, 5, wide + 1, 0));
  EXPECT_THAT(session.output<int32_t>(1).value(), ElementsAre(0, 1, 0, 2, 3));
  EXPECT_THAT(session.output<int32_t>(2).value(), ElementsAre(4));
}

TEST_P(WideTypes, IntegersOf64BitsKeepEveryDigitWhereAShapeIsFilledWithOne) {
  const int64_t wide = (int64_t{1} << 62) + 1;
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2}, kLong}), full = writer.AddTensor({"full", {2}, kLong});
  const int32_t sum = writer.AddTensor({"sum", {2}, kLong});
  writer.AddOperator(kFill, {writer.AddIntegers({2}), writer.AddConstant<int64_t>({"", {}, kLong}, {wide})}, {full});
  writer.AddOperator(kAdd, {x, full}, {sum});
  Session session = Opened(writer.Finish({x}, {sum}));
  ASSERT_TRUE(session.SetInput<int64_t>(0, std::vector<int64_t>{2, 4}).ok());
  const Status ran = session.Run();
  ASSERT_TRUE(ran.ok()) << ran.message();
  EXPECT_THAT(session.output<int64_t>(0).value(), ElementsAre(wide + 2, wide + 4));
}

TEST_P(WideTypes, IntegersOf64BitsKeepEveryDigitWhereTheyAreSortedAndPadded) {
  const int64_t wide = (int64_t{1} << 62) + 1;
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1, 3}, kLong}), best = writer.AddTensor({"best", {1, 2}, kLong});
  const int32_t places = writer.AddTensor({"places", {1, 2}, wire::TensorType_INT32});
  const int32_t padded = writer.AddTensor({"padded", {1, 5}, kLong});
  const int32_t borders = writer.AddConstant<int32_t>({"", {2, 2}, wire::TensorType_INT32}, {0, 0, 1, 1});
  writer.AddOperator(48, {x, writer.AddIntegers({2})}, {best, places});  // TOPK_V2
  writer.AddOperator(kPadV2, {x, borders, writer.AddConstant<int64_t>({"", {1}, kLong}, {-7})}, {padded});
  Session session = Opened(writer.Finish({x}, {best, padded}));
  ASSERT_TRUE(session.SetInput<int64_t>(0, std::vector<int64_t>{wide - 1, wide + 1, wide}).ok());
  const Status ran = session.Run();
  ASSERT_TRUE(ran.ok()) << ran.message();
  EXPECT_THAT(session.output<int64_t>(0).value(), ElementsAre(wide + 1, wide));
  EXPECT_THAT(session.output<int64_t>(1).value(), ElementsAre(-7, wide - 1, wide + 1, wide, -7));
}

TEST_P(WideTypes, Uint64IsMovedAddedAndReadAsWordsWithEveryBit) {
  const uint64_t wide = ~uint64_t{0} - 6;
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1, 2}, kUnsignedLong}),
                sum = writer.AddTensor({"sum", {1, 2}, kUnsignedLong});
  const int32_t turned = writer.AddTensor({"turned", {2, 1}, kUnsignedLong});
  const int32_t words = writer.AddTensor({"words", {2, 1, 2}, kWord});
  writer.AddOperator(kAdd, {x, writer.AddConstant<uint64_t>({"c", {1, 2}, kUnsignedLong}, {10, wide})}, {sum});
  writer.AddOperator(kTranspose, {sum, writer.AddIntegers({1, 0})}, {turned});
  writer.AddOperator(kBitcast, {turned}, {words});
  Session session = Opened(writer.Finish({x}, {turned, words}));
  ASSERT_TRUE(session.SetInput<uint64_t>(0, std::vector<uint64_t>{wide, 1}).ok());
  const Status ran = session.Run();
  ASSERT_TRUE(ran.ok()) << ran.message();
  EXPECT_THAT(session.output<uint64_t>(0).value(), ElementsAre(3u, wide + 1));
  EXPECT_THAT(session.output<uint32_t>(1).value(), ElementsAre(3u, 0u, 0xfffffffau, 0xffffffffu));
}

// LiteRT 2.3.0's numbers.
TEST_P(WideTypes, BitsOfAGeneratorFollowItsStateAndTheStateIsHandedOn) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2}, kUnsignedLong}), state = writer.AddTensor({"s", {2}, kUnsignedLong});
  const int32_t bits = writer.AddTensor({"bits", {5}, kWord}), last = writer.AddTensor({"t", {2}, kUnsignedLong});
  const int32_t wide = writer.AddTensor({"wide", {1, 2}, kLong});
  writer.AddOperator2(kBitGenerator, {x}, {state, bits},
                      wire::CreateStablehloRngBitGeneratorOptions(writer.builder(), wire::RngAlgorithm_PHILOX));
  writer.AddOperator2(kBitGenerator, {state}, {last, wide},
                      wire::CreateStablehloRngBitGeneratorOptions(writer.builder(), wire::RngAlgorithm_THREEFRY));
  Session session = Opened(writer.Finish({x}, {bits, state, last, wide}));
  ASSERT_TRUE(session.SetInput<uint64_t>(0, std::vector<uint64_t>{1, 2}).ok());
  const Status ran = session.Run();
  ASSERT_TRUE(ran.ok()) << ran.message();
  EXPECT_THAT(session.output<uint32_t>(0).value(),
              ElementsAre(0x7d34a749, 0xa9b8bbe8, 0x7ba423d7, 0x2fb324d9, 0x6cf923fe));
  EXPECT_THAT(session.output<uint64_t>(1).value(), ElementsAre(1u, 4u));
  EXPECT_THAT(session.output<uint64_t>(2).value(), ElementsAre(1u, 6u));
  EXPECT_THAT(session.output<int64_t>(3).value(), ElementsAre(-233920680524772397, 2658481902456610144));
}

TEST_P(WideTypes, AnOperatorThatIsReadAsSeveralNodesIsCountedOnce) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2}, kUnsignedLong}), state = writer.AddTensor({"s", {2}, kUnsignedLong});
  const int32_t bits = writer.AddTensor({"bits", {5}, kWord});
  writer.AddOperator2(kBitGenerator, {x}, {state, bits},
                      wire::CreateStablehloRngBitGeneratorOptions(writer.builder(), wire::RngAlgorithm_PHILOX));
  Session session = Opened(writer.Finish({x}, {bits, state}));
  const auto& ops = session.report().ops;
  EXPECT_EQ(ops.total, 1);
  EXPECT_EQ(ops.on_cpu, 1);
  EXPECT_EQ(ops.on_device, 0);
  EXPECT_EQ(ops.fallbacks.size(), GetParam() == "cpu" ? 0u : 1u);
}

INSTANTIATE_TEST_SUITE_P(Devices, WideTypes, ::testing::ValuesIn(testing::DeviceNames()));

// Where a device places `x + x`, or what moves x, of this type.
Placement PlacementOf(wire::TensorType type, bool moves) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {4}, type}), y = writer.AddTensor({"y", {moves ? 2 : 4}, type});
  if (moves) {
    writer.AddOperator(kSlice, {x, writer.AddIntegers({1}), writer.AddIntegers({2})}, {y});
  } else {
    writer.AddOperator(kAdd, {x, x}, {y});
  }
  const auto bytes = writer.Finish({x}, {y});
  Result<Graph> graph = ReadTfliteModel(bytes);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  if (!graph.ok() || !InferShapes(*graph).ok() || graph->nodes().empty()) return {};
  return PlaceNodes(*graph, NullDeviceInfo(), {}).back();
}

TEST(WideTypesPlacement, DevicesTakeUint16AndLeaveTheOthersToTheCpu) {
  EXPECT_TRUE(PlacementOf(kShort, true).on_device);
  EXPECT_THAT(PlacementOf(kWord, true).reason, HasSubstr("is uint32, which devices don't have"));
  EXPECT_THAT(PlacementOf(kDouble, true).reason, HasSubstr("is float64, which devices don't have"));
  EXPECT_TRUE(PlacementOf(kShort, false).on_device);
}

TEST(WideTypesPlacement, Uint64IsMovedAndRefusedWhereItWouldBeCalculatedWith) {
  EXPECT_THAT(PlacementOf(kUnsignedLong, true).reason, HasSubstr("is uint64, which devices don't have"));
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {4}, kUnsignedLong}), y = writer.AddTensor({"y", {4}, kUnsignedLong});
  writer.AddOperator(kNeg, {x}, {y});
  const auto bytes = writer.Finish({x}, {y});
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_THAT(InferShapes(*graph).message(), HasSubstr("'x' is uint64, which is not calculated with here: use int64"));
}

}  // namespace
}  // namespace hearth
