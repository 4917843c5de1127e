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
LoaderNames LoaderNamesOn(OperatingSystem system);

}  // namespace hearth

#endif  // HEARTH_HAL_DEVICE_LOADER_NAMES_H_
