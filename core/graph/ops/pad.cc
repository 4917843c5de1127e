#include <algorithm>
#include <vector>

#include "core/graph/ops/coordinates.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"

namespace hearth {

namespace {

// The shape of `in` with `before` and `after` around it.
Status InferPadded(const NodeInference& inference, const Shape& before, const Shape& after) {
  HEARTH_TRY(inference.CheckKeepsType());
  const Shape& in = inference.shape(0);
  if (before.rank() != in.rank() || after.rank() != in.rank()) {
    return inference.Malformed("paddings for {} and {} dimensions, the input has {} ({})", before.rank(), after.rank(),
                               in.rank(), in);
  }
  std::vector<int64_t> dims;
  for (int d = 0; d < in.rank(); ++d) {
    if (before[d] < 0 || after[d] < 0)
      return inference.Malformed("negative padding of dimension {}: {} before, {} after", d, before[d], after[d]);
    dims.push_back(int64_t{before[d]} + in[d] + after[d]);
  }
  return inference.SetOutput(0, dims);
}

}  // namespace

Status InferPad(const NodeInference& inference) {
  const auto& pad = inference.op<Pad>();
  return InferPadded(inference, pad.before, pad.after);
}

void ReferencePad(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& pad = std::get<Pad>(node.op);
  const ReferenceTensor& in = *inputs[0];
  ReferenceTensor& out = outputs[0];
  std::fill(out.values.begin(), out.values.end(), pad.value);
  Coordinates at{};
  for (double element : in.values) {
    Coordinates to = at;
    for (int d = 0; d < in.shape.rank(); ++d) to[d] += pad.before[d];
    out.values[IndexOf(out.shape, to)] = element;
    Advance(in.shape, at);
  }
}

Status InferMirrorPad(const NodeInference& inference) {
  const auto& pad = inference.op<MirrorPad>();
  HEARTH_TRY(InferPadded(inference, pad.before, pad.after));
  const Shape& in = inference.shape(0);
  for (int d = 0; d < in.rank(); ++d) {
    const int32_t most = pad.symmetric ? in[d] : std::max(in[d] - 1, 0);
    if (pad.before[d] > most || pad.after[d] > most) {
      return inference.Malformed("{} before and {} after dimension {}; its mirror image has {}", pad.before[d],
                                 pad.after[d], d, most);
    }
  }
  return Status::Ok();
}

int64_t MirroredCoordinate(const MirrorPad& pad, int d, int64_t at, int64_t size) {
  const int64_t repeats = pad.symmetric ? 1 : 0;  // whether the outermost element is repeated
  at -= pad.before[d];
  if (at < 0) at = -at - repeats;
  return at < size ? at : 2 * (size - 1) + repeats - at;
}

void ReferenceMirrorPad(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& pad = std::get<MirrorPad>(node.op);
  const Shape& in = inputs[0]->shape;
  MoveElements(*inputs[0], outputs[0], [&](Coordinates at) {
    for (int d = 0; d < in.rank(); ++d) at[d] = MirroredCoordinate(pad, d, at[d], in[d]);
    return at;
  });
}

}  // namespace hearth
