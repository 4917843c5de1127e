// The tensors of one subgraph: checks them and turns those that are referred to into values.
#ifndef HEARTH_FRONTENDS_TFLITE_TENSOR_READER_H_
#define HEARTH_FRONTENDS_TFLITE_TENSOR_READER_H_

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/graph/graph.h"
#include "frontends/tflite/reading.h"
#include "frontends/tflite/schema_generated.h"

namespace hearth {

// A flatbuffer vector's elements. By memcpy: the format aligns vectors of 8-byte numbers to 4 only.
template <typename T>
std::vector<T> CopyOf(const flatbuffers::Vector<T>* vector) {
  if (vector == nullptr || vector->size() == 0) return {};
  std::vector<T> copy(vector->size());
  std::memcpy(copy.data(), vector->Data(), copy.size() * sizeof(T));
  return copy;
}

// Printable UTF-8: control characters become '_', and so does every byte beyond ASCII when the
// text is not UTF-8. Names go into messages, JSON and graph texts.
std::string CleanName(std::string_view name);

// Longer names are cut in messages.
inline constexpr size_t kMaxLabelBytes = 200;

// Nothing for an element type that Hearth can't hold.
std::optional<DType> DTypeOf(wire::TensorType type);

class TensorReader {
 public:
  // `subgraph` is a verified part of reading.file; values and constants are added to reading.graph.
  // Preconditions: model.buffers() and subgraph.tensors() may be null, everything outlives the reader.
  TensorReader(Reading& reading, const wire::SubGraph& subgraph);

  int count() const { return count_; }
  // An error unless 0 <= tensor < count(); `where` says who refers to it. The precondition of all below.
  Status CheckIndex(int32_t tensor, std::string_view where) const;

  std::string Label(int32_t tensor) const;   // "tensor 3 'conv/relu'"; long names are cut
  std::string NameOf(int32_t tensor) const;  // cleaned; "tensor_3" for one without a name
  bool IsVariable(int32_t tensor) const;
  // An operator's result, whatever the file says of it: no state from now on.
  void MakeOrdinary(int32_t tensor) { is_ordinary_[tensor] = true; }
  // The file calls it state, but an operator makes it.
  bool IsMadeOrdinary(int32_t tensor) const;
  // Neither the file nor SetShape says a shape: a scalar, or a shape known only at run time.
  bool HasNoShape(int32_t tensor) const;
  // A dimension is known at run time only, or all of them are.
  bool IsDynamic(int32_t tensor) const;
  // As the file has it, -1 where a dimension is known at run time only; at most Shape::kMaxRank dimensions.
  std::vector<int32_t> DeclaredShape(int32_t tensor) const;

  // Rank and dimensions checked, and the whole small enough that sizes in bits and bytes can't overflow. A dimension
  // that is known at run time only has the size that the file holds for now, or 1.
  Result<Shape> ShapeOf(int32_t tensor) const;
  Result<Shape> FileShapeOf(int32_t tensor) const;  // whatever SetShape said
  // What ShapeOf answers from now on; the tensor's value, if made, gets it too. Nothing: the file's shape again.
  void SetShape(int32_t tensor, std::optional<Shape> shape);
  // The tensor, which nothing has read yet, has elements of this type, whatever the file says.
  void SetType(int32_t tensor, DType type) { types_[static_cast<size_t>(tensor)] = type; }
  // Element type, shape and quantization (kept for integer types, the only ones that it says something about).
  Result<TensorDesc> Describe(int32_t tensor);
  // The tensor's bytes in the file: of the size that its description needs, unless they are stored in another form
  // (sparse, in 2 bits, with scales for blocks); empty when it is not constant.
  Result<std::span<const std::byte>> ConstantBytes(int32_t tensor) const;
  // The same, and always of the size that the description needs. Makes the value of what is stored in another form.
  Result<std::span<const std::byte>> DenseConstantBytes(int32_t tensor);

  // The graph's value for the tensor, made at the first call.
  Result<ValueId> ValueOf(int32_t tensor);
  // Whether it has a value already.
  bool IsMade(int32_t tensor) const { return value_of_[tensor] != kNoValue; }
  // From now on the tensor is another name of `value`.
  void Alias(int32_t tensor, ValueId value) { value_of_[tensor] = value; }
  // The tensor, which nothing else makes, is `value` with its shape, whatever shape the file says. An error where the
  // types differ; kUnsupported where one and the same number stands for different real ones.
  Status Bind(int32_t tensor, ValueId value);
  // As if nothing had been asked or said about the tensor, which is not constant in the file.
  void Forget(int32_t tensor);

  // Whether the tensor's content is known: in the file, folded, or another name of a constant.
  Result<bool> IsConstant(int32_t tensor) const;
  // "tensor 3 'x' is computed at run time, from tensor 0 'y'": the input, state or operator's result without constant
  // sizes that it depends on. Precondition: the tensor is not constant.
  std::string WhyNotConstant(int32_t tensor) const;
  // The tensor, which nothing else makes, was found to be constant: ConstantBytes tells the bytes from now on.
  Status Fold(int32_t tensor, std::vector<std::byte> bytes);
  // False when constants that the file does not hold (sparse, computed) would become too large.
  [[nodiscard]] bool ChargeMade(size_t bytes);

  // An operator changes the tensor, which is_variable: it becomes the state of the graph when ValueOf makes it.
  void MarkState(int32_t tensor) { is_state_[tensor] = true; }
  bool IsState(int32_t tensor) const { return is_state_[tensor]; }

 private:
  const wire::Tensor& tensor(int32_t index) const { return *subgraph_.tensors()->Get(index); }
  Result<std::span<const std::byte>> BufferBytes(int32_t tensor) const;
  Result<std::span<const std::byte>> BytesOutsideFlatbuffer(const wire::Buffer& buffer, int32_t tensor) const;
  Result<Quantization> ReadQuantization(int32_t tensor, const Shape& shape);
  Status ChargeState(const TensorDesc& desc, int32_t tensor);
  bool IsBlockwise(int32_t tensor) const;
  bool IsStoredOtherwise(int32_t tensor) const;
  Status CheckSize(int32_t tensor, const TensorDesc& desc, std::span<const std::byte> bytes) const;
  // The bytes of a constant that is stored in another form.
  Result<std::vector<std::byte>> MadeBytes(int32_t tensor, const TensorDesc& desc, std::span<const std::byte> stored);
  Result<std::vector<std::byte>> DenseBytes(int32_t tensor, const TensorDesc& desc, std::span<const std::byte> values);
  Result<std::vector<std::byte>> WideBytes(int32_t tensor, const Shape& shape, std::span<const std::byte> stored);
  Result<std::vector<std::byte>> RealBytes(int32_t tensor, const Shape& shape, std::span<const std::byte> stored);

  Reading& reading_;
  const wire::SubGraph& subgraph_;
  Graph& graph_;
  int count_;
  std::vector<ValueId> value_of_;             // kNoValue until made
  std::vector<std::optional<Shape>> shapes_;  // that were set
  std::vector<std::optional<DType>> types_;   // likewise
  std::vector<bool> is_folded_, is_state_, is_ordinary_;
};

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_TENSOR_READER_H_
