// Non-maximum suppression: as many iterations as there may be results. Each takes the best remaining box and removes
// the boxes that overlap it.
#include <limits>

#include "core/base/error.h"
#include "frontends/writer/expansions.h"

namespace hearth {
namespace {

constexpr int64_t kNodesOfOneTurn = 24;
constexpr int64_t kMostZeros = 1 << 20;                          // results of no boxes
constexpr float kLowest = std::numeric_limits<float>::lowest();  // the score of a box that was taken or removed

class Suppressor {
 public:
  Suppressor(NodeWriter& to, const Suppression& given) : to_(to), given_(given) {}

  Status Prepare() {
    HEARTH_ASSIGN(const ValueId first, to_.AddSlice(given_.boxes, 1, 0, 2));
    HEARTH_ASSIGN(const ValueId second, to_.AddSlice(given_.boxes, 1, 2, 2));
    HEARTH_ASSIGN(low_, to_.Add(BinaryKind::kMinimum, {first, second}));
    HEARTH_ASSIGN(high_, to_.Add(BinaryKind::kMaximum, {first, second}));
    const Made sides = to_.Add(BinaryKind::kSub, {high_, low_});
    HEARTH_ASSIGN(areas_, to_.Add(Reduce{ReduceKind::kProd, 2, false}, {sides}));
    HEARTH_ASSIGN(indices_, to_.AddIndices(to_.shape(given_.scores)));
    HEARTH_ASSIGN(lowest_, to_.AddNumber(DType::kFloat32, kLowest));
    HEARTH_ASSIGN(zero_, to_.AddNumber(DType::kFloat32, 0.0));
    HEARTH_ASSIGN(tiny_, to_.AddNumber(DType::kFloat32, std::numeric_limits<float>::min()));
    HEARTH_ASSIGN(decay_, to_.AddNumber(DType::kFloat32, IsSoft() ? -0.5 / *given_.sigma : 0.0));
    HEARTH_ASSIGN(least_overlap_, to_.AddReshape(given_.least_overlap, {1}));
    HEARTH_ASSIGN(least_score_, to_.AddReshape(given_.least_score, {1}));
    const Made is_good = to_.Add(BinaryKind::kGreater, {given_.scores, least_score_});
    HEARTH_ASSIGN(scores_, to_.Add(Select{}, {is_good, given_.scores, lowest_}, DType::kFloat32));
    return Status::Ok();
  }

  // Takes the best remaining box.
  Status Turn() {
    const Made found = to_.Add(ArgReduce{ArgKind::kMax, 0}, {scores_}, DType::kInt32);
    HEARTH_ASSIGN(const ValueId best, to_.AddReshape(found, {1}));
    HEARTH_ASSIGN(const ValueId score, to_.Add(Gather{}, {scores_, best}));
    taken_.push_back(best);
    taken_scores_.push_back(score);
    HEARTH_ASSIGN(const ValueId overlap, OverlapWith(best));
    const Made is_covered = to_.Add(BinaryKind::kGreaterEqual, {overlap, least_overlap_});
    const Made is_itself = to_.Add(BinaryKind::kEqual, {indices_, best});
    HEARTH_ASSIGN(ValueId is_removed, to_.Add(BinaryKind::kLogicalOr, {is_covered, is_itself}));
    ValueId left = scores_;
    if (IsSoft()) HEARTH_TRY(Soften(overlap, left, is_removed));
    HEARTH_ASSIGN(scores_, to_.Add(Select{}, {is_removed, lowest_, left}, DType::kFloat32));
    return Status::Ok();
  }

  // The boxes that were taken, their scores, and their number, padded with zeros.
  Expanded Results() {
    const bool is_one = taken_.size() == 1;
    HEARTH_ASSIGN(const ValueId boxes, is_one ? Made(taken_[0]) : to_.Add(Concat{.axis = 0}, taken_));
    HEARTH_ASSIGN(const ValueId scores, is_one ? Made(taken_scores_[0]) : to_.Add(Concat{.axis = 0}, taken_scores_));
    HEARTH_ASSIGN(const ValueId is_there, to_.Add(BinaryKind::kGreater, {scores, lowest_}));
    const Made no_box = to_.AddNumber(DType::kInt32, 0);
    HEARTH_ASSIGN(const ValueId listed, to_.Add(Select{}, {is_there, boxes, no_box}, DType::kInt32));
    const Made ones = to_.AddCast(is_there, DType::kInt32);
    HEARTH_ASSIGN(const ValueId count, to_.Add(Reduce{ReduceKind::kSum, 1, false}, {ones}));
    if (!given_.sigma) return std::vector<ValueId>{listed, count};
    HEARTH_ASSIGN(const ValueId listed_scores, to_.Add(Select{}, {is_there, scores, zero_}, DType::kFloat32));
    return std::vector<ValueId>{listed, listed_scores, count};
  }

