// Completes the types of cooperative matrices that a kernel's text can't name.
#ifndef HEARTH_BACKENDS_VULKAN_SPIRV_MATRIX_TYPES_H_
#define HEARTH_BACKENDS_VULKAN_SPIRV_MATRIX_TYPES_H_

#include <cstdint>
#include <vector>

namespace hearth::vulkan {

// In each type of a cooperative matrix the text gave a number of bits where SPIR-V wants the type of an element
// (core/emit/matrix_types.h). Puts the float type of that size there. Returns false if the module has none. Modules
// without such matrices stay as they are.
bool CompleteMatrixTypes(std::vector<uint32_t>& words);

}  // namespace hearth::vulkan

#endif  // HEARTH_BACKENDS_VULKAN_SPIRV_MATRIX_TYPES_H_
