// Who reads a value, while a pass changes that: the same as looking at all nodes that are left.
#include "core/graph/passes/graph_rewriter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace hearth {
namespace {

constexpr int kNodes = 40;

// Each node reads two values of those before it.
Graph RandomGraph(std::mt19937& random) {
  Graph graph;
  graph.inputs = {graph.AddValue({.name = "x", .desc = {.shape = {1, 2}}})};
  for (int k = 0; k < kNodes; ++k) {
    const auto before = static_cast<uint32_t>(graph.values().size());
    const std::vector<ValueId> inputs = {static_cast<ValueId>(random() % before),
                                         static_cast<ValueId>(random() % before)};
    const ValueId made = graph.AddValue({.name = "v", .desc = {.shape = {1, 2}}});
    graph.AddNode({.op = Binary{}, .inputs = inputs, .outputs = {made}});
  }
  graph.outputs = {static_cast<ValueId>(graph.values().size()) - 1};
  return graph;
}

TEST(GraphRewriter, KnowsReadersWhateverAPassDid) {
  std::mt19937 random(17);
  for (int turn = 0; turn < 20; ++turn) {
    Graph graph = RandomGraph(random);
    GraphRewriter rewriter(graph);
    std::vector<bool> removed(kNodes, false);
    for (int change = 0; change < 60; ++change) {
      const int index = static_cast<int>(random() % kNodes);
      const auto earlier = static_cast<ValueId>(random() % static_cast<uint32_t>(index + 1));
      switch (removed[index] ? 4 : random() % 5) {
        case 0:
          rewriter.Remove(index);
          removed[index] = true;
          break;
        case 1: rewriter.SetInput(rewriter.node(index), random() % 2, earlier); break;
        case 2: rewriter.Replace(rewriter.node(index), Unary{}, {earlier}); break;
        case 3:
          rewriter.SetInput(rewriter.node(index), 0, graph.AddFloatConstant("c", {1}, std::vector<float>{1}));
          break;
        default: rewriter.ReplaceReads(static_cast<ValueId>(index + 1), earlier);
      }
      for (size_t id = 0; id < graph.values().size(); ++id) {
        const auto value = static_cast<ValueId>(id);
        std::vector<int> readers;
        int64_t reads = 0;
        for (int k = 0; k < kNodes; ++k) {
          const auto count = removed[k] ? 0 : std::ranges::count(graph.nodes()[k].inputs, value);
          if (count > 0) readers.push_back(k);
          reads += count;
        }
        ASSERT_EQ(rewriter.ReadersOf(value), readers) << turn << " " << change << " " << id;
        ASSERT_EQ(rewriter.IsReadOnce(value), reads == 1 && !graph.IsKept(value));
      }
    }
  }
}

}  // namespace
}  // namespace hearth
