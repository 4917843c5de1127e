#include "core/device/driver_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "core/base/text.h"

namespace hearth {
namespace {

bool HasOneOf(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words,
                             [text](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

}  // namespace

bool IsSoftwareName(std::string_view name) {
  // Mesa's, Google's, and Microsoft's WARP ("Microsoft Basic Render Driver").
  constexpr std::string_view kNames[] = {"llvmpipe",    "lavapipe",     "softpipe",           "swrast",
                                         "swiftshader", "basic render", "software rasterizer"};
  return HasOneOf(LowerCase(name), kNames);
}

bool NameIsDiscrete(std::string_view name) {
  // Intel's by the chip that Mesa names: "(DG2)", "(BMG G21)", "(ATS-M150)". NVIDIA's older cards don't name the maker.
  constexpr std::string_view kDiscrete[] = {"(dg",    "(bmg",  "(ats-m", "nvidia", "geforce",
                                            "quadro", "tesla", "titan",  "grid "};
  constexpr std::string_view kIntegrated[] = {"tegra", "orin", "xavier", "thor", "gb10"};
  const std::string small = LowerCase(name);
  return HasOneOf(small, kDiscrete) && !HasOneOf(small, kIntegrated);
}

bool NameHasUnifiedMemory(const DeviceInfo& device) {
  // A guest's buffers are copied, whatever the host's GPU is, which the name has too.
  constexpr std::string_view kGuests[] = {"virgl", "virtio-gpu", "emulator"};
  constexpr std::string_view kIntegrated[] = {"adreno", "mali", "immortalis", "maleoon", "powervr", "xclipse",
                                              "tegra",  "v3d",  "videocore",  "vivante", "apple",   "intel"};
  const std::string name = LowerCase(device.name);
  if (HasOneOf(name, kGuests)) return false;
  if (device.is_software()) return true;
  if (NameIsDiscrete(name)) return false;
  return name.starts_with("fd") || HasOneOf(name, kIntegrated);  // freedreno calls Adreno 640 FD640
}

DriverWords::DriverWords(const DeviceInfo& driver)
    : dialect(driver.dialect), text(fmt::format("{}\n{}\n{}", driver.name, driver.vendor, driver.driver_version)) {}

bool IsPocl(const DriverWords& driver) {
  return driver.dialect == Dialect::kOpenCl && driver.Has("PoCL");
}

}  // namespace hearth
