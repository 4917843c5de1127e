// What a run of a plan takes along from segment to segment, to those of the device (device_segments.h) and of the CPU
// (host_segments.h).
#ifndef HEARTH_HAL_RUN_SEGMENT_RUN_H_
#define HEARTH_HAL_RUN_SEGMENT_RUN_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/base/run_control.h"
#include "hal/io/transfers.h"

namespace hearth {

// A dispatch or a node of a profiled run.
struct ProfileRow {
  std::string label, kernel;
  double milliseconds = 0;
};

// One run on its way through the segments.
struct SegmentRun {
  // In the plan's order. The CPU reads and writes them where they lie.
  std::span<const std::span<const std::byte>> inputs;
  std::span<const std::span<std::byte>> outputs;
  std::vector<ProfileRow>* profile = nullptr;  // null: the run is not profiled
  RunControl* control = nullptr;               // what may end it early; null: nothing
  TransferCounts& counts;
  double host_ms = 0;  // of segments on the CPU so far
};

}  // namespace hearth

#endif  // HEARTH_HAL_RUN_SEGMENT_RUN_H_
