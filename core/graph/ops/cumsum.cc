#include <cmath>

#include "core/graph/op_def.h"
#include "core/graph/ops/axis_split.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"

namespace hearth {

Status InferCumSum(const NodeInference& inference) {
  const TensorDesc& in = inference.input(0);
  const int32_t axis = inference.op<CumSum>().axis;
  if (!AxisFromFront(axis, in.shape.rank())) {
    return inference.Fail(StatusCode::kMalformedInput, "axis {} is outside of rank {}", axis, in.shape.rank());
  }
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
