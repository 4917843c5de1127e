// Operators that take quantized tensors as the integers that are stored (CAST, BITCAST), and PRELU's slopes of another
// type than the data. The values are LiteRT 2.3.0's, but for float slopes: it takes those for 0.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "hearth/session.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/device_names.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

constexpr int32_t kPRelu = 54, kBitcastCode = 159;
constexpr auto kFloat = wire::TensorType_FLOAT32;
constexpr auto kInt8 = wire::TensorType_INT8, kUInt8 = wire::TensorType_UINT8, kInt16 = wire::TensorType_INT16;
const WrittenQuantization kPixels = {{1.0f / 255}, {0}}, kShifted = {{0.05f}, {3}}, kSigned = {{0.05f}, {0}};

class StoredIntegers : public ::testing::TestWithParam<std::string> {
 protected:
  // The operator's output for these elements.
  template <typename To, typename From>
  std::vector<To> Answer(int32_t code, const WrittenTensor& x, const std::vector<From>& elements,
                         const WrittenTensor& y, int32_t slope = -1) {
    const int32_t from = writer_.AddTensor(x), to = writer_.AddTensor(y);
    writer_.AddOperator(code, slope < 0 ? std::vector{from} : std::vector{from, slope}, {to});
    const Result<Model> model = Model::FromMemory(writer_.Finish({from}, {to}), "model.tflite");
    EXPECT_TRUE(model.ok()) << model.status().message();
    if (!model.ok()) return {};
    SessionOptions options;
    options.device = GetParam();
    options.use_cache = false;
    options.start = "ready";
    Result<Session> session = Session::Create(*model, options);
    if (session.status().code() == StatusCode::kUnavailable) {
      is_skipped_ = true;
      return {};
    }
    EXPECT_TRUE(session.ok()) << session.status().message();
    if (!session.ok() || !session->SetInput(0, std::as_bytes(std::span(elements))).ok() || !session->Run().ok())
      return {};
    std::vector<To> made(elements.size());
    EXPECT_EQ(session->output(0).size(), made.size() * sizeof(To));
    std::memcpy(made.data(), session->output(0).data(), session->output(0).size());
    return made;
  }

  TfliteWriter writer_;
  bool is_skipped_ = false;
};

#define EXPECT_ANSWER(answer, ...)                                      \
  do {                                                                  \
    const auto made = answer;                                           \
    if (is_skipped_) GTEST_SKIP() << "the device can't be opened here"; \
    EXPECT_EQ(made, (decltype(made){__VA_ARGS__}));                     \
  } while (false)

TEST_P(StoredIntegers, OfPixelsAreCastToFloats) {
  EXPECT_ANSWER(
      (Answer<float, uint8_t>(kCast, {"x", {1, 5}, kUInt8, kPixels}, {0, 1, 100, 254, 255}, {"y", {1, 5}, kFloat})), 0,
      1, 100, 254, 255);
}

TEST_P(StoredIntegers, OfEveryWidthAreCastToIntegers) {
  EXPECT_ANSWER(
      (Answer<int32_t, int16_t>(kCast, {"x", {1, 4}, kInt16, kSigned}, {-32768, -1, 1000, 32767}, {"y", {1, 4}, kInt})),
      -32768, -1, 1000, 32767);
}

TEST_P(StoredIntegers, AreWhatACastToAQuantizedTensorMakes) {
  EXPECT_ANSWER(
      (Answer<uint8_t, float>(kCast, {"x", {1, 4}, kFloat}, {0, 7.9f, 200, 255}, {"y", {1, 4}, kUInt8, kPixels})), 0, 7,
      200, 255);
}

TEST_P(StoredIntegers, WrapFromOneQuantizedTypeToAnother) {
  EXPECT_ANSWER((Answer<uint8_t, int8_t>(kCast, {"x", {1, 4}, kInt8, kShifted}, {-128, -1, 3, 127},
                                         {"y", {1, 4}, kUInt8, kPixels})),
                128, 255, 3, 127);
}

TEST_P(StoredIntegers, AreTheBitsOfAQuantizedTensor) {
  EXPECT_ANSWER((Answer<uint8_t, int8_t>(kBitcastCode, {"x", {1, 4}, kInt8, kShifted}, {-128, -1, 3, 127},
                                         {"y", {1, 4}, kUInt8})),
                128, 255, 3, 127);
}

TEST_P(StoredIntegers, OfASlopeMayBeNarrowerThanTheDatas) {
  const int32_t slope = writer_.AddConstant<int8_t>({"slope", {4}, kInt8, kShifted}, {43, -17, 3, 127});
  EXPECT_ANSWER((Answer<int16_t, int16_t>(kPRelu, {"x", {1, 4}, kInt16, kSigned}, {-100, -7, 8, 100},
                                          {"y", {1, 4}, kInt16, {{0.2f}, {0}}}, slope)),
                -50, 2, 2, 25);
}

TEST_P(StoredIntegers, HaveAFloatSlope) {
  const int32_t slope = writer_.AddConstant<float>({"slope", {4}}, {2, -1, 0, 6.2f});
  EXPECT_ANSWER((Answer<int16_t, int16_t>(kPRelu, {"x", {1, 4}, kInt16, kSigned}, {-100, -7, 8, 100},
                                          {"y", {1, 4}, kInt16, {{0.2f}, {0}}}, slope)),
                -50, 2, 2, 25);
}

// Floats hold 24 bits, and no number of a scale that is not normal.
TEST(StoredIntegersOfOddTensors, AreRefusedWhereFloatsDoNotHoldThem) {
  const WrittenTensor wide{"x", {1, 4}, kInt, kSigned}, tiny{"x", {1, 4}, kInt8, {{1e-39f}, {0}}},
      none{"x", {1, 4}, kInt8, {{0.0f}, {0}}};
  for (const WrittenTensor& x : {wide, tiny, none}) {
    TfliteWriter writer;
    const int32_t from = writer.AddTensor(x), to = writer.AddTensor({"y", {1, 4}, kFloat});
    writer.AddOperator(kCast, {from}, {to});
    const Result<Model> model = Model::FromMemory(writer.Finish({from}, {to}), "model.tflite");
    ASSERT_TRUE(model.ok()) << model.status().message();  // inspect tells what is in the way
    SessionOptions options;
    options.device = "cpu";
    options.use_cache = false;
    const Status refused = Session::Create(*model, options).status();
    EXPECT_EQ(refused.code(), StatusCode::kUnsupported) << refused.message();
  }
}

INSTANTIATE_TEST_SUITE_P(, StoredIntegers, ::testing::ValuesIn(testing::DeviceNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hearth
