#include "backends/opencl/executable.h"

#include "backends/opencl/buffer.h"
#include "backends/opencl/program.h"
#include "core/base/error.h"

namespace hearth {

Result<std::unique_ptr<Executable>> OpenClExecutable::Create(const OpenClDriver& driver, const CommandList& commands) {
  std::unique_ptr<OpenClExecutable> executable(new OpenClExecutable(driver));
  for (const Command& command : commands.commands) {
    if (std::holds_alternative<CopyCommand>(command))
      return Error(StatusCode::kUnsupported, "OpenCL stages copies itself");
    const auto* dispatch = std::get_if<DispatchCommand>(&command);
    if (dispatch == nullptr) continue;  // a barrier: the queue is in order, so each kernel sees earlier writes
    for (const BoundRange& range : dispatch->tensors) {
      const auto* buffer = static_cast<const OpenClBuffer*>(range.buffer);
      if (buffer->turns().acquire != nullptr) executable->lent_.push_back(buffer);
    }
    const KernelSource& source = dispatch->program->source();
    Result<KernelHandle> kernel = static_cast<const OpenClProgram*>(dispatch->program)->CreateKernel();
    if (!kernel.ok()) return kernel.status().Within(dispatch->label);
    HEARTH_TRY(executable->SetArguments(kernel->get(), *dispatch).Within(dispatch->label));
    Dispatch& ready = executable->dispatches_.emplace_back();
    ready.kernel = std::move(kernel).value();
    ready.label = dispatch->label;
    for (int d = 0; d < 3; ++d) {
      ready.local_size[d] = source.local_size[d];
      ready.global_size[d] = size_t{dispatch->group_count[d]} * source.local_size[d];
    }
  }
  return std::unique_ptr<Executable>(std::move(executable));
}

Status OpenClExecutable::SetArguments(cl_kernel kernel, const DispatchCommand& command) {
  const KernelSource& source = command.program->source();
  cl_uint index = 0;
  const auto set = [&](const void* value, size_t size_bytes, const std::string& name) {
    const cl_int code = driver_.api.clSetKernelArg(kernel, index++, size_bytes, value);
    if (code == CL_SUCCESS) return Status::Ok();
    return OpenClError(code, StatusCode::kUnavailable, fmt::format("argument '{}' of kernel {}", name, source.name));
  };
  for (size_t k = 0; k < command.tensors.size(); ++k) {
    const BoundRange& range = command.tensors[k];
    const auto& shared = static_cast<const OpenClBuffer*>(range.buffer)->shared_memory();
    memories_.insert(shared);
    HEARTH_ASSIGN(const cl_mem memory, shared->View(driver_, range, source.tensors[k]));
    HEARTH_TRY(set(&memory, sizeof memory, source.tensors[k].name));
  }
  for (size_t k = 0; k < command.scalars.size(); ++k) {
    HEARTH_TRY(set(&command.scalars[k], sizeof(uint32_t), source.scalars[k].name));
  }
  return Status::Ok();
}

Status OpenClExecutable::Enqueue(cl_command_queue queue, const Dispatch& dispatch, cl_event* event) const {
  const cl_int code =
      driver_.api.clEnqueueNDRangeKernel(queue, dispatch.kernel.get(), 3, nullptr, dispatch.global_size.data(),
                                         dispatch.local_size.data(), 0, nullptr, event);
  if (code == CL_SUCCESS) return Status::Ok();
  // OpenCL has no code for a lost device; drivers then answer these. Any other concerns this dispatch.
  const bool is_lost =
      code == CL_INVALID_COMMAND_QUEUE || code == CL_INVALID_CONTEXT || code == CL_DEVICE_NOT_AVAILABLE;
  return OpenClError(code, is_lost ? StatusCode::kDeviceLost : StatusCode::kUnavailable,
                     fmt::format("enqueueing '{}'", dispatch.label));
}

OpenClExecutable::~OpenClExecutable() {
  // Running commands use memory that is released here. Failures are reported to the caller that waits for the results.
  if (last_submission_ != 0) (void)driver_.submissions->Wait(last_submission_);
  // Releasing a queue waits for its commands.
  const bool keeps_queue = profiling_queue_.get() != nullptr && driver_.submissions->wait_limit().has_hung();
  if (keeps_queue) driver_.api.clRetainCommandQueue(profiling_queue_.get());
}

OpenClTraffic::Lock OpenClExecutable::ToEnqueue() const {
  return driver_.is_pocl ? OpenClTraffic::OfProcess().ToEnqueue() : OpenClTraffic::Lock();
}

Status OpenClExecutable::EnqueueTurns(OpenClTurn OpenClTurns::*turn) const {
  for (const OpenClBuffer* buffer : lent_) {
    const cl_mem memory = buffer->memory();
    const cl_int code = (buffer->turns().*turn)(driver_.queue, 1, &memory, 0, nullptr, nullptr);
    if (code != CL_SUCCESS) return OpenClError(code, StatusCode::kDeviceLost, "taking turns on a dma-buf");
  }
  return Status::Ok();
}

Result<EventHandle> OpenClExecutable::EnqueueAll(const SubmitSync& sync) const {
  cl_event last = nullptr;
  if (!sync.wait_for.empty()) {
    std::vector<cl_event> events;
    for (const SyncPoint& point : sync.wait_for) events.push_back(reinterpret_cast<cl_event>(point.handle));
    const cl_int code = driver_.api.clEnqueueBarrierWithWaitList(driver_.queue, static_cast<cl_uint>(events.size()),
                                                                 events.data(), nullptr);
    if (code != CL_SUCCESS) return OpenClError(code, StatusCode::kInvalidArgument, "waiting for the caller's events");
  }
  HEARTH_TRY(EnqueueTurns(&OpenClTurns::acquire));
  const bool ends_with_kernel = lent_.empty() && !dispatches_.empty();
  for (const Dispatch& dispatch : dispatches_) {
    const bool is_last = ends_with_kernel && &dispatch == &dispatches_.back();
    HEARTH_TRY(Enqueue(driver_.queue, dispatch, is_last ? &last : nullptr));
  }
  HEARTH_TRY(EnqueueTurns(&OpenClTurns::release));
  if (!ends_with_kernel) {
    const cl_int code = driver_.api.clEnqueueMarkerWithWaitList(driver_.queue, 0, nullptr, &last);
    if (code != CL_SUCCESS) return OpenClError(code, StatusCode::kDeviceLost, "enqueueing a marker");
  }
  return EventHandle(driver_.api, last);
}

Result<uint64_t> OpenClExecutable::Submit(const SubmitSync& sync) {
  if (!sync.signal.empty())
    return Error(StatusCode::kUnsupported,
                 "OpenCL can't signal the caller's objects; ask for a fence (a cl_event) instead");
  HEARTH_TRY(driver_.submissions->wait_limit().Check());
  const OpenClTraffic::Lock traffic = ToEnqueue();
  Result<EventHandle> last = EnqueueAll(sync);
  const cl_int code = last.ok() ? driver_.api.clFlush(driver_.queue) : CL_SUCCESS;
  if (!last.ok() || code != CL_SUCCESS) {
    // Enqueued commands use memory that the caller may free next.
    driver_.api.clFinish(driver_.queue);
    return last.ok() ? OpenClError(code, StatusCode::kDeviceLost, "flushing the queue") : last.status();
  }
  if (sync.fence != nullptr) {
    const cl_int retained = driver_.api.clRetainEvent(last->get());
    if (retained != CL_SUCCESS) {
      driver_.api.clFinish(driver_.queue);
      return OpenClError(retained, StatusCode::kDeviceLost, "a reference to an event");
    }
    *sync.fence = reinterpret_cast<uint64_t>(last->get());
  }
  last_submission_ = driver_.submissions->Add(std::move(last).value());
  return last_submission_;
}

Status OpenClExecutable::EnqueueProfiled(std::vector<EventHandle>& events) {
  cl_int code = CL_SUCCESS;
  if (profiling_queue_.get() == nullptr) {
    const cl_command_queue queue =
        driver_.api.clCreateCommandQueue(driver_.context, driver_.device, CL_QUEUE_PROFILING_ENABLE, &code);
    if (queue == nullptr) return OpenClError(code, StatusCode::kUnsupported, "a queue with profiling");
    profiling_queue_ = QueueHandle(driver_.api, queue);
  }
  for (const Dispatch& dispatch : dispatches_) {
    cl_event event = nullptr;
    HEARTH_TRY(Enqueue(profiling_queue_.get(), dispatch, &event));
    events.emplace_back(driver_.api, event);
  }
  return Status::Ok();
}

Result<std::vector<double>> OpenClExecutable::RunProfiled() {
  if (!lent_.empty()) return Error(StatusCode::kUnsupported, "a list that reads a dma-buf is not profiled");
  std::vector<EventHandle> events;
  events.reserve(dispatches_.size());
  // Earlier writes went through the device's own queue, which is not ordered with the one for profiles.
  HEARTH_TRY(driver_.submissions->WaitForQueue(driver_.queue).Within("earlier work"));
  const OpenClTraffic::Lock traffic = ToEnqueue();
  const Status enqueued = EnqueueProfiled(events);
  Status finished;
  if (profiling_queue_.get() != nullptr) finished = driver_.submissions->WaitForQueue(profiling_queue_.get());
  HEARTH_TRY(enqueued);
  HEARTH_TRY(finished.Within("a profiled run"));

  std::vector<double> milliseconds;
  for (const EventHandle& event : events) {
    cl_ulong start_ns = 0, end_ns = 0;
    cl_int query = driver_.api.clGetEventProfilingInfo(event.get(), CL_PROFILING_COMMAND_START, sizeof start_ns,
                                                       &start_ns, nullptr);
    if (query == CL_SUCCESS) {
      query =
          driver_.api.clGetEventProfilingInfo(event.get(), CL_PROFILING_COMMAND_END, sizeof end_ns, &end_ns, nullptr);
    }
    if (query != CL_SUCCESS) return OpenClError(query, StatusCode::kUnsupported, "the times of a dispatch");
    milliseconds.push_back(static_cast<double>(end_ns - start_ns) * 1e-6);
  }
  return milliseconds;
}

}  // namespace hearth