 private:
  bool IsSoft() const { return given_.sigma.value_or(0) > 0; }

  // Intersection over union of box `best` with every box; 0 for boxes without area.
  Made OverlapWith(ValueId best) {
    HEARTH_ASSIGN(const ValueId low, to_.Add(Gather{}, {low_, best}));
    HEARTH_ASSIGN(const ValueId high, to_.Add(Gather{}, {high_, best}));
    HEARTH_ASSIGN(const ValueId area, to_.Add(Gather{}, {areas_, best}));
    const Made from = to_.Add(BinaryKind::kMaximum, {low_, low});
    const Made until = to_.Add(BinaryKind::kMinimum, {high_, high});
    const Made sides = to_.Add(BinaryKind::kMaximum, {to_.Add(BinaryKind::kSub, {until, from}), zero_});
    HEARTH_ASSIGN(const ValueId shared, to_.Add(Reduce{ReduceKind::kProd, 2, false}, {sides}));
    const Made both = to_.Add(BinaryKind::kSub, {to_.Add(BinaryKind::kAdd, {areas_, area}), shared});
    return to_.Add(BinaryKind::kDiv, {shared, to_.Add(BinaryKind::kMaximum, {both, tiny_})});
  }

  // Soft suppression: scores fall with the overlap, and boxes below the least score are removed.
  Status Soften(ValueId overlap, ValueId& scores, ValueId& is_removed) {
    const Made squared = to_.Add(BinaryKind::kMul, {to_.Add(BinaryKind::kMul, {overlap, overlap}), decay_});
    HEARTH_ASSIGN(const ValueId factor, to_.Add(UnaryKind::kExp, squared));
    HEARTH_ASSIGN(const ValueId was_removed, to_.Add(BinaryKind::kLessEqual, {scores, lowest_}));
    HEARTH_ASSIGN(scores, to_.Add(BinaryKind::kMul, {scores, factor}));
    HEARTH_ASSIGN(const ValueId is_low, to_.Add(BinaryKind::kLessEqual, {scores, least_score_}));
    const Made removed = to_.Add(BinaryKind::kLogicalOr, {is_removed, was_removed});
    HEARTH_ASSIGN(is_removed, to_.Add(BinaryKind::kLogicalOr, {removed, is_low}));
    return Status::Ok();
  }

  NodeWriter& to_;
  const Suppression& given_;
  ValueId low_ = kNoValue, high_ = kNoValue, areas_ = kNoValue, indices_ = kNoValue, scores_ = kNoValue;
  ValueId lowest_ = kNoValue, zero_ = kNoValue, tiny_ = kNoValue, decay_ = kNoValue;
  ValueId least_overlap_ = kNoValue, least_score_ = kNoValue;
  std::vector<ValueId> taken_, taken_scores_;
};

// Zeros, and their number: none.
Expanded NoBoxes(NodeWriter& to, int64_t most, bool with_scores) {
  const Shape list = {static_cast<int32_t>(most)};
  HEARTH_ASSIGN(const ValueId no_box, to.AddNumber(DType::kInt32, 0));
  HEARTH_ASSIGN(const ValueId boxes, to.AddFilled(list, no_box));
  HEARTH_ASSIGN(const ValueId count, to.AddReshape(no_box, Shape()));
  if (!with_scores) return std::vector<ValueId>{boxes, count};
  HEARTH_ASSIGN(const ValueId scores, to.AddFilled(list, to.AddNumber(DType::kFloat32, 0.0)));
  return std::vector<ValueId>{boxes, scores, count};
}

}  // namespace

Expanded AddNonMaxSuppression(NodeWriter& to, const Suppression& given) {
  const Shape &boxes = to.shape(given.boxes), &scores = to.shape(given.scores);
  if (boxes.rank() != 2 || boxes[1] != 4 || scores != Shape{boxes[0]} || given.most < 0 ||
      to.shape(given.least_overlap).element_count() != 1 || to.shape(given.least_score).element_count() != 1) {
    return Error(StatusCode::kMalformedInput, "boxes of shape {} with scores of shape {}, {} of them", boxes.ToString(),
                 scores.ToString(), given.most);
  }
  const bool makes_none = boxes[0] == 0 || given.most == 0;
  if (makes_none && given.most <= kMostZeros) return NoBoxes(to, given.most, given.sigma.has_value());
  const bool is_countable = given.most <= 1 << 20;
  HEARTH_TRY(
      to.budget().ChargeOperators(is_countable ? given.most * kNodesOfOneTurn : std::numeric_limits<int64_t>::max()));
  Suppressor suppressor(to, given);
  HEARTH_TRY(suppressor.Prepare());
  for (int64_t turn = 0; turn < given.most; ++turn) HEARTH_TRY(suppressor.Turn());
  return suppressor.Results();
}

}  // namespace hearth
