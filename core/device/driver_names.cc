#include "core/device/driver_names.h"

#include <algorithm>
#include <initializer_list>
#include <string>

#include "core/base/lower_case.h"

namespace hearth {

namespace {

bool HasOneOf(const std::string& name, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&name](std::string_view word) { return name.find(word) != std::string::npos; });
}

}  // namespace

bool IsSoftwareName(std::string_view name) {
  // Mesa's, Google's, and Microsoft's WARP ("Microsoft Basic Render Driver").
  return HasOneOf(LowerCase(name),
                  {"llvmpipe", "lavapipe", "softpipe", "swrast", "swiftshader", "basic render", "software rasterizer"});
}

bool HasUnifiedMemory(const DeviceInfo& device) {
  const std::string name = LowerCase(device.name);
  // A guest's buffers are copied, whatever the host's GPU is, which the name has too.
  if (HasOneOf(name, {"virgl", "virtio-gpu", "emulator"})) return false;
  if (device.is_software()) return true;
  // Intel's discrete GPUs, by the chip that Mesa names: "(DG2)", "(BMG G21)", "(ATS-M150)".
  if (HasOneOf(name, {"(dg", "(bmg", "(ats-m"})) return false;
  if (name.starts_with("fd")) return true;  // freedreno calls Adreno 640 FD640
  return HasOneOf(name, {"adreno", "mali", "immortalis", "maleoon", "powervr", "xclipse", "tegra", "v3d", "videocore",
                         "vivante", "apple", "intel"});
}

}  // namespace hearth
