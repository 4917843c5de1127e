// Programs that the runs of a plan need beside the plan's own: for borrowed memory, frames, runs in flight and parts of
// dispatches. They are loaded or compiled when they are first needed.
#ifndef HEARTH_HAL_PROGRAMS_MORE_PROGRAMS_H_
#define HEARTH_HAL_PROGRAMS_MORE_PROGRAMS_H_

#include <deque>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/store/result_cache.h"
#include "hal/device/device.h"
#include "hal/io/binding_layout.h"
#include "hal/programs/load_or_compile.h"

namespace hearth {

// For one thread at a time. Its arguments must outlive it.
class MorePrograms {
 public:
  // `store` may be null.
  MorePrograms(Device& device, ResultCache* store, int threads) : device_(device), store_(store), threads_(threads) {}

  // Makes those that are missing, together. `held` as for LoadOrCompile.
  Status Load(std::span<const KernelSource> sources, const std::stop_token& stop = {}, SharedPrograms* held = nullptr);
  // Null if it was not loaded.
  Program* Find(const KernelSource& source) const;
  // Makes a kernel for the device as compiled (hal/programs/smaller_groups.h), and its program.
  Status MakeKernel(const std::function<Result<BindingKernel>(const DeviceInfo& device)>& make, BindingKernel& kernel,
                    Program*& program);

  size_t size() const { return programs_.size(); }
  int compiled() const;
  double milliseconds() const { return milliseconds_; }  // of all Load

  // A run has finished that began when there were `count` programs. Drivers have machine code only after a run.
  void NoteRun(size_t count);
  // Whether programs have run and are not stored. False without a store.
  bool HasMoreToStore() const;
  // Stores them. Programs that have not run wait for a later call, but no other process waits for them any longer. Once
  // `stop` was requested, no further binary is read. Returns warnings.
  std::vector<std::string> Store(const std::stop_token& stop);
  // Rejects the cache entries that programs were loaded from. False if there are none.
  bool RejectLoaded(std::string_view reason);

 private:
  struct Group {
    std::vector<KernelSource> sources;
    LoadedPrograms loaded;
  };

  Device& device_;
  ResultCache* store_;
  int threads_;
  std::deque<Group> programs_;  // in the order of Load
  size_t that_ran_ = 0;         // this many, from the first
  bool is_stored_ = false;      // Store was called
  double milliseconds_ = 0;
};

}  // namespace hearth

#endif  // HEARTH_HAL_PROGRAMS_MORE_PROGRAMS_H_
