#ifndef HEARTH_BACKENDS_NULL_COUNTS_H_
#define HEARTH_BACKENDS_NULL_COUNTS_H_

#include <atomic>
#include <cstdint>

#include "hal/wait_limit.h"

namespace hearth {

// Counts the calls of a null device.
struct NullCounts {
  std::atomic<int64_t> buffers_created = 0, buffers_imported = 0;
  std::atomic<int64_t> bytes_written = 0, bytes_read = 0;
  std::atomic<int64_t> programs_compiled = 0, programs_loaded = 0;
  std::atomic<int64_t> lists_prepared = 0;
  std::atomic<int64_t> dispatches_run = 0;
  std::atomic<uint64_t> submissions = 0;
  // For tests: this submission and all later ones never end.
  std::atomic<uint64_t> endless_from = UINT64_MAX;
  WaitLimit wait_limit;
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_NULL_COUNTS_H_
