#include "tests/testing/parsed_graph.h"

#include <gtest/gtest.h>

#include "core/graph/evaluate.h"
#include "tests/testing/graph_from_text.h"

namespace hearth::testing {

Graph Parsed(std::string_view text) {
  Result<Graph> graph = GraphFromText(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  if (!graph.ok()) return Graph();
  // The text must agree with inference.
  const std::string written = ToText(*graph);
  const Status inferred = InferShapes(*graph);
  EXPECT_TRUE(inferred.ok()) << inferred.message();
  EXPECT_EQ(ToText(*graph), written);
  EXPECT_TRUE(graph->Validate().ok()) << graph->Validate().message();
  return std::move(graph).value();
}

Plan Lowered(const Graph& graph, const DeviceInfo& device, const LowerOptions& options) {
  Result<Plan> plan = Lower(graph, device, options);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  return std::move(plan).value();
}

}  // namespace hearth::testing
