// Gets programs for a list of kernels from the cache if it has them, else from the compiler. Nothing else calls both.
#ifndef HEARTH_HAL_PROGRAMS_LOAD_OR_COMPILE_H_
#define HEARTH_HAL_PROGRAMS_LOAD_OR_COMPILE_H_

#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/store/result_cache.h"
#include "hal/device/device.h"
#include "hal/programs/program_keys.h"

namespace hearth {

// What warming says of a device whose driver gives no binaries.
Status NoBinaries(std::string_view device_name);

// `cache` may be null, and is left alone where the device takes no binaries. info().compile_grouping decides whether
// kernels share one program; separate programs are compiled on up to `threads` threads. If kernels share one program,
// those that another stored program contains are taken from it, and the rest is compiled. If no binary fits, the
// portable part is tried. A cached binary that the driver refuses, or whose portable part is gone, is rejected and
// compiled instead. kUnavailable once `stop` was requested; no further driver call begins.
//
// `held`: its programs are neither loaded nor compiled, and new ones are added to it. Kernels that share one program
// are taken from there all or none, so that the cache gets the program that a start with these sources looks for.
// `all_anew`: takes nothing from programs of other kernels, so that later starts load one binary with all code for
// these dispatches. `grids`: as KernelTextsOf takes them.
Result<LoadedPrograms> LoadOrCompile(Device& device, std::span<const KernelSource> sources, ResultCache* cache,
                                     int threads, const std::stop_token& stop = {}, SharedPrograms* held = nullptr,
                                     bool all_anew = false, std::span<const GridClasses> grids = {});

// Puts the binaries of `fresh` groups into the cache. Call it after their programs ran once (before that PoCL's binary
// has no machine code), and after the result was returned to the caller (reading costs PoCL 130-250 ms per kernel).
// Once `stop` was requested, no further binary is read. Returns warnings.
std::vector<std::string> StoreFreshPrograms(LoadedPrograms& programs, ResultCache& cache,
                                            const std::stop_token& stop = {});

}  // namespace hearth

#endif  // HEARTH_HAL_PROGRAMS_LOAD_OR_COMPILE_H_
