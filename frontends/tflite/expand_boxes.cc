// NON_MAX_SUPPRESSION_V4 and V5: as many iterations as there may be results. Each takes the best remaining box and
// removes the boxes that overlap it.
#include <limits>

#include "core/base/error.h"
#include "frontends/tflite/expansion.h"

namespace hearth {
namespace {

constexpr int64_t kNodesOfOneTurn = 24;
constexpr int64_t kMostZeros = 1 << 20;                          // results of no boxes
constexpr float kLowest = std::numeric_limits<float>::lowest();  // the score of a box that was taken or removed

class Suppression {
 public:
  Suppression(Expansion& to, double sigma) : to_(to), sigma_(sigma) {}

  // Operands (boxes[N,4], scores[N], count, overlap, score, sigma?). A box has two opposite corners in any order.
  Status Prepare() {
    HEARTH_ASSIGN(const ValueId first, to_.AddSlice(to_.operand(0), 1, 0, 2));
    HEARTH_ASSIGN(const ValueId second, to_.AddSlice(to_.operand(0), 1, 2, 2));
    HEARTH_ASSIGN(low_, to_.AddBinary(BinaryKind::kMinimum, first, second));
    HEARTH_ASSIGN(high_, to_.AddBinary(BinaryKind::kMaximum, first, second));
    HEARTH_ASSIGN(const ValueId sides, to_.AddBinary(BinaryKind::kSub, high_, low_));
    HEARTH_ASSIGN(areas_, to_.Add(Reduce{ReduceKind::kProd, 2, false}, {sides}));
    HEARTH_ASSIGN(indices_, to_.AddIndices(to_.shape(to_.operand(1))));
    HEARTH_ASSIGN(lowest_, to_.AddNumber(DType::kFloat32, kLowest));
    HEARTH_ASSIGN(zero_, to_.AddNumber(DType::kFloat32, 0.0));
    HEARTH_ASSIGN(tiny_, to_.AddNumber(DType::kFloat32, std::numeric_limits<float>::min()));
    HEARTH_ASSIGN(decay_, to_.AddNumber(DType::kFloat32, sigma_ > 0 ? -0.5 / sigma_ : 0.0));
    HEARTH_ASSIGN(least_overlap_, to_.AddReshape(to_.operand(3), {1}));
    HEARTH_ASSIGN(least_score_, to_.AddReshape(to_.operand(4), {1}));
    HEARTH_ASSIGN(const ValueId is_good, to_.AddTest(BinaryKind::kGreater, to_.operand(1), least_score_));
    HEARTH_ASSIGN(scores_, to_.Add(Select{}, {is_good, to_.operand(1), lowest_}, DType::kFloat32));
    return Status::Ok();
  }

  // Takes the best remaining box.
  Status Turn() {
    HEARTH_ASSIGN(ValueId best, to_.Add(ArgReduce{ArgKind::kMax, 0}, {scores_}, DType::kInt32));
    HEARTH_ASSIGN(best, to_.AddReshape(best, {1}));
    HEARTH_ASSIGN(const ValueId score, to_.Add(Gather{}, {scores_, best}));
    taken_.push_back(best);
    taken_scores_.push_back(score);
    HEARTH_ASSIGN(const ValueId overlap, OverlapWith(best));
    HEARTH_ASSIGN(const ValueId is_covered, to_.AddTest(BinaryKind::kGreaterEqual, overlap, least_overlap_));
    HEARTH_ASSIGN(const ValueId is_itself, to_.AddTest(BinaryKind::kEqual, indices_, best));
    HEARTH_ASSIGN(ValueId is_removed, to_.Add(Binary{.kind = BinaryKind::kLogicalOr}, {is_covered, is_itself}));
    ValueId left = scores_;
    if (sigma_ > 0) HEARTH_TRY(Soften(overlap, left, is_removed));
    HEARTH_ASSIGN(scores_, to_.Add(Select{}, {is_removed, lowest_, left}, DType::kFloat32));
    return Status::Ok();
  }

  // The boxes that were taken, their scores, and their number, padded with zeros.
  Expanded Results(bool with_scores) {
    const bool is_one = taken_.size() == 1;
    HEARTH_ASSIGN(const ValueId boxes, is_one ? Result<ValueId>(taken_[0]) : to_.Add(Concat{.axis = 0}, taken_));
    HEARTH_ASSIGN(const ValueId scores,
                  is_one ? Result<ValueId>(taken_scores_[0]) : to_.Add(Concat{.axis = 0}, taken_scores_));
    HEARTH_ASSIGN(const ValueId is_there, to_.AddTest(BinaryKind::kGreater, scores, lowest_));
    HEARTH_ASSIGN(const ValueId no_box, to_.AddNumber(DType::kInt32, 0));
    HEARTH_ASSIGN(const ValueId listed, to_.Add(Select{}, {is_there, boxes, no_box}, DType::kInt32));
    HEARTH_ASSIGN(const ValueId ones, to_.Add(Cast{DType::kInt32}, {is_there}, DType::kInt32));
    HEARTH_ASSIGN(const ValueId count, to_.Add(Reduce{ReduceKind::kSum, 1, false}, {ones}));
    if (!with_scores) return std::vector<ValueId>{listed, count};
    HEARTH_ASSIGN(const ValueId listed_scores, to_.Add(Select{}, {is_there, scores, zero_}, DType::kFloat32));
    return std::vector<ValueId>{listed, listed_scores, count};
  }

