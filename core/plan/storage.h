// How a value is stored on a device.
#ifndef HEARTH_CORE_PLAN_STORAGE_H_
#define HEARTH_CORE_PLAN_STORAGE_H_

#include "core/device/device_info.h"
#include "core/device/options.h"
#include "core/emit/kernel_source.h"
#include "core/graph/types.h"

namespace hearth {

// Real numbers as floats of the precision (quantized ones of more than 8 bits as float32), integers as int32 (int64 as
// its low 32 bits; see Placing in core/graph/op_def.h).
StorageType StorageOf(const TensorDesc& desc, StorageType real);

// The storage of real numbers: float16 for the 16-bit precisions on a device that can load and store it.
StorageType RealStorage(Precision precision, const DeviceInfo& device);

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_STORAGE_H_
