#include "runtime/session/prepared.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "backends/cpu/host/process_limits.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/device/device_rules.h"
#include "core/graph/ops/custom.h"
#include "hal/device/driver_files.h"
#include "hal/device/stopwatch.h"
#include "hal/programs/smaller_groups.h"
#include "runtime/devices/priorities.h"
#include "runtime/devices/self_test.h"
#include "runtime/model/model_data.h"
#include "runtime/plans/advice.h"
#include "runtime/plans/items_as_compiled.h"
#include "runtime/plans/tuning_cache.h"
#include "runtime/session/memory_need.h"

namespace hearth {
namespace {

// No limit for software and simulated devices: they are as slow as the CPU.
std::chrono::milliseconds WaitLimitOf(const SessionOptions& options, const DeviceInfo& info) {
  constexpr std::chrono::milliseconds kOfHardware{60000};
  if (options.wait_limit_ms >= 0) return std::chrono::milliseconds(options.wait_limit_ms);
  return info.is_software() || !options.simulate.empty() ? std::chrono::milliseconds::zero() : kOfHardware;
}

// Inputs and outputs must have the model's sizes: users allocate memory by those.
Status CheckSizes(const std::vector<PlanTensor>& tensors, const std::vector<TensorInfo>& infos) {
  const bool are_same = std::ranges::equal(tensors, infos, [](const PlanTensor& tensor, const TensorInfo& info) {
    return tensor.desc.size_bytes() == info.size_bytes;
  });
  return are_same ? Status::Ok() : Error(StatusCode::kInternal, "the plan is not the model's");
}

class Preparation {
 public:
  explicit Preparation(const PrepareRequest& request)
      // Holding 17 MB takes 12 ms, a clone a tenth of that; and on the CPU runs read where the file's pages lie anyway.
      : holds_file_(!request.is_opening && !request.is_clone && !request.device->opened.info.is_host()),
        made_(std::make_unique<Prepared>()) {
    made_->request = request;
    made_->request.is_opening = made_->request.is_clone = false;  // for those that go on with it
    made_->info = request.device->opened.info;
  }

  Result<PreparedRuns> Run() {
    HeldBytes held;
    if (holds_file_) {
      HEARTH_ASSIGN(held, made_->model().data().HoldFile());
    } else {
      HEARTH_TRY(made_->model().data().CheckFile());
    }
    HEARTH_TRY(RequestPlan());
    HEARTH_TRY(TrustDevice());
    ProbeAtFirstUse();
    HEARTH_ASSIGN(const LowerOptions asked, AskedOptions());
    AddWarnings(asked.precision);
    HEARTH_TRY(ChooseKernels());
    HEARTH_TRY(MakeWithinTheLimit());
    // Later shapes begin with the limit that this plan has ended with, as a later start does.
    opened().info.max_local_invocations = made_->info.max_local_invocations;
    WarnOfSpilledBuffers();
    const ModelData& model = made_->model().data();
    KeepWhatRunsRead(model);
    ReleasePages(model, model.bytes);
    HEARTH_TRY(model.CheckFile());  // it may have changed while it was read
    FillReport();
    Log(LogLevel::kInfo,
        fmt::format("{} on {} ({}): {}", made_->model().path(), opened().id, opened().info.name, opened().reason));
    return PreparedRuns{std::move(made_), std::move(runs_)};
  }

  // Copies what runs on the CPU read in the model's file, unless it is much.
  void KeepWhatRunsRead(const ModelData& model) {
    if (!model.file) return;
    constexpr uint64_t kMostBytes = 4 << 20;  // about 2 ms
    std::vector<std::span<const std::byte>> parts = made_->loaded->read_in_place();
    std::erase_if(parts, [&](auto part) { return part.empty() || !model.file->Contains(part); });
    uint64_t bytes = 0;
    for (const std::span<const std::byte> part : parts) bytes += part.size();
    made_->reads_file = bytes > kMostBytes || !model.file->KeepInMemory(std::move(parts));
  }

