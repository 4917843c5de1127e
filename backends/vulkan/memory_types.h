// The types of a device's memory, and which of them a buffer takes.
#ifndef HEARTH_BACKENDS_VULKAN_MEMORY_TYPES_H_
#define HEARTH_BACKENDS_VULKAN_MEMORY_TYPES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "backends/vulkan/driver_api.h"

namespace hearth::vulkan {

enum class MemoryUse {
  kKernels,  // mapped where the device shares the host's memory
  kStaging,  // always mapped, for copies to and from unmapped buffers
};

struct MemoryType {
  VkMemoryPropertyFlags flags = 0;
  uint32_t index = 0;  // in the driver's list

  bool is_visible() const { return (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0; }
  bool is_local() const { return (flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0; }
  bool is_coherent() const { return (flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0; }
  bool is_special() const;  // for purposes that Hearth does not have: protected content, for example
  friend bool operator==(const MemoryType&, const MemoryType&) = default;
};

std::vector<MemoryType> MemoryTypesOf(const VkPhysicalDeviceMemoryProperties& properties);

// The types with these flags, each in every one of the driver's types that has them all: a flag may be missing that the
// driver's type has, but none is added. The driver's own types if no simulated one could be mapped.
std::vector<MemoryType> SimulatedMemoryTypes(const std::vector<MemoryType>& types, std::span<const uint32_t> flags);

// Whether the host needs to flush or invalidate none of them.
bool AreCoherent(std::span<const MemoryType> types);

// Those among `allowed_bits` (of the driver's indices) that fit the use, best first. Special ones fit none.
std::vector<MemoryType> TypesByFitness(std::span<const MemoryType> types, uint32_t allowed_bits, MemoryUse use,
                                       bool unified);

// The properties of the best type for the use; 0 if none fits.
VkMemoryPropertyFlags PreferredFlags(std::span<const MemoryType> types, MemoryUse use, bool unified);

}  // namespace hearth::vulkan

#endif  // HEARTH_BACKENDS_VULKAN_MEMORY_TYPES_H_
