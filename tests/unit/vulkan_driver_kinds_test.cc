// Drivers of other kinds than lavapipe, which stands in for them: memory that is cached but not coherent or that can't
// be mapped, limits that no specification allows, and drivers that lack something of Vulkan 1.0. Each test in a process
// of its own, since the loader reads its variables, and Hearth the driver's functions, once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "backends/vulkan/backend.h"
#include "backends/vulkan/driver_api.h"
#include "backends/vulkan/physical_device.h"
#include "conformance/device_cases.h"
#include "core/device/device_profiles.h"
#include "hal/device/driver_files.h"
#include "tests/testing/temporary_folder.h"

namespace hearth {
namespace {

constexpr int kRight = 0, kWrong = 1, kNoDevice = 2;  // exit codes

vulkan::InstanceApi real_instance;
vulkan::DeviceApi real_device;

// ---- Memory that the host sees through a cache of its own: what neither side flushed or invalidated is not there.
// ----

constexpr VkDeviceSize kAtomBytes = 64;

struct HostView {
  VkDeviceSize allocated = 0;
  std::byte* memory = nullptr;
  std::vector<std::byte> cache;
};
std::map<VkDeviceMemory, HostView> views;
bool wrong_range = false;

VkResult Allocate(VkDevice device, const VkMemoryAllocateInfo* info, const VkAllocationCallbacks* callbacks,
                  VkDeviceMemory* memory) {
  const VkResult result = real_device.AllocateMemory(device, info, callbacks, memory);
  if (result == VK_SUCCESS) views[*memory] = HostView{info->allocationSize, nullptr, {}};
  return result;
}

void Free(VkDevice device, VkDeviceMemory memory, const VkAllocationCallbacks* callbacks) {
  views.erase(memory);
  real_device.FreeMemory(device, memory, callbacks);
}

VkResult Map(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size, VkMemoryMapFlags flags,
             void** data) {
  void* address = nullptr;
  const VkResult result = real_device.MapMemory(device, memory, offset, size, flags, &address);
  if (result != VK_SUCCESS) return result;
  HostView& view = views[memory];
  view.memory = static_cast<std::byte*>(address);
  view.cache.assign(view.allocated, std::byte{0xcc});
  *data = view.cache.data();
  return result;
}

// The cache's bytes of a range, and those behind it.
void ForEach(uint32_t count, const VkMappedMemoryRange* ranges, void (*copy)(std::byte*, std::byte*, size_t)) {
  for (const VkMappedMemoryRange& range : std::span(ranges, count)) {
    HostView& view = views[range.memory];
    const VkDeviceSize size = range.size == VK_WHOLE_SIZE ? view.allocated - range.offset : range.size;
    const bool ends_well = size % kAtomBytes == 0 || range.offset + size == view.allocated;
    if (range.offset % kAtomBytes != 0 || !ends_well || range.offset + size > view.allocated) {
      wrong_range = true;
      continue;
    }
    copy(view.cache.data() + range.offset, view.memory + range.offset, size);
  }
}

VkResult Flush(VkDevice, uint32_t count, const VkMappedMemoryRange* ranges) {
  ForEach(count, ranges, [](std::byte* cache, std::byte* memory, size_t size) { std::memcpy(memory, cache, size); });
  return VK_SUCCESS;
}

VkResult Invalidate(VkDevice, uint32_t count, const VkMappedMemoryRange* ranges) {
  ForEach(count, ranges, [](std::byte* cache, std::byte* memory, size_t size) { std::memcpy(cache, memory, size); });
  return VK_SUCCESS;
}

void MemoryProperties(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties* properties) {
  real_instance.GetPhysicalDeviceMemoryProperties(device, properties);
  for (uint32_t t = 0; t < properties->memoryTypeCount; ++t)
    properties->memoryTypes[t].propertyFlags &= ~VkMemoryPropertyFlags{VK_MEMORY_PROPERTY_HOST_COHERENT_BIT};
}

void Properties(VkPhysicalDevice device, VkPhysicalDeviceProperties2* properties) {
  real_instance.GetPhysicalDeviceProperties2(device, properties);
  properties->properties.limits.nonCoherentAtomSize = kAtomBytes;
}

void PutCacheInBetween(vulkan::DeviceApi& table) {
  real_device = table;
  table.AllocateMemory = Allocate;
  table.FreeMemory = Free;
  table.MapMemory = Map;
  table.FlushMappedMemoryRanges = Flush;
  table.InvalidateMappedMemoryRanges = Invalidate;
}

void MakeIncoherent() {
  vulkan::TheTableFilters() = {[](vulkan::InstanceApi& table) {
                                 real_instance = table;
                                 table.GetPhysicalDeviceMemoryProperties = MemoryProperties;
                                 table.GetPhysicalDeviceProperties2 = Properties;
                               },
                               PutCacheInBetween};
}

Result<std::unique_ptr<Device>> OpenFirst(const VulkanPaths& paths, const DeviceProfile* profile = nullptr) {
  for (DeviceCandidate& candidate : EnumerateVulkan()) {
    candidate.profile = profile;
    if (candidate.usable) return OpenVulkanWithPaths(candidate, paths);
    std::fprintf(stderr, "%s\n", candidate.unusable_reason.c_str());
  }
  return Status(StatusCode::kUnavailable, "no usable Vulkan device");
}

// All cases below the operations.
bool PassesAllCases(Device& device) {
  bool right = true;
  for (const conformance::DeviceCase& test : conformance::DeviceCases()) {
    const Status status = test.run(device);
    if (status.ok() || status.code() == StatusCode::kUnsupported) continue;
    std::fprintf(stderr, "%s: %s\n", test.name, status.message().c_str());
    right = false;
  }
  return right;
}

int CasesOn(const VulkanPaths& paths) {
  const auto device = OpenFirst(paths);
  if (!device.ok()) return kNoDevice;
  bool right = (*device)->info().unified_memory == paths.mapped_memory;
  right = right && (*device)->info().buffer_offset_alignment % kAtomBytes == 0;
  right = PassesAllCases(**device) && right;
  if (wrong_range) std::fprintf(stderr, "a range of no whole atoms\n");
  return right && !wrong_range ? kRight : kWrong;
}

[[noreturn]] void RunIncoherent(bool mapped_memory) {
  MakeIncoherent();
  const int code = CasesOn({.mapped_memory = mapped_memory});
  std::fprintf(stderr, code == kNoDevice ? "no device here\n" : "done\n");
  std::_Exit(code == kNoDevice ? kRight : code);
}

TEST(VulkanMemoryThatIsNotCoherentDeathTest, IsFlushedAndInvalidatedWhereTheHostSharesIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(RunIncoherent(true), ::testing::ExitedWithCode(kRight), "done|no device here");
}

TEST(VulkanMemoryThatIsNotCoherentDeathTest, IsFlushedAndInvalidatedWhereCopiesAreStaged) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(RunIncoherent(false), ::testing::ExitedWithCode(kRight), "done|no device here");
}

// ---- The same cache below a driver that calls its memory coherent: only a profile's memory is flushed. ----

[[noreturn]] void RunAsMali() {
  vulkan::TheTableFilters() = {[](vulkan::InstanceApi& table) {
                                 real_instance = table;
                                 table.GetPhysicalDeviceProperties2 = Properties;
                               },
                               PutCacheInBetween};
  const auto device = OpenFirst({}, *FindDeviceProfile("mali-g78"));
  if (!device.ok()) {
    std::fprintf(stderr, "no device here\n");
    std::_Exit(kRight);
  }
  bool right = (*device)->info().unified_memory && (*device)->info().is_read_fast_by_host();
  right = PassesAllCases(**device) && right && !wrong_range;
  std::fprintf(stderr, "done\n");
  std::_Exit(right ? kRight : kWrong);
}

TEST(VulkanMemoryOfAProfileDeathTest, IsFlushedAndInvalidatedAsOnTheGpuThatItSimulates) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(RunAsMali(), ::testing::ExitedWithCode(kRight), "done|no device here");
}

