// What a device reaches at best, measured by kernels that do nothing else: the roof over every other benchmark.
#ifndef HEARTH_BENCHMARKS_DEVICE_PEAKS_H_
#define HEARTH_BENCHMARKS_DEVICE_PEAKS_H_

#include <string>

#include "hal/device.h"

namespace hearth {

// Reads in order by the device's better path.
struct ReadPeak {
  double bytes_per_second = 0;
  std::string path;  // "buffer" or "texel"
};

struct DevicePeaks {
  double flops = 0;           // per second, multiply-adds in registers, a multiply-add as 2
  std::string flops_variant;  // the form that reached it: vector type and independent chains
  ReadPeak cached;            // of 16 MiB again and again
  ReadPeak memory;            // of 128 MiB
};

// Compiles a few small kernels and runs each for some 100 ms, best of its runs. Fails as the driver does.
Result<DevicePeaks> MeasurePeaks(Device& device);

}  // namespace hearth

#endif  // HEARTH_BENCHMARKS_DEVICE_PEAKS_H_
