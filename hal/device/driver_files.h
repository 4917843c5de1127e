// The files of the drivers that the APIs' loaders would open.
#ifndef HEARTH_HAL_DEVICE_DRIVER_FILES_H_
#define HEARTH_HAL_DEVICE_DRIVER_FILES_H_

#include <string>
#include <vector>

namespace hearth {

// The files by the loaders' own rules. Vulkan: VK_DRIVER_FILES, VK_ICD_FILENAMES or the system's manifests (Vulkan
// loader interface, "Driver discovery"). OpenCL: OCL_ICD_VENDORS or the files *.icd (cl_khr_icd). OpenGL ES: Mesa's
// software drivers in LIBGL_DRIVERS_PATH or its folders in Debian, Fedora and Arch. Unreadable files are left out. The
// system looks up a name without a folder.
std::vector<std::string> VulkanDriverFiles();
std::vector<std::string> OpenClDriverFiles();
std::vector<std::string> GlesDriverFiles();

}  // namespace hearth

#endif  // HEARTH_HAL_DEVICE_DRIVER_FILES_H_