// ---- Limits that no specification allows, heaps of 16 MiB, memory that is cached nowhere. ----

constexpr VkDeviceSize kHeapBytes = VkDeviceSize{16} << 20;

void OddProperties(VkPhysicalDevice device, VkPhysicalDeviceProperties2* properties) {
  real_instance.GetPhysicalDeviceProperties2(device, properties);
  VkPhysicalDeviceLimits& limits = properties->properties.limits;
  limits.minStorageBufferOffsetAlignment = limits.minTexelBufferOffsetAlignment = limits.nonCoherentAtomSize = 0;
  limits.timestampPeriod = 0;
  for (auto* next = static_cast<VkBaseOutStructure*>(properties->pNext); next != nullptr; next = next->pNext) {
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES)
      reinterpret_cast<VkPhysicalDeviceSubgroupProperties*>(next)->subgroupSize = 0;
  }
}

void SmallUncachedMemory(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties* properties) {
  real_instance.GetPhysicalDeviceMemoryProperties(device, properties);
  for (uint32_t h = 0; h < properties->memoryHeapCount; ++h) properties->memoryHeaps[h].size = kHeapBytes;
  for (uint32_t t = 0; t < properties->memoryTypeCount; ++t)
    properties->memoryTypes[t].propertyFlags &= ~VkMemoryPropertyFlags{VK_MEMORY_PROPERTY_HOST_CACHED_BIT};
}

