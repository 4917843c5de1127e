// LiteRT 2's GPU accelerator: what its loader looks for in libLiteRtGpuAccelerator.so.
#include <string>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "frontends/accelerator/gpu_options.h"
#include "frontends/accelerator/hearth_buffer.h"
#include "frontends/accelerator/litert_memory.h"
#include "frontends/accelerator/litert_runtime.h"
#include "frontends/delegate/delegate.h"
#include "hearth/export.h"
#include "hearth/version.h"

namespace hearth {
namespace {

using namespace litert_c;  // NOLINT(google-build-using-namespace): the names of one interface

// Driver rules for a device that has to run everything, also what another does sooner.
constexpr std::string_view kTakesMore = "+device_detections";

// A function by which LiteRT asks for this.
template <typename T, T kAnswer>
LiteRtStatus Tell(LiteRtAcceleratorT*, T* answer) {
  if (answer == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *answer = kAnswer;
  return kLiteRtStatusOk;
}
constexpr char kName[] = "Hearth";
constexpr auto kTellName = Tell<const char*, kName>;
constexpr auto kTellVersion = Tell<LiteRtApiVersion, LiteRtApiVersion{1, 0, 0}>;
constexpr auto kTellHardware = Tell<int32_t, kLiteRtHwAcceleratorGpu>;
constexpr auto kTellIsResponsibleForJit = Tell<bool, true>;

std::string GpuOptionsOf(const LiteRtRuntime& runtime, LiteRtOptionsT* options) {
  LiteRtOpaqueOptionsT* opaque = nullptr;
  void* data = nullptr;
  const bool has_options = options != nullptr && runtime.opaque_options(options, &opaque) == kLiteRtStatusOk &&
                           opaque != nullptr &&
                           runtime.find_opaque_data(opaque, kGpuOptionsIdentifier, &data) == kLiteRtStatusOk;
  return has_options && data != nullptr ? std::string(static_cast<const char*>(data)) : std::string();
}

bool AllowsCpu(const LiteRtRuntime& runtime, LiteRtOptionsT* options) {
  int32_t accelerators = kLiteRtHwAcceleratorCpu;  // where it is not known, LiteRT finds out what nobody runs
  if (runtime.hardware != nullptr && runtime.hardware(options, &accelerators) != kLiteRtStatusOk) return true;
  return (accelerators & kLiteRtHwAcceleratorCpu) != 0;
}

// ---- Metrics: the times of kernels while they are collected ----

Delegate* DelegateOf(const LiteRtRuntime& runtime, LiteRtDelegateWrapperT* wrapper) {
  TfLiteDelegate* delegate = nullptr;
  const bool is_ours = wrapper != nullptr && runtime.unwrap_delegate(wrapper, &delegate) == kLiteRtStatusOk;
  return is_ours && delegate != nullptr ? Delegate::Of(delegate).get() : nullptr;
}

LiteRtStatus StartMetricsOf(LiteRtRuntimeContext* context, LiteRtDelegateWrapperT* wrapper, int /*detail_level*/) {
  return Answered([&]() -> Status {
    HEARTH_ASSIGN(const LiteRtRuntime runtime, LiteRtRuntime::Of(context));
    Delegate* delegate = DelegateOf(runtime, wrapper);
    if (delegate == nullptr) return Error(StatusCode::kInvalidArgument, "LiteRT gives no delegate");
    delegate->TakeTimes();
    delegate->set_profiling(true);
    return Status::Ok();
  });
}

// LiteRT before 2.3 takes no metrics from outside: only the report has them.
LiteRtStatus StopMetricsOf(LiteRtRuntimeContext* context, LiteRtDelegateWrapperT* wrapper, LiteRtMetricsT* metrics) {
  return Answered([&]() -> Status {
    HEARTH_ASSIGN(const LiteRtRuntime runtime, LiteRtRuntime::Of(context));
    Delegate* delegate = DelegateOf(runtime, wrapper);
    if (delegate == nullptr) return Error(StatusCode::kInvalidArgument, "LiteRT gives no delegate");
    delegate->set_profiling(delegate->options().is_profiling);
    const KernelTimes times = delegate->TakeTimes();
    using Append = LiteRtStatus (*)(LiteRtMetricsT * metrics, const LiteRtMetric* metric);
    const auto append = reinterpret_cast<Append>(LiteRtSymbol("LiteRtAppendMetric"));
    if (append == nullptr || metrics == nullptr) return Status::Ok();
    const LiteRtMetric invocations = {"hearth invocations", {kLiteRtAnyTypeInt, {times.invocations}}};
    append(metrics, &invocations);
    for (const auto& [kernel, milliseconds] : times.milliseconds) {
      const std::string name = fmt::format("hearth ms {}", kernel);
      LiteRtMetric metric = {name.c_str(), {kLiteRtAnyTypeReal, {}}};
      metric.value.real_value = milliseconds;
      append(metrics, &metric);
    }
    return Status::Ok();
  });
}

// The definition has places for these functions, but LiteRT (2.1 to 2.3) forgets them.
void RegisterMetrics(LiteRtAcceleratorT* accelerator) {
  const auto set = [accelerator](const char* name, auto function) {
    const auto call = reinterpret_cast<LiteRtStatus (*)(LiteRtAcceleratorT*, decltype(function))>(LiteRtSymbol(name));
    if (call != nullptr) call(accelerator, function);
  };
  set("LiteRtSetAcceleratorStartMetricsCollection", &StartMetricsOf);
  set("LiteRtSetAcceleratorStopMetricsCollection", &StopMetricsOf);
}

// Leaves `wrapper` null if no device is usable and LiteRT's CPU accelerator may run everything.
Status MakeDelegate(const LiteRtRuntime& runtime, LiteRtEnvironmentT* environment, LiteRtOptionsT* options,
                    LiteRtDelegateWrapperT** wrapper) {
  if (wrapper == nullptr) return Error(StatusCode::kInvalidArgument, "LiteRT gives no place for a delegate");
  *wrapper = nullptr;
  HEARTH_ASSIGN(DelegateOptions chosen,
                AcceleratorOptions(GpuOptionsOf(runtime, options), VariablesBeginningWith("HEARTH_")));
  const bool allows_cpu = AllowsCpu(runtime, options);
  chosen.must_take_all = !allows_cpu;
  if (!allows_cpu) {
    std::string& rules = chosen.session.rules;
    rules = fmt::format("{}{}{}", kTakesMore, rules.empty() ? "" : ",", rules);
  }
  std::shared_ptr<const OpenedDevice> lent;
  if (chosen.session.device == "gpu" || chosen.session.device == "opencl") {
    Result<std::shared_ptr<const OpenedDevice>> found = OpenClDeviceOf(runtime, environment);
    if (!found.ok()) LogToLiteRt(fmt::format("{}; Hearth works in a context of its own", found.status().message()));
    if (found.ok()) lent = std::move(found).value();
  }
  TfLiteDelegate* delegate =
      Delegate::Create(std::move(chosen), Status::Ok(), std::make_unique<LiteRtMemory>(runtime, std::move(lent)));
  const Status opened = Delegate::Of(delegate)->OpenDevice();
  if (!opened.ok()) {
    Delegate::Delete(delegate);
    if (!allows_cpu) return opened;
    LogToLiteRt(fmt::format("{}; LiteRT's CPU accelerator runs the model", opened.message()));
    return Status::Ok();
  }
  if (runtime.wrap_delegate(delegate, &Delegate::Delete, wrapper) == kLiteRtStatusOk) return Status::Ok();
  Delegate::Delete(delegate);
  return Error(StatusCode::kInternal, "LiteRT does not take the delegate");
}

LiteRtStatus Create(LiteRtRuntimeContext* context, LiteRtEnvironmentT* environment, LiteRtAcceleratorT* accelerator,
                    LiteRtOptionsT* options, LiteRtDelegateWrapperT** wrapper) {
  return Answered([&]() -> Status {
    HEARTH_ASSIGN(const LiteRtRuntime runtime, LiteRtRuntime::Of(context));
    RegisterMetrics(accelerator);
    return MakeDelegate(runtime, environment, options, wrapper);
  });
}

// Registers by the functions of LiteRT's library what LiteRtAcceleratorImpl says.
Status Register(LiteRtEnvironmentT* environment) {
  HEARTH_TRY(LiteRtRuntime::FromLibrary().status());
  LiteRtAcceleratorT* accelerator = nullptr;
  const auto call = [](const char* name, auto... arguments) -> Status {
    const auto function = reinterpret_cast<LiteRtStatus (*)(decltype(arguments)...)>(LiteRtSymbol(name));
    if (function == nullptr)
      return Error(StatusCode::kUnsupported, "this LiteRT's library lacks the function {}", name);
    const LiteRtStatus status = function(arguments...);
    if (status == kLiteRtStatusOk) return Status::Ok();
    return Error(StatusCode::kInternal, "LiteRT's {} answers {}", name, static_cast<int>(status));
  };
  HEARTH_TRY(call("LiteRtCreateAccelerator", &accelerator));
  HEARTH_TRY(call("LiteRtSetAcceleratorGetName", accelerator, kTellName));
  HEARTH_TRY(call("LiteRtSetAcceleratorGetVersion", accelerator, kTellVersion));
  HEARTH_TRY(call("LiteRtSetAcceleratorGetHardwareSupport", accelerator, kTellHardware));
  HEARTH_TRY(call("LiteRtSetDelegateFunction", accelerator, &Create));
  HEARTH_TRY(call("LiteRtSetIsAcceleratorDelegateResponsibleForJitCompilation", accelerator, kTellIsResponsibleForJit));
  const LiteRtCustomTensorBufferHandlers& buffers = kBufferHandlers;
  for (const LiteRtTensorBufferType kind : std::span(buffers.kinds, buffers.kinds_count)) {
    HEARTH_TRY(call("LiteRtRegisterTensorBufferHandlers", environment, kind, buffers.create, buffers.destroy,
                    buffers.lock, buffers.unlock, buffers.clear, buffers.import, buffers.device_tag,
                    buffers.queue_tag));
  }
  using Release = void (*)(void*);
  return call("LiteRtRegisterAccelerator", environment, accelerator, static_cast<void*>(nullptr), Release(nullptr));
}

}  // namespace
}  // namespace hearth

// NOLINTBEGIN(readability-identifier-naming): the interface's names
extern "C" {

// Taken by LiteRT 2.2 and later.
HEARTH_EXPORT extern const hearth::litert_c::LiteRtAcceleratorDef LiteRtAcceleratorImpl;
const hearth::litert_c::LiteRtAcceleratorDef LiteRtAcceleratorImpl = {
    .abi_header = {sizeof(hearth::litert_c::LiteRtAcceleratorDef), 1, 0, 0},
    .get_name = hearth::kTellName,
    .get_version = hearth::kTellVersion,
    .get_hardware_support = hearth::kTellHardware,
    .is_responsible_for_jit = hearth::kTellIsResponsibleForJit,
    .create_delegate = hearth::Create,
    .start_metrics = hearth::StartMetricsOf,
    .stop_metrics = hearth::StopMetricsOf,
    .buffer_handlers = hearth::kBufferHandlers,
};

// Called by LiteRT 2.1, and by versions that do not take the definition.
HEARTH_EXPORT hearth::litert_c::LiteRtStatus LiteRtRegisterGpuAccelerator(
    hearth::litert_c::LiteRtEnvironmentT* environment) {
  return hearth::Answered([&] { return hearth::Register(environment); });
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
