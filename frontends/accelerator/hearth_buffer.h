// LiteRT's tensor buffers whose memory is a device's: a kind of Hearth's own, which stays on its device between runs,
// and cl_mem in the context that a program gave LiteRT.
#ifndef HEARTH_FRONTENDS_ACCELERATOR_HEARTH_BUFFER_H_
#define HEARTH_FRONTENDS_ACCELERATOR_HEARTH_BUFFER_H_

#include <memory>

#include "frontends/accelerator/litert_c.h"
#include "frontends/accelerator/litert_runtime.h"
#include "runtime/devices/device_choice.h"

namespace hearth {

// One of the numbers that LiteRT leaves to others.
inline constexpr auto kHearthBuffer =
    litert_c::LiteRtTensorBufferType(litert_c::kLiteRtTensorBufferTypeUserCustomBuffer + 72);

// The functions of both kinds. A buffer's handle is a DeviceMemory*. One of Hearth's kind chooses a device when a run
// first uses it.
litert_c::LiteRtStatus CreateHearthBuffer(void* context, void* queue, const litert_c::LiteRtRankedTensorType* type,
                                          litert_c::LiteRtTensorBufferType kind, size_t bytes, size_t packed_bytes,
                                          litert_c::HwMemoryInfo** made);
litert_c::LiteRtStatus DestroyHearthBuffer(litert_c::HwMemoryInfo* memory);
litert_c::LiteRtStatus LockHearthBuffer(litert_c::HwMemoryInfo* memory, litert_c::LiteRtTensorBufferLockMode mode,
                                        void** host);
litert_c::LiteRtStatus UnlockHearthBuffer(litert_c::HwMemoryInfo* memory);
litert_c::LiteRtStatus ClearHearthBuffer(litert_c::HwMemoryInfo* memory);
// Only of cl_mem, which the program keeps alive.
litert_c::LiteRtStatus ImportHearthBuffer(void* context, void* queue, const litert_c::LiteRtRankedTensorType* type,
                                          litert_c::LiteRtTensorBufferType kind, void* handle, size_t bytes,
                                          size_t packed_bytes, litert_c::HwMemoryInfo** made);

inline constexpr litert_c::LiteRtCustomTensorBufferHandlers kBufferHandlers = {
    .abi_header = {sizeof(litert_c::LiteRtCustomTensorBufferHandlers), 1, 0, 0},
    .create = CreateHearthBuffer,
    .destroy = DestroyHearthBuffer,
    .lock = LockHearthBuffer,
    .unlock = UnlockHearthBuffer,
    .clear = ClearHearthBuffer,
    .import = ImportHearthBuffer,
    .device_tag = litert_c::kLiteRtEnvOptionTagOpenClContext,
    .queue_tag = litert_c::kLiteRtEnvOptionTagOpenClCommandQueue,
    .kinds_count = 2,
    .kinds = {kHearthBuffer, litert_c::kLiteRtTensorBufferTypeOpenClBuffer},
};

// Hearth's device in a context, on the program's queue: one for all who ask, as long as somebody holds it.
Result<std::shared_ptr<const OpenedDevice>> OpenClDeviceIn(void* context, void* queue);

// The same for the environment's context; null if it has none.
Result<std::shared_ptr<const OpenedDevice>> OpenClDeviceOf(const LiteRtRuntime& runtime,
                                                           litert_c::LiteRtEnvironmentT* environment);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_ACCELERATOR_HEARTH_BUFFER_H_
