#include "core/plan/pack.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "core/base/float16.h"

namespace hearth {
namespace {

template <typename T>
std::vector<std::byte> ElementBytes(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<float> RandomFloats(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-2, 2);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(random);
  return values;
}

std::vector<float> PackedFloats(const PackRecipe& recipe, std::span<const std::byte> source) {
  std::vector<float> packed(recipe.packed_size_bytes() / sizeof(float), NAN);
  const Status status = PackConstant(recipe, source, std::as_writable_bytes(std::span(packed)));
  EXPECT_TRUE(status.ok()) << status.message();
  return packed;
}

PackRecipe MatrixRecipe(int o, int kh, int kw, int i, int width, DType dtype = DType::kFloat32) {
  return {PackLayout::kMatrix, TensorDesc{dtype, Shape{o, kh, kw, i}, {}}, width, {o, kh, kw, i}};
}

// The documented layout of kMatrix, element by element.
std::vector<float> MatrixByDefinition(const std::vector<float>& w, int outputs, int taps, int inputs, int width) {
  const int padded_inputs = (inputs + 3) / 4 * 4, blocks = (outputs + width - 1) / width;
  std::vector<float> packed;
  for (int block = 0; block < blocks; ++block) {
    for (int tap = 0; tap < taps; ++tap) {
      for (int i = 0; i < padded_inputs; ++i) {
        for (int lane = 0; lane < width; ++lane) {
          const int o = block * width + lane;
          packed.push_back(o < outputs && i < inputs ? w[(o * taps + tap) * inputs + i] : 0.0f);
        }
      }
    }
  }
  return packed;
}

struct MatrixSize {
  int outputs, kh, kw, inputs;
};

class PackMatrix : public ::testing::TestWithParam<MatrixSize> {};

TEST_P(PackMatrix, PutsOutputsSideBySideAndPadsWithZeros) {
  const MatrixSize size = GetParam();
  const std::vector<float> weights = RandomFloats(size_t(size.outputs) * size.kh * size.kw * size.inputs, 1);
  for (int width : {4, 16, 32}) {
    EXPECT_EQ(PackedFloats(MatrixRecipe(size.outputs, size.kh, size.kw, size.inputs, width), ElementBytes(weights)),
              MatrixByDefinition(weights, size.outputs, size.kh * size.kw, size.inputs, width))
        << "width " << width;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, PackMatrix,
                         ::testing::Values(MatrixSize{1, 1, 1, 1}, MatrixSize{16, 1, 1, 16}, MatrixSize{17, 1, 1, 19},
                                           MatrixSize{32, 3, 3, 3}, MatrixSize{5, 2, 3, 33}, MatrixSize{64, 1, 1, 128},
                                           MatrixSize{1001, 1, 1, 20}));

// As the reference reads them: a grid is of integers.
TEST(Pack, HalvesThatNameAScaleAreTheNumbersThatTheyAre) {
  const TensorDesc halves{DType::kFloat16, Shape{4}, Quantization{{0.5f}, {3}, 0}};
  const PackRecipe recipe{PackLayout::kLinear, halves, 4, {4, 1, 1, 1}};
  EXPECT_EQ(PackedFloats(recipe, ElementBytes(std::vector<uint16_t>{0x3c00, 0xc000, 0x0001, 0x8000})),
            (std::vector<float>{1.0f, -2.0f, 0x1p-24f, -0.0f}));
}

TEST(Pack, DepthwiseWeightsBecomeGroupsOfFourChannels) {
  const int kh = 3, kw = 2, channels = 6;
  const std::vector<float> weights = RandomFloats(kh * kw * channels, 2);
  const PackRecipe recipe{
      PackLayout::kDepthwise, {DType::kFloat32, Shape{1, kh, kw, channels}, {}}, 4, {1, kh, kw, channels}};
  std::vector<float> expected;
  for (int c = 0; c < 8; c += 4) {
    for (int tap = 0; tap < kh * kw; ++tap) {
      for (int lane = c; lane < c + 4; ++lane) {
        expected.push_back(lane < channels ? weights[tap * channels + lane] : 0.0f);
      }
    }
  }
  EXPECT_EQ(PackedFloats(recipe, ElementBytes(weights)), expected);
}

TEST(Pack, ActivationsBecomeSlicesOverAllBatches) {
  const int b = 2, h = 3, w = 2, channels = 5;
  const std::vector<float> values = RandomFloats(b * h * w * channels, 3);
  const PackRecipe recipe{PackLayout::kSlices, {DType::kFloat32, Shape{b, h, w, channels}, {}}, 4, {b, h, w, channels}};
  const std::vector<float> packed = PackedFloats(recipe, ElementBytes(values));
  ASSERT_EQ(packed.size(), size_t{2 * b * h * w * 4});
  for (int c = 0; c < 8; ++c) {
    for (int pixel = 0; pixel < b * h * w; ++pixel) {
      EXPECT_EQ(packed[((c / 4) * b * h * w + pixel) * 4 + c % 4], c < channels ? values[pixel * channels + c] : 0.0f);
    }
  }
}

TEST(Pack, LinearIsPaddedToTheWidth) {
  for (int n : {1, 4, 15, 16, 1024, 1025, 1040}) {
    const std::vector<float> bias = RandomFloats(n, 4);
    const PackRecipe recipe{PackLayout::kLinear, {DType::kFloat32, Shape{n}, {}}, 16, {n, 1, 1, 1}};
    std::vector<float> expected = bias;
    expected.resize((n + 15) / 16 * 16);
    EXPECT_EQ(PackedFloats(recipe, ElementBytes(bias)), expected) << n;
  }
}

// ---- Element types ----

PackRecipe LinearRecipe(TensorDesc source, int n) {
  return {PackLayout::kLinear, std::move(source), 4, {n, 1, 1, 1}};
}

Quantization PerTensor(float scale, int64_t zero_point) {
  return {{scale}, {zero_point}, 0};
}

TEST(Pack, ReadsEveryIntegerTypeThroughItsQuantization) {
  const std::vector<float> expected = {-0.5f, 0.0f, 0.5f, 1.0f};  // 0.5 * (stored - 3)
  const auto packed = [&](DType dtype, const std::vector<std::byte>& bytes) {
    return PackedFloats(LinearRecipe({dtype, Shape{4}, PerTensor(0.5f, 3)}, 4), bytes);
  };
  EXPECT_EQ(packed(DType::kInt8, ElementBytes<int8_t>({2, 3, 4, 5})), expected);
  EXPECT_EQ(packed(DType::kUInt8, ElementBytes<uint8_t>({2, 3, 4, 5})), expected);
  EXPECT_EQ(packed(DType::kInt16, ElementBytes<int16_t>({2, 3, 4, 5})), expected);
  EXPECT_EQ(packed(DType::kInt32, ElementBytes<int32_t>({2, 3, 4, 5})), expected);
  EXPECT_EQ(packed(DType::kInt64, ElementBytes<int64_t>({2, 3, 4, 5})), expected);
  EXPECT_EQ(packed(DType::kInt4, ElementBytes<uint8_t>({0x32, 0x54})), expected);
}

TEST(Pack, ExtremesOfSignedAndUnsignedTypesKeepTheirSign) {
  EXPECT_EQ(PackedFloats(LinearRecipe({DType::kInt8, Shape{2}, {}}, 2), ElementBytes<int8_t>({-128, 127})),
            (std::vector<float>{-128, 127, 0, 0}));
  EXPECT_EQ(PackedFloats(LinearRecipe({DType::kUInt8, Shape{2}, {}}, 2), ElementBytes<uint8_t>({0, 255})),
            (std::vector<float>{0, 255, 0, 0}));
  EXPECT_EQ(PackedFloats(LinearRecipe({DType::kInt4, Shape{3}, {}}, 3), ElementBytes<uint8_t>({0x78, 0x0f})),
            (std::vector<float>{-8, 7, -1, 0}));
}

TEST(Pack, PerChannelScalesFollowTheirDimension) {
  const int o = 3, taps = 2, i = 5;
  std::vector<int8_t> stored(o * taps * i);
  for (size_t k = 0; k < stored.size(); ++k) stored[k] = static_cast<int8_t>(k * 7 % 100);
  const std::vector<float> scales = {0.5f, 0.25f, 2.0f};
  PackRecipe recipe = MatrixRecipe(o, 1, taps, i, 4, DType::kInt8);
  recipe.source.quantization = Quantization{scales, {0, 1, 2}, 0};
  std::vector<float> real(stored.size());
  for (size_t k = 0; k < stored.size(); ++k) real[k] = scales[k / (taps * i)] * (stored[k] - int(k / (taps * i)));
  EXPECT_EQ(PackedFloats(recipe, ElementBytes(stored)), MatrixByDefinition(real, o, taps, i, 4));
}

TEST(Pack, PerChannelScalesOfDepthwiseWeightsFollowTheLastDimension) {
  const PackRecipe recipe{PackLayout::kDepthwise,
                          {DType::kInt8, Shape{1, 1, 2, 2}, Quantization{{0.5f, 3.0f}, {0, 0}, 3}},
                          4,
                          {1, 1, 2, 2}};
  EXPECT_EQ(PackedFloats(recipe, ElementBytes<int8_t>({2, 2, 4, 4})), (std::vector<float>{1, 6, 0, 0, 2, 12, 0, 0}));
}

// [O,kh,kw,I] -> [O,I,kh,kw], the order of other model formats.
template <typename T>
std::vector<T> ChannelsBeforePixels(const std::vector<T>& w, int outputs, int taps, int inputs) {
  std::vector<T> moved;
  for (int o = 0; o < outputs; ++o) {
    for (int i = 0; i < inputs; ++i) {
      for (int tap = 0; tap < taps; ++tap) moved.push_back(w[(o * taps + tap) * inputs + i]);
    }
  }
  return moved;
}

PackRecipe InOrderOihw(PackRecipe recipe) {
  const auto [o, kh, kw, i] = recipe.dims;
  recipe.stored = StoredForm{{0, {{o, i * kh * kw}, {kh, kw}, {kw, 1}, {i, kh * kw}}}};
  return recipe;
}

TEST(Pack, FiltersWithChannelsBeforePixelsArePermutedOnTheWay) {
  for (const auto& [o, kh, kw, i] : {MatrixSize{3, 2, 3, 5}, MatrixSize{17, 3, 3, 33}, MatrixSize{4, 1, 1, 8}}) {
    const std::vector<float> w = RandomFloats(static_cast<size_t>(o * kh * kw * i), 31);
    const std::vector<float> moved = ChannelsBeforePixels(w, o, kh * kw, i);
    for (const PackLayout layout : {PackLayout::kMatrix, PackLayout::kSlices, PackLayout::kWinograd}) {
      if (layout == PackLayout::kWinograd && (kh != 3 || kw != 3)) continue;
      for (const StorageType storage : {StorageType::kFloat32, StorageType::kFloat16}) {
        PackRecipe recipe = MatrixRecipe(o, kh, kw, i, 16);
        recipe.layout = layout;
        recipe.storage = storage;
        std::vector<std::byte> expected(recipe.packed_size_bytes()), packed(expected.size());
        ASSERT_TRUE(PackConstant(recipe, ElementBytes(w), expected).ok());
        const Status status = PackConstant(InOrderOihw(recipe), ElementBytes(moved), packed);
        ASSERT_TRUE(status.ok()) << status.message();
        EXPECT_EQ(packed, expected) << "layout " << static_cast<int>(layout) << " of " << o << "x" << i;
      }
    }
  }
}

TEST(Pack, PermutedFiltersKeepTheScalesOfTheirChannels) {
  const int o = 3, taps = 4, i = 5;
  std::vector<int8_t> w(static_cast<size_t>(o * taps * i));
  for (size_t k = 0; k < w.size(); ++k) w[k] = static_cast<int8_t>(k * 7 % 256 - 128);
  PackRecipe recipe = MatrixRecipe(o, 2, 2, i, 4, DType::kInt8);
  recipe.source.quantization = Quantization{{0.5f, 0.25f, 2.0f}, {1, 0, -3}, 0};
  const std::vector<float> expected = PackedFloats(recipe, ElementBytes(w));
  EXPECT_EQ(PackedFloats(InOrderOihw(recipe), ElementBytes(ChannelsBeforePixels(w, o, taps, i))), expected);
}

TEST(Pack, RefusesAnOrderThatIsNoneOfItsDimensions) {
  const PackRecipe good = InOrderOihw(MatrixRecipe(4, 3, 3, 8, 4));
  const std::vector<float> w(4 * 9 * 8);
  std::vector<std::byte> packed(good.packed_size_bytes());
  ASSERT_TRUE(PackConstant(good, ElementBytes(w), packed).ok());
  using Digits = std::vector<StridedView::Digit>;
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max(), kCount = 4 * 9 * 8;
  for (const Digits& digits : {Digits{},
                               {{kCount, 2}},
                               {{kCount - 1, 1}},
                               {{kCount, -1}},
                               {{4, 72}, {9, 9}, {8, 9}},
                               {{kHuge, kHuge}},
                               {{kHuge, 1}, {kHuge, 1}},
                               {{0, 1}},
                               {{kCount, std::numeric_limits<int64_t>::min()}},
                               {{-kCount, 1}},
                               {{-1, 1}, {-kCount, 1}}}) {
    PackRecipe bad = good;
    bad.stored->view.digits = digits;
    EXPECT_EQ(PackConstant(bad, ElementBytes(w), packed).code(), StatusCode::kMalformedInput);
  }
  for (const int64_t base : {int64_t{1}, int64_t{-1}, kHuge, std::numeric_limits<int64_t>::min()}) {
    PackRecipe bad = good;
    bad.stored->view.base = base;
    EXPECT_EQ(PackConstant(bad, ElementBytes(w), packed).code(), StatusCode::kMalformedInput);
  }
}

TEST(Pack, RefusesFactorsOfNoFloats) {
  PackRecipe recipe = MatrixRecipe(4, 1, 1, 8, 4);
  const std::vector<float> w(4 * 8);
  std::vector<std::byte> packed(recipe.packed_size_bytes());
  recipe.stored = StoredForm{{0, {{32, 1}}}, {{true, {1, 2, 3, 4}}}};
  EXPECT_TRUE(PackConstant(recipe, ElementBytes(w), packed).ok());
  for (const StoredForm::Factors& factors : {StoredForm::Factors{true, {1, 2, 3}}, {false, {1, 2, 3}}, {true, {}}}) {
    recipe.stored->factors = {factors};
    EXPECT_EQ(PackConstant(recipe, ElementBytes(w), packed).code(), StatusCode::kMalformedInput);
  }
  recipe = MatrixRecipe(4, 1, 1, 8, 4, DType::kFloat16);
  recipe.stored = StoredForm{{0, {{32, 1}}}, {{true, {1, 2, 3, 4}}}};
  EXPECT_EQ(PackConstant(recipe, ElementBytes(std::vector<uint16_t>(32)), packed).code(), StatusCode::kMalformedInput);
}

TEST(Pack, ReadsUnalignedBytes) {
  const std::vector<float> weights = RandomFloats(20 * 20, 5);
  std::vector<std::byte> shifted(weights.size() * 4 + 1);
  std::memcpy(shifted.data() + 1, weights.data(), weights.size() * 4);
  EXPECT_EQ(PackedFloats(MatrixRecipe(20, 1, 1, 20, 16), std::span(shifted).subspan(1)),
            MatrixByDefinition(weights, 20, 1, 20, 16));
}

TEST(Pack, HalfWeightsAreConverted) {
  std::vector<uint16_t> halves;
  std::vector<float> values = {1.5f, -0.25f, 65504.0f, 0x1p-24f};
  for (float value : values) halves.push_back(FloatToHalf(value));
  EXPECT_EQ(PackedFloats(LinearRecipe({DType::kFloat16, Shape{4}, {}}, 4), ElementBytes(halves)), values);
}

// ---- Errors ----

Status PackInto(const PackRecipe& recipe, size_t source_bytes, size_t packed_bytes) {
  const std::vector<std::byte> source(source_bytes);
  std::vector<std::byte> packed(packed_bytes);
  return PackConstant(recipe, source, packed);
}

TEST(Pack, RefusesSizesThatDoNotFit) {
  const PackRecipe good = MatrixRecipe(4, 1, 1, 4, 4);
  EXPECT_TRUE(PackInto(good, 64, 64).ok());
  EXPECT_FALSE(PackInto(good, 60, 64).ok());
  EXPECT_FALSE(PackInto(good, 64, 60).ok());
  PackRecipe other_dims = good;
  other_dims.dims = {4, 1, 1, 5};
  EXPECT_FALSE(PackInto(other_dims, 64, other_dims.packed_size_bytes()).ok());
}

TEST(Pack, RefusesRecipesThatMakeNoSense) {
  PackRecipe odd_width = MatrixRecipe(4, 1, 1, 4, 5);
  EXPECT_FALSE(PackInto(odd_width, 64, odd_width.packed_size_bytes()).ok());
  PackRecipe floats_as_integers = MatrixRecipe(4, 1, 1, 4, 4);
  floats_as_integers.storage = StorageType::kInt32;
  EXPECT_FALSE(PackInto(floats_as_integers, 64, 64).ok());
  PackRecipe negative = MatrixRecipe(-4, 1, 1, -4, 4);
  EXPECT_EQ(negative.packed_size_bytes(), 0u);
  EXPECT_FALSE(PackInto(negative, 64, 0).ok());
  PackRecipe huge = MatrixRecipe(INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, 16);
  EXPECT_EQ(huge.packed_size_bytes(), 0u);
  EXPECT_FALSE(PackInto(huge, 64, 0).ok());
}

TEST(Pack, RefusesScalesThatDoNotMatchTheShape) {
  PackRecipe recipe = MatrixRecipe(4, 1, 1, 4, 4, DType::kInt8);
  for (int dimension : {-1, 4, 1}) {
    recipe.source.quantization = Quantization{{1, 1, 1, 1}, {0}, dimension};
    EXPECT_EQ(PackInto(recipe, 16, 64).code(), StatusCode::kMalformedInput) << dimension;
  }
  recipe.source.quantization = Quantization{{1, 1, 1}, {0}, 0};
  EXPECT_FALSE(PackInto(recipe, 16, 64).ok());
  recipe.source.quantization = Quantization{{1, 1, 1, 1}, {0, 0}, 0};
  EXPECT_FALSE(PackInto(recipe, 16, 64).ok());
}

TEST(Pack, AnEmptyTensorPacksToNothing) {
  EXPECT_TRUE(PackInto(MatrixRecipe(0, 1, 1, 4, 4), 0, 0).ok());
}

// ---- float16 ----

TEST(Float16, EveryHalfComesBackUnchanged) {
  for (uint32_t half = 0; half < 0x10000; ++half) {
    const float value = HalfToFloat(static_cast<uint16_t>(half));
    if (std::isnan(value)) {
      EXPECT_TRUE((half & 0x7c00) == 0x7c00 && (half & 0x3ff) != 0) << half;
      EXPECT_TRUE(std::isnan(HalfToFloat(FloatToHalf(value)))) << half;
    } else {
      EXPECT_EQ(FloatToHalf(value), half);
    }
  }
}

TEST(Float16, RoundsToTheNearestAndTiesToEven) {
  for (uint32_t half = 0; half < 0x7bff; ++half) {  // between every two neighbours
    const float low = HalfToFloat(static_cast<uint16_t>(half)), high = HalfToFloat(static_cast<uint16_t>(half + 1));
    const float middle = (low + high) / 2;
    ASSERT_EQ(FloatToHalf(middle), half % 2 == 0 ? half : half + 1);
    ASSERT_EQ(FloatToHalf(std::nextafter(middle, low)), half);
    ASSERT_EQ(FloatToHalf(-std::nextafter(middle, high)), 0x8000 | (half + 1));
  }
}

TEST(Float16, OverflowBecomesInfinity) {
  EXPECT_EQ(FloatToHalf(65519.0f), 0x7bff);
  EXPECT_EQ(FloatToHalf(65520.0f), 0x7c00);
  EXPECT_EQ(FloatToHalf(-INFINITY), 0xfc00);
}

// Its product with the other sizes would exceed 64 bits.
TEST(PackRecipe, AWidthThatOnlyADamagedPlanHoldsTakesNoRoom) {
  EXPECT_EQ(MatrixRecipe(1, 1 << 20, 1 << 20, 1, 0x7fffffff).packed_size_bytes(), 0u);
}

}  // namespace
}  // namespace hearth
