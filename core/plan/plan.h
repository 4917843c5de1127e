// The lowered network: everything that a device needs to run it, as a value that needs no driver. Lower(graph, device,
// options) makes it, the cache stores it, hal/run executes it.
#ifndef HEARTH_CORE_PLAN_PLAN_H_
#define HEARTH_CORE_PLAN_PLAN_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

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

// Where a run finds a value in host memory.
struct HostPlace {
  enum class Kind : uint8_t {
    kNone,      // nowhere: only dispatches use the value
    kInput,     // in the caller's input `index`
    kOutput,    // in the caller's output `index`: the last segment writes it there
    kValue,     // in value `index` of Plan::host_bytes
    kConstant,  // in the lowered graph
  };
  Kind kind = Kind::kNone;
  uint32_t index = 0;
  friend bool operator==(const HostPlace&, const HostPlace&) = default;
};

// A value that a segment on the CPU reads, and something else makes, or the other way round. If it `crosses`, it is
// copied from the device before the nodes, or to the device after them.
struct SegmentOperand {
  HostPlace place;
  bool crosses = false;
  HostTransfer transfer;  // with storage and range if it crosses
  friend bool operator==(const SegmentOperand&, const SegmentOperand&) = default;
};

enum class Executor : uint8_t { kDevice, kCpu };

// A part of the network that one executor runs: a device dispatches, the CPU nodes of the lowered graph.
struct Segment {
  Executor executor = Executor::kDevice;
  uint32_t first_dispatch = 0, dispatch_count = 0;  // in Plan::dispatches
  std::vector<int> nodes;                           // indices into graph.nodes(), in order
  std::vector<SegmentOperand> reads, writes;        // of the CPU
  friend bool operator==(const Segment&, const Segment&) = default;
};

struct PlanTensor {  // an input or output of the network
  std::string name;
  TensorDesc desc;
  bool on_device = true;  // false: no dispatch uses it
  HostTransfer transfer;  // with storage and range when on_device
  HostPlace host;         // an input that the CPU reads; an output that no dispatch makes
  friend bool operator==(const PlanTensor&, const PlanTensor&) = default;
};

// State that the network keeps between runs. On the device a dispatch of the plan copies its next content; on the host
// that is copied after the last segment.
struct PlanState {
  std::string name;
  TensorDesc desc;
  bool on_device = false;
  HostTransfer transfer;  // its value; if on_device, its range in a kState buffer
  HostPlace host;         // if not on_device
  // If not on_device: its next content, which lies on the device if next_on_device, else in host memory.
  bool next_on_device = false;
  HostTransfer next;
  HostPlace next_host;
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
  std::array<uint64_t, 2> digest = {};  // XXH3-128 of those, of the constants that no file holds, and of the graph
  friend bool operator==(const PlanProof&, const PlanProof&) = default;
};

struct Plan {
  std::vector<KernelSource> kernels;
  std::vector<BufferSpec> buffers;
  std::vector<PlanConstant> constants;
  std::vector<Dispatch> dispatches;  // of all segments, in the order of the segments
  std::vector<Segment> segments;
  std::vector<uint64_t> host_bytes;  // sizes of the values that pass through host memory
  std::vector<PlanTensor> inputs, outputs;
  std::vector<PlanState> states;
  std::vector<Fallback> fallbacks;
  int32_t source_op_count = 0;  // operators in the model file
  MemoryFigures memory;
  PlanProof proof;  // of a plan that can be stored

  std::span<const Dispatch> DispatchesOf(const Segment& segment) const {
    return std::span(dispatches).subspan(segment.first_dispatch, segment.dispatch_count);
  }
  bool runs_on_cpu() const {  // any part of it
    return std::ranges::any_of(segments, [](const Segment& segment) { return segment.executor == Executor::kCpu; });
  }
  friend bool operator==(const Plan&, const Plan&) = default;
};

// For the cache. Every member is written: plan_fields.h takes them from the structs themselves. For a kernel that is
// its name, arguments, defines and epilogue; its body comes from the kernel library when the plan is read.
// DeserializePlan refuses anything but exactly one plan made by this build's sources.
std::vector<std::byte> SerializePlan(const Plan& plan);
Result<Plan> DeserializePlan(std::span<const std::byte> bytes);

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_PLAN_H_
