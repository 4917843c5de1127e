#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"

namespace hearth {

Status InferReshape(Graph& graph, const Node& node) {
  const Shape& shape = std::get<Reshape>(node.op).shape;
  const NodeInference inference(graph, node);
  HEARTH_TRY(inference.CheckOperands(1));
  HEARTH_TRY(inference.CheckKeepsType());
  const std::optional<int64_t> count = CheckedElementCount(shape);
  if (!count || *count != inference.shape(0).element_count()) {
    return inference.Fail(StatusCode::kMalformedInput, "the input's {} elements ({}) can't take the shape {}",
                          inference.shape(0).element_count(), inference.shape(0).ToString(), shape.ToString());
  }
  return inference.SetOutput(0, shape);
}

void ReferenceReshape(const Node& /*node*/, ReferenceInputs inputs, ReferenceOutputs outputs) {
  outputs[0].values = inputs[0]->values;
}

}  // namespace hearth
