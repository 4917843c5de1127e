#include "backends/vulkan/backend.h"

#include "backends/vulkan/buffer.h"
#include "backends/vulkan/executable.h"
#include "backends/vulkan/logical_device.h"
#include "backends/vulkan/physical_device.h"
#include "backends/vulkan/program.h"
#include "backends/vulkan/spirv_compiler.h"
#include "core/base/error.h"
#include "hal/device/device.h"

namespace hearth {
namespace vulkan {
namespace {

// hal/device/device.h over Vulkan.
class VulkanDevice final : public Device {
 public:
  explicit VulkanDevice(std::unique_ptr<LogicalDevice> logical)
      : Device(logical->info()), logical_(std::move(logical)) {}

  VulkanCalls calls() const {
    const auto [allocations, submissions, waits] = logical_->calls();
    return {allocations, submissions, waits};
  }
  std::string portable_compiler() const override { return SpirvCompilerName(); }
  uint64_t spilled_bytes() const override { return logical_->spilled_bytes(); }
  bool programs_serve_all_threads() const override { return true; }  // pipelines, which nothing changes

 private:
  void DoSetWaitLimit(std::chrono::nanoseconds limit) override { logical_->wait_limit().Set(limit); }
  Result<std::unique_ptr<Buffer>> DoCreateBuffer(uint64_t size_bytes) override {
    return VulkanBuffer::Create(*logical_, size_bytes, MemoryUse::kKernels);
  }
  Result<std::unique_ptr<Buffer>> DoCreateStaging(uint64_t size_bytes) override {
    if (info().unified_memory)
      return Error(StatusCode::kUnsupported, "{} shares the host's memory: nothing is staged", info().name);
    return VulkanBuffer::Create(*logical_, size_bytes, MemoryUse::kStaging);
  }
  Result<std::unique_ptr<Buffer>> DoImportBuffer(const NativeMemory& memory) override {
    if (IsExternal(memory.kind)) return VulkanBuffer::ImportExternal(*logical_, memory);
    const bool is_image = memory.kind == MemoryKind::kVulkanImage;
    if (memory.kind != MemoryKind::kVulkanBuffer && !is_image)
      return Error(StatusCode::kUnsupported, "Vulkan imports only VkBuffers, VkImages, dma-bufs and AHardwareBuffers");
    if (!logical_->is_shared()) {
      return Error(StatusCode::kInvalidArgument,
                   "a {} belongs to its VkDevice: open the session with that device (SessionOptions::shared)",
                   is_image ? "VkImage" : "VkBuffer");
    }
    if (is_image) return VulkanBuffer::ImportImage(*logical_, memory);
    return VulkanBuffer::Import(*logical_, reinterpret_cast<VkBuffer>(memory.handle), memory.size_bytes);
  }

  Status DoWrite(Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                 const std::function<Status(std::span<std::byte>)>& fill) override {
    const auto& target = static_cast<const VulkanBuffer&>(buffer);
    if (target.mapped() != nullptr) {
      // Invalidates first what a kernel wrote beside it, because the flush writes whole atoms back.
      HEARTH_TRY(target.Invalidate(offset_bytes, size_bytes));
      HEARTH_TRY(fill({target.mapped() + offset_bytes, size_bytes}));
      return target.Flush(offset_bytes, size_bytes);
    }
    HEARTH_ASSIGN(const auto staging, VulkanBuffer::Create(*logical_, size_bytes, MemoryUse::kStaging));
    HEARTH_TRY(fill({staging->mapped(), size_bytes}));
    HEARTH_TRY(staging->Flush(0, size_bytes));
    return CopyBytes(*logical_, *staging, 0, target, offset_bytes, size_bytes);
  }

  Status DoRead(const Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                const std::function<Status(std::span<const std::byte>)>& view) override {
    const auto& origin = static_cast<const VulkanBuffer&>(buffer);
    if (origin.mapped() != nullptr) {
      HEARTH_TRY(origin.Invalidate(offset_bytes, size_bytes));
      return view({origin.mapped() + offset_bytes, size_bytes});
    }
    HEARTH_ASSIGN(const auto staging, VulkanBuffer::Create(*logical_, size_bytes, MemoryUse::kStaging));
    HEARTH_TRY(CopyBytes(*logical_, origin, offset_bytes, *staging, 0, size_bytes));
    HEARTH_TRY(staging->Invalidate(0, size_bytes));
    return view({staging->mapped(), size_bytes});
  }

