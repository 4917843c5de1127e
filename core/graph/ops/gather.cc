#include <algorithm>
#include <vector>

#include "core/graph/op_def.h"
#include "core/graph/ops/axis_split.h"
#include "core/graph/ops/coordinates.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

int64_t Nearest(double index, int64_t length) {
  return static_cast<int64_t>(std::clamp(index, 0.0, static_cast<double>(length - 1)));
}

Status CheckSomethingToTake(const NodeInference& inference, const Shape& out) {
  if (inference.shape(0).element_count() > 0 || out.element_count() == 0) return Status::Ok();
  return inference.Malformed("there is nothing to take from x of shape {}", inference.shape(0));
}

}  // namespace

GatherSplit SplitGather(const Gather& gather, const Shape& x, const Shape& indices) {
  const int axis = *AxisFromFront(gather.axis, x.rank());
  const int batch_dims = *AxisFromFront(gather.batch_dims, indices.rank() + 1);
  return {CountBetween(x, 0, batch_dims),
          CountBetween(x, batch_dims, axis),
          x[axis],
          CountBetween(x, axis + 1, x.rank()),
          CountBetween(indices, batch_dims, indices.rank()),
          axis == x.rank() - 1};
}

Status InferGather(const NodeInference& inference) {
  const auto& gather = inference.op<Gather>();
  HEARTH_TRY(inference.CheckIntegers(1));
  const Shape &x = inference.shape(0), &indices = inference.shape(1);
  const std::optional<int> axis = AxisFromFront(gather.axis, x.rank());
  // A negative batch_dims counts from the rank of the indices, so -1 is rank - 1.
  const std::optional<int> batch_dims = gather.batch_dims < 0 ? AxisFromFront(gather.batch_dims, indices.rank())
                                                              : AxisFromFront(gather.batch_dims, indices.rank() + 1);
  if (!axis || !batch_dims || *batch_dims > *axis) {
    return inference.Malformed("axis {} and batch_dims {} do not fit x {} and indices {}", gather.axis,
                               gather.batch_dims, x, indices);
  }
  for (int d = 0; d < *batch_dims; ++d) {
    if (x[d] == indices[d]) continue;
    return inference.Malformed("batch dimension {} is {} in x and {} in indices", d, x[d], indices[d]);
  }
  std::vector<int64_t> dims(x.dims().begin(), x.dims().begin() + *axis);
  dims.insert(dims.end(), indices.dims().begin() + *batch_dims, indices.dims().end());
  dims.insert(dims.end(), x.dims().begin() + *axis + 1, x.dims().end());
  HEARTH_TRY(inference.SetOutput(0, dims));
  HEARTH_TRY(CheckSomethingToTake(inference, inference.output(0).shape));
  // A table of quantized weights, or halves, may be looked up as floats.
  const DType out = inference.output(0).dtype, in = inference.input(0).dtype;
  const bool dequantizes = (IsQuantized(inference.input(0)) && (out == DType::kFloat32 || out == DType::kFloat16)) ||
                           (in == DType::kFloat16 && out == DType::kFloat32);
  return dequantizes ? Status::Ok() : inference.SetOutputTypeOf(0, 0);
}

void ReferenceGather(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const ReferenceTensor &x = *inputs[0], &indices = *inputs[1];
  const GatherSplit split = SplitGather(std::get<Gather>(node.op), x.shape, indices.shape);
  double* out = outputs[0].values.data();
  for (int64_t batch = 0; batch < split.batches; ++batch) {
    for (int64_t outer = 0; outer < split.outer; ++outer) {
      for (int64_t m = 0; m < split.count; ++m) {
        const int64_t index = Nearest(indices.values[batch * split.count + m], split.length);
        const int64_t slice = (batch * split.outer + outer) * split.length + index;
        out = std::copy_n(x.values.data() + slice * split.inner, split.inner, out);
      }
    }
  }
}

Status InferGatherNd(const NodeInference& inference) {
  HEARTH_TRY(inference.CheckIntegers(1));
  const Shape &x = inference.shape(0), &indices = inference.shape(1);
  if (indices.rank() < 1) return inference.Malformed("the indices are a scalar, need at least rank 1");
  const int depth = indices[indices.rank() - 1];
  if (depth < 1 || depth > x.rank()) return inference.Malformed("indices of {} numbers for x of shape {}", depth, x);
  std::vector<int64_t> dims(indices.dims().begin(), indices.dims().end() - 1);
  dims.insert(dims.end(), x.dims().begin() + depth, x.dims().end());
  HEARTH_TRY(inference.SetOutput(0, dims));
  HEARTH_TRY(CheckSomethingToTake(inference, inference.output(0).shape));
  return inference.SetOutputTypeOf(0, 0);
}

