#include "backends/cpu/cpu_executor.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <set>

#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/idle_pages.h"
#include "backends/cpu/host/process_limits.h"
#include "backends/cpu/host/quantized.h"
#include "backends/cpu/integer/integer_nodes.h"
#include "backends/cpu/xnnpack_nodes.h"
#include "core/base/error.h"
#include "core/graph/quantize.h"
#include "core/graph/value_analysis.h"

namespace hearth {
namespace {

class CpuProgram final : public HostProgram {
 public:
  // `indices`: the nodes' indices in the graph.
  CpuProgram(const Graph& graph, std::span<const int> indices, std::unique_ptr<HostArena> arena,
             std::vector<std::unique_ptr<HostNode>> nodes, ProgramWeights& weights)
      : graph_(graph),
        indices_(indices.begin(), indices.end()),
        arena_(std::move(arena)),
        pages_(arena_->run_memory()),
        nodes_(std::move(nodes)),
        held_(weights.Finish()),
        shared_constants_(weights.shared()),
        read_in_place_(weights.read_in_place()) {}

  Status Run(std::span<const HostTensor> tensors, const HostRun& run) override {
    const RunOnPages use(pages_);
    for (ValueId value : arena_->inputs()) {
      HEARTH_ASSIGN(const std::span<std::byte> given, FindTensor(tensors, value));
      const std::span<std::byte> stored = arena_->stored(value);
      if (!stored.empty()) std::memcpy(stored.data(), given.data(), given.size());
      if (IsHeldAsFloats(DescOf(value)) && arena_->HasFloats(value)) {
        ToFloats(DescOf(value), given, arena_->floats(value));
      }
    }
    HEARTH_TRY(RunNodes(run.control, run.times));
    for (ValueId value : arena_->outputs()) {
      HEARTH_ASSIGN(const std::span<std::byte> wanted, FindTensor(tensors, value));
      const std::span<std::byte> made = OutputInPlace(value);
      if (made.empty()) {
        ToStored(DescOf(value), arena_->floats(value), wanted);
      } else if (made.data() != wanted.data()) {
        std::copy(made.begin(), made.end(), wanted.begin());
      }
    }
    return Status::Ok();
  }

  std::span<std::byte> OutputInPlace(ValueId value) const override {
    const bool is_as_handed_out = arena_->IsMadeAsStored(value) || !arena_->HasFloats(value);
    return is_as_handed_out ? arena_->stored(value) : std::span<std::byte>();
  }

  std::span<const std::span<const std::byte>> read_in_place() const override { return read_in_place_; }
  uint64_t arena_bytes() const override { return arena_->planned_bytes(); }
  uint64_t shared_weights_bytes() const override { return held_.all; }
  uint64_t found_weights_bytes() const override { return held_.found; }
  uint64_t naive_bytes() const override { return arena_->naive_bytes(); }
  uint64_t lower_bound_bytes() const override { return arena_->lower_bound_bytes(); }

  // Counts constants of nodes without held_bytes as float32, the form in which XNNPACK packs them, each once.
  uint64_t weights_bytes() const override {
    uint64_t bytes = held_.all;
    std::set<ValueId> as_floats;
    for (size_t k = 0; k < nodes_.size(); ++k) {
      if (const std::optional<uint64_t> held = nodes_[k]->held_bytes()) {
        bytes += *held;
        continue;
      }
      for (ValueId value : graph_.nodes()[static_cast<size_t>(indices_[k])].inputs) {
        if (graph_.IsConstant(value) && !shared_constants_.contains(value)) as_floats.insert(value);
      }
    }
    for (ValueId value : as_floats) bytes += sizeof(float) * static_cast<uint64_t>(DescOf(value).shape.element_count());
    return bytes;
  }

 private:
  const TensorDesc& DescOf(ValueId value) const { return graph_.value(value).desc; }

  // `times`: null if nobody asks for them.
  Status RunNodes(RunControl* control, std::vector<HostNodeTime>* times) {
    using Clock = std::chrono::steady_clock;
    auto conversion = arena_->conversions().begin();
    for (size_t k = 0; k < nodes_.size(); ++k) {
      const Clock::time_point begin = times != nullptr ? Clock::now() : Clock::time_point();
      conversion = ConvertFor(k, conversion);
      HEARTH_TRY(nodes_[k]->Run(control));
      if (times == nullptr) continue;
      const std::chrono::duration<double, std::milli> passed = Clock::now() - begin;
      times->push_back({indices_[k], nodes_[k]->kernel(), passed.count()});
    }
    return Status::Ok();
  }

  using Conversions = std::vector<HostArena::Conversion>::const_iterator;

  // Converts the values that node number `step` needs in another form than they were made in. `next`: the first
  // conversion that is not done yet.
  Conversions ConvertFor(size_t step, Conversions next) const {
    for (; next != arena_->conversions().end() && next->step == static_cast<int>(step); ++next) {
      const std::span<float> floats = arena_->floats(next->value);
      const std::span<std::byte> stored = arena_->stored(next->value);
      if (next->to_floats) {
        ToFloats(DescOf(next->value), stored, floats);
      } else {
        ToStored(DescOf(next->value), floats, stored);
      }
    }
    return next;
  }

