// What a value is held as on a device.
#ifndef HEARTH_CORE_STORAGE_H_
#define HEARTH_CORE_STORAGE_H_

#include "core/device_info.h"
#include "core/kernel_source.h"
#include "core/options.h"
#include "core/types.h"

namespace hearth {

// Stands for real numbers: floats, quantized integers (held dequantized on devices) and bool (held as 0 and 1).
bool IsReal(const TensorDesc& desc);

// Integers with a scale and zero point.
bool IsQuantized(const TensorDesc& desc);

// Real numbers stored as such, without a grid.
bool IsPlainFloat32(const TensorDesc& desc);
bool IsPlainFloat(const TensorDesc& desc);  // float16 too

// The numbers that a quantized type with one scale stands for: real = (stored - zero_point) * scale.
struct TensorGrid {
  float scale = 1, inverse = 1;
  int64_t zero_point = 0;
  float lowest = 0, highest = 0;  // the type's numbers, counted from the zero point
};

// Of the first scale; scale 1 and zero point 0 where there is none.
TensorGrid GridOf(const TensorDesc& desc);

// Real numbers as floats of the precision (quantized ones of more than 8 bits as float32), integers as int32 (int64 as
// its low range; see FitsInt32 in ops/lowering_support.h).
StorageType StorageOf(const TensorDesc& desc, StorageType real);

// What real numbers are stored as: float16 for the 16-bit precisions on a device that can load and store it.
StorageType RealStorage(Precision precision, const DeviceInfo& device);

}  // namespace hearth

#endif  // HEARTH_CORE_STORAGE_H_
