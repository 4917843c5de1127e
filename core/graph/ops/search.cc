#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/graph/op_def.h"
#include "core/graph/ops/axis_split.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"

namespace hearth {

Status InferArgReduce(const NodeInference& inference) {
  const Shape& in = inference.shape(0);
  const int32_t wanted = inference.op<ArgReduce>().axis;
  const std::optional<int> axis = AxisFromFront(wanted, in.rank());
  if (!axis) return inference.Malformed("axis {} is outside of rank {}", wanted, in.rank());
  if (in[*axis] == 0) return inference.Malformed("dimension {} of {} has no element to find", *axis, in);
  const DType dtype = inference.output(0).dtype;
  if (dtype != DType::kInt32 && dtype != DType::kInt64)
    return inference.Malformed("the output is {}, indices need int32 or int64", DTypeName(dtype));
  inference.SetOutputType(0, dtype);
  std::vector<int64_t> dims(in.dims().begin(), in.dims().end());
  dims.erase(dims.begin() + *axis);
  return inference.SetOutput(0, dims);
}

void ReferenceArgReduce(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& search = std::get<ArgReduce>(node.op);
  const ReferenceTensor& in = *inputs[0];
  const AxisSplit split = SplitAt(in.shape, *AxisFromFront(search.axis, in.shape.rank()));
  const bool largest = search.kind == ArgKind::kMax;
  for (int64_t line = 0; line < split.outer * split.inner; ++line) {
    const int64_t begin = line / split.inner * split.length * split.inner + line % split.inner;
    int64_t best = 0;
    for (int64_t k = 1; k < split.length; ++k) {
      const double challenger = in.values[begin + k * split.inner], holder = in.values[begin + best * split.inner];
      if (largest ? challenger > holder : challenger < holder) best = k;
    }
    outputs[0].values[line] = static_cast<double>(best);
  }
}

Status InferTopK(const NodeInference& inference) {
  const Shape& in = inference.shape(0);
  const int32_t k = inference.op<TopK>().k;
  if (in.rank() < 1) return inference.Malformed("the input is a scalar, needs at least rank 1");
  if (k < 0 || k > in[in.rank() - 1]) {
    return inference.Malformed("k is {}, the last dimension of {} has {} elements", k, in, in[in.rank() - 1]);
  }
  HEARTH_TRY(inference.SetOutputTypeOf(0, 0));
  inference.SetOutputType(1, DType::kInt32);
  std::vector<int64_t> dims(in.dims().begin(), in.dims().end());
  dims.back() = k;
  HEARTH_TRY(inference.SetOutput(0, dims));
  return inference.SetOutput(1, dims);
}

void ReferenceTopK(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto k = static_cast<size_t>(std::get<TopK>(node.op).k);
  const ReferenceTensor& in = *inputs[0];
  const auto length = static_cast<size_t>(in.shape[in.shape.rank() - 1]);
  std::vector<size_t> order(length);
  for (size_t row = 0; row < in.values.size() / length; ++row) {
    const double* values = in.values.data() + row * length;
    std::iota(order.begin(), order.end(), size_t{0});
    // NaN sorts after every number; without that this would be no order.
    const auto precedes = [values](size_t a, size_t b) {
      const bool a_is_number = values[a] == values[a], b_is_number = values[b] == values[b];
      if (a_is_number != b_is_number) return a_is_number;
      return a_is_number && values[a] != values[b] ? values[a] > values[b] : a < b;
    };
    std::partial_sort(order.begin(), order.begin() + static_cast<int64_t>(k), order.end(), precedes);
    for (size_t i = 0; i < k; ++i) {
      outputs[0].values[row * k + i] = values[order[i]];
      outputs[1].values[row * k + i] = static_cast<double>(order[i]);
    }
  }
}

Status InferCumSum(const NodeInference& inference) {
  const TensorDesc& in = inference.input(0);
  const int32_t axis = inference.op<CumSum>().axis;
  if (!AxisFromFront(axis, in.shape.rank()))
    return inference.Malformed("axis {} is outside of rank {}", axis, in.shape.rank());
  if (in.dtype != DType::kInt32 && in.dtype != DType::kInt64) HEARTH_TRY(inference.CheckReal(0));
  HEARTH_TRY(inference.SetOutputTypeOf(0, 0));
  return inference.SetOutput(0, in.shape);
}

void ReferenceCumSum(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& cumsum = std::get<CumSum>(node.op);
  const ReferenceTensor& in = *inputs[0];
  ReferenceTensor& out = outputs[0];
  const AxisSplit split = SplitAt(in.shape, *AxisFromFront(cumsum.axis, in.shape.rank()));
  for (int64_t line = 0; line < split.outer * split.inner; ++line) {
    const int64_t begin = line / split.inner * split.length * split.inner + line % split.inner;
    double sum = 0.0;
    for (int64_t k = 0; k < split.length; ++k) {
      const int64_t at = begin + (cumsum.reverse ? split.length - 1 - k : k) * split.inner;
      const double before = sum;
      sum += in.values[at];
      if (out.integers.has_value() && std::fabs(sum) < 0x1p62) {
        sum = static_cast<double>(WrapInteger(*out.integers, static_cast<int64_t>(sum)));
      }
      out.values[at] = cumsum.exclusive ? before : sum;
    }
  }
}

}  // namespace hearth
