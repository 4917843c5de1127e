#include "backends/cpu/xnnpack/nan_keeper.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/graph/evaluate.h"

namespace hearth {
namespace {

bool HasNan(std::span<const float> numbers) {
  return std::ranges::any_of(numbers, [](float number) { return std::isnan(number); });
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

}  // namespace

std::unique_ptr<NanKeeper> NanKeeper::Of(const HostNodeRequest& request) {
  const Op& op = request.node.op;
  const bool moves = std::holds_alternative<Pad>(op) || std::holds_alternative<DepthToSpace>(op);
  return moves ? nullptr : std::unique_ptr<NanKeeper>(new NanKeeper(request));
}

// Lanes past a tensor's end may have the bits of a NaN; kernels compute with them and discard the results. Softmax
// often reads masks of minus infinity, which are invalid operands on the way to their exponential, 0.
bool NanKeeper::HoldsOnlyFinite() {
  const Graph& graph = request_.graph;
  const bool may_be_masked = std::holds_alternative<Softmax>(request_.node.op);
  if (!constants_are_finite_) constants_are_finite_ = AreConstantsFinite(graph, request_.node);
  return *constants_are_finite_ && AllFinite(out_) && std::ranges::all_of(request_.node.inputs, [&](ValueId value) {
    if (value == kNoValue || graph.IsConstant(value)) return true;
    const std::span<const float> numbers = request_.arena.floats(value);
    return may_be_masked ? !HasNan(numbers) : AllFinite(numbers);
  });
}

Status NanKeeper::Mend() {
  if (HoldsOnlyFinite()) return Status::Ok();
  if (reference_ == nullptr) {
    HEARTH_ASSIGN(reference_, MakeReferenceNode(request_));
  }
  kept_.assign(out_.begin(), out_.end());
  HEARTH_TRY(reference_->Run(nullptr));
  for (size_t k = 0; k < kept_.size(); ++k) {
    if (!std::isnan(out_[k]) && !AreFar(kept_[k], out_[k])) out_[k] = kept_[k];
  }
  return Status::Ok();
}

}  // namespace hearth
