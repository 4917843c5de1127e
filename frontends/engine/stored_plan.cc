#include "frontends/engine/stored_plan.h"

#include <algorithm>
#include <functional>

#include "core/base/error.h"
#include "core/plan/plan_proof.h"

namespace hearth {
namespace {

// Whether the plan can be stored: others refer to the lowered graph.
bool NeedsNoGraph(const Plan& plan) {
  const auto is_input = [&](const PlanTensor& output) {
    return std::ranges::any_of(plan.inputs,
                               [&](const PlanTensor& input) { return input.transfer.value == output.transfer.value; });
  };
  return !plan.has_host_steps() && std::ranges::all_of(plan.states, &PlanState::on_device) &&
         std::ranges::all_of(plan.outputs,
                             [&](const PlanTensor& output) { return output.on_device || is_input(output); });
}

bool HasInterfaceOf(const Plan& plan, const Graph& graph) {
  const auto is_of = [&](const PlanTensor& tensor, ValueId value) {
    const TensorDesc& desc = graph.value(value).desc;
    return tensor.desc.dtype == desc.dtype && tensor.desc.shape == desc.shape;
  };
  return plan.outputs.size() == graph.outputs.size() && std::ranges::equal(plan.inputs, graph.inputs, is_of);
}

bool Fits(const KernelSource& kernel, const DeviceInfo& device) {
  uint64_t invocations = 1;
  for (int d = 0; d < 3; ++d) {
    if (kernel.local_size[d] > device.max_local_size[d]) return false;
    invocations *= kernel.local_size[d];
  }
  return invocations <= device.max_local_invocations && kernel.scalars.size() * 4 <= device.max_scalar_bytes;
}

bool Fits(const Step& step, const DeviceInfo& device) {
  const auto* dispatch = std::get_if<Dispatch>(&step);
  return dispatch != nullptr && std::ranges::equal(dispatch->group_count, device.max_group_count, std::less_equal<>());
}

bool FitsDevice(const Plan& plan, const DeviceInfo& device) {
  return std::ranges::all_of(plan.kernels, [&](const KernelSource& kernel) { return Fits(kernel, device); }) &&
         std::ranges::all_of(plan.steps, [&](const Step& step) { return Fits(step, device); }) &&
         std::ranges::all_of(plan.buffers,
                             [&](const BufferSpec& buffer) { return buffer.size_bytes <= device.max_buffer_bytes; });
}

}  // namespace

Status CheckStoredPlan(const Plan& plan, const DeviceInfo& device) {
  if (!NeedsNoGraph(plan)) return Error(StatusCode::kMalformedInput, "the plan has steps on the CPU");
  if (!FitsDevice(plan, device)) return Error(StatusCode::kMalformedInput, "the plan exceeds the device's limits");
  return Status::Ok();
}

Status CheckStoredPlan(const Plan& plan, const Graph& graph, const DeviceInfo& device) {
  HEARTH_TRY(CheckStoredPlan(plan, device));
  if (!HasInterfaceOf(plan, graph)) return Error(StatusCode::kMalformedInput, "the plan has other inputs or outputs");
  if (!Holds(plan.proof, graph)) return Error(StatusCode::kMalformedInput, "the plan was made for other constants");
  return Status::Ok();
}

}  // namespace hearth
