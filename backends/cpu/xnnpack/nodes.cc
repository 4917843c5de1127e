#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/host_output.h"
#include "backends/cpu/host/quantized.h"
#include "backends/cpu/host/rounding_ties.h"
#include "backends/cpu/xnnpack/build.h"
#include "backends/cpu/xnnpack/own_threads.h"
#include "backends/cpu/xnnpack_nodes.h"
#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_text.h"
#include "core/graph/ops/elementwise_table.h"

namespace hearth {
namespace {

bool OnlyMoves(const Op& op) {
  return std::holds_alternative<Pad>(op) || std::holds_alternative<DepthToSpace>(op);
}

bool AreConstantsFinite(const Graph& graph, const Node& node) {
  return std::ranges::all_of(node.inputs, [&](ValueId value) {
    if (value == kNoValue || !graph.IsConstant(value)) return true;
    const Result<std::vector<float>> constant = ConstantAsFloats(graph, value);
    return constant.ok() && AllFinite(*constant);
  });
}

bool AreFar(float number, float wanted) {
  if (std::isinf(wanted)) return number != wanted;
  return !(std::fabs(number - wanted) <= 0.01f * std::max(1.0f, std::fabs(wanted)));
}

// Restores NaN after XNNPACK's clamps. On x86 the minima and maxima of its kernels (Debian's of February 2022) turn a
// NaN into the lower bound, which is minus infinity without an activation. A broken network would seem to give numbers.
//
// Corrects the float32 output of one node after a run in which a thread met a NaN (TookNan in own_threads.h). Otherwise
// it costs nothing: the flag is free, and the reference, which says where NaN belongs, is made when first needed.
class NanKeeper {
 public:
  explicit NanKeeper(const HostNodeRequest& request)
      : graph_(request.graph),
        node_(request.node),
        arena_(request.arena),
        out_(request.arena.floats(request.node.outputs[0])) {}

  // Evaluates the node again in the reference if an input, a constant or the output has a number that is not finite.
  // Takes the reference's result where that is NaN, or a number far from the output's. All other elements keep their
  // bits.
  Status Mend() {
    if (HoldsOnlyFinite()) return Status::Ok();
    if (reference_ == nullptr) {
      HEARTH_ASSIGN(reference_, MakeReferenceNode(graph_, node_, arena_));
    }
    kept_.assign(out_.begin(), out_.end());
    HEARTH_TRY(reference_->Run(nullptr));
    for (size_t k = 0; k < kept_.size(); ++k) {
      if (!std::isnan(out_[k]) && !AreFar(kept_[k], out_[k])) out_[k] = kept_[k];
    }
    return Status::Ok();
  }

 private:
  // Lanes past a tensor's end may have the bits of a NaN; kernels compute with them and discard the results.
  bool HoldsOnlyFinite() {
    if (!constants_are_finite_) constants_are_finite_ = AreConstantsFinite(graph_, node_);
    return *constants_are_finite_ && AllFinite(out_) && std::ranges::all_of(node_.inputs, [&](ValueId value) {
      return value == kNoValue || graph_.IsConstant(value) || AllFinite(arena_.floats(value));
    });
  }

  const Graph& graph_;
  const Node& node_;
  const HostArena& arena_;
  std::span<float> out_;
  std::optional<bool> constants_are_finite_;  // nullopt until needed
  std::unique_ptr<HostNode> reference_;
  std::vector<float> kept_;
};

struct Row {
  size_t op_index;
  XnnpackBuilder* build;
  // Whether constants are copied into the operator when it is created. Otherwise every run reads them.
  bool packs_constants;
};

// All operations of XNNPACK that Hearth uses. To add one: a builder in a file of its family, and a row.
constexpr Row kRows[] = {
    {kOpIndex<Conv2D>, BuildConv2D, true},
    {kOpIndex<DepthwiseConv2D>, BuildDepthwiseConv2D, true},
    {kOpIndex<FullyConnected>, BuildFullyConnected, true},
    {kOpIndex<Pool2D>, BuildPool2D, false},
    {kOpIndex<Unary>, BuildUnary, false},
    {kOpIndex<Binary>, BuildBinary, false},
    {kOpIndex<Resize>, BuildResize, false},
    {kOpIndex<Reduce>, BuildMean, false},
    {kOpIndex<Pad>, BuildPad, false},
    {kOpIndex<TransposeConv>, BuildTransposeConv, true},
    {kOpIndex<PRelu>, BuildPRelu, false},
    {kOpIndex<DepthToSpace>, BuildDepthToSpace, false},
};

const Row* FindRow(const Op& op) {
  for (const Row& row : kRows) {
    if (row.op_index == op.index()) return &row;
  }
  return nullptr;
}

class XnnpackNode final : public HostNode {
 public:
  XnnpackNode(const HostNodeRequest& request, XnnpackBuild build)
      : node_(request.node),
        out_(request, build.after),
        pool_(build.pool),
        workers_(request.workers),
        constants_(std::move(build.constants)),
        op_(build.op),
        rounding_ties_(RoundingTies::Of(request.graph, request.node)) {
    if (!out_.is_rounded() && !OnlyMoves(node_.op)) nan_keeper_.emplace(request);  // a grid has no NaN
    if (rounding_ties_ != nullptr) x_ = request.arena.floats(request.node.inputs[0]);
  }
  XnnpackNode(const XnnpackNode&) = delete;
  XnnpackNode& operator=(const XnnpackNode&) = delete;
  ~XnnpackNode() override { xnn_delete_operator(op_); }

