#include "hearth/session.h"

#include <algorithm>
#include <filesystem>
#include <thread>

#include "backends/cpu/cpu_executor.h"
#include "backends/cpu/usable_cpus.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/device/device_rules.h"
#include "core/lowering/lower.h"
#include "frontends/api/model_data.h"
#include "frontends/api/next_device.h"
#include "frontends/api/session_data.h"
#include "frontends/engine/device_simulation.h"
#include "frontends/engine/open_cache.h"
#include "frontends/engine/peak_memory.h"
#include "frontends/engine/placement_warnings.h"
#include "frontends/engine/priorities.h"
#include "frontends/engine/read_path_probe.h"
#include "frontends/engine/tuning_cache.h"

namespace hearth {

namespace {

constexpr int kMostInFlight = 64;

int ThreadCount(int wanted) {
  return wanted > 0 ? wanted : UsableCpus();
}

ModelName NameOf(const SessionData& data) {
  const Model& model = data.model != nullptr ? *data.model : *data.owned_model;
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(model.path(), error);
  return {model.fingerprint(), error ? model.path() : path.string()};
}

// A cache that can't be had is a warning, never an error.
void OpenStore(SessionData& data) {
  const SessionOptions& options = data.options;
  if (!options.use_cache) return;
  const Stopwatch watch;
  data.waits.emplace(options.cache_wait_ms);
  OpenedCache opened =
      OpenCache({options.cache_folder, options.cache_layers, options.cache_layer_keys, options.trust_cache_layers,
                 options.cache_max_bytes, options.cache_read_only, options.cache_store, options.cache_server,
                 options.on_cache_event, NameOf(data), &*data.waits});
  data.store = std::move(opened.store);
  data.report.cache.path = opened.path;
  for (std::string& warning : opened.warnings) data.report.warnings.push_back(std::move(warning));
  data.report.init_ms.open_cache = watch.milliseconds();
}

Precision ChoosePrecision(SessionData& data, Precision wanted) {
  const bool stores_halves = data.opened.device != nullptr && data.opened.device->info().fp16_storage;
  if (wanted == Precision::kFp32 || stores_halves) return wanted;
  data.report.warnings.push_back(
      fmt::format("precision {} is not available on {}; fp32 is used", PrecisionName(wanted), data.opened.id));
  return Precision::kFp32;
}

void CountOperators(SessionData& data) {
  const Plan& plan = data.runner->plan();
  Report& report = data.report;
  report.ops.total = plan.source_op_count;
  const bool is_cpu = data.opened.device == nullptr;
  report.ops.on_cpu = is_cpu ? report.ops.total : static_cast<int>(plan.fallbacks.size());
  report.ops.on_device = report.ops.total - report.ops.on_cpu;
  report.ops.fallbacks.clear();
  for (const Fallback& fallback : plan.fallbacks) {
    report.ops.fallbacks.push_back({fallback.source_index, fallback.op, fallback.reason});
  }
  const std::vector<std::string> warnings = PlacementWarnings(plan.fallbacks, PiecesOf(plan));
  report.warnings.insert(report.warnings.end(), warnings.begin(), warnings.end());
  const std::vector<std::string> mistakes = UnknownCpuOpsWarnings(data.model->data().graph, data.options.cpu_ops);
  report.warnings.insert(report.warnings.end(), mistakes.begin(), mistakes.end());
}

void FillReport(SessionData& data) {
  const Plan& plan = data.runner->plan();
  Report& report = data.report;
  report.model_path = data.model->path();
  report.model_fingerprint = data.model->fingerprint();
  report.device.id = data.opened.id;
  report.device.backend = data.opened.info.backend;
  report.device.name = data.opened.info.name;
  report.device.driver = data.opened.info.driver_version;
  report.device.reason = data.opened.reason;
  report.init_ms.read_model = data.model->data().read_ms;
  report.init_ms.rewrite = data.made.rewrite_ms;
  report.init_ms.lower = data.made.lower_ms;
  report.init_ms.programs = data.runner->times().programs_ms;
  report.init_ms.weights = data.runner->times().weights_ms;
  const LoadedPrograms& programs = data.runner->programs();
  report.programs.distinct = static_cast<int>(plan.kernels.size());
  report.programs.compiled = programs.compiled;
  report.programs.spirv_compiled = programs.spirv_compiled;
  report.programs.loaded = programs.loaded;
  report.programs.dispatches = static_cast<int>(plan.dispatch_count());
  const MemoryFigures host = data.runner->host_memory();
  report.memory.arena_bytes = plan.memory.arena_bytes + host.arena_bytes;
  report.memory.naive_bytes = plan.memory.naive_bytes + host.naive_bytes;
  report.memory.lower_bound_bytes = plan.memory.lower_bound_bytes + host.lower_bound_bytes;
  report.memory.weights_bytes = plan.memory.weights_bytes;
  report.threads = data.threads;
  for (const PlanTensor& input : plan.inputs)
    report.transfers.to_device_bytes += input.on_device ? input.transfer.range.size_bytes : 0;
  for (const PlanTensor& output : plan.outputs)
    report.transfers.to_host_bytes += output.on_device ? output.transfer.range.size_bytes : 0;
  for (const Step& step : plan.steps) {
    if (const auto* host = std::get_if<HostStep>(&step)) {
      for (const HostTransfer& read : host->reads) report.transfers.to_host_bytes += read.range.size_bytes;
      for (const HostTransfer& write : host->writes) report.transfers.to_device_bytes += write.range.size_bytes;
    }
  }
  CountOperators(data);
}

// Phases of a start and what it had to make.
std::string StartText(const Report& report) {
  const auto& times = report.init_ms;
  return fmt::format(
      "start {:.1f} ms: device {:.1f}, cache {:.1f}, model {:.1f}, rewrite {:.1f}, lower {:.1f}, programs {:.1f} ({} "
      "distinct, {} compiled, {} loaded), weights {:.1f}; {} dispatches, {} operations on the device, {} on the CPU",
      times.total, times.open_device, times.open_cache, times.read_model, times.rewrite, times.lower, times.programs,
      report.programs.distinct, report.programs.compiled, report.programs.loaded, times.weights,
      report.programs.dispatches, report.ops.on_device, report.ops.on_cpu);
}

Status ChooseKernels(SessionData& data) {
  TuningRequest request{
      data.options.tune, data.opened.device.get(), data.store.get(), data.options.cache_read_only, data.threads, {}};
  if (data.options.on_tuning) {
    request.observer = [&](const TuneProgress& progress) {
      data.options.on_tuning({progress.done, progress.total, progress.layer,
                              progress.layer.empty() ? "" : ToText(progress.chosen), progress.chosen_ms,
                              progress.rule_ms});
    };
  }
  HEARTH_ASSIGN(data.tuning, TuneBeforePlan(request, data.plan_request));
  data.report.tuning = {std::string(TuneModeName(data.tuning.mode)), data.tuning.measured, data.tuning.changed,
                        data.tuning.recorded, data.tuning.measuring_ms};
  return Status::Ok();
}

// What devices hold now need not lie in host memory too. A model given in memory keeps its copy.
void ReleasePages(const ModelData& model, std::span<const std::byte> bytes) {
  if (model.file) model.file->ReleasePages(bytes);
}

// The sizes of inputs and outputs are the model's: users' memory is made for those.
Status CheckSizes(const std::vector<PlanTensor>& tensors, const std::vector<TensorInfo>& infos) {
  const bool are_same = std::ranges::equal(tensors, infos, [](const PlanTensor& tensor, const TensorInfo& info) {
    return tensor.desc.size_bytes() == info.size_bytes;
  });
  return are_same ? Status::Ok() : Error(StatusCode::kInternal, "the plan is not the model's");
}

Status MakeRunner(SessionData& data, BlobStore* plans) {
  const ModelData& model = data.model->data();
  Result<MadePlan> made = MakePlan(data.plan_request, plans);
  if (!made.ok())
    return Status(made.status().code(), made.status().message() + OpenShapeHint(model, made.status().code()));
  data.made = std::move(made).value();
  if (data.host == nullptr) data.host = MakeCpuExecutor();
  const RunnerParts parts{data.opened.device.get(),
                          data.made.lowered_graph ? &*data.made.lowered_graph : nullptr,
                          model.bytes,
                          data.host.get(),
                          data.store.get(),
                          data.threads,
                          [&model](std::span<const std::byte> bytes) { ReleasePages(model, bytes); }};
  HEARTH_ASSIGN(data.runner, PlanRunner::Create(std::move(data.made.plan), parts));
  if (!data.made.is_stored) return Status::Ok();
  HEARTH_TRY(CheckSizes(data.runner->plan().inputs, data.model->inputs()));
  return CheckSizes(data.runner->plan().outputs, data.model->outputs());
}

// What stood in the cache never fails a start: where something that came from there led to an error, it is taken out
// and everything is made anew, once.
Status MakeRunner(SessionData& data) {
  const uint64_t rejected = data.store == nullptr ? 0 : data.store->counters().rejected;
  const Status status = MakeRunner(data, data.store.get());
  if (status.ok() || data.store == nullptr) return status;
  if (data.made.is_stored) data.store->Reject(PlanKey(data.plan_request), status.message());
  if (data.store->counters().rejected == rejected) return status;
  data.runner.reset();
  return MakeRunner(data, nullptr);
}

// Everything after the device is open and the model is read.
Status Prepare(SessionData& data) {
  if (data.options.max_in_flight < 1 || data.options.max_in_flight > kMostInFlight) {
    return Error(StatusCode::kInvalidArgument, "max_in_flight is {}; 1 to {} make sense", data.options.max_in_flight,
                 kMostInFlight);
  }
  data.threads = ThreadCount(data.options.threads);
  HEARTH_ASSIGN(LowerOptions lowering,
                OptionsFromChoices({data.options.precision, data.options.preference, data.options.priority}));
  lowering.precision = ChoosePrecision(data, lowering.precision);
  data.report.precision = PrecisionName(lowering.precision);
  data.report.warnings.insert(data.report.warnings.end(), data.opened.warnings.begin(), data.opened.warnings.end());
  const std::vector<std::string>& shape_warnings = data.model->data().shape_warnings;
  data.report.warnings.insert(data.report.warnings.end(), shape_warnings.begin(), shape_warnings.end());
  lowering.cpu_ops = data.options.cpu_ops;
  HEARTH_ASSIGN(data.opened.info.forced_rules, ForcedRulesFromText(data.options.rules));
  if (data.store != nullptr && data.opened.device != nullptr)
    lowering.read_path = ProbedReadPath(data.opened.info, *data.store);
  const ModelData& model = data.model->data();
  data.plan_request = {&model.graph, model.fingerprint,        &data.opened.info,
                       lowering,     data.options.model_token, model.signature};
  HEARTH_TRY(ChooseKernels(data));
  HEARTH_TRY(MakeRunner(data));
  ReleasePages(model, model.bytes);
  data.inputs.clear();
  data.outputs.clear();
  for (const TensorInfo& input : data.model->inputs()) data.inputs.emplace_back(input.size_bytes);
  for (const TensorInfo& output : data.model->outputs()) data.outputs.emplace_back(output.size_bytes);
  data.input_states.assign(data.inputs.size(), {});
  data.output_states.assign(data.outputs.size(), {});
  data.slots.clear();
  data.slots.resize(static_cast<size_t>(data.options.max_in_flight));
  FillReport(data);
  auto& times = data.report.init_ms;
  times.total = data.since_asked.milliseconds();
  // Device opening overlaps cache and model; weights overlap programs.
  const double covered = std::max(times.open_device, times.open_cache + times.read_model) + times.rewrite +
                         times.lower + std::max(times.programs, times.weights);
  times.other = std::max(0.0, times.total - covered);
  Log(LogLevel::kInfo,
      fmt::format("{} on {} ({}): {}", data.model->path(), data.opened.id, data.opened.info.name, data.opened.reason));
  Log(LogLevel::kDebug, StartText(data.report));
  data.LogNewWarnings();
  return Status::Ok();
}

// All that this start had to make, in one transaction of the cache. Returns warnings.
std::vector<std::string> SaveInOneBatch(SessionData& data) {
  const PutBatch batch(data.store.get());
  std::vector<std::string> warnings = data.runner->SaveToStore(data.made.is_new);
  ReleasePages(data.model->data(), data.model->data().bytes);
  if (data.made.is_new) {
    StorePlan(data.plan_request, data.runner->plan(), data.made.rewrite_ms + data.made.lower_ms, *data.store);
  }
  if (data.opened.device != nullptr) {
    // An empty record: the next start then finds everything that it asks for.
    if (!data.tuning.has_record) StoreTuning(data.opened.info, {}, 0, *data.store);
    ProbeReadPathOnce(*data.opened.device, *data.store);
  }
  return warnings;
}

// Opens the device on a thread of its own while `meanwhile` runs.
Status OpenDeviceDuring(SessionData& data, const std::function<Status()>& meanwhile) {
  Status device_status;
  std::thread opening([&] {
    const Stopwatch watch;
    Result<OpenedDevice> opened =
        data.options.shared.index() != 0 ? OpenSharedDevice(data.options.shared, data.options.device, data.backends)
        : !data.options.simulate.empty() ? OpenDeviceAs(data.options.device, data.options.simulate)
                                         : OpenChosenDevice(data.options.device, {}, data.backends);
    device_status = opened.status();
    if (opened.ok()) data.opened = std::move(opened).value();
    data.report.init_ms.open_device = watch.milliseconds();
  });
  const Status status = meanwhile();
  opening.join();
  HEARTH_TRY(status);
  return device_status;
}

}  // namespace

Status PrepareOnAUsableDevice(SessionData& data) {
  const std::vector<std::string> warnings = data.report.warnings;
  Status status = Prepare(data);
  while (IsTheDevicesFault(status) && HasNextDevice(data)) {
    HEARTH_TRY(TakeNextDevice(data, "could not be made ready", status));
    data.report.warnings = warnings;
    status = Prepare(data);
  }
  return status;
}

Session::Session(std::unique_ptr<SessionData> data) : data_(std::move(data)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

Session::~Session() {
  // A forked child cannot release what drivers and the cache hold: their threads do not exist there.
  if (data_ != nullptr && data_->process != ::getpid()) static_cast<void>(data_.release());
  if (data_ != nullptr) SaveToCache();
}

Result<Session> Session::Open(const std::string& model_path, const SessionOptions& options) {
  auto data = std::make_unique<SessionData>();
  data->options = options;
  HEARTH_TRY(OpenDeviceDuring(*data, [&]() -> Status {
    HEARTH_ASSIGN(Model model, Model::FromFile(model_path, options.model));
    data->owned_model.emplace(std::move(model));
    OpenStore(*data);
    return Status::Ok();
  }));
  data->model = &*data->owned_model;
  HEARTH_TRY(PrepareOnAUsableDevice(*data).Within(model_path));
  return Session(std::move(data));
}

Result<Session> Session::Create(const Model& model, const SessionOptions& options) {
  if (!options.model.signature.empty() || !options.model.input_shapes.empty()) {
    return Error(StatusCode::kInvalidArgument, "signature and input shapes are chosen when the model is read");
  }
  auto data = std::make_unique<SessionData>();
  data->options = options;
  data->model = &model;
  return CreateSession(std::move(data));
}

Result<Session> CreateSession(std::unique_ptr<SessionData> data) {
  HEARTH_TRY(OpenDeviceDuring(*data, [&] {
    OpenStore(*data);
    return Status::Ok();
  }));
  HEARTH_TRY(PrepareOnAUsableDevice(*data).Within(data->model->path()));
  return Session(std::move(data));
}

const Model& Session::model() const {
  return *data_->model;
}
const std::vector<TensorInfo>& Session::inputs() const {
  return data_->model->inputs();
}
const std::vector<TensorInfo>& Session::outputs() const {
  return data_->model->outputs();
}

void Session::SaveToCache() {
  if (data_->process != ::getpid()) return;
  // Binaries are worth keeping only after a run; see ProgramGroup::Binary.
  if (data_->store == nullptr || data_->options.cache_read_only || data_->is_saved || !data_->has_run) return;
  if (data_->runner == nullptr) return;
  data_->is_saved = true;
  const Stopwatch watch;
  std::vector<std::string> warnings = SaveInOneBatch(*data_);
  data_->store->Flush();
  data_->report.warnings.insert(data_->report.warnings.end(), warnings.begin(), warnings.end());
  data_->report.save_ms = watch.milliseconds();
}

bool RestartWithoutStored(SessionData& data, const Status& failure) {
  if (data.store == nullptr || data.has_run || failure.code() == StatusCode::kInvalidArgument) return false;
  const bool has_loaded = data.runner->RejectLoaded(failure.message());
  if (data.made.is_stored) data.store->Reject(PlanKey(data.plan_request), failure.message());
  if (!has_loaded && !data.made.is_stored) return false;
  MadePlan failed_plan = std::move(data.made);
  std::unique_ptr<PlanRunner> failed_runner = std::move(data.runner);
  if (MakeRunner(data, nullptr).ok()) return true;
  data.made = std::move(failed_plan);
  data.runner = std::move(failed_runner);
  return false;
}

const Report& Session::report() const {
  Report& report = data_->report;
  report.memory.peak_rss_bytes = PeakResidentBytes();
  if (data_->runner != nullptr)
    report.programs.compiled = data_->runner->programs().compiled + data_->runner->edge_programs_compiled();
  if (data_->store != nullptr) {
    const StoreCounters counters = data_->store->counters();
    report.cache.hits = counters.hits;
    report.cache.misses = counters.misses;
    report.cache.rejected = counters.rejected;
    report.cache.put_errors = counters.put_errors;
    report.cache.bytes_read = counters.bytes_read;
    report.cache.bytes_written = counters.bytes_written;
    report.cache.waited_ms = data_->waits->others.waited_ms();
    report.cache.waited_for_makers_ms = data_->waits->makers.waited_ms();
    for (std::string& warning : data_->store->TakeWarnings()) report.warnings.push_back("cache: " + warning);
  }
  data_->LogNewWarnings();
  return report;
}

}  // namespace hearth
