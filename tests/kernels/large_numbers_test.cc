// Functions of numbers that a driver's own functions are not made for (far beyond 1, next to 0, zeros with their signs,
// infinities): as in the float64 reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "core/graph/op_text.h"
#include "runtime/devices/device_choice.h"
#include "tests/testing/on_device.h"
#include "tests/testing/one_input.h"

namespace hearth {
namespace {

using testing::OneInputGraph;

class LargeNumbers : public testing::OnDevice {
 protected:
  // Within `tolerance` times the reference's number where that is beyond 1.
  void ExpectAsReference(const Op& op, const std::vector<float>& a, const std::vector<float>& b, double tolerance) {
    OneInputGraph made({static_cast<int32_t>(a.size())});
    made.x = a;
    std::vector<ValueId> inputs = {made.input()};
    if (!b.empty()) inputs.push_back(made.ConstantOf({static_cast<int32_t>(b.size())}, b));
    made.Node(op, inputs);
    const Result<testing::TwoAnswers> answers = AnswersOf(opened_, made, Precision::kFp32);
    ASSERT_TRUE(answers.ok()) << answers.status().message();
    for (size_t i = 0; i < a.size(); ++i) {
      const double expected = answers->reference[i];
      if (std::isinf(expected) ? answers->device[i] == expected
                               : std::isnan(expected) && std::isnan(answers->device[i]))
        continue;
      EXPECT_NEAR(answers->device[i], expected, tolerance * std::max(1.0, std::fabs(expected)))
          << OpName(op) << " " << AttributesToText(op) << " of " << a[i] << (b.empty() ? "" : " and ")
          << (b.empty() ? 0.0f : b[i]);
    }
  }
};

TEST_P(LargeNumbers, HaveTheirOwnSineAndCosine) {
  std::vector<float> angles;
  for (float angle = 1000.0f; angle < 3e38f; angle *= 1.37f) {
    angles.push_back(angle);
    angles.push_back(-angle);
  }
  angles.insert(angles.end(), {8191.9995f, 8192.0f, -8192.0f, 16777216.0f, 2147483648.0f, 3.4028235e38f});
  for (const UnaryKind kind : {UnaryKind::kSin, UnaryKind::kCos}) ExpectAsReference(Unary{kind}, angles, {}, 2e-6);
}

TEST_P(LargeNumbers, DivideWhatIsSmallBesideThemDownwards) {
  const std::vector<float> a = {-0.5f, 0.5f, -1.0f, 1.0f, -7.0f, 100.25f, -0.5f, 0.5f, 1e-30f, -1e-30f, 6.0f, -6.0f};
  const std::vector<float> b = {16777216.0f, -8388610.0f, 1e10f, 1e10f, 3e38f, -1e30f,
                                -1e10f,      8388608.0f,  -7.0f, 7.0f,  3.0f,  3.0f};
  for (const BinaryKind kind : {BinaryKind::kFloorDiv, BinaryKind::kFloorMod})
    ExpectAsReference(Binary{.kind = kind}, a, b, 1e-6);
}

// However many digits of it are lost.
TEST_P(LargeNumbers, LeaveRemaindersThatAreSmallerThanTheDivisor) {
  OneInputGraph made({6});
  made.x = {1e10f, 1e20f, 3e30f, -1e10f, -1e20f, 3e38f};
  made.Node(Binary{.kind = BinaryKind::kFloorMod},
            {made.input(), made.ConstantOf({6}, std::vector{1.5f, 7.3f, 1e4f, 1.1f, 0.3f, -103.5f})});
  const Result<testing::TwoAnswers> answers = AnswersOf(opened_, made, Precision::kFp32);
  ASSERT_TRUE(answers.ok()) << answers.status().message();
  const std::vector<float> sizes = {1.5f, 7.3f, 1e4f, 1.1f, 0.3f, 103.5f};
  for (size_t i = 0; i < sizes.size(); ++i) EXPECT_LE(std::fabs(answers->device[i]), sizes[i]) << made.x[i];
}

TEST_P(LargeNumbers, AsPowersOfOneAreOne) {
  const float infinity = std::numeric_limits<float>::infinity();
  ExpectAsReference(Binary{.kind = BinaryKind::kPow}, {1.0f, 1.0f, -1.0f, -1.0f, 1.0f},
                    {infinity, -infinity, infinity, -infinity, 3e38f}, 1e-6);
}

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST_P(LargeNumbers, HaveExactRemaindersAndFlooredQuotients) {
  const std::vector<float> a = {0x1p31f, -0x1p31f, 1.0f, -1.0f, 1e10f, -1e20f, 3e38f, 1e-30f, 7.0f, -7.0f, kInf, 1.0f};
  const std::vector<float> b = {3.0f, 3.0f, 0.1f, 0.1f, 1.5f, 7.3f, -103.5f, 1e-38f, kInf, kInf, 2.0f, -0.1f};
  ExpectAsReference(Binary{.kind = BinaryKind::kFloorMod}, a, b, 1e-6);
  ExpectAsReference(Binary{.kind = BinaryKind::kFloorDiv}, a, b, 1e-6);
}

TEST_P(LargeNumbers, AndZerosAndInfinitiesHaveTheDirectionsOfC) {
  const std::vector<float> numbers = {0.0f, -0.0f, 1.0f, -1.0f, 3.0f, 1e30f, -1e-30f, kInf, -kInf};
  std::vector<float> a, b;
  for (const float y : numbers) {
    a.insert(a.end(), numbers.size(), y);
    b.insert(b.end(), numbers.begin(), numbers.end());
  }
  ExpectAsReference(Binary{.kind = BinaryKind::kAtan2}, a, b, 1e-6);
}

TEST_P(LargeNumbers, AndInfinitiesAndZerosHaveThePowersOfC) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  ExpectAsReference(Binary{.kind = BinaryKind::kPow},
                    {-kInf, -kInf, -kInf, -kInf, -kInf, -0.0f, -0.0f, -0.0f, 0.0f, -2.0f, 1.0f, nan, -8.0f},
                    {0.5f, -0.5f, 3.0f, 2.0f, -3.0f, -1.0f, 0.5f, 3.0f, -0.5f, 0.5f, nan, 0.0f, 3.0f}, 1e-5);
}

TEST_P(LargeNumbers, LeaveSmallAnglesBesideThemAlone) {
  for (const UnaryKind kind : {UnaryKind::kSin, UnaryKind::kCos})
    ExpectAsReference(Unary{kind}, {1e-3f, 1e10f, 1.0f, 1e-20f, 3e38f, 0.01f, 1e-6f, kInf}, {}, 1e-6);
}

TEST_P(LargeNumbers, AreCastToAllBitsOfAnIntegerAndNanToTheHighest) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const DType type : {DType::kInt8, DType::kUInt8, DType::kInt16, DType::kInt32, DType::kInt64}) {
    OneInputGraph made({8});
    made.x = {1e10f, -1e10f, 0x1p31f, nan, kInf, -kInf, 1e19f, -2.5f};
    made.Node(Cast{DType::kFloat32}, {made.Node(Cast{type}, {made.input()}, type)});
    const Result<testing::TwoAnswers> answers = AnswersOf(opened_, made, Precision::kFp32);
    ASSERT_TRUE(answers.ok()) << answers.status().message();
    for (size_t i = 0; i < made.x.size(); ++i) EXPECT_EQ(answers->device[i], static_cast<float>(answers->reference[i]));
    EXPECT_EQ(answers->device[3], answers->device[4]);
  }
}

