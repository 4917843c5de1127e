// Non-maximum suppression, in float32 like TFLite's kernel: whether two boxes overlap enough depends on the last bit.
#include <algorithm>
#include <array>
#include <cmath>
#include <queue>
#include <vector>

#include "core/graph/ops/detection.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"

namespace hearth {
namespace {

CornerBox BoxAt(const ReferenceTensor& boxes, size_t index) {
  std::array<float, 4> corners{};
  std::copy_n(boxes.values.begin() + static_cast<int64_t>(4 * index), 4, corners.begin());
  return {std::min(corners[0], corners[2]), std::min(corners[1], corners[3]), std::max(corners[0], corners[2]),
          std::max(corners[1], corners[3])};
}

struct ScoredBox {
  size_t index = 0;
  float score = 0;
  size_t compared = 0;  // with so many of the boxes that were taken
};

}  // namespace

Status InferNonMaxSuppression(const NodeInference& inference) {
  const auto& op = inference.op<NonMaxSuppression>();
  const bool has_scores = inference.HasInput(4);
  HEARTH_TRY(inference.CheckOperands({4, 1, has_scores ? size_t{3} : size_t{2}}));
  const size_t operands = has_scores ? 5 : 4, count = has_scores ? 2 : 1;
  for (size_t i = 0; i < operands; ++i) HEARTH_TRY(inference.CheckReal(i));
  const Shape &boxes = inference.shape(0), &scores = inference.shape(1);
  const bool are_numbers = [&] {
    for (size_t i = 2; i < operands; ++i) {
      if (inference.shape(i).element_count() != 1) return false;
    }
    return true;
  }();
  if (boxes.rank() != 2 || boxes[1] != 4 || scores != Shape{boxes[0]} || op.most < 0 || !are_numbers) {
    return inference.Malformed("boxes of shape {} with scores of shape {}, {} of them", boxes, scores, op.most);
  }
  inference.SetOutputType(0, DType::kInt32);
  HEARTH_TRY(inference.SetOutput(0, {op.most}));
  if (has_scores) {
    inference.SetOutputType(1, DType::kFloat32);
    HEARTH_TRY(inference.SetOutput(1, {op.most}));
  }
  inference.SetOutputType(count, DType::kInt32);
  return inference.SetOutput(count, Shape());
}

void ReferenceNonMaxSuppression(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& op = std::get<NonMaxSuppression>(node.op);
  const ReferenceTensor &boxes = *inputs[0], &scores = *inputs[1];
  const auto number = [&](size_t i) { return static_cast<float>(inputs[i]->values[0]); };
  const float least_overlap = number(2), least_score = number(3);
  const bool has_scores = inputs.size() > 4 && inputs[4] != nullptr;
  const float sigma = has_scores ? number(4) : 0;
  // The heap of the C++ library decides the order of equal scores, as it does in TFLite.
  const auto is_worse = [&](const ScoredBox& a, const ScoredBox& b) {
    return a.score < b.score || (op.lower_index_first && a.score == b.score && a.index > b.index);
  };
  std::priority_queue<ScoredBox, std::vector<ScoredBox>, decltype(is_worse)> queue(is_worse);
  for (size_t i = 0; i < scores.values.size(); ++i) {
    const auto score = static_cast<float>(scores.values[i]);
    if (score > least_score) queue.push({i, score});
  }
  const size_t most = std::min(static_cast<size_t>(op.most), scores.values.size());
  std::vector<ScoredBox> taken;
  std::vector<CornerBox> taken_boxes;
  while (!queue.empty() && taken.size() < most) {
    ScoredBox best = queue.top();
    queue.pop();
    const float score = best.score;
    const CornerBox box = BoxAt(boxes, best.index);
    bool is_covered = false;
    for (size_t k = taken.size(); k > best.compared && !is_covered && best.score > least_score; --k) {
      const float overlap = OverlapOf(box, taken_boxes[k - 1]);
      is_covered = overlap >= least_overlap;
      if (!is_covered && sigma > 0) best.score *= std::exp(-0.5f / sigma * overlap * overlap);
    }
    if (is_covered) continue;
    best.compared = taken.size();
    const bool is_taken = best.score == score;
    if (is_taken) {
      taken.push_back(best);
      taken_boxes.push_back(box);
    }
    // TFLite puts back a box that it took too. The box covers itself when it comes again, unless it has no area, but it
    // has moved the others in the heap.
    if (best.score > least_score && !(is_taken && op.lower_index_first)) queue.push(best);
  }
  for (size_t k = 0; k < taken.size(); ++k) {
    outputs[0].values[k] = static_cast<double>(taken[k].index);
    if (has_scores) outputs[1].values[k] = taken[k].score;
  }
  outputs.back().values[0] = static_cast<double>(taken.size());
}

}  // namespace hearth
