#include "core/graph/ops/detection.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/graph/ops/node_inference.h"

namespace hearth {
namespace {

// Corners in units of the image. Float, as TFLite keeps them: thresholds and ties are decided on these values.
struct Box {
  float ymin = 0, xmin = 0, ymax = 0, xmax = 0;
};

struct Detection {
  int box = 0, category = 0;
  float score = 0;
};

std::vector<Box> DecodeBoxes(const DetectionPostProcess& op, const ReferenceTensor& encodings,
                             const ReferenceTensor& anchors) {
  const int coordinates = encodings.shape[2];
  std::vector<Box> boxes(static_cast<size_t>(encodings.shape[1]));
  for (size_t i = 0; i < boxes.size(); ++i) {
    const double* code = &encodings.values[i * coordinates];  // y, x, height, width, all relative to the anchor
    const double* anchor = &anchors.values[i * 4];
    const auto y = static_cast<float>(code[0] / op.y_scale * anchor[2] + anchor[0]);
    const auto x = static_cast<float>(code[1] / op.x_scale * anchor[3] + anchor[1]);
    const auto half_h = static_cast<float>(0.5 * std::exp(code[2] / op.h_scale) * anchor[2]);
    const auto half_w = static_cast<float>(0.5 * std::exp(code[3] / op.w_scale) * anchor[3]);
    boxes[i] = {y - half_h, x - half_w, y + half_h, x + half_w};
  }
  return boxes;
}

float AreaOf(const Box& box) {
  return (box.ymax - box.ymin) * (box.xmax - box.xmin);
}

// Intersection over union; 0 for boxes without area.
float OverlapOf(const Box& a, const Box& b) {
  const float area_a = AreaOf(a), area_b = AreaOf(b);
  if (area_a <= 0 || area_b <= 0) return 0;
  const float height = std::max(std::min(a.ymax, b.ymax) - std::max(a.ymin, b.ymin), 0.0f);
  const float width = std::max(std::min(a.xmax, b.xmax) - std::max(a.xmin, b.xmin), 0.0f);
  const float shared = height * width;
  return shared / (area_a + area_b - shared);
}

// Indices of at most `most` boxes, best score first, none of which overlaps a better one too much.
std::vector<int> Suppress(const DetectionPostProcess& op, const std::vector<Box>& boxes,
                          const std::vector<float>& scores, int most) {
  std::vector<int> order;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] >= op.score_threshold) order.push_back(static_cast<int>(i));
  }
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return scores[a] > scores[b]; });
  std::vector<int> chosen;
  for (int candidate : order) {
    if (chosen.size() >= static_cast<size_t>(most)) break;
    const bool is_covered = std::any_of(chosen.begin(), chosen.end(), [&](int better) {
      return OverlapOf(boxes[better], boxes[candidate]) > op.iou_threshold;
    });
    if (!is_covered) chosen.push_back(candidate);
  }
  return chosen;
}

// Scores of [boxes][classes, perhaps with a background class before them].
class Scores {
 public:
  Scores(const DetectionPostProcess& op, const ReferenceTensor& scores)
      : values_(scores.values), stride_(scores.shape[2]), offset_(stride_ - op.num_classes) {}
  float Of(int box, int category) const {
    return static_cast<float>(values_[static_cast<size_t>(box) * stride_ + offset_ + category]);
  }

 private:
  const std::vector<double>& values_;
  int stride_, offset_;
};

std::vector<Detection> DetectClassByClass(const DetectionPostProcess& op, const std::vector<Box>& boxes,
                                          const Scores& scores) {
  std::vector<Detection> detections;
  std::vector<float> of_class(boxes.size());
  for (int category = 0; category < op.num_classes; ++category) {
    for (size_t box = 0; box < boxes.size(); ++box) of_class[box] = scores.Of(static_cast<int>(box), category);
    for (int box : Suppress(op, boxes, of_class, op.detections_per_class)) {
      detections.push_back({box, category, of_class[box]});
    }
    std::stable_sort(detections.begin(), detections.end(),
                     [](const Detection& a, const Detection& b) { return a.score > b.score; });
    if (detections.size() > static_cast<size_t>(op.max_detections)) detections.resize(op.max_detections);
  }
  return detections;
}

