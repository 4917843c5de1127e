#include "hearth/session.h"

#include <algorithm>
#include <utility>

#include "backends/cpu/cpu_executor.h"
#include "backends/cpu/usable_cpus.h"
#include "core/base/error.h"
#include "core/base/float_environment.h"
#include "core/base/log.h"
#include "core/base/run_limit.h"
#include "core/base/threads.h"
#include "core/device/device_rules.h"
#include "frontends/api/device_behind.h"
#include "frontends/api/hot_start.h"
#include "frontends/api/model_data.h"
#include "frontends/api/model_formats.h"
#include "frontends/api/next_device.h"
#include "frontends/api/session_call.h"
#include "frontends/api/session_data.h"
#include "frontends/api/session_device.h"
#include "frontends/api/session_memory.h"
#include "frontends/api/session_report.h"
#include "frontends/api/session_store.h"
#include "frontends/api/shown_outputs.h"
#include "frontends/api/warming.h"
#include "frontends/engine/items_as_compiled.h"
#include "frontends/engine/priorities.h"
#include "frontends/engine/read_path_probe.h"
#include "hal/smaller_groups.h"

namespace hearth {

namespace {

Status CheckCounts(const SessionOptions& options) {
  struct Count {
    std::string_view name;
    int value, least, most;
  };
  for (const Count& count : {Count{"max_in_flight", options.max_in_flight, 1, kMostInFlight},
                             Count{"kept_shapes", options.kept_shapes, 0, kMostKeptShapes},
                             Count{"threads", options.threads, 0, kMostThreads}}) {
    if (count.value >= count.least && count.value <= count.most) continue;
    return Error(StatusCode::kInvalidArgument, "{} is {}; it must be {} to {}", count.name, count.value, count.least,
                 count.most);
  }
  return Status::Ok();
}

Result<LowerOptions> AskedOptions(const SessionOptions& options) {
  return OptionsFromChoices({options.precision, options.preference, options.priority});
}

int ThreadCount(int wanted) {
  return wanted > 0 ? wanted : UsableCpus();
}

Status ChooseKernels(SessionData& data) {
  TuningRequest request{data.options.tune, data.opened.device.get(), data.store.get(), data.threads, {}, data.stop};
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

// Inputs and outputs must have the model's sizes: users allocate memory by those.
Status CheckSizes(const std::vector<PlanTensor>& tensors, const std::vector<TensorInfo>& infos) {
  const bool are_same = std::ranges::equal(tensors, infos, [](const PlanTensor& tensor, const TensorInfo& info) {
    return tensor.desc.size_bytes() == info.size_bytes;
  });
  return are_same ? Status::Ok() : Error(StatusCode::kInternal, "the plan is not the model's");
}

bool IsOverTheLimit(const SessionData& data) {
  const uint64_t limit = data.options.memory_limit_bytes;
  return limit != 0 && data.report.memory.needed_bytes > limit;
}

// `held_bytes`: the part of the plan's weights that is already in memory.
Status CountMemory(SessionData& data, const Plan& plan, uint64_t held_bytes, const MemoryFigures& host) {
  MemoryNeed need = NeedOf(plan, data.opened.info, host);
  data.rest_bytes = need.total() - ConstantBytes(plan);
  data.frame_bytes = 0;
  need.weights_bytes -= std::min(need.weights_bytes, held_bytes);
  data.report.memory.needed_bytes = need.total();
  HEARTH_TRY(CheckMemoryLimit(data, need));
  return CheckHostMemory(data, need);
}

Status MakeRunner(SessionData& data, ResultCache* plans) {
  const ModelData& model = data.model->data();
  Result<MadePlan> made = MakePlan(data.plan_request, plans);
  if (!made.ok())
    return Status(made.status().code(), made.status().message() + OpenShapeHint(model, made.status().code()));
  data.made = std::move(made).value();
  const Graph* graph = data.made.lowered_graph.get();
  const bool has_host_steps = data.made.plan.has_host_steps();
  if (!has_host_steps) {
    HEARTH_TRY(CountMemory(data, data.made.plan, HeldBytesOf(data.made.plan, *data.held.constants), {}));
  } else {  // counted below, with the host's part; the device's memory is checked now
    HEARTH_TRY(CheckHostMemory(data, NeedOf(data.made.plan, data.opened.info, {})));
  }
  if (data.host == nullptr) data.host = MakeCpuExecutor();
  const RunnerParts parts{data.opened.device.get(),
                          graph,
                          {model.bytes},
                          data.host.get(),
                          data.store.get(),
                          data.threads,
                          data.compile_threads,
                          [&model](std::span<const std::byte> bytes) { ReleasePages(model, bytes); },
                          {},
                          data.stop,
                          data.held.constants.get(),
                          data.held.programs.get(),
                          Warming::IsNow()};
  HEARTH_ASSIGN(std::unique_ptr<PlanRunner> runner, PlanRunner::Create(std::move(data.made.plan), parts));
  if (has_host_steps) {
    HEARTH_TRY(CountMemory(data, runner->plan(), runner->held_weights_bytes(), runner->host_memory()));
    data.rest_bytes -= runner->shared_host_weights_bytes();
  }
  data.runner = std::move(runner);
  HEARTH_TRY(CheckSizes(data.runner->plan().inputs, data.model->inputs()));
  return CheckSizes(data.runner->plan().outputs, data.model->outputs());
}

// Only a driver's compiler knows how many work items a kernel's groups may have: the plan is made again where it takes
// fewer than the device's limit.
Status MakeRunnerInSmallerGroups(SessionData& data, ResultCache* plans) {
  if (data.opened.device == nullptr) return MakeRunner(data, plans);
  return MakeInSmallerGroups(*data.opened.device, data.opened.info, [&] { return MakeRunner(data, plans); });
}

// A bad cache entry never fails a start: an entry that led to an error is rejected, and everything is made again once
// without the cache.
Status MakeRunner(SessionData& data) {
  const uint64_t rejected = data.store == nullptr ? 0 : data.store->counters().rejected;
  const Status status = MakeRunnerInSmallerGroups(data, data.store.get());
  const bool is_blameless = data.stop.stop_requested() || IsOverTheLimit(data);
  if (status.ok() || data.store == nullptr || is_blameless) return status;
  if (data.made.found_as) data.store->Reject({&*data.made.found_as, 1}, status.message());
  if (data.store->counters().rejected == rejected) return status;
  data.runner.reset();
  data.held = {};
  return MakeRunnerInSmallerGroups(data, nullptr);
}

// Repeats once without kernels that need scratch memory if the limit would be exceeded.
Status MakeRunnerWithinTheLimit(SessionData& data) {
  const Status status = MakeRunner(data);
  if (status.ok() || !IsOverTheLimit(data) || data.plan_request.options.low_memory) return status;
  data.plan_request.options.low_memory = true;
  return MakeRunner(data);
}

// Adds the warnings that are known before anything is made.
void AddWarnings(SessionData& data, Precision wanted) {
  std::vector<std::string>& warnings = data.report.warnings;
  const Precision used = data.plan_request.options.precision;
  // On the CPU of a hot start fp32 is more precise than what was asked for.
  const bool answers_for_another = data.report.start.mode == "hot" && data.opened.device == nullptr;
  if (used != wanted && !answers_for_another) {
    warnings.push_back(
        fmt::format("precision {} is not available on {}; fp32 is used", PrecisionName(wanted), data.opened.id));
  }
  warnings.insert(warnings.end(), data.opened.warnings.begin(), data.opened.warnings.end());
  const std::vector<std::string>& shape_warnings = data.model->data().shape_warnings;
  warnings.insert(warnings.end(), shape_warnings.begin(), shape_warnings.end());
}

// Call it when the runner's buffers are there.
void WarnOfSpilledBuffers(SessionData& data) {
  const uint64_t bytes = data.opened.device == nullptr ? 0 : data.opened.device->spilled_bytes();
  if (bytes == 0) return;
  data.report.warnings.push_back(fmt::format(
      "the memory of {} is full: {:.1f} MiB that kernels read and write lie in the host's memory, which is many times "
      "slower; close other programs that use the device, or ask for precision fp16 or a smaller shape",
      data.opened.info.name, static_cast<double>(bytes) / (1 << 20)));
}

// Opens the device on another thread while `meanwhile` runs. A hot start opens the CPU, which takes no time.
Status OpenDeviceDuring(SessionData& data, const std::function<Status()>& meanwhile) {
  HEARTH_TRY(CheckStart(data.options));
  if (IsAskedHot(data.options)) {
    HEARTH_ASSIGN(data.opened, OpenChosenDevice("cpu"));
    return meanwhile();
  }
  WorkBeside opening([&] {
    const Stopwatch watch;
    Result<OpenedDevice> opened = OpenAskedDevice(data);
    if (opened.ok()) data.opened = std::move(opened).value();
    data.report.init_ms.open_device = watch.milliseconds();
    return opened.status();
  });
  HEARTH_TRY(meanwhile());
  return opening.Join();
}

// Precondition: model and cache are open, and the device too unless the CPU answers first.
Status Start(SessionData& data) {
  if (data.model_name.empty()) {
    data.model_name = NameOfModel(data, NameUse::kLookUp);
    RememberModel(data, data.model_name);
  }
  HEARTH_ASSIGN(std::unique_ptr<SessionData> next, ChooseStart(data));
  HEARTH_TRY(PrepareOnAUsableDevice(data).Within(data.model->path()));
  data.report.start.first_by = data.opened.id;
  if (next == nullptr) return Status::Ok();
  BeginBehind(data, std::move(next));
  return Status::Ok();
}

}  // namespace

SessionData::SessionData() = default;
// Logs warnings of the last stores, which are in no report.
SessionData::~SessionData() {
  if (!is_beside && waits != nullptr) NoteCache(*this);
  LogNewWarnings();
}

Status RequestPlan(SessionData& data) {
  data.threads = ThreadCount(data.options.threads);
  HEARTH_ASSIGN(LowerOptions lowering, AskedOptions(data.options));
  const bool stores_halves = data.opened.device != nullptr && data.opened.device->info().fp16_storage;
  if (!stores_halves) lowering.precision = Precision::kFp32;
  lowering.cpu_ops = data.options.cpu_ops;
  HEARTH_ASSIGN(data.opened.info.forced_rules, ForcedRulesFromText(data.options.rules));
  if (data.store != nullptr && data.opened.device != nullptr) {
    lowering.read_path = data.opened.read_path.LookUp(data.opened.info, *data.store);
    LimitItemsAsCompiled(data.model_name, *data.opened.device, data.opened.info, *data.store);
  }
  const ModelData& model = data.model->data();
  data.plan_request = {&model.graph,    data.model_name, &data.opened.info, lowering,
                       model.signature, model.top_k,     model.class_maps};
  return Status::Ok();
}

// Before the first plan for a device and not after it, so that a second start finds the plan and programs of the first.
void ProbeAtFirstUse(SessionData& data) {
  if (data.store == nullptr || data.opened.device == nullptr) return;
  OpenedDevice& opened = data.opened;
  data.plan_request.options.read_path = opened.read_path.Probe(*opened.device, opened.info, *data.store);
}

Status Prepare(SessionData& data) {
  HEARTH_TRY(CheckCounts(data.options));
  HEARTH_TRY(RequestPlan(data));
  HEARTH_TRY(TrustDevice(data));
  ProbeAtFirstUse(data);
  HEARTH_ASSIGN(const LowerOptions asked, AskedOptions(data.options));
  data.report.precision = PrecisionName(data.plan_request.options.precision);
  AddWarnings(data, asked.precision);
  const ModelData& model = data.model->data();
  HEARTH_TRY(ChooseKernels(data));
  HEARTH_TRY(MakeRunnerWithinTheLimit(data));
  WarnOfSpilledBuffers(data);
  ReleasePages(model, model.bytes);
  data.inputs.clear();
  data.outputs.clear();
  for (const TensorInfo& input : data.model->inputs()) data.inputs.emplace_back(input.size_bytes);
  data.outputs.resize(data.model->outputs().size());
  ShowOwnRuns(data);
  data.input_states.assign(data.inputs.size(), {});
  data.output_states.assign(data.outputs.size(), {});
  data.slots.clear();
  data.slots.resize(static_cast<size_t>(data.options.max_in_flight));
  FillReport(data);
  auto& times = data.report.init_ms;
  times.total = data.since_asked.milliseconds();
  // Opening the device overlaps reading cache and model; uploading weights overlaps compiling programs.
  const double covered = std::max(times.open_device, times.open_cache + times.read_model) + times.rewrite +
                         times.lower + std::max(times.programs, times.weights);
  times.other = std::max(0.0, times.total - covered);
  Log(LogLevel::kInfo,
      fmt::format("{} on {} ({}): {}", data.model->path(), data.opened.id, data.opened.info.name, data.opened.reason));
  Log(LogLevel::kDebug, StartText(data.report));
  data.LogNewWarnings();
  return Status::Ok();
}

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
  // A forked child must not release objects of drivers and cache: their threads do not exist there.
  if (data_ != nullptr && data_->process != ::getpid()) static_cast<void>(data_.release());
  if (data_ != nullptr) SaveToCache();
}

Result<Session> Session::Open(const std::string& model_path, const SessionOptions& options) {
  const DefaultFloatEnvironment environment;
  auto data = std::make_unique<SessionData>();
  data->options = options;
  const auto read_model = [&]() -> Status {
    if (data->owned_model != nullptr) return Status::Ok();
    HEARTH_ASSIGN(Model model, Model::FromFile(model_path, options.model));
    data->owned_model = std::make_shared<const Model>(std::move(model));
    OpenStore(*data);
    return Status::Ok();
  };
  if (!BeginsAsModel(model_path)) HEARTH_TRY(read_model());  // most likely an error, so no driver is started
  HEARTH_TRY(OpenDeviceDuring(*data, read_model));
  data->model = data->owned_model.get();
  HEARTH_TRY(Start(*data));
  return Session(std::move(data));
}

Result<Session> Session::Create(const Model& model, const SessionOptions& options) {
  if (&model.data() == &NoModelData())
    return Error(StatusCode::kInvalidArgument, "this model was moved from: use the one that it was moved to");
  const ModelOptions& of_model = options.model;
  if (!of_model.signature.empty() || !of_model.input_shapes.empty() || of_model.top_k != 0 || of_model.class_maps) {
    return Error(StatusCode::kInvalidArgument,
                 "signature, input shapes, top_k and class_maps are chosen when the model is read");
  }
  auto data = std::make_unique<SessionData>();
  data->options = options;
  data->model = &model;
  return CreateSession(std::move(data));
}

Result<Session> CreateSession(std::unique_ptr<SessionData> data) {
  const DefaultFloatEnvironment environment;
  HEARTH_TRY(OpenDeviceDuring(*data, [&] {
    OpenStore(*data);
    return Status::Ok();
  }));
  HEARTH_TRY(Start(*data));
  return Session(std::move(data));
}

const Model& Session::model() const {
  static const Model none(nullptr);  // for a session that was moved from
  return data_ != nullptr ? *data_->model : none;
}
const std::vector<TensorInfo>& Session::inputs() const {
  return model().inputs();
}
const std::vector<TensorInfo>& Session::outputs() const {
  return model().outputs();
}

void Session::SaveToCache() {
  const SessionCall call(data_.get());
  if (!call.status().ok()) return;
  SaveData(*data_);
  for (const auto& other : data_->other_shapes) SaveData(*other);
  SaveBehind(*data_);
}

// Waits without the session's lock: it may take long, and other threads' runs continue.
Status Session::WaitForDevice() {
  {
    const SessionCall call(data_.get());
    HEARTH_TRY(call.status());
  }
  return WaitForBehind(*data_);
}

bool RestartWithoutStored(SessionData& data, const Status& failure) {
  const bool is_its_fault = failure.code() != StatusCode::kInvalidArgument && !WasRunLimitReached();
  if (data.store == nullptr || data.has_run || !is_its_fault) return false;
  const bool has_loaded = data.runner->RejectLoaded(failure.message());
  if (data.made.found_as) data.store->Reject({&*data.made.found_as, 1}, failure.message());
  if (!has_loaded && !data.made.found_as) return false;
  KeepShownOutputs(data);
  MadePlan failed_plan = std::move(data.made);
  std::unique_ptr<PlanRunner> failed_runner = std::move(data.runner);
  data.held = {};
  if (MakeRunnerInSmallerGroups(data, nullptr).ok()) return true;
  data.made = std::move(failed_plan);
  data.runner = std::move(failed_runner);
  return false;
}

}  // namespace hearth