  bool exceeds_limit() const {
    const uint64_t limit = request().memory_limit_bytes;
    return limit != 0 && made_ != nullptr && made_->needed_bytes > limit;
  }

 private:
  const PrepareRequest& request() const { return made_->request; }
  const SessionOptions& options() const { return *request().options; }
  OpenedDevice& opened() const { return request().device->opened; }
  ResultCache* store() const { return request().cache == nullptr ? nullptr : request().cache->store.get(); }
  std::vector<std::string>& warnings() { return made_->report.warnings; }

  Result<LowerOptions> AskedOptions() const {
    return OptionsFromChoices({options().precision, options().preference, options().priority});
  }

  // Options, device and cache, without tuning results.
  Status RequestPlan() {
    HEARTH_ASSIGN(PlanRequest plan, ::hearth::RequestPlan(request(), made_->info));
    made_->plan_request = std::move(plan);
    made_->plan_request.device = &made_->info;
    return Status::Ok();
  }

  // Sets the wait limit. Runs the self-test on a device that says it is hardware, until it has passed once for this
  // cache, device and driver.
  Status TrustDevice() {
    if (opened().is_trusted) return Status::Ok();
    opened().device->set_wait_limit(WaitLimitOf(options(), opened().info));
    const bool is_tested = !request().trusts_device && NeedsSelfTest(made_->info);
    if (is_tested) HEARTH_TRY(PassSelfTest(*opened().device, made_->info, store(), request().stop));
    opened().is_trusted = true;
    return Status::Ok();
  }

  // Before the first plan for a device and not after it, so that a second start finds the plan and programs of the
  // first.
  void ProbeAtFirstUse() {
    if (store() == nullptr) return;
    made_->plan_request.options.read_path = opened().read_path.Probe(*opened().device, made_->info, *store());
  }

  // The warnings that are known before anything is made.
  void AddWarnings(Precision wanted) {
    const Precision used = made_->plan_request.options.precision;
    made_->report.precision = PrecisionName(used);
    if (used != wanted && !request().is_interim) {
      warnings().push_back(
          fmt::format("precision {} is not available on {}; fp32 is used", PrecisionName(wanted), opened().id));
    }
    warnings().insert(warnings().end(), opened().warnings.begin(), opened().warnings.end());
    const std::vector<std::string>& of_shapes = made_->model().data().shape_warnings;
    warnings().insert(warnings().end(), of_shapes.begin(), of_shapes.end());
  }

  Status ChooseKernels() {
    TuningRequest tuning{.mode = options().tune,
                         .device = opened().device.get(),
                         .store = store(),
                         .threads = threads(),
                         .observer = options().on_tuning,
                         .stop = request().stop};
    HEARTH_ASSIGN(const TuningOutcome outcome, TuneBeforePlan(tuning, made_->plan_request));
    made_->report.tuning = {std::string(TuneModeName(outcome.mode)), outcome.measured, outcome.changed,
                            outcome.recorded, outcome.measuring_ms};
    return Status::Ok();
  }

  int threads() const { return options().threads > 0 ? options().threads : UsableCpus(); }

  // `held_bytes`: the part of the plan's weights that is already in memory.
  Status CountMemory(const Plan& plan, uint64_t held_bytes, const MemoryFigures& host) {
    MemoryNeed need = NeedOf(plan, made_->info, host);
    made_->own_bytes = need.total() - ConstantBytes(plan);
    need.weights_bytes -= std::min(need.weights_bytes, held_bytes);
    made_->needed_bytes = need.total();
    HEARTH_TRY(CheckMemoryLimit(made_->info, need, request().memory_limit_bytes));
    return CheckHostMemory(made_->info, need);
  }

