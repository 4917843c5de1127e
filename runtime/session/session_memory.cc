// The memory that a session takes, for SessionOptions::memory_limit_bytes.
#include "core/base/error.h"
#include "runtime/session/memory_need.h"
#include "runtime/session/session_data.h"

namespace hearth {

uint64_t NeededBytes(const SessionData& data) {
  const RunContext& context = *data.context;
  const Prepared& prepared = context.prepared();
  const bool has_resized = data.report.resize.made + data.report.resize.kept > 0;
  if (!has_resized) return prepared.needed_bytes + context.run_bytes();
  // Weights are those of all shapes together.
  const SessionDevice& device = *prepared.request.device;
  uint64_t bytes =
      prepared.own_bytes + context.run_bytes() + device.constants->LiveBytes() + device.host->live_weights_bytes();
  for (const auto& earlier : data.earlier_shapes) bytes += earlier->prepared().own_bytes + earlier->run_bytes();
  return bytes;
}

Status CheckRunInFlightFits(const SessionData& data) {
  // The host's copies of the outputs, and the device's of inputs and outputs.
  const uint64_t bytes = 2 * InterfaceBytes(data.context->plan());
  const uint64_t limit = data.options->memory_limit_bytes, needed = NeededBytes(data);
  if (limit == 0 || needed + bytes <= limit) return Status::Ok();
  return Error(StatusCode::kResourceExhausted,
               "one more run in flight needs {} bytes beside {}, the memory limit is {}; wait for a run first", bytes,
               needed, limit);
}

Status CheckFramesFit(const SessionData& data) {
  const uint64_t limit = data.options->memory_limit_bytes;
  if (limit == 0) return Status::Ok();
  const uint64_t needed = NeededBytes(data), bytes = data.context->frame_bytes();
  if (needed <= limit) return Status::Ok();
  return Error(StatusCode::kResourceExhausted,
               "on the device frames would need {} bytes beside {}, the memory limit is {}", bytes, needed - bytes,
               limit);
}

}  // namespace hearth