  std::string_view kernel() const override { return "xnnpack"; }

  Status Run(RunControl* /*control*/) override {
    if (const xnn_status status = xnn_run_operator(op_, pool_); status != xnn_status_success) {
      return Error(StatusCode::kInternal, "{}: XNNPACK failed with status {}", NodeLabel(node_),
                   static_cast<int>(status));
    }
    const bool took_nan = TookNan();
    if (rounding_ties_ != nullptr) RefineTies();
    out_.Finish();
    return took_nan && nan_keeper_ ? nan_keeper_->Mend().Within(NodeLabel(node_)) : Status::Ok();
  }

 private:
  void RefineTies() {
    const std::span<float> out = out_.floats();
    workers_.ForEachPart(static_cast<int64_t>(out.size()), kLeastElementsOfPart, [&](int64_t begin, int64_t end) {
      const std::span<float> part = out.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
      rounding_ties_->Refine(x_, part, static_cast<size_t>(begin));
    });
  }

  const Node& node_;
  HostOutput out_;
  pthreadpool_t pool_;
  WorkerPool& workers_;
  std::vector<std::vector<float>> constants_;
  xnn_operator_t op_;
  std::optional<NanKeeper> nan_keeper_;
  std::unique_ptr<RoundingTies> rounding_ties_;
  std::span<const float> x_;  // input for sums that are computed again
};

bool IsWholeFloat32(const TensorDesc& desc) {
  return HeldAs(desc).dtype == DType::kFloat32 && desc.shape.element_count() > 0;
}

// Whether the node has one result held as float32, and all inputs that are not constant are held so too.
bool HasFloat32Values(const Graph& graph, const Node& node) {
  if (node.outputs.size() != 1 || !IsWholeFloat32(graph.value(node.outputs[0]).desc)) return false;
  for (ValueId value : node.inputs) {
    if (value != kNoValue && !graph.IsConstant(value) && !IsWholeFloat32(graph.value(value).desc)) return false;
  }
  return true;
}

// Whether each result is one float operation, so that it equals the float64 result, rounded.
bool IsRoundedOnce(const Op& op) {
  if (const auto* pool = std::get_if<Pool2D>(&op)) return pool->kind == PoolKind::kMax;
  if (const auto* binary = std::get_if<Binary>(&op)) {
    return binary->kind != BinaryKind::kSquaredDifference && ActivationBounds(binary->activation).has_value();
  }
  if (const auto* unary = std::get_if<Unary>(&op)) {
    switch (unary->kind) {
      case UnaryKind::kAbs:
      case UnaryKind::kNeg:
      case UnaryKind::kRelu:
      case UnaryKind::kRelu0To1:
      case UnaryKind::kRelu6:
      case UnaryKind::kReluN1To1:
      case UnaryKind::kLeakyRelu: return true;
      default: return false;
    }
  }
  return std::holds_alternative<PRelu>(op) || OnlyMoves(op);
}

bool IsReadableInPlace(const TensorDesc& desc, std::span<const std::byte> bytes) {
  return desc.dtype == DType::kFloat32 && reinterpret_cast<uintptr_t>(bytes.data()) % alignof(float) == 0;
}

// Fills build.inputs. Returns false if a constant has no float view; the reference will report why.
bool LocateInputs(const Row& row, XnnpackBuild& build) {
  const Graph& graph = build.request.graph;
  for (ValueId value : build.node().inputs) {
    if (value == kNoValue) {
      build.inputs.push_back(nullptr);
      continue;
    }
    if (!graph.IsConstant(value)) {
      build.inputs.push_back(reinterpret_cast<const float*>(build.request.arena.bytes(value).data()));
      continue;
    }
    OrderedBytes stored = graph.ReadConstant(value);
    if (row.packs_constants && IsReadableInPlace(graph.value(value).desc, stored.bytes)) {
      build.inputs.push_back(reinterpret_cast<const float*>(stored.bytes.data()));
      build.viewed.push_back(std::move(stored));
    } else {
      Result<std::vector<float>> floats = ConstantAsFloats(graph, value);
      if (!floats.ok() || floats->empty()) return false;
      floats->resize(floats->size() + HostArena::kReadSlackBytes / sizeof(float));
      build.constants.push_back(std::move(floats).value());
      build.inputs.push_back(build.constants.back().data());
    }
  }
  return true;
}

// Multiply-adds, or elements if there are none. The order of magnitude is enough.
int64_t WorkOf(const Row& row, const Graph& graph, const Node& node) {
  const int64_t out_elements = graph.value(node.outputs[0]).desc.shape.element_count();
  if (const auto* pool = std::get_if<Pool2D>(&node.op)) return out_elements * pool->kernel_h * pool->kernel_w;
  if (!row.packs_constants) return std::max(out_elements, graph.value(node.inputs[0]).desc.shape.element_count());
  const Shape& out = graph.value(node.outputs[0]).desc.shape;
  const int64_t taps = graph.value(node.inputs[1]).desc.shape.element_count() / out[out.rank() - 1];
  return out_elements * taps;
}

// Runs once per process, because XNNPACK examines the processor.
bool IsInitialized() {
  static const bool initialized = xnn_initialize(nullptr) == xnn_status_success;
  return initialized;
}

}  // namespace

static_assert(HostArena::kReadSlackBytes >= XNN_EXTRA_BYTES);

// XNNPACK's pool for each WorkerPool.
class XnnpackNodes::Pools {
 public:
  pthreadpool_t Of(WorkerPool& workers) { return pools_.try_emplace(&workers, workers).first->second.get(); }

