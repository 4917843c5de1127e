#include "tests/testing/pass_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/graph/evaluate.h"
#include "core/graph/op_text.h"

namespace hearth::testing {
namespace {

constexpr uint32_t kInputSeed = 20240607;

std::vector<ReferenceTensor> SeededInputsOf(const Graph& graph) {
  std::mt19937 random(kInputSeed);
  std::uniform_real_distribution<double> uniform(-3, 3);
  std::vector<ReferenceTensor> inputs;
  for (ValueId id : graph.inputs) {
    ReferenceTensor& tensor = inputs.emplace_back();
    tensor.shape = graph.value(id).desc.shape;
    tensor.values.resize(tensor.shape.element_count());
    for (double& value : tensor.values) value = static_cast<float>(uniform(random));
  }
  return inputs;
}

}  // namespace

std::string Structure(const Graph& graph) {
  std::string structure;
  std::string text = ToText(graph);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin) + 1;
    const std::string line = text.substr(begin, end - begin);
    const bool is_leaf = line.find(" = constant ") != std::string::npos || line.find(" = value ") != std::string::npos;
    if (!is_leaf && !line.starts_with("graph ")) structure += line;
    begin = end;
  }
  return structure;
}

void ExpectEqualResults(const Graph& before, const Graph& after) {
  const auto expected = EvaluateGraph(before, SeededInputsOf(before));
  const auto actual = EvaluateGraph(after, SeededInputsOf(before));
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  ASSERT_TRUE(actual.ok()) << actual.status().message();
  ASSERT_EQ(actual->size(), expected->size());
  for (size_t k = 0; k < expected->size(); ++k) {
    EXPECT_EQ((*actual)[k].shape, (*expected)[k].shape);
    ASSERT_EQ((*actual)[k].values.size(), (*expected)[k].values.size());
    for (size_t i = 0; i < (*expected)[k].values.size(); ++i) {
      const double value = (*expected)[k].values[i];
      ASSERT_NEAR((*actual)[k].values[i], value, 1e-5 * std::max(1.0, std::abs(value)))
          << "seed " << kInputSeed << ", output " << k << ", element " << i;
    }
  }
}

void ExpectValid(const Graph& after) {
  EXPECT_TRUE(after.Validate().ok()) << after.Validate().message();
  Graph inferred = after.Clone();
  EXPECT_TRUE(InferShapes(inferred).ok());
  EXPECT_EQ(ToText(inferred), ToText(after)) << "the pass left descriptions that inference does not give";
}

Graph Rewritten(PassFunction pass, std::string_view before) {
  const Graph original = Parsed(before);
  Graph graph = original.Clone();
  const Result<Verdict> verdict = pass(graph, DeviceInfo());
  EXPECT_TRUE(verdict.ok()) << verdict.status().message();
  if (!verdict.ok()) return graph;
  EXPECT_EQ(*verdict == Verdict::kChanged, ToText(graph) != ToText(original));
  EXPECT_EQ(graph.inputs, original.inputs);
  EXPECT_EQ(graph.outputs, original.outputs);
  ExpectValid(graph);
  ExpectEqualResults(original, graph);
  return graph;
}

void ExpectRewrite(PassFunction pass, std::string_view before, std::string_view after) {
  const std::string actual = Structure(Rewritten(pass, before));
  EXPECT_EQ(actual, after);
}

void ExpectUnchanged(PassFunction pass, std::string_view text) {
  const Graph graph = Rewritten(pass, text);
  EXPECT_EQ(ToText(graph), ToText(Parsed(text)));
}

}  // namespace hearth::testing
