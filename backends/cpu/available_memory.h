// How much memory this process may still take: what is asked for beyond it gets the process killed, not an error.
#ifndef HEARTH_BACKENDS_CPU_AVAILABLE_MEMORY_H_
#define HEARTH_BACKENDS_CPU_AVAILABLE_MEMORY_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "hearth/status.h"

namespace hearth {

// What the kernel calls available, or what the narrowest control group (version 1 or 2) leaves where that is less, and
// the free swap space. Nothing where no file tells. `root` stands before /proc and the mount points, for tests.
std::optional<uint64_t> AvailableMemoryBytes(const std::filesystem::path& root = "/");

// kResourceExhausted, with both numbers, where `bytes` are more than is available. `what` needs them: "the network's
// values". Asks the kernel for large numbers only.
Status CheckAvailableMemory(uint64_t bytes, std::string_view what);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_AVAILABLE_MEMORY_H_
