// Boxes of detectors.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "frontends/onnx/operators.h"
#include "frontends/writer/expansions.h"
#include "frontends/writer/rows.h"

namespace hearth::onnx {
namespace {

// (center x, center y, width, height) as two corners.
Made CornersOf(NodeWriter& to, ValueId boxes) {
  const int last = to.shape(boxes).rank() - 1;
  const Made center = to.AddSlice(boxes, last, 0, 2);
  const Made half = to.Add(BinaryKind::kMul, {to.AddSlice(boxes, last, 2, 2), AddScalarLike(to, boxes, 0.5)});
  return to.Add(Concat{.axis = last},
                {to.Add(BinaryKind::kSub, {center, half}), to.Add(BinaryKind::kAdd, {center, half})});
}

// (boxes[B,N,4], scores[B,C,N], most, overlap, score) -> rows (batch, class, box), as many as data make.
Results ReadNonMaxSuppression(OpView& op) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(ValueId boxes, op.In(0));
  HEARTH_ASSIGN(const ValueId scores, op.In(1));
  const Shape of_boxes = to.shape(boxes), shape = to.shape(scores);
  if (of_boxes.rank() != 3 || of_boxes[2] != 4 || shape != Shape{of_boxes[0], shape[1], of_boxes[1]}) {
    return Error(StatusCode::kMalformedInput, "boxes of shape {} with scores of shape {}", of_boxes.ToString(),
                 shape.ToString());
  }
  const int32_t count = shape[2];
  HEARTH_ASSIGN(const int64_t given, op.Has(2) ? op.Integer(2) : Result<int64_t>(0));
  HEARTH_ASSIGN(const double overlap, op.Has(3) ? op.Number(3) : Result<double>(0.0));
  HEARTH_ASSIGN(const double least,
                op.Has(4) ? op.Number(4) : Result<double>(-std::numeric_limits<double>::infinity()));
  const auto most = static_cast<int32_t>(std::clamp<int64_t>(given, 0, count));
  if (most == 0 || shape.element_count() == 0) return Plain(to.AddFilled({0, 3}, to.AddNumber(DType::kInt64, 0.0)));
  const int32_t classes = shape[1], lists = shape[0] * classes;
  HEARTH_TRY(to.budget().ChargeOperators(int64_t{lists} * 6));
  HEARTH_TRY(to.budget().CheckRoom({lists, most}, DType::kInt32));
  if (op.Int("center_point_box", 0) != 0) {
    HEARTH_ASSIGN(boxes, CornersOf(to, boxes));
  }
  Suppression suppression{.most = most, .lower_index_first = true};
  // A box stays whose overlap is the threshold itself.
  HEARTH_ASSIGN(suppression.least_overlap,
                to.AddNumber(DType::kFloat32, std::nextafter(static_cast<float>(overlap), 2.0f)));
  HEARTH_ASSIGN(suppression.least_score, to.AddNumber(DType::kFloat32, least));
  std::vector<ValueId> taken, counts;
  for (int32_t list = 0; list < lists; ++list) {
    HEARTH_ASSIGN(suppression.boxes, to.AddReshape(to.AddSlice(boxes, 0, list / classes, 1), {count, 4}));
    const Made of_batch = to.AddSlice(scores, 0, list / classes, 1);
    HEARTH_ASSIGN(suppression.scores, to.AddReshape(to.AddSlice(of_batch, 1, list % classes, 1), {count}));
    HEARTH_ASSIGN(const std::vector<ValueId> made, AddNonMaxSuppression(to, suppression));
    taken.push_back(made[0]);
    counts.push_back(made[1]);
  }
  // The boxes of all lists, one after the other.
  HEARTH_ASSIGN(const ValueId all, to.Add(Pack{0}, taken));
  const Made ends = to.AddReshape(to.Add(Pack{0}, counts), {lists, 1});
  const Made is_taken = to.Add(BinaryKind::kLess, {to.AddIndices({1, most}), ends});
  HEARTH_ASSIGN(const std::vector<ValueId> where,
                to.AddSeveral(Where{}, {is_taken}, {PlainType(DType::kInt64), PlainType(DType::kInt32)}));
  HEARTH_ASSIGN(const ValueId places, to.AddCast(where[0], DType::kInt32));
  const Made list = to.AddSlice(places, 1, 0, 1), divisor = to.AddNumber(DType::kInt32, classes);
  const Made box = to.AddReshape(to.Add(GatherNd{}, {all, places}), {lists * most, 1});
  const Operands columns{to.Add(BinaryKind::kFloorDiv, {list, divisor}), to.Add(BinaryKind::kFloorMod, {list, divisor}),
                         box};
  HEARTH_ASSIGN(const ValueId rows, to.AddCast(to.Add(Concat{.axis = 1}, columns), DType::kInt64));
  return Plain(AddRows(to, rows, where[1]));
}

}  // namespace

std::span<const OperatorRow> BoxOperators() {
  static constexpr OperatorRow kRows[] = {
      {"NonMaxSuppression", ReadNonMaxSuppression},
  };
  return kRows;
}

}  // namespace hearth::onnx
