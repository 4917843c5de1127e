#include "backends/cpu/available_memory.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "backends/cpu/control_groups.h"
#include "core/base/error.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

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
