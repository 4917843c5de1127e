// Detections that a device picks are those of the reference: the same boxes in the same order, with the same classes
// and scores, whatever ties there are.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/base/contains.h"
#include "core/device/device_rules.h"
#include "core/graph/evaluate.h"
#include "core/lowering/lower.h"
#include "hal/programs/load_or_compile.h"
#include "hal/run/plan_runs.h"
#include "runtime/devices/device_choice.h"

namespace hearth {
namespace {

struct DetectionProblem {
  const char* name;
  DetectionPostProcess op;
  int boxes = 1, coordinates = 4, background = 0;
  int score_levels = 1000;  // few: ties
  int places = 64;          // where anchors stand, in each direction; few: boxes that lie on each other
  int without_number = 0;   // of so many scores the last is NaN; 0: none is
};

DetectionPostProcess DetectionOp(int classes, bool regular = false) {
  return {.max_detections = 10,
          .detections_per_class = 100,
          .num_classes = classes,
          .use_regular_nms = regular,
          .score_threshold = 1e-8f,
          .iou_threshold = 0.6f,
          .y_scale = 10,
          .x_scale = 10,
          .h_scale = 5,
          .w_scale = 5};
}

DetectionPostProcess With(DetectionPostProcess op, void (*change)(DetectionPostProcess&)) {
  change(op);
  return op;
}

std::vector<DetectionProblem> Problems() {
  using P = DetectionPostProcess&;
  return {
      {"a network's", DetectionOp(90), 1917, 4, 1},
      {"a network's, class by class", DetectionOp(90, true), 1917, 4, 1},
      {"more boxes than 32 a work item", DetectionOp(3), 9001, 4, 0, 50},
      {"the same, class by class", With(DetectionOp(3, true), [](P op) { op.max_detections = 40; }), 9001, 4, 1, 1000,
       300},
      {"many ties", With(DetectionOp(5), [](P op) { op.max_detections = 60; }), 400, 4, 0, 7, 12},
      {"many ties, class by class", With(DetectionOp(5, true), [](P op) { op.max_detections = 60; }), 400, 4, 1, 7, 12},
      {"few of each class", With(DetectionOp(6, true), [](P op) { op.detections_per_class = 2; }), 300, 4, 0, 11},
      {"two classes each", With(DetectionOp(6), [](P op) { op.max_classes_per_detection = 2; }), 300, 4, 1, 11},
      {"two classes each, some without a number", With(DetectionOp(6), [](P op) { op.max_classes_per_detection = 2; }),
       300, 4, 1, 11, 64, 3},
      {"class by class, some without a number", With(DetectionOp(6, true), [](P op) { op.max_detections = 40; }), 300,
       4, 1, 11, 64, 3},
      {"more classes each than there are", With(DetectionOp(2), [](P op) { op.max_classes_per_detection = 3; }), 30, 4,
       0, 5},
      {"several classes each, class by class",
       With(DetectionOp(4, true), [](P op) { op.max_classes_per_detection = 3; }), 100, 4, 1, 5},
      {"more detections than boxes", With(DetectionOp(3), [](P op) { op.max_detections = 20; }), 7, 4, 0},
      {"one box", DetectionOp(1), 1, 4, 0},
      {"one box, class by class", DetectionOp(1, true), 1, 4, 1},
      {"nothing above the threshold", With(DetectionOp(3), [](P op) { op.score_threshold = 2; }), 100, 4, 0},
      {"nothing above it, class by class", With(DetectionOp(3, true), [](P op) { op.score_threshold = 2; }), 100, 4, 0},
      {"some above it", With(DetectionOp(3), [](P op) { op.score_threshold = 0.97f; }), 100, 4, 0},
      {"boxes that cover each other wholly", With(DetectionOp(1), [](P op) { op.iou_threshold = 1; }), 200, 4, 0, 9, 2},
      {"any overlap", With(DetectionOp(2), [](P op) { op.iou_threshold = 0; }), 500, 4, 0, 30},
      {"every box covers every other", With(DetectionOp(2), [](P op) { op.iou_threshold = -1; }), 50, 4, 0, 30},
      {"encodings with key points", DetectionOp(1), 896, 16, 0, 200},
  };
}

// All numbers are exact in float16 too. Anchors without an area are among them, and encodings of zero, whose boxes are
// the anchors.
std::vector<ReferenceTensor> InputsOf(const DetectionProblem& problem) {
  std::minstd_rand random(static_cast<uint32_t>(problem.boxes * 31 + problem.op.num_classes));
  const auto below = [&](int end) { return static_cast<double>(random() % static_cast<uint32_t>(end)); };
  const int columns = problem.op.num_classes + problem.background;
  std::vector<ReferenceTensor> inputs = {
      {{1, problem.boxes, problem.coordinates}, {}}, {{1, problem.boxes, columns}, {}}, {{problem.boxes, 4}, {}}};
  for (int box = 0; box < problem.boxes; ++box) {
    const bool is_anchor = box % 3 == 0;
    for (int k = 0; k < problem.coordinates; ++k) inputs[0].values.push_back(is_anchor ? 0 : (below(129) - 64) / 32);
    for (int k = 0; k < columns; ++k) {
      const double score = below(problem.score_levels) / 1024;
      const size_t number = inputs[1].values.size() + 1;
      const bool is_nan = problem.without_number != 0 && number % static_cast<size_t>(problem.without_number) == 0;
      inputs[1].values.push_back(is_nan ? std::numeric_limits<double>::quiet_NaN() : score);
    }
    for (int k = 0; k < 2; ++k) inputs[2].values.push_back(below(problem.places) / 64);
    for (int k = 0; k < 2; ++k) inputs[2].values.push_back(box % 17 == 16 ? 0 : (1 + below(4)) / 16);
  }
  return inputs;
}

// Three boxes of 1 by 3, each one further right than the one before: neighbours share exactly half of what both cover.
std::vector<ReferenceTensor> HalfOverlaps() {
  return {{{1, 3, 4}, std::vector<double>(12, 0.0)},
          {{1, 3, 1}, {0.5, 0.75, 0.25}},
          {{3, 4}, {2, 2, 1, 3, 2, 3, 1, 3, 2, 4, 1, 3}}};
}

Graph GraphOf(const DetectionPostProcess& op, const std::vector<ReferenceTensor>& inputs) {
  Graph graph;
  Node node{.op = op, .name = "post"};
  for (size_t k = 0; k < 2; ++k)
    graph.inputs.push_back(graph.AddValue({.name = "in", .desc = {.shape = inputs[k].shape}}));
  node.inputs = graph.inputs;
  std::vector<std::byte> anchors(inputs[2].values.size() * sizeof(float));
  const TensorDesc desc{DType::kFloat32, inputs[2].shape, {}};
  EXPECT_TRUE(ReferenceToBytes(inputs[2], desc, anchors).ok());
  node.inputs.push_back(graph.AddConstantValue("anchors", desc, std::move(anchors)));
  for (int k = 0; k < 4; ++k) node.outputs.push_back(graph.AddValue({.name = "out"}));
  graph.outputs = node.outputs;
  graph.AddNode(std::move(node));
  EXPECT_TRUE(InferShapes(graph).ok());
  return graph;
}

struct Lowered {
  std::string name;
  Graph graph;
  std::vector<ReferenceTensor> inputs;
  Plan plan;
};

std::vector<std::vector<double>> Run(const Lowered& lowered, Device& device, std::vector<Program*> programs) {
  const Result<ReadyPlan> ready =
      MakePlanReady(Plan(lowered.plan), {.device = &device, .programs = std::move(programs)});
  EXPECT_TRUE(ready.ok()) << ready.status().message();
  std::vector<std::vector<std::byte>> inputs, outputs;
  std::vector<std::span<const std::byte>> input_spans;
  std::vector<std::span<std::byte>> output_spans;
  for (size_t k = 0; k < 2; ++k) {
    const TensorDesc& desc = lowered.graph.value(lowered.graph.inputs[k]).desc;
    inputs.emplace_back(desc.size_bytes());
    EXPECT_TRUE(ReferenceToBytes(lowered.inputs[k], desc, inputs.back()).ok());
  }
  for (ValueId value : lowered.graph.outputs) outputs.emplace_back(lowered.graph.value(value).desc.size_bytes());
  input_spans.assign(inputs.begin(), inputs.end());
  output_spans.assign(outputs.begin(), outputs.end());
  if (!ready.ok()) return {};
  const Status ran = ready->runs->Run(input_spans, output_spans);
  EXPECT_TRUE(ran.ok()) << ran.message();
  std::vector<std::vector<double>> values;
  for (size_t k = 0; k < outputs.size(); ++k)
    values.push_back(ReferenceFromBytes(lowered.graph.value(lowered.graph.outputs[k]).desc, outputs[k])->values);
  return values;
}

// Boxes are off by what decoding rounds: five operations and an exponential of a number below 1, which GLSL gives to
// within 5 steps of float32. They are held in 32 bits whatever the precision.
void ExpectTheReferences(const Lowered& lowered, const std::vector<std::vector<double>>& answer) {
  std::vector<ReferenceTensor> inputs(lowered.inputs.begin(), lowered.inputs.begin() + 2);
  const auto reference = EvaluateGraph(lowered.graph, inputs);
  ASSERT_TRUE(reference.ok()) << reference.status().message();
  ASSERT_EQ(answer.size(), 4u);
  EXPECT_EQ(answer[3], (*reference)[3].values) << lowered.name << ": the number of detections";
  EXPECT_EQ(answer[1], (*reference)[1].values) << lowered.name << ": classes";
  EXPECT_EQ(answer[2], (*reference)[2].values) << lowered.name << ": scores";
  for (size_t k = 0; k < answer[0].size(); ++k) {
    const double wanted = (*reference)[0].values[k];
    ASSERT_NEAR(answer[0][k], wanted, 10 * 0x1p-23 * std::max(1.0, std::abs(wanted)))
        << lowered.name << ": corner " << k;
  }
}

void ExpectTheReferencesDetections(Device& device, DeviceInfo info, const LowerOptions& options) {
  info.forced_rules = ForcedRulesFromText("+device_detections").value();
  std::vector<Lowered> all;
  for (const DetectionProblem& problem : Problems()) {
    std::vector<ReferenceTensor> inputs = InputsOf(problem);
    all.push_back({problem.name, GraphOf(problem.op, inputs), std::move(inputs), {}});
  }
  const DetectionPostProcess half = {.max_detections = 3, .score_threshold = 0.1f, .iou_threshold = 0.5f};
  all.push_back({"overlaps of exactly the threshold", GraphOf(half, HalfOverlaps()), HalfOverlaps(), {}});
  std::vector<KernelSource> kernels;
  for (Lowered& lowered : all) {
    Result<Plan> plan = Lower(lowered.graph, info, options);
    ASSERT_TRUE(plan.ok()) << lowered.name << ": " << plan.status().message();
    EXPECT_TRUE(plan->fallbacks.empty()) << lowered.name << ": " << plan->fallbacks[0].reason;
    lowered.plan = std::move(plan).value();
    for (const KernelSource& kernel : lowered.plan.kernels) {
      if (!Contains(kernels, kernel)) kernels.push_back(kernel);
    }
  }
  const Result<LoadedPrograms> programs = LoadOrCompile(device, kernels, nullptr, 2);
  ASSERT_TRUE(programs.ok()) << programs.status().message();
  for (const Lowered& lowered : all) {
    std::vector<Program*> own;
    for (const KernelSource& kernel : lowered.plan.kernels)
      own.push_back(programs->by_kernel[std::ranges::find(kernels, kernel) - kernels.begin()]);
    ExpectTheReferences(lowered, Run(lowered, device, std::move(own)));
  }
}

class DetectionKernels : public ::testing::TestWithParam<std::string> {};

TEST_P(DetectionKernels, PickWhatTheReferencePicks) {
  const Result<OpenedDevice> opened = OpenChosenDevice(GetParam());
  if (!opened.ok()) GTEST_SKIP() << opened.status().message();
  ExpectTheReferencesDetections(*opened->device, opened->info, {});
}

TEST_P(DetectionKernels, PickTheSameAsAGpu) {
  const Result<OpenedDevice> opened = OpenSimulatedDevice(GetParam(), "navi21");
  if (!opened.ok()) GTEST_SKIP() << opened.status().message();
  ExpectTheReferencesDetections(*opened->device, opened->info, {});
}

TEST_P(DetectionKernels, PickTheSameInGroupsOf16AndWith16BitStorage) {
  const Result<OpenedDevice> opened = OpenChosenDevice(GetParam());
  if (!opened.ok()) GTEST_SKIP() << opened.status().message();
  DeviceInfo info = opened->info;
  info.max_local_invocations = 16;
  LowerOptions options{.precision = Precision::kFp16};
  ExpectTheReferencesDetections(*opened->device, info, options);
}

// A build without GPU backends has nothing to instantiate this with.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DetectionKernels);
INSTANTIATE_TEST_SUITE_P(Devices, DetectionKernels, ::testing::ValuesIn(BackendNames()),
                         [](const auto& device) { return device.param; });

}  // namespace
}  // namespace hearth
