// Estimates a dispatch's time on a GPU, without the GPU. gpu_estimate.cc describes the model, hardware.md has figures.
#ifndef HEARTH_BENCHMARKS_GPU_ESTIMATE_H_
#define HEARTH_BENCHMARKS_GPU_ESTIMATE_H_

#include <optional>
#include <span>
#include <string>

#include "core/plan/plan.h"

namespace hearth {

struct Gpu {
  const char* profile;
  double units;              // the GPU's compute units, independent of Hearth's assumption
  double wave;               // work items of a wave
  double simd_lanes, lanes;  // multiply-adds per clock: of a wave, of a unit
  double cache_bytes;        // of a unit's first cache, per clock
  double resident_waves;     // per unit, with a tile's registers
  double gigahertz, memory_gigabytes;
  double half_rate;    // 16-bit operations in the time of one 32-bit operation
  double local_bytes;  // of a unit's local memory, per clock
  double local_kib;    // shared by the groups of a unit
};
std::span<const Gpu> EstimatedGpus();

struct Estimate {
  std::string tile;
  double lanes = 0, useful_lanes = 0;  // lanes times iterations times texels per iteration
  double microseconds = 0, loads = 0, texels = 0;
};
// nullopt for kernels that are neither products nor depthwise convolutions with a tile.
std::optional<Estimate> EstimateOf(const Dispatch& dispatch, const KernelSource& kernel, const Gpu& gpu);

}  // namespace hearth

#endif  // HEARTH_BENCHMARKS_GPU_ESTIMATE_H_
