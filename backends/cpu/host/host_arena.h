// The memory of a host program's values: one block.
#ifndef HEARTH_BACKENDS_CPU_HOST_HOST_ARENA_H_
#define HEARTH_BACKENDS_CPU_HOST_HOST_ARENA_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "core/base/large_pages.h"
#include "core/graph/graph.h"
#include "core/plan/offset_search.h"

namespace hearth {

// Intermediate values and the program's inputs share space if their lifetimes allow it; its outputs have separate
// memory after them. Addresses never change, so operators are set up once. Each value may be read up to kReadSlackBytes
// past its end (vector loads of the last elements), but not written there. A value that IsHeldAsFloats (quantized.h) is
// stored as floats, as its own type, or as both, depending on the nodes that use it.
class HostArena {
 public:
  static constexpr uint64_t kAlignmentBytes = 64;
  static constexpr uint64_t kReadSlackBytes = 16;

  // A conversion of a value to a second form, before step `step`.
  struct Conversion {
    int step = 0;
    ValueId value = kNoValue;
    bool to_floats = false;
  };

  // in_integers: for each of `nodes`, whether it reads and writes quantized values in their stored form; empty: none
  // does. `found`: offsets of arenas that were planned before. kResourceExhausted if the host lacks the memory.
  [[gnu::cold]] static Result<HostArena> Create(const Graph& graph, std::span<const int> nodes,
                                                std::span<const ValueId> outputs, const std::vector<bool>& in_integers,
                                                FoundOffsets& found);

  // A value in the form for nodes in floats (HeldAs in quantized.h). Empty for constants and values that the program
  // does not use.
  std::span<std::byte> bytes(ValueId value) const;
  // The same for a value held as float32.
  std::span<float> floats(ValueId value) const;
  bool HasFloats(ValueId value) const { return places_.contains({value, true}); }
  // A value in the form for nodes in integers: its own type.
  std::span<std::byte> stored(ValueId value) const;

  const std::vector<Conversion>& conversions() const { return conversions_; }  // by step
  // Whether the value's node makes its stored form.
  bool IsMadeAsStored(ValueId value) const { return made_as_stored_.contains(value); }

  const std::vector<ValueId>& inputs() const { return inputs_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }

  // Memory that one node at a time works in, during its run. While nodes are made, each says how much it needs; then
  // AllocateScratch.
  void NeedScratch(uint64_t bytes) { scratch_bytes_ = std::max(scratch_bytes_, bytes); }
  Status AllocateScratch();
  std::byte* scratch() const { return scratch_.get(); }

  // Inputs and intermediate values, which count during runs only.
  std::span<std::byte> run_memory() const { return {memory_.get(), static_cast<size_t>(planned_bytes_)}; }

  // Total size of inputs, intermediate values and scratch memory, without the program's outputs.
  uint64_t planned_bytes() const { return planned_bytes_ + scratch_bytes_; }
  uint64_t naive_bytes() const { return naive_bytes_ + scratch_bytes_; }
  uint64_t lower_bound_bytes() const { return lower_bound_bytes_ + scratch_bytes_; }

 private:
  struct Place {
    uint64_t offset_bytes = 0, size_bytes = 0;
  };

  // A value in one of its forms. as_floats is false for a value with only one form.
  struct Form {
    ValueId value = kNoValue;
    bool as_floats = false;
    auto operator<=>(const Form&) const = default;
  };

  [[gnu::cold]] void PlanIntermediates(const Graph& graph, std::span<const int> nodes,
                                       const std::vector<bool>& in_integers, FoundOffsets& found);
  Status Allocate(const Graph& graph);
  std::span<std::byte> Find(Form form) const;

  std::vector<ValueId> inputs_, outputs_;
  std::vector<Conversion> conversions_;
  std::set<ValueId> made_as_stored_;
  std::set<Form> output_forms_;
  std::map<Form, Place> places_;
  uint64_t planned_bytes_ = 0, naive_bytes_ = 0, lower_bound_bytes_ = 0;
  uint64_t scratch_bytes_ = 0;
  LargePageMemory memory_, scratch_;
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_HOST_HOST_ARENA_H_
