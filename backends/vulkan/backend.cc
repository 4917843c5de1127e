#include "backends/vulkan/backend.h"

#include "backends/vulkan/device.h"
#include "backends/vulkan/physical_device.h"
#include "core/base/error.h"

namespace hearth {
namespace {

using vulkan::PhysicalDevice;

DeviceCandidate UnusableBackend(const Status& reason) {
  DeviceCandidate candidate;
  candidate.backend = "vulkan";
  candidate.unusable_reason = reason.message();
  return candidate;
}

DeviceCandidate CandidateOf(const PhysicalDevice& device, int index) {
  DeviceCandidate candidate;
  candidate.backend = "vulkan";
  candidate.name = device.info.name;
  candidate.driver = device.info.driver_version;
  candidate.type = device.info.type;
  candidate.usable = device.unusable_reason.empty();
  candidate.unusable_reason = device.unusable_reason;
  candidate.driver_index = index;
  return candidate;
}

Result<std::vector<DeviceCandidate>> ListCandidates() {
  HEARTH_ASSIGN(const vulkan::Instance* instance, vulkan::SharedInstance());
  HEARTH_ASSIGN(const auto handles, vulkan::PhysicalDevices(*instance));
  std::vector<DeviceCandidate> candidates;
  candidates.reserve(handles.size());
  for (VkPhysicalDevice handle : handles) {
    candidates.push_back(CandidateOf(vulkan::Describe(*instance, handle), static_cast<int>(candidates.size())));
  }
  return candidates;
}

}  // namespace

std::vector<DeviceCandidate> EnumerateVulkan() {
  auto candidates = ListCandidates();
  if (!candidates.ok()) return {UnusableBackend(candidates.status())};
  return std::move(candidates).value();
}

Result<std::unique_ptr<Device>> OpenVulkan(const DeviceCandidate& candidate) {
  return OpenVulkanWithPaths(candidate, VulkanPaths{});
}

Result<std::unique_ptr<Device>> OpenSharedVulkan(const SharedContext& context) {
  const auto* vulkan_context = std::get_if<VulkanContext>(&context);
  if (vulkan_context == nullptr)
    return Error(StatusCode::kInvalidArgument, "the shared context is not a Vulkan context");
  return vulkan::VulkanDevice::Share(*vulkan_context);
}

VulkanCalls VulkanCallsOf(const Device& device) {
  return static_cast<const vulkan::VulkanDevice&>(device).calls();
}

Result<std::unique_ptr<Device>> OpenVulkanWithPaths(const DeviceCandidate& candidate, const VulkanPaths& paths) {
  HEARTH_ASSIGN(const vulkan::Instance* instance, vulkan::SharedInstance());
  HEARTH_ASSIGN(const auto handles, vulkan::PhysicalDevices(*instance));
  const int index = candidate.driver_index;
  if (index < 0 || static_cast<size_t>(index) >= handles.size()) {
    return Error(StatusCode::kUnavailable, "there is no Vulkan device {}; {} were found", index, handles.size());
  }
  PhysicalDevice physical = vulkan::Describe(*instance, handles[index]);
  if (!physical.unusable_reason.empty()) return Status(StatusCode::kUnavailable, physical.unusable_reason);
  if (candidate.profile != nullptr) vulkan::Simulate(*candidate.profile, physical);
  if (!paths.mapped_memory) physical.info.unified_memory = false;
  if (!paths.timestamps) physical.timestamp_bits = 0;
  auto device = vulkan::VulkanDevice::Open(std::move(physical));
  if (!device.ok()) return device.status().Within("opening " + candidate.name);
  return device;
}

}  // namespace hearth
