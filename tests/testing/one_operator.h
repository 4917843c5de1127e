// Models of one operator, for tests of the attributes that the reader gives it.
#ifndef HEARTH_TESTS_TESTING_ONE_OPERATOR_H_
#define HEARTH_TESTS_TESTING_ONE_OPERATOR_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/graph/op_text.h"
#include "frontends/tflite/reader.h"
#include "tests/testing/tflite_writer.h"

namespace hearth::testing {

// A model of one operator. The test adds tensors and the operator; x is tensor 0.
class OneOperator {
 public:
  explicit OneOperator(std::vector<int32_t> input_shape, std::vector<int32_t> output_shape = {1}) {
    x = writer.AddTensor({"x", std::move(input_shape)});
    y = writer.AddTensor({"y", std::move(output_shape)});
  }

  Result<Graph> Read() {
    bytes_ = writer.Finish({x}, {y});
    return ReadTfliteModel(bytes_);
  }
  // The only node's attributes, or UnknownOp{"error text"}.
  Op ReadOp() {
    Result<Graph> graph = Read();
    if (!graph.ok()) return UnknownOp{graph.status().message()};
    if (graph->nodes().size() != 1) return UnknownOp{"not one node"};
    input_count = graph->nodes()[0].inputs.size();
    return graph->nodes()[0].op;
  }

  TfliteWriter writer;
  int32_t x, y;
  size_t input_count = 0;

 private:
  std::vector<std::byte> bytes_;
};

template <typename T>
void ExpectOp(OneOperator& model, const T& expected, size_t input_count) {
  const Op op = model.ReadOp();
  ASSERT_TRUE(std::holds_alternative<T>(op)) << OpName(op);
  EXPECT_TRUE(std::get<T>(op) == expected);
  EXPECT_EQ(model.input_count, input_count);
}

// Expects an unknown operator that keeps its operands, of which all cases have two.
inline void ExpectUnknown(OneOperator& model, const std::string& name) {
  const Op op = model.ReadOp();
  ASSERT_TRUE(std::holds_alternative<UnknownOp>(op)) << OpName(op);
  EXPECT_EQ(std::get<UnknownOp>(op).name, name);
  EXPECT_EQ(model.input_count, 2u);
}

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_ONE_OPERATOR_H_
