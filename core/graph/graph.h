// A network as values: tensors (Value), operations (Node) in execution order, constants.
//
// A Graph is a movable value. Constants are borrowed (from a mapped model file, which must outlive the graph) or owned
// (made by passes and builders). Passes rewrite the graph in place, and Validate() runs after each. Not thread-safe;
// const use from several threads is fine.
#ifndef HEARTH_CORE_GRAPH_GRAPH_H_
#define HEARTH_CORE_GRAPH_GRAPH_H_

#include <atomic>
#include <compare>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/op.h"
#include "core/graph/stored_elements.h"
#include "core/graph/types.h"

namespace hearth {

using ValueId = int32_t;
using ConstantId = int32_t;
inline constexpr ValueId kNoValue = -1;  // an optional input that is absent

// Whether somebody has looked at a constant's bytes. Several threads may note it at once.
class ReadMark {
 public:
  ReadMark() = default;
  ReadMark(const ReadMark& other) : is_set_(other.is_set()) {}
  ReadMark& operator=(const ReadMark& other) {
    is_set_.store(other.is_set(), std::memory_order_relaxed);
    return *this;
  }
  void Set() { is_set_.store(true, std::memory_order_relaxed); }
  bool is_set() const { return is_set_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> is_set_ = false;
};

struct Constant {
  std::span<const std::byte> bytes;
  // The bytes' position in the model's files; absent for constants that Hearth made.
  std::optional<FileRange> source;
  mutable ReadMark was_read = {};  // by whoever computes with them, since the graph was made or cloned
  // Set if `bytes` lie in another order than that of the dimensions of its values, or are of another type.
  std::shared_ptr<const StoredElements> elements = {};

  OrderedBytes ordered() const { return elements == nullptr ? OrderedBytes{bytes} : elements->Ordered(bytes); }
  size_t size_bytes() const { return elements == nullptr ? bytes.size() : elements->size_bytes(); }  // in order
};

struct Value {
  std::string name;
  TensorDesc desc;
  std::optional<ConstantId> constant;
};

struct Node {
  Op op;
  std::vector<ValueId> inputs;  // kNoValue where an optional input is absent
  std::vector<ValueId> outputs;
  std::string name;
  int32_t source_index = -1;  // the operator's index in the model file; -1 for nodes that a pass made
};

// The input at this place; kNoValue where the node has none.
inline ValueId InputOf(const Node& node, size_t place) {
  return place < node.inputs.size() ? node.inputs[place] : kNoValue;
}

// Those that are there: without absent optional inputs.
inline std::vector<ValueId> Present(std::vector<ValueId> inputs) {
  std::erase(inputs, kNoValue);
  return inputs;
}

// State that the network keeps between runs (an LSTM's cell, an accumulator). During a run nodes read `read`, which no
// node makes and which starts as zeros (real ones, for quantized values). After the run the content of `written`, which
// a node makes, becomes the content of `read`. Both have the same description. `read` itself cannot be an output, but a
// copy of it can.
struct StatePair {
  ValueId read = kNoValue;
  ValueId written = kNoValue;
  friend bool operator==(const StatePair&, const StatePair&) = default;
};

class Graph {
 public:
  Graph() = default;
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  // Shares owned constants, which never change; borrowed ones stay borrowed.
  Graph Clone() const;

  std::string name;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::vector<StatePair> states;
  // Inputs whose content decides shapes. While it is open, the nodes that need it are unknown ones.
  std::vector<ValueId> shape_inputs;
  // Operators in the model file, including those that made no node; 0 for a graph from a builder.
  int32_t source_operator_count = 0;

  ValueId AddValue(Value value);
  ValueId AddConstantValue(std::string name, TensorDesc desc, std::vector<std::byte> bytes);
  ValueId AddFloatConstant(std::string name, const Shape& shape, std::span<const float> data);
  // Makes `id`, which no node makes, a constant with these bytes.
  void MakeConstant(ValueId id, std::vector<std::byte> bytes);
  ConstantId BorrowConstant(std::span<const std::byte> bytes, std::optional<FileRange> source) {
    return AddConstant({.bytes = bytes, .source = source});
  }
  // One of another graph, too: it must outlive this one, unless the bytes lie in the model's file.
  ConstantId AddConstant(Constant constant);

