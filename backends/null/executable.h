// A command list that is checked for races and then only counted.
#ifndef HEARTH_BACKENDS_NULL_EXECUTABLE_H_
#define HEARTH_BACKENDS_NULL_EXECUTABLE_H_

#include <memory>
#include <vector>

#include "backends/null/counts.h"
#include "hal/device.h"

namespace hearth {

class NullExecutable final : public Executable {
 public:
  // kInternal if a dispatch touches bytes that another one writes and no barrier is between them. Drivers that run
  // dispatches in order hide such a race. Each submission adds to `dispatches_run` and is finished at once.
  static Result<std::unique_ptr<Executable>> Create(const CommandList& commands, NullCounts& counts);

  Result<uint64_t> Submit(const SubmitSync& sync) override;  // kUnsupported with any synchronization
  Status Wait(uint64_t submission) override;                 // kInvalidArgument for a number that was never submitted
  Result<std::vector<double>> RunProfiled() override;        // all zero

 private:
  NullExecutable(int64_t dispatch_count, NullCounts& counts) : dispatch_count_(dispatch_count), counts_(counts) {}

  int64_t dispatch_count_;
  NullCounts& counts_;
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_NULL_EXECUTABLE_H_
