// Drivers that crash or hang while their devices are looked for. No process can survive that, and without a memory of
// it `auto` would end in every start.
//
// While a process looks for a backend's devices, a locked file in the cache folder says so, as for binaries
// (cache/files/in_use_marker.h). A start that finds the file of a dead process lets a forked child look first. If the
// child ends well, the death had another reason. If it crashes or hangs, a second file leaves the backend out for a
// week, in every process of the user, until HEARTH_BACKENDS=+NAME finds its devices.
#ifndef HEARTH_RUNTIME_DEVICES_DRIVER_WATCH_H_
#define HEARTH_RUNTIME_DEVICES_DRIVER_WATCH_H_

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "hal/device/device.h"

namespace hearth {

// The backend's devices; one unusable device with the reason if it is left out. A driver that does not answer within
// the limit is left out from then on; its thread stays behind. The CPU is not watched, and without a cache folder,
// which is made if it is missing, nothing is remembered.
std::vector<DeviceCandidate> EnumerateWatched(const BackendDef& backend,
                                              std::chrono::milliseconds limit = std::chrono::seconds(30));

// Why the backend is left out, and how to try it again; empty if it is not, or if HEARTH_BACKENDS says so.
std::string WhyLeftOut(const BackendDef& backend);

// Lets a child look for the devices of each backend, so that one that crashes or hangs is left out before this process
// looks.
void LookInAChildFirst(std::span<const BackendDef> backends);

// What is wrong with HEARTH_BACKENDS; empty if nothing is.
std::string WrongBackendsVariable();

// ---- Drivers in a process that was forked from one that used them ----
//
// The threads that their calls wait for do not exist in the child, so PoCL, llvmpipe and lavapipe hang. No driver can
// be reset.

// The backend's devices, as EnumerateWatched finds them. If the process that this one was forked from has enumerated
// them, it returns one unusable device with that reason and calls no driver. The process keeps its signal handlers,
// unless another thread sets some meanwhile.
std::vector<DeviceCandidate> EnumerateUnlessForked(const BackendDef& backend);

// The same reason if the parent found hardware, else empty.
std::string WhyHardwareIsLost(const BackendDef& backend);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_DEVICES_DRIVER_WATCH_H_
