// File names of the APIs' loaders on each operating system. Hearth is built and tested on Linux; the other rows have
// the names that vendors give.
#ifndef HEARTH_HAL_DEVICE_LOADER_NAMES_H_
#define HEARTH_HAL_DEVICE_LOADER_NAMES_H_

#include <cstdint>
#include <vector>

namespace hearth {

enum class OperatingSystem : uint8_t { kLinux, kAndroid, kApple, kWindows };

constexpr OperatingSystem ThisSystem() {
#if defined(__ANDROID__)
  return OperatingSystem::kAndroid;
#elif defined(__APPLE__)
  return OperatingSystem::kApple;
#elif defined(_WIN32)
  return OperatingSystem::kWindows;
#else
  return OperatingSystem::kLinux;
#endif
}

// The first name of a list that the system finds is opened.
struct LoaderNames {
  std::vector<const char*> vulkan, opencl, egl, gles;
  std::vector<const char*> hardware_buffers = {};  // AHardwareBuffer_*: only Android has them
};
inline LoaderNames LoaderNamesOn(OperatingSystem system) {
  switch (system) {
    case OperatingSystem::kAndroid:
      // An Android app finds a vendor's OpenCL by name if the vendor lists it as public, else by its path.
      return {.vulkan = {"libvulkan.so"},
              .opencl = {"libOpenCL.so", "/vendor/lib64/libOpenCL.so", "/system/vendor/lib64/libOpenCL.so"},
              .egl = {"libEGL.so"},
              .gles = {"libGLESv2.so"},
              .hardware_buffers = {"libnativewindow.so", "libandroid.so"}};
    case OperatingSystem::kApple:
      // MoltenVK also works without a loader. OpenGL ES is ANGLE.
      return {.vulkan = {"libvulkan.1.dylib", "libvulkan.dylib", "libMoltenVK.dylib"},
              .opencl = {"/System/Library/Frameworks/OpenCL.framework/OpenCL", "libOpenCL.dylib"},
              .egl = {"libEGL.dylib"},
              .gles = {"libGLESv2.dylib"}};
    case OperatingSystem::kWindows:
      return {.vulkan = {"vulkan-1.dll"}, .opencl = {"OpenCL.dll"}, .egl = {"libEGL.dll"}, .gles = {"libGLESv2.dll"}};
    case OperatingSystem::kLinux: break;
  }
  // Names without a version are those of development packages; libepoxy opens only those of EGL and GLES with one.
  return {.vulkan = {"libvulkan.so.1", "libvulkan.so"},
          .opencl = {"libOpenCL.so.1", "libOpenCL.so"},
          .egl = {"libEGL.so.1"},
          .gles = {"libGLESv2.so.2"}};
}

}  // namespace hearth

#endif  // HEARTH_HAL_DEVICE_LOADER_NAMES_H_
