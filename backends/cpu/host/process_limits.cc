#include "backends/cpu/host/process_limits.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

// ---- The control groups of this process ----

struct ControlGroup {
  std::filesystem::path folder;  // the folder of its files
  bool is_v2 = false;
};

// mountinfo writes blanks, line ends and backslashes as a backslash and three octal digits.
std::string Unescaped(std::string_view text) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string plain;
  for (size_t k = 0; k < text.size(); ++k) {
    if (text[k] == '\\' && k + 3 < text.size() && is_octal(text[k + 1]) && is_octal(text[k + 2]) &&
        is_octal(text[k + 3])) {
      plain += static_cast<char>((text[k + 1] - '0') * 64 + (text[k + 2] - '0') * 8 + (text[k + 3] - '0'));
      k += 3;
    } else {
      plain += text[k];
    }
  }
  return plain;
}

// A file system of control groups, which shows its group `group` at `point`.
struct GroupMount {
  bool is_v2 = false;
  fs::path group, point;
};

std::vector<GroupMount> GroupMounts(const std::string& controller, const fs::path& root) {
  std::vector<GroupMount> mounts;
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    // id, parent, device, root, mount point, options, any optional fields, "-", type, source, options of the type
    const std::vector<std::string_view> fields = PartsOf(line, ' ');
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (dash - fields.begin() < 6 || fields.end() - dash < 4) continue;
    const std::string_view type = dash[1];
    const bool is_v1 = type == "cgroup" && Contains(PartsOf(dash[3], ','), controller);
    if (is_v1 || type == "cgroup2") mounts.push_back({!is_v1, Unescaped(fields[3]), Unescaped(fields[4])});
  }
  return mounts;
}

// This process's group, of version 2 or of version 1's controller.
std::optional<fs::path> OwnGroup(const std::string& controller, const fs::path& root, bool is_v2) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    const bool matches = is_v2 ? controllers.empty() && line.compare(0, first, "0") == 0
                               : Contains(PartsOf(controllers, ','), controller);
    if (matches) return fs::path(line.substr(second + 1));
  }
  return std::nullopt;
}

// `path` relative to `base`; empty if it is not below it, as in a container with another group's mount.
fs::path Below(const fs::path& path, const fs::path& base) {
  const fs::path relative = path.lexically_relative(base);
  return relative.empty() || *relative.begin() == ".." || relative == "." ? fs::path() : relative;
}

// This process's group and all visible groups around it, of version 2 and of version 1's `controller` ("cpu",
// "memory"). `root` is prepended to /proc and the mount points, for tests.
std::vector<ControlGroup> ControlGroupsAround(const std::string& controller, const fs::path& root) {
  std::vector<ControlGroup> groups;
  for (const GroupMount& mount : GroupMounts(controller, root)) {
    const std::optional<fs::path> group = OwnGroup(controller, root, mount.is_v2);
    if (!group) continue;
    const fs::path top = root / mount.point.relative_path();
    const fs::path below = Below(*group, mount.group);
    fs::path folder = below.empty() ? top : top / below;
    for (;; folder = folder.parent_path()) {
      groups.push_back({folder, mount.is_v2});
      if (folder == top || !folder.has_relative_path()) break;
    }
  }
  return groups;
}

// ---- CPUs ----

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

// ---- Memory ----

constexpr uint64_t kBytesWorthAsking = uint64_t{128} << 20;  // reading the files takes about 0.1 ms

// The number after `name` in a file of lines "name number ...".
std::optional<uint64_t> NumberIn(const fs::path& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, name.size(), name) != 0 || line.find_first_of(" \t", name.size()) != name.size()) continue;
    return std::strtoull(line.c_str() + name.size(), nullptr, 10);
  }
  return std::nullopt;
}

std::optional<uint64_t> OnlyNumberIn(const fs::path& path) {
  uint64_t number = 0;
  if (!(std::ifstream(path) >> number)) return std::nullopt;  // "max" too
  return number;
}

// The memory left below the group's limit. Page cache counts as free, because the kernel reclaims it.
std::optional<uint64_t> LeftIn(const ControlGroup& group) {
  const auto limit = OnlyNumberIn(group.folder / (group.is_v2 ? "memory.max" : "memory.limit_in_bytes"));
  const auto used = OnlyNumberIn(group.folder / (group.is_v2 ? "memory.current" : "memory.usage_in_bytes"));
  if (!limit || !used) return std::nullopt;
  uint64_t of_files = 0;
  for (const char* name : {"inactive_file", "active_file"}) {
    of_files += NumberIn(group.folder / "memory.stat", group.is_v2 ? name : std::string("total_") + name).value_or(0);
  }
  const uint64_t taken = *used - std::min(*used, of_files);
  return *limit - std::min(*limit, taken);
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

std::optional<uint64_t> AvailableMemoryBytes(const fs::path& root) {
  const fs::path info = root / "proc/meminfo";
  std::optional<uint64_t> least;
  if (const auto kilobytes = NumberIn(info, "MemAvailable:")) least = *kilobytes * 1024;
  for (const ControlGroup& group : ControlGroupsAround("memory", root)) {
    if (const auto left = LeftIn(group)) least = std::min(least.value_or(*left), *left);
  }
  if (least) *least += NumberIn(info, "SwapFree:").value_or(0) * 1024;
  return least;
}

Status CheckAvailableMemory(uint64_t bytes, std::string_view what) {
  if (bytes < kBytesWorthAsking) return Status::Ok();
  const std::optional<uint64_t> available = AvailableMemoryBytes();
  if (!available || bytes <= *available) return Status::Ok();
  return Error(StatusCode::kResourceExhausted,
               "{} need {} bytes on the host, which has {} left for this process (machine and control groups); take a "
               "smaller shape or batch",
               what, bytes, *available);
}

}  // namespace hearth
