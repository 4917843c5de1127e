// What a dispatch takes on a GPU that nobody has, by a model of it: gpu_estimate.cc states the model, hardware.md has
// figures. Nothing runs.
#ifndef HEARTH_BENCHMARKS_GPU_ESTIMATE_H_
#define HEARTH_BENCHMARKS_GPU_ESTIMATE_H_

#include <optional>
#include <span>
#include <string>

#include "core/plan/plan.h"

namespace hearth {

struct Gpu {
  const char* profile;
  double units;              // that the GPU has, whatever Hearth takes it to have
  double wave;               // work items
  double simd_lanes, lanes;  // multiply-adds a clock: of one wave, of a unit
  double cache_bytes;        // of a unit's first cache, a clock
  double resident_waves;     // of a unit, with a tile's registers
  double gigahertz, memory_gigabytes;
  double half_rate;    // operations of 16 bits in the time of one of 32
  double local_bytes;  // of a unit's local memory, a clock
  double local_kib;    // that the groups of a unit share
};
std::span<const Gpu> EstimatedGpus();

struct Estimate {
  std::string tile;
  double lanes = 0, useful_lanes = 0;  // times turns and texels of a turn
  double microseconds = 0, loads = 0, texels = 0;
};
// Nothing for kernels that are neither products nor depthwise convolutions with a tile.
std::optional<Estimate> EstimateOf(const Dispatch& dispatch, const KernelSource& kernel, const Gpu& gpu);

}  // namespace hearth

#endif  // HEARTH_BENCHMARKS_GPU_ESTIMATE_H_
