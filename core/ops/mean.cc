#include "core/ops/mean.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/ops/node_inference.h"

namespace hearth {
namespace {

bool IsReduced(const Mean& mean, int dimension) {
  return ((mean.axes_mask >> dimension) & 1u) != 0;
}

}  // namespace

Status InferMean(Graph& graph, const Node& node) {
  const auto& mean = std::get<Mean>(node.op);
  const NodeInference inference(graph, node);
  HEARTH_TRY(inference.CheckOperands(1));
  HEARTH_TRY(inference.CheckReal(0));
  const Shape& in = inference.shape(0);
  if ((mean.axes_mask >> in.rank()) != 0) {
    return inference.Fail(StatusCode::kMalformedInput, "an axis lies outside of rank {} ({})", in.rank(),
                          in.ToString());
  }
  std::vector<int64_t> dims;
  for (int d = 0; d < in.rank(); ++d) {
    if (!IsReduced(mean, d)) dims.push_back(in[d]);
    if (IsReduced(mean, d) && mean.keep_dims) dims.push_back(1);
  }
  return inference.SetOutput(0, dims);
}

void ReferenceMean(const Node& node, std::span<const ReferenceTensor* const> inputs,
                   std::span<ReferenceTensor> outputs) {
  const auto& mean = std::get<Mean>(node.op);
  const ReferenceTensor& in = *inputs[0];
  ReferenceTensor& out = outputs[0];
  const int rank = in.shape.rank();
  std::array<int64_t, Shape::kMaxRank> position{};
  std::fill(out.values.begin(), out.values.end(), 0.0);
  for (double element : in.values) {
    int64_t to = 0;
    for (int d = 0; d < rank; ++d) {
      if (!IsReduced(mean, d)) to = to * in.shape[d] + position[d];
    }
    out.values[to] += element;
    for (int d = rank - 1; d >= 0 && ++position[d] == in.shape[d]; --d) position[d] = 0;
  }
  const double count = static_cast<double>(in.values.size()) / static_cast<double>(out.values.size());
  for (double& sum : out.values) sum /= count;
}

}  // namespace hearth
