#include "core/plan/plan_values.h"

#include <limits>
#include <utility>

#include "core/device/device_rules.h"
#include "core/graph/half_range.h"
#include "core/graph/value_analysis.h"
#include "core/plan/storage.h"

namespace hearth {

PlanValues::PlanValues(const Graph& graph, const DeviceInfo& device, const LowerOptions& options)
    : graph_(graph),
      device_(device),
      options_(options),
      read_path_(options.read_path.value_or(DefaultReadPath(device))),
      real_storage_(RealStorage(options.precision, device)),
      decides_indices_(ValuesThatDecideIndices(graph)),
      needs_32_bits_(real_storage_ == StorageType::kFloat32 ? std::vector<bool>(graph.values().size())
                                                            : ValuesThatHoldIntegers(graph)),
      reads_(graph.ReadCounts()) {
  if (real_storage_ != StorageType::kFloat32) {
    const std::vector<bool> beyond_half = ValuesBeyondHalf(graph);
    for (size_t v = 0; v < beyond_half.size(); ++v) needs_32_bits_[v] = needs_32_bits_[v] || beyond_half[v];
  }
  if (options.precision != Precision::kFp32 && Applies(Rule::kHalfArithmetic, device))
    bounds_ = LargestMagnitudes(graph);
}

ValueId PlanValues::Scratch(TensorDesc desc) {
  scratch_.push_back(std::move(desc));
  return static_cast<ValueId>(graph_.values().size() + scratch_.size() - 1);
}

const TensorDesc& PlanValues::DescOf(ValueId value) const {
  return IsScratch(value) ? scratch_[value - graph_.values().size()] : graph_.value(value).desc;
}

StorageType PlanValues::StorageOf(ValueId value) const {
  const TensorDesc& desc = DescOf(value);
  // 1-pixel tensors stay float32: an error there repeats in every pixel that they scale or shift. Values between the
  // dispatches of one node stay float32 too: a rounding there would be one more than the node's result has.
  const bool is_whole =
      IsScratch(value) || ToBhwc(desc.shape).pixels() == 1 || decides_indices_[value] || needs_32_bits_[value];
  return hearth::StorageOf(desc, is_whole ? StorageType::kFloat32 : real_storage_);
}

uint64_t PlanValues::BytesOf(ValueId value) const {
  const Bhwc shape = ShapeOf(value);
  return static_cast<uint64_t>(shape.pixels()) * shape.slices() * TexelBytes(StorageOf(value));
}

uint64_t PlanValues::PlacedBytes(uint64_t size_bytes) const {
  return size_bytes + (read_path_ == AccessPath::kTexelBuffer ? TexelViewRoomBytes(size_bytes) : 0);
}

float PlanValues::LargestMagnitudeOf(ValueId value) const {
  return IsScratch(value) ? std::numeric_limits<float>::infinity() : bounds_[value];
}

}  // namespace hearth
