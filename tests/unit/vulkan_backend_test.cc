// The Vulkan backend alone: what it does beyond the cases that all backends share, which run here too, once as the
// device is and once over the paths of other devices (staging copies, no clock).
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

#include "backends/vulkan/backend.h"
#include "backends/vulkan/program.h"
#include "backends/vulkan/spirv_compiler.h"
#include "conformance/device_cases.h"

namespace hearth {
namespace {

using vulkan::CheckSpirv;
using vulkan::CompileToSpirv;
using vulkan::ParseContainer;
using vulkan::ProgramContainer;
using vulkan::SpirvWords;

// The first usable device, or null with the reason why there is none.
std::unique_ptr<Device> OpenFirst(const VulkanPaths& paths, std::string& reason) {
  for (const DeviceCandidate& candidate : EnumerateVulkan()) {
    if (!candidate.usable) {
      reason = candidate.unusable_reason;
      continue;
    }
    auto device = OpenVulkanWithPaths(candidate, paths);
    EXPECT_TRUE(device.ok()) << device.status().message();
    return device.ok() ? std::move(device).value() : nullptr;
  }
  return nullptr;
}

class Vulkan : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    device_ = OpenFirst(VulkanPaths{}, reason);
    if (device_ == nullptr) GTEST_SKIP() << "no usable Vulkan device: " << reason;
  }
  std::unique_ptr<Device> device_;
};

struct PathsCase {
  const char* name;
  VulkanPaths paths;
};

class VulkanDeviceCases : public ::testing::TestWithParam<std::tuple<PathsCase, ::hearth::conformance::DeviceCase>> {};

TEST_P(VulkanDeviceCases, Holds) {
  std::string reason;
  const auto device = OpenFirst(std::get<0>(GetParam()).paths, reason);
  if (device == nullptr) GTEST_SKIP() << "no usable Vulkan device: " << reason;
  const Status status = std::get<1>(GetParam()).run(*device);
  if (status.code() == StatusCode::kUnsupported) GTEST_SKIP() << status.message();
  EXPECT_TRUE(status.ok()) << status.message();
}

constexpr PathsCase kPathsCases[] = {{"AsIs", {}},
                                     {"StagingAndNoClock", {.mapped_memory = false, .timestamps = false}}};

INSTANTIATE_TEST_SUITE_P(All, VulkanDeviceCases,
                         ::testing::Combine(::testing::ValuesIn(kPathsCases),
                                            ::testing::ValuesIn(::hearth::conformance::DeviceCases().begin(),
                                                                ::hearth::conformance::DeviceCases().end())),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" + std::get<1>(info.param).name;
                         });

KernelSource NegateKernel() {
  KernelSource source;
  source.name = "negate";
  source.tensors = {{.name = "x"}, {.name = "y", .direction = ArgDirection::kWrite}};
  source.local_size = {8, 1, 1};
  source.body = "int at = GID(0);\ny_store(at, splat4(0.0f) - x_load(at));\n";
  return source;
}

std::vector<std::byte> BinaryOf(Device& device, const KernelSource& source) {
  auto group = device.Compile({&source, 1});
  EXPECT_TRUE(group.ok()) << group.status().message();
  if (!group.ok()) return {};
  auto binary = (*group)->Binary();
  EXPECT_TRUE(binary.ok()) << binary.status().message();
  return binary.ok() ? std::move(binary).value() : std::vector<std::byte>{};
}

