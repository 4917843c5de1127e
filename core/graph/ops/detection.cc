#include "core/graph/ops/detection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"

namespace hearth {
namespace {

struct Detection {
  int box = 0, category = 0;
  float score = 0;
};

// Decodes a box when it is first read: few of thousands of boxes are looked at before the last one is chosen.
template <typename Real>
class Boxes {
 public:
  Boxes(const DetectionPostProcess& op, const DetectionOperands<Real>& in)
      : op_(op), in_(in), boxes_(in.boxes), is_decoded_(in.boxes) {}

  const CornerBox& operator[](size_t i) {
    if (!is_decoded_[i]) boxes_[i] = Decoded(i);
    is_decoded_[i] = true;
    return boxes_[i];
  }

 private:
  CornerBox Decoded(size_t i) const {
    const Real* code = &in_.encodings[i * in_.coordinates];  // y, x, height, width, all relative to the anchor
    const double* anchor = &in_.anchors[i * 4];
    const auto y = static_cast<float>(code[0] / double{op_.y_scale} * anchor[2] + anchor[0]);
    const auto x = static_cast<float>(code[1] / double{op_.x_scale} * anchor[3] + anchor[1]);
    const auto half_h = static_cast<float>(0.5 * std::exp(code[2] / double{op_.h_scale}) * anchor[2]);
    const auto half_w = static_cast<float>(0.5 * std::exp(code[3] / double{op_.w_scale}) * anchor[3]);
    return {y - half_h, x - half_w, y + half_h, x + half_w};
  }

  const DetectionPostProcess& op_;
  const DetectionOperands<Real>& in_;
  std::vector<CornerBox> boxes_;
  std::vector<bool> is_decoded_;
};

struct Candidate {
  float score = 0;
  int box = 0;
  // A better candidate is greater. Of equal scores the earlier box is better.
  bool operator<(const Candidate& other) const {
    return score < other.score || (score == other.score && box > other.box);
  }
};

// Indices of at most `most` boxes, best score first; no box overlaps a better one too much. A heap, because the order
// after the last chosen box does not matter.
template <typename Real>
std::vector<int> Suppress(const DetectionPostProcess& op, Boxes<Real>& boxes, std::vector<Candidate>& candidates,
                          int most) {
  std::make_heap(candidates.begin(), candidates.end());
  std::vector<int> chosen;
  while (!candidates.empty() && chosen.size() < static_cast<size_t>(most)) {
    const int candidate = candidates.front().box;
    std::pop_heap(candidates.begin(), candidates.end());
    candidates.pop_back();
    const CornerBox box = boxes[candidate];
    const bool is_covered =
        std::ranges::any_of(chosen, [&](int better) { return OverlapOf(boxes[better], box) > op.iou_threshold; });
    if (!is_covered) chosen.push_back(candidate);
  }
  return chosen;
}

// Scores of [boxes][classes, perhaps with a background class before them].
template <typename Real>
class Scores {
 public:
  Scores(const DetectionPostProcess& op, const DetectionOperands<Real>& in)
      : values_(in.scores), stride_(in.scores_per_box), classes_(op.num_classes) {}
  std::span<const Real> OfBox(size_t box) const {
    return values_.subspan(box * stride_ + (stride_ - classes_), classes_);
  }
  float Of(int box, int category) const { return static_cast<float>(OfBox(box)[category]); }

 private:
  std::span<const Real> values_;
  size_t stride_, classes_;
};

template <typename Real>
std::vector<Detection> DetectClassByClass(const DetectionPostProcess& op, Boxes<Real>& boxes, size_t count,
                                          const Scores<Real>& scores) {
  std::vector<std::vector<Candidate>> of_class(op.num_classes);
  for (size_t box = 0; box < count; ++box) {
    const std::span<const Real> of_box = scores.OfBox(box);
    for (size_t category = 0; category < of_box.size(); ++category) {
      const auto score = static_cast<float>(of_box[category]);
      if (score >= op.score_threshold) of_class[category].push_back({score, static_cast<int>(box)});
    }
  }
  std::vector<Detection> detections;
  for (int category = 0; category < op.num_classes; ++category) {
    if (of_class[category].empty()) continue;
    for (int box : Suppress(op, boxes, of_class[category], op.detections_per_class)) {
      detections.push_back({box, category, scores.Of(box, category)});
    }
    std::ranges::stable_sort(detections, std::ranges::greater(), &Detection::score);
    if (detections.size() > static_cast<size_t>(op.max_detections)) detections.resize(op.max_detections);
  }
  return detections;
}

// The result of std::max over the scores in order, NaN included, in 8 parts that a compiler vectorizes. Parts 1 to 7
// begin with -infinity, which neither a number nor NaN changes.
template <typename Real>
float BestOf(std::span<const Real> scores) {
  constexpr size_t kLanes = 8;
  Real best[kLanes];
  std::ranges::fill(best, -std::numeric_limits<Real>::infinity());
  best[0] = scores[0];
  size_t k = 0;
  for (; k + kLanes <= scores.size(); k += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) best[lane] = std::max(best[lane], scores[k + lane]);
  }
  for (; k < scores.size(); ++k) best[0] = std::max(best[0], scores[k]);
  return static_cast<float>(
      std::accumulate(best + 1, best + kLanes, best[0], [](Real a, Real b) { return std::max(a, b); }));
}

// Each box stands for its best class while boxes are suppressed; then its best classes are listed.
template <typename Real>
std::vector<Detection> DetectByBestClass(const DetectionPostProcess& op, Boxes<Real>& boxes, size_t count,
                                         const Scores<Real>& scores) {
  std::vector<Candidate> candidates;
  candidates.reserve(count);
  for (size_t box = 0; box < count; ++box) {
    const float best = BestOf(scores.OfBox(box));
    if (best >= op.score_threshold) candidates.push_back({best, static_cast<int>(box)});
  }
  const int listed = std::min(op.max_classes_per_detection, op.num_classes);
  std::vector<int> categories(static_cast<size_t>(op.num_classes));
  std::vector<Detection> detections;
  for (int box : Suppress(op, boxes, candidates, op.max_detections)) {
    std::iota(categories.begin(), categories.end(), 0);
    std::stable_sort(categories.begin(), categories.end(), [&](int a, int b) {
      const float score_a = scores.Of(box, a), score_b = scores.Of(box, b);
      return score_a > score_b || (std::isnan(score_b) && !std::isnan(score_a));  // without a number last
    });
    for (int k = 0; k < listed; ++k) detections.push_back({box, categories[k], scores.Of(box, categories[k])});
  }
  return detections;
}

}  // namespace

