#include "hal/run/watchdog_slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include "core/emit/helpers.h"
#include "core/emit/kernel_limits.h"

namespace hearth {
namespace {

constexpr double kSliceMs = 100;
constexpr int kFirstCorrection = 2, kLastCorrection = 4;  // runs
constexpr double kMostParts = 256;                        // of one dispatch

using Groups = std::array<uint32_t, 3>;

double GroupsOf(const Groups& count) {
  return static_cast<double>(count[0]) * count[1] * count[2];
}

// Into how many pieces each dimension is cut, the longest first, for the wanted number of parts.
Groups PiecesOf(const Groups& group_count, uint32_t wanted) {
  std::array<size_t, 3> by_length = {0, 1, 2};
  std::ranges::stable_sort(by_length, std::greater(), [&](size_t d) { return group_count[d]; });
  Groups pieces = {1, 1, 1};
  for (const size_t d : by_length) {
    pieces[d] = std::max(1u, std::min(wanted, group_count[d]));
    wanted = (wanted + pieces[d] - 1) / pieces[d];
  }
  return pieces;
}

std::vector<DispatchPart> PartsOf(const Plan& plan, size_t index, double wanted, const DeviceInfo& device) {
  const Dispatch& dispatch = plan.dispatches[index];
  const Groups& all = dispatch.group_count;
  const Groups pieces = PiecesOf(all, static_cast<uint32_t>(std::clamp(wanted, 1.0, kMostParts)));
  const bool is_whole =
      pieces == Groups{1, 1, 1} || !CheckKernelLimits(WithFirstGroup(plan.kernels[dispatch.kernel]), device).ok();
  if (is_whole) return {{index, {}, all, true}};
  Groups size;
  for (size_t d = 0; d < 3; ++d) size[d] = all[d] / pieces[d];  // rounded down: no part is larger than wanted
  std::vector<DispatchPart> parts;
  for (uint32_t z = 0; z < all[2]; z += size[2]) {
    for (uint32_t y = 0; y < all[1]; y += size[1]) {
      for (uint32_t x = 0; x < all[0]; x += size[0]) {
        const Groups count = {std::min(size[0], all[0] - x), std::min(size[1], all[1] - y),
                              std::min(size[2], all[2] - z)};
        parts.push_back({index, {x, y, z}, count, false});
      }
    }
  }
  return parts;
}

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

constexpr std::string_view kPrefix = "FROM_FIRST_";

// Replaces GID and WGID by other names, which the defines below give.
std::string Renamed(std::string_view body) {
  std::string text;
  for (size_t at = 0; at < body.size();) {
    size_t end = at;
    while (end < body.size() && IsOfIdentifier(body[end])) ++end;
    const std::string_view word = body.substr(at, end - at);
    if (word == "GID" || word == "WGID") text += kPrefix;
    end = std::max(end, at + 1);
    text += body.substr(at, end - at);
    at = end;
  }
  return text;
}

// Defines `id` of dimension d as the dialect's plus `items` for each group before the first.
Define CountingOn(std::string_view id, const std::array<uint32_t, 3>& items) {
  return {fmt::format("{}{}(d)", kPrefix, id),
          fmt::format("({}(d) + ((d) == 0 ? {} * {} : (d) == 1 ? {} * {} : {} * {}))", id, kFirstGroup[0], items[0],
                      kFirstGroup[1], items[1], kFirstGroup[2], items[2])};
}

}  // namespace

std::optional<double> SliceLimitMs(const DeviceInfo& device) {
  return device.is_software() ? std::nullopt : std::optional(kSliceMs);
}

std::vector<std::vector<DispatchPart>> SlicesOf(const Plan& plan, const Segment& segment, const DeviceInfo& device,
                                                std::optional<double> limit_ms, double correction) {
  std::vector<std::vector<DispatchPart>> slices;
  double slice_ms = 0;
  for (size_t k = segment.first_dispatch; k < size_t{segment.first_dispatch} + segment.dispatch_count; ++k) {
    const Dispatch& dispatch = plan.dispatches[k];
    const double ms = limit_ms ? correction * EstimatedMs(dispatch, plan.kernels[dispatch.kernel], device) : 0;
    const double limit = limit_ms.value_or(std::numeric_limits<double>::infinity());
    const std::vector<DispatchPart> parts = PartsOf(plan, k, std::ceil(ms / limit), device);
    for (const DispatchPart& part : parts) {
      const double part_ms = ms * GroupsOf(part.group_count) / GroupsOf(dispatch.group_count);
      if (slices.empty() || slice_ms + part_ms > limit) {
        slices.emplace_back();
        slice_ms = 0;
      }
      slices.back().push_back(part);
      slice_ms += part_ms;
    }
  }
  return slices;
}

bool SliceClock::NoteRun(double measured_ms, double estimated_ms) {
  if (runs_ >= kLastCorrection || estimated_ms <= 0) return false;
  ++runs_;
  if (runs_ == 1) return false;
  shortest_ms_ = runs_ == 2 ? measured_ms : std::min(shortest_ms_, measured_ms);
  if (runs_ != kFirstCorrection && runs_ != kLastCorrection) return false;
  correction_ = shortest_ms_ / estimated_ms;
  return true;
}

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

KernelSource WithFirstGroup(KernelSource source) {
  source.body = Renamed(source.body);
  source.defines.push_back(CountingOn("GID", source.local_size));
  source.defines.push_back(CountingOn("WGID", {1, 1, 1}));
  for (const std::string_view name : kFirstGroup) source.scalars.push_back({std::string(name), ScalarType::kInt});
  return source;
}

}  // namespace hearth
