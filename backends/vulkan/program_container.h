// The binary form of a program group: SPIR-V of each kernel and the driver's pipeline cache. The cache's entries hold
// the two apart, as one container without a pipeline cache and one without kernels.
//
// Little-endian 32-bit words: magic, version, checksum of all that follows (XXH3-128, 4 words), kernel count, words of
// each kernel's SPIR-V, bytes of pipeline cache; then the SPIR-V modules, then the pipeline cache.
#ifndef HEARTH_BACKENDS_VULKAN_PROGRAM_CONTAINER_H_
#define HEARTH_BACKENDS_VULKAN_PROGRAM_CONTAINER_H_

#include <cstddef>
#include <span>
#include <vector>

#include "backends/vulkan/physical_device.h"
#include "backends/vulkan/spirv_compiler.h"

namespace hearth::vulkan {

struct ProgramContainer {
  std::vector<SpirvWords> modules;
  std::vector<std::byte> pipeline_cache;
};

std::vector<std::byte> Serialize(const ProgramContainer& container);

// kMalformedInput unless it is exactly one container of `module_count` valid SPIR-V modules.
Result<ProgramContainer> ParseContainer(std::span<const std::byte> bytes, size_t module_count);

// Whether this device and driver build made the pipeline cache data (VkPipelineCacheHeaderVersionOne). Drivers check
// that too, but some crash on foreign data.
bool PipelineCacheFits(std::span<const std::byte> data, const PhysicalDevice& device);

}  // namespace hearth::vulkan

#endif  // HEARTH_BACKENDS_VULKAN_PROGRAM_CONTAINER_H_
