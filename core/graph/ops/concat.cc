#include <algorithm>
#include <vector>

#include "core/graph/ops/elementwise_table.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"

namespace hearth {

Status InferConcat(const NodeInference& inference) {
  const auto& concat = inference.op<Concat>();
  HEARTH_TRY(inference.CheckKeepsType());
  const Shape& first = inference.shape(0);
  if (concat.axis >= first.rank() || concat.axis < -first.rank()) {
    return inference.Fail(StatusCode::kMalformedInput, "axis {} is outside of rank {}", concat.axis, first.rank());
  }
  const int axis = concat.axis < 0 ? concat.axis + first.rank() : concat.axis;
  std::vector<int64_t> dims(first.dims().begin(), first.dims().end());
  for (size_t i = 1; i < inference.node().inputs.size(); ++i) {
    if (inference.input(i).dtype != inference.input(0).dtype) {
      return inference.Fail(StatusCode::kMalformedInput, "input {} is {}, input 0 is {}", i,
                            DTypeName(inference.input(i).dtype), DTypeName(inference.input(0).dtype));
    }
    HEARTH_TRY(inference.CheckKeepsType(0, i));
    const Shape& shape = inference.shape(i);
    bool fits = shape.rank() == first.rank();
    for (int d = 0; fits && d < first.rank(); ++d) fits = d == axis || shape[d] == first[d];
    if (!fits) {
      return inference.Fail(StatusCode::kMalformedInput, "input {} ({}) does not fit input 0 ({}) beside axis {}", i,
                            shape.ToString(), first.ToString(), axis);
    }
    dims[axis] += shape[axis];
  }
  return inference.SetOutput(0, dims);
}

void ReferenceConcat(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& concat = std::get<Concat>(node.op);
  ReferenceTensor& out = outputs[0];
  const int axis = concat.axis < 0 ? concat.axis + out.shape.rank() : concat.axis;
  const int64_t outer = CountBetween(out.shape, 0, axis);
  double* to = out.values.data();
  for (int64_t row = 0; row < outer; ++row) {
    for (const ReferenceTensor* input : inputs) {
      const int64_t length = static_cast<int64_t>(input->values.size()) / outer;
      to = std::copy_n(input->values.data() + row * length, length, to);
    }
  }
  ApplyActivation(concat.activation, out.values);
}

}  // namespace hearth