TEST_F(Vulkan, DeviceInfoKeepsTheSpecificationsPromises) {
  const DeviceInfo& info = device_->info();
  EXPECT_EQ(info.backend, "vulkan");
  EXPECT_EQ(info.dialect, Dialect::kVulkan);
  EXPECT_FALSE(info.name.empty());
  EXPECT_NE(info.driver_version.find("Vulkan 1."), std::string::npos) << info.driver_version;
  EXPECT_EQ(info.uuid.size(), 32u);
  EXPECT_GE(info.max_local_invocations, 128u);
  EXPECT_GE(info.local_memory_bytes, 16384u);
  EXPECT_GE(info.max_buffer_bytes, uint64_t{1} << 27);
  EXPECT_GE(info.max_texel_elements, 65536u);
  EXPECT_GE(info.max_storage_buffers, 4u);
  EXPECT_GE(info.max_scalar_bytes, 128u);
  EXPECT_GE(info.buffer_offset_alignment, 16u);
  EXPECT_EQ(info.buffer_offset_alignment & (info.buffer_offset_alignment - 1), 0u);
  EXPECT_GE(info.compute_units, 1u);
}

TEST_F(Vulkan, CompileCountsItsSpirvAndLoadCompilesNone) {
  const std::vector<KernelSource> sources = {NegateKernel(), NegateKernel()};
  const auto compiled = device_->Compile(sources);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  EXPECT_EQ((*compiled)->spirv_compiled(), 2);
  const auto binary = (*compiled)->Binary();
  ASSERT_TRUE(binary.ok()) << binary.status().message();
  const auto loaded = device_->Load(sources, *binary);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ((*loaded)->spirv_compiled(), 0);
  const auto again = (*loaded)->Binary();
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_TRUE(device_->Load(sources, *again).ok()) << "a loaded group gives a binary as good as the first";
}

TEST_F(Vulkan, ATruncatedBinaryIsRefused) {
  const KernelSource source = NegateKernel();
  const std::vector<std::byte> binary = BinaryOf(*device_, source);
  for (size_t size = 1; size < binary.size(); ++size) {
    const auto loaded = device_->Load({&source, 1}, std::span(binary).first(size));
    ASSERT_FALSE(loaded.ok()) << size << " of " << binary.size() << " bytes";
    ASSERT_EQ(loaded.status().code(), StatusCode::kMalformedInput);
  }
}

TEST_F(Vulkan, AFlippedBitAnywhereInABinaryIsRefused) {
  const KernelSource source = NegateKernel();
  std::vector<std::byte> binary = BinaryOf(*device_, source);
  for (size_t at = 0; at < binary.size(); ++at) {
    binary[at] ^= std::byte{0x10};
    ASSERT_FALSE(device_->Load({&source, 1}, binary).ok()) << "byte " << at;
    binary[at] ^= std::byte{0x10};
  }
  EXPECT_TRUE(device_->Load({&source, 1}, binary).ok());
}

TEST_F(Vulkan, ABinarysTwoPartsHoldItsSpirvOnceAndLoadTogether) {
  const KernelSource source = NegateKernel();
  const auto compiled = device_->Compile({&source, 1});
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  const std::vector<std::byte> portable = (*compiled)->Portable();
  const auto driver_part = (*compiled)->DriverPart();
  ASSERT_TRUE(driver_part.ok()) << driver_part.status().message();
  const auto whole = ParseContainer((*compiled)->Binary().value(), 1), own = ParseContainer(*driver_part, 0);
  ASSERT_TRUE(whole.ok() && own.ok());
  EXPECT_TRUE(own->modules.empty());
  EXPECT_EQ(own->pipeline_cache, whole->pipeline_cache);
  const auto loaded = device_->LoadParts({&source, 1}, portable, *driver_part);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ((*loaded)->spirv_compiled(), 0);
  EXPECT_EQ((*loaded)->Portable(), portable);
}

TEST_F(Vulkan, AFlippedBitAnywhereInOneOfTwoPartsIsRefused) {
  const KernelSource source = NegateKernel();
  const auto compiled = device_->Compile({&source, 1});
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  std::vector<std::byte> portable = (*compiled)->Portable(), driver_part = (*compiled)->DriverPart().value();
  for (std::vector<std::byte>* part : {&portable, &driver_part}) {
    for (std::byte& byte : *part) {
      byte ^= std::byte{0x10};
      ASSERT_EQ(device_->LoadParts({&source, 1}, portable, driver_part).status().code(), StatusCode::kMalformedInput);
      byte ^= std::byte{0x10};
    }
  }
  EXPECT_FALSE(device_->LoadParts({&source, 1}, driver_part, portable).ok()) << "in the wrong order";
  EXPECT_TRUE(device_->LoadParts({&source, 1}, portable, driver_part).ok());
}

