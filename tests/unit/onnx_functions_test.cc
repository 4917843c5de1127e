// ONNX's functions that are composed of others.
#include <gtest/gtest.h>

#include <cmath>

#include "core/graph/evaluate.h"
#include "frontends/onnx/reader.h"
#include "tests/testing/onnx_writer.h"

namespace hearth {
namespace {

// onnxruntime has none of these for float64, so C's functions say what is right.
TEST(OnnxFunctions, OfFloat64HaveItsDigits) {
  constexpr int kFloat64 = 11;
  const ReferenceTensor x{{4}, {0.01, 0.25, 0.4, 0.7}}, beyond_one{{4}, {1.01, 1.5, 4, 9}};
  const auto softplus = [](double v) { return std::log1p(std::exp(v)); };
  using Function = double (*)(double);
  for (const auto& [op, operand, function] : {std::tuple("Softplus", &x, Function(softplus)),
                                              {"Asinh", &x, Function(std::asinh)},
                                              {"Atanh", &x, Function(std::atanh)},
                                              {"Acosh", &beyond_one, Function(std::acosh)}}) {
    SCOPED_TRACE(op);
    OnnxGraph graph;
    graph.Input("x", {"4"}, kFloat64).Output("y", kFloat64).Node(op, {"x"}, {"y"});
    const std::string file = OnnxFile(graph);
    const Result<Graph> read = ReadOnnxModel(std::as_bytes(std::span(file)), {});
    ASSERT_TRUE(read.ok()) << read.status().message();
    const auto answers = EvaluateGraph(*read, std::span(operand, 1));
    ASSERT_TRUE(answers.ok()) << answers.status().message();
    for (size_t k = 0; k < operand->values.size(); ++k) {
      const double right = function(operand->values[k]);
      EXPECT_NEAR((*answers)[0].values[k], right, 1e-14 * std::abs(right));
    }
  }
}

}  // namespace
}  // namespace hearth
