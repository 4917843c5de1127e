// Who runs an operation on the CPU: the column of operations in the list of makers.
#include <gtest/gtest.h>

#include <numeric>

#include "backends/cpu/cpu_executor.h"
#include "backends/cpu/host/host_node.h"
#include "backends/cpu/xnnpack_nodes.h"
#include "conformance/conformance_case.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_text.h"
#include "core/graph/value_analysis.h"

namespace hearth {
namespace {

using conformance::AllCases;
using conformance::CaseBatch;
using conformance::CaseGraph;
using conformance::ConformanceCase;

// An operation that is missing in a column would run in the reference, many times slower, with the same results.
TEST(NodeMakers, TakeNodesOfTheOperationsInTheirColumnAlone) {
  const std::unique_ptr<HostExecutor> executor = MakeCpuExecutor();
  XnnpackNodes xnnpack;
  WorkerPool workers(1, 1);
  FoundOffsets offsets;
  for (const ConformanceCase& test : AllCases()) {
    CaseBatch batch;
    const std::string id = test.id();
    CaseGraph build(batch, id);
    batch.graph.outputs.push_back(test.build(build));
    const Graph& graph = batch.graph;
    ASSERT_TRUE(InferShapes(batch.graph).ok()) << id;
    std::vector<int> nodes(graph.nodes().size());
    std::iota(nodes.begin(), nodes.end(), 0);
    const std::vector<bool> decides = ValuesThatDecideIndices(graph);
    Result<HostArena> arena = HostArena::Create(graph, nodes, graph.outputs, {}, offsets);
    ASSERT_TRUE(arena.ok()) << id;
    SharedWeights held;
    ProgramWeights weights(held, 0);
    for (const Node& node : graph.nodes()) {
      const bool decides_indices = !node.outputs.empty() && decides[node.outputs[0]];
      for (size_t k = 0; k < NodeMakers().size(); ++k) {
        const NodeMaker& maker = NodeMakers()[k];
        if (maker.Takes(node.op)) continue;
        const Result<std::unique_ptr<HostNode>> made =
            maker.make({graph, node, *arena, workers, weights, *executor, xnnpack, decides_indices});
        EXPECT_TRUE(made.ok() && *made == nullptr)
            << "maker " << k << " takes " << OpName(node.op) << ": " << test.id();
      }
    }
  }
}

}  // namespace
}  // namespace hearth
