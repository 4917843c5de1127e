#include "backends/vulkan/memory_types.h"

#include <algorithm>
#include <utility>

namespace hearth::vulkan {
namespace {

// How well a memory type fits; higher is better, negative: not at all.
int Fitness(const MemoryType& type, MemoryUse use, bool unified) {
  if (type.is_special()) return -1;
  const bool mappable = type.is_visible(), coherent = type.is_coherent(), local = type.is_local();
  const bool cached = (type.flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0;
  if (use == MemoryUse::kStaging) {
    if (!mappable) return -1;
    // Reading uncached memory is slower than flushing and invalidating.
    return (cached ? 4 : 0) + (local ? 0 : 2) + (coherent ? 1 : 0);
  }
  // The device's memory and the host's are the same there: what is not local costs nothing, what is not mapped a copy.
  if (unified) return (mappable ? 8 : 0) + (local ? 4 : 0) + (cached ? 2 : 0) + (coherent ? 1 : 0);
  return (local ? 2 : 0) + (mappable ? 0 : 1);  // mappable device memory of a discrete GPU is scarce
}

}  // namespace

bool MemoryType::is_special() const {
  constexpr VkMemoryPropertyFlags kSpecial =
      VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT | VK_MEMORY_PROPERTY_PROTECTED_BIT |
      VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD | VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD;
  return (flags & kSpecial) != 0;
}

std::vector<MemoryType> MemoryTypesOf(const VkPhysicalDeviceMemoryProperties& properties) {
  std::vector<MemoryType> types;
  for (uint32_t t = 0; t < properties.memoryTypeCount; ++t)
    types.push_back({properties.memoryTypes[t].propertyFlags, t});
  return types;
}

std::vector<MemoryType> SimulatedMemoryTypes(const std::vector<MemoryType>& types, std::span<const uint32_t> flags) {
  std::vector<MemoryType> simulated;
  for (const VkMemoryPropertyFlags wanted : flags) {
    for (const MemoryType& type : types) {
      if (!type.is_special() && (type.flags & wanted) == wanted) simulated.push_back({wanted, type.index});
    }
  }
  return std::ranges::any_of(simulated, &MemoryType::is_visible) ? simulated : types;
}

bool AreCoherent(std::span<const MemoryType> types) {
  return std::ranges::all_of(types, [](const MemoryType& type) { return !type.is_visible() || type.is_coherent(); });
}

std::vector<MemoryType> TypesByFitness(std::span<const MemoryType> types, uint32_t allowed_bits, MemoryUse use,
                                       bool unified) {
  std::vector<std::pair<int, MemoryType>> fitting;
  for (const MemoryType& type : types) {
    const int fitness = Fitness(type, use, unified);
    if ((allowed_bits >> type.index & 1) != 0 && fitness >= 0) fitting.emplace_back(fitness, type);
  }
  std::stable_sort(fitting.begin(), fitting.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<MemoryType> sorted;
  sorted.reserve(fitting.size());
  for (const auto& [fitness, type] : fitting) sorted.push_back(type);
  return sorted;
}

VkMemoryPropertyFlags PreferredFlags(std::span<const MemoryType> types, MemoryUse use, bool unified) {
  const std::vector<MemoryType> sorted = TypesByFitness(types, UINT32_MAX, use, unified);
  return sorted.empty() ? 0 : sorted.front().flags;
}

}  // namespace hearth::vulkan
