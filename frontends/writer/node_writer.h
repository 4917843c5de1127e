// Values, constants and nodes of a graph while a model file is read, in any format. What is known before any run
// becomes a constant instead of a node. Readers of operators and all expansions write through it.
#ifndef HEARTH_FRONTENDS_WRITER_NODE_WRITER_H_
#define HEARTH_FRONTENDS_WRITER_NODE_WRITER_H_

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/graph/constant_results.h"
#include "core/graph/graph.h"
#include "frontends/writer/budget.h"

namespace hearth {

// A written value, or why it was not written. Every function takes what another one made and passes its error on, so
// that calls can be nested.
using Made = Result<ValueId>;
// Several: an operator's results.
using Expanded = Result<std::vector<ValueId>>;

// A type without shape and quantization, for results.
inline TensorDesc PlainType(DType dtype) {
  return {dtype, Shape(), std::nullopt};
}

// The shape without a dimension, and with one more at that place.
Shape Without(const Shape& shape, int at);
Shape WithDimension(const Shape& shape, int at, int32_t size);
// The permutation that exchanges two dimensions.
Shape Exchange(int a, int b, int rank);

// The operands of a node. Braces fix the order in which they are written, so a plan does not depend on the compiler.
struct Operands {
  Operands() = default;
  Operands(std::initializer_list<Made> list);                    // NOLINT: implicit; kNoValue at the end is left out
  Operands(std::vector<ValueId> list) : ids(std::move(list)) {}  // NOLINT: implicit
  void Append(const Made& made);
  std::vector<ValueId> ids;
  Status status;  // the first error among them
};

// The operator of the file that nodes stand for.
struct Origin {
  int32_t source_index = -1;  // see Node
  std::string_view name;      // begins the names of values that the file does not name; outlives the reading
};

// What a file says about an operator's result.
struct NamedResult {
  std::string name;
  TensorDesc desc;       // its shape is a hint: it counts only where it cannot be inferred
  bool is_kept = false;  // an output of the model: a node makes it, under this name
};

// A dimension of which only the first slices are valid: as many as data make (`count`, int32[1]; kNoValue: all).
struct OpenDimension {
  int dim = 0;
  ValueId count = kNoValue;
  bool IsAt(int d) const { return count != kNoValue && dim == d; }
  friend bool operator==(const OpenDimension&, const OpenDimension&) = default;
};

// What sets some values apart from ordinary tensors.
struct ValueMarks {
  // Where data decide how many slices are valid. The graph holds as many as there may be.
  std::map<ValueId, OpenDimension> open;
  // The values that say so, and how large each can become.
  std::map<ValueId, int32_t> counts;
  // Values that are made of open ones, all of whose slices are valid.
  std::set<ValueId> closed;
  // Real and imaginary part of a complex tensor, for which a value stands that no node makes.
  std::map<ValueId, std::pair<ValueId, ValueId>> complex;
  // Numbers of elements that a MaxPoolArgmax2D found, and its second result: each lies in its window.
  std::map<ValueId, ValueId> found_in_windows;
  // Integers that were rounded and clamped as floats: these, less the zero point, and the zero point (kNoValue: none).
  std::map<ValueId, std::pair<ValueId, ValueId>> centered;
  // Constants of 4 or 2 bits an element, which have 8 here.
  std::set<ValueId> narrow_integers;
  // Integers that stand for texts of the file.
  std::set<ValueId> texts;
  // A constant that stands for a variable, and the variable's name.
  std::map<ValueId, std::string> handles;
  // Values whose rank the file leaves open, and nothing gives it. Their shape is that of a scalar.
  std::set<ValueId> unknown_shapes;

