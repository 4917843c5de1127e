// How many CPUs this process may keep busy: the default number of threads.
#ifndef HEARTH_BACKENDS_CPU_USABLE_CPUS_H_
#define HEARTH_BACKENDS_CPU_USABLE_CPUS_H_

#include <filesystem>
#include <optional>

namespace hearth {

// The least of the machine's CPUs, the affinity (taskset, cpusets) and the control groups' quotas, at least 1. Read
// again by each call, because all three may change while a process runs.
int UsableCpus();

// The smallest quota of this process's control groups, of versions 1 and 2, and of all groups around them: 1.5 is one
// and a half CPUs. nullopt if none is set. `root` is prepended to /proc and the mount points, for tests.
std::optional<double> CpuQuota(const std::filesystem::path& root = "/");

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_USABLE_CPUS_H_
