// Estimates from the plan alone how long a dispatch may take on hardware.
#ifndef HEARTH_CORE_PLAN_DISPATCH_COST_H_
#define HEARTH_CORE_PLAN_DISPATCH_COST_H_

#include "core/device/device_info.h"
#include "core/plan/plan.h"

namespace hearth {

// The longer of the times for its arithmetic and its bytes, at rates of a slow GPU with the same number of compute
// units. It is rather too long than too short; measured runs correct it.
double EstimatedMs(const Dispatch& dispatch, const KernelSource& kernel, const DeviceInfo& device);

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_DISPATCH_COST_H_
