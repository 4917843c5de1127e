#include "frontends/api/session_memory.h"

#include <algorithm>

#include "backends/cpu/process_limits.h"
#include "core/base/error.h"
#include "frontends/api/next_device.h"

namespace hearth {
namespace {

uint64_t InterfaceBytes(const Plan& plan) {
  uint64_t bytes = 0;
  for (const PlanTensor& input : plan.inputs) bytes += input.desc.size_bytes();
  for (const PlanTensor& output : plan.outputs) bytes += output.desc.size_bytes();
  return bytes;
}

// Constants that are not packed in place take the host's memory one after the other.
uint64_t LargestConstantBytes(const Plan& plan) {
  uint64_t bytes = 0;
  for (const PlanConstant& constant : plan.constants) bytes = std::max(bytes, constant.range.size_bytes);
  return bytes;
}

}  // namespace

uint64_t ConstantBytes(const Plan& plan) {
  uint64_t bytes = 0;
  for (const BufferSpec& buffer : plan.buffers) bytes += buffer.role == BufferRole::kConstants ? buffer.size_bytes : 0;
  return bytes;
}

MemoryNeed NeedOf(const Plan& plan, const DeviceInfo& device, const MemoryFigures& host) {
  MemoryNeed need;
  uint64_t largest_constants = 0, interface = 0;
  for (const BufferSpec& buffer : plan.buffers) {
    if (buffer.role == BufferRole::kArena) need.arena_bytes += buffer.size_bytes;
    if (buffer.role == BufferRole::kState) need.state_bytes += buffer.size_bytes;
    if (buffer.role != BufferRole::kConstants) continue;
    need.weights_bytes += buffer.size_bytes;
    largest_constants = std::max(largest_constants, buffer.size_bytes);
  }
  for (const PlanTensor& input : plan.inputs)
    if (input.on_device) interface += input.transfer.range.size_bytes;
  for (const PlanTensor& output : plan.outputs)
    if (output.on_device) interface += output.transfer.range.size_bytes;
  // Constants are uploaded buffer by buffer, before inputs and outputs get their staging memory, which they keep.
  if (!device.unified_memory) need.staging_bytes = std::max(largest_constants, interface);
  if (!device.is_read_fast_by_host()) need.staging_bytes += LargestConstantBytes(plan);
  need.weights_bytes += host.weights_bytes;
  need.arena_bytes += host.arena_bytes;
  need.interface_bytes = InterfaceBytes(plan);
  return need;
}

Status CheckMemoryLimit(const SessionData& data, const MemoryNeed& need) {
  const uint64_t limit = data.options.memory_limit_bytes;
  if (limit == 0 || need.total() <= limit) return Status::Ok();
  const StatusCode code = HasNextDevice(data) ? StatusCode::kResourceExhausted : StatusCode::kInvalidArgument;
  return Error(code,
               "{} needs {} bytes for this model, the memory limit leaves {}: weights {}, intermediate values {}, "
               "states {}, staging {}, inputs and outputs {}; raise the limit, or take a smaller precision or shape",
               data.opened.id, need.total(), limit, need.weights_bytes, need.arena_bytes, need.state_bytes,
               need.staging_bytes, need.interface_bytes);
}

Status CheckHostMemory(const SessionData& data, const MemoryNeed& need) {
  const DeviceInfo& device = data.opened.info;
  const bool is_of_the_host = data.opened.device == nullptr || device.unified_memory || device.is_software();
  const uint64_t bytes = is_of_the_host ? need.total() : need.staging_bytes + need.interface_bytes;
  return CheckAvailableMemory(bytes, fmt::format("{} and this model", data.opened.id));
}

Status CountRunInFlight(SessionData& data) {
  // The host's copies of the outputs, and the device's of inputs and outputs.
  const uint64_t bytes = 2 * InterfaceBytes(data.runner->plan());
  const uint64_t limit = data.options.memory_limit_bytes;
  uint64_t& needed = data.report.memory.needed_bytes;
  if (limit != 0 && needed + bytes > limit) {
    return Error(StatusCode::kResourceExhausted,
                 "one more run in flight needs {} bytes beside {}, the memory limit is {}; wait for a run first", bytes,
                 needed, limit);
  }
  needed += bytes;
  data.rest_bytes += bytes;
  return Status::Ok();
}

Status CountFrames(SessionData& data) {
  const auto in_flight = std::ranges::count_if(data.slots, [](const RunSlot& slot) { return !slot.outputs.empty(); });
  const uint64_t bytes = data.runner->frame_bytes() * static_cast<uint64_t>(1 + in_flight);
  const uint64_t limit = data.options.memory_limit_bytes;
  uint64_t& needed = data.report.memory.needed_bytes;
  const uint64_t others = needed - data.frame_bytes;
  if (limit != 0 && bytes > data.frame_bytes && others + bytes > limit) {
    return Error(StatusCode::kResourceExhausted,
                 "on the device frames would need {} bytes beside {}, the memory limit "
                 "is {}",
                 bytes, others, limit);
  }
  needed = others + bytes;
  data.rest_bytes += bytes - data.frame_bytes;
  data.frame_bytes = bytes;
  return Status::Ok();
}

}  // namespace hearth
