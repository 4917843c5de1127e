#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/op_lowerings.h"
#include "core/lowering/recurrent_call.h"

namespace hearth {

std::optional<std::string> RnnUnsupported(const Graph& graph, const Node& node, const Placing&) {
  if (SequenceOf(graph.value(node.inputs[0]).desc.shape, std::get<Rnn>(node.op).time_major).steps > kMaxSteps)
    return TooManySteps();
  return RuntimeWeightsAfter(graph, node, 2);
}

Status LowerRnn(const Node& node, PlanBuilder& builder) {
  const auto& rnn = std::get<Rnn>(node.op);
  const SequenceShape sequence = SequenceOf(builder.DescOf(node.inputs[0]).shape, rnn.time_major);
  const int32_t units = builder.DescOf(node.inputs[2]).shape[0];
  const ValueId base = builder.Scratch({DType::kFloat32, {1, sequence.batch * sequence.steps, units}, {}});
  HEARTH_TRY(CallInputProduct(builder, node, {node.inputs[0], node.inputs[2], node.inputs[4], base}));
  for (int32_t t = 0; t < sequence.steps; ++t) {
    StepCall call;
    call.base = StepOf(base, sequence, t);
    call.weights = node.inputs[3];
    call.h = t == 0 ? StepTensor{node.inputs[1], sequence.batch, 0, 1} : StepOf(node.outputs[0], sequence, t - 1);
    call.y = StepOf(node.outputs[0], sequence, t);
    call.epilogue = ActivationEpilogue(rnn.activation);
    HEARTH_TRY(CallRecurrentStep(builder, node, sequence.batch, call));
  }
  return CallCopyLast(builder, node, sequence, node.outputs[0], node.outputs[1]);
}

std::optional<std::string> SvdfUnsupported(const Graph& graph, const Node& node, const Placing&) {
  return RuntimeWeightsAfter(graph, node, 2);
}

Status LowerSvdf(const Node& node, PlanBuilder& builder) {
  const auto& svdf = std::get<Svdf>(node.op);
  const int32_t batch = builder.DescOf(node.inputs[0]).shape[0];
  const Shape& times = builder.DescOf(node.inputs[3]).shape;
  const int32_t filters = times[0], memory = times[1], outputs = filters / svdf.rank;
  const ValueId features = builder.Scratch({DType::kFloat32, {batch, filters}, {}});
  HEARTH_TRY(CallInputProduct(builder, node, {node.inputs[0], node.inputs[2], kNoValue, features}));

  const int32_t channels = filters * memory;
  const auto state_slices = static_cast<int32_t>(Tiles(channels, 4));
  KernelCall shift;
  shift.kernel = "svdf_shift";
  shift.tensors = TensorsOf<kernels::SvdfShift>({{"state", builder.Tensor(node.inputs[1])},
                                                 {"feature", builder.Tensor(features)},
                                                 {"y", builder.Tensor(node.outputs[1])}});
  shift.scalars = {{"BATCH", batch}, {"CHANNELS", channels}, {"N4", state_slices}, {"MEMORY", memory}};
  shift.work_items = {state_slices, batch, 1};
  HEARTH_TRY(builder.Call(node, shift));

  const auto slices = static_cast<int32_t>(Tiles(outputs, 4));
  KernelCall sum;
  sum.kernel = "svdf_sum";
  sum.tensors = TensorsOf<kernels::SvdfSum>(
      {{"state", builder.Tensor(node.outputs[1])},
       {"w", BiasOperand(builder, node.inputs[3], channels, 4)},
       {"bias", BiasOperand(builder, node.inputs.size() > 4 ? node.inputs[4] : kNoValue, outputs, 4)},
       {"y", builder.Tensor(node.outputs[0])}});
  sum.scalars = {{"BATCH", batch}, {"OUTPUTS", outputs}, {"N4", slices}, {"TERMS", svdf.rank * memory}};
  sum.epilogue = ActivationEpilogue(svdf.activation);
  sum.work_items = {slices, batch, 1};
  return builder.Call(node, sum);
}

}  // namespace hearth
