// How long a dispatch may take on hardware, estimated from the plan alone.
#ifndef HEARTH_CORE_PLAN_DISPATCH_COST_H_
#define HEARTH_CORE_PLAN_DISPATCH_COST_H_

#include "core/device/device_info.h"
#include "core/plan/plan.h"

namespace hearth {

// The longer of what its arithmetic and its bytes take, at rates that a slow GPU with as many compute units reaches:
// meant to be too long rather than too short, and to be corrected by measured runs.
double EstimatedMs(const Dispatch& dispatch, const KernelSource& kernel, const DeviceInfo& device);

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_DISPATCH_COST_H_
