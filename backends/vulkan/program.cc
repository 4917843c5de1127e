#include "backends/vulkan/program.h"

#include <algorithm>
#include <cstring>

#include "core/base/byte_reader.h"
#include "core/base/error.h"
#include "core/base/fingerprint.h"
#include "hal/device/stopwatch.h"

namespace hearth::vulkan {
namespace {

// ---- The stored form ----

constexpr uint32_t kMagic = 0x504b5648;  // "HVKP"
constexpr uint32_t kVersion = 1;
constexpr size_t kChecksumOffset = 2 * sizeof(uint32_t);
constexpr size_t kPayloadOffset = kChecksumOffset + sizeof(Fingerprint::bytes);

Status Malformed(std::string_view what) {
  return Error(StatusCode::kMalformedInput, "program container: {}; compile again", what);
}

Result<SpirvWords> ReadModule(ByteReader& reader, uint32_t word_count) {
  SpirvWords words;
  if (uint64_t{word_count} * sizeof(uint32_t) > reader.rest().size()) return Malformed("a module is cut off");
  words.reserve(word_count);
  for (uint32_t k = 0; k < word_count; ++k) words.push_back(reader.Number<uint32_t>());
  HEARTH_TRY(CheckSpirv(words).Within("program container"));
  return words;
}

}  // namespace

std::vector<std::byte> Serialize(const ProgramContainer& container) {
  std::vector<std::byte> out;
  AppendNumber(out, kMagic);
  AppendNumber(out, kVersion);
  out.resize(kPayloadOffset);
  AppendNumber(out, static_cast<uint32_t>(container.modules.size()));
  for (const SpirvWords& module : container.modules) AppendNumber(out, static_cast<uint32_t>(module.size()));
  AppendNumber(out, static_cast<uint32_t>(container.pipeline_cache.size()));
  for (const SpirvWords& module : container.modules) {
    for (uint32_t word : module) AppendNumber(out, word);
  }
  out.insert(out.end(), container.pipeline_cache.begin(), container.pipeline_cache.end());
  const Fingerprint checksum = FingerprintOf(std::span(out).subspan(kPayloadOffset));
  std::memcpy(out.data() + kChecksumOffset, checksum.bytes.data(), checksum.bytes.size());
  return out;
}

Result<ProgramContainer> ParseContainer(std::span<const std::byte> bytes, size_t module_count) {
  ByteReader reader(bytes);
  if (reader.Number<uint32_t>() != kMagic || reader.Number<uint32_t>() != kVersion)
    return Malformed("it is not a container, or has another version");
  const std::span<const std::byte> stored = reader.Bytes(sizeof(Fingerprint::bytes));
  if (reader.failed()) return Malformed("its header is cut off");
  const Fingerprint checksum = FingerprintOf(bytes.subspan(kPayloadOffset));
  if (std::memcmp(stored.data(), checksum.bytes.data(), stored.size()) != 0) return Malformed("its checksum is wrong");
  if (reader.Number<uint32_t>() != module_count || reader.failed())
    return Malformed("it was made for another number of kernels");
  if (uint64_t{module_count} * sizeof(uint32_t) > reader.rest().size()) return Malformed("its table is cut off");
  std::vector<uint32_t> word_counts(module_count);
  for (uint32_t& count : word_counts) count = reader.Number<uint32_t>();
  const uint32_t cache_bytes = reader.Number<uint32_t>();
  ProgramContainer container;
  for (uint32_t count : word_counts) {
    HEARTH_ASSIGN(auto words, ReadModule(reader, count));
    container.modules.push_back(std::move(words));
  }
  const std::span<const std::byte> cache = reader.Bytes(cache_bytes);
  if (reader.failed() || !reader.rest().empty()) return Malformed("its end is wrong");
  container.pipeline_cache.assign(cache.begin(), cache.end());
  return container;
}

bool PipelineCacheFits(std::span<const std::byte> data, const PhysicalDevice& device) {
  VkPipelineCacheHeaderVersionOne header{};
  if (data.size() < sizeof header) return false;
  std::memcpy(&header, data.data(), sizeof header);
  return header.headerSize >= sizeof header && header.headerSize <= data.size() &&
         header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE && header.vendorID == device.vendor_id &&
         header.deviceID == device.device_id &&
         std::equal(device.pipeline_cache_uuid.begin(), device.pipeline_cache_uuid.end(), header.pipelineCacheUUID);
}

std::optional<VkFormat> TexelFormat(const TensorArg& arg) {
  if (arg.direction != ArgDirection::kRead || arg.path != AccessPath::kTexelBuffer) return std::nullopt;
  return arg.storage == StorageType::kFloat16 ? VK_FORMAT_R16G16B16A16_SFLOAT : VK_FORMAT_R32G32B32A32_SFLOAT;
}

uint64_t TexelBytes(VkFormat format) {
  return format == VK_FORMAT_R16G16B16A16_SFLOAT ? 8 : 16;
}

Result<std::unique_ptr<VulkanProgram>> VulkanProgram::Create(LogicalDevice& device, const KernelSource& source,
                                                             const SpirvWords& spirv, VkPipelineCache cache) {
  std::unique_ptr<VulkanProgram> program(new VulkanProgram(source));
  Status made = program->MakeLayouts(device);
  if (made.ok()) made = program->MakePipeline(device, spirv, cache);
  if (!made.ok()) return made.Within("kernel " + source.name);
  return program;
}

Status VulkanProgram::MakeLayouts(LogicalDevice& device) {
  const DeviceApi& api = device.api();
  std::vector<VkDescriptorSetLayoutBinding> bindings;
  for (const TensorArg& arg : source().tensors) {
    VkDescriptorSetLayoutBinding binding{};
    binding.binding = static_cast<uint32_t>(bindings.size());
    binding.descriptorType =
        TexelFormat(arg) ? VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    binding.descriptorCount = 1;
    binding.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    bindings.push_back(binding);
  }
  VkDescriptorSetLayoutCreateInfo set{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  set.bindingCount = static_cast<uint32_t>(bindings.size());
  set.pBindings = bindings.data();
  HEARTH_ASSIGN(set_layout_, device.Make(api.CreateDescriptorSetLayout, api.DestroyDescriptorSetLayout, set,
                                         "vkCreateDescriptorSetLayout"));

  const VkDescriptorSetLayout set_layout = set_layout_.get();
  const VkPushConstantRange scalars{VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                    static_cast<uint32_t>(source().scalars.size() * sizeof(uint32_t))};
  VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout.setLayoutCount = 1;
  layout.pSetLayouts = &set_layout;
  layout.pushConstantRangeCount = scalars.size > 0 ? 1 : 0;
  layout.pPushConstantRanges = &scalars;
  HEARTH_ASSIGN(layout_,
                device.Make(api.CreatePipelineLayout, api.DestroyPipelineLayout, layout, "vkCreatePipelineLayout"));
  return Status::Ok();
}

Status VulkanProgram::MakePipeline(LogicalDevice& device, const SpirvWords& spirv, VkPipelineCache cache) {
  const DeviceApi& api = device.api();
  VkShaderModuleCreateInfo module_info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  module_info.codeSize = spirv.size() * sizeof(uint32_t);
  module_info.pCode = spirv.data();
  HEARTH_ASSIGN(const auto module,
                device.Make(api.CreateShaderModule, api.DestroyShaderModule, module_info, "vkCreateShaderModule"));

  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module.get();
  info.stage.pName = "main";
  info.layout = layout_.get();
  VkPipeline pipeline = VK_NULL_HANDLE;
  HEARTH_TRY(ToStatus(api.CreateComputePipelines(device.handle(), cache, 1, &info, nullptr, &pipeline),
                      "vkCreateComputePipelines"));
  pipeline_ = Owned<VkPipeline>(device.handle(), pipeline, api.DestroyPipeline, device.wait_limit());
  return Status::Ok();
}

Result<std::unique_ptr<ProgramGroup>> VulkanProgramGroup::Compile(LogicalDevice& device,
                                                                  std::span<const KernelSource> sources) {
  ProgramContainer container;
  const Stopwatch watch;
  for (const KernelSource& source : sources) {
    auto spirv = CompileToSpirv(Emit(source, Dialect::kVulkan));
    if (!spirv.ok()) return spirv.status().Within("kernel " + source.name);
    container.modules.push_back(std::move(spirv).value());
  }
  std::unique_ptr<VulkanProgramGroup> group(new VulkanProgramGroup(device, std::move(container)));
  group->spirv_compiled_ = static_cast<int>(sources.size());
  group->spirv_ms_ = watch.milliseconds();
  HEARTH_TRY(group->Build(sources));
  return std::unique_ptr<ProgramGroup>(std::move(group));
}

Result<std::unique_ptr<ProgramGroup>> VulkanProgramGroup::Load(LogicalDevice& device,
                                                               std::span<const KernelSource> sources,
                                                               std::span<const std::byte> binary) {
  HEARTH_ASSIGN(auto container, ParseContainer(binary, sources.size()));
  return FromContainer(device, sources, std::move(container));
}

Result<std::unique_ptr<ProgramGroup>> VulkanProgramGroup::LoadParts(LogicalDevice& device,
                                                                    std::span<const KernelSource> sources,
                                                                    std::span<const std::byte> portable,
                                                                    std::span<const std::byte> driver_part) {
  HEARTH_ASSIGN(auto container, ParseContainer(portable, sources.size()));
  HEARTH_ASSIGN(auto own, ParseContainer(driver_part, 0));
  container.pipeline_cache = std::move(own.pipeline_cache);
  return FromContainer(device, sources, std::move(container));
}

Result<std::unique_ptr<ProgramGroup>> VulkanProgramGroup::FromContainer(LogicalDevice& device,
                                                                        std::span<const KernelSource> sources,
                                                                        ProgramContainer container) {
  if (!PipelineCacheFits(container.pipeline_cache, device.physical())) container.pipeline_cache.clear();
  std::unique_ptr<VulkanProgramGroup> group(new VulkanProgramGroup(device, std::move(container)));
  HEARTH_TRY(group->Build(sources));
  return std::unique_ptr<ProgramGroup>(std::move(group));
}

Status VulkanProgramGroup::Build(std::span<const KernelSource> sources) {
  HEARTH_TRY(MakePipelineCache());
  for (size_t k = 0; k < sources.size(); ++k) {
    HEARTH_ASSIGN(auto program,
                  VulkanProgram::Create(*device_, sources[k], container_.modules[k], pipeline_cache_.get()));
    programs_.push_back(std::move(program));
  }
  return Status::Ok();
}

Status VulkanProgramGroup::MakePipelineCache() {
  const DeviceApi& api = device_->api();
  VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
  info.initialDataSize = container_.pipeline_cache.size();
  info.pInitialData = container_.pipeline_cache.data();
  auto cache = device_->Make(api.CreatePipelineCache, api.DestroyPipelineCache, info, "vkCreatePipelineCache");
  if (!cache.ok() && info.initialDataSize > 0) {  // a driver may refuse data that it should ignore
    info.initialDataSize = 0;
    cache = device_->Make(api.CreatePipelineCache, api.DestroyPipelineCache, info, "vkCreatePipelineCache");
  }
  if (!cache.ok()) return cache.status();
  pipeline_cache_ = std::move(cache).value();
  container_.pipeline_cache.clear();
  return Status::Ok();
}

Result<std::vector<std::byte>> VulkanProgramGroup::PipelineCacheData() const {
  const DeviceApi& api = device_->api();
  size_t size_bytes = 0;
  HEARTH_TRY(ToStatus(api.GetPipelineCacheData(device_->handle(), pipeline_cache_.get(), &size_bytes, nullptr),
                      "vkGetPipelineCacheData"));
  std::vector<std::byte> data(size_bytes);
  // VK_INCOMPLETE if the cache grew in between: the data is valid but not complete.
  const VkResult got = api.GetPipelineCacheData(device_->handle(), pipeline_cache_.get(), &size_bytes, data.data());
  if (got != VK_INCOMPLETE) HEARTH_TRY(ToStatus(got, "vkGetPipelineCacheData"));
  data.resize(size_bytes);
  return data;
}

Result<std::vector<std::byte>> VulkanProgramGroup::Binary() {
  HEARTH_ASSIGN(container_.pipeline_cache, PipelineCacheData());
  std::vector<std::byte> binary = Serialize(container_);
  container_.pipeline_cache.clear();
  return binary;
}

Result<std::vector<std::byte>> VulkanProgramGroup::DriverPart() {
  HEARTH_ASSIGN(std::vector<std::byte> pipeline_cache, PipelineCacheData());
  return Serialize({{}, std::move(pipeline_cache)});
}

}  // namespace hearth::vulkan