 private:
  // Intersection over union of box `best` with every box; 0 for boxes without area.
  Result<ValueId> OverlapWith(ValueId best) {
    HEARTH_ASSIGN(const ValueId low, to_.Add(Gather{}, {low_, best}));
    HEARTH_ASSIGN(const ValueId high, to_.Add(Gather{}, {high_, best}));
    HEARTH_ASSIGN(const ValueId area, to_.Add(Gather{}, {areas_, best}));
    HEARTH_ASSIGN(const ValueId from, to_.AddBinary(BinaryKind::kMaximum, low_, low));
    HEARTH_ASSIGN(const ValueId until, to_.AddBinary(BinaryKind::kMinimum, high_, high));
    HEARTH_ASSIGN(ValueId sides, to_.AddBinary(BinaryKind::kSub, until, from));
    HEARTH_ASSIGN(sides, to_.AddBinary(BinaryKind::kMaximum, sides, zero_));
    HEARTH_ASSIGN(const ValueId shared, to_.Add(Reduce{ReduceKind::kProd, 2, false}, {sides}));
    HEARTH_ASSIGN(ValueId all, to_.AddBinary(BinaryKind::kAdd, areas_, area));
    HEARTH_ASSIGN(all, to_.AddBinary(BinaryKind::kSub, all, shared));
    HEARTH_ASSIGN(all, to_.AddBinary(BinaryKind::kMaximum, all, tiny_));
    return to_.AddBinary(BinaryKind::kDiv, shared, all);
  }

  // Soft suppression: scores fall with the overlap, and boxes below the least score are removed.
  Status Soften(ValueId overlap, ValueId& scores, ValueId& is_removed) {
    const Op either = Binary{.kind = BinaryKind::kLogicalOr};
    HEARTH_ASSIGN(ValueId factor, to_.AddBinary(BinaryKind::kMul, overlap, overlap));
    HEARTH_ASSIGN(factor, to_.AddBinary(BinaryKind::kMul, factor, decay_));
    HEARTH_ASSIGN(factor, to_.Add(Unary{.kind = UnaryKind::kExp}, {factor}));
    HEARTH_ASSIGN(const ValueId was_removed, to_.AddTest(BinaryKind::kLessEqual, scores, lowest_));
    HEARTH_ASSIGN(scores, to_.AddBinary(BinaryKind::kMul, scores, factor));
    HEARTH_ASSIGN(const ValueId is_low, to_.AddTest(BinaryKind::kLessEqual, scores, least_score_));
    HEARTH_ASSIGN(is_removed, to_.Add(either, {is_removed, was_removed}));
    HEARTH_ASSIGN(is_removed, to_.Add(either, {is_removed, is_low}));
    return Status::Ok();
  }

  Expansion& to_;
  double sigma_;
  ValueId low_ = kNoValue, high_ = kNoValue, areas_ = kNoValue, indices_ = kNoValue, scores_ = kNoValue;
  ValueId lowest_ = kNoValue, zero_ = kNoValue, tiny_ = kNoValue, decay_ = kNoValue;
  ValueId least_overlap_ = kNoValue, least_score_ = kNoValue;
  std::vector<ValueId> taken_, taken_scores_;
};

// Zeros, and their number: none.
Expanded NoBoxes(Expansion& to, int64_t most, bool with_scores) {
  const Shape list = {static_cast<int32_t>(most)};
  HEARTH_ASSIGN(const ValueId no_box, to.AddNumber(DType::kInt32, 0));
  HEARTH_ASSIGN(const ValueId boxes, to.AddFilled(list, no_box));
  HEARTH_ASSIGN(const ValueId count, to.AddReshape(no_box, Shape()));
  if (!with_scores) return std::vector<ValueId>{boxes, count};
  HEARTH_ASSIGN(const ValueId no_score, to.AddNumber(DType::kFloat32, 0.0));
  HEARTH_ASSIGN(const ValueId scores, to.AddFilled(list, no_score));
  return std::vector<ValueId>{boxes, scores, count};
}

}  // namespace

Expanded ExpandNonMaxSuppression(Expansion& to) {
  const bool has_scores = to.Has(5);  // V5
  const Shape &boxes = to.shape(to.operand(0)), &scores = to.shape(to.operand(1));
  HEARTH_ASSIGN(const std::vector<int64_t> most, to.Integers(2));
  if (boxes.rank() != 2 || boxes[1] != 4 || scores != Shape{boxes[0]} || most.size() != 1 || most[0] < 0 ||
      to.shape(to.operand(3)).element_count() != 1 || to.shape(to.operand(4)).element_count() != 1) {
    return Error(StatusCode::kMalformedInput, "boxes of shape {} with scores of shape {}, {} of them", boxes.ToString(),
                 scores.ToString(), most.empty() ? 0 : most[0]);
  }
  const bool makes_none = boxes[0] == 0 || most[0] == 0;
  if (makes_none && most[0] <= kMostZeros) return NoBoxes(to, most[0], has_scores);
  double sigma = 0;
  if (has_scores) {
    HEARTH_ASSIGN(sigma, to.Number(5));
  }
  HEARTH_TRY(to.ChargeOperators(most[0] <= 1 << 20 ? most[0] * kNodesOfOneTurn : std::numeric_limits<int64_t>::max()));
  Suppression suppression(to, sigma);
  HEARTH_TRY(suppression.Prepare());
  for (int64_t turn = 0; turn < most[0]; ++turn) HEARTH_TRY(suppression.Turn());
  return suppression.Results(has_scores);
}

}  // namespace hearth
