// The types of a kernel's products and sums: 32 or 16 bits, added one by one or four at once.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.h"
#include "core/device/device_rules.h"
#include "core/emit/arithmetic.h"
#include "core/emit/kernel_library.h"
#include "core/graph/value_analysis.h"
#include "core/plan/plan_builder.h"

namespace hearth {
namespace {

// Sums of fewer channels (60 and less) are calculated in 32 bits: the fewer blocks of 16-bit sums add up, the less
// their errors cancel. selfie_segmentation, mostly 16 to 32 channels deep, was off by twice as much as storing it in 16
// bits makes it, with this limit by 1.1 times as much (medians of six pictures; benchmarks/hardware.md).
constexpr int32_t kLeastHalfSlices = 16;
// What every mediump number can be (GLSL ES 3.10, "Range and Precision"); float16 can be four times as large.
constexpr float kLargestHalf = 0x1p14f;
// Below 2^-14 float16 loses digits. Where even the largest product is small, most are below: a softmax over thousands
// of channels times weights of 1e-4 came out as zero.
constexpr float kLeastLargestProduct = 0.5f;

}  // namespace

Status PlanBuilder::SetArithmetic(KernelSource& source, std::span<const Operand> operands,
                                  std::span<const uint32_t> scalars) const {
  const auto half = std::ranges::find(source.defines, kHalf, &Define::name);
  // A call for cooperative matrices has set it: their factors always have 16 bits, their sums 32.
  if (half == source.defines.end() || half->value != "0") return Status::Ok();
  // Adding four products at once rounds a quarter as often: a sum that decides an index must stay close to exact.
  const bool decides = std::ranges::any_of(operands, [&](const Operand& operand) {
    return operand.kind == Operand::Kind::kValue && DecidesIndices(operand.id);
  });
  const bool is_float = options_.precision == Precision::kFp32;  // its tolerance allows chained sums
  if (is_float && !decides && Applies(Rule::kChainedSums, device_)) HEARTH_TRY(SetDefine(source, kChained, "1"));
  if (is_float || !Applies(Rule::kHalfArithmetic, device_)) return Status::Ok();
  // Values kept in 32 bits, because an error repeats or decides an index, are multiplied in 32 bits. A bias is added,
  // not multiplied.
  for (size_t k = 0; k < source.tensors.size(); ++k) {
    if (source.tensors[k].name != "bias" && StorageOf(operands[k]) != StorageType::kFloat16) return Status::Ok();
  }
  const auto place = std::ranges::find(source.scalars, "K4", &ScalarArg::name) - source.scalars.begin();
  const auto slices = static_cast<int32_t>(scalars[place]);
  if (slices < kLeastHalfSlices) return Status::Ok();
  const int turns = options_.precision == Precision::kFp16 ? TurnsOf(slices) : 1;
  if (!Applies(Rule::kUnboundedHalves, device_) && !FitsHalfSums(source, operands, 4 * turns)) return Status::Ok();
  HEARTH_TRY(SetDefine(source, kTurns, std::to_string(turns)));
  return SetDefine(source, kHalf, "1");
}

bool PlanBuilder::FitsHalfSums(const KernelSource& source, std::span<const Operand> operands, int products) const {
  float largest = static_cast<float>(products);
  for (size_t k = 0; k < source.tensors.size(); ++k) {
    const TensorArg& arg = source.tensors[k];
    if (arg.direction == ArgDirection::kRead && arg.name != "bias") largest *= LargestMagnitudeOf(operands[k]);
    if (std::isinf(largest)) return false;  // weights, which stand behind, are read only where their input is bounded
  }
  return largest <= kLargestHalf && largest >= kLeastLargestProduct * static_cast<float>(products);  // false for NaN
}

float PlanBuilder::LargestMagnitudeOf(const Operand& operand) const {
  if (operand.kind == Operand::Kind::kConstant) {
    const ValueId constant = constant_keys_[operand.id].first;
    return constant == kNoValue ? 0.0f : hearth::LargestMagnitudeOf(graph_, constant);
  }
  return IsScratch(operand.id) ? std::numeric_limits<float>::infinity() : bounds_[operand.id];
}

}  // namespace hearth
