// The lowered network: everything that a device needs to run it, as a value that needs no driver. Lower(graph, device,
// options) makes it, the cache stores it, hal/plan_runner executes it.
#ifndef HEARTH_CORE_PLAN_PLAN_H_
#define HEARTH_CORE_PLAN_PLAN_H_

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/base/file_range.h"
#include "core/emit/kernel_source.h"
#include "core/graph/graph.h"
#include "core/plan/pack.h"

namespace hearth {

// Bytes [offset, offset + size) of plan.buffers[buffer].
struct BufferRange {
  uint32_t buffer = 0;
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;
  friend bool operator==(const BufferRange&, const BufferRange&) = default;
};

// Whether two ranges, of this type or of bound buffers, have a byte in common.
template <typename Range>
bool Overlap(const Range& a, const Range& b) {
  return a.buffer == b.buffer && a.offset_bytes < b.offset_bytes + b.size_bytes &&
         b.offset_bytes < a.offset_bytes + a.size_bytes;
}

enum class BufferRole : uint8_t {
  kArena,
  kConstants,
  kState,  // keeps its content between runs
};
struct BufferSpec {
  BufferRole role = BufferRole::kArena;
  uint64_t size_bytes = 0;
  friend bool operator==(const BufferSpec&, const BufferSpec&) = default;
};

// A constant in device memory: packed from bytes of the model's files or from `inline_bytes`.
struct PlanConstant {
  BufferRange range;
  PackRecipe recipe;
  FileRange source;  // if inline_bytes is empty
  std::vector<std::byte> inline_bytes;
  bool is_kept = false;  // the cache has its packed form, because reading it is faster than packing
  friend bool operator==(const PlanConstant&, const PlanConstant&) = default;
};

// One kernel launch. `tensors` and `scalars` follow the kernel's argument order;
// a scalar holds an int32 or the bits of a float.
struct Dispatch {
  uint32_t kernel = 0;  // index into Plan::kernels
  std::vector<BufferRange> tensors;
  std::vector<uint32_t> scalars;
  std::array<uint32_t, 3> group_count = {1, 1, 1};
  std::string label;  // the node's name, for profiles and traces
  friend bool operator==(const Dispatch&, const Dispatch&) = default;
};

// A value that is copied between host and device: dense in the model's layout on the host, slices [C/4][B][H][W][4] in
// `range` on the device.
struct HostTransfer {
  ValueId value = kNoValue;  // in the lowered graph
  TensorDesc desc;           // on the host
  StorageType storage = StorageType::kFloat32;
  BufferRange range;
  friend bool operator==(const HostTransfer&, const HostTransfer&) = default;
};

// Nodes that the host executes between two groups of dispatches, in order.
struct HostStep {
  std::vector<int> nodes;            // indices into the lowered graph's nodes
  std::vector<HostTransfer> reads;   // device -> host, before the nodes
  std::vector<HostTransfer> writes;  // host -> device, after the nodes
  friend bool operator==(const HostStep&, const HostStep&) = default;
};

using Step = std::variant<Dispatch, HostStep>;

struct PlanTensor {  // an input or output of the network
  std::string name;
  TensorDesc desc;
  bool on_device = true;  // false: only host steps use it
  HostTransfer transfer;  // when on_device
  friend bool operator==(const PlanTensor&, const PlanTensor&) = default;
};

// State that the network keeps between runs. On the device a dispatch of the plan copies its next content; on the host
// the plan's runner copies it after the last step.
struct PlanState {
  std::string name;
  TensorDesc desc;
  bool on_device = false;
  HostTransfer transfer;  // its value; if on_device, its range in a kState buffer
  // If not on_device: its next content, which lies on the device if next_on_device, else in a value of a host step.
  bool next_on_device = false;
  HostTransfer next;
  friend bool operator==(const PlanState&, const PlanState&) = default;
};

struct Fallback {  // a file operator that runs on the CPU, and why
  int32_t source_index = -1;
  std::string op;
  std::string reason;
  friend bool operator==(const Fallback&, const Fallback&) = default;
};

struct MemoryFigures {
  uint64_t arena_bytes = 0, naive_bytes = 0, lower_bound_bytes = 0, weights_bytes = 0, state_bytes = 0;
  friend bool operator==(const MemoryFigures&, const MemoryFigures&) = default;
};

// What a plan holds of its model, so that it never runs on another one: scales, shapes, attributes, and constants that
// the passes or the lowering looked at. Weights that are packed from the file when a session starts are not part of it.
struct PlanProof {
  std::vector<FileRange> read;          // constants of the file whose bytes went into the plan
  std::array<uint8_t, 16> digest = {};  // XXH3-128 of those, of the constants that no file holds, and of the graph
  friend bool operator==(const PlanProof&, const PlanProof&) = default;
};

struct Plan {
  std::vector<KernelSource> kernels;
  std::vector<BufferSpec> buffers;
  std::vector<PlanConstant> constants;
  std::vector<Step> steps;
  std::vector<PlanTensor> inputs, outputs;
  std::vector<PlanState> states;
  std::vector<Fallback> fallbacks;
  int32_t source_op_count = 0;  // operators in the model file
  MemoryFigures memory;
  PlanProof proof;  // of a plan that can be stored

  size_t dispatch_count() const;
  bool has_host_steps() const;
  friend bool operator==(const Plan&, const Plan&) = default;
};

// For the cache. Every member is written: plan_fields.h takes them from the structs themselves. For a kernel that is
// its name, arguments, defines and epilogue; its body comes from the kernel library when the plan is read.
// DeserializePlan refuses anything but exactly one plan made by this build's sources.
std::vector<std::byte> SerializePlan(const Plan& plan);
Result<Plan> DeserializePlan(std::span<const std::byte> bytes);

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_PLAN_H_