  OpenDimension OpenOf(ValueId id) const {
    const auto found = open.find(id);
    return found == open.end() ? OpenDimension() : found->second;
  }
  bool IsComplex(ValueId id) const { return complex.contains(id); }
  bool IsHandle(ValueId id) const { return handles.contains(id); }
};

struct FixedInput;  // hearth/model.h

class NodeWriter {
 public:
  // `is_in_loop`: the graph is a part of a loop, whose inputs are the loop's values.
  explicit NodeWriter(ReadingBudget& budget, bool is_in_loop = false) : budget_(budget), is_in_loop_(is_in_loop) {}
  NodeWriter(const NodeWriter&) = delete;
  NodeWriter& operator=(const NodeWriter&) = delete;

  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  ReadingBudget& budget() const { return budget_; }
  // What the nodes stand for that are written from now on.
  Origin& origin() { return origin_; }
  // From now on shapes that contradict each other are an error, because the caller of the reader chose some. Otherwise
  // the graph keeps the file's shapes: whoever runs it gets the error, and until then it can be shown.
  void RequireShapes() { shapes_are_required_ = true; }

  // ---- What is known of a value ----

  const TensorDesc& desc(ValueId id) const { return graph_.value(id).desc; }
  const Shape& shape(ValueId id) const { return desc(id).shape; }
  bool IsConstant(ValueId id) const { return graph_.IsConstant(id); }
  bool IsEmpty(ValueId id) const { return HasNoElements(graph_, id); }
  // The numbers of a constant of plain integers; kUnsupported for a value that is computed at run time.
  Result<std::vector<int64_t>> Integers(ValueId id) const;
  // The shape that a constant holds.
  Result<Shape> ShapeIn(ValueId id, int64_t most_elements = std::numeric_limits<int32_t>::max()) const;
  // The only number of a constant, as a real number.
  Result<double> Number(ValueId id) const;
  // The node that makes a value, until others are added; null for inputs and constants.
  const Node* ProducerOf(ValueId id) const;
  // " is computed at run time, from 'x'": the input, state or result on which a value that is not constant depends.
  // Notes inputs on which nothing but it depends (Graph::shape_inputs).
  std::string ComputedFrom(ValueId id) const;
  // The inputs of a few numbers each that alone decide a value; none if other values do as well.
  std::set<ValueId> SmallInputsBehind(ValueId id) const;
  std::set<ValueId>& shape_inputs() { return shape_inputs_; }
  // What stands for the same wherever it is made, so that two numbers of rows are known to be equal, and operators that
  // share weights (the steps of an unrolled network) share what is made of them: the value or values that `make` adds
  // for a key at its first use, and those again. A key begins with what is made.
  enum class MadeOnce : int64_t {
    kCount,
    kProductOfCount,
    kSumOfCount,
    kPlaces,
    kValidRows,
    kWidened,
    kSymmetric,
    kAligned,
    kPermuted,
    kGates,
    kDivided,
    kLayer,
    kBlockedLayer
  };
  template <typename Make>
  std::invoke_result_t<const Make&> Once(MadeOnce what, std::vector<int64_t> key, const Make& make) {
    if constexpr (std::is_same_v<std::invoke_result_t<const Make&>, Made>) {
      HEARTH_ASSIGN(const auto made, Once(what, std::move(key), [&]() -> Expanded {
                      HEARTH_ASSIGN(const ValueId one, make());
                      return std::vector{one};
                    }));
      return made[0];
    } else {
      key.insert(key.begin(), static_cast<int64_t>(what));
      if (const auto known = made_once_.find(key); known != made_once_.end()) return known->second;
      Expanded made = make();
      if (made.ok()) made_once_.emplace(std::move(key), *made);
      return made;
    }
  }
  // Takes back the nodes from `first_node` on, of an operator that is refused after all.
  void TakeBack(size_t first_node);

  ValueMarks& marks() { return marks_; }
  const ValueMarks& marks() const { return marks_; }

  // ---- Nodes ----

  // Adds a node and returns its value, whose shape is inferred; its type is that of the first operand (for SELECT the
  // second) unless `dtype` is given.
  Made Add(Op op, const Operands& inputs, std::optional<DType> dtype = std::nullopt);
  struct Two {  // by reference: no list is made and destroyed where each of a few hundred calls is written
    const Made &a, &b;
  };
  Made Add(BinaryKind kind, const Two& inputs);
  Made Add(UnaryKind kind, const Made& input);
  // The same with this type and quantization; the shape of `desc` is not used.
  Made AddAs(Op op, Operands inputs, TensorDesc desc);
  // All results of a node, of these types.
  Expanded AddSeveral(Op op, Operands inputs, std::vector<TensorDesc> results);
  // The node of an operator whose results the file names.
  Expanded AddNamed(Op op, std::vector<ValueId> inputs, std::vector<NamedResult> results);
  ValueId AddInput(std::string name, TensorDesc desc);
  // A constant in place of an input, with the content that the caller fixed. Other types are converted: integers must
  // stay what they are, real numbers are rounded. kInvalidArgument.
  Made AddFixedInput(std::string name, TensorDesc desc, const FixedInput& fixed);
  // A copy with the name of an output of the model: the same value may be listed as any number of them.
  Made AddCopy(ValueId value, std::string name);