  Status MakeRuns(ResultCache* plans) {
    const ModelData& model = made_->model().data();
    Result<MadePlan> plan = MakePlan(made_->plan_request, plans);
    if (!plan.ok())
      return Status(plan.status().code(), plan.status().message() + OpenShapeHint(model, plan.status().code()));
    made_->made = std::move(plan).value();
    SessionDevice& device = *request().device;
    const bool runs_on_cpu = made_->made.plan.runs_on_cpu();
    if (!runs_on_cpu) {
      HEARTH_TRY(CountMemory(made_->made.plan, ResidentBytesOf(made_->made.plan, *device.constants), {}));
    } else {  // counted below, with the host's part; the device's memory is checked now
      HEARTH_TRY(CheckHostMemory(made_->info, NeedOf(made_->made.plan, made_->info, {})));
      if (const auto files = model.file != nullptr ? model.file->Identity() : std::nullopt)
        device.host->ShareWeightsOf(*files);
    }
    HEARTH_ASSIGN(ReadyPlan ready,
                  MakePlanReady(std::move(made_->made.plan),
                                {.device = opened().device.get(),
                                 .graph = made_->made.lowered_graph.get(),
                                 .model_files = {model.bytes},
                                 .host = device.host.get(),
                                 .store = store(),
                                 .threads = threads(),
                                 .compile_threads = request().compile_threads,
                                 .model_bytes_read = [&model](auto bytes) { ReleasePages(model, bytes); },
                                 .copy_model_bytes = [&model](auto bytes) { return model.Copy(bytes); },
                                 .stop = request().stop,
                                 .constants = device.constants,
                                 .shared_programs = device.programs,
                                 .programs_anew = request().for_warming}));
    if (runs_on_cpu) {
      HEARTH_TRY(CountMemory(ready.plan(), ready.loaded->held_weights_bytes(), ready.loaded->host_memory()));
      made_->own_bytes -= ready.loaded->shared_host_weights_bytes();
    }
    HEARTH_TRY(CheckSizes(ready.plan().inputs, made_->model().inputs()));
    HEARTH_TRY(CheckSizes(ready.plan().outputs, made_->model().outputs()));
    runs_ = std::move(ready.runs);
    made_->loaded = std::move(ready.loaded);
    return Status::Ok();
  }

  // Only a driver's compiler knows how many work items a kernel's groups may have: the plan is made again where it
  // takes fewer than the device's limit.
  Status MakeRunsInSmallerGroups(ResultCache* plans) {
    return MakeInSmallerGroups(*opened().device, made_->info, [&] { return MakeRuns(plans); });
  }

  // An entry that led to an error is rejected, and everything is made again once without the cache.
  Status MakeRunsWithCache() {
    if (store() == nullptr || !request().trusts_stored_plan) return MakeRunsInSmallerGroups(nullptr);
    const uint64_t rejected = store()->counters().rejected;
    const Status status = MakeRunsInSmallerGroups(store());
    const bool is_blameless = request().stop.stop_requested() || exceeds_limit();
    if (status.ok() || is_blameless) return status;
    if (const auto& plan = made_->made.found_as) store()->Reject({&*plan, 1}, status.message());
    if (store()->counters().rejected == rejected) return status;
    request().device->constants = std::make_shared<ResidentConstants>();
    request().device->programs = std::make_shared<SharedPrograms>();
    return MakeRunsInSmallerGroups(nullptr);
  }

  // Repeats once without kernels that need scratch memory if the limit would be exceeded.
  Status MakeWithinTheLimit() {
    const Status status = MakeRunsWithCache();
    if (status.ok() || !exceeds_limit() || made_->plan_request.options.low_memory) return status;
    made_->plan_request.options.low_memory = true;
    return MakeRunsWithCache();
  }

  // Call it when the plan's buffers are there.
  void WarnOfSpilledBuffers() {
    const uint64_t bytes = opened().device->spilled_bytes();
    if (bytes == 0) return;
    warnings().push_back(fmt::format(
        "the memory of {} is full: {:.1f} MiB that kernels read and write lie in the host's memory, which is many "
        "times slower; close other programs that use the device, or ask for precision fp16 or a smaller shape",
        opened().info.name, static_cast<double>(bytes) / (1 << 20)));
  }