  Result<std::span<std::byte>> FindTensor(std::span<const HostTensor> tensors, ValueId value) const {
    const size_t size_bytes = DescOf(value).size_bytes();
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
  RunPages pages_;
  std::vector<std::unique_ptr<HostNode>> nodes_;
  SharedBytes held_;
  std::set<ValueId> shared_constants_;  // which held_ counts
  std::vector<std::span<const std::byte>> read_in_place_;
};

// About as many bytes as the nodes' constants take once they are packed as floats.
uint64_t FloatWeightsBytes(const Graph& graph, std::span<const int> nodes) {
  uint64_t bytes = 0;
  for (const int index : nodes) {
    for (const ValueId value : graph.nodes()[static_cast<size_t>(index)].inputs) {
      if (value == kNoValue || !graph.IsConstant(value)) continue;
      const TensorDesc& desc = graph.value(value).desc;
      if (IsFloat(desc.dtype)) bytes += sizeof(float) * static_cast<uint64_t>(desc.shape.element_count());
    }
  }
  return bytes;
}

void CallWithConstants(const Graph& graph, const Node& node, const ModelBytesRead& read) {
  for (const ValueId value : node.inputs) {
    if (value == kNoValue || !graph.IsConstant(value)) continue;
    const Constant& constant = graph.constant(*graph.value(value).constant);
    if (constant.source) read(constant.bytes);
  }
}

// Leaves out functions of single elements whose readers make the same themselves (HostNode::unread).
void MergeUnread(const Graph& graph, std::span<const int> indices, std::span<const ValueId> outputs,
                 std::vector<std::unique_ptr<HostNode>>& nodes) {
  std::set<ValueId> read(outputs.begin(), outputs.end());
  for (size_t k = nodes.size(); k-- > 0;) {
    const Node& node = graph.nodes()[static_cast<size_t>(indices[k])];
    const auto is_read = [&](ValueId value) { return read.contains(value); };
    const bool is_simple = std::holds_alternative<Unary>(node.op);
    if (is_simple && std::ranges::none_of(node.outputs, is_read)) {
      nodes[k] = NodeOf(
          "merged", [] {}, 0);
      continue;
    }
    for (const ValueId value : node.inputs) {
      if (value != nodes[k]->unread()) read.insert(value);
    }
  }
}

// Objects that executors of clones share.
struct SharedParts {
  FoundOffsets offsets;
  std::shared_ptr<BackgroundThreads> background;
};

class CpuExecutor final : public HostExecutor {
 public:
  CpuExecutor(std::shared_ptr<SharedParts> shared, std::shared_ptr<SharedWeights> weights)
      : shared_(std::move(shared)), weights_(std::move(weights)) {}

  std::unique_ptr<HostExecutor> Beside() const override { return std::make_unique<CpuExecutor>(shared_, weights_); }
  void ShareWeightsOf(const Fingerprint& files) override { weights_ = SharedWeights::Of(files); }
  uint64_t live_weights_bytes() const override { return weights_->LiveBytes(); }
  std::shared_ptr<BackgroundThreads> background_threads() const override { return shared_->background; }

  Result<std::unique_ptr<HostProgram>> Prepare(const Graph& graph, std::span<const int> nodes,
                                               std::span<const ValueId> outputs, int threads,
                                               const ModelBytesRead& read) override {
    const std::vector<bool> decides_indices = ValuesThatDecideIndices(graph);
    WorkerPool& workers = Workers(std::max(1, threads));
    ProgramWeights weights(*weights_, FloatWeightsBytes(graph, nodes));
    std::set<int> refused;
    while (true) {
      std::vector<bool> in_integers = NodesInIntegers(graph, nodes, decides_indices, refused);
      for (size_t k = 0; k < nodes.size(); ++k)
        if (std::holds_alternative<Custom>(graph.nodes()[nodes[k]].op)) in_integers[k] = true;
      HEARTH_ASSIGN(HostArena planned, HostArena::Create(graph, nodes, outputs, in_integers, shared_->offsets));
      auto arena = std::make_unique<HostArena>(std::move(planned));
      const size_t refused_before = refused.size();
      std::vector<std::unique_ptr<HostNode>> prepared;
      for (size_t k = 0; k < nodes.size(); ++k) {
        const Node& node = graph.nodes()[nodes[k]];
        const bool decides = !node.outputs.empty() && decides_indices[node.outputs[0]];
        const size_t read_in_place = weights.read_in_place().size();
        HEARTH_ASSIGN(std::unique_ptr<HostNode> made, MakeHostNode({graph, node, *arena, workers, weights, *this,
                                                                    xnnpack_nodes_, decides, in_integers[k]}));
        if (made == nullptr) refused.insert(nodes[k]);
        const bool is_read_again = weights.read_in_place().size() > read_in_place;
        if (made != nullptr && read && !is_read_again) CallWithConstants(graph, node, read);
        prepared.push_back(std::move(made));
      }
      // If integer kernels refuse a node for its grids, its neighbours find other forms, so the plan is made again.
      if (refused.size() > refused_before) continue;
      MergeUnread(graph, nodes, outputs, prepared);
      HEARTH_TRY(arena->AllocateScratch());
      return std::unique_ptr<HostProgram>(
          std::make_unique<CpuProgram>(graph, nodes, std::move(arena), std::move(prepared), weights));
    }
  }

 private:
  // Programs with the same number of threads share them.
  WorkerPool& Workers(int threads) {
    std::unique_ptr<WorkerPool>& workers = workers_[threads];
    if (workers == nullptr) workers = std::make_unique<WorkerPool>(threads, UsableCpus(), shared_->background);
    return *workers;
  }

  std::shared_ptr<SharedParts> shared_;
  std::shared_ptr<SharedWeights> weights_;
  std::map<int, std::unique_ptr<WorkerPool>> workers_;
  XnnpackNodes xnnpack_nodes_;
};

}  // namespace

std::unique_ptr<HostExecutor> MakeCpuExecutor(std::shared_ptr<BackgroundThreads> background) {
  auto shared = std::make_shared<SharedParts>();
  shared->background = background != nullptr ? std::move(background) : std::make_shared<BackgroundThreads>(0);
  return std::make_unique<CpuExecutor>(std::move(shared), std::make_shared<SharedWeights>());
}

}  // namespace hearth
