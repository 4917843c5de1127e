// Rare operators that several existing operations compute, so that every device supports them. A function gets the
// operator as an Expansion and adds the nodes.
#ifndef HEARTH_FRONTENDS_TFLITE_EXPANSION_H_
#define HEARTH_FRONTENDS_TFLITE_EXPANSION_H_

#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "frontends/tflite/operator_view.h"
#include "frontends/tflite/subgraph_reader.h"

namespace hearth {

class Expansion {
 public:
  // `tensors` are the operator's operands in the file, -1 for an absent one; borrowed.
  Expansion(SubgraphReader& reader, int index, const std::vector<int32_t>& tensors)
      : reader_(reader), index_(index), tensors_(tensors), view_(reader.op(index), tensors, reader.tensors_) {}

  // Makes values of the operands. Precondition of all following functions.
  Status ReadOperands();

  int32_t code() const { return reader_.CodeOf(index_).row->code; }
  int32_t source_index() const { return reader_.SourceIndex(index_); }
  int index() const { return index_; }                  // in its subgraph
  int32_t subgraph() const { return reader_.number_; }  // -1 for the model's own
  size_t output_count() const { return static_cast<size_t>(view_.output_count()); }
  // kNoValue if it is absent or complex.
  ValueId operand(size_t i) const { return i < operands_.size() ? operands_[i] : kNoValue; }
  bool Has(size_t i) const { return operand(i) != kNoValue; }
  const TensorDesc& desc(ValueId id) const { return reader_.graph_.value(id).desc; }
  const Shape& shape(ValueId id) const { return desc(id).shape; }
  bool IsEmpty(ValueId id) const { return HasNoElements(reader_.graph_, id); }
  bool IsConstant(ValueId id) const { return reader_.graph_.IsConstant(id); }
  // The numbers of a constant integer operand; kUnsupported if it is computed at run time.
  Result<std::vector<int64_t>> Integers(size_t i) const;
  Result<std::vector<int64_t>> IntegersOf(ValueId id) const;
  // A constant operand that is a shape.
  Result<Shape> ShapeOperand(size_t i, int64_t most_elements = std::numeric_limits<int32_t>::max()) const;
  // The file's description of an output: the type is used, the shape is not.
  Result<TensorDesc> DeclaredOutput(int i) const { return view_.DescribeOutput(i); }
  // The only number of a constant operand.
  Result<double> Number(size_t i) const { return view_.ConstantReal(static_cast<int>(i)); }
  template <typename Table>
  Result<const Table*> Options() const {
    return view_.Options<Table>();
  }

  // Adds a node and returns its value, a constant if all operands are. The shape is inferred; the type is that of the
  // first operand (for SELECT the second) unless `dtype` is given.
  Result<ValueId> Add(Op op, std::vector<ValueId> inputs, std::optional<DType> dtype = std::nullopt);
  Result<ValueId> AddBinary(BinaryKind kind, ValueId a, ValueId b, Activation activation = Activation::kNone) {
    return Add(Binary{.kind = kind, .activation = activation}, {a, b});
  }
  Result<ValueId> AddTest(BinaryKind kind, ValueId a, ValueId b) {
    return Add(Binary{.kind = kind}, {a, b}, DType::kBool);
  }
  // Returns the value itself if it has that shape already.
  Result<ValueId> AddReshape(ValueId value, const Shape& shape);
  // Returns the value itself if it has that order already.
  Result<ValueId> AddTranspose(ValueId value, const Shape& permutation);
  // `count` elements of dimension `axis`, every `stride`-th from `first` on.
  Result<ValueId> AddSlice(ValueId value, int axis, int32_t first, int32_t count, int32_t stride = 1);
  Result<ValueId> AddPad(ValueId value, int axis, int32_t before, int32_t after, double number = 0.0);
  // An error if the file is too small for a constant of this shape: to be asked before many numbers are computed.
  Status CheckRoom(const Shape& shape, DType dtype) const { return reader_.CheckRoom({dtype, shape, std::nullopt}); }
  Result<ValueId> AddConstant(const TensorDesc& desc, const std::vector<double>& numbers);
  Result<ValueId> AddConstant(const Shape& shape, DType dtype, const std::vector<double>& numbers) {
    return AddConstant({dtype, shape, std::nullopt}, numbers);
  }
  // As many of a value of one element as the shape has.
  Result<ValueId> AddFilled(const Shape& shape, ValueId number);
  Result<ValueId> AddIndices(const Shape& shape);  // int32: 0, 1, 2, ...
  Result<ValueId> AddNumber(DType dtype, double number) { return AddConstant({1}, dtype, {number}); }

  // Adds a node and returns all its outputs, with these types: constants if all operands are.
  Result<std::vector<ValueId>> AddSeveral(Op op, std::vector<ValueId> inputs, std::span<const DType> types);
  // Adds a node whose last operand and second result count its runs in a variable of its own.
  Result<ValueId> AddWithRunCount(Op op, std::vector<ValueId> inputs, DType dtype);

