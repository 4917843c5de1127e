// Real numbers to stored ones: one rule, whoever calculates.
#include "core/graph/quantize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string_view>

#include "backends/cpu/host/quantized.h"
#include "backends/cpu/host/vectorized.h"
#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/op.h"
#include "hal/io/slices.h"
#include "runtime/devices/device_choice.h"
#include "tests/testing/run_lowered.h"

namespace hearth {
namespace {

constexpr uint32_t kTiesSeed = 20261122;
constexpr size_t kTies = 4096;

// The rule once more, in float64 but for the multiplication.
double StoredByTheRule(float real, const TensorDesc& desc, bool ties_to_even) {
  const double lowest = desc.dtype == DType::kUInt8 ? 0 : desc.dtype == DType::kInt8 ? -128 : -32768;
  const double highest = desc.dtype == DType::kUInt8 ? 255 : desc.dtype == DType::kInt8 ? 127 : 32767;
  const auto inverse = static_cast<float>(1.0 / static_cast<double>(desc.quantization->scales[0]));
  const float product = real * inverse;
  const auto zero_point = static_cast<double>(desc.quantization->zero_points[0]);
  const double steps = ties_to_even ? std::nearbyint(double{product}) : std::round(double{product});
  return std::isnan(product) ? lowest : std::clamp(steps + zero_point, lowest, highest);
}

struct Ties {
  TensorDesc desc;
  std::vector<float> reals;
};

// Numbers in the middle between two steps, and the floats beside them; some outside of the type's range.
Ties TiesOf(DType dtype, float scale, int64_t zero_point, std::mt19937& random) {
  Ties ties{{dtype, {1, 8, kTies / 64, 8}, Quantization{{scale}, {zero_point}, 0}}, {}};
  std::uniform_int_distribution<int> step(-300, 300);
  for (size_t k = 0; k < kTies; ++k) {
    const float tie = (static_cast<float>(step(random)) + 0.5f) * scale;
    constexpr float kFar = std::numeric_limits<float>::infinity();
    ties.reals.push_back(k % 4 < 2 ? tie : std::nextafter(tie, k % 4 == 2 ? kFar : -kFar));
  }
  return ties;
}

std::vector<Ties> SeededTies() {
  std::mt19937 random(kTiesSeed);
  std::uniform_real_distribution<float> exponent(-9, 2);
  std::vector<Ties> all;
  for (int k = 0; k < 12; ++k) {
    all.push_back(TiesOf(DType::kInt8, std::exp2(exponent(random)), static_cast<int>(random() % 256) - 128, random));
    all.push_back(TiesOf(DType::kUInt8, std::exp2(exponent(random)), static_cast<int>(random() % 256), random));
    all.push_back(TiesOf(DType::kInt16, std::exp2(exponent(random)), 0, random));
  }
  all.push_back(TiesOf(DType::kInt8, 0.25f, 0, random));
  return all;
}

std::vector<double> StoredByTheRule(const Ties& ties, bool ties_to_even = false) {
  std::vector<double> stored;
  for (float real : ties.reals) stored.push_back(StoredByTheRule(real, ties.desc, ties_to_even));
  return stored;
}

std::vector<double> NumbersIn(const TensorDesc& desc, std::span<const std::byte> bytes) {
  TensorDesc plain = desc;
  plain.quantization.reset();
  return ReferenceFromBytes(plain, bytes).value().values;
}

// TensorFlow's converter makes such a grid for x - x, which Keras' isfinite compares with 0.
TEST(Quantize, KeepsZeroOnAGridWhoseInverseIsNoFloat) {
  const TensorGrid grid = GridOf(DType::kInt16, 3.587e-43f, 0);
  EXPECT_EQ(StepsOf(0.0f, grid), 0.0f);
  EXPECT_EQ(StepsOf(1.0f, grid), 32767.0f);
  EXPECT_EQ(StepsOf(-1.0f, grid), -32768.0f);
}

TEST(Quantize, HalvesGoAwayFromZeroAndWhatLiesBelowThemDoesNot) {
  const TensorGrid grid = GridOf(DType::kInt16, 1.0f, 0);
  for (float whole = 0; whole < 32000; whole = whole * 2 + 1) {
    EXPECT_EQ(StepsOf(whole + 0.5f, grid), static_cast<int32_t>(whole) + 1);
    EXPECT_EQ(StepsOf(-whole - 0.5f, grid), -static_cast<int32_t>(whole) - 1);
    EXPECT_EQ(StepsOf(std::nextafter(whole + 0.5f, 0.0f), grid), static_cast<int32_t>(whole));
    EXPECT_EQ(StepsOf(std::nextafter(-whole - 0.5f, 0.0f), grid), -static_cast<int32_t>(whole));
  }
}

TEST(Quantize, WhatATypeDoesNotHoldIsClampedAndNotANumberIsItsLowest) {
  const TensorGrid grid = GridOf(DType::kInt8, 0.5f, 10);
  EXPECT_EQ(StoredNumber(1e30, grid), 127);
  EXPECT_EQ(StoredNumber(-1e30, grid), -128);
  EXPECT_EQ(StoredNumber(NAN, grid), -128);
  EXPECT_EQ(StoredNumber(NAN, GridOf(DType::kInt32, 0.5f, 0)), -2147483648.0);
  EXPECT_EQ(StoredNumber(3.0, GridOf(DType::kInt8, 0.0f, 7)), 7) << "a channel of zeros";
}

TEST(Quantize, NumbersOf32BitsAreExact) {
  const TensorGrid grid = GridOf(DType::kInt32, 0.125f, 0);
  EXPECT_EQ(StoredNumber(2000000001 * 0.125, grid), 2000000001.0);
  EXPECT_EQ(StoredNumber(16777217 * 0.125 + 0.0625, grid), 16777218.0);
}

TEST(Quantize, TheCpusVectorsTheHostsCopiesAndTheReferenceFollowTheRuleOnTies) {
  for (const Ties& ties : SeededTies()) {
    SCOPED_TRACE(::testing::Message() << "seed " << kTiesSeed << ", " << DTypeName(ties.desc.dtype) << " scale "
                                      << ties.desc.quantization->scales[0]);
    const std::vector<double> expected = StoredByTheRule(ties);
    std::vector<std::byte> stored(ties.desc.size_bytes());
    ToStored(ties.desc, ties.reals, stored);
    EXPECT_EQ(NumbersIn(ties.desc, stored), expected) << "the CPU";
    const TensorDesc floats{DType::kFloat32, ties.desc.shape, {}};
    std::vector<std::byte> slices(kTies * sizeof(float));
    DenseToSlices(floats, StorageType::kFloat32, std::as_bytes(std::span(ties.reals)), slices);
    SlicesToDense(ties.desc, StorageType::kFloat32, slices, stored);
    EXPECT_EQ(NumbersIn(ties.desc, stored), expected) << "copies from a device";
    const ReferenceTensor reals{ties.desc.shape, {ties.reals.begin(), ties.reals.end()}, std::nullopt};
    ASSERT_TRUE(ReferenceToBytes(reals, ties.desc, stored).ok());
    EXPECT_EQ(NumbersIn(ties.desc, stored), expected) << "the reference";
  }
}

std::vector<double> StepsInVectors(VectorSet set, const Ties& ties) {
  const TensorGrid grid = GridOf(ties.desc);
  std::vector<int32_t> steps(ties.reals.size());
  const auto all = [&]() HEARTH_INTO_CALLER {
    for (size_t i = 0; i < steps.size(); ++i) steps[i] = StepsOf(ties.reals[i], grid);
  };
  RunIn(set, all);
  std::vector<double> stored;
  for (int32_t count : steps) stored.push_back(static_cast<double>(count + grid.zero_point));
  return stored;
}

TEST(Quantize, EachSetOfVectorInstructionsFollowsTheRuleOnTies) {
  for (const Ties& ties : SeededTies()) {
    for (const VectorSet set : {VectorSet::kBase, VectorSet::kAvx2, VectorSet::kAvx512}) {
      if (set > BestVectorSet()) continue;
      EXPECT_EQ(StepsInVectors(set, ties), StoredByTheRule(ties)) << "set " << static_cast<int>(set);
    }
  }
}

class QuantizeOn : public ::testing::TestWithParam<const char*> {
 protected:
  // What the device makes of the numbers with a QUANTIZE.
  Result<std::vector<double>> Quantized(const OpenedDevice& opened, const Ties& ties) {
    Graph graph;
    const ValueId x = graph.AddValue({.name = "x", .desc = {DType::kFloat32, ties.desc.shape, {}}});
    const ValueId y = graph.AddValue({.name = "y", .desc = ties.desc});
    graph.AddNode({.op = Unary{UnaryKind::kQuantize}, .inputs = {x}, .outputs = {y}, .name = "quantize"});
    graph.inputs = {x};
    graph.outputs = {y};
    HEARTH_ASSIGN(const std::vector<std::byte> stored,
                  testing::RunLowered(opened, graph, {}, std::as_bytes(std::span(ties.reals))));
    return NumbersIn(ties.desc, stored);
  }
};

// On the CPU QUANTIZE to 8 bits follows XNNPACK.
TEST_P(QuantizeOn, TiesFollowTheRule) {
  const Result<OpenedDevice> opened = OpenChosenDevice(GetParam());
  if (!opened.ok()) GTEST_SKIP() << opened.status().message();
  std::vector<Ties> some = SeededTies();
  some.resize(9);  // each compiles a kernel
  for (const Ties& ties : some) {
    const Result<std::vector<double>> stored = Quantized(*opened, ties);
    ASSERT_TRUE(stored.ok()) << stored.status().message();
    const bool ties_to_even = std::string_view(GetParam()) == "cpu" && ties.desc.dtype != DType::kInt16;
    EXPECT_EQ(*stored, StoredByTheRule(ties, ties_to_even))
        << "seed " << kTiesSeed << ", " << DTypeName(ties.desc.dtype) << " scale " << ties.desc.quantization->scales[0];
  }
}

// Between 2^22 and 2^23 floats are halves apart, up to 2^24 wholes.
TEST_P(QuantizeOn, LargeWholeNumbersAndHalvesFollowTheRule) {
  const Result<OpenedDevice> opened = OpenChosenDevice(GetParam());
  if (!opened.ok()) GTEST_SKIP() << opened.status().message();
  Ties large{{DType::kInt32, {1, 8, kTies / 64, 8}, Quantization{{1.0f}, {0}, 0}}, {}};
  std::vector<double> expected;
  for (size_t k = 0; k < kTies; ++k) {
    const float real = std::ldexp(1.0f, 22) + static_cast<float>(k) * (k % 2 == 0 ? 0.5f : 2047.0f);
    large.reals.push_back(k % 4 < 2 ? real : -real);
    expected.push_back(std::round(double{large.reals.back()}));
  }
  const Result<std::vector<double>> stored = Quantized(*opened, large);
  ASSERT_TRUE(stored.ok()) << stored.status().message();
  EXPECT_EQ(*stored, expected);
}

INSTANTIATE_TEST_SUITE_P(Devices, QuantizeOn, ::testing::Values("cpu", "opencl", "vulkan", "gles"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hearth
