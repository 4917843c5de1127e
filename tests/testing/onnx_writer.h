// Writes small ONNX files for tests.
#ifndef HEARTH_TESTS_TESTING_ONNX_WRITER_H_
#define HEARTH_TESTS_TESTING_ONNX_WRITER_H_

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

// A graph, as bytes of a message. Numbers of element types: 1 float32, 2 uint8, 7 int64, 9 bool, 10 float16.
class OnnxGraph {
 public:
  OnnxGraph& Input(std::string_view name, const std::vector<std::string>& dims, int type = 1) {
    return Add(11, Info(name, dims, type));
  }
  OnnxGraph& Output(std::string_view name, int type = 1) { return Add(12, Info(name, {}, type, false)); }
  OnnxGraph& Floats(std::string_view name, const std::vector<int64_t>& dims, const std::vector<float>& numbers) {
    return Add(5, Tensor(name, dims, 1, {reinterpret_cast<const char*>(numbers.data()), 4 * numbers.size()}));
  }
  OnnxGraph& Int64s(std::string_view name, const std::vector<int64_t>& dims, const std::vector<int64_t>& numbers) {
    return Add(5, Tensor(name, dims, 7, {reinterpret_cast<const char*>(numbers.data()), 8 * numbers.size()}));
  }
  // Of any type, as the file has its bytes.
  OnnxGraph& Stored(std::string_view name, const std::vector<int64_t>& dims, int type, std::string_view raw) {
    return Add(5, Tensor(name, dims, type, raw));
  }
  // Floats as a list of numbers.
  OnnxGraph& Listed(std::string_view name, const std::vector<int64_t>& dims, const std::vector<float>& numbers) {
    std::string tensor = Tensor(name, dims, 1, {});
    protozero::pbf_writer(tensor).add_packed_float(4, numbers.begin(), numbers.end());
    return Add(5, tensor);
  }
  // A constant of texts.
  OnnxGraph& Texts(std::string_view name, const std::vector<std::string>& texts) {
    std::string tensor = Tensor(name, {static_cast<int64_t>(texts.size())}, 8, {});
    for (const std::string& text : texts) protozero::pbf_writer(tensor).add_bytes(6, text);
    return Add(5, tensor);
  }
  // A constant in another file.
  OnnxGraph& External(std::string_view name, const std::vector<int64_t>& dims, std::string_view file, int64_t offset) {
    std::string tensor = Tensor(name, dims, 1, {});
    protozero::pbf_writer writer(tensor);
    writer.add_message(13, Pair("location", file));
    writer.add_message(13, Pair("offset", std::to_string(offset)));
    writer.add_int32(14, 1);
    return Add(5, tensor);
  }
  // `attributes`: messages of Integer, Word, Integers, Reals, Words, Subgraph.
  OnnxGraph& Node(std::string_view op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                  const std::vector<std::string>& attributes = {}, std::string_view domain = {}) {
    return Add(1, NodeBytes(op, inputs, outputs, attributes, domain));
  }
  static std::string NodeBytes(std::string_view op, const std::vector<std::string>& inputs,
                               const std::vector<std::string>& outputs, const std::vector<std::string>& attributes = {},
                               std::string_view domain = {}) {
    std::string node;
    protozero::pbf_writer writer(node);
    for (const std::string& input : inputs) writer.add_string(1, input);
    for (const std::string& output : outputs) writer.add_string(2, output);
    writer.add_string(3, "the_" + std::string(op));
    writer.add_string(4, op.data(), op.size());
    for (const std::string& attribute : attributes) writer.add_message(5, attribute);
    if (!domain.empty()) writer.add_string(7, domain.data(), domain.size());
    return node;
  }
  static std::string Integer(std::string_view name, int64_t number) {
    std::string attribute;
    protozero::pbf_writer writer(attribute);
    writer.add_string(1, name.data(), name.size());
    writer.add_int64(3, number);
    return attribute;
  }
  static std::string Word(std::string_view name, std::string_view word) {
    std::string attribute;
    protozero::pbf_writer writer(attribute);
    writer.add_string(1, name.data(), name.size());
    writer.add_string(4, word.data(), word.size());
    return attribute;
  }
  static std::string Integers(std::string_view name, const std::vector<int64_t>& numbers) {
    std::string attribute;
    protozero::pbf_writer writer(attribute);
    writer.add_string(1, name.data(), name.size());
    writer.add_packed_int64(8, numbers.begin(), numbers.end());
    return attribute;
  }
  // Of type FLOAT, as the file says.
  static std::string Real(std::string_view name, float number, bool has_type = true) {
    std::string attribute;
    protozero::pbf_writer writer(attribute);
    writer.add_string(1, name.data(), name.size());
    writer.add_float(2, number);
    if (has_type) writer.add_enum(20, 1);
    return attribute;
  }
  static std::string Reals(std::string_view name, const std::vector<float>& numbers) {
    std::string attribute;
    protozero::pbf_writer writer(attribute);
    writer.add_string(1, name.data(), name.size());
    writer.add_packed_float(7, numbers.begin(), numbers.end());
    return attribute;
  }
  static std::string Words(std::string_view name, const std::vector<std::string>& words) {
    std::string attribute;
    protozero::pbf_writer writer(attribute);
    writer.add_string(1, name.data(), name.size());
    for (const std::string& word : words) writer.add_bytes(9, word);
    return attribute;
  }
  static std::string Subgraph(std::string_view name, const OnnxGraph& graph) {
    std::string attribute;
    protozero::pbf_writer writer(attribute);
    writer.add_string(1, name.data(), name.size());
    writer.add_message(6, graph.bytes());
    return attribute;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  OnnxGraph& Add(protozero::pbf_tag_type tag, const std::string& message) {
    protozero::pbf_writer(bytes_).add_message(tag, message);
    return *this;
  }
  static std::string Info(std::string_view name, const std::vector<std::string>& dims, int type,
                          bool has_shape = true) {
    std::string shape, tensor, types, info;
    for (const std::string& dim : dims) {  // a size, or the name of an open one
      std::string one;
      const bool is_size = dim.find_first_not_of("0123456789") == std::string::npos;
      if (is_size) protozero::pbf_writer(one).add_int64(1, std::stoll(dim));
      if (!is_size) protozero::pbf_writer(one).add_string(2, dim);
      protozero::pbf_writer(shape).add_message(1, one);
    }
    protozero::pbf_writer(tensor).add_int32(1, type);
    if (has_shape) protozero::pbf_writer(tensor).add_message(2, shape);
    protozero::pbf_writer(types).add_message(1, tensor);
    protozero::pbf_writer(info).add_string(1, name.data(), name.size());
    protozero::pbf_writer(info).add_message(2, types);
    return info;
  }
  static std::string Tensor(std::string_view name, const std::vector<int64_t>& dims, int type, std::string_view raw) {
    std::string tensor;
    protozero::pbf_writer writer(tensor);
    writer.add_packed_int64(1, dims.begin(), dims.end());
    writer.add_int32(2, type);
    writer.add_string(8, name.data(), name.size());
    if (!raw.empty()) writer.add_bytes(9, raw.data(), raw.size());
    return tensor;
  }
  static std::string Pair(std::string_view key, std::string_view value) {
    std::string pair;
    protozero::pbf_writer(pair).add_string(1, key.data(), key.size());
    protozero::pbf_writer(pair).add_string(2, value.data(), value.size());
    return pair;
  }

  std::string bytes_;
};

// A model of this graph. `functions`: messages of FunctionProto, of the domain "own".
inline std::string OnnxFile(const OnnxGraph& graph, int64_t opset = 17,
                            const std::vector<std::string>& functions = {}) {
  const auto set = [](std::string_view domain, int64_t version) {
    std::string bytes;
    if (!domain.empty()) protozero::pbf_writer(bytes).add_string(1, domain.data(), domain.size());
    protozero::pbf_writer(bytes).add_int64(2, version);
    return bytes;
  };
  std::string model;
  protozero::pbf_writer writer(model);
  writer.add_int64(1, 8);
  writer.add_message(8, set("", opset));
  writer.add_message(8, set("own", 1));
  writer.add_message(7, graph.bytes());
  for (const std::string& function : functions) writer.add_message(25, function);
  return model;
}

}  // namespace hearth

#endif  // HEARTH_TESTS_TESTING_ONNX_WRITER_H_
