// Kernels on 8-bit numbers against plain loops, in every instruction set that this machine has.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "backends/cpu/integer/counted_product.h"
#include "backends/cpu/integer/depthwise_kernel.h"
#include "backends/cpu/integer/matrix_kernel.h"
#include "core/graph/ops/recurrent.h"

namespace hearth {
namespace {

std::vector<IntegerSet> SetsOfThisMachine() {
  switch (BestIntegerSet()) {
    case IntegerSet::kVnni: return {IntegerSet::kVnni, IntegerSet::kAvx2};
    case IntegerSet::kAvx2: return {IntegerSet::kAvx2};
    default: return {};
  }
}

std::vector<uint8_t> RandomBytes(size_t count, std::mt19937& random) {
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

// Inputs and weights with or without a sign, with or without zero points of the weights.
IntegerLayer LayerOf(int32_t channels, bool is_signed, bool has_zero_points, std::mt19937& random) {
  const bool are_all_alike = random() % 2 == 0;
  IntegerLayer layer;
  layer.input_is_signed = is_signed;
  layer.weights_are_signed = is_signed;
  layer.input_zero_point = 131;
  layer.lowest = -90;
  layer.highest = 110;
  layer.output_zero_point = 17;
  for (int32_t c = 0; c < channels; ++c) {
    layer.weight_zero_points.push_back(!has_zero_points ? 0 : are_all_alike ? -7 : 5 - c);
    layer.biases.push_back(static_cast<int32_t>(random() % 4001) - 2000);
    layer.multipliers.push_back(0.0013f + 0.0001f * static_cast<float>(c % 5));
  }
  return layer;
}

// What the kernels are to store for a sum of products: in float32, ties to even.
uint8_t Stored(const IntegerLayer& layer, int32_t channel, int64_t sum) {
  const auto whole = static_cast<float>(sum + layer.biases[static_cast<size_t>(channel)]);
  const float steps = whole * layer.multipliers[static_cast<size_t>(channel)];
  return static_cast<uint8_t>(static_cast<int32_t>(std::nearbyint(std::clamp(steps, layer.lowest, layer.highest))) +
                              layer.output_zero_point);
}

int64_t Product(const IntegerLayer& layer, uint8_t x, std::byte w, int32_t channel) {
  const int64_t real_x = static_cast<uint8_t>(x ^ (layer.input_is_signed ? 0x80 : 0)) - layer.input_zero_point;
  return real_x * (layer.PackedWeight(w) - layer.weight_zero_points[static_cast<size_t>(channel)]);
}

// Rows of `pieces` pieces, which lie `piece_step` bytes apart.
void ExpectProductsOfPlainLoops(IntegerSet set, int32_t channels, int32_t depth, int32_t pieces, WeightsPlace place,
                                std::mt19937& random) {
  const bool is_signed = depth % 2 == 0, has_zero_points = channels % 2 == 0;
  const int64_t rows = 1 + static_cast<int64_t>(random() % 15), piece_step = rows * depth + 3;
  const IntegerLayer layer = LayerOf(channels, is_signed, has_zero_points, random);
  // Rows of packed weights are read a little past their end.
  const std::vector<uint8_t> x = RandomBytes(static_cast<size_t>(pieces * piece_step + 4), random);
  const std::vector<uint8_t> w = RandomBytes(static_cast<size_t>(channels * depth * pieces), random);
  const IntegerWeights weights{std::as_bytes(std::span(w)), channels, depth * pieces, depth * pieces, 1};
  const PackedMatrix packed = PackMatrix(layer, weights, place, depth, set);
  std::vector<uint8_t> out(static_cast<size_t>(rows * channels), 77);
  std::vector<int32_t> sums(static_cast<size_t>(rows));
  std::vector<const uint8_t*> addresses;
  for (int32_t piece = 0; piece < pieces; ++piece) addresses.push_back(x.data() + piece * piece_step);
  MatrixTask task;
  task.pieces = addresses;
  task.row_stride = depth;
  task.row_count = rows;
  task.flips_sign = is_signed;
  task.weights = packed.weights.data();
  task.model_weights = place == WeightsPlace::kModel ? weights.bytes.data() : nullptr;
  task.depth = depth;
  task.flips_weights = !layer.weights_are_signed;
  task.end_block = (channels + kBlockChannels - 1) / kBlockChannels;
  task.channels = channels;
  task.terms = &packed.terms;
  task.out = out.data();
  task.out_stride = channels;
  SumRows(task, packed.row_factor != 0 ? packed.row_factor : 1, sums.data(), set);
  if (packed.needs_row_sums()) task.row_sums = sums.data();
  std::vector<int16_t> wide(static_cast<size_t>(WideNumbers(task, set)));
  task.wide = wide.data();
  MultiplyRows(task, set);
  std::vector<int32_t> plain(out.size(), 77);
  task.sums = plain.data();
  MultiplyRows(task, set);
  std::vector<float> reals(place == WeightsPlace::kModel ? out.size() : 0, 77.0f);
  task.reals = reals.data();
  if (!reals.empty()) MultiplyRows(task, set);
  for (int64_t row = 0; row < rows; ++row) {
    for (int32_t c = 0; c < channels; ++c) {
      int64_t sum = 0;
      for (int32_t k = 0; k < depth * pieces; ++k) {
        const int64_t at = k / depth * piece_step + row * depth + k % depth;
        sum += Product(layer, x[static_cast<size_t>(at)], weights.at(c, k), c);
      }
      ASSERT_EQ(out[static_cast<size_t>(row * channels + c)], Stored(layer, c, sum))
          << "set " << static_cast<int>(set) << ", place " << static_cast<int>(place) << ", " << channels
          << " channels, " << pieces << " pieces, depth " << depth << ", row " << row << ", channel " << c;
      ASSERT_EQ(plain[static_cast<size_t>(row * channels + c)], sum + layer.biases[static_cast<size_t>(c)])
          << "set " << static_cast<int>(set) << ", " << channels << " channels, depth " << depth << ", row " << row;
      if (reals.empty()) continue;
      const auto whole = static_cast<float>(sum + layer.biases[static_cast<size_t>(c)]);
      ASSERT_EQ(reals[static_cast<size_t>(row * channels + c)], whole * layer.multipliers[static_cast<size_t>(c)])
          << "set " << static_cast<int>(set) << ", " << channels << " channels, depth " << depth << ", row " << row;
    }
  }
}

TEST(CpuIntegerKernels, ProductsOfRowsAreThoseOfPlainLoops) {
  if (SetsOfThisMachine().empty()) GTEST_SKIP() << "this processor has no AVX2: layers run in floats";
  std::mt19937 random(20260403);
  for (const IntegerSet set : SetsOfThisMachine()) {
    for (const int32_t channels : {1, 16, 30, 47, 64, 81, 96}) {
      for (const int32_t depth : {1, 4, 27, 32, 64, 65, 200}) {
        for (const WeightsPlace place : {WeightsPlace::kPacked, WeightsPlace::kModel})
          ExpectProductsOfPlainLoops(set, channels, depth, 1, place, random);
      }
    }
  }
}

TEST(CpuIntegerKernels, ProductsOfRowsInPiecesAreThoseOfPlainLoops) {
  if (SetsOfThisMachine().empty()) GTEST_SKIP() << "this processor has no AVX2: layers run in floats";
  std::mt19937 random(20261124);
  for (const IntegerSet set : SetsOfThisMachine()) {
    for (const int32_t channels : {1, 30, 64, 81}) {
      for (const int32_t depth : {3, 9, 48, 65}) {
        for (const int32_t pieces : {2, 3, 9})
          ExpectProductsOfPlainLoops(set, channels, depth, pieces, WeightsPlace::kPacked, random);
      }
    }
  }
}

TEST(CpuIntegerKernels, WeightsOfFewRowsStayInTheModel) {
  std::mt19937 random(20261123);
  const std::vector<uint8_t> w = RandomBytes(20 * 7, random);
  const IntegerWeights rows{std::as_bytes(std::span(w)), 20, 7, 7, 1},
      columns{std::as_bytes(std::span(w)), 20, 7, 1, 20};
  EXPECT_EQ(PlaceOf(rows, 1), WeightsPlace::kModel);
  EXPECT_EQ(PlaceOf(rows, 100), WeightsPlace::kPacked);
  EXPECT_EQ(PlaceOf(columns, 1), WeightsPlace::kPacked) << "the depth does not lie in a row";
  EXPECT_TRUE(
      PackMatrix(LayerOf(20, true, false, random), rows, WeightsPlace::kModel, 7, IntegerSet::kAvx2).weights.empty());
}

TEST(CpuIntegerKernels, DeepSumsOfTheLargestBytesAreExact) {
  if (SetsOfThisMachine().empty()) GTEST_SKIP() << "this processor has no AVX2: layers run in floats";
  constexpr int32_t kDepth = 9001, kChannels = 5;
  const std::vector<uint8_t> x(kDepth, 255);
  const uint8_t* const row = x.data();
  Requantization terms;
  terms.offsets.assign(kBlockChannels, 3);
  terms.multipliers.assign(kBlockChannels, 1.0f);
  for (const IntegerSet set : SetsOfThisMachine()) {
    for (const int32_t weight : {-128, 127}) {
      const std::vector<std::byte> weights(size_t{kDepth} * kChannels, static_cast<std::byte>(weight));
      std::vector<float> reals(kChannels);
      MatrixTask task;
      task.pieces = {&row, 1};
      task.row_count = 1;
      task.row_stride = task.depth = kDepth;
      task.model_weights = weights.data();
      task.end_block = 1;
      task.channels = kChannels;
      task.terms = &terms;
      task.reals = reals.data();
      MultiplyByModelWeights(task, set);
      EXPECT_EQ(reals, std::vector<float>(kChannels, static_cast<float>(kDepth * 255 * weight + 3)));
    }
  }
}

TEST(CpuIntegerKernels, NumbersAreCountedInBytesAsInFloats) {
  if (SetsOfThisMachine().empty()) GTEST_SKIP() << "this processor has no AVX2: steps are counted in floats";
  WorkerPool workers(2, 2);
  std::mt19937 random(20261129);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float special : {0.0f, -0.0f, 3.0f, -3.0f, 1e-44f, 3e38f, -3e38f, kInfinity}) {
    for (const size_t count : {0, 1, 7, 8, 15, 16, 17, 40, 100}) {
      for (const auto& [low, high] : {std::pair(-1.0f, 1.0f), {0.0f, 1e-40f}, {-7.0f, -2.0f}, {0.5f, 9.0f}}) {
        std::uniform_real_distribution<float> numbers(low, high);
        std::vector<float> x(count), wanted(count);
        for (float& number : x) number = numbers(random);
        if (count > 7) x[random() % count] = special;
        std::vector<uint8_t> bytes(count);
        const auto [step, zero, are_finite] = CountBytes(x, bytes, workers);
        ASSERT_EQ(step, CountSteps<float>(x, wanted).step);
        for (size_t k = 0; k < count; ++k) {
          if (x[k] == kInfinity) continue;
          ASSERT_EQ(static_cast<float>(bytes[k] - zero), wanted[k]) << x[k] << " of " << count;
        }
      }
    }
  }
  const std::vector<float> below = {1.0f, -kInfinity, 2.0f};
  std::vector<uint8_t> bytes(below.size());
  EXPECT_TRUE(std::isnan(CountBytes(below, bytes, workers).step));
}

TEST(CpuIntegerKernels, DepthwiseSumsAreThoseOfPlainLoops) {
  if (SetsOfThisMachine().empty()) GTEST_SKIP() << "this processor has no AVX2: layers run in floats";
  std::mt19937 random(20260404);
  for (const IntegerSet set : SetsOfThisMachine()) {
    for (const int32_t channels : {1, 16, 33, 64, 150}) {
      for (const int32_t taps : {1, 4, 9, 25}) {
        const bool is_signed = channels % 2 == 0, has_zero_points = taps % 2 == 1;
        constexpr int64_t kPixels = 3;
        const IntegerLayer layer = LayerOf(channels, is_signed, has_zero_points, random);
        const std::vector<uint8_t> x = RandomBytes(static_cast<size_t>(taps * kPixels * channels), random);
        const std::vector<uint8_t> w = RandomBytes(static_cast<size_t>(taps * channels), random);
        const IntegerWeights weights{std::as_bytes(std::span(w)), channels, taps, 1, channels};
        const DepthwiseWeights packed = PackDepthwise(layer, weights, set);
        std::vector<const uint8_t*> addresses;
        for (int64_t pixel = 0; pixel < kPixels; ++pixel) {
          for (int32_t tap = 0; tap < packed.tap_steps() * kDepthStep; ++tap) {
            addresses.push_back(x.data() + (tap < taps ? (pixel * taps + tap) * channels : 0));
          }
        }
        std::vector<uint8_t> out(static_cast<size_t>(kPixels * channels), 77);
        ConvolvePixels({addresses.data(), kPixels, is_signed, &packed, out.data()}, set);
        for (int64_t pixel = 0; pixel < kPixels; ++pixel) {
          for (int32_t c = 0; c < channels; ++c) {
            int64_t sum = 0;
            for (int32_t tap = 0; tap < taps; ++tap) {
              const uint8_t stored = x[static_cast<size_t>((pixel * taps + tap) * channels + c)];
              sum += Product(layer, stored, weights.at(c, tap), c);
            }
            ASSERT_EQ(out[static_cast<size_t>(pixel * channels + c)], Stored(layer, c, sum))
                << "set " << static_cast<int>(set) << ", " << channels << " channels, " << taps << " taps, pixel "
                << pixel << ", channel " << c;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace hearth
