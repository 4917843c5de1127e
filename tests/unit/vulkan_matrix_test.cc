// Cooperative matrices on Vulkan: the shape that is taken from a driver's list, and SPIR-V whose types are complete.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <vector>

#include "backends/vulkan/physical_device.h"
#include "backends/vulkan/spirv_compiler.h"
#include "core/emit/kernel_library.h"

namespace hearth {
namespace {

using Sides = std::array<uint32_t, 3>;
constexpr auto kHalfElements = VK_COMPONENT_TYPE_FLOAT16_KHR;
constexpr auto kFloatElements = VK_COMPONENT_TYPE_FLOAT32_KHR;

std::vector<VkCooperativeMatrixPropertiesKHR> listed_matrices;

VkResult List(VkPhysicalDevice, uint32_t* count, VkCooperativeMatrixPropertiesKHR* properties) {
  const auto size = static_cast<uint32_t>(listed_matrices.size());
  if (properties != nullptr) std::copy_n(listed_matrices.begin(), std::min(*count, size), properties);
  *count = size;
  return VK_SUCCESS;
}

VkCooperativeMatrixPropertiesKHR Listed(const Sides& shape, VkComponentTypeKHR sum, VkScopeKHR scope) {
  VkCooperativeMatrixPropertiesKHR properties{};
  properties.MSize = shape[0];
  properties.NSize = shape[1];
  properties.KSize = shape[2];
  properties.AType = properties.BType = kHalfElements;
  properties.CType = properties.ResultType = sum;
  properties.scope = scope;
  return properties;
}

Sides LargestOf(std::vector<VkCooperativeMatrixPropertiesKHR> list) {
  listed_matrices = std::move(list);
  vulkan::Instance instance;
  instance.api.GetPhysicalDeviceCooperativeMatrixPropertiesKHR = List;
  return vulkan::MatrixShapeOf(instance, VK_NULL_HANDLE);
}

TEST(VulkanMatrixShape, IsTheLargestOfASubgroupsWithHalfFactorsAndFloatSums) {
  constexpr auto kSubgroup = VK_SCOPE_SUBGROUP_KHR, kWorkgroup = VkScopeKHR(2);
  EXPECT_EQ(LargestOf({Listed({16, 8, 8}, kFloatElements, kSubgroup), Listed({16, 16, 16}, kFloatElements, kSubgroup),
                       Listed({16, 8, 16}, kFloatElements, kSubgroup)}),
            (Sides{16, 16, 16}));
  EXPECT_EQ(
      LargestOf({Listed({8, 8, 8}, kFloatElements, kSubgroup), Listed({16, 16, 16}, kHalfElements, kSubgroup),
                 Listed({16, 16, 16}, kFloatElements, kWorkgroup), Listed({64, 64, 16}, kFloatElements, kSubgroup)}),
      (Sides{8, 8, 8}))
      << "halves as sums, a work group's matrices, and more than local memory holds";
  EXPECT_EQ(LargestOf({}), (Sides{0, 0, 0}));
}

TEST(VulkanMatrixShape, IsNoneWhereNoDriverHasTheExtension) {
  EXPECT_EQ(vulkan::MatrixShapeOf(vulkan::Instance(), VK_NULL_HANDLE), (Sides{0, 0, 0}));
}

// The instructions of a module, by the number of the word where each starts.
std::vector<std::span<const uint32_t>> InstructionsOf(const vulkan::SpirvWords& words) {
  std::vector<std::span<const uint32_t>> instructions;
  for (size_t at = 5; at < words.size(); at += words[at] >> 16)
    instructions.push_back(std::span(words).subspan(at, words[at] >> 16));
  return instructions;
}

TEST(VulkanMatrixTypes, HaveElementsOfFloatTypesThatStandBeforeThem) {
  KernelSource kernel = LoadKernel("pointwise_matrix").value();
  for (const auto& [name, value] :
       {std::pair{"TILE_M", "8"}, {"TILE_N", "16"}, {"TILE_K", "8"}, {"LANES", "8"}, {"HALF", "1"}}) {
    ASSERT_TRUE(SetDefine(kernel, name, value).ok());
  }
  kernel.tensors[0].storage = kernel.tensors[1].storage = StorageType::kFloat16;
  const Result<vulkan::SpirvWords> words = vulkan::CompileToSpirv(Emit(kernel, Dialect::kVulkan));
  ASSERT_TRUE(words.ok()) << words.status().message();
  EXPECT_TRUE(vulkan::CheckSpirv(*words).ok());
  constexpr uint32_t kTypeFloat = 22, kTypeMatrix = 4456;
  std::map<uint32_t, uint32_t> bits_of_float, matrices_of_bits;
  for (const std::span<const uint32_t> instruction : InstructionsOf(*words)) {
    const uint32_t opcode = instruction[0] & 0xffff;
    if (opcode == kTypeFloat) bits_of_float[instruction[1]] = instruction[2];
    if (opcode != kTypeMatrix) continue;
    ASSERT_TRUE(bits_of_float.contains(instruction[2])) << instruction[2] << " is no float's";
    ++matrices_of_bits[bits_of_float[instruction[2]]];
  }
  EXPECT_EQ(matrices_of_bits, (std::map<uint32_t, uint32_t>{{16, 2}, {32, 1}}));
}

}  // namespace
}  // namespace hearth
