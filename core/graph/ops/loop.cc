#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/loop_graphs.h"
#include "core/graph/op_text.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"

namespace hearth {
namespace {

// Checks that `part` takes the loop's values and that no tensor in it is too large for the reference.
Status CheckPart(const NodeInference& inference, const Graph& part, std::string_view name, size_t outputs) {
  const Node& node = inference.node();
  if (part.inputs.size() != node.inputs.size() || part.outputs.size() != outputs || !part.states.empty()) {
    return inference.Malformed("its {} makes {} of {} values with {} states, the loop has {}", name,
                               part.outputs.size(), part.inputs.size(), part.states.size(), node.inputs.size());
  }
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    if (part.value(part.inputs[k]).desc == inference.input(k)) continue;
    return inference.Malformed("value {} is {}[{}], its {} takes {}[{}]", k, DTypeName(inference.input(k).dtype),
                               inference.shape(k), name, DTypeName(part.value(part.inputs[k]).desc.dtype),
                               part.value(part.inputs[k]).desc.shape);
  }
  for (const Value& value : part.values()) {
    if (CheckedElementCount(value.desc.shape).value_or(kMaxElementCount) <= kMaxReferenceElements) continue;
    return inference.Unsupported("its {} has a tensor of shape {}", name, value.desc.shape);
  }
  return Status::Ok();
}

}  // namespace

Status InferLoop(const NodeInference& inference) {
  HEARTH_TRY(inference.CheckOperands({1, kAnyNumber, inference.node().inputs.size()}));
  for (size_t k = 0; k < inference.node().inputs.size(); ++k) {
    if (!inference.HasInput(k)) return inference.Malformed("value {} is absent", k);
  }
  const auto& loop = inference.op<Loop>();
  if (loop.graphs == nullptr) return inference.Unsupported("its body is not known");
  HEARTH_TRY(CheckPart(inference, loop.graphs->condition, "condition", 1));
  HEARTH_TRY(CheckPart(inference, loop.graphs->body, "body", inference.node().inputs.size()));
  const TensorDesc& condition = loop.graphs->condition.value(loop.graphs->condition.outputs[0]).desc;
  if (condition.dtype != DType::kBool || condition.shape.element_count() != 1) {
    return inference.Malformed("its condition is {}[{}], not one bool", DTypeName(condition.dtype), condition.shape);
  }
  for (size_t k = 0; k < inference.node().inputs.size(); ++k) {
    const TensorDesc& made = loop.graphs->body.value(loop.graphs->body.outputs[k]).desc;
    if (made != inference.input(k)) {
      return inference.Unsupported("value {} is {}[{}], its body makes {}[{}] of it", k,
                                   DTypeName(inference.input(k).dtype), inference.shape(k), DTypeName(made.dtype),
                                   made.shape);
    }
    inference.DescribeOutput(k, made);
  }
  return Status::Ok();
}

Status CheckIteration(const Node& node, int64_t iteration, RunControl* control) {
  if (iteration == kMostIterations) {
    const Status endless =
        Error(StatusCode::kResourceExhausted,
              "{}: its condition still holds after {} turns, so it counts as a loop without end: give the model inputs "
              "with which it ends, or a bound to the loop (maximum_iterations of TensorFlow's while_loop)",
              NodeLabel(node), kMostIterations);
    return control == nullptr ? endless : control->End(endless);
  }
  const Status status = control == nullptr ? Status::Ok() : control->CheckGoesOn();
  return status.ok() ? status : status.Within(fmt::format("{} was ended after {} turns", NodeLabel(node), iteration));
}

}  // namespace hearth
