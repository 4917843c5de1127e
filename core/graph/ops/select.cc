#include "core/graph/op_def.h"
#include "core/graph/ops/broadcast.h"
#include "core/graph/ops/op_functions.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

// Checks (condition, a, b): bool, and two tensors of the output's type.
Status CheckSelectTypes(const NodeInference& inference) {
  const TensorDesc& a = inference.input(1);
  const TensorDesc& b = inference.input(2);
  if (inference.input(0).dtype != DType::kBool) {
    return inference.Fail(StatusCode::kUnsupported, "its condition is {}, not bool",
                          DTypeName(inference.input(0).dtype));
  }
  if (a.dtype != b.dtype || IsReal(a) != IsReal(b) || a.dtype == DType::kInt4) {
    return inference.Fail(StatusCode::kMalformedInput, "can't choose between elements of types {} and {}",
                          DTypeName(a.dtype), DTypeName(b.dtype));
  }
  return inference.SetOutputTypeOf(0, 1);
}

}  // namespace

Status InferSelect(const NodeInference& inference) {
  HEARTH_TRY(CheckSelectTypes(inference));
  return SetBroadcastOutput(inference, 3);
}

void ReferenceSelect(const Node&, ReferenceInputs inputs, ReferenceOutputs outputs) {
  ReferenceTensor& out = outputs[0];
  BroadcastCursor condition(inputs[0]->shape, out.shape), a(inputs[1]->shape, out.shape),
      b(inputs[2]->shape, out.shape);
  for (double& result : out.values) {
    result = inputs[0]->values[condition.at()] != 0.0 ? inputs[1]->values[a.at()] : inputs[2]->values[b.at()];
    condition.Next();
    a.Next();
    b.Next();
  }
}

Status InferSelectRows(const NodeInference& inference) {
  HEARTH_TRY(CheckSelectTypes(inference));
  const Shape& condition = inference.shape(0);
  const Shape& a = inference.shape(1);
  if (a != inference.shape(2)) {
    return inference.Fail(StatusCode::kMalformedInput, "can't choose between tensors of shapes {} and {}", a.ToString(),
                          inference.shape(2).ToString());
  }
  if (condition.rank() != 1 || a.rank() == 0 || condition[0] != a[0]) {
    return inference.Fail(StatusCode::kMalformedInput, "its condition has shape {}, not an element for each row of {}",
                          condition.ToString(), a.ToString());
  }
  return inference.SetOutput(0, a);
}

void ReferenceSelectRows(const Node&, ReferenceInputs inputs, ReferenceOutputs outputs) {
  std::vector<double>& out = outputs[0].values;
  const size_t row_size = out.size() / inputs[0]->values.size();
  for (size_t k = 0; k < out.size(); ++k) {
    out[k] = inputs[inputs[0]->values[k / row_size] != 0.0 ? 1 : 2]->values[k];
  }
}

}  // namespace hearth
