// The tensors of one subgraph: checks them and makes values of those that are referred to.
#ifndef HEARTH_FRONTENDS_TFLITE_TENSOR_READER_H_
#define HEARTH_FRONTENDS_TFLITE_TENSOR_READER_H_

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/error.h"
#include "core/graph/graph.h"
#include "frontends/tflite/reading.h"
#include "frontends/tflite/schema_generated.h"

namespace hearth {

// A flatbuffer vector's elements, by memcpy: the format aligns vectors of 8-byte numbers to 4 only.
template <typename T>
std::vector<T> CopyOf(const flatbuffers::Vector<T>* vector) {
  if (vector == nullptr || vector->size() == 0) return {};
  std::vector<T> copy(vector->size());
  std::memcpy(copy.data(), vector->Data(), copy.size() * sizeof(T));
  return copy;
}

// Printable UTF-8: control characters become '_'; if the text is not UTF-8, all bytes beyond ASCII do too. Names go
// into messages, JSON and graph texts.
std::string CleanName(std::string_view name);

// Longer names are cut in messages.
inline constexpr size_t kMaxLabelBytes = 200;
// The beginning of a name, for a message: at most kMaxLabelBytes, no part of a character. Cut before it is cleaned, so
// that a long name takes no time either.
std::string ShortName(std::string_view name);

// Nothing for an element type that Hearth does not support.
std::optional<DType> DTypeOf(wire::TensorType type);
// Whether elements of the type may stand for real numbers by scales. Scales of other types are passed over.
bool CanBeQuantized(DType dtype);

// A complex tensor as two float32 tensors.
struct ComplexValue {
  ValueId real = kNoValue, imaginary = kNoValue;
};

class TensorReader {
 public:
  // `subgraph` is a verified part of reading.file; values and constants are added to reading.graph.
  // Preconditions: model.buffers() and subgraph.tensors() may be null, everything outlives the reader.
  TensorReader(Reading& reading, const wire::SubGraph& subgraph);

  int count() const { return count_; }
  // An error unless 0 <= tensor < count(); `where` names what refers to it. Precondition of all following functions.
  Status CheckIndex(int32_t tensor, std::string_view where) const;

  std::string Label(int32_t tensor) const;   // "tensor 3 'conv/relu'"; long names are cut
  std::string NameOf(int32_t tensor) const;  // cleaned; "tensor_3" if it has no name
  bool IsVariable(int32_t tensor) const;
  // Makes it an operator's result instead of a state, regardless of the file.
  void MakeOrdinary(int32_t tensor) { is_ordinary_[tensor] = true; }
  // Whether the file declares it as state, but an operator makes it.
  bool IsMadeOrdinary(int32_t tensor) const;
  // Whether neither the file nor SetShape gives a shape: a scalar, or a shape known only at run time.
  bool HasNoShape(int32_t tensor) const;
  // Whether a dimension, or the whole shape, is known only at run time.
  bool IsDynamic(int32_t tensor) const;
  // The file's shape, with -1 for dimensions known only at run time; at most Shape::kMaxRank dimensions.
  std::vector<int32_t> DeclaredShape(int32_t tensor) const;

  // The shape with rank and dimensions checked, small enough that sizes in bits and bytes can't overflow. A dimension
  // known only at run time has the file's placeholder size, or 1.
  Result<Shape> ShapeOf(int32_t tensor) const;
  Result<Shape> FileShapeOf(int32_t tensor) const;  // ignores SetShape
  // Sets the result of ShapeOf, and the shape of the tensor's value if it is made. Nothing: the file's shape again.
  void SetShape(int32_t tensor, std::optional<Shape> shape);
  // Sets the element type of a tensor that nothing has read yet, regardless of the file.
  void SetType(int32_t tensor, DType type) { types_[static_cast<size_t>(tensor)] = type; }
  // Element type, shape and quantization (only for integer types, where it has a meaning).
  Result<TensorDesc> Describe(int32_t tensor);
  // The tensor's bytes in the file, with the size of its description unless they have another form (sparse, 2 bits,
  // scales for blocks); empty if it is not constant.
  Result<std::span<const std::byte>> ConstantBytes(int32_t tensor) const;
  // The same, always with the size of the description. Makes the value of a constant in another form.
  Result<std::span<const std::byte>> DenseConstantBytes(int32_t tensor);