TEST_P(LargeNumbers, OfIntegersToNegativePowersAreTruncated) {
  OneInputGraph made({4});
  made.x = {0.0f, 2.0f, -1.0f, 1.0f};
  const ValueId base = made.Node(Cast{DType::kInt32}, {made.input()}, DType::kInt32);
  const ValueId exponent = made.Node(Binary{.kind = BinaryKind::kSub}, {base, base}, DType::kInt32);
  const ValueId one = made.Node(Cast{DType::kInt32}, {made.ConstantOf({4}, std::vector(4, 1.0f))}, DType::kInt32);
  const ValueId negative = made.Node(Binary{.kind = BinaryKind::kSub}, {exponent, one}, DType::kInt32);
  const ValueId power = made.Node(Binary{.kind = BinaryKind::kPow}, {base, negative}, DType::kInt32);
  made.Node(Cast{DType::kFloat32}, {power});
  const Result<testing::TwoAnswers> answers = AnswersOf(opened_, made, Precision::kFp32);
  ASSERT_TRUE(answers.ok()) << answers.status().message();
  EXPECT_EQ(answers->device, (std::vector{0.0f, 0.0f, -1.0f, 1.0f}));
}

// Calculated on with what the type holds: each result is an operand of the next.
TEST_P(LargeNumbers, OfIntegersOf8And16BitsWrap) {
  using Kinds = std::vector<BinaryKind>;
  const Kinds kinds = {BinaryKind::kAdd,  BinaryKind::kSub,      BinaryKind::kMul,      BinaryKind::kDiv,
                       BinaryKind::kPow,  BinaryKind::kFloorDiv, BinaryKind::kFloorMod, BinaryKind::kSquaredDifference,
                       BinaryKind::kLess, BinaryKind::kMaximum};
  std::vector<Op> ops = {Unary{UnaryKind::kAbs}, Unary{UnaryKind::kNeg}, Unary{UnaryKind::kSquare}, AddN{},
                         Reduce{ReduceKind::kProd, 1, true}};
  for (const BinaryKind kind : kinds) ops.emplace_back(Binary{.kind = kind});
  for (const DType type : {DType::kInt8, DType::kUInt8, DType::kInt16}) {
    for (const Op& op : ops) {
      OneInputGraph made({6});
      made.x = {100.0f, -128.0f, 7.0f, 30000.0f, -32768.0f, 255.0f};
      const ValueId x = made.Node(Cast{type}, {made.input()}, type);
      const std::vector<float> numbers = {101.0f, -1.0f, 101.0f, 101.0f, -1.0f, -1.0f};
      const ValueId other = made.Node(Cast{type}, {made.ConstantOf({6}, numbers)}, type);
      const auto* binary = std::get_if<Binary>(&op);
      const bool compares = binary != nullptr && binary->kind == BinaryKind::kLess;
      std::vector<ValueId> inputs = {x};
      if (binary != nullptr) inputs = {x, other};
      if (std::holds_alternative<AddN>(op)) inputs = {x, other, x, x, other};
      const ValueId wrapped = made.Node(op, inputs, compares ? DType::kBool : type);
      const ValueId next =
          compares ? wrapped : made.Node(Binary{.kind = BinaryKind::kFloorDiv}, {wrapped, other}, type);
      made.Node(Cast{DType::kFloat32}, {next});
      const Result<testing::TwoAnswers> answers = AnswersOf(opened_, made, Precision::kFp32);
      ASSERT_TRUE(answers.ok()) << answers.status().message();
      for (size_t i = 0; i < answers->reference.size(); ++i) {
        EXPECT_EQ(answers->device[i], answers->reference[i])
            << OpName(op) << " of " << DTypeName(type) << " " << made.x[i];
      }
    }
  }
}

// Devices may take numbers below 1.2e-38 for zero; the CPU, whose library does, must not where the result is 1.
TEST_P(LargeNumbers, AndThoseNextToZeroAreRoundedUpToOne) {
  if (std::string_view(GetParam()) != "cpu") GTEST_SKIP() << "a device may take numbers next to zero for zero";
  ExpectAsReference(Unary{UnaryKind::kCeil}, {1e-40f, -1e-40f, -0.5f, 0.0f, 8388607.5f, kInf}, {}, 0.0);
  ExpectAsReference(Unary{UnaryKind::kFloor}, {1e-40f, -1e-40f, -0.5f, 0.0f, 8388607.5f, kInf}, {}, 0.0);
}

INSTANTIATE_TEST_SUITE_P(Devices, LargeNumbers, ::testing::Values("cpu", "opencl", "vulkan", "gles"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hearth
