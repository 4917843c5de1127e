#include "backends/cpu/cpu_executor.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>

#include "backends/cpu/host_node.h"
#include "backends/cpu/quantized.h"
#include "backends/cpu/usable_cpus.h"
#include "backends/cpu/xnnpack_nodes.h"
#include "core/base/error.h"
#include "core/graph/index_values.h"

namespace hearth {
namespace {

class CpuProgram final : public HostProgram {
 public:
  // `indices`: of the nodes in the graph.
  CpuProgram(const Graph& graph, std::span<const int> indices, std::unique_ptr<HostArena> arena,
             std::vector<std::unique_ptr<HostNode>> nodes)
      : graph_(graph), indices_(indices.begin(), indices.end()), arena_(std::move(arena)), nodes_(std::move(nodes)) {}

  Status Run(std::span<const HostTensor> tensors, std::vector<HostNodeTime>* times) override {
    for (ValueId value : arena_->inputs()) {
      HEARTH_ASSIGN(const std::span<std::byte> given, FindTensor(tensors, value));
      const TensorDesc& desc = graph_.value(value).desc;
      if (IsHeldAsFloats(desc)) {
        ToFloats(desc, given, arena_->floats(value));
      } else {
        std::memcpy(arena_->bytes(value).data(), given.data(), given.size());
      }
    }
    HEARTH_TRY(times == nullptr ? RunNodes() : RunNodesTimed(*times));
    for (ValueId value : arena_->outputs()) {
      HEARTH_ASSIGN(const std::span<std::byte> wanted, FindTensor(tensors, value));
      const TensorDesc& desc = graph_.value(value).desc;
      if (IsHeldAsFloats(desc)) {
        ToStored(desc, arena_->floats(value), wanted);
      } else {
        std::memcpy(wanted.data(), arena_->bytes(value).data(), wanted.size());
      }
    }
    return Status::Ok();
  }

  uint64_t arena_bytes() const override { return arena_->planned_bytes(); }
  uint64_t naive_bytes() const override { return arena_->naive_bytes(); }
  uint64_t lower_bound_bytes() const override { return arena_->lower_bound_bytes(); }

 private:
  Status RunNodes() {
    for (const std::unique_ptr<HostNode>& node : nodes_) HEARTH_TRY(node->Run());
    return Status::Ok();
  }

  Status RunNodesTimed(std::vector<HostNodeTime>& times) {
    using Clock = std::chrono::steady_clock;
    for (size_t k = 0; k < nodes_.size(); ++k) {
      const Clock::time_point begin = Clock::now();
      HEARTH_TRY(nodes_[k]->Run());
      const std::chrono::duration<double, std::milli> passed = Clock::now() - begin;
      times.push_back({indices_[k], nodes_[k]->kernel(), passed.count()});
    }
    return Status::Ok();
  }

  Result<std::span<std::byte>> FindTensor(std::span<const HostTensor> tensors, ValueId value) const {
    const size_t size_bytes = graph_.value(value).desc.size_bytes();
    const auto tensor =
        std::find_if(tensors.begin(), tensors.end(), [&](const HostTensor& t) { return t.value == value; });
    if (tensor == tensors.end()) {
      return Error(StatusCode::kInvalidArgument, "no memory was given for the value '{}'", graph_.value(value).name);
    }
    if (tensor->bytes.size() != size_bytes) {
      return Error(StatusCode::kInvalidArgument, "{} bytes were given for the value '{}', which has {}",
                   tensor->bytes.size(), graph_.value(value).name, size_bytes);
    }
    return tensor->bytes;
  }

  const Graph& graph_;
  std::vector<int> indices_;
  std::unique_ptr<HostArena> arena_;  // nodes refer to it
  std::vector<std::unique_ptr<HostNode>> nodes_;
};

class CpuExecutor final : public HostExecutor {
 public:
  Result<std::unique_ptr<HostProgram>> Prepare(const Graph& graph, std::span<const int> nodes,
                                               std::span<const ValueId> outputs, int threads) override {
    HEARTH_ASSIGN(HostArena planned, HostArena::Create(graph, nodes, outputs));
    auto arena = std::make_unique<HostArena>(std::move(planned));
    const std::vector<bool> decides_indices = ValuesThatDecideIndices(graph);
    WorkerPool& workers = Workers(std::max(1, threads));
    std::vector<std::unique_ptr<HostNode>> prepared;
    for (size_t k = 0; k < nodes.size(); ++k) {
      const Node& node = graph.nodes()[nodes[k]];
      HEARTH_ASSIGN(
          std::unique_ptr<HostNode> made,
          MakeNode({graph, node, *arena, workers, !node.outputs.empty() && decides_indices[node.outputs[0]]}));
      prepared.push_back(std::move(made));
    }
    return std::unique_ptr<HostProgram>(
        std::make_unique<CpuProgram>(graph, nodes, std::move(arena), std::move(prepared)));
  }

 private:
  // The first maker that takes the node.
  Result<std::unique_ptr<HostNode>> MakeNode(const HostNodeRequest& request) {
    HEARTH_ASSIGN(std::unique_ptr<HostNode> node, MakeCopyNode(request));
    if (node != nullptr) return node;
    HEARTH_ASSIGN(node, xnnpack_nodes_.Make(request));
    if (node != nullptr) return node;
    for (const auto& make :
         {MakeUnaryNode, MakeMovementNode, MakeNormalizeNode, MakeExactConvolutionNode, MakePoolingIndexNode}) {
      HEARTH_ASSIGN(node, make(request));
      if (node != nullptr) return node;
    }
    return MakeReferenceNode(request);
  }

  // Programs that are made for as many threads share them.
  WorkerPool& Workers(int threads) {
    std::unique_ptr<WorkerPool>& workers = workers_[threads];
    if (workers == nullptr) workers = std::make_unique<WorkerPool>(threads, UsableCpus());
    return *workers;
  }

  std::map<int, std::unique_ptr<WorkerPool>> workers_;
  XnnpackNodes xnnpack_nodes_;
};

}  // namespace

std::unique_ptr<HostExecutor> MakeCpuExecutor() {
  return std::make_unique<CpuExecutor>();
}

}  // namespace hearth