  void CountOperators() {
    const Plan& plan = made_->plan();
    auto& ops = made_->report.ops;
    ops.total = plan.source_op_count;
    std::set<int32_t> told;  // an operator can be several nodes
    for (const Fallback& fallback : plan.fallbacks) {
      if (fallback.source_index >= 0 && !told.insert(fallback.source_index).second) continue;
      ops.fallbacks.push_back({fallback.source_index, fallback.op, fallback.reason});
    }
    const int on_cpu = std::min(ops.total, static_cast<int>(ops.fallbacks.size()));
    ops.on_cpu = made_->info.is_host() ? ops.total : on_cpu;
    ops.on_device = ops.total - ops.on_cpu;
    for (const std::vector<std::string>& more :
         {PlacementWarnings(plan.fallbacks, static_cast<int>(plan.segments.size())),
          UnknownCpuOpsWarnings(made_->model().data().graph, options().cpu_ops)})
      warnings().insert(warnings().end(), more.begin(), more.end());
  }

  void CountTransfers() {
    const Plan& plan = made_->plan();
    auto& transfers = made_->report.transfers;
    for (const PlanTensor& input : plan.inputs)
      transfers.to_device_bytes += input.on_device ? input.transfer.range.size_bytes : 0;
    for (const PlanTensor& output : plan.outputs)
      transfers.to_host_bytes += output.on_device ? output.transfer.range.size_bytes : 0;
    for (const Segment& segment : plan.segments) {
      for (const SegmentOperand& read : segment.reads)
        transfers.to_host_bytes += read.crosses ? read.transfer.range.size_bytes : 0;
      for (const SegmentOperand& write : segment.writes)
        transfers.to_device_bytes += write.crosses ? write.transfer.range.size_bytes : 0;
    }
  }

  void FillReport() {
    const Plan& plan = made_->plan();
    const LoadedPlan& loaded = *made_->loaded;
    Report& report = made_->report;
    const DeviceInfo& info = opened().info;
    report.device = {opened().id, info.backend, info.name, info.driver_version, opened().reason, info.simulates, {}};
    if (info.driver_version.find("Mesa") != std::string::npos) report.device.keeps_nothing = WhyMesaKeepsNothing();
    report.init_ms.rewrite = made_->made.rewrite_ms;
    report.init_ms.lower = made_->made.lower_ms;
    report.init_ms.programs = loaded.times().programs_ms + runs_->more_programs().milliseconds();
    report.init_ms.weights = loaded.times().weights_ms;
    const LoadedPrograms& programs = loaded.programs();
    report.programs = {static_cast<int>(plan.kernels.size()),
                       programs.compiled,
                       programs.spirv_compiled,
                       programs.loaded,
                       static_cast<int>(plan.dispatches.size()),
                       opened().device->takes_binaries()};
    const MemoryFigures host = loaded.host_memory();
    report.memory.arena_bytes = plan.memory.arena_bytes + host.arena_bytes;
    report.memory.naive_bytes = plan.memory.naive_bytes + host.naive_bytes;
    report.memory.lower_bound_bytes = plan.memory.lower_bound_bytes + host.lower_bound_bytes;
    report.memory.weights_bytes = plan.memory.weights_bytes + host.weights_bytes;
    report.threads = threads();
    CountTransfers();
    CountOperators();
  }

