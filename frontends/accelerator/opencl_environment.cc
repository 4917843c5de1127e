#include "frontends/accelerator/opencl_environment.h"

#include <map>
#include <mutex>
#include <utility>

#include "core/base/error.h"

namespace hearth {
namespace {

using namespace litert_c;  // NOLINT(google-build-using-namespace): the names of one interface

// Null if the environment has no such option.
void* PointerOf(const LiteRtRuntime& runtime, LiteRtEnvironmentOptionsT* options, int32_t tag) {
  LiteRtAny value = {};
  if (runtime.environment_value(options, tag, &value) != kLiteRtStatusOk) return nullptr;
  return reinterpret_cast<void*>(static_cast<intptr_t>(value.int_value));
}

}  // namespace

Result<std::shared_ptr<const OpenedDevice>> OpenClDeviceIn(void* context, void* queue) {
  static std::mutex mutex;  // guards known
  static std::map<std::pair<void*, void*>, std::weak_ptr<const OpenedDevice>> known;
  if (context == nullptr || queue == nullptr)
    return Error(StatusCode::kUnsupported, "LiteRT's environment has an OpenCL context or a queue, not both");
  const std::lock_guard lock(mutex);
  std::weak_ptr<const OpenedDevice>& entry = known[{context, queue}];
  std::shared_ptr<const OpenedDevice> device = entry.lock();
  if (device != nullptr) return device;
  HEARTH_ASSIGN(OpenedDevice opened, OpenSharedDevice(OpenClContext{context, nullptr, queue}, "opencl"));
  device = std::make_shared<const OpenedDevice>(std::move(opened));
  entry = device;
  return device;
}

Result<std::shared_ptr<const OpenedDevice>> OpenClDeviceOf(const LiteRtRuntime& runtime,
                                                           LiteRtEnvironmentT* environment) {
  LiteRtEnvironmentOptionsT* options = nullptr;
  if (environment == nullptr || runtime.environment_options == nullptr || runtime.environment_value == nullptr ||
      runtime.environment_options(environment, &options) != kLiteRtStatusOk) {
    return std::shared_ptr<const OpenedDevice>();
  }
  void* context = PointerOf(runtime, options, kLiteRtEnvOptionTagOpenClContext);
  if (context == nullptr) return std::shared_ptr<const OpenedDevice>();
  return OpenClDeviceIn(context, PointerOf(runtime, options, kLiteRtEnvOptionTagOpenClCommandQueue));
}

}  // namespace hearth
