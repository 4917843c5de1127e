// The tensors of one subgraph: checks them and makes values of those that are referred to.
#ifndef HEARTH_FRONTENDS_TFLITE_TENSOR_READER_H_
#define HEARTH_FRONTENDS_TFLITE_TENSOR_READER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/graph/block_scales.h"
#include "frontends/tflite/reading.h"

namespace hearth {

// Nothing for an element type that Hearth does not support.
std::optional<DType> DTypeOf(wire::TensorType type);
// Whether elements of the type may stand for real numbers by scales. Scales of other types are passed over.
bool CanBeQuantized(DType dtype);

// What is known of a tensor at this point of reading.
struct TensorState {
  // Whether its content is available to the operator that is being read.
  enum class Source : uint8_t { kNone, kLater, kReady };
  Source source = Source::kNone;
  bool is_output = false;     // of the model
  bool is_real_view = false;  // another name of a constant, for the real numbers that it stands for, in float32
  bool is_state = false;      // the file declares it as state, and an operator changes it: a state of the graph
  bool is_ordinary = false;   // an operator makes it, even if the file declares it as state
  std::optional<DType> type;  // regardless of the file
  ValueId value = kNoValue;   // once it is made
};

class TensorReader {
 public:
  // `subgraph` is a verified part of reading.file; `number` is its own if an operator calls it, -1 for the model's.
  // Preconditions: model.buffers() and subgraph.tensors() may be null, everything outlives the reader.
  TensorReader(Reading& reading, GraphWriter& to, const wire::SubGraph& subgraph, int32_t number);

  GraphWriter& to() const { return to_; }
  int32_t subgraph() const { return number_; }
  int count() const { return static_cast<int>(states_.size()); }
  // An error unless 0 <= tensor < count(); `where` names what refers to it. Precondition of all following functions.
  Status CheckIndex(int32_t tensor, std::string_view where) const;
  TensorState& operator[](int32_t tensor) { return states_[static_cast<size_t>(tensor)]; }
  const TensorState& operator[](int32_t tensor) const { return states_[static_cast<size_t>(tensor)]; }

  std::string Label(int32_t tensor) const;   // "tensor 3 'conv/relu'"; long names are cut
  std::string NameOf(int32_t tensor) const;  // cleaned; "tensor_3" if it has no name
  bool IsVariable(int32_t tensor) const;
  // Whether even the rank is known only at run time; it may also be a scalar.
  bool HasNoShape(int32_t tensor) const;
  // Whether a dimension, or the whole shape, is open in the file.
  bool IsDynamic(int32_t tensor) const;
  // The file's shape, with -1 for dimensions known only at run time; at most Shape::kMaxRank dimensions.
  std::vector<int32_t> DeclaredShape(int32_t tensor) const;

  // The value's shape, or the file's: with rank and dimensions checked, small enough that sizes in bits and bytes can't
  // overflow. A dimension known only at run time has the file's placeholder size, or 1.
  Result<Shape> ShapeOf(int32_t tensor) const;
  Result<Shape> FileShapeOf(int32_t tensor) const;
  // Element type, shape and quantization (only for integer types, where it has a meaning).
  Result<TensorDesc> Describe(int32_t tensor);
  // The tensor's bytes in the file, with the size of its description unless they have another form (sparse, 2 bits,
  // scales for blocks); those of its value once that is made; empty if it is not constant.
  Result<std::span<const std::byte>> ConstantBytes(int32_t tensor) const;
  // The same, always with the size of the description. Makes the value of a constant in another form.
  Result<std::span<const std::byte>> DenseConstantBytes(int32_t tensor);

