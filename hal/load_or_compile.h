// Programs for a list of kernels: from the cache where it has them, else from the compiler.
// The only place where cache and compiler meet.
#ifndef HEARTH_HAL_LOAD_OR_COMPILE_H_
#define HEARTH_HAL_LOAD_OR_COMPILE_H_

#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/blob_store.h"
#include "hal/device.h"
#include "hal/held_programs.h"
#include "hal/loaded_programs.h"
#include "hal/program_keys.h"

namespace hearth {

// `store` may be null. Kernels share one program or stand alone as info().compile_grouping says; programs that
// stand alone are compiled on up to `threads` threads. Of kernels that share one program, those that a stored program
// of other kernels holds are taken from there, and the rest is compiled. Where no binary fits, the portable part is
// tried. A cached binary that the driver refuses is rejected from the store and compiled instead. kUnavailable once
// `stop` was requested: no further call to the driver is begun. What `held` has is neither loaded nor compiled, and
// what is made is added to it; kernels that share one program are taken from there all or none, so that the cache gets
// the program that a start with these sources asks for. `all_anew`: nothing is taken from programs of other kernels,
// so that later starts have one binary, with all that the driver made for these dispatches. `grids`: as ProgramKey
// takes them.
Result<LoadedPrograms> LoadOrCompile(Device& device, std::span<const KernelSource> sources, BlobStore* store,
                                     int threads, const std::stop_token& stop = {}, HeldPrograms* held = nullptr,
                                     bool all_anew = false, std::span<const GridClasses> grids = {});

// Puts the binaries of `fresh` groups into the store: call after their programs ran once (PoCL's binary
// before that holds no machine code), and after the result was handed out (asking costs PoCL 130-250 ms a
// kernel). Once `stop` was requested the driver is asked for no more of them. Returns warnings.
std::vector<std::string> StoreFreshPrograms(LoadedPrograms& programs, BlobStore& store,
                                            const std::stop_token& stop = {});

}  // namespace hearth

#endif  // HEARTH_HAL_LOAD_OR_COMPILE_H_