template <typename Real>
void DetectObjects(const DetectionPostProcess& op, const DetectionOperands<Real>& in,
                   const DetectionResults<Real>& out) {
  Boxes<Real> boxes(op, in);
  const Scores<Real> scores(op, in);
  const std::vector<Detection> detections = op.use_regular_nms ? DetectClassByClass(op, boxes, in.boxes, scores)
                                                               : DetectByBestClass(op, boxes, in.boxes, scores);
  for (const std::span<Real> output : {out.boxes, out.categories, out.scores, out.count})
    std::ranges::fill(output, Real{0});
  // Fast NMS leaves room for max_classes_per_detection classes of each box, even if there are fewer classes.
  const size_t listed = std::min(op.max_classes_per_detection, op.num_classes);
  for (size_t k = 0; k < detections.size(); ++k) {
    const size_t row = op.use_regular_nms ? k : k / listed * op.max_classes_per_detection + k % listed;
    const CornerBox& box = boxes[detections[k].box];
    const float corners[] = {box.ymin, box.xmin, box.ymax, box.xmax};
    std::copy(std::begin(corners), std::end(corners), &out.boxes[row * 4]);
    out.categories[row] = static_cast<Real>(detections[k].category);
    out.scores[row] = detections[k].score;
  }
  out.count[0] = static_cast<Real>(op.use_regular_nms ? detections.size() : detections.size() / listed);
}

template void DetectObjects(const DetectionPostProcess&, const DetectionOperands<float>&,
                            const DetectionResults<float>&);
template void DetectObjects(const DetectionPostProcess&, const DetectionOperands<double>&,
                            const DetectionResults<double>&);

Status InferDetectionPostProcess(const NodeInference& inference) {
  const auto& op = inference.op<DetectionPostProcess>();
  for (size_t i = 0; i < 3; ++i) HEARTH_TRY(inference.CheckReal(i));
  HEARTH_TRY(inference.CheckRank(0, 3));
  HEARTH_TRY(inference.CheckRank(1, 3));
  HEARTH_TRY(inference.CheckRank(2, 2));
  const Shape &boxes = inference.shape(0), &scores = inference.shape(1), &anchors = inference.shape(2);
  if (boxes[0] != 1 || scores[0] != 1 || boxes[2] < 4 || anchors[1] != 4 || scores[1] != boxes[1] ||
      anchors[0] != boxes[1]) {
    return inference.Malformed(
        "boxes {}, scores {} and anchors {} don't belong together; they are 1xNx4, 1xNxC and Nx4", boxes, scores,
        anchors);
  }
  const bool counts_fit = op.num_classes >= 1 && op.max_detections >= 1 && op.max_classes_per_detection >= 1 &&
                          op.detections_per_class >= 1;
  if (!counts_fit || (scores[2] != op.num_classes && scores[2] - 1 != op.num_classes)) {
    return inference.Malformed(
        "{} classes in scores of shape {} (one more may be the background), {} detections of {} "
        "classes each, {} per class",
        op.num_classes, scores, op.max_detections, op.max_classes_per_detection, op.detections_per_class);
  }
  const int64_t rows = int64_t{op.max_detections} * op.max_classes_per_detection;
  HEARTH_TRY(inference.SetOutput(0, {1, rows, 4}));
  HEARTH_TRY(inference.SetOutput(1, {1, rows}));
  HEARTH_TRY(inference.SetOutput(2, {1, rows}));
  return inference.SetOutput(3, {1});
}

void ReferenceDetectionPostProcess(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const ReferenceTensor &encodings = *inputs[0], &scores = *inputs[1];
  DetectObjects<double>(std::get<DetectionPostProcess>(node.op),
                        {.encodings = encodings.values,
                         .scores = scores.values,
                         .anchors = inputs[2]->values,
                         .boxes = static_cast<size_t>(encodings.shape[1]),
                         .coordinates = static_cast<size_t>(encodings.shape[2]),
                         .scores_per_box = static_cast<size_t>(scores.shape[2])},
                        {outputs[0].values, outputs[1].values, outputs[2].values, outputs[3].values});
}

}  // namespace hearth
