// Replaces nodes/ and integer/ in builds with HEARTH_WITH_CPU_KERNELS=OFF: bytes are moved as ever, loops run, and
// core's reference computes everything else.
#include "backends/cpu/host/host_node.h"
#include "backends/cpu/integer/integer_nodes.h"

namespace hearth {
namespace {

constexpr NodeMaker kMovers[] = {
    {MakeCopyNode, ~uint64_t{0}},
    {MakeMovementNode, ~uint64_t{0}},
    {MakeLoopNode, ~uint64_t{0}},
    {MakeReferenceNode, ~uint64_t{0}},
};

}  // namespace

bool NodeMaker::Takes(const Op& /*op*/) const {
  return true;
}

std::span<const NodeMaker> NodeMakers() {
  return kMovers;
}

Result<std::unique_ptr<HostNode>> MakeHostNode(const HostNodeRequest& request) {
  for (const NodeMaker& maker : kMovers) {
    HEARTH_ASSIGN(std::unique_ptr<HostNode> node, maker.make(request));
    if (node != nullptr) return node;
  }
  return nullptr;
}

std::vector<bool> NodesInIntegers(const Graph& /*graph*/, std::span<const int> nodes,
                                  const std::vector<bool>& /*decides_indices*/, const std::set<int>& /*refused*/) {
  return std::vector<bool>(nodes.size());
}

}  // namespace hearth
