#include "core/ops/pad.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/ops/node_inference.h"

namespace hearth {

Status InferPad(Graph& graph, const Node& node) {
  const auto& pad = std::get<Pad>(node.op);
  const NodeInference inference(graph, node);
  HEARTH_TRY(inference.CheckOperands(1));
  const Shape& in = inference.shape(0);
  if (pad.before.rank() != in.rank() || pad.after.rank() != in.rank()) {
    return inference.Fail(StatusCode::kMalformedInput, "paddings for {} and {} dimensions, the input has {} ({})",
                          pad.before.rank(), pad.after.rank(), in.rank(), in.ToString());
  }
  std::vector<int64_t> dims;
  for (int d = 0; d < in.rank(); ++d) {
    if (pad.before[d] < 0 || pad.after[d] < 0) {
      return inference.Fail(StatusCode::kMalformedInput, "negative padding of dimension {}: {} before, {} after", d,
                            pad.before[d], pad.after[d]);
    }
    dims.push_back(int64_t{pad.before[d]} + in[d] + pad.after[d]);
  }
  return inference.SetOutput(0, dims);
}

void ReferencePad(const Node& node, std::span<const ReferenceTensor* const> inputs,
                  std::span<ReferenceTensor> outputs) {
  const auto& pad = std::get<Pad>(node.op);
  const ReferenceTensor& in = *inputs[0];
  ReferenceTensor& out = outputs[0];
  std::fill(out.values.begin(), out.values.end(), static_cast<double>(pad.value));
  const int rank = in.shape.rank();
  std::array<int64_t, Shape::kMaxRank> position{};  // of the input element
  for (double element : in.values) {
    int64_t to = 0;
    for (int d = 0; d < rank; ++d) to = to * out.shape[d] + pad.before[d] + position[d];
    out.values[to] = element;
    for (int d = rank - 1; d >= 0 && ++position[d] == in.shape[d]; --d) position[d] = 0;
  }
}

}  // namespace hearth
