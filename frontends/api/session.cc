#include "hearth/session.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/float_environment.h"
#include "core/base/log.h"
#include "core/base/threads.h"
#include "frontends/api/model_formats.h"
#include "frontends/api/option_table.h"
#include "hal/device/stopping.h"
#include "runtime/model/model_data.h"
#include "runtime/session/hot_start.h"
#include "runtime/session/move.h"
#include "runtime/session/session_call.h"
#include "runtime/session/session_data.h"

namespace hearth {
namespace {

// Unset numbers are in no range.
Status CheckNumbers(SessionOptions options) {
  SessionOptions unset;
  for (const OptionRow& row : OptionRows()) {
    const auto* number = std::get_if<NumberOption>(&row.kind);
    if (number == nullptr || number->field(options) == number->field(unset)) continue;
    const int value = number->field(options);
    if (value >= number->least && value <= number->most) continue;
    return Error(StatusCode::kInvalidArgument, "{} is {}; it must be {} to {}", row.name, value, number->least,
                 number->most);
  }
  return Status::Ok();
}

// Opens the device on another thread while `meanwhile` runs. A hot start opens the CPU, which takes no time.
Result<std::shared_ptr<SessionDevice>> OpenDeviceDuring(SessionData& data, const std::function<Status()>& meanwhile) {
  if (data.request->device != nullptr) {
    HEARTH_TRY(meanwhile());
    return data.request->device;
  }
  if (IsAskedHot(*data.options)) {
    auto cpu = std::make_shared<SessionDevice>();
    HEARTH_ASSIGN(cpu->opened, OpenChosenDevice("cpu"));
    HEARTH_TRY(meanwhile());
    return cpu;
  }
  Result<std::shared_ptr<SessionDevice>> device = Status(StatusCode::kInternal, "not opened");
  WorkBeside opening([&] {
    const Stopwatch watch;
    device = OpenAskedDevice(*data.options, data.request->backends);
    data.report.init_ms.open_device = watch.milliseconds();
    return device.status();
  });
  HEARTH_TRY(meanwhile());
  HEARTH_TRY(opening.Join());
  return device;
}

Status OpenCacheFor(SessionData& data, const Model& model) {
  data.cache = data.request->cache;
  if (data.cache == nullptr) {
    const Stopwatch watch;
    data.cache = OpenSessionCache(*data.options, model, data.report.warnings);
    data.report.init_ms.open_cache = watch.milliseconds();
    if (data.cache != nullptr) {
      data.report.cache.model_known_by = data.cache->model_known_by;
      data.report.cache.model_hash_ms = data.cache->model_hash_ms;
    }
  }
  if (data.cache == nullptr) return Status::Ok();
  HEARTH_ASSIGN(data.cache->model_name, NameOfModel(model, data.cache.get()));
  return Status::Ok();
}

using ModelReading = std::function<Result<std::shared_ptr<const Model>>()>;

// Opens a session on the model that `read_model` reads while the device opens.
Result<Session> OpenOn(SessionRequest request, const ModelReading& read_model) {
  const DefaultFloatEnvironment environment;
  auto data = std::make_unique<SessionData>(std::move(request), Stopwatch());
  HEARTH_TRY(CheckStart(*data->options));
  std::shared_ptr<const Model> model;
  HEARTH_ASSIGN(std::shared_ptr<SessionDevice> device, OpenDeviceDuring(*data, [&]() -> Status {
                  HEARTH_ASSIGN(model, read_model());
                  HEARTH_TRY(model->data().CheckFile());
                  return OpenCacheFor(*data, *model);
                }));
  PrepareRequest prepare{.model = model,
                         .device = device,
                         .options = data->options,
                         .cache = data->cache,
                         .memory_limit_bytes = data->options->memory_limit_bytes,
                         .stop = data->options->stop,
                         .for_warming = data->request->for_warming,
                         .is_opening = true,
                         .trusts_device = data->request->trusts_devices};
  HEARTH_TRY(CheckNumbers(*data->options));
  if (prepare.stop.stop_requested()) return Stopped();
  HEARTH_ASSIGN(const bool is_hot, ChooseHotStart(*data, prepare));
  if (is_hot) {
    prepare.is_interim = true;
    prepare.device = std::make_shared<SessionDevice>();
    HEARTH_ASSIGN(prepare.device->opened, OpenChosenDevice("cpu"));
    prepare.device->opened.reason = "answers while another device is made ready";
    if (device->opened.info.is_host()) device.reset();  // the one that was asked for is not open yet
  }
  Result<std::unique_ptr<RunContext>> context = PrepareOnAUsableDevice(std::move(prepare), data->request->backends);
  HEARTH_TRY(context.status().Within(model->path()));
  data->context = std::move(context).value();
  NoteStart(*data);
  if (is_hot) BeginBackground(*data, std::move(device));
  return SessionData::Open(std::move(data));
}

}  // namespace

SessionData::SessionData(SessionRequest asked, const Stopwatch& asked_at)
    : since_asked(asked_at),
      request(std::make_shared<const SessionRequest>(std::move(asked))),
      options(request, &request->options) {}

// Logs warnings of the last stores, which are in no report. Also of a session that could not be opened.
SessionData::~SessionData() {
  NoteCache(*this);
  LogNewWarnings();
}

void SessionData::LogNewWarnings() {
  for (; logged_warnings < report.warnings.size(); ++logged_warnings)
    Log(LogLevel::kWarning, report.warnings[logged_warnings]);
}

Result<Session> CreateSession(const Model& model, SessionRequest request) {
  // The caller's, which outlives the session.
  const std::shared_ptr<const Model> borrowed(std::shared_ptr<const void>(), &model);
  return OpenOn(std::move(request), [&]() -> Result<std::shared_ptr<const Model>> { return borrowed; });
}

Result<Session> CreateSessionOn(const OpenedDevice& device, const Model& model, const SessionOptions& options) {
  auto opened = std::make_shared<SessionDevice>();
  opened->opened = device;
  return CreateSession(model, {.options = options, .device = std::move(opened)});
}

std::shared_ptr<Device> DeviceOf(Session& session) {
  const SessionData* data = SessionData::Of(session);
  return data != nullptr && data->context->has_device() ? data->context->prepared().request.device->opened.device
                                                        : nullptr;
}

Result<Session> OpenSession(const std::string& model_path, SessionRequest request) {
  const ModelReading read_model = [&, options = request.options.model]() -> Result<std::shared_ptr<const Model>> {
    HEARTH_ASSIGN(Model model, Model::FromFile(model_path, options));
    return std::make_shared<const Model>(std::move(model));
  };
  if (BeginsAsModel(model_path)) return OpenOn(std::move(request), read_model);
  // Most likely an error, so no driver is started.
  const Result<std::shared_ptr<const Model>> model = read_model();
  HEARTH_TRY(model.status());
  return OpenOn(std::move(request), [&] { return model; });
}

void SaveContext(SessionData& data, RunContext& context) {
  const Stopwatch watch;
  const std::vector<std::string> warnings = context.Store();
  data.report.warnings.insert(data.report.warnings.end(), warnings.begin(), warnings.end());
  data.report.save_ms += watch.milliseconds();
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
  return OpenSession(model_path, {.options = options});
}

Result<Session> Session::Create(const Model& model, const SessionOptions& options) {
  if (&model.data() == &NoModelData())
    return Error(StatusCode::kInvalidArgument, "this model was moved from: use the one that it was moved to");
  const ModelOptions& of_model = options.model;
  if (!of_model.signature.empty() || !of_model.input_shapes.empty() || of_model.top_k != 0 || of_model.class_maps ||
      !of_model.constants.empty() || !of_model.dimensions.empty() || !of_model.custom_ops.empty() ||
      !of_model.op_libraries.empty()) {
    return Error(
        StatusCode::kInvalidArgument,
        "signature, input shapes, dimensions, constants, operators, top_k and class_maps are chosen when the model "
        "is read");
  }
  return CreateSession(model, {.options = options});
}

const Model& Session::model() const {
  static const Model none(nullptr);  // for a session that was moved from
  return data_ != nullptr ? data_->context->model() : none;
}
const std::vector<TensorInfo>& Session::inputs() const {
  return model().inputs();
}
const std::vector<TensorInfo>& Session::outputs() const {
  return model().outputs();
}

Result<Session> Session::Clone() {
  const SessionCall call(data_.get());
  HEARTH_TRY(call.status());
  HEARTH_TRY(CheckHasDevice(*data_));
  auto clone = std::make_unique<SessionData>(*data_->request, Stopwatch());
  clone->cache = data_->cache;
  const PrepareRequest& own = data_->context->prepared().request;
  auto device = std::make_shared<SessionDevice>();
  device->opened = own.device->opened;
  device->opened.reason = "the device of the session that this one was cloned from";
  device->opened.warnings.clear();
  device->failed_ids = own.device->failed_ids;
  device->constants = own.device->constants;
  const Device* const driver = device->opened.device.get();
  if (driver != nullptr && driver->programs_serve_all_threads()) device->programs = own.device->programs;
  device->host = own.device->host->Beside();
  PrepareRequest request = SuccessorOf(own, std::move(device), data_->options->memory_limit_bytes);
  request.is_clone = true;
  Result<std::unique_ptr<RunContext>> context = PrepareContext(request);
  HEARTH_TRY(context.status().Within(data_->context->model().path()));
  clone->context = std::move(context).value();
  clone->report.start.reason = "cloned";
  NoteStart(*clone);
  return Session(std::move(clone));
}

void Session::SaveToCache() {
  const SessionCall call(data_.get());
  if (!call.status().ok()) return;
  SaveContext(*data_, *data_->context);
  for (const auto& earlier : data_->earlier_shapes) SaveContext(*data_, *earlier);
  StoreBackground(*data_);
}

Status Session::WaitForDevice() {
  std::shared_ptr<BackgroundDevice> device;
  HEARTH_TRY(InCall(data_.get(), [&device](auto& data) {
    device = data.hot.device;
    return Status::Ok();
  }));
  if (device == nullptr) return Status::Ok();
  device->Wait();  // not in a call: it may take long, and other threads' runs continue
  return device->progress().failure;
}

}  // namespace hearth
