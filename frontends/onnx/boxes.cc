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

constexpr int64_t kMostParts = 1 << 12;

// (center x, center y, width, height) as two corners.
Made CornersOf(NodeWriter& to, ValueId boxes) {
  const int last = to.shape(boxes).rank() - 1;
  const Made center = to.AddSlice(boxes, last, 0, 2);
  const Made half = to.Add(BinaryKind::kMul, {to.AddSlice(boxes, last, 2, 2), AddScalarLike(to, boxes, 0.5)});
  return to.Add(Concat{.axis = last},
                {to.Add(BinaryKind::kSub, {center, half}), to.Add(BinaryKind::kAdd, {center, half})});
}

// (boxes[B,N,4], scores[B,C,N], most, overlap, score) -> rows (batch, class, box), as many as data make.
Results ReadNonMaxSuppression(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(ValueId boxes, op.In(0));
  HEARTH_ASSIGN(ValueId scores, op.In(1));
  const size_t first_node = to.graph().nodes().size();
  const bool has_all = !HaveRows(to, {&scores, 1});
  if (has_all ? HaveRows(to, {&boxes, 1}) : to.marks().OpenOf(scores).dim != 2) return NeedsAllRows();
  HEARTH_ASSIGN(scores, MaskRows(to, scores, ReduceKind::kMax));  // -inf is never more than the least score
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
  HEARTH_ASSIGN(const bool has_centers, op.Flag("center_point_box"));
  if (!(overlap >= 0.0 && overlap <= 1.0) || std::isnan(least)) {
    return Error(StatusCode::kMalformedInput, "thresholds of {} and {}", overlap, least);
  }
  const auto most = static_cast<int32_t>(std::clamp<int64_t>(given, 0, count));
  if (most == 0 || shape.element_count() == 0) return Plain(to.AddFilled({0, 3}, to.AddNumber(DType::kInt64, 0.0)));
  const int32_t classes = shape[1], lists = shape[0] * classes;
  HEARTH_TRY(to.budget().ChargeOperators(int64_t{lists} * 6));
  HEARTH_TRY(to.budget().CheckRoom({lists, most}, DType::kInt32));
  HEARTH_ASSIGN(boxes, has_centers ? CornersOf(to, boxes) : Made(boxes));
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
  HEARTH_ASSIGN(const ValueId is_taken, to.Add(BinaryKind::kLess, {to.AddIndices({1, most}), ends}));
  HEARTH_ASSIGN(const auto found, AddPlaces(to, is_taken));
  HEARTH_ASSIGN(const ValueId places, to.AddCast(found.first, DType::kInt32));
  const Made list = to.AddSlice(places, 1, 0, 1), divisor = to.AddNumber(DType::kInt32, classes);
  const Made box = to.AddReshape(to.Add(GatherNd{}, {all, places}), {lists * most, 1});
  const Operands columns{to.Add(BinaryKind::kFloorDiv, {list, divisor}), to.Add(BinaryKind::kFloorMod, {list, divisor}),
                         box};
  HEARTH_ASSIGN(const ValueId rows, to.AddCast(to.Add(Concat{.axis = 1}, columns), DType::kInt64));
  CloseRows(to, first_node);
  return Plain(AddRows(to, rows, found.second));
}