VkResult AllocateOfAHeap(VkDevice device, const VkMemoryAllocateInfo* info, const VkAllocationCallbacks* callbacks,
                         VkDeviceMemory* memory) {
  if (info->allocationSize > kHeapBytes) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  return real_device.AllocateMemory(device, info, callbacks, memory);
}

[[noreturn]] void RunOdd() {
  vulkan::TheTableFilters() = {[](vulkan::InstanceApi& table) {
                                 real_instance = table;
                                 table.GetPhysicalDeviceMemoryProperties = SmallUncachedMemory;
                                 table.GetPhysicalDeviceProperties2 = OddProperties;
                               },
                               [](vulkan::DeviceApi& table) {
                                 real_device = table;
                                 table.AllocateMemory = AllocateOfAHeap;
                               }};
  const auto device = OpenFirst({});
  if (!device.ok()) {
    std::fprintf(stderr, "no device here\n");
    std::_Exit(kRight);
  }
  const DeviceInfo& info = (*device)->info();
  const bool is_usable = info.buffer_offset_alignment == 16 && info.subgroup_size == 1 &&
                         info.max_buffer_bytes == kHeapBytes && !info.is_cached_by_host;
  const bool right = PassesAllCases(**device) && is_usable;
  std::fprintf(stderr, "done\n");
  std::_Exit(right ? kRight : kWrong);
}

TEST(VulkanDriverWithOddLimitsDeathTest, PassesAllCasesBelowTheOperations) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(RunOdd(), ::testing::ExitedWithCode(kRight), "done|no device here");
}

// ---- A driver without room for mappings of the buffers that kernels use: only the staging buffers' succeed. ----

std::map<VkBuffer, bool> are_for_kernels;
std::map<VkDeviceMemory, VkBuffer> bound;
int refused_mappings = 0;

VkResult CreateBuffer(VkDevice device, const VkBufferCreateInfo* info, const VkAllocationCallbacks* callbacks,
                      VkBuffer* buffer) {
  const VkResult result = real_device.CreateBuffer(device, info, callbacks, buffer);
  are_for_kernels[*buffer] = (info->usage & VK_BUFFER_USAGE_STORAGE_BUFFER_BIT) != 0;
  return result;
}

VkResult Bind(VkDevice device, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset) {
  bound[memory] = buffer;
  return real_device.BindBufferMemory(device, buffer, memory, offset);
}

VkResult MapStagingOnly(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size,
                        VkMemoryMapFlags flags, void** data) {
  if (!are_for_kernels[bound[memory]]) return real_device.MapMemory(device, memory, offset, size, flags, data);
  ++refused_mappings;
  return VK_ERROR_MEMORY_MAP_FAILED;
}

