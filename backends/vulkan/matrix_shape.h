// The matrices that a subgroup of a device multiplies in one step.
#ifndef HEARTH_BACKENDS_VULKAN_MATRIX_SHAPE_H_
#define HEARTH_BACKENDS_VULKAN_MATRIX_SHAPE_H_

#include <array>
#include <cstdint>

#include "backends/vulkan/instance.h"

namespace hearth::vulkan {

// DeviceInfo::matrix_shape: the largest of those that the device lists and kernels can use; zeros if there is none.
std::array<uint32_t, 3> MatrixShapeOf(const Instance& instance, VkPhysicalDevice device);

}  // namespace hearth::vulkan

#endif  // HEARTH_BACKENDS_VULKAN_MATRIX_SHAPE_H_