TEST_F(Vulkan, ABinaryOfAnotherNumberOfKernelsIsRefused) {
  const std::vector<std::byte> binary = BinaryOf(*device_, NegateKernel());
  const std::vector<KernelSource> two = {NegateKernel(), NegateKernel()};
  EXPECT_FALSE(device_->Load(two, binary).ok());
}

TEST_F(Vulkan, APipelineCacheOfAnotherDriverIsLeftOut) {
  const KernelSource source = NegateKernel();
  auto container = ParseContainer(BinaryOf(*device_, source), 1);
  ASSERT_TRUE(container.ok()) << container.status().message();
  std::vector<std::byte>& cache = container->pipeline_cache;
  ASSERT_GE(cache.size(), sizeof(VkPipelineCacheHeaderVersionOne));
  cache[offsetof(VkPipelineCacheHeaderVersionOne, pipelineCacheUUID)] ^= std::byte{0xff};
  EXPECT_TRUE(device_->Load({&source, 1}, vulkan::Serialize(*container)).ok());
  cache.resize(7);  // not even a header
  EXPECT_TRUE(device_->Load({&source, 1}, vulkan::Serialize(*container)).ok());
}

TEST_F(Vulkan, APartOfATexelIsRefusedWithTheTensorsName) {
  KernelSource source = NegateKernel();
  source.tensors[0].path = AccessPath::kTexelBuffer;
  const auto group = device_->Compile({&source, 1});
  ASSERT_TRUE(group.ok()) << group.status().message();
  const auto buffer = device_->CreateBuffer(1024);
  ASSERT_TRUE(buffer.ok()) << buffer.status().message();
  DispatchCommand dispatch;
  dispatch.program = (*group)->programs()[0].get();
  dispatch.tensors = {{buffer->get(), 0, 24}, {buffer->get(), 512, 512}};
  const auto executable = device_->Prepare({{dispatch}});
  ASSERT_FALSE(executable.ok());
  EXPECT_EQ(executable.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(executable.status().message().find("tensor x"), std::string::npos) << executable.status().message();
}

TEST_F(Vulkan, ADeviceThatIsNotThereIsUnavailable) {
  DeviceCandidate candidate;
  candidate.backend = "vulkan";
  for (int index : {-1, 1000}) {
    candidate.driver_index = index;
    const auto device = OpenVulkan(candidate);
    ASSERT_FALSE(device.ok());
    EXPECT_EQ(device.status().code(), StatusCode::kUnavailable);
  }
}

// Runs in a process of its own: 0 when enumerating gives one unusable candidate with a reason, and opening it fails.
[[noreturn]] void EnumerateWithoutDrivers() {
  for (const char* name : {"VK_ICD_FILENAMES", "VK_DRIVER_FILES"}) setenv(name, "/nonexistent/driver.json", 1);
  const std::vector<DeviceCandidate> candidates = EnumerateVulkan();
  const bool one_reason = candidates.size() == 1 && !candidates[0].usable && !candidates[0].unusable_reason.empty();
  const bool refused = one_reason && !OpenVulkan(candidates[0]).ok();
  if (one_reason) std::fprintf(stderr, "reason: %s\n", candidates[0].unusable_reason.c_str());
  std::_Exit(refused ? 0 : 1);
}

TEST(VulkanWithoutDrivers, GivesOneUnusableCandidateWithAReason) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(EnumerateWithoutDrivers(), ::testing::ExitedWithCode(0), "Vulkan");
}

constexpr const char* kEmptyShader = "#version 450\nlayout(local_size_x = 1) in;\nvoid main() {}\n";

TEST(VulkanSpirv, ACompiledShaderIsASaneModule) {
  const auto words = CompileToSpirv(kEmptyShader);
  ASSERT_TRUE(words.ok()) << words.status().message();
  EXPECT_TRUE(CheckSpirv(*words).ok());
}