  // A recurrent node over the file's operands that changes those of `states`. Checked: AddRecurrent finds nothing
  // unsupported.
  Result<Node> PrepareRecurrent(Op op, std::vector<ValueId> inputs, std::span<const size_t> states);
  // Adds the node, with the same `states`, and returns its sequence.
  Result<ValueId> AddRecurrent(Node node, std::span<const size_t> states);

  // The parts of a complex operand; an error if it is not complex.
  Result<ComplexValue> ComplexOperand(size_t i) const;
  // Only the first `count` (int32[1]) rows of the value are valid.
  void SetRows(ValueId value, ValueId count) { reader_.reading_.rows.emplace(value, count); }

  // Whether AddRecurrent was called: the next contents of the operator's states are in the graph.
  bool has_changed_states() const { return has_changed_states_; }

  // Sets the operator's complex output.
  void SetComplexOutput(ComplexValue value) { complex_output_ = value; }
  const std::optional<ComplexValue>& complex_output() const { return complex_output_; }

  // The operator codes of another subgraph, which has at most `most` operators.
  Result<std::vector<int32_t>> CodesOf(int32_t subgraph, size_t most) const;

  // The results of another subgraph for `arguments`; constants if those are constant.
  Result<std::vector<ValueId>> Call(int32_t subgraph, const std::vector<ValueId>& arguments) {
    return reader_.Call(index_, subgraph, arguments);
  }
  // The only number of a constant.
  Result<double> NumberOf(ValueId constant) const;

  // Takes `count` from the number of operators that may be unrolled.
  Status ChargeOperators(int64_t count);

 private:
  SubgraphReader& reader_;
  int index_;
  const std::vector<int32_t>& tensors_;
  OperatorView view_;
  std::vector<ValueId> operands_;
  std::optional<ComplexValue> complex_output_;
  bool has_changed_states_ = false;
};

// The operator's results, one per output; none if the output is complex.
using Expanded = Result<std::vector<ValueId>>;
using ExpandFunction = Expanded (*)(Expansion& to);

struct ExpansionRow {
  int32_t code;
  size_t least_inputs, most_inputs;
  size_t present_inputs;  // the first ones, which must be present
  ExpandFunction expand;
};
// Null for operators that are not expanded.
const ExpansionRow* FindExpansion(int32_t code);

inline Expanded OneValue(Result<ValueId> value) {
  if (!value.ok()) return value.status();
  return std::vector<ValueId>{*value};
}

// expand_places.cc: rows that are moved, or added up, to other indices.
Expanded ExpandMatrixDiag(Expansion& to);
Expanded ExpandMatrixSetDiag(Expansion& to);
Expanded ExpandScatterNd(Expansion& to);
Expanded ExpandSegments(Expansion& to);

// expand_sparse.cc
Expanded ExpandSparseToDense(Expansion& to);
Expanded ExpandEmbeddingLookupSparse(Expansion& to);

// expand_small.cc: operators that become a few nodes.
Expanded ExpandBitcast(Expansion& to);
Expanded ExpandFill(Expansion& to);
Expanded ExpandFakeQuant(Expansion& to);
Expanded ExpandBucketize(Expansion& to);
Expanded ExpandReverseSequence(Expansion& to);

// expand_data_sized.cc
Expanded ExpandWhere(Expansion& to);
Expanded ExpandUnique(Expansion& to);

// expand_random.cc
Expanded ExpandRandomNumbers(Expansion& to);
Expanded ExpandMultinomial(Expansion& to);
Expanded ExpandRandomBits(Expansion& to);

// expand_recurrent.cc
Expanded ExpandBidirectionalLstm(Expansion& to);
Expanded ExpandBidirectionalRnn(Expansion& to);

// expand_conv_3d.cc
Expanded ExpandConv3D(Expansion& to);
Expanded ExpandConv3DTranspose(Expansion& to);

// expand_spectrum.cc
Expanded ExpandRfft2D(Expansion& to);
Expanded ExpandReal(Expansion& to);
Expanded ExpandImaginary(Expansion& to);
Expanded ExpandComplexAbs(Expansion& to);

// expand_hlo.cc: operators of StableHLO on elements and borders, and DILATE.
Expanded ExpandHloBinary(Expansion& to);
Expanded ExpandHloShiftLeft(Expansion& to);
Expanded ExpandHloPad(Expansion& to);
Expanded ExpandDilate(Expansion& to);

// expand_hlo_convolution.cc, expand_hlo_sort.cc
Expanded ExpandHloConvolution(Expansion& to);
Expanded ExpandHloSort(Expansion& to);
Expanded ExpandHloCompare(Expansion& to);

// expand_hlo_windows.cc
Expanded ExpandHloReduceWindow(Expansion& to);
Expanded ExpandReduceWindow(Expansion& to);

// expand_hlo_gather.cc, expand_hlo_scatter.cc
Expanded ExpandHloGather(Expansion& to);
Expanded ExpandHloScatter(Expansion& to);

// expand_boxes.cc
Expanded ExpandNonMaxSuppression(Expansion& to);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_EXPANSION_H_
