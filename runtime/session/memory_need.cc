#include "runtime/session/memory_need.h"

#include <algorithm>

#include "backends/cpu/host/process_limits.h"
#include "core/base/error.h"
#include "hal/io/binding_layout.h"

namespace hearth {
namespace {

// Constants that are not packed in place take the host's memory one after the other.
uint64_t LargestConstantBytes(const Plan& plan) {
  uint64_t bytes = 0;
  for (const PlanConstant& constant : plan.constants) bytes = std::max(bytes, constant.range.size_bytes);
  return bytes;
}

// The memory between host and arena: numbers that cross dense lie on both sides of the bus.
uint64_t CrossingMemory(const std::vector<PlanTensor>& tensors, const DeviceInfo& device) {
  uint64_t bytes = 0;
  for (const PlanTensor& tensor : tensors) {
    if (!tensor.on_device) continue;
    bytes +=
        CrossesDense(tensor.transfer, device) ? 2 * CrossingBytes(tensor.transfer) : tensor.transfer.range.size_bytes;
  }
  return bytes;
}

}  // namespace

uint64_t InterfaceBytes(const Plan& plan) {
  uint64_t bytes = 0;
  for (const PlanTensor& input : plan.inputs) bytes += input.desc.size_bytes();
  for (const PlanTensor& output : plan.outputs) bytes += output.desc.size_bytes();
  return bytes;
}

uint64_t ConstantBytes(const Plan& plan) {
  uint64_t bytes = 0;
  for (const BufferSpec& buffer : plan.buffers) bytes += buffer.role == BufferRole::kConstants ? buffer.size_bytes : 0;
  return bytes;
}

MemoryNeed NeedOf(const Plan& plan, const DeviceInfo& device, const MemoryFigures& host) {
  MemoryNeed need;
  uint64_t largest_constants = 0;
  for (const BufferSpec& buffer : plan.buffers) {
    if (buffer.role == BufferRole::kArena) need.arena_bytes += buffer.size_bytes;
    if (buffer.role == BufferRole::kState) need.state_bytes += buffer.size_bytes;
    if (buffer.role != BufferRole::kConstants) continue;
    need.weights_bytes += buffer.size_bytes;
    largest_constants = std::max(largest_constants, buffer.size_bytes);
  }
  // Constants are uploaded buffer by buffer, before inputs and outputs get their staging memory, which they keep.
  const uint64_t crossing = CrossingMemory(plan.inputs, device) + CrossingMemory(plan.outputs, device);
  if (!device.unified_memory) need.staging_bytes = std::max(largest_constants, crossing);
  if (!device.is_read_fast_by_host()) need.staging_bytes += LargestConstantBytes(plan);
  need.weights_bytes += host.weights_bytes;
  need.arena_bytes += host.arena_bytes;
  need.interface_bytes = InterfaceBytes(plan);
  return need;
}

Status CheckHostMemory(const DeviceInfo& device, const MemoryNeed& need) {
  const bool is_of_the_host = device.unified_memory || device.is_software();
  const uint64_t bytes = is_of_the_host ? need.total() : need.staging_bytes + need.interface_bytes;
  return CheckAvailableMemory(bytes, fmt::format("{} and this model", device.id));
}

Status CheckMemoryLimit(const DeviceInfo& device, const MemoryNeed& need, uint64_t limit_bytes) {
  if (limit_bytes == 0 || need.total() <= limit_bytes) return Status::Ok();
  return Error(StatusCode::kInvalidArgument,
               "{} needs {} bytes for this model, the memory limit leaves {}: weights {}, intermediate values {}, "
               "states {}, staging {}, inputs and outputs {}; raise the limit, or take a smaller precision or shape",
               device.id, need.total(), limit_bytes, need.weights_bytes, need.arena_bytes, need.state_bytes,
               need.staging_bytes, need.interface_bytes);
}

uint64_t LeftOfLimit(uint64_t limit_bytes, uint64_t taken_bytes) {
  return limit_bytes == 0 ? 0 : std::max<uint64_t>(1, limit_bytes - std::min(limit_bytes, taken_bytes));
}

}  // namespace hearth
