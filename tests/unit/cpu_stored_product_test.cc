// Fully connected layers of few rows that read weights of 16, 8 and 4 bits where they lie.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "backends/cpu/host/vectorized.h"
#include "core/base/float16.h"
#include "core/graph/block_scales.h"
#include "tests/testing/host_graph.h"
#include "tests/testing/one_host_node.h"

namespace hearth {
namespace {

using testing::OneHostNode;

constexpr const char* kStored = "product with stored weights";

// Weights of `columns` times `depth` as halves.
ValueId HalfWeights(OneHostNode& one, int32_t columns, int32_t depth) {
  const Shape shape{columns, depth};
  std::vector<std::byte> bytes;
  for (const float weight : testing::RandomFloats(shape.element_count(), 7)) {
    const uint16_t half = FloatToHalf(weight);
    const auto* first = reinterpret_cast<const std::byte*>(&half);
    bytes.insert(bytes.end(), first, first + sizeof(half));
  }
  return one.graph.AddConstantValue("w", {DType::kFloat16, shape}, std::move(bytes));
}

std::vector<std::byte> RandomBytes(size_t count) {
  std::mt19937 generator(8);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(generator() & 0xff);
  return bytes;
}

ValueId ByteWeights(OneHostNode& one, int32_t columns, int32_t depth, std::vector<float> scales, int64_t zero = 0) {
  const Shape shape{columns, depth};
  Quantization grid{std::move(scales), {}, 0};
  grid.zero_points.assign(grid.scales.size(), zero);
  return one.graph.AddConstantValue("w", {DType::kInt8, shape, std::move(grid)},
                                    RandomBytes(static_cast<size_t>(shape.element_count())));
}

// Numbers of -8 to 7, two a byte.
ValueId NibbleWeights(OneHostNode& one, int32_t columns, int32_t depth, std::vector<float> scales) {
  const Shape shape{columns, depth};
  Quantization grid{std::move(scales), {}, 0};
  grid.zero_points.assign(grid.scales.size(), 0);
  return one.graph.AddConstantValue("w", {DType::kInt4, shape, std::move(grid)},
                                    RandomBytes(static_cast<size_t>(shape.element_count() / 2)));
}

BlockScales::Numbers StoredNumbers(DType dtype, const std::vector<std::byte>& bytes, int64_t row_step) {
  return NumbersOfOwn(dtype, bytes, row_step);
}

// Weights with scales for blocks, of 1/4096 to 1/256.
ValueId BlockedWeights(OneHostNode& one, const Shape& shape, DType dtype, int32_t size, DType scale_type) {
  const int64_t blocks = (shape[1] + size - 1) / size, count = shape[0] * blocks;
  BlockScales grid{.size = size, .scales = {}, .zeros = {}};
  std::vector<std::byte> scales(static_cast<size_t>(count * BitsOf(scale_type) / 8));
  for (int64_t k = 0; k < count; ++k) StoreElement(scale_type, scales, k, static_cast<double>(k * 7 % 16 + 1) / 4096);
  grid.scales = StoredNumbers(scale_type, std::move(scales), blocks);
  const size_t bytes = static_cast<size_t>(shape.element_count() * BitsOf(dtype) / 8);
  return one.graph.AddConstantValue("w", {dtype, shape, GridOf(std::move(grid))}, RandomBytes(bytes));
}

class CpuStoredProduct : public ::testing::Test {
 protected:
  void SetUp() override {
    if (BestVectorSet() == VectorSet::kBase) GTEST_SKIP() << "without AVX2 weights are packed as floats";
  }
};

TEST_F(CpuStoredProduct, HalvesAreReadWithAnyDepthRowsBiasAndActivation) {
  for (const auto& [rows, depth] : {std::pair{1, 1024}, {3, 1031}, {4, 1055}, {2, 4099}}) {
    OneHostNode one;
    const ValueId x = one.Input({rows, depth}), w = HalfWeights(one, 65, depth);
    FullyConnected op;
    op.activation = rows == 3 ? Activation::kRelu6 : rows == 4 ? Activation::kTanh : Activation::kNone;
    one.Add(op, {x, w, rows == 1 ? kNoValue : one.Constant({65})});
    testing::ExpectAsReference(std::move(one), kStored);
  }
}

TEST_F(CpuStoredProduct, BytesAreReadWithOneScaleAndWithOneForEachColumn) {
  std::vector<float> scales(70);
  for (size_t k = 0; k < scales.size(); ++k) scales[k] = 0.001f * static_cast<float>(k % 9 + 1);
  for (const std::vector<float>& these : {scales, std::vector<float>{0.004f}}) {
    OneHostNode one;
    const ValueId x = one.Input({1, 1, 777});
    one.Add(FullyConnected{}, {x, ByteWeights(one, 70, 777, these), one.Constant({70})});
    testing::ExpectAsReference(std::move(one), kStored);
  }
}

TEST_F(CpuStoredProduct, PairsOfFourBitsAreReadWithAnyEvenDepth) {
  std::vector<float> scales(50, 0.02f);
  scales[7] = 0.3f;
  for (const auto& [rows, depth] : {std::pair{1, 1024}, {3, 1042}, {4, 2078}}) {
    OneHostNode one;
    const ValueId x = one.Input({rows, depth});
    one.Add(FullyConnected{}, {x, NibbleWeights(one, 50, depth, scales), one.Constant({50})});
    testing::ExpectAsReference(std::move(one), kStored);
  }
  OneHostNode one;
  const ValueId x = one.Input({1, 1023});
  one.Add(FullyConnected{}, {x, NibbleWeights(one, 50, 1023, scales)});
  EXPECT_EQ(testing::KernelOf(one), "matrix product") << "columns begin within a byte";
}

TEST_F(CpuStoredProduct, BlocksHaveScalesAndZeroPointsOfAnyType) {
  constexpr int32_t kColumns = 50, kDepth = 1042, kSize = 64, kBlocks = 17;
  for (const DType dtype : {DType::kInt4, DType::kUInt8, DType::kInt8}) {
    for (const DType zeros : {DType::kInt4, DType::kUInt8, DType::kFloat16, DType::kFloat32}) {
      OneHostNode one;
      const ValueId x = one.Input({zeros == DType::kInt4 ? 1 : 3, kDepth});
      const ValueId w = BlockedWeights(one, {kColumns, kDepth}, dtype, kSize,
                                       zeros == DType::kInt4 ? DType::kFloat32 : DType::kFloat16);
      BlockScales grid = *BlocksOf(one.graph.value(w).desc);
      grid.has_unsigned_nibbles = dtype == DType::kInt4 && zeros != DType::kUInt8;
      grid.zero = 8;
      const int64_t row_step = zeros == DType::kInt4 ? kBlocks + 1 : kBlocks;
      std::vector<std::byte> numbers(static_cast<size_t>(kColumns * row_step * BitsOf(zeros) / 8));
      for (int64_t k = 0; k < kColumns * row_step; ++k) StoreElement(zeros, numbers, k, static_cast<double>(k % 7));
      if (zeros != DType::kFloat32) grid.zeros = StoredNumbers(zeros, std::move(numbers), row_step);
      one.graph.value(w).desc.quantization = GridOf(std::move(grid));
      one.Add(FullyConnected{}, {x, w, one.Constant({kColumns})});
      testing::ExpectAsReference(std::move(one), kStored);
    }
  }
}

TEST_F(CpuStoredProduct, OtherLayersArePackedAsFloats) {
  const auto kernel = [](int rows, int32_t depth, int64_t zero) {
    OneHostNode one;
    const ValueId x = one.Input({rows, depth});
    one.Add(FullyConnected{}, {x, ByteWeights(one, 64, depth, {0.01f}, zero)});
    return testing::KernelOf(one);
  };
  EXPECT_EQ(kernel(4, 1024, 0), kStored);
  EXPECT_EQ(kernel(5, 1024, 0), "matrix product") << "many rows";
  EXPECT_EQ(kernel(1, 100, 0), "matrix product") << "few weights";
  EXPECT_EQ(kernel(1, 1024, 3), "matrix product") << "an asymmetric grid";
  for (const auto& [rows, size] : {std::pair{1, 48}, {5, 32}}) {
    OneHostNode one;
    const ValueId x = one.Input({rows, 1024});
    one.Add(FullyConnected{}, {x, BlockedWeights(one, {64, 1024}, DType::kInt4, size, DType::kFloat16)});
    EXPECT_EQ(testing::KernelOf(one), "matrix product") << rows << " rows, blocks of " << size;
  }
}

TEST_F(CpuStoredProduct, NumbersThatAreNoneStayInTheirColumn) {
  OneHostNode one;
  const ValueId x = one.Input({1, 1024});
  const ValueId w = HalfWeights(one, 64, 1024);
  std::vector<std::byte> bytes(one.graph.ConstantBytes(w).begin(), one.graph.ConstantBytes(w).end());
  const uint16_t numbers[] = {0x7e00, 0x7c00, 0xfc00, 0x0001};  // NaN, infinities, the least half
  for (size_t k = 0; k < std::size(numbers); ++k) std::memcpy(bytes.data() + k * 2048 + 10, &numbers[k], 2);
  const ValueId edges = one.graph.AddConstantValue("edges", {DType::kFloat16, {64, 1024}}, std::move(bytes));
  one.Add(FullyConnected{}, {x, edges});
  testing::ExpectAsReference(std::move(one), kStored);
}

}  // namespace
}  // namespace hearth
