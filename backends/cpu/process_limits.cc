#include "backends/cpu/usable_cpus.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <thread>

#include "backends/cpu/control_groups.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

std::optional<double> QuotaOf(const ControlGroup& group) {
  double quota_us = -1, period_us = 0;
  if (group.is_v2) {
    std::ifstream(group.folder / "cpu.max") >> quota_us >> period_us;  // "max 100000" leaves both unread
  } else {
    std::ifstream(group.folder / "cpu.cfs_quota_us") >> quota_us;  // -1: none
    std::ifstream(group.folder / "cpu.cfs_period_us") >> period_us;
  }
  if (!(quota_us > 0) || !(period_us > 0)) return std::nullopt;
  return quota_us / period_us;
}

std::optional<int> CpusInAffinity() {
  for (int cpus = 1024; cpus <= 1024 * 1024; cpus *= 4) {  // the kernel refuses a mask that is too small
    cpu_set_t* set = CPU_ALLOC(cpus);
    if (set == nullptr) return std::nullopt;
    const size_t size_bytes = CPU_ALLOC_SIZE(cpus);
    const bool is_known = sched_getaffinity(0, size_bytes, set) == 0;
    const int count = is_known ? CPU_COUNT_S(size_bytes, set) : 0;
    CPU_FREE(set);
    if (is_known) return count;
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> CpuQuota(const fs::path& root) {
  std::optional<double> least;
  for (const ControlGroup& group : ControlGroupsAround("cpu", root)) {
    const std::optional<double> quota = QuotaOf(group);
    if (quota) least = std::min(least.value_or(*quota), *quota);
  }
  return least;
}

int UsableCpus() {
  int cpus = CpusInAffinity().value_or(static_cast<int>(std::thread::hardware_concurrency()));
  // One and a half CPUs become two threads, which finish a run sooner than one.
  if (const std::optional<double> quota = CpuQuota()) cpus = std::min(cpus, static_cast<int>(std::ceil(*quota)));
  return std::max(1, cpus);
}

}  // namespace hearth