  // The graph's value for the tensor, made at the first call.
  Made ValueOf(int32_t tensor);
  // What an operation reads for the tensor. Constant filters and biases keep their stored type (`takes_stored`), so
  // less is packed and hashed. Other operations need operands of one type: they get float32.
  Made OperandOf(int32_t tensor, bool takes_stored);
  // The same for weights of FULLY_CONNECTED that have scales for blocks, as the file has them. kNoValue for others.
  Made StoredInBlocks(int32_t tensor);
  // Name and description for what an operator makes as this tensor.
  Result<NamedResult> ResultFor(int32_t tensor);
  // Whether the file declares complex numbers (of two float32), and what holds them as pairs, in a last dimension of 2.
  bool IsComplex(int32_t tensor) const;
  Result<NamedResult> PairsFor(int32_t tensor) const;
  // Makes the tensor, which nothing else makes, `value` with its shape, regardless of the file's. An error if the types
  // differ; kUnsupported if the quantizations differ.
  Status Bind(int32_t tensor, ValueId value);

  // Whether the tensor's content is known: in the file, computed while reading, or another name of a constant.
  Result<bool> IsConstant(int32_t tensor) const;
  // "tensor 3 'x' is computed at run time, from 'y'". Precondition: the tensor is not constant.
  std::string WhyNotConstant(int32_t tensor) const;

  // Variable tensors of a called subgraph are its own variables.
  Status BindOwnStates();
  // Name and description of what a state tensor becomes.
  Result<NamedResult> NextFor(int32_t tensor);
  // Later operators read `next` where the file reads the tensor, if it is a state.
  Status ReplaceState(int32_t tensor, ValueId next);

 private:
  const wire::Tensor& tensor(int32_t index) const { return *subgraph_.tensors()->Get(static_cast<uint32_t>(index)); }
  std::string NameOfOwnState(int32_t tensor) const { return fmt::format("subgraph_{}_state_{}", number_, tensor); }
  Result<std::span<const std::byte>> BufferBytes(int32_t tensor) const;
  Status CheckScale(int32_t tensor, double scale) const;
  Status CheckZeroPoint(int32_t tensor, int64_t zero_point) const;
  Result<Quantization> ReadQuantization(int32_t tensor, const Shape& shape);
  Result<TensorDesc> DescribeAs(int32_t tensor, const Shape& shape);
  bool IsBlockwise(int32_t tensor) const;
  bool IsStoredOtherwise(int32_t tensor) const;
  // The bytes of a constant that has another form in the file.
  Result<std::vector<std::byte>> MadeBytes(int32_t tensor, const TensorDesc& desc, std::span<const std::byte> stored);
  Result<std::vector<std::byte>> DenseBytes(int32_t tensor, const TensorDesc& desc, std::span<const std::byte> values);
  Result<std::vector<std::byte>> RealBytes(int32_t tensor, const Shape& shape, std::span<const std::byte> stored);
  Result<BlockScales::Numbers> NumbersOfBlocks(int32_t tensor, int32_t holder, int64_t rows, int64_t per_row,
                                               bool are_scales);
  Result<BlockScales> BlocksOf(int32_t tensor, const Shape& shape);

  Reading& reading_;
  GraphWriter& to_;
  const wire::SubGraph& subgraph_;
  int32_t number_;
  std::vector<TensorState> states_;
};

// sparse_tensor.cc: sparse constants (the format's SparsityParameters) made dense. `values` are the elements other than
// zero, in the order in which `sparsity` visits the dimensions. Each dimension is dense or a compressed list (TACO's
// formats, Kjolstad et al. 2017); blocks are additional dimensions after the tensor's. An element has `element_bytes`
// bytes, all 0 for zero. kMalformedInput if the lists contradict each other, the shape or the number of values. The
// caller limits shape and ListBytes: a small file can ask for any amount of both.
Result<std::vector<std::byte>> MakeDense(const wire::SparsityParameters& sparsity, const Shape& shape,
                                         std::span<const std::byte> values, size_t element_bytes);
// The bytes that the lists take in memory.
size_t ListBytes(const wire::SparsityParameters& sparsity);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_TENSOR_READER_H_
