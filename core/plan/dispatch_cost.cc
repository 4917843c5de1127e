#include "core/plan/dispatch_cost.h"

#include <algorithm>
#include <string_view>

namespace hearth {
namespace {

// Rates per compute unit; memory also has a rate for the device. Not measured, for lack of a hardware GPU.
constexpr double kGigaFlopsOfUnit = 16;
constexpr double kGigaBytesPerSecond = 4, kGigaBytesOfUnit = 2;

// The scalar of this name, by which a texel's cost is multiplied; 1 if the kernel has none.
double Factor(const Dispatch& dispatch, const KernelSource& kernel, std::string_view name) {
  for (size_t k = 0; k < kernel.scalars.size() && k < dispatch.scalars.size(); ++k) {
    if (kernel.scalars[k].name == name) return std::max(1.0, static_cast<double>(dispatch.scalars[k]));
  }
  return 1;
}

// Each output texel takes K4 input texels of four channels, or K channels, times a window of KH x KW.
double OperationsOfATexel(const Dispatch& dispatch, const KernelSource& kernel) {
  const double depth = std::max(4 * Factor(dispatch, kernel, "K4"), Factor(dispatch, kernel, "K"));
  return 8 * depth * Factor(dispatch, kernel, "KH") * Factor(dispatch, kernel, "KW");
}

}  // namespace

double EstimatedMs(const Dispatch& dispatch, const KernelSource& kernel, const DeviceInfo& device) {
  double bytes = 0, texels = 0;
  for (size_t k = 0; k < dispatch.tensors.size() && k < kernel.tensors.size(); ++k) {
    const auto range_bytes = static_cast<double>(dispatch.tensors[k].size_bytes);
    bytes += range_bytes;
    if (kernel.tensors[k].direction == ArgDirection::kWrite)
      texels += range_bytes / static_cast<double>(TexelBytes(kernel.tensors[k].storage));
  }
  const double units = std::max(1u, device.compute_units);
  const double operations_ms = texels * OperationsOfATexel(dispatch, kernel) / (kGigaFlopsOfUnit * units * 1e6);
  const double bytes_ms = bytes / ((kGigaBytesPerSecond + kGigaBytesOfUnit * units) * 1e6);
  return std::max(operations_ms, bytes_ms);
}

}  // namespace hearth
