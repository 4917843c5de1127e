// Kernels as compute pipelines, and the form in which they are stored.
#ifndef HEARTH_BACKENDS_VULKAN_PROGRAM_H_
#define HEARTH_BACKENDS_VULKAN_PROGRAM_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/vulkan/logical_device.h"
#include "backends/vulkan/physical_device.h"
#include "backends/vulkan/spirv_compiler.h"
#include "hal/device/device.h"

namespace hearth::vulkan {

// ---- The stored form ----
//
// The binary form of a program group: SPIR-V of each kernel and the driver's pipeline cache. The cache's entries hold
// the two apart, as one container without a pipeline cache and one without kernels.
//
// Little-endian 32-bit words: magic, version, checksum of all that follows (XXH3-128, 4 words), kernel count, words of
// each kernel's SPIR-V, bytes of pipeline cache; then the SPIR-V modules, then the pipeline cache.

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

// ---- Programs ----

// The format of a tensor that is read through a uniform texel buffer; undefined for storage buffers.
std::optional<VkFormat> TexelFormat(const TensorArg& arg);
uint64_t TexelBytes(VkFormat format);

class VulkanProgram : public Program {
 public:
  // Makes the pipeline with `cache`. kUnsupported if the kernel needs more bindings, scalars or invocations than the
  // device has; errors name the kernel.
  static Result<std::unique_ptr<VulkanProgram>> Create(LogicalDevice& device, const KernelSource& source,
                                                       const SpirvWords& spirv, VkPipelineCache cache);

  VkDescriptorSetLayout set_layout() const { return set_layout_.get(); }
  VkPipelineLayout layout() const { return layout_.get(); }
  VkPipeline pipeline() const { return pipeline_.get(); }

 private:
  explicit VulkanProgram(KernelSource source) : Program(std::move(source)) {}
  Status MakeLayouts(LogicalDevice& device);
  Status MakePipeline(LogicalDevice& device, const SpirvWords& spirv, VkPipelineCache cache);

  Owned<VkDescriptorSetLayout> set_layout_;
  Owned<VkPipelineLayout> layout_;
  Owned<VkPipeline> pipeline_;
};

class VulkanProgramGroup : public ProgramGroup {
 public:
  // From kernel texts, with glslang. Threads: any.
  static Result<std::unique_ptr<ProgramGroup>> Compile(LogicalDevice& device, std::span<const KernelSource> sources);
  // From Binary(), without glslang. A pipeline cache of another driver build is ignored. Threads: any.
  static Result<std::unique_ptr<ProgramGroup>> Load(LogicalDevice& device, std::span<const KernelSource> sources,
                                                    std::span<const std::byte> binary);
  // The same from Portable() and DriverPart().
  static Result<std::unique_ptr<ProgramGroup>> LoadParts(LogicalDevice& device, std::span<const KernelSource> sources,
                                                         std::span<const std::byte> portable,
                                                         std::span<const std::byte> driver_part);

  std::span<const std::unique_ptr<Program>> programs() const override { return programs_; }
  Result<std::vector<std::byte>> Binary() override;
  std::vector<std::byte> Portable() const override { return Serialize(container_); }
  Result<std::vector<std::byte>> DriverPart() override;
  double portable_ms() const override { return spirv_ms_; }
  int spirv_compiled() const override { return spirv_compiled_; }

 private:
  VulkanProgramGroup(LogicalDevice& device, ProgramContainer container)
      : device_(&device), container_(std::move(container)) {}
  static Result<std::unique_ptr<ProgramGroup>> FromContainer(LogicalDevice& device,
                                                             std::span<const KernelSource> sources,
                                                             ProgramContainer container);
  Status Build(std::span<const KernelSource> sources);
  Status MakePipelineCache();
  Result<std::vector<std::byte>> PipelineCacheData() const;

  LogicalDevice* device_;
  ProgramContainer container_;  // its cache data is the argument of Load; empty after Build
  Owned<VkPipelineCache> pipeline_cache_;
  std::vector<std::unique_ptr<Program>> programs_;
  int spirv_compiled_ = 0;
  double spirv_ms_ = 0;
};

}  // namespace hearth::vulkan

#endif  // HEARTH_BACKENDS_VULKAN_PROGRAM_H_
