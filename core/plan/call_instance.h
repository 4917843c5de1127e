// A kernel call as a dispatch: its kernel's text and arguments, chosen for the storage of its operands and the device.
#ifndef HEARTH_CORE_PLAN_CALL_INSTANCE_H_
#define HEARTH_CORE_PLAN_CALL_INSTANCE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/plan/kernel_call.h"
#include "core/plan/plan.h"
#include "core/plan/plan_constants.h"
#include "core/plan/plan_values.h"

namespace hearth {

// A dispatch whose tensors have no memory yet.
struct CallInstance {
  Dispatch dispatch;
  KernelCall call;
  KernelSource source;
  std::vector<Operand> operands;
};

class CallInstances {
 public:
  CallInstances(const PlanValues& values, const PlanConstants& constants) : values_(values), constants_(constants) {}

  // kResourceExhausted when the device can't take its size.
  Result<CallInstance> Make(const Node& node, const KernelCall& call);
  // Makes `instance` one of another call of the same size, with the node's name added. False, and nothing is changed,
  // if the device can't take it.
  bool Replace(const Node& node, KernelCall call, CallInstance& instance);

 private:
  Result<KernelSource> Instantiate(const KernelCall& call, std::vector<Operand>& operands,
                                   std::vector<uint32_t>& scalars);
  // Whether the device takes a dispatch of this size.
  Status CheckFits(const KernelSource& source, std::span<const Operand> operands,
                   const std::array<uint64_t, 3>& groups) const;
  // Lets a kernel multiply in 16 bits if it can and precision and device ask for it.
  Status SetArithmetic(KernelSource& source, std::span<const Operand> operands,
                       std::span<const uint32_t> scalars) const;
  // Whether no sum of this many products of the kernel's tensors can leave 16 bits.
  bool FitsHalfSums(const KernelSource& source, std::span<const Operand> operands, int products) const;
  float LargestMagnitudeOf(const Operand& operand) const;
  StorageType StorageOf(const Operand& operand) const;
  uint64_t OperandBytes(const Operand& operand) const;
  std::vector<EpilogueStep> RoundingToGrid(const KernelSource& source, const std::vector<Operand>& operands) const;

  const PlanValues& values_;
  const PlanConstants& constants_;
  std::map<std::string, KernelSource, std::less<>> parsed_;  // by name; parsing is half of making a plan
};

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_CALL_INSTANCE_H_