// Each box stands for its best class while boxes are suppressed; then its best classes are listed.
std::vector<Detection> DetectByBestClass(const DetectionPostProcess& op, const std::vector<Box>& boxes,
                                         const Scores& scores) {
  std::vector<float> best(boxes.size());
  for (size_t box = 0; box < boxes.size(); ++box) {
    best[box] = scores.Of(static_cast<int>(box), 0);
    for (int c = 1; c < op.num_classes; ++c) best[box] = std::max(best[box], scores.Of(static_cast<int>(box), c));
  }
  const int listed = std::min(op.max_classes_per_detection, op.num_classes);
  std::vector<int> categories(static_cast<size_t>(op.num_classes));
  std::vector<Detection> detections;
  for (int box : Suppress(op, boxes, best, op.max_detections)) {
    std::iota(categories.begin(), categories.end(), 0);
    std::stable_sort(categories.begin(), categories.end(),
                     [&](int a, int b) { return scores.Of(box, a) > scores.Of(box, b); });
    for (int k = 0; k < listed; ++k) detections.push_back({box, categories[k], scores.Of(box, categories[k])});
  }
  return detections;
}

}  // namespace

Status InferDetectionPostProcess(Graph& graph, const Node& node) {
  const auto& op = std::get<DetectionPostProcess>(node.op);
  const NodeInference inference(graph, node);
  HEARTH_TRY(inference.CheckOperands(3, 0, 4));
  for (size_t i = 0; i < 3; ++i) HEARTH_TRY(inference.CheckReal(i));
  HEARTH_TRY(inference.CheckRank(0, 3));
  HEARTH_TRY(inference.CheckRank(1, 3));
  HEARTH_TRY(inference.CheckRank(2, 2));
  const Shape &boxes = inference.shape(0), &scores = inference.shape(1), &anchors = inference.shape(2);
  if (boxes[0] != 1 || scores[0] != 1 || boxes[2] < 4 || anchors[1] != 4 || scores[1] != boxes[1] ||
      anchors[0] != boxes[1]) {
    return inference.Fail(StatusCode::kMalformedInput,
                          "boxes {}, scores {} and anchors {} don't belong together; they are 1xNx4, 1xNxC and Nx4",
                          boxes.ToString(), scores.ToString(), anchors.ToString());
  }
  const bool counts_fit = op.num_classes >= 1 && op.max_detections >= 1 && op.max_classes_per_detection >= 1 &&
                          op.detections_per_class >= 1;
  if (!counts_fit || (scores[2] != op.num_classes && scores[2] != op.num_classes + 1)) {
    return inference.Fail(StatusCode::kMalformedInput,
                          "{} classes in scores of shape {} (one more may be the background), {} detections of {} "
                          "classes each, {} per class",
                          op.num_classes, scores.ToString(), op.max_detections, op.max_classes_per_detection,
                          op.detections_per_class);
  }
  const int64_t rows = int64_t{op.max_detections} * op.max_classes_per_detection;
  HEARTH_TRY(inference.SetOutput(0, {1, rows, 4}));
  HEARTH_TRY(inference.SetOutput(1, {1, rows}));
  HEARTH_TRY(inference.SetOutput(2, {1, rows}));
  return inference.SetOutput(3, {1});
}

void ReferenceDetectionPostProcess(const Node& node, std::span<const ReferenceTensor* const> inputs,
                                   std::span<ReferenceTensor> outputs) {
  const auto& op = std::get<DetectionPostProcess>(node.op);
  const std::vector<Box> boxes = DecodeBoxes(op, *inputs[0], *inputs[2]);
  const Scores scores(op, *inputs[1]);
  const std::vector<Detection> detections =
      op.use_regular_nms ? DetectClassByClass(op, boxes, scores) : DetectByBestClass(op, boxes, scores);
  for (ReferenceTensor& output : outputs) std::fill(output.values.begin(), output.values.end(), 0.0);
  // The fast way leaves room for max_classes_per_detection classes of each box, however many there are.
  const size_t listed = std::min(op.max_classes_per_detection, op.num_classes);
  for (size_t k = 0; k < detections.size(); ++k) {
    const size_t row = op.use_regular_nms ? k : k / listed * op.max_classes_per_detection + k % listed;
    const Box& box = boxes[detections[k].box];
    const float corners[] = {box.ymin, box.xmin, box.ymax, box.xmax};
    std::copy(std::begin(corners), std::end(corners), &outputs[0].values[row * 4]);
    outputs[1].values[row] = detections[k].category;
    outputs[2].values[row] = detections[k].score;
  }
  outputs[3].values[0] = static_cast<double>(op.use_regular_nms ? detections.size() : detections.size() / listed);
}

}  // namespace hearth
