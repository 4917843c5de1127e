// The constants of a plan, packed for its kernels. Equal (value, recipe) pairs share memory.
#ifndef HEARTH_CORE_PLAN_PLAN_CONSTANTS_H_
#define HEARTH_CORE_PLAN_PLAN_CONSTANTS_H_

#include <span>
#include <utility>
#include <vector>

#include "core/plan/kernel_call.h"
#include "core/plan/pack.h"
#include "core/plan/plan.h"
#include "core/plan/plan_values.h"

namespace hearth {

class PlanConstants {
 public:
  explicit PlanConstants(const PlanValues& values) : values_(values) {}

  // A constant in a kernel's own layout.
  Operand Packed(ValueId constant, PackRecipe recipe);
  // `count` zeros, padded to a multiple of `width`.
  Operand Zeros(int32_t count, int32_t width);

  const PlanConstant& at(int32_t index) const { return constants_[static_cast<size_t>(index)]; }
  float LargestMagnitudeOf(int32_t index) const;

  // Lays them out in further buffers of the plan, which gets them. kResourceExhausted for one that no buffer takes.
  Status PlaceIn(Plan& plan);

 private:
  // Adds it with `inline_bytes` if it is new. `value` kNoValue: zeros.
  Operand Add(ValueId value, PlanConstant constant, std::span<const std::byte> inline_bytes);

  const PlanValues& values_;
  std::vector<PlanConstant> constants_;
  std::vector<std::pair<ValueId, PackRecipe>> keys_;  // parallel to them
};

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_PLAN_CONSTANTS_H_
