// How much memory this process may still use. A process that uses more is killed; it gets no error.
#ifndef HEARTH_BACKENDS_CPU_AVAILABLE_MEMORY_H_
#define HEARTH_BACKENDS_CPU_AVAILABLE_MEMORY_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "hearth/status.h"

namespace hearth {

// The kernel's figure of available memory, or what the narrowest control group (version 1 or 2) leaves if that is less,
// plus free swap space. nullopt if no file tells. `root` is prepended to /proc and the mount points, for tests.
std::optional<uint64_t> AvailableMemoryBytes(const std::filesystem::path& root = "/");

// kResourceExhausted, with both numbers, if `bytes` exceed the available memory. `what` needs them: "the network's
// values". Reads the kernel's files only for large `bytes`.
Status CheckAvailableMemory(uint64_t bytes, std::string_view what);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_AVAILABLE_MEMORY_H_
