#include "frontends/accelerator/hearth_buffer.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "frontends/accelerator/litert_runtime.h"
#include "frontends/delegate/device_memory.h"

namespace hearth {
namespace {

using namespace litert_c;  // NOLINT(google-build-using-namespace): the names of one interface
using Access = DeviceMemory::Access;

DeviceMemory& MemoryOf(const HwMemoryInfo* info) {
  return *static_cast<DeviceMemory*>(info->memory_handle);
}

// `memory` and what LiteRT knows of it. `handle`: the driver's object.
Status Give(std::unique_ptr<DeviceMemory> memory, uint64_t handle, HwMemoryInfo** made) {
  *made = new HwMemoryInfo{memory.get(), reinterpret_cast<void*>(static_cast<uintptr_t>(handle))};
  static_cast<void>(memory.release());
  return Status::Ok();
}

// `cl_mem`: null for a new one.
Status GiveOpenClBuffer(void* context, void* queue, void* cl_mem, size_t bytes, HwMemoryInfo** made) {
  HEARTH_ASSIGN(const std::shared_ptr<const OpenedDevice> opened, OpenClDeviceIn(context, queue));
  const std::shared_ptr<Device> device(opened, opened->device.get());
  const NativeMemory native = {MemoryKind::kClBuffer, reinterpret_cast<uintptr_t>(cl_mem), bytes};
  HEARTH_ASSIGN(std::shared_ptr<Buffer> buffer,
                cl_mem != nullptr ? device->ImportBuffer(native) : device->CreateBuffer(RoundUp(bytes, 4)));
  const uint64_t handle = buffer->native_handle();
  return Give(std::make_unique<DeviceMemory>(bytes, device, std::move(buffer)), handle, made);
}

// Null if the environment has no such option.
void* PointerOf(const LiteRtRuntime& runtime, LiteRtEnvironmentOptionsT* options, int32_t tag) {
  LiteRtAny value = {};
  if (runtime.environment_value(options, tag, &value) != kLiteRtStatusOk) return nullptr;
  return reinterpret_cast<void*>(static_cast<intptr_t>(value.int_value));
}

}  // namespace

LiteRtStatus CreateHearthBuffer(void* context, void* queue, const LiteRtRankedTensorType*, LiteRtTensorBufferType kind,
                                size_t bytes, size_t packed_bytes, HwMemoryInfo** made) {
  return Answered([&]() -> Status {
    if (made == nullptr) return Error(StatusCode::kInvalidArgument, "LiteRT gives no place for a buffer");
    bytes = std::max(bytes, packed_bytes);
    if (kind == kHearthBuffer) return Give(std::make_unique<DeviceMemory>(bytes), 0, made);
    return GiveOpenClBuffer(context, queue, nullptr, bytes, made);
  });
}

LiteRtStatus ImportHearthBuffer(void* context, void* queue, const LiteRtRankedTensorType*, LiteRtTensorBufferType kind,
                                void* handle, size_t bytes, size_t /*packed_bytes*/, HwMemoryInfo** made) {
  return Answered([&]() -> Status {
    if (made == nullptr || handle == nullptr || kind == kHearthBuffer)
      return Error(StatusCode::kInvalidArgument, "only a cl_mem can be lent");
    return GiveOpenClBuffer(context, queue, handle, bytes, made);
  });
}

LiteRtStatus DestroyHearthBuffer(HwMemoryInfo* info) {
  return Answered([&] {
    delete &MemoryOf(info);
    delete info;
    return Status::Ok();
  });
}

// A program that locks for writing may write a part.
LiteRtStatus LockHearthBuffer(HwMemoryInfo* info, LiteRtTensorBufferLockMode mode, void** host) {
  return Answered([&]() -> Status {
    HEARTH_ASSIGN(*host,
                  MemoryOf(info).OnHost(mode == kLiteRtTensorBufferLockModeRead ? Access::kRead : Access::kReadWrite));
    return Status::Ok();
  });
}

LiteRtStatus UnlockHearthBuffer(HwMemoryInfo* info) {
  return Answered([&] { return MemoryOf(info).EndHost(); });
}

LiteRtStatus ClearHearthBuffer(HwMemoryInfo* info) {
  return Answered([&]() -> Status {
    HEARTH_ASSIGN(std::byte * host, MemoryOf(info).OnHost(Access::kWrite));
    std::memset(host, 0, MemoryOf(info).size_bytes());
    return MemoryOf(info).EndHost();
  });
}

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