 private:
  std::map<WorkerPool*, XnnpackPool> pools_;
};

std::string_view HostKernelsName() {
  return "XNNPACK + reference";
}

// MobileNet v1 0.25 took 29 ms without /proc, and 1.4 ms with it.
std::string_view WhyHostIsSlow() {
  if (IsInitialized()) return "";
  return "XNNPACK can't identify this processor, so it is not used and the CPU is many times slower; it reads /proc "
         "and /sys: mount them";
}

OutputRange RangeOf(XnnpackBuild& build, Activation activation) {
  const ActivationParts parts = ActivationPartsOf(activation);
  build.after = parts.rest;
  return {parts.lowest, parts.highest};
}

XnnpackNodes::XnnpackNodes() : pools_(std::make_unique<Pools>()) {}
XnnpackNodes::~XnnpackNodes() = default;

Result<std::unique_ptr<HostNode>> XnnpackNodes::Make(const HostNodeRequest& request) {
  const Row* row = FindRow(request.node.op);
  if (row == nullptr || !HasFloat32Values(request.graph, request.node) || !IsInitialized()) return nullptr;
  // XNNPACK's sums are chains of fused multiply-adds, as accurate as others. But if they decide an index, only the
  // reference's float64 sums choose as the network was checked with (hair segmentation: off by 0.064 of 12 without
  // this).
  if (request.decides_indices && !IsRoundedOnce(request.node.op)) return nullptr;
  XnnpackBuild build{request};
  if (!LocateInputs(*row, build)) return nullptr;
  const bool is_small = WorkOf(*row, request.graph, request.node) < kMinWorkForThreads;
  build.pool = is_small ? nullptr : pools_->Of(request.workers);  // null: the calling thread
  const xnn_status status = row->build(build);
  if (status == xnn_status_success) {
    if (row->packs_constants) build.constants.clear();
    return std::make_unique<XnnpackNode>(request, std::move(build));
  }
  if (build.op != nullptr) xnn_delete_operator(build.op);
  if (status == xnn_status_out_of_memory) {
    return Error(StatusCode::kResourceExhausted, "{}: not enough memory for its weights", NodeLabel(request.node));
  }
  return nullptr;
}

}  // namespace hearth
