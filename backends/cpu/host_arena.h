// The memory in which a host program's nodes work: one block for all values.
#ifndef HEARTH_BACKENDS_CPU_HOST_ARENA_H_
#define HEARTH_BACKENDS_CPU_HOST_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace hearth {

// Intermediate values share space where their lifetimes allow; the program's inputs and outputs have
// memory of their own behind them. Addresses never change, so operators are set up once. Each value may be
// read up to kReadSlackBytes past its end (vector loads of the last elements), never written there.
class HostArena {
 public:
  static constexpr uint64_t kAlignmentBytes = 64;
  static constexpr uint64_t kReadSlackBytes = 16;

  // kResourceExhausted when the host has not that much memory.
  static Result<HostArena> Create(const Graph& graph, std::span<const int> nodes, std::span<const ValueId> outputs);

  // What the value is held as (HeldAs in quantized.h). Empty for constants and values that the program does not touch.
  std::span<std::byte> bytes(ValueId value) const;
  // The same, of a value that is held as float32.
  std::span<float> floats(ValueId value) const;

  const std::vector<ValueId>& inputs() const { return inputs_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }

  // Sizes of the intermediate values; the program's inputs and outputs are not counted.
  uint64_t planned_bytes() const { return planned_bytes_; }
  uint64_t naive_bytes() const { return naive_bytes_; }
  uint64_t lower_bound_bytes() const { return lower_bound_bytes_; }

 private:
  struct Place {
    uint64_t offset_bytes = 0, size_bytes = 0;
  };
  struct Release {
    void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{kAlignmentBytes}); }
  };

  void PlanIntermediates(const Graph& graph, std::span<const int> nodes);
  Status Allocate(const Graph& graph);

  std::vector<ValueId> inputs_, outputs_;
  std::map<ValueId, Place> places_;
  uint64_t planned_bytes_ = 0, naive_bytes_ = 0, lower_bound_bytes_ = 0;
  std::unique_ptr<std::byte[], Release> memory_;
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_HOST_ARENA_H_
