// The OpenCL context that a program gave LiteRT's environment.
#ifndef HEARTH_FRONTENDS_ACCELERATOR_OPENCL_ENVIRONMENT_H_
#define HEARTH_FRONTENDS_ACCELERATOR_OPENCL_ENVIRONMENT_H_

#include <memory>

#include "frontends/accelerator/litert_runtime.h"
#include "runtime/devices/device_choice.h"

namespace hearth {

// Hearth's device in a context, on the program's queue: one for all who ask, as long as somebody holds it.
Result<std::shared_ptr<const OpenedDevice>> OpenClDeviceIn(void* context, void* queue);

// The same for the environment's context; null if it has none.
Result<std::shared_ptr<const OpenedDevice>> OpenClDeviceOf(const LiteRtRuntime& runtime,
                                                           litert_c::LiteRtEnvironmentT* environment);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_ACCELERATOR_OPENCL_ENVIRONMENT_H_
