// A device's peak rates, measured by kernels that do nothing else. They bound every other benchmark.
#ifndef HEARTH_BENCHMARKS_DEVICE_PEAKS_H_
#define HEARTH_BENCHMARKS_DEVICE_PEAKS_H_

#include <string>

#include "hal/device/device.h"

namespace hearth {

// Sequential reads by the device's faster path.
struct ReadPeak {
  double bytes_per_second = 0;
  std::string path;  // "buffer" or "texel"
};

struct DevicePeaks {
  double flops = 0;           // per second, of multiply-adds in registers; each counts as 2
  std::string flops_variant;  // the fastest form: vector type and independent chains
  ReadPeak cached;            // 16 MiB, read repeatedly
  ReadPeak memory;            // 128 MiB, or up to 1 GiB where those take less than a millisecond
};

// Compiles a few small kernels and runs each for some 100 ms; the fastest run counts. Returns the driver's errors.
Result<DevicePeaks> MeasurePeaks(Device& device);

}  // namespace hearth

#endif  // HEARTH_BENCHMARKS_DEVICE_PEAKS_H_