// (x[N,C,H,W], boxes[R,4] of two corners, image of each[R]) -> [R,C,h,w]: means of points in equal parts of each box
// (He et al., "Mask R-CNN"). Images lie below each other, so that one sampling reads them all.
Results ReadRoiAlign(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.Last(0));
  HEARTH_ASSIGN(const ValueId boxes, op.In(1));
  const size_t first_node = to.graph().nodes().size();
  if (HaveRows(to, {&x, 1})) return NeedsAllRows();
  const Shape shape = to.shape(x), listed = to.shape(boxes);
  const int64_t height = op.Int("output_height", 1), width = op.Int("output_width", 1),
                ratio = op.Int("sampling_ratio", 0);
  if (shape.rank() != 4 || listed.rank() != 2 || listed[1] != 4 || std::min(height, width) < 1 ||
      std::max(height, width) > kMostParts || ratio < 0) {
    return Error(StatusCode::kMalformedInput, "boxes of shape {} in shape {}, in {} x {} parts", listed.ToString(),
                 shape.ToString(), height, width);
  }
  HEARTH_TRY(op.Choice("mode", {"avg"}).status());
  if (ratio == 0 || ratio > kMostParts) {
    return Error(
        StatusCode::kUnsupported,
        "sampling_ratio={}: with 0 the boxes, which data make, decide how many points are taken; export it with "
        "a number of points",
        ratio);
  }
  const int32_t count = listed[0];
  constexpr int64_t kMostPoints = int64_t{1} << 30;
  if (count * height * ratio > kMostPoints || int64_t{shape[0]} * shape[1] > kMostPoints) {
    return Error(StatusCode::kUnsupported, "{} boxes in shape {}", count, shape.ToString());
  }
  HEARTH_TRY(to.budget().CheckRoom({static_cast<int32_t>(std::max(height, width) * ratio)}, DType::kFloat32));
  const bool is_shifted = op.opset() >= 16 && op.Text("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  const auto number = [&](double value) { return to.AddNumber(DType::kFloat32, value); };
  const auto below = [&](const Made& a, const Made& b) { return to.Add(BinaryKind::kLessEqual, {a, b}); };
  // Where the points of each box lie along one dimension, and whether they lie in the picture: [R, points].
  struct Points {
    ValueId at = kNoValue, is_inside = kNoValue;
  };
  const auto along = [&](int column, int64_t parts, int32_t size) -> Result<Points> {
    const auto corner = [&](int k) {
      const Made scaled =
          to.Add(BinaryKind::kMul, {to.AddSlice(boxes, 1, k, 1), number(op.Float("spatial_scale", 1.0))});
      return is_shifted ? to.Add(BinaryKind::kSub, {scaled, number(0.5)}) : scaled;
    };
    HEARTH_ASSIGN(const ValueId start, corner(column));
    Made length = to.Add(BinaryKind::kSub, {corner(column + 2), start});
    if (!is_shifted) length = to.Add(BinaryKind::kMaximum, {length, number(1.0)});
    const int64_t points = parts * ratio;
    const Made share = to.AddEach({1, static_cast<int32_t>(points)}, DType::kFloat32, [&](int64_t, int64_t k) {
      return (static_cast<double>(k) + 0.5) / static_cast<double>(points);
    });
    HEARTH_ASSIGN(const ValueId at, to.Add(BinaryKind::kAdd, {start, to.Add(BinaryKind::kMul, {length, share})}));
    const Made is_inside = to.Add(BinaryKind::kLogicalAnd, {below(number(-1.0), at), below(at, number(size))});
    Points made;
    HEARTH_ASSIGN(made.is_inside, to.AddCast(is_inside, DType::kFloat32));
    HEARTH_ASSIGN(made.at,
                  to.Add(BinaryKind::kMinimum, {to.Add(BinaryKind::kMaximum, {at, number(0.0)}), number(size - 1)}));
    return made;
  };
  HEARTH_ASSIGN(Points rows, along(1, height, shape[1]));
  HEARTH_ASSIGN(const Points columns, along(0, width, shape[2]));
  if (shape[0] > 1) {
    const Made image = to.AddReshape(to.AddCast(op.In(2), DType::kFloat32), {count, 1});
    HEARTH_ASSIGN(rows.at, to.Add(BinaryKind::kAdd, {rows.at, to.Add(BinaryKind::kMul, {image, number(shape[1])})}));
  }
  const auto tall = static_cast<int32_t>(height * ratio), wide = static_cast<int32_t>(width * ratio);
  const auto down = [&](ValueId value) { return to.AddReshape(value, {count, tall, 1, 1}); };
  const auto across = [&](ValueId value) { return to.AddReshape(value, {count, 1, wide, 1}); };
  const BroadcastTo all{{count, tall, wide, 1}};
  const Made points = to.Add(Concat{.axis = 3}, {to.Add(all, {across(columns.at)}), to.Add(all, {down(rows.at)})});
  const Made pictures = to.AddReshape(x, {1, shape[0] * shape[1], shape[2], shape[3]});
  const Made sampled = to.Add(Resampler{}, {pictures, to.AddReshape(points, {1, count * tall, wide, 2})});
  const Made is_inside = to.Add(BinaryKind::kMul, {down(rows.is_inside), across(columns.is_inside)});
  const Made kept = to.Add(BinaryKind::kMul, {to.AddReshape(sampled, {count, tall, wide, shape[3]}), is_inside});
  const auto step = static_cast<int32_t>(ratio);
  const Pool2D mean{PoolKind::kAverage, step, step, {.stride_h = step, .stride_w = step}, Activation::kNone};
  HEARTH_ASSIGN(const ValueId made, to.Add(mean, {kept}));
  CloseRows(to, first_node);
  const OpenDimension open = to.marks().OpenOf(boxes);
  if (open.dim != 0) return NeedsAllRows();
  return Last(open.count == kNoValue ? Made(made) : AddRows(to, made, open.count));
}

}  // namespace

constexpr OperatorRow kBoxRows[] = {
    {"NonMaxSuppression", ReadNonMaxSuppression},
    {"RoiAlign", ReadRoiAlign},
};
const OperatorList kBoxOperators = kBoxRows;

}  // namespace hearth::onnx
