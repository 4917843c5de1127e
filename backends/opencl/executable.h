// A command list as kernel objects whose arguments are set, so that a run only enqueues.
#ifndef HEARTH_BACKENDS_OPENCL_EXECUTABLE_H_
#define HEARTH_BACKENDS_OPENCL_EXECUTABLE_H_

#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "backends/opencl/buffer.h"
#include "backends/opencl/driver_api.h"
#include "backends/opencl/submissions.h"
#include "hal/device/device.h"

namespace hearth {

class OpenClExecutable final : public Executable {
 public:
  static Result<std::unique_ptr<Executable>> Create(const OpenClDriver& driver, const CommandList& commands);

  ~OpenClExecutable() override;

  Result<uint64_t> Submit(const SubmitSync& sync) override;
  Status Wait(uint64_t submission) override { return driver_.submissions->Wait(submission); }
  Result<std::vector<double>> RunProfiled() override;

 private:
  struct Dispatch {
    KernelHandle kernel;
    std::array<size_t, 3> global_size;
    std::array<size_t, 3> local_size;
    std::string label;
  };

  explicit OpenClExecutable(const OpenClDriver& driver) : driver_(driver) {}
  Status SetArguments(cl_kernel kernel, const DispatchCommand& command);
  OpenClTraffic::Lock ToEnqueue() const;  // locks nothing where a driver needs it not
  Status Enqueue(cl_command_queue queue, const Dispatch& dispatch, cl_event* event) const;
  // Enqueues the command before or after kernels for each dma-buf that they read.
  Status EnqueueTurns(OpenClTurn OpenClTurns::*turn) const;
  // Enqueues all dispatches. Returns the event of the last one, or of a marker if there is none.
  Result<EventHandle> EnqueueAll(const SubmitSync& sync) const;
  Status EnqueueProfiled(std::vector<EventHandle>& events);

  const OpenClDriver driver_;
  // Declared in this order because kernels must be released before their argument memory.
  std::set<std::shared_ptr<OpenClMemory>> memories_;
  std::vector<Dispatch> dispatches_;
  std::vector<const OpenClBuffer*> lent_;  // dma-bufs that the dispatches read
  uint64_t last_submission_ = 0;
  QueueHandle profiling_queue_;  // made by the first RunProfiled
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_OPENCL_EXECUTABLE_H_
