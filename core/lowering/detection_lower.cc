// Detection postprocessing on the device: decodes boxes, suppresses overlapping ones, lists the best. The host reads a
// few numbers per detection instead of thousands of boxes with dozens of scores each.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "core/device/device_rules.h"
#include "core/graph/quantize.h"
#include "core/lowering/loop_iterations.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {
namespace {

// Limits of detection_suppress.kernel: work items of a group, and boxes in its memory (2560 words of 32).
constexpr uint32_t kMostDetectionLanes = 256, kFewestDetectionLanes = 16;
constexpr int64_t kMostDetectionBoxes = 2560 * 32;
// A group with more iterations would occupy a GPU for more than some milliseconds, and a group can't be split.
constexpr int64_t kMostIterationsOfAGroup = 100'000;
constexpr int64_t kMostDetectionPicks = 1 << 24;

struct DetectionSizes {
  int32_t boxes = 0, first = 0;  // first: the first class's column, after the background's
  int32_t classes = 0;
  int32_t groups = 0, picks = 0;  // picks of each group
  int32_t most = 0;               // how many of all groups' picks are listed
  int32_t rows = 0, each = 1, listed = 1;
};

DetectionSizes DetectionSizesOf(const Graph& graph, const Node& node) {
  const auto& op = std::get<DetectionPostProcess>(node.op);
  const Shape& scores = graph.value(node.inputs[1]).desc.shape;
  DetectionSizes sizes;
  sizes.boxes = scores[1];
  sizes.classes = op.num_classes;
  sizes.first = scores[2] - op.num_classes;
  sizes.groups = op.use_regular_nms ? op.num_classes : 1;
  const int32_t wanted = op.use_regular_nms ? std::min(op.detections_per_class, op.max_detections) : op.max_detections;
  sizes.picks = std::min(wanted, sizes.boxes);
  sizes.most = static_cast<int32_t>(std::min<int64_t>(op.max_detections, int64_t{sizes.groups} * sizes.picks));
  sizes.rows = op.max_detections * op.max_classes_per_detection;
  if (!op.use_regular_nms) {
    sizes.each = op.max_classes_per_detection;
    sizes.listed = std::min(op.max_classes_per_detection, op.num_classes);
  }
  return sizes;
}

// OpenCL reports a group's limit only for a compiled kernel: at most 64, which all other kernels need too.
int32_t DetectionLanes(const DeviceInfo& device) {
  uint32_t lanes = device.dialect == Dialect::kOpenCl ? 64 : kMostDetectionLanes;
  while (lanes > kFewestDetectionLanes && (lanes > device.max_local_invocations || lanes > device.max_local_size[0]))
    lanes /= 2;
  return static_cast<int32_t>(lanes);
}

// A call with a work item for each of `count` boxes or rows.
KernelCall DetectionLines(KernelName kernel, int32_t count, ScalarName total) {
  KernelCall call;
  call.kernel = kernel;
  call.scalars = {{total, count}};
  UseLines(count, 1, call);
  return call;
}

// One work group, as large as the device takes.
void ShareAmongLanes(const DeviceInfo& device, KernelCall& call) {
  const int32_t lanes = DetectionLanes(device);
  call.defines = {{"LANES", std::to_string(lanes)}};
  call.local_size = {static_cast<uint32_t>(lanes), 1, 1};
  call.work_items[0] = lanes;
}

// Appends the dispatches of one node; intermediate values are scratch.
class DetectionCalls {
 public:
  DetectionCalls(const Node& node, PlanBuilder& builder)
      : op_(std::get<DetectionPostProcess>(node.op)),
        node_(node),
        builder_(builder),
        sizes_(DetectionSizesOf(builder.graph(), node)),
        scores_(builder.Tensor(node.inputs[1])) {}

  Status Decode(Operand corners) {
    KernelCall call = DetectionLines("detection_boxes", sizes_.boxes, "BOXES");
    call.tensors = TensorsOf<kernels::DetectionBoxes>({{"codes", builder_.Tensor(node_.inputs[0])},
                                                       {"anchors", builder_.Tensor(node_.inputs[2])},
                                                       {"corners", corners}});
    call.scalars.insert(
        call.scalars.end(),
        {{"Y_SCALE", op_.y_scale}, {"X_SCALE", op_.x_scale}, {"H_SCALE", op_.h_scale}, {"W_SCALE", op_.w_scale}});
    return builder_.Call(node_, call);
  }

  Status TakeBestScores(Operand best) {
    KernelCall call = DetectionLines("detection_scores", sizes_.boxes, "BOXES");
    call.tensors = TensorsOf<kernels::DetectionScores>({{"scores", scores_}, {"best", best}});
    call.scalars.insert(call.scalars.end(), {{"FIRST", sizes_.first}, {"LAST", sizes_.first + sizes_.classes}});
    return builder_.Call(node_, call);
  }

  // Suppresses boxes for the classes in `scores`, whose first one is in column `first`.
  Status Suppress(Operand corners, Operand scores, int32_t first, Operand picks) {
    KernelCall call = CallOf<kernels::DetectionSuppress>({{"corners", corners}, {"scores", scores}, {"picks", picks}});
    ShareAmongLanes(builder_.device(), call);
    const int32_t lanes = static_cast<int32_t>(call.work_items[0]);
    call.work_items[1] = sizes_.groups;
    call.scalars = {{"BOXES", sizes_.boxes},
                    {"TURNS", (sizes_.boxes + lanes - 1) / lanes},
                    {"FIRST", first},
                    {"MOST", sizes_.picks},
                    {"LEAST", op_.score_threshold},
                    {"COVERED", op_.iou_threshold}};
    return builder_.Call(node_, call);
  }

