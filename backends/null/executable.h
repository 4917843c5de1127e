// A command list that was looked at for races and is then only counted.
#ifndef HEARTH_BACKENDS_NULL_EXECUTABLE_H_
#define HEARTH_BACKENDS_NULL_EXECUTABLE_H_

#include <atomic>
#include <memory>
#include <vector>

#include "hal/device.h"

namespace hearth {

class NullExecutable final : public Executable {
 public:
  // kInternal when a dispatch touches bytes that another one writes and no barrier stands between them: a
  // race that drivers which run dispatches in order hide. Adds to `dispatches_run` at each run.
  static Result<std::unique_ptr<Executable>> Create(const CommandList& commands, std::atomic<int64_t>& dispatches_run);

  Status Run() override;
  Result<std::vector<double>> RunProfiled() override;  // all zero

 private:
  NullExecutable(int64_t dispatch_count, std::atomic<int64_t>& dispatches_run)
      : dispatch_count_(dispatch_count), dispatches_run_(dispatches_run) {}

  int64_t dispatch_count_;
  std::atomic<int64_t>& dispatches_run_;
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_NULL_EXECUTABLE_H_
