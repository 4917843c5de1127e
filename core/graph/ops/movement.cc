#include <vector>

#include "core/graph/ops/coordinates.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"

namespace hearth {

Status InferTranspose(const NodeInference& inference) {
  const Shape& permutation = inference.op<Transpose>().permutation;
  HEARTH_TRY(inference.CheckKeepsType());
  const Shape& in = inference.shape(0);
  std::vector<int64_t> dims;
  uint32_t used = 0;
  for (int32_t from : permutation.dims()) {
    if (from < 0 || from >= in.rank()) break;
    used |= 1u << from;
    dims.push_back(in[from]);
  }
  if (permutation.rank() != in.rank() || used != (1u << in.rank()) - 1) {
    return inference.Malformed("{} is not a permutation of the {} dimensions of {}", permutation, in.rank(), in);
  }
  return inference.SetOutput(0, dims);
}

void ReferenceTranspose(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const Shape& permutation = std::get<Transpose>(node.op).permutation;
  MoveElements(*inputs[0], outputs[0], [&](const Coordinates& at) {
    Coordinates from{};
    for (int d = 0; d < permutation.rank(); ++d) from[permutation[d]] = at[d];
    return from;
  });
}

Status InferSlice(const NodeInference& inference) {
  const auto& slice = inference.op<Slice>();
  HEARTH_TRY(inference.CheckKeepsType());
  const Shape& in = inference.shape(0);
  if (slice.begin.rank() != in.rank() || slice.size.rank() != in.rank() || slice.strides.rank() != in.rank()) {
    return inference.Malformed("begin, size and strides for {}, {} and {} dimensions, not {}", slice.begin.rank(),
                               slice.size.rank(), slice.strides.rank(), in.rank());
  }
  for (int d = 0; d < in.rank(); ++d) {
    const int64_t first = slice.begin[d], last = first + (int64_t{slice.size[d]} - 1) * slice.strides[d];
    const bool inside = slice.size[d] == 0 || (first >= 0 && first < in[d] && last >= 0 && last < in[d]);
    if (slice.size[d] < 0 || !inside || slice.strides[d] == 0) {
      return inference.Malformed("{} elements from {} by {} of dimension {}, which has {}", slice.size[d],
                                 slice.begin[d], slice.strides[d], d, in[d]);
    }
  }
  const std::optional<int64_t> count = CheckedElementCount(slice.shape);
  if (!count || *count != slice.size.element_count())
    return inference.Malformed("a slice of {} can't be seen as {}", slice.size, slice.shape);
  return inference.SetOutput(0, slice.shape);
}

void ReferenceSlice(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& slice = std::get<Slice>(node.op);
  ReferenceTensor cut{slice.size, std::move(outputs[0].values)};
  MoveElements(*inputs[0], cut, [&](Coordinates at) {
    for (int d = 0; d < slice.begin.rank(); ++d) at[d] = slice.begin[d] + at[d] * slice.strides[d];
    return at;
  });
  outputs[0].values = std::move(cut.values);
}

Status InferTile(const NodeInference& inference) {
  const Shape& multiples = inference.op<Tile>().multiples;
  HEARTH_TRY(inference.CheckKeepsType());
  const Shape& in = inference.shape(0);
  if (multiples.rank() != in.rank()) {
    return inference.Malformed("multiples for {} dimensions, the input has {} ({})", multiples.rank(), in.rank(), in);
  }
  std::vector<int64_t> dims;
  for (int d = 0; d < in.rank(); ++d) dims.push_back(int64_t{in[d]} * multiples[d]);
  return inference.SetOutput(0, dims);
}

void ReferenceTile(const Node&, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const Shape& in = inputs[0]->shape;
  MoveElements(*inputs[0], outputs[0], [&](Coordinates at) {
    for (int d = 0; d < in.rank(); ++d) at[d] %= in[d];
    return at;
  });
}

Status InferBroadcastTo(const NodeInference& inference) {
  const Shape& shape = inference.op<BroadcastTo>().shape;
  HEARTH_TRY(inference.CheckKeepsType());
  const Shape& in = inference.shape(0);
  const int added = shape.rank() - in.rank();
  bool fits = added >= 0;
  for (int d = 0; fits && d < in.rank(); ++d) fits = in[d] == 1 || in[d] == shape[d + added];
  if (!fits) return inference.Malformed("{} can't be broadcast to {}", in, shape);
  return inference.SetOutput(0, shape);
}

void ReferenceBroadcastTo(const Node&, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const Shape& in = inputs[0]->shape;
  const int added = outputs[0].shape.rank() - in.rank();
  MoveElements(*inputs[0], outputs[0], [&](const Coordinates& at) {
    Coordinates from{};
    for (int d = 0; d < in.rank(); ++d) from[d] = in[d] == 1 ? 0 : at[d + added];
    return from;
  });
}

Status InferReverse(const NodeInference& inference) {
  const uint32_t mask = inference.op<Reverse>().axes_mask;
  HEARTH_TRY(inference.CheckKeepsType());
  const Shape& in = inference.shape(0);
  if (mask >> in.rank() != 0) return inference.Malformed("dimensions {:#b} (bits) of {} can't be reversed", mask, in);
  return inference.SetOutput(0, in);
}

void ReferenceReverse(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const uint32_t mask = std::get<Reverse>(node.op).axes_mask;
  const Shape& in = inputs[0]->shape;
  MoveElements(*inputs[0], outputs[0], [&](Coordinates at) {
    for (int d = 0; d < in.rank(); ++d) {
      if ((mask >> d & 1) != 0) at[d] = in[d] - 1 - at[d];
    }
    return at;
  });
}

Status InferReshape(const NodeInference& inference) {
  const Shape& shape = inference.op<Reshape>().shape;
  HEARTH_TRY(inference.CheckKeepsType());
  const std::optional<int64_t> count = CheckedElementCount(shape);
  if (!count || *count != inference.shape(0).element_count()) {
    return inference.Malformed("the input's {} elements ({}) can't take the shape {}",
                               inference.shape(0).element_count(), inference.shape(0), shape);
  }
  return inference.SetOutput(0, shape);
}

void ReferenceReshape(const Node& /*node*/, ReferenceInputs inputs, ReferenceOutputs outputs) {
  outputs[0].values = inputs[0]->values;
}

}  // namespace hearth