  Status Merge(Operand picks, Operand best_picks) {
    KernelCall call =
        CallOf<kernels::DetectionMerge>({{"picks", picks}, {"scores", scores_}, {"best_picks", best_picks}});
    ShareAmongLanes(builder_.device(), call);
    call.scalars = {{"BOXES", sizes_.boxes},
                    {"FIRST", sizes_.first},
                    {"ENTRIES", sizes_.groups * sizes_.picks},
                    {"MOST", sizes_.most}};
    return builder_.Call(node_, call);
  }

  Status List(Operand corners, Operand picks) {
    KernelCall boxes = DetectionLines("detection_corners", sizes_.rows, "ROWS");
    boxes.tensors = TensorsOf<kernels::DetectionCorners>({{"picks", picks},
                                                          {"corners", corners},
                                                          {"boxes", builder_.Tensor(node_.outputs[0])},
                                                          {"count", builder_.Tensor(node_.outputs[3])}});
    boxes.scalars.insert(boxes.scalars.end(),
                         {{"MOST", sizes_.most}, {"EACH", sizes_.each}, {"LISTED", sizes_.listed}});
    HEARTH_TRY(builder_.Call(node_, boxes));
    KernelCall classes = CallOf<kernels::DetectionClasses>({{"picks", picks},
                                                            {"scores", scores_},
                                                            {"classes", builder_.Tensor(node_.outputs[1])},
                                                            {"values", builder_.Tensor(node_.outputs[2])}});
    classes.defines = {{"CHOSEN", op_.use_regular_nms ? "1" : "0"}};
    classes.scalars = {{"BOXES", sizes_.boxes},  {"FIRST", sizes_.first}, {"CLASSES", sizes_.classes},
                       {"ROWS", sizes_.rows},    {"MOST", sizes_.most},   {"EACH", sizes_.each},
                       {"LISTED", sizes_.listed}};
    classes.work_items = {(sizes_.rows + 3) / 4, 1, 1};
    return builder_.Call(node_, classes);
  }

  Status All() {
    const Operand corners = Scratch(DType::kFloat32, {sizes_.boxes, 4});
    const Operand picks = Scratch(DType::kInt32, {sizes_.groups * sizes_.picks, 4});
    HEARTH_TRY(Decode(corners));
    if (!op_.use_regular_nms) {
      const Operand best = Scratch(DType::kFloat32, {sizes_.boxes, 1});
      HEARTH_TRY(TakeBestScores(best));
      HEARTH_TRY(Suppress(corners, best, 0, picks));
      return List(corners, picks);
    }
    const Operand best_picks = Scratch(DType::kInt32, {sizes_.most, 4});
    HEARTH_TRY(Suppress(corners, scores_, sizes_.first, picks));
    HEARTH_TRY(Merge(picks, best_picks));
    return List(corners, best_picks);
  }

 private:
  Operand Scratch(DType dtype, const Shape& shape) { return builder_.Tensor(builder_.Scratch({dtype, shape, {}})); }

  const DetectionPostProcess& op_;
  const Node& node_;
  PlanBuilder& builder_;
  const DetectionSizes sizes_;
  const Operand scores_;
};

}  // namespace

int64_t DetectionIterations(const Graph& graph, const Node& node) {
  constexpr int64_t kLanes = 64;
  const DetectionSizes sizes = DetectionSizesOf(graph, node);
  const int64_t suppressing = int64_t{sizes.picks} * (sizes.boxes / kLanes + 32);
  const int64_t entries = int64_t{sizes.groups} * sizes.picks;
  const int64_t merging = sizes.most * (entries / kLanes + 32);
  const int64_t listing = int64_t{sizes.listed} * (sizes.classes + 3);
  return std::max({suppressing + sizes.boxes / kLanes, merging, listing});
}

std::optional<std::string> DetectionPostProcessUnsupported(const Graph& graph, const Node& node,
                                                           const Placing& placing) {
  if (!Applies(Rule::kDeviceDetections, placing.device)) return "on this driver the CPU picks detections sooner";
  if (auto reason = NotReal(graph, node, placing)) return reason;
  for (ValueId output : node.outputs) {
    if (IsQuantized(graph.value(output).desc)) return "a result of it is quantized";
  }
  const DetectionSizes sizes = DetectionSizesOf(graph, node);
  if (sizes.boxes > kMostDetectionBoxes)
    return fmt::format("it has {} boxes, its kernel takes {}", sizes.boxes, kMostDetectionBoxes);
  if (int64_t{sizes.groups} * sizes.picks > kMostDetectionPicks)
    return fmt::format("{} picks of {} classes each are too many for its kernel", sizes.picks, sizes.groups);
  if (const int64_t iterations = DetectionIterations(graph, node); iterations > kMostIterationsOfAGroup)
    return fmt::format("one work group would take {} turns, more than {}", iterations, kMostIterationsOfAGroup);
  return std::nullopt;
}

Status LowerDetectionPostProcess(const Node& node, PlanBuilder& builder) {
  return DetectionCalls(node, builder).All();
}

}  // namespace hearth
