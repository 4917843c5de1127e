// The files of the drivers that the APIs' loaders would open.
#ifndef HEARTH_HAL_DRIVER_FILES_H_
#define HEARTH_HAL_DRIVER_FILES_H_

#include <string>
#include <vector>

namespace hearth {

// By the loaders' own rules: VK_DRIVER_FILES, VK_ICD_FILENAMES or the manifests of the system (Vulkan loader interface,
// "Driver discovery"); OCL_ICD_VENDORS or the files *.icd (cl_khr_icd). Of OpenGL ES Mesa's drivers on the processor:
// LIBGL_DRIVERS_PATH or its folders in Debian, Fedora and Arch. What can't be read is left out. A name without folder
// is looked up by the system.
std::vector<std::string> VulkanDriverFiles();
std::vector<std::string> OpenClDriverFiles();
std::vector<std::string> GlesDriverFiles();

}  // namespace hearth

#endif  // HEARTH_HAL_DRIVER_FILES_H_
