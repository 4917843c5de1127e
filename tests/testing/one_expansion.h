// Models of one operator that the reader expands to several nodes, evaluated by the reference.
#ifndef HEARTH_TESTS_TESTING_ONE_EXPANSION_H_
#define HEARTH_TESTS_TESTING_ONE_EXPANSION_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "frontends/tflite/reader.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {

// Why a model does not run: the error of reading it, or the reason of its first unknown operator. Empty if it runs.
std::string RefusalOf(const Result<Graph>& read);
inline std::string RefusalOf(std::span<const std::byte> bytes) {
  return RefusalOf(ReadTfliteModel(bytes));
}

struct OneExpansion {
  explicit OneExpansion(const std::vector<int32_t>& shape) { x = writer.AddTensor({"x", shape}); }

  template <typename Options = wire::AddOptions>
  Result<Graph> Read(int32_t code, const std::vector<int32_t>& inputs, const std::vector<int32_t>& shape,
                     flatbuffers::Offset<Options> options = {}, wire::TensorType type = wire::TensorType_FLOAT32) {
    const int32_t y = writer.AddTensor({"y", shape, type});
    if (options.IsNull()) {
      writer.AddOperator(code, inputs, {y});
    } else {
      writer.AddOperator(code, inputs, {y}, options);
    }
    bytes = writer.Finish({x}, {y});
    return ReadTfliteModel(bytes);
  }

  // The operator's result for `numbers`, or for 1, 2, 3, ...; expects that it can be read and evaluated.
  template <typename Options = wire::AddOptions>
  std::vector<double> Answer(int32_t code, const std::vector<int32_t>& inputs, const std::vector<int32_t>& shape,
                             flatbuffers::Offset<Options> options = {}, const std::vector<double>& numbers = {},
                             wire::TensorType type = wire::TensorType_FLOAT32) {
    const std::vector<std::vector<double>> all = Evaluate(Read(code, inputs, shape, options, type), numbers);
    return all.empty() ? std::vector<double>() : all[0];
  }

  // Ends the model with these outputs, and returns their values.
  std::vector<std::vector<double>> Outputs(const std::vector<int32_t>& outputs, const std::vector<double>& numbers) {
    bytes = writer.Finish({x}, outputs);
    return Evaluate(ReadTfliteModel(bytes), numbers);
  }

  int32_t Numbers(const std::vector<int32_t>& shape, const std::vector<int32_t>& numbers) {
    return writer.AddConstant<int32_t>({"", shape, wire::TensorType_INT32}, numbers);
  }

  static std::vector<std::vector<double>> Evaluate(const Result<Graph>& read, const std::vector<double>& numbers);

  TfliteWriter writer;
  int32_t x;
  std::vector<std::byte> bytes;
};

}  // namespace hearth

#endif  // HEARTH_TESTS_TESTING_ONE_EXPANSION_H_
