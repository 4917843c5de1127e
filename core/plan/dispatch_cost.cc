#include "core/plan/dispatch_cost.h"

#include <algorithm>
#include <string_view>

namespace hearth {
namespace {

// Per compute unit, and of the memory of all. Not measured: no hardware GPU was to be had.
constexpr double kGigaFlopsOfUnit = 16;
constexpr double kGigaBytesPerSecond = 4, kGigaBytesOfUnit = 2;

// The scalar of this name, 1 where the kernel has none: it multiplies what a texel costs.
double Factor(const Dispatch& dispatch, const KernelSource& kernel, std::string_view name) {
  for (size_t k = 0; k < kernel.scalars.size() && k < dispatch.scalars.size(); ++k) {
    if (kernel.scalars[k].name == name) return std::max(1.0, static_cast<double>(dispatch.scalars[k]));
  }
  return 1;
}

// K4 input texels of four channels, or K channels, and a window of KH x KW for each output texel.
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
