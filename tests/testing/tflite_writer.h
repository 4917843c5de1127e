// Writes small .tflite models in memory, well-formed or deliberately malformed: nothing is checked.
#ifndef HEARTH_TESTS_TESTING_TFLITE_WRITER_H_
#define HEARTH_TESTS_TESTING_TFLITE_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "frontends/tflite/schema_generated.h"

namespace hearth {

struct WrittenQuantization {
  std::vector<float> scales;
  std::vector<int64_t> zero_points;
  int32_t dimension = 0;
  // With blocks these replace the members above.
  int32_t block_size = 0, block_scales = -1, block_zero_points = -1;  // the latter two are tensors
};

struct WrittenTensor {
  std::string name;
  std::vector<int32_t> shape;
  wire::TensorType type = wire::TensorType_FLOAT32;
  WrittenQuantization quantization = {};  // empty scales: none
  bool is_variable = false;
  std::vector<int32_t> shape_signature = {};  // empty: none
};

// One dimension of a sparse constant, in storage order.
struct WrittenLevel {
  int32_t dense_size = 0;                  // if dense
  std::vector<int32_t> segments, indices;  // if compressed: then segments is not empty
  bool has_unknown_type = false;           // the indices have a type that no format has, and are no table
};
struct WrittenSparsity {
  std::vector<int32_t> traversal_order, block_map;
  std::vector<WrittenLevel> levels;
};
using WrittenNames = std::vector<std::pair<std::string, int32_t>>;  // in the signature, and the tensor's index

// Add* functions return the file's indices.
class TfliteWriter {
 public:
  TfliteWriter();

  // For options tables: writer.AddOperator(14, ..., wire::CreateXOptions(writer.builder(), ...)).
  flatbuffers::FlatBufferBuilder& builder() { return builder_; }

  int32_t AddTensor(const WrittenTensor& tensor) { return AddTensorOfBuffer(tensor, 0); }
  int32_t AddTensorOfBuffer(const WrittenTensor& tensor, uint32_t buffer, const WrittenSparsity* sparsity = nullptr);
  template <typename T>
  int32_t AddConstant(const WrittenTensor& tensor, const std::vector<T>& data) {
    return AddTensorOfBuffer(tensor, AddBuffer(std::as_bytes(std::span(data))));
  }
  // A constant int32 list.
  int32_t AddIntegers(const std::vector<int32_t>& numbers) {
    return AddConstant<int32_t>({"", {static_cast<int32_t>(numbers.size())}, wire::TensorType_INT32}, numbers);
  }
  template <typename T>
  int32_t AddSparseConstant(const WrittenTensor& tensor, const WrittenSparsity& sparsity, const std::vector<T>& data) {
    return AddTensorOfBuffer(tensor, AddBuffer(std::as_bytes(std::span(data))), &sparsity);
  }
  uint32_t AddBuffer(std::span<const std::byte> data);
  uint32_t AddBufferOutside(uint64_t offset, uint64_t size);

  void AddOperator(int32_t code, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs) {
    AddOperatorWithOptions(AddOperatorCode(code, ""), inputs, outputs, 0, 0);
  }
  template <typename Options>
  void AddOperator(int32_t code, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs,
                   flatbuffers::Offset<Options> options) {
    AddOperatorWithOptions(AddOperatorCode(code, ""), inputs, outputs, wire::BuiltinOptionsTraits<Options>::enum_value,
                           options.Union());
  }
  void AddCustomOperator(const std::string& name, const std::vector<int32_t>& inputs,
                         const std::vector<int32_t>& outputs, const std::vector<uint8_t>& custom_options = {}) {
    AddOperatorWithOptions(AddOperatorCode(32, name), inputs, outputs, 0, 0, custom_options);
  }
  // The same for options in the second union.
  template <typename Options>
  void AddOperator2(int32_t code, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs,
                    flatbuffers::Offset<Options> options) {
    AddOperatorWithOptions2(AddOperatorCode(code, ""), inputs, outputs,
                            wire::BuiltinOptions2Traits<Options>::enum_value, options.Union());
  }
  // STABLEHLO_COMPOSITE, defined by a subgraph.
  void AddComposite(int32_t subgraph, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs);
  uint32_t AddOperatorCode(int32_t code, const std::string& custom_code);
  void AddOperatorWithOptions(uint32_t opcode_index, const std::vector<int32_t>& inputs,
                              const std::vector<int32_t>& outputs, int options_type, flatbuffers::Offset<void> options,
                              const std::vector<uint8_t>& custom_options = {});
  void AddOperatorWithOptions2(uint32_t opcode_index, const std::vector<int32_t>& inputs,
                               const std::vector<int32_t>& outputs, wire::BuiltinOptions2 options_type,
                               flatbuffers::Offset<void> options);

  // Lists the same table `count` times.
  void RepeatOperator(flatbuffers::Offset<wire::Operator> op, size_t count) {
    operators_.insert(operators_.end(), count, op);
  }

  // Ends the subgraph; operators and tensors added later belong to the next one.
  void EndSubgraph(const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs);
  void AddSignature(const std::string& key, uint32_t subgraph, const WrittenNames& inputs = {},
                    const WrittenNames& outputs = {});

  // Adds a buffer to the file's metadata list.
  void AddMetadata(const std::string& name, uint32_t buffer);

  // Ends the file, and before that a subgraph that has been begun.
  std::vector<std::byte> Finish(const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs);
  std::vector<std::byte> FinishFile(uint32_t version = 3);

 private:
  flatbuffers::FlatBufferBuilder builder_;
  std::vector<flatbuffers::Offset<wire::Buffer>> buffers_;
  std::vector<flatbuffers::Offset<wire::Tensor>> tensors_;
  std::vector<flatbuffers::Offset<wire::OperatorCode>> codes_;
  std::vector<flatbuffers::Offset<wire::Operator>> operators_;
  std::vector<flatbuffers::Offset<wire::SubGraph>> subgraphs_;
  std::vector<flatbuffers::Offset<wire::Metadata>> metadata_;
  std::vector<flatbuffers::Offset<wire::SignatureDef>> signatures_;
};

}  // namespace hearth

#endif  // HEARTH_TESTS_TESTING_TFLITE_WRITER_H_
