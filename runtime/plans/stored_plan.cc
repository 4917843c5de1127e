#include "runtime/plans/stored_plan.h"

#include <algorithm>
#include <functional>

#include "core/base/error.h"
#include "core/plan/plan_proof.h"

namespace hearth {
namespace {

// Whether the plan can be stored: others refer to the lowered graph.
bool NeedsNoGraph(const Plan& plan) {
  const auto is_of_device = [](const PlanTensor& output) {
    return output.host.kind == (output.on_device ? HostPlace::Kind::kNone : HostPlace::Kind::kInput);
  };
  return !plan.runs_on_cpu() && plan.host_bytes.empty() && std::ranges::all_of(plan.states, &PlanState::on_device) &&
         std::ranges::all_of(plan.outputs, is_of_device);
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

bool Fits(const Dispatch& dispatch, const DeviceInfo& device) {
  return std::ranges::equal(dispatch.group_count, device.max_group_count, std::less_equal<>());
}

bool FitsDevice(const Plan& plan, const DeviceInfo& device) {
  return std::ranges::all_of(plan.kernels, [&](const KernelSource& kernel) { return Fits(kernel, device); }) &&
         std::ranges::all_of(plan.dispatches, [&](const Dispatch& dispatch) { return Fits(dispatch, device); }) &&
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