  Result<std::unique_ptr<ProgramGroup>> DoCompile(std::span<const KernelSource> sources) override {
    return VulkanProgramGroup::Compile(*logical_, sources);
  }
  Result<std::unique_ptr<ProgramGroup>> DoLoad(std::span<const KernelSource> sources,
                                               std::span<const std::byte> binary) override {
    return VulkanProgramGroup::Load(*logical_, sources, binary);
  }
  Result<std::unique_ptr<ProgramGroup>> DoLoadParts(std::span<const KernelSource> sources,
                                                    std::span<const std::byte> portable,
                                                    std::span<const std::byte> driver_part) override {
    return VulkanProgramGroup::LoadParts(*logical_, sources, portable, driver_part);
  }
  Result<std::unique_ptr<Executable>> DoPrepare(const CommandList& commands) override {
    return VulkanExecutable::Create(*logical_, commands);
  }

  std::unique_ptr<LogicalDevice> logical_;
};

Result<std::unique_ptr<Device>> Open(PhysicalDevice physical) {
  HEARTH_ASSIGN(auto logical, LogicalDevice::Open(std::move(physical)));
  return std::make_unique<VulkanDevice>(std::move(logical));
}

Result<std::unique_ptr<Device>> Share(const VulkanContext& context) {
  if (context.instance == nullptr || context.physical_device == nullptr || context.device == nullptr ||
      context.queue == nullptr) {
    return Error(StatusCode::kInvalidArgument,
                 "a shared Vulkan device needs its instance, physical device, device and queue; one of them is null");
  }
  HEARTH_ASSIGN(auto instance, ForeignInstance(static_cast<VkInstance>(context.instance)));
  PhysicalDevice physical = Describe(*instance, static_cast<VkPhysicalDevice>(context.physical_device));
  if (!physical.unusable_reason.empty()) return Status(StatusCode::kInvalidArgument, physical.unusable_reason);
  HEARTH_TRY(CheckQueueFamily(*instance, physical.handle, context.queue_family));
  physical.info.fp16_arithmetic = false;  // the features that the caller enabled are unknown
  physical.info.matrix_shape = {0, 0, 0};
  physical.timestamp_bits = 0;  // the value read is that of the queue family that Hearth would choose
  HEARTH_ASSIGN(auto logical, LogicalDevice::Share(std::move(instance), std::move(physical), context));
  return std::make_unique<VulkanDevice>(std::move(logical));
}

}  // namespace
}  // namespace vulkan

namespace {

Result<std::vector<DeviceCandidate>> ListCandidates() {
  HEARTH_ASSIGN(const vulkan::Instance* instance, vulkan::SharedInstance());
  HEARTH_ASSIGN(const auto handles, vulkan::PhysicalDevices(*instance));
  std::vector<DeviceCandidate> candidates;
  candidates.reserve(handles.size());
  for (VkPhysicalDevice handle : handles) {
    const vulkan::PhysicalDevice device = vulkan::Describe(*instance, handle);
    candidates.push_back(CandidateOf(device.info, device.unusable_reason, static_cast<int>(candidates.size())));
  }
  return candidates;
}

}  // namespace

std::vector<DeviceCandidate> EnumerateVulkan() {
  auto candidates = ListCandidates();
  if (!candidates.ok()) return {{.backend = "vulkan", .unusable_reason = candidates.status().message()}};
  return std::move(candidates).value();
}

Result<std::unique_ptr<Device>> OpenVulkan(const DeviceCandidate& candidate) {
  return OpenVulkanWithPaths(candidate, VulkanPaths{});
}

Result<std::unique_ptr<Device>> OpenSharedVulkan(const SharedContext& context) {
  const auto* vulkan_context = std::get_if<VulkanContext>(&context);
  if (vulkan_context == nullptr)
    return Error(StatusCode::kInvalidArgument, "the shared context is not a Vulkan context");
  return vulkan::Share(*vulkan_context);
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
  vulkan::PhysicalDevice physical = vulkan::Describe(*instance, handles[index]);
  if (!physical.unusable_reason.empty()) return Status(StatusCode::kUnavailable, physical.unusable_reason);
  if (candidate.profile != nullptr) vulkan::Simulate(*candidate.profile, physical);
  if (!paths.mapped_memory) physical.info.unified_memory = false;
  if (!paths.timestamps) physical.timestamp_bits = 0;
  auto device = vulkan::Open(std::move(physical));
  if (!device.ok()) return device.status().Within("opening " + candidate.name);
  return device;
}

}  // namespace hearth
