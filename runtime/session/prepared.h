// A model on a device, ready to run.
#ifndef HEARTH_RUNTIME_SESSION_PREPARED_H_
#define HEARTH_RUNTIME_SESSION_PREPARED_H_

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "backends/cpu/cpu_executor.h"
#include "core/plan/host_executor.h"
#include "hal/programs/program_keys.h"
#include "hal/run/plan_runs.h"
#include "hal/run/resident_constants.h"
#include "hearth/model.h"
#include "hearth/session.h"
#include "runtime/devices/device_choice.h"
#include "runtime/plans/plan_cache.h"
#include "runtime/session/session_store.h"

namespace hearth {

// An opened device, and what lies on it for all shapes of one model.
struct SessionDevice {
  OpenedDevice opened;
  std::vector<std::string> failed_ids;  // devices that were left before this one
  std::shared_ptr<ResidentConstants> constants = std::make_shared<ResidentConstants>();
  std::shared_ptr<SharedPrograms> programs = std::make_shared<SharedPrograms>();
  std::shared_ptr<HostExecutor> host = MakeCpuExecutor();
};

// Everything that preparing depends on.
struct PrepareRequest {
  std::shared_ptr<const Model> model;  // with the shapes
  std::shared_ptr<SessionDevice> device;
  std::shared_ptr<const SessionOptions> options;
  std::shared_ptr<SessionCache> cache;  // may be null
  uint64_t memory_limit_bytes = 0;      // what is left of SessionOptions::memory_limit_bytes; 0: no limit
  int compile_threads = 0;              // 0: as many as the CPU's runs use
  std::stop_token stop = {};            // once requested, preparing ends with an error
  bool for_warming = false;             // as LoadRequest::programs_anew
  bool is_opening = false;              // false: the model's file was opened a while ago and may have been shortened
  bool is_clone = false;                // the plan's weights are on the device already, or packed
  bool trusts_device = false;           // without a self-test; for tests of other things
  bool trusts_stored_plan = true;       // false: the plan is made anew, because a run with the stored one failed
  bool is_interim = false;              // the CPU answers until another device is ready
};

// The request with which the model goes on: with other shapes, in a clone, on the device in the background.
// `memory_limit_bytes`: what is left for it.
PrepareRequest SuccessorOf(const PrepareRequest& request, std::shared_ptr<SessionDevice> device,
                           uint64_t memory_limit_bytes);

// For one thread at a time, because its programs are. Nothing in it changes by running; storing it changes what is left
// to store.
struct Prepared {
  PrepareRequest request;
  DeviceInfo info;  // the device's, with the limits that the plan keeps to
  PlanRequest plan_request;
  MadePlan made;  // `loaded` has its plan
  std::unique_ptr<LoadedPlan> loaded;
  // What it adds to the memory of other shapes on the device: without weights that they may share; and all of it, less
  // the weights that were there already.
  uint64_t own_bytes = 0, needed_bytes = 0;
  // Whether runs on the CPU read weights in the model's file, because a copy would take much memory.
  bool reads_file = false;
  // The part of a session's report that is about this model on this device.
  Report report;

  const Model& model() const { return *request.model; }
  const Plan& plan() const { return loaded->plan(); }
};

// A prepared model and its runs. The runs go first.
struct PreparedRuns {
  std::unique_ptr<Prepared> prepared;
  std::unique_ptr<PlanRuns> runs;
};

// The plan that Prepare makes, without tuning results; lowers the limits of `info` to those that are known to hold.
Result<PlanRequest> RequestPlan(const PrepareRequest& request, DeviceInfo& info);

// Makes everything that a run needs. A bad cache entry never fails it. `exceeds_limit`, if given, is set if the memory
// limit was the reason for an error.
Result<PreparedRuns> Prepare(const PrepareRequest& request, bool* exceeds_limit = nullptr);

// Stores what preparing made. Returns warnings. Changes nothing that runs use, so they may go on meanwhile.
// Precondition: a run has finished, since binaries are worth keeping only then (ProgramGroup::Binary), and there is a
// cache.
std::vector<std::string> StorePrepared(Prepared& prepared);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_SESSION_PREPARED_H_
