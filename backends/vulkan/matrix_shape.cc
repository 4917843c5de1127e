#include "backends/vulkan/matrix_shape.h"

#include <algorithm>
#include <vector>

#include "core/device/usable_limits.h"

namespace hearth::vulkan {
namespace {

std::vector<VkCooperativeMatrixPropertiesKHR> ListedShapes(const Instance& instance, VkPhysicalDevice device) {
  const auto list = instance.api.GetPhysicalDeviceCooperativeMatrixPropertiesKHR;
  uint32_t count = 0;
  if (list == nullptr || list(device, &count, nullptr) != VK_SUCCESS) return {};
  VkCooperativeMatrixPropertiesKHR empty{};
  empty.sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR;
  std::vector<VkCooperativeMatrixPropertiesKHR> shapes(count, empty);
  if (list(device, &count, shapes.data()) < 0) return {};
  shapes.resize(std::min<size_t>(count, shapes.size()));
  return shapes;
}

bool AddsHalfProductsInFloats(const VkCooperativeMatrixPropertiesKHR& shape) {
  return shape.scope == VK_SCOPE_SUBGROUP_KHR && shape.AType == VK_COMPONENT_TYPE_FLOAT16_KHR &&
         shape.BType == VK_COMPONENT_TYPE_FLOAT16_KHR && shape.CType == VK_COMPONENT_TYPE_FLOAT32_KHR &&
         shape.ResultType == VK_COMPONENT_TYPE_FLOAT32_KHR;
}

}  // namespace

std::array<uint32_t, 3> MatrixShapeOf(const Instance& instance, VkPhysicalDevice device) {
  std::array<uint32_t, 3> largest = {0, 0, 0};
  const auto size = [](const std::array<uint32_t, 3>& shape) { return uint64_t{shape[0]} * shape[1] * shape[2]; };
  for (const VkCooperativeMatrixPropertiesKHR& listed : ListedShapes(instance, device)) {
    const std::array<uint32_t, 3> shape = {listed.MSize, listed.NSize, listed.KSize};
    if (AddsHalfProductsInFloats(listed) && IsUsableMatrix(shape) && size(shape) > size(largest)) largest = shape;
  }
  return largest;
}

}  // namespace hearth::vulkan