  // The graph's value for the tensor, made at the first call.
  Result<ValueId> ValueOf(int32_t tensor);
  // Whether it has a value already.
  bool IsMade(int32_t tensor) const { return value_of_[tensor] != kNoValue; }
  // Makes the tensor an alias of `value`.
  void Alias(int32_t tensor, ValueId value) { value_of_[tensor] = value; }
  // Makes the tensor, which nothing else makes, `value` with its shape, regardless of the file's. An error if the types
  // differ; kUnsupported if the quantizations differ.
  Status Bind(int32_t tensor, ValueId value);
  // Forgets everything about the tensor that was asked or set. It is not constant in the file.
  void Forget(int32_t tensor);

  // Whether the tensor's content is known: in the file, folded, or the alias of a constant.
  Result<bool> IsConstant(int32_t tensor) const;
  // "tensor 3 'x' is computed at run time, from tensor 0 'y'": names the input, state or operator result without
  // constant sizes on which it depends. Precondition: the tensor is not constant.
  std::string WhyNotConstant(int32_t tensor) const;
  // Makes the tensor, which nothing else makes, a constant: ConstantBytes returns these bytes.
  Status Fold(int32_t tensor, std::vector<std::byte> bytes);
  // False if constants that the file does not contain (sparse, computed) would become too large. HasRoomFor asks
  // without charging, before numbers are computed.
  [[nodiscard]] bool ChargeMade(size_t bytes);
  bool HasRoomFor(size_t bytes) const { return bytes <= reading_.made_bytes_left; }

  // An operator changes the tensor, which is_variable: ValueOf makes it a state of the graph.
  void MarkState(int32_t tensor) { is_state_[tensor] = true; }
  bool IsState(int32_t tensor) const { return is_state_[tensor]; }

  // Makes the tensor, which nothing has read yet, complex numbers: ValueOf is an error.
  void SetComplex(int32_t tensor, const ComplexValue& parts);
  // Null unless SetComplex was called.
  const ComplexValue* ComplexOf(int32_t tensor) const;

 private:
  const wire::Tensor& tensor(int32_t index) const { return *subgraph_.tensors()->Get(index); }
  Result<std::span<const std::byte>> BufferBytes(int32_t tensor) const;
  Result<std::span<const std::byte>> BytesOutsideFlatbuffer(const wire::Buffer& buffer, int32_t tensor) const;
  Status CheckScale(int32_t tensor, double scale) const;
  Status CheckZeroPoint(int32_t tensor, int64_t zero_point) const;
  Result<Quantization> ReadQuantization(int32_t tensor, const Shape& shape);
  Status ChargeState(const TensorDesc& desc, int32_t tensor);
  bool IsBlockwise(int32_t tensor) const;
  bool IsStoredOtherwise(int32_t tensor) const;
  Status CheckSize(int32_t tensor, const TensorDesc& desc, std::span<const std::byte> bytes) const;
  // The bytes of a constant that has another form in the file.
  Result<std::vector<std::byte>> MadeBytes(int32_t tensor, const TensorDesc& desc, std::span<const std::byte> stored);
  Result<std::vector<std::byte>> DenseBytes(int32_t tensor, const TensorDesc& desc, std::span<const std::byte> values);
  Result<std::vector<std::byte>> WideBytes(int32_t tensor, const Shape& shape, std::span<const std::byte> stored);
  Result<std::vector<std::byte>> RealBytes(int32_t tensor, const Shape& shape, std::span<const std::byte> stored);
  Result<std::vector<double>> NumbersOfBlocks(int32_t tensor, int32_t holder, int64_t count, bool are_scales);

  Reading& reading_;
  const wire::SubGraph& subgraph_;
  Graph& graph_;
  int count_;
  std::vector<ValueId> value_of_;             // kNoValue until made
  std::vector<std::optional<Shape>> shapes_;  // set by SetShape
  std::vector<std::optional<DType>> types_;   // set by SetType
  std::vector<bool> is_folded_, is_state_, is_ordinary_;
  std::unordered_map<int32_t, ComplexValue> complex_;  // by tensor
};

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_TENSOR_READER_H_
