#include "core/lowering/recurrent_call.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/matrix_call.h"

namespace hearth {

std::string TooManySteps() {
  return fmt::format("its sequence has more than {} steps", kMaxSteps);
}

std::optional<std::string> RuntimeWeightsAfter(const Graph& graph, const Node& node, size_t data) {
  for (size_t k = data; k < node.inputs.size(); ++k) {
    if (node.inputs[k] != kNoValue && !graph.IsConstant(node.inputs[k])) return "its weights are not constant";
  }
  return std::nullopt;
}

StepTensor StepOf(ValueId value, const SequenceShape& sequence, int32_t t) {
  return {value, sequence.batch * sequence.steps, t * sequence.step_stride, sequence.batch_stride};
}

Status CallRecurrentStep(PlanBuilder& builder, const Node& node, int32_t batch, const StepCall& step) {
  const TensorDesc& weights = builder.DescOf(step.weights);
  const int32_t rows = weights.shape[0], depth = weights.shape[1];
  const auto slices = static_cast<int32_t>(Tiles(rows, 4));
  const bool has_base = step.base.value != kNoValue;
  KernelCall call;
  call.kernel = "recurrent_step";
  call.tensors = TensorsOf<kernels::RecurrentStep>(
      {{"base", has_base ? builder.Tensor(step.base.value) : BiasOperand(builder, step.bias, rows, 4)},
       {"w", builder.Packed(step.weights, {PackLayout::kMatrix, weights, 4, {rows, 1, 1, depth}})},
       {"h", builder.Tensor(step.h.value)},
       {"y", builder.Tensor(step.y.value)}});
  call.scalars = {{"BATCH", batch},
                  {"N4", slices},
                  {"K4", static_cast<int32_t>(Tiles(depth, 4))},
                  {"BASE_PIXELS", step.base.pixels},
                  {"BASE_FIRST", step.base.first},
                  {"BASE_STEP", step.base.step},
                  {"H_PIXELS", step.h.pixels},
                  {"H_FIRST", step.h.first},
                  {"H_STEP", step.h.step},
                  {"Y_PIXELS", step.y.pixels},
                  {"Y_FIRST", step.y.first},
                  {"Y_STEP", step.y.step}};
  call.epilogue = step.epilogue;
  call.work_items = {slices, batch, 1};
  if (step.h.value == step.y.value) call.buffer_reads = {"h"};
  return builder.Call(node, call);
}

Status CallInputProduct(PlanBuilder& builder, const Node& node, const InputProduct& product) {
  Node matrix;
  matrix.inputs = {product.x, product.weights, product.bias};
  matrix.outputs = {product.y};
  const Shape& weights = builder.DescOf(product.weights).shape;
  const MatrixShapes shapes{builder.ShapeOf(product.x).pixels(), {weights[0], 1, 1, weights[1]}, true};
  return builder.Call(node, MatrixCall(builder, matrix, shapes, MatrixCandidates(builder, matrix, shapes).front()));
}

Status CallCopyLast(PlanBuilder& builder, const Node& node, const SequenceShape& sequence, ValueId from, ValueId to) {
  const StepTensor last = StepOf(from, sequence, sequence.steps - 1);
  const int32_t slices = builder.ShapeOf(to).slices();
  KernelCall call;
  call.kernel = "take_step";
  call.tensors = TensorsOf<kernels::TakeStep>({{"x", builder.Tensor(from)}, {"y", builder.Tensor(to)}});
  call.scalars = {
      {"BATCH", sequence.batch}, {"N4", slices}, {"PIXELS", last.pixels}, {"FIRST", last.first}, {"STEP", last.step}};
  call.work_items = {slices, sequence.batch, 1};
  return builder.Call(node, call);
}

}  // namespace hearth