  // A constant of all elements of `id` as a view reads them, which are put in order for whoever reads them: of a large
  // constant of a file. Nothing for others.
  std::optional<ConstantId> AddReordered(ValueId id, const StridedView& view);
  // The same of a constant of floats with elements multiplied by numbers.
  std::optional<ConstantId> AddScaled(ValueId id, StoredForm::Factors factors);
  // The same of integers of a file that are bytes for the graph, as integers of 4 bits.
  std::optional<ConstantId> AddOf4Bits(ValueId id);

  // Limits the bytes of constants that are made from now on; there is no limit before. Passes ask HasRoomFor before
  // they compute a constant, since nodes that share a filter could each want one of their own, and a single number
  // could be repeated for any number of channels.
  void LimitNewConstants(size_t bytes) { room_bytes_ = bytes; }
  bool HasRoomFor(size_t bytes) const { return bytes <= room_bytes_; }
  // Frees what a reader needed on its way: constants that the graph made and that no node reads, whose values are none
  // any more, and what was put in order to be read.
  void DropUnusedConstants();
  // Bytes of all constants, of values that share one counted once.
  size_t ConstantsSizeBytes() const;
  Node& AddNode(Node node);

  const std::vector<Value>& values() const { return values_; }
  Value& value(ValueId id) { return values_[id]; }
  const Value& value(ValueId id) const { return values_[id]; }
  const Constant& constant(ConstantId id) const { return constants_[id]; }
  std::vector<Node>& nodes() { return nodes_; }
  const std::vector<Node>& nodes() const { return nodes_; }

  bool IsConstant(ValueId id) const { return id != kNoValue && values_[id].constant.has_value(); }
  bool IsOutput(ValueId id) const;
  bool IsState(ValueId id) const;  // `read` of a state
  // An output or a state's next content. A pass must keep such a value under its id, made by a node.
  bool IsKept(ValueId id) const;
  // Bytes of a constant value in the order of its dimensions, valid as long as the graph, for whoever computes with
  // them: what is made of the graph then depends on them, which Constant::was_read notes. Precondition: IsConstant(id).
  std::span<const std::byte> ConstantBytes(ValueId id) const {
    const Constant& constant = constants_[*values_[id].constant];
    constant.was_read.Set();
    return constant.elements == nullptr ? constant.bytes : constant.elements->Kept(constant.bytes);
  }
  // The same, valid as long as the result: for weights that are packed, or read once.
  OrderedBytes ReadConstant(ValueId id) const {
    const Constant& constant = constants_[*values_[id].constant];
    constant.was_read.Set();
    return constant.ordered();
  }
  size_t ConstantSizeBytes(ValueId id) const { return constants_[*values_[id].constant].size_bytes(); }
  const std::vector<Constant>& constants() const { return constants_; }

  // Index of the node that makes `id`, or -1. Searches all nodes: for many values use Producers().
  int ProducerOf(ValueId id) const;
  // Indexed by value: the same, and how often nodes read it.
  std::vector<int> Producers() const;
  std::vector<int> ReadCounts() const;

  // Checks that ids are in range, values have one producer, nodes come after their producers (so there is no cycle),
  // constants have the right size, outputs are produced, and states are as StatePair says, except their descriptions,
  // which InferShapes compares. Errors name the node and value.
  Status Validate() const;

 private:
  // Keeps bytes that the graph makes, and takes them from the limit.
  std::span<const std::byte> Own(std::vector<std::byte> bytes);
  StoredForm FormOf(ValueId constant) const;
  std::optional<ConstantId> AddInForm(ValueId id, const StoredForm& form, int64_t bits);

  std::vector<Value> values_;
  std::vector<Constant> constants_;
  std::vector<std::shared_ptr<const std::vector<std::byte>>> owned_bytes_;  // shared by clones
  size_t room_bytes_ = std::numeric_limits<size_t>::max();
  std::vector<Node> nodes_;
};

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_GRAPH_H_
