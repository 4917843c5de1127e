// Hearth's own functions of single elements on the host, conversions of halves, extremes of rows and moved rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "backends/cpu/host/host_output.h"
#include "tests/testing/one_host_node.h"

namespace hearth {
namespace {

using testing::ExpectAsReference;
using testing::OneHostNode;

void ExpectUnary(UnaryKind kind, const std::vector<float>& numbers, double tolerance) {
  OneHostNode one;
  one.Add(Unary{kind}, {one.Input({static_cast<int32_t>(numbers.size())})});
  for (size_t k = 0; k < numbers.size(); ++k) one.Set(0, static_cast<int64_t>(k), numbers[k]);
  ExpectAsReference(std::move(one), "elementwise", tolerance);
}

// However a thread's part is cut off.
TEST(CpuFunctions, ASineDoesNotDependOnItsNeighbours) {
  std::vector<float> alone, beside;
  for (int k = 0; k < 500; ++k) alone.push_back(0.37f * static_cast<float>(k));
  beside = alone;
  beside.push_back(1e20f);
  std::vector<float> made(alone.size()), made_beside(beside.size());
  for (const UnaryKind kind : {UnaryKind::kSin, UnaryKind::kCos}) {
    ApplyUnary({kind}, alone, made);
    ApplyUnary({kind}, beside, made_beside);
    EXPECT_TRUE(std::equal(made.begin(), made.end(), made_beside.begin()));
    EXPECT_EQ(made_beside.back(), kind == UnaryKind::kSin ? std::sin(1e20f) : std::cos(1e20f));
  }
}

// Rounded once from double: half a unit in the last place of numbers up to 1.
TEST(CpuFunctions, SinesAndCosinesAreExactInTheVectorsRangeAndBeyond) {
  std::vector<float> small, large = {1e9f, -3e30f, INFINITY, -INFINITY, NAN, 0.0f, 1.0f};
  for (int k = -3000; k < 3000; ++k) small.push_back(0.01f * static_cast<float>(k));
  for (int k = 1; k <= 40; ++k) small.push_back(std::ldexp(1.0f, k - 20) * (k % 2 == 0 ? 1.0f : -0.999f));
  for (const UnaryKind kind : {UnaryKind::kSin, UnaryKind::kCos}) {
    ExpectUnary(kind, small, 0x1p-24);
    ExpectUnary(kind, large, 0x1p-23);
  }
}

TEST(CpuFunctions, PowersWithAKnownExponentAreThoseOfC) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> bases = {2, -3, 0.1f, 0.0f, -0.0f, kInfinity, -kInfinity, NAN, 1e-30f, 1e30f, 7.5f};
  for (const float exponent : {2.0f, 3.0f, 0.5f, -0.5f, -1.0f, 2.5f, 0.0f, -7.0f}) {
    OneHostNode one;
    const ValueId base = one.Input({static_cast<int32_t>(bases.size())});
    const ValueId power = one.graph.AddFloatConstant("power", {}, std::array{exponent});
    one.Add(Binary{BinaryKind::kPow}, {base, power});
    for (size_t k = 0; k < bases.size(); ++k) one.Set(0, static_cast<int64_t>(k), bases[k]);
    SCOPED_TRACE(exponent);
    ExpectAsReference(std::move(one), "binary", 0x1p-22);
  }
}

TEST(CpuFunctions, BytesThatStandForThemselvesAreComputedAsTheReferenceDoes) {
  for (const DType dtype : {DType::kInt8, DType::kUInt8}) {
    for (const BinaryKind kind : {BinaryKind::kAdd, BinaryKind::kSub, BinaryKind::kMul, BinaryKind::kMaximum}) {
      OneHostNode one;
      one.Add(Binary{kind}, {one.Input({5, 7}, dtype), one.Input({7}, dtype)}, {dtype});
      ExpectAsReference(std::move(one), "binary");
    }
  }
  for (const BinaryKind kind : {BinaryKind::kEqual, BinaryKind::kNotEqual, BinaryKind::kGreater}) {
    OneHostNode one;
    one.Add(Binary{kind}, {one.Input({5, 7}, DType::kUInt8), one.Input({7}, DType::kUInt8)}, {DType::kBool});
    ExpectAsReference(std::move(one), "binary");
  }
}

TEST(CpuFunctions, HalvesAreConvertedOnWorkers) {
  OneHostNode narrow, wide;
  narrow.Add(Cast{}, {narrow.Input({3, 50})}, {DType::kFloat16});
  wide.Add(Cast{}, {wide.Input({3, 50}, DType::kFloat16)});
  ExpectAsReference(std::move(narrow), "cast");
  ExpectAsReference(std::move(wide), "cast");
}

TEST(CpuFunctions, ExtremesOfRowsOfEachLengthKeepNaNAndInfinities) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const ReduceKind kind : {ReduceKind::kMax, ReduceKind::kMin}) {
    for (const int32_t length : {1, 3, 17, 130}) {
      OneHostNode one;
      one.Add(Reduce{kind, 0b10}, {one.Input({6, length})});
      one.Set(0, 0, NAN);
      one.Set(0, length, -NAN);
      one.Set(0, 2 * length, kInfinity);
      one.Set(0, 3 * length, -kInfinity);
      for (int32_t k = 0; k < length; ++k) one.Set(0, 4 * length + k, -kInfinity);
      for (int32_t k = 0; k < length; ++k) one.Set(0, 5 * length + k, kInfinity);
      ExpectAsReference(std::move(one), "reduce");
    }
  }
}

