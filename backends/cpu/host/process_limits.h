// What this process may use of the machine: CPUs and memory, within its affinity and control groups.
#ifndef HEARTH_BACKENDS_CPU_HOST_PROCESS_LIMITS_H_
#define HEARTH_BACKENDS_CPU_HOST_PROCESS_LIMITS_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "hearth/status.h"

namespace hearth {

// How many CPUs this process may keep busy, the default number of threads: the least of the machine's CPUs, the
// affinity (taskset, cpusets) and the control groups' quotas, at least 1. Read again by each call, because all three
// may change while a process runs.
int UsableCpus();

// The smallest quota of this process's control groups, of versions 1 and 2, and of all groups around them: 1.5 is one
// and a half CPUs. nullopt if none is set. `root` is prepended to /proc and the mount points, for tests.
std::optional<double> CpuQuota(const std::filesystem::path& root = "/");

// How much memory this process may still use (a process that uses more is killed; it gets no error): the kernel's
// figure of available memory, or what the narrowest control group (version 1 or 2) leaves if that is less, plus free
// swap space. nullopt if no file tells. `root` is prepended to /proc and the mount points, for tests.
std::optional<uint64_t> AvailableMemoryBytes(const std::filesystem::path& root = "/");

// kResourceExhausted, with both numbers, if `bytes` exceed the available memory. `what` needs them: "the network's
// values". Reads the kernel's files only for large `bytes`.
Status CheckAvailableMemory(uint64_t bytes, std::string_view what);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_HOST_PROCESS_LIMITS_H_
