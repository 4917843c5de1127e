#include "hal/io/slices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/base/float16.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;

template <typename T>
std::vector<T> As(const std::vector<std::byte>& bytes) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

template <typename Device, typename Host>
std::vector<Device> ToSlices(const TensorDesc& desc, StorageType storage, const std::vector<Host>& dense) {
  const Bhwc shape = ToBhwc(desc.shape);
  std::vector<std::byte> slices(shape.pixels() * shape.slices() * TexelBytes(storage));
  DenseToSlices(desc, storage, std::as_bytes(std::span(dense)), slices);
  return As<Device>(slices);
}

template <typename Host, typename Device>
std::vector<Host> ToDense(const TensorDesc& desc, StorageType storage, const std::vector<Device>& slices) {
  std::vector<std::byte> dense(desc.size_bytes());
  SlicesToDense(desc, storage, std::as_bytes(std::span(slices)), dense);
  return As<Host>(dense);
}

TensorDesc ByteDesc(DType dtype, const Shape& shape) {
  return {dtype, shape, Quantization{{0.5f}, {10}, 0}};
}

TEST(Slices, FloatsAreGroupedByFourChannelsAndPaddedWithZeros) {
  const TensorDesc desc{DType::kFloat32, {1, 1, 2, 5}, {}};
  const std::vector<float> dense = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const auto slices = ToSlices<float>(desc, StorageType::kFloat32, dense);
  EXPECT_THAT(slices, ElementsAre(1, 2, 3, 4, 6, 7, 8, 9, 5, 0, 0, 0, 10, 0, 0, 0));
  EXPECT_EQ(ToDense<float>(desc, StorageType::kFloat32, slices), dense);
}

TEST(Slices, QuantizedBytesArriveAsTheNumbersThatTheyStandFor) {
  const std::vector<uint8_t> dense = {0, 10, 255};
  EXPECT_THAT(ToSlices<float>(ByteDesc(DType::kUInt8, {3}), StorageType::kFloat32, dense),
              ElementsAre(-5, 0, 122.5f, 0));
}

TEST(Slices, QuantizedBytesLeaveRoundedAwayFromZeroAndClamped) {
  const std::vector<float> slices = {-1000.0f, 0.25f, -0.25f, 1e9f};
  EXPECT_THAT(ToDense<int8_t>(ByteDesc(DType::kInt8, {4}), StorageType::kFloat32, slices),
              ElementsAre(-128, 11, 9, 127));
}

TEST(Slices, NotANumberLeavesAsTheLowestNumber) {
  const std::vector<float> slices = {NAN, 0, 0, 0};
  EXPECT_THAT(ToDense<int8_t>(ByteDesc(DType::kInt8, {1}), StorageType::kFloat32, slices), ElementsAre(-128));
}

TEST(Slices, RealNumbersAreRoundedToHalvesWhereTheDeviceStoresThose) {
  const TensorDesc desc{DType::kFloat32, {2}, {}};
  const auto slices = ToSlices<uint16_t>(desc, StorageType::kFloat16, std::vector<float>{1.0f, 0.1f});
  EXPECT_THAT(slices, ElementsAre(FloatToHalf(1.0f), FloatToHalf(0.1f), 0, 0));
  EXPECT_THAT(ToDense<float>(desc, StorageType::kFloat16, slices), ElementsAre(1.0f, HalfToFloat(FloatToHalf(0.1f))));
}

TEST(Slices, FiniteNumbersStayFiniteWhereTheDeviceStoresHalves) {
  const TensorDesc desc{DType::kFloat32, {4}, {}};
  const auto slices =
      ToSlices<uint16_t>(desc, StorageType::kFloat16, std::vector<float>{-1e9f, 1e9f, -INFINITY, 65504});
  EXPECT_THAT(ToDense<float>(desc, StorageType::kFloat16, slices), ElementsAre(-65504, 65504, -INFINITY, 65504));
}

TEST(Slices, BoolIsZeroOrOne) {
  const TensorDesc desc{DType::kBool, {3}, {}};
  const auto slices = ToSlices<float>(desc, StorageType::kFloat32, std::vector<uint8_t>{0, 1, 7});
  EXPECT_THAT(slices, ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(ToDense<uint8_t>(desc, StorageType::kFloat32, slices), ElementsAre(0, 1, 1));
}

TEST(Slices, IntegersKeepAllTheir32Bits) {
  const TensorDesc desc{DType::kInt32, {2}, {}};
  const std::vector<int32_t> dense = {INT32_MAX, -16777217};
  const auto slices = ToSlices<int32_t>(desc, StorageType::kInt32, dense);
  EXPECT_THAT(slices, ElementsAre(INT32_MAX, -16777217, 0, 0));
  EXPECT_EQ(ToDense<int32_t>(desc, StorageType::kInt32, slices), dense);
}

TEST(Slices, WideIntegersSaturateOnTheirWayIn) {
  const TensorDesc desc{DType::kInt64, {3}, {}};
  const std::vector<int64_t> dense = {int64_t{1} << 40, INT64_MIN, -5};
  EXPECT_THAT(ToSlices<int32_t>(desc, StorageType::kInt32, dense), ElementsAre(INT32_MAX, INT32_MIN, -5, 0));
}

}  // namespace
}  // namespace hearth
