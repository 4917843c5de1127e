#include "tests/testing/tflite_writer.h"

#include <algorithm>
#include <cstring>

namespace hearth {

TfliteWriter::TfliteWriter() {
  buffers_.push_back(wire::CreateBuffer(builder_));  // number 0: by convention the empty one
}

uint32_t TfliteWriter::AddBuffer(std::span<const std::byte> data) {
  builder_.ForceVectorAlignment(data.size(), 1, 16);
  const auto vector = builder_.CreateVector(reinterpret_cast<const uint8_t*>(data.data()), data.size());
  buffers_.push_back(wire::CreateBuffer(builder_, vector));
  return static_cast<uint32_t>(buffers_.size() - 1);
}

uint32_t TfliteWriter::AddBufferOutside(uint64_t offset, uint64_t size) {
  buffers_.push_back(wire::CreateBuffer(builder_, 0, offset, size));
  return static_cast<uint32_t>(buffers_.size() - 1);
}

int32_t TfliteWriter::AddTensorOfBuffer(const WrittenTensor& tensor, uint32_t buffer) {
  flatbuffers::Offset<wire::QuantizationParameters> quantization;
  if (!tensor.quantization.scales.empty()) {
    const auto scales = builder_.CreateVector(tensor.quantization.scales);
    const auto zero_points = builder_.CreateVector(tensor.quantization.zero_points);
    quantization = wire::CreateQuantizationParameters(builder_, scales, zero_points, 0, tensor.quantization.dimension);
  }
  const auto shape = builder_.CreateVector(tensor.shape);
  const auto name = builder_.CreateString(tensor.name);
  tensors_.push_back(wire::CreateTensor(builder_, shape, tensor.type, buffer, name, quantization, tensor.is_variable));
  return static_cast<int32_t>(tensors_.size() - 1);
}

uint32_t TfliteWriter::AddOperatorCode(int32_t code, const std::string& custom_code) {
  const auto name = custom_code.empty() ? 0 : builder_.CreateString(custom_code);
  codes_.push_back(
      wire::CreateOperatorCode(builder_, static_cast<int8_t>(std::min(code, 127)), name, code > 127 ? code : 0));
  return static_cast<uint32_t>(codes_.size() - 1);
}

void TfliteWriter::AddOperatorWithOptions(uint32_t opcode_index, const std::vector<int32_t>& inputs,
                                          const std::vector<int32_t>& outputs, int options_type,
                                          flatbuffers::Offset<void> options,
                                          const std::vector<uint8_t>& custom_options) {
  const auto input_vector = builder_.CreateVector(inputs);
  const auto output_vector = builder_.CreateVector(outputs);
  const auto custom_vector = custom_options.empty() ? 0 : builder_.CreateVector(custom_options);
  operators_.push_back(wire::CreateOperator(builder_, opcode_index, input_vector, output_vector,
                                            static_cast<wire::BuiltinOptions>(options_type), options, custom_vector));
}

void TfliteWriter::EndSubgraph(const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs) {
  const auto tensors = builder_.CreateVector(tensors_);
  const auto input_vector = builder_.CreateVector(inputs);
  const auto output_vector = builder_.CreateVector(outputs);
  const auto operators = builder_.CreateVector(operators_);
  const auto name = builder_.CreateString("main");
  subgraphs_.push_back(wire::CreateSubGraph(builder_, tensors, input_vector, output_vector, operators, name));
  tensors_.clear();
  operators_.clear();
}

void TfliteWriter::AddSignature(const std::string& key, uint32_t subgraph) {
  const auto name = builder_.CreateString(key);
  signatures_.push_back(wire::CreateSignatureDef(builder_, name, subgraph));
}

std::vector<std::byte> TfliteWriter::Finish(const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs) {
  EndSubgraph(inputs, outputs);
  return FinishFile();
}

std::vector<std::byte> TfliteWriter::FinishFile(uint32_t version) {
  const auto codes = builder_.CreateVector(codes_);
  const auto subgraphs = builder_.CreateVector(subgraphs_);
  const auto buffers = builder_.CreateVector(buffers_);
  const auto signatures = builder_.CreateVector(signatures_);
  wire::FinishModelBuffer(builder_, wire::CreateModel(builder_, version, codes, subgraphs, buffers, signatures));
  std::vector<std::byte> bytes(builder_.GetSize());
  std::memcpy(bytes.data(), builder_.GetBufferPointer(), bytes.size());
  return bytes;
}

}  // namespace hearth
