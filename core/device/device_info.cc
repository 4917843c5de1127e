#include "core/device/device_info.h"

namespace hearth {

std::string_view DialectName(Dialect dialect) {
  constexpr std::string_view kNames[] = {"opencl", "gles", "vulkan"};
  return kNames[static_cast<int>(dialect)];
}

std::string_view DeviceTypeName(DeviceType type) {
  constexpr std::string_view kNames[] = {"cpu", "integrated-gpu", "discrete-gpu", "other"};
  return kNames[static_cast<int>(type)];
}

std::string_view AccessPathName(AccessPath path) {
  constexpr std::string_view kNames[] = {"buffer", "texel-buffer", "buffer-64", "texture"};
  return kNames[static_cast<int>(path)];
}

}  // namespace hearth
