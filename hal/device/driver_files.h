// The files of the drivers that the APIs' loaders would open.
#ifndef HEARTH_HAL_DEVICE_DRIVER_FILES_H_
#define HEARTH_HAL_DEVICE_DRIVER_FILES_H_

#include <filesystem>
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

// The place of a driver's own files in a cache's folder: `name`, or with the user's number if `name` belongs to another
// of those who share the cache.
std::filesystem::path DriversFolderIn(const std::filesystem::path& cache, const std::string& name);

// ---- Mesa's own cache ----
//
// Its software drivers make machine code when a kernel is first dispatched, and only Mesa's folder keeps that: without
// it a warm start of MobileNet v1 0.25 takes 0.7 s of processor time instead of 0.07, and one of a segmentation network
// 2.0 s instead of 0.2 (Mesa 22.3, lavapipe and llvmpipe).

// Call it before a driver of Mesa is opened. If the program has set no folder (MESA_SHADER_CACHE_DIR) and Mesa's own
// choice can't be written, as for a user without a home, it is set to "mesa" in the cache's folder.
void GiveMesaAFolder(const std::filesystem::path& folder);

// Why Mesa keeps no machine code; empty if it does, or will once it has been given `folder`.
std::string WhyMesaKeepsNothing(const std::filesystem::path& folder = {});

}  // namespace hearth

#endif  // HEARTH_HAL_DEVICE_DRIVER_FILES_H_