[[noreturn]] void RunUnmapped() {
  vulkan::TheTableFilters().device = [](vulkan::DeviceApi& table) {
    real_device = table;
    table.CreateBuffer = CreateBuffer;
    table.BindBufferMemory = Bind;
    table.MapMemory = MapStagingOnly;
  };
  const auto device = OpenFirst({});
  if (!device.ok()) {
    std::fprintf(stderr, "no device here\n");
    std::_Exit(kRight);
  }
  const bool right = PassesAllCases(**device) && refused_mappings > 0;
  std::fprintf(stderr, "done\n");
  std::_Exit(right ? kRight : kWrong);
}

TEST(VulkanDriverThatMapsNoKernelsMemoryDeathTest, PassesAllCasesBelowTheOperations) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(RunUnmapped(), ::testing::ExitedWithCode(kRight), "done|no device here");
}

// ---- A portability driver, as MoltenVK: in its manifest, and by an extension that it wants switched on. ----

bool was_switched_on = false;

VkResult DeviceExtensions(VkPhysicalDevice device, const char* layer, uint32_t* count,
                          VkExtensionProperties* properties) {
  const uint32_t room = *count;
  const VkResult result = real_instance.EnumerateDeviceExtensionProperties(device, layer, count, properties);
  if (properties != nullptr && *count < room) {
    properties[*count] = {};
    std::strncpy(properties[*count].extensionName, vulkan::kPortabilitySubset, VK_MAX_EXTENSION_NAME_SIZE - 1);
  }
  ++*count;
  return result;
}

VkResult CreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo* info, const VkAllocationCallbacks* callbacks,
                      VkDevice* device) {
  VkDeviceCreateInfo asked = *info;
  std::vector<const char*> extensions(info->ppEnabledExtensionNames,
                                      info->ppEnabledExtensionNames + info->enabledExtensionCount);
  was_switched_on = std::erase_if(extensions, [](const char* name) {
                      return std::strcmp(name, vulkan::kPortabilitySubset) == 0;
                    }) == 1;
  asked.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  asked.ppEnabledExtensionNames = extensions.data();
  return real_instance.CreateDevice(physical, &asked, callbacks, device);
}

// A manifest that calls the software driver of this machine one; empty where there is none.
std::string PortabilityManifest(const TemporaryFolder& folder) {
  const std::vector<std::string> drivers = VulkanDriverFiles();
  const auto lavapipe =
      std::ranges::find_if(drivers, [](const std::string& file) { return file.find("lvp") != std::string::npos; });
  if (lavapipe == drivers.end()) return "";
  const std::string manifest = (folder.path() / "portability.json").string();
  std::ofstream(manifest) << R"({"file_format_version": "1.0.1", "ICD": {"library_path": ")" << *lavapipe
                          << R"(", "api_version": "1.1.230", "is_portability_driver": true}})";
  return manifest;
}

[[noreturn]] void OpenPortabilityDriver(const std::string& manifest) {
  for (const char* name : {"VK_ICD_FILENAMES", "VK_DRIVER_FILES"}) setenv(name, manifest.c_str(), 1);
  vulkan::TheTableFilters().instance = [](vulkan::InstanceApi& table) {
    real_instance = table;
    table.EnumerateDeviceExtensionProperties = DeviceExtensions;
    table.CreateDevice = CreateDevice;
  };
  const auto device = OpenFirst({});
  std::fprintf(stderr, "%s\n", device.ok() ? "opened" : device.status().message().c_str());
  std::_Exit(device.ok() && was_switched_on ? kRight : kWrong);
}

TEST(VulkanPortabilityDriverDeathTest, IsListedAndOpenedWithItsExtension) {
  const TemporaryFolder folder;
  const std::string manifest = PortabilityManifest(folder);
  if (manifest.empty()) GTEST_SKIP() << "no lavapipe (Debian: mesa-vulkan-drivers) to stand in for one";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(OpenPortabilityDriver(manifest), ::testing::ExitedWithCode(kRight), "opened");
}

}  // namespace
}  // namespace hearth
