// The memory in which a host program's nodes work: one block for all values.
#ifndef HEARTH_BACKENDS_CPU_HOST_ARENA_H_
#define HEARTH_BACKENDS_CPU_HOST_ARENA_H_

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

// Intermediate values and the program's inputs share space where their lifetimes allow; its outputs have
// memory of their own behind them. Addresses never change, so operators are set up once. Each value may be
// read up to kReadSlackBytes past its end (vector loads of the last elements), never written there.
// A value that IsHeldAsFloats (quantized.h) lies there as floats, as it is stored, or as both, whatever the nodes
// around it want.
class HostArena {
 public:
  static constexpr uint64_t kAlignmentBytes = 64;
  static constexpr uint64_t kReadSlackBytes = 16;

  // A value that one node makes in one form and others want in the other: before step `step` it is converted.
  struct Conversion {
    int step = 0;
    ValueId value = kNoValue;
    bool to_floats = false;
  };

  // in_integers: for each of `nodes` whether it reads and writes quantized values as they are stored; empty: none.
  // `found`: where values lie in arenas that were planned before. kResourceExhausted when the host has not that much
  // memory.
  static Result<HostArena> Create(const Graph& graph, std::span<const int> nodes, std::span<const ValueId> outputs,
                                  const std::vector<bool>& in_integers, FoundOffsets& found);

  // What nodes in floats find the value as (HeldAs in quantized.h). Empty for constants and values that the program
  // does not touch.
  std::span<std::byte> bytes(ValueId value) const;
  // The same, of a value that is held as float32.
  std::span<float> floats(ValueId value) const;
  bool HasFloats(ValueId value) const { return places_.contains({value, true}); }
  // What nodes in integers find it as: in its own type.
  std::span<std::byte> stored(ValueId value) const;

  const std::vector<Conversion>& conversions() const { return conversions_; }  // by step
  // Whether the value's node makes it as it is stored.
  bool IsMadeAsStored(ValueId value) const { return made_as_stored_.contains(value); }

  const std::vector<ValueId>& inputs() const { return inputs_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }

  // Sizes of inputs and intermediate values; the program's outputs are not counted.
  uint64_t planned_bytes() const { return planned_bytes_; }
  uint64_t naive_bytes() const { return naive_bytes_; }
  uint64_t lower_bound_bytes() const { return lower_bound_bytes_; }

 private:
  struct Place {
    uint64_t offset_bytes = 0, size_bytes = 0;
  };

  // A value in one of its forms; one that does not have two is never as_floats.
  struct Form {
    ValueId value = kNoValue;
    bool as_floats = false;
    auto operator<=>(const Form&) const = default;
  };

  void PlanIntermediates(const Graph& graph, std::span<const int> nodes, const std::vector<bool>& in_integers,
                         FoundOffsets& found);
  Status Allocate(const Graph& graph);
  std::span<std::byte> Find(Form form) const;

  std::vector<ValueId> inputs_, outputs_;
  std::vector<Conversion> conversions_;
  std::set<ValueId> made_as_stored_;
  std::set<Form> output_forms_;
  std::map<Form, Place> places_;
  uint64_t planned_bytes_ = 0, naive_bytes_ = 0, lower_bound_bytes_ = 0;
  LargePageMemory memory_;
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_HOST_ARENA_H_