TEST(VulkanSpirv, AnErrorCarriesTheCompilersLog) {
  const auto words = CompileToSpirv("#version 450\nvoid main() { nonsense(); }\n");
  ASSERT_FALSE(words.ok());
  EXPECT_NE(words.status().message().find("nonsense"), std::string::npos) << words.status().message();
}

TEST(VulkanSpirv, BrokenModulesAreRefused) {
  const auto compiled = CompileToSpirv(kEmptyShader);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  EXPECT_FALSE(CheckSpirv({}).ok());
  EXPECT_FALSE(CheckSpirv(std::span(*compiled).first(5)).ok()) << "a header alone";
  EXPECT_FALSE(CheckSpirv(std::span(*compiled).first(6)).ok()) << "cut inside its first instruction";
  SpirvWords changed = *compiled;
  changed[0] ^= 1;
  EXPECT_FALSE(CheckSpirv(changed).ok()) << "magic";
  changed = *compiled;
  changed[1] = 0x00010600;
  EXPECT_FALSE(CheckSpirv(changed).ok()) << "newer than Vulkan 1.1 takes";
  changed = *compiled;
  changed[5] &= 0xffff;
  EXPECT_FALSE(CheckSpirv(changed).ok()) << "an instruction of no words";
}

TEST(VulkanContainer, GivesBackWhatItWasGiven) {
  const auto words = CompileToSpirv(kEmptyShader);
  ASSERT_TRUE(words.ok()) << words.status().message();
  const ProgramContainer container{{*words, *words}, {std::byte{1}, std::byte{2}, std::byte{3}}};
  const auto parsed = ParseContainer(vulkan::Serialize(container), 2);
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(parsed->modules, container.modules);
  EXPECT_EQ(parsed->pipeline_cache, container.pipeline_cache);
}

TEST(VulkanContainer, WordsThatAreNoSpirvAreRefusedThoughTheChecksumIsRight) {
  const ProgramContainer container{{SpirvWords(64, 0xabcdabcd)}, {}};
  const auto parsed = ParseContainer(vulkan::Serialize(container), 1);
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.status().code(), StatusCode::kMalformedInput);
}

TEST(VulkanContainer, BytesBehindItsEndAreRefused) {
  const auto words = CompileToSpirv(kEmptyShader);
  ASSERT_TRUE(words.ok()) << words.status().message();
  std::vector<std::byte> bytes = vulkan::Serialize({{*words}, {}});
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(ParseContainer(bytes, 1).ok());
}

TEST(VulkanErrors, DriverAnswersBecomeStatusCodesWithTheirNames) {
  const Status out_of_memory = vulkan::ToStatus(VK_ERROR_OUT_OF_DEVICE_MEMORY, "vkAllocateMemory");
  EXPECT_EQ(out_of_memory.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(out_of_memory.message(), "vkAllocateMemory answered VK_ERROR_OUT_OF_DEVICE_MEMORY");
  EXPECT_EQ(vulkan::ToStatus(VK_ERROR_DEVICE_LOST, "vkQueueSubmit").code(), StatusCode::kDeviceLost);
  EXPECT_TRUE(vulkan::ToStatus(VK_SUCCESS, "vkQueueSubmit").ok());
}

TEST(VulkanErrors, OnlyADeviceThatTheDriverCallsLostIsLost) {
  for (const VkResult result : {VK_ERROR_UNKNOWN, VK_ERROR_INVALID_SHADER_NV, VK_ERROR_VALIDATION_FAILED_EXT,
                                VK_ERROR_INITIALIZATION_FAILED, VK_INCOMPLETE, VK_NOT_READY}) {
    const Status status = vulkan::ToStatus(result, "vkCreateComputePipelines");
    EXPECT_EQ(status.code(), StatusCode::kUnavailable) << status.message();
  }
}

}  // namespace
}  // namespace hearth
