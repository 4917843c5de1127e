// The values of a graph as a plan stores them, and scratch values that only the plan has.
#ifndef HEARTH_CORE_PLAN_PLAN_VALUES_H_
#define HEARTH_CORE_PLAN_PLAN_VALUES_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "core/device/device_info.h"
#include "core/device/options.h"
#include "core/emit/kernel_source.h"
#include "core/graph/graph.h"

namespace hearth {

class PlanValues {
 public:
  // Graph and device must outlive it.
  PlanValues(const Graph& graph, const DeviceInfo& device, const LowerOptions& options);

  const Graph& graph() const { return graph_; }
  const DeviceInfo& device() const { return device_; }
  const LowerOptions& options() const { return options_; }
  AccessPath read_path() const { return read_path_; }  // of tensors that kernels read

  // Scratch memory between the dispatches of one node: a value that only the plan has.
  ValueId Scratch(TensorDesc desc);
  bool IsScratch(ValueId value) const { return static_cast<size_t>(value) >= graph_.values().size(); }

  // Describes a value of the graph, or a scratch value.
  const TensorDesc& DescOf(ValueId value) const;
  Bhwc ShapeOf(ValueId value) const { return ToBhwc(DescOf(value).shape); }
  StorageType StorageOf(ValueId value) const;
  StorageType real_storage() const { return real_storage_; }  // of most real numbers
  // The bytes that the value takes, and those with the room behind it that a texel view needs.
  uint64_t BytesOf(ValueId value) const;
  uint64_t PlacedBytes(uint64_t size_bytes) const;
  // Whether the value's real numbers are stored as float16.
  bool IsHalf(ValueId value) const { return StorageOf(value) == StorageType::kFloat16; }
  // Whether both have the same storage and grid, so that moving elements between them changes none.
  bool HoldAlike(ValueId a, ValueId b) const {
    return StorageOf(a) == StorageOf(b) && DescOf(a).quantization == DescOf(b).quantization;
  }

  // See value_analysis.h.
  bool DecidesIndices(ValueId value) const { return !IsScratch(value) && decides_indices_[value]; }
  // One node reads the value, once, and it is neither an output nor a state's next content.
  bool IsReadOnce(ValueId value) const { return !IsScratch(value) && reads_[value] == 1 && !graph_.IsKept(value); }
  int ReadCount(ValueId value) const { return reads_[value]; }
  // For sums of 16 bits; see value_analysis.h.
  float LargestMagnitudeOf(ValueId value) const;

 private:
  const Graph& graph_;
  const DeviceInfo& device_;
  const LowerOptions options_;
  AccessPath read_path_;
  StorageType real_storage_;
  std::vector<bool> decides_indices_;  // by value; see value_analysis.h
  std::vector<bool> needs_32_bits_;    // by value: integers, and what may exceed 16 bits; see half_range.h
  std::vector<float> bounds_;          // by value
  std::vector<int> reads_;             // by value: how often nodes read it
  std::deque<TensorDesc> scratch_;     // ids follow the graph's; a deque, because DescOf returns references
};

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_PLAN_VALUES_H_