TEST(CpuFunctions, PlacesOfExtremesInRowsAreTheFirstOnesAndPassOverNaN) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const ArgKind kind : {ArgKind::kMax, ArgKind::kMin}) {
    for (const int32_t length : {1, 2, 19, 130}) {
      OneHostNode one;
      one.Add(ArgReduce{kind, 1}, {one.Input({7, length})}, {DType::kInt32});
      one.Set(0, 0, NAN);
      one.Set(0, 2 * length - 1, NAN);
      one.Set(0, 3 * length - 1, kInfinity);
      one.Set(0, 4 * length - 1, -kInfinity);
      for (int32_t k = 0; k < length; ++k) one.Set(0, 4 * length + k, k % 2 == 0 ? 0.0f : -0.0f);
      for (int32_t k = 0; k < length; ++k) one.Set(0, 5 * length + k, NAN);
      for (int32_t k = 0; k < length; ++k) one.Set(0, 6 * length + k, -kInfinity);
      ExpectAsReference(std::move(one), "search");
    }
  }
}

TEST(CpuFunctions, TheLargestOfRowsKeepTheOrderOfEqualOnesAndPutNaNLast) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const int32_t k : {1, 4, 39, 40}) {
    OneHostNode one;
    one.Add(TopK{k}, {one.Input({4, 40})}, {DType::kFloat32, DType::kInt32});
    for (int32_t i = 0; i < 40; ++i) {
      one.Set(0, i, i % 3 == 0 ? NAN : i % 3 == 1 ? -0.0f : 0.0f);
      one.Set(0, 40 + i, static_cast<float>(i % 5 - 2));
      one.Set(0, 80 + i, i % 2 == 0 ? -kInfinity : NAN);
    }
    one.Set(0, 60, kInfinity);
    ExpectAsReference(std::move(one), "search");
  }
}

TEST(CpuFunctions, ImagesAreSampledAtPointsInsideOnTheEdgeAndOutside) {
  for (const int32_t coordinates : {2, 3}) {
    OneHostNode one;
    const ValueId images = one.Input({2, 4, 5, 7});
    one.Add(Resampler{}, {images, one.Input({2, 3, 40, coordinates})});
    for (int32_t k = 0; k < 240; ++k) {
      one.Set(1, k * coordinates, -1.5f + 0.125f * static_cast<float>(k % 60));
      one.Set(1, k * coordinates + 1, -1.25f + 0.25f * static_cast<float>(k / 8));
    }
    one.Set(1, 0, NAN);
    one.Set(1, coordinates, -std::numeric_limits<float>::infinity());
    ExpectAsReference(std::move(one), "resampler");
  }
}

TEST(CpuFunctions, RowsOfKnownPlacesAreMoved) {
  OneHostNode one;
  const ValueId x = one.Input({3, 5, 2});
  const std::array<int32_t, 8> places = {2, 1, 0, 1, 2, 3, 4, 3};
  const auto bytes = std::as_bytes(std::span(places));
  const ValueId known = one.graph.AddConstantValue("places", {DType::kInt32, {8}, {}}, {bytes.begin(), bytes.end()});
  one.Add(Gather{1, 0}, {x, known});
  ExpectAsReference(std::move(one), "movement");
}

}  // namespace
}  // namespace hearth
