#include "backends/cpu/xnnpack/nan_keeper.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "core/base/error.h"
#include "core/graph/evaluate.h"

namespace hearth {
namespace {

bool AreFinite(std::span<const float> numbers) {
  return std::ranges::all_of(numbers, [](float number) { return std::isfinite(number); });
}

bool AreFar(float number, float wanted) {
  return !(std::fabs(number - wanted) <= 0.01f * std::max(1.0f, std::fabs(wanted))) && number != wanted;
}

}  // namespace

std::unique_ptr<NanKeeper> NanKeeper::Of(const HostNodeRequest& request) {
  const Op& op = request.node.op;
  const bool moves = std::holds_alternative<Pad>(op) || std::holds_alternative<DepthToSpace>(op);
  return moves ? nullptr : std::unique_ptr<NanKeeper>(new NanKeeper(request));
}

// Lanes behind a tensor's end may hold the bits of a NaN: kernels calculate with them and throw the results away.
bool NanKeeper::HoldsOnlyFinite() const {
  for (ValueId value : request_.node.inputs) {
    if (value == kNoValue) continue;
    if (!request_.graph.IsConstant(value)) {
      if (!AreFinite(request_.arena.floats(value))) return false;
      continue;
    }
    const Result<std::vector<float>> constant = ConstantAsFloats(request_.graph, value);
    if (!constant.ok() || !AreFinite(*constant)) return false;
  }
  return AreFinite(out_);
}

Status NanKeeper::Mend() {
  if (HoldsOnlyFinite()) return Status::Ok();
  if (reference_ == nullptr) {
    HEARTH_ASSIGN(reference_, MakeReferenceNode(request_));
  }
  kept_.assign(out_.begin(), out_.end());
  HEARTH_TRY(reference_->Run());
  for (size_t k = 0; k < kept_.size(); ++k) {
    if (!std::isnan(out_[k]) && !AreFar(kept_[k], out_[k])) out_[k] = kept_[k];
  }
  return Status::Ok();
}

}  // namespace hearth
