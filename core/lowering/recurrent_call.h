// Dispatches that the lowerings of recurrent operations share.
#ifndef HEARTH_CORE_LOWERING_RECURRENT_CALL_H_
#define HEARTH_CORE_LOWERING_RECURRENT_CALL_H_

#include "core/graph/ops/recurrent.h"
#include "core/plan/plan_builder.h"

namespace hearth {

// A plan holds every step's dispatches: longer sequences run on the CPU.
inline constexpr int32_t kMaxSteps = 4096;
std::string TooManySteps();

// The reason why a node does not run on devices: an input behind the first `data` is not constant.
std::optional<std::string> RuntimeWeightsAfter(const Graph& graph, const Node& node, size_t data);

// A tensor at one step: its pixel of batch b is first + b * step.
struct StepTensor {
  ValueId value = kNoValue;
  int32_t pixels = 1, first = 0, step = 0;
};
StepTensor StepOf(ValueId value, const SequenceShape& sequence, int32_t t);

// y = base + weights h, where base is a tensor, a constant bias of the node, or zero.
struct StepCall {
  StepTensor base;          // when its value is not kNoValue
  ValueId bias = kNoValue;  // else, when not kNoValue
  ValueId weights = kNoValue;
  StepTensor h, y;
  std::vector<EpilogueStep> epilogue;
};
Status CallRecurrentStep(PlanBuilder& builder, const Node& node, int32_t batch, const StepCall& step);

// y = weights x + bias for all pixels of x.
struct InputProduct {
  ValueId x = kNoValue, weights = kNoValue, bias = kNoValue, y = kNoValue;
};
Status CallInputProduct(PlanBuilder& builder, const Node& node, const InputProduct& product);

// The last step of a sequence as a separate value: the next state.
Status CallCopyLast(PlanBuilder& builder, const Node& node, const SequenceShape& sequence, ValueId from, ValueId to);

}  // namespace hearth

#endif  // HEARTH_CORE_LOWERING_RECURRENT_CALL_H_
