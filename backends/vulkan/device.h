// hal/device.h over Vulkan.
#ifndef HEARTH_BACKENDS_VULKAN_DEVICE_H_
#define HEARTH_BACKENDS_VULKAN_DEVICE_H_

#include <memory>

#include "backends/vulkan/logical_device.h"
#include "backends/vulkan/spirv_compiler.h"
#include "hal/device.h"

namespace hearth::vulkan {

class VulkanDevice : public Device {
 public:
  static Result<std::unique_ptr<Device>> Open(PhysicalDevice physical);
  static Result<std::unique_ptr<Device>> Share(const VulkanContext& context);

  VulkanCalls calls() const { return logical_->calls(); }
  std::string portable_compiler() const override { return SpirvCompilerName(); }
  uint64_t spilled_bytes() const override { return logical_->spilled_bytes(); }

 private:
  explicit VulkanDevice(std::unique_ptr<LogicalDevice> logical)
      : Device(logical->info()), logical_(std::move(logical)) {}

  void DoSetWaitLimit(std::chrono::nanoseconds limit) override { logical_->wait_limit().Set(limit); }
  Result<std::unique_ptr<Buffer>> DoCreateBuffer(uint64_t size_bytes) override;
  Result<std::unique_ptr<Buffer>> DoCreateStaging(uint64_t size_bytes) override;
  Result<std::unique_ptr<Buffer>> DoImportBuffer(const NativeMemory& memory) override;
  Status DoWrite(Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                 const std::function<Status(std::span<std::byte>)>& fill) override;
  Status DoRead(const Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                const std::function<Status(std::span<const std::byte>)>& view) override;
  Result<std::unique_ptr<ProgramGroup>> DoCompile(std::span<const KernelSource> sources) override;
  Result<std::unique_ptr<ProgramGroup>> DoLoad(std::span<const KernelSource> sources,
                                               std::span<const std::byte> binary) override;
  Result<std::unique_ptr<ProgramGroup>> DoLoadParts(std::span<const KernelSource> sources,
                                                    std::span<const std::byte> portable,
                                                    std::span<const std::byte> driver_part) override;
  Result<std::unique_ptr<Executable>> DoPrepare(const CommandList& commands) override;

  std::unique_ptr<LogicalDevice> logical_;
};

}  // namespace hearth::vulkan

#endif  // HEARTH_BACKENDS_VULKAN_DEVICE_H_