  // Each returns the value itself if nothing is to be done.
  Made AddCast(const Made& value, DType dtype);
  Made AddReshape(const Made& value, Shape shape);
  Made AddTranspose(const Made& value, Shape permutation);
  // `count` elements of dimension `axis`, every `stride`-th from `first` on.
  Made AddSlice(const Made& value, int axis, int32_t first, int32_t count, int32_t stride = 1);
  Made AddPad(const Made& value, int axis, int32_t before, int32_t after, double number = 0.0);

  // ---- Constants ----

  Made AddConstant(const TensorDesc& desc, const std::vector<double>& numbers);
  Made AddConstant(Shape shape, DType dtype, const std::vector<double>& numbers) {
    return AddConstant({dtype, shape, std::nullopt}, numbers);
  }
  // Integers as they are: AddConstant's doubles hold none beyond 2^53.
  Made AddIntegers(Shape shape, std::span<const int64_t> numbers) {
    return AddBytes({DType::kInt64, shape, std::nullopt}, std::as_bytes(numbers));
  }
  Made AddIntegers(Shape shape, std::span<const int32_t> numbers) {
    return AddBytes({DType::kInt32, shape, std::nullopt}, std::as_bytes(numbers));
  }
  Made AddNumber(DType dtype, double number) { return AddConstant({1}, dtype, {number}); }
  Made AddIndices(Shape shape);  // int32: 0, 1, 2, ...
  // Each element by its row, among those of all other dimensions, and its place in the last dimension.
  template <typename NumberAt>
  Made AddEach(Shape shape, DType dtype, const NumberAt& number_at) {
    HEARTH_TRY(budget_.CheckRoom(shape, dtype));
    std::vector<double> numbers(static_cast<size_t>(shape.element_count()));
    const auto columns = static_cast<size_t>(shape[shape.rank() - 1]);
    for (size_t k = 0; k < numbers.size(); ++k) {
      numbers[k] = number_at(static_cast<int64_t>(k / columns), static_cast<int64_t>(k % columns));
    }
    return AddConstant(shape, dtype, numbers);
  }
  // As many of a value of one element as the shape has.
  Made AddFilled(Shape shape, const Made& number);
  // A constant of the file that stands for real numbers (float16, or quantized) as float32; one copy for all readers.
  Made AddWidened(ValueId constant);
  // The bytes of a quantized 8-bit constant as int8 with zero point 0; one value for all readers.
  Made AddSymmetric(ValueId constant);
  // The bytes of a constant, which may lie in the file, as a tensor of this description.
  Made AddSameBytes(ValueId constant, TensorDesc desc);
  // Constants that the file holds, by what stands for them there: each turn of an unrolled loop reads them again.
  std::unordered_map<const void*, ValueId>& stored() { return stored_; }

 private:
  void Place(Node node, bool is_kept);
  Made AddBytes(const TensorDesc& desc, std::span<const std::byte> bytes);

  ReadingBudget& budget_;
  bool is_in_loop_;
  Graph graph_;
  Origin origin_;
  bool shapes_are_required_ = false;
  ValueMarks marks_;
  std::map<std::vector<int64_t>, std::vector<ValueId>> made_once_;
  std::unordered_map<const void*, ValueId> stored_;
  mutable std::set<ValueId> shape_inputs_;
  // For ProducerOf: the numbers of the nodes that make values, of the first `indexed_nodes_` nodes.
  mutable std::vector<size_t> producers_;
  mutable size_t indexed_nodes_ = 0;
};

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_WRITER_NODE_WRITER_H_
