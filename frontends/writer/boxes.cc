// Non-maximum suppression.
#include <limits>

#include "core/base/error.h"
#include "frontends/writer/expansions.h"

namespace hearth {
namespace {

// Where none is asked for: lists without elements, and their number.
Expanded NoBoxes(NodeWriter& to, bool with_scores) {
  HEARTH_ASSIGN(const ValueId none, to.AddNumber(DType::kInt32, 0));
  HEARTH_ASSIGN(const ValueId boxes, to.AddFilled({0}, none));
  HEARTH_ASSIGN(const ValueId count, to.AddReshape(none, Shape()));
  if (!with_scores) return std::vector<ValueId>{boxes, count};
  HEARTH_ASSIGN(const ValueId scores, to.AddFilled({0}, to.AddNumber(DType::kFloat32, 0.0)));
  return std::vector<ValueId>{boxes, scores, count};
}

}  // namespace

Expanded AddNonMaxSuppression(NodeWriter& to, const Suppression& given) {
  const bool has_scores = given.sigma != kNoValue;
  if (given.most < 0 || given.most > std::numeric_limits<int32_t>::max()) {
    return Error(StatusCode::kMalformedInput, "{} boxes are asked for", given.most);
  }
  if (given.most == 0) return NoBoxes(to, has_scores);
  const auto most = static_cast<int32_t>(given.most);
  HEARTH_TRY(to.budget().CheckRoom({most}, DType::kFloat32));
  std::vector<TensorDesc> results(2, PlainType(DType::kInt32));
  if (has_scores) results.insert(results.begin() + 1, PlainType(DType::kFloat32));
  return to.AddSeveral(NonMaxSuppression{most, given.lower_index_first},
                       {given.boxes, given.scores, given.least_overlap, given.least_score, given.sigma},
                       std::move(results));
}

}  // namespace hearth
