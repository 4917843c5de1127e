// NON_MAX_SUPPRESSION_V4 and V5. Operands: boxes[N,4], scores[N], the number of results, overlap, score, sigma (V5).
#include <limits>

#include "core/base/error.h"
#include "frontends/tflite/expansion.h"

namespace hearth {
namespace {

// Where none is asked for: lists without elements, and their number.
Expanded NoBoxes(Expansion& to, bool with_scores) {
  HEARTH_ASSIGN(const ValueId none, to.AddNumber(DType::kInt32, 0));
  HEARTH_ASSIGN(const ValueId boxes, to.AddFilled({0}, none));
  HEARTH_ASSIGN(const ValueId count, to.AddReshape(none, Shape()));
  if (!with_scores) return std::vector<ValueId>{boxes, count};
  HEARTH_ASSIGN(const ValueId no_score, to.AddNumber(DType::kFloat32, 0.0));
  HEARTH_ASSIGN(const ValueId scores, to.AddFilled({0}, no_score));
  return std::vector<ValueId>{boxes, scores, count};
}

}  // namespace

Expanded ExpandNonMaxSuppression(Expansion& to) {
  const bool has_scores = to.Has(5);
  HEARTH_ASSIGN(const std::vector<int64_t> most, to.Integers(2));
  if (most.size() != 1 || most[0] < 0 || most[0] > std::numeric_limits<int32_t>::max()) {
    return Error(StatusCode::kMalformedInput, "{} boxes are asked for", most.empty() ? 0 : most[0]);
  }
  if (most[0] == 0) return NoBoxes(to, has_scores);
  std::vector<ValueId> inputs = {to.operand(0), to.operand(1), to.operand(3), to.operand(4)};
  std::vector<DType> types = {DType::kInt32, DType::kInt32};
  if (has_scores) {
    inputs.push_back(to.operand(5));
    types = {DType::kInt32, DType::kFloat32, DType::kInt32};
  }
  HEARTH_TRY(to.CheckRoom({static_cast<int32_t>(most[0])}, DType::kFloat32));
  return to.AddSeveral(NonMaxSuppression{.most = static_cast<int32_t>(most[0])}, std::move(inputs), types);
}

}  // namespace hearth