void ReferenceGatherNd(const Node& /*node*/, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const ReferenceTensor &x = *inputs[0], &indices = *inputs[1];
  const int depth = indices.shape[indices.shape.rank() - 1];
  const int64_t inner = CountBetween(x.shape, depth, x.shape.rank());
  double* out = outputs[0].values.data();
  for (size_t row = 0; row < indices.values.size(); row += static_cast<size_t>(depth)) {
    int64_t slice = 0;
    for (int d = 0; d < depth; ++d) slice = slice * x.shape[d] + Nearest(indices.values[row + d], x.shape[d]);
    out = std::copy_n(x.values.data() + slice * inner, inner, out);
  }
}

OneHotSplit SplitOneHot(const OneHot& one_hot, const Shape& indices) {
  const int axis = *AxisFromFront(one_hot.axis, indices.rank() + 1);
  return {CountBetween(indices, 0, axis), CountBetween(indices, axis, indices.rank())};
}

Status InferOneHot(const NodeInference& inference) {
  const auto& one_hot = inference.op<OneHot>();
  HEARTH_TRY(inference.CheckIntegers(0));
  const Shape& indices = inference.shape(0);
  const std::optional<int> axis = AxisFromFront(one_hot.axis, indices.rank() + 1);
  if (!axis || one_hot.depth < 0)
    return inference.Malformed("depth {} at axis {} of indices {}", one_hot.depth, one_hot.axis, indices);
  for (size_t i : {1, 2}) {
    if (inference.shape(i).element_count() == 1) continue;
    return inference.Malformed("input {} has shape {}, needs one element", i, inference.shape(i));
  }
  if (inference.input(1).dtype != inference.input(2).dtype) {
    return inference.Malformed("the values are {} and {}, need one type", DTypeName(inference.input(1).dtype),
                               DTypeName(inference.input(2).dtype));
  }
  std::vector<int64_t> dims(indices.dims().begin(), indices.dims().end());
  dims.insert(dims.begin() + *axis, one_hot.depth);
  HEARTH_TRY(inference.SetOutput(0, dims));
  return inference.SetOutputTypeOf(0, 1);
}

void ReferenceOneHot(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& one_hot = std::get<OneHot>(node.op);
  const ReferenceTensor& indices = *inputs[0];
  const OneHotSplit split = SplitOneHot(one_hot, indices.shape);
  double* out = outputs[0].values.data();
  for (int64_t prefix = 0; prefix < split.prefix; ++prefix) {
    for (int64_t d = 0; d < one_hot.depth; ++d) {
      for (int64_t suffix = 0; suffix < split.suffix; ++suffix) {
        const bool is_on = indices.values[prefix * split.suffix + suffix] == static_cast<double>(d);
        *out++ = inputs[is_on ? 1 : 2]->values[0];
      }
    }
  }
}

Status InferDynamicUpdateSlice(const NodeInference& inference) {
  HEARTH_TRY(inference.CheckKeepsType(0, 0));
  HEARTH_TRY(inference.CheckKeepsType(0, 1));
  const Shape &in = inference.shape(0), &update = inference.shape(1), &start = inference.shape(2);
  bool fits = update.rank() == in.rank();
  for (int d = 0; fits && d < in.rank(); ++d) fits = update[d] <= in[d];
  if (!fits) return inference.Malformed("an update of shape {} does not fit into {}", update, in);
  const DType type = inference.input(2).dtype;
  if (start.rank() != 1 || start[0] != in.rank() || (type != DType::kInt32 && type != DType::kInt64) ||
      inference.input(2).quantization.has_value()) {
    return inference.Malformed("starts at {}[{}], needs an int32 or int64 for each of {}", DTypeName(type), start, in);
  }
  return inference.SetOutput(0, in);
}

void ReferenceDynamicUpdateSlice(const Node&, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const ReferenceTensor &in = *inputs[0], &update = *inputs[1];
  const int rank = in.shape.rank();
  Coordinates start{};
  for (int d = 0; d < rank; ++d) {
    const double room = in.shape[d] - update.shape[d];
    start[d] = static_cast<int64_t>(std::clamp(inputs[2]->values[d], 0.0, room));
  }
  outputs[0].values = in.values;
  Coordinates at{};
  for (double element : update.values) {
    Coordinates to = at;
    for (int d = 0; d < rank; ++d) to[d] += start[d];
    outputs[0].values[IndexOf(in.shape, to)] = element;
    Advance(update.shape, at);
  }
}

}  // namespace hearth
