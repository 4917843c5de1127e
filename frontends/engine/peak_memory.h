// The process's peak resident memory.
#ifndef HEARTH_FRONTENDS_ENGINE_PEAK_MEMORY_H_
#define HEARTH_FRONTENDS_ENGINE_PEAK_MEMORY_H_

#include <cstdint>

namespace hearth {

uint64_t PeakResidentBytes();  // VmHWM; 0 where /proc does not say

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_ENGINE_PEAK_MEMORY_H_