  const bool holds_file_;
  std::unique_ptr<Prepared> made_;
  std::unique_ptr<PlanRuns> runs_;
};

}  // namespace

PrepareRequest SuccessorOf(const PrepareRequest& request, std::shared_ptr<SessionDevice> device,
                           uint64_t memory_limit_bytes) {
  // A new member does not compile until it is decided here whether it goes along.
  const auto& [model, own_device, options, cache, own_limit_bytes, compile_threads, stop, for_warming, is_opening,
               is_clone, trusts_device, trusts_stored_plan, is_interim] = request;
  return {.model = model,
          .device = std::move(device),
          .options = options,
          .cache = cache,
          .memory_limit_bytes = memory_limit_bytes,
          .stop = options->stop,
          .for_warming = for_warming,
          .trusts_device = trusts_device};
}

Result<PlanRequest> RequestPlan(const PrepareRequest& request, DeviceInfo& info) {
  const SessionOptions& options = *request.options;
  HEARTH_ASSIGN(LowerOptions lowering, OptionsFromChoices({options.precision, options.preference, options.priority}));
  if (!info.fp16_storage) lowering.precision = Precision::kFp32;
  lowering.cpu_ops = options.cpu_ops;
  HEARTH_ASSIGN(info.forced_rules, ForcedRulesFromText(options.rules));
  HEARTH_ASSIGN(const std::string name, NameOfModel(*request.model, request.cache.get()));
  if (request.cache != nullptr) {
    OpenedDevice& opened = request.device->opened;
    ResultCache& store = *request.cache->store;
    lowering.read_path = opened.read_path.LookUp(info, store);
    LimitItemsAsCompiled(name, *opened.device, info, store);
  }
  const ModelData& model = request.model->data();
  PlanRequest plan{&model.graph,           name, &info, lowering, model.signature, model.top_k, model.class_maps,
                   model.NameOfConstants()};
  plan.custom_ops = CustomOpsIn(model.graph);
  return plan;
}

Result<PreparedRuns> Prepare(const PrepareRequest& request, bool* exceeds_limit) {
  Preparation preparation(request);
  Result<PreparedRuns> made = preparation.Run();
  if (exceeds_limit != nullptr) *exceeds_limit = !made.ok() && preparation.exceeds_limit();
  return made;
}

std::vector<std::string> StorePrepared(Prepared& prepared) {
  const SessionCache& cache = *prepared.request.cache;
  const auto told = [](const Status& status) -> std::vector<std::string> {
    return {fmt::format("{}; nothing that was made of it is kept", status.message())};
  };
  if (const Status same = prepared.model().data().CheckFile(); !same.ok()) return told(same);
  ResultCache& store = *cache.store;
  // All in one transaction of the cache.
  const PutBatch batch(&store);
  std::vector<std::string> warnings = prepared.loaded->Store(prepared.made.is_new);
  const ModelData& model = prepared.model().data();
  const OpenedDevice& opened = prepared.request.device->opened;
  const bool is_new_file = cache.folder != nullptr && !model.bytes.empty() && !cache.is_model_recalled;
  // Not only with a new plan: this start may have found the limit of a stored one by trying.
  const bool has_new_limit = HasUnknownLimit(cache.model_name, *opened.device, prepared.info, store);
  if (prepared.made.is_new || is_new_file || has_new_limit) {
    Result<std::string> name = NameToStore(prepared.model(), cache);
    const Status same = name.ok() ? model.CheckFile() : name.status();  // it may have changed while it was read
    if (!same.ok()) return told(same);
    prepared.plan_request.model = std::move(name).value();
    if (cache.model_known_by == kKnownByDigestFile && prepared.plan_request.model.value != cache.model_name) {
      warnings.push_back(fmt::format(
          "'{0}.sha256' is not the digest of '{0}', so no start finds what the cache has; write it with sha256sum",
          prepared.model().path()));
    }
  }
  const double made_ms = prepared.made.rewrite_ms + prepared.made.lower_ms;
  if (prepared.made.is_new) StorePlan(prepared.plan_request, prepared.loaded->plan(), made_ms, store);
  if (has_new_limit) {
    StoreItemsAsCompiled(prepared.plan_request.model, *opened.device, prepared.info, made_ms, store);
  }
  return warnings;
}

}  // namespace hearth
