// Recurrent networks as dispatches: one matrix product for the input's part of all steps, then a few dispatches per
// step.
#include <fmt/format.h>

#include <limits>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/graph/ops/recurrent.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/matrix_call.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {
namespace {

// ---- What the operations share ----

// A plan holds every step's dispatches: longer sequences run on the CPU.
constexpr int32_t kMaxSteps = 4096;

std::string TooManySteps() {
  return fmt::format("its sequence has more than {} steps", kMaxSteps);
}

// The reason why a node does not run on devices: an input behind the first `data` is not constant.
std::optional<std::string> RuntimeWeightsAfter(const Graph& graph, const Node& node, size_t data) {
  for (size_t k = data; k < node.inputs.size(); ++k) {
    if (node.inputs[k] != kNoValue && !graph.IsConstant(node.inputs[k])) return "its weights are not constant";
  }
  return std::nullopt;
}

// For kernels that make a texel of `channels` for each batch in a work item: BATCH, N4 and the work items.
void UseBatch(int32_t batch, int32_t channels, KernelCall& call) {
  const auto slices = static_cast<int32_t>(Tiles(channels, 4));
  call.scalars.insert(call.scalars.end(), {{"BATCH", batch}, {"N4", slices}});
  call.work_items = {slices, batch, 1};
}

// A tensor at one step: its pixel of batch b is first + b * step.
struct StepTensor {
  ValueId value = kNoValue;
  int32_t pixels = 1, first = 0, step = 0;
};

StepTensor StepOf(ValueId value, const SequenceShape& sequence, int32_t t) {
  return {value, sequence.batch * sequence.steps, t * sequence.step_stride, sequence.batch_stride};
}

// y = base + weights h, where base is a tensor, a constant bias of the node, or zero.
struct StepCall {
  StepTensor base;          // when its value is not kNoValue
  ValueId bias = kNoValue;  // else, when not kNoValue
  ValueId weights = kNoValue;
  StepTensor h, y;
  std::vector<EpilogueStep> epilogue;
};

Status CallRecurrentStep(PlanBuilder& builder, const Node& node, int32_t batch, const StepCall& step) {
  const TensorDesc& weights = builder.DescOf(step.weights);
  const int32_t rows = weights.shape[0], depth = weights.shape[1];
  const bool has_base = step.base.value != kNoValue;
  KernelCall call = CallOf<kernels::RecurrentStep>(
      {{"base", has_base ? builder.Tensor(step.base.value) : BiasOperand(builder, step.bias, rows, 4)},
       {"w", builder.Packed(step.weights, {PackLayout::kMatrix, weights, 4, {rows, 1, 1, depth}})},
       {"h", builder.Tensor(step.h.value)},
       {"y", builder.Tensor(step.y.value)}});
  call.scalars = {{"K4", Tiles(depth, 4)},       {"BASE_PIXELS", step.base.pixels}, {"BASE_FIRST", step.base.first},
                  {"BASE_STEP", step.base.step}, {"H_PIXELS", step.h.pixels},       {"H_FIRST", step.h.first},
                  {"H_STEP", step.h.step},       {"Y_PIXELS", step.y.pixels},       {"Y_FIRST", step.y.first},
                  {"Y_STEP", step.y.step}};
  UseBatch(batch, rows, call);
  call.epilogue = step.epilogue;
  if (step.h.value == step.y.value) call.buffer_reads = {"h"};
  return builder.Call(node, call);
}

// y = weights x + bias for all pixels of x.
struct InputProduct {
  ValueId x = kNoValue, weights = kNoValue, bias = kNoValue, y = kNoValue;
};

Status CallInputProduct(PlanBuilder& builder, const Node& node, const InputProduct& product) {
  Node matrix;
  matrix.inputs = {product.x, product.weights, product.bias};
  matrix.outputs = {product.y};
  const Shape& weights = builder.DescOf(product.weights).shape;
  const MatrixShapes shapes{builder.ShapeOf(product.x).pixels(), {weights[0], 1, 1, weights[1]}, true};
  return builder.Call(node, MatrixCall(builder, matrix, shapes, MatrixCandidates(builder, matrix, shapes).front()));
}

// The last step of a sequence as a separate value: the next state.
Status CallCopyLast(PlanBuilder& builder, const Node& node, const SequenceShape& sequence, ValueId from, ValueId to) {
  const StepTensor last = StepOf(from, sequence, sequence.steps - 1);
  KernelCall call = CallOf<kernels::TakeStep>({{"x", builder.Tensor(from)}, {"y", builder.Tensor(to)}});
  call.scalars = {{"PIXELS", last.pixels}, {"FIRST", last.first}, {"STEP", last.step}};
  UseBatch(sequence.batch, builder.ShapeOf(to).c, call);
  return builder.Call(node, call);
}

// ---- LSTM ----

class LstmLowering {
 public:
  LstmLowering(const Node& node, PlanBuilder& builder)
      : node_(node),
        builder_(builder),
        lstm_(std::get<Lstm>(node.op)),
        sequence_(SequenceOf(builder.DescOf(node.inputs[kLstmX]).shape, lstm_.time_major)),
        units_(builder.DescOf(node.inputs[kLstmC]).shape[1]),
        rows_(builder.DescOf(node.inputs[kLstmWeights]).shape[0]),
        gates_(rows_ / units_) {}

  Status Run() {
    base_ = Float({1, static_cast<int32_t>(Pixels()), rows_});
    const ValueId bias = Has(kLstmNormalization) ? kNoValue : node_.inputs[kLstmBias];
    HEARTH_TRY(CallInputProduct(builder_, node_, {node_.inputs[kLstmX], node_.inputs[kLstmWeights], bias, base_}));
    sums_ = Float({sequence_.batch, rows_});
    ValueId cell = node_.inputs[kLstmC];
    const ValueId cells[] = {builder_.Scratch(builder_.DescOf(cell)), builder_.Scratch(builder_.DescOf(cell))};
    for (int32_t t = 0; t < sequence_.steps; ++t) {
      const ValueId next_cell = t + 1 == sequence_.steps ? node_.outputs[2] : cells[t % 2];
      HEARTH_TRY(CallRecurrent(t));
      HEARTH_TRY(CallStep(t, cell, next_cell));
      cell = next_cell;
    }
    return CallCopyLast(builder_, node_, sequence_, node_.outputs[0], node_.outputs[1]);
  }

 private:
  bool Has(LstmInput input) const { return InputOf(node_, input) != kNoValue; }
  int64_t Pixels() const { return int64_t{sequence_.batch} * sequence_.steps; }
  ValueId Float(const Shape& shape) { return builder_.Scratch({DType::kFloat32, shape, {}}); }
  StepTensor Output(int32_t t) const { return StepOf(node_.outputs[0], sequence_, t); }
  StepTensor Batch(ValueId value) const { return {value, sequence_.batch, 0, 1}; }

  Status CallRecurrent(int32_t t) {
    StepCall call;
    call.base = StepOf(base_, sequence_, t);
    call.weights = node_.inputs[kLstmRecurrent];
    call.h = t == 0 ? Batch(node_.inputs[kLstmH]) : Output(t - 1);
    call.y = Batch(sums_);
    return CallRecurrentStep(builder_, node_, sequence_.batch, call);
  }

  // The step from the gates' sums to the new cell and output. With peepholes the output gate reads the new cell, which
  // is therefore computed twice, the first time with an output that nothing reads.
  Status CallStep(int32_t t, ValueId cell, ValueId next_cell) {
    ValueId sums = sums_;
    if (Has(kLstmPeephole)) {
      HEARTH_ASSIGN(sums, CallPeephole(sums, cell, {0, gates_ - 2, 0}));
      HEARTH_ASSIGN(const ValueId normalized, CallNormalize(sums));
      const ValueId unread = Float({sequence_.batch, units_});
      HEARTH_TRY(CallCell(normalized, cell, next_cell, Batch(unread)));
      HEARTH_ASSIGN(sums, CallPeephole(sums, next_cell, {gates_ - 1, 1, (gates_ - 2) * units_}));
    }
    HEARTH_ASSIGN(sums, CallNormalize(sums));
    if (!Has(kLstmProjection)) return CallCell(sums, cell, next_cell, Output(t));
    const ValueId out = Float({sequence_.batch, units_});
    HEARTH_TRY(CallCell(sums, cell, next_cell, Batch(out)));
    return CallProjection(t, out);
  }

  struct PeepholeGates {
    int32_t first = 0, count = 0, weight_first = 0;
  };
  Result<ValueId> CallPeephole(ValueId sums, ValueId cell, const PeepholeGates& gates) {
    const ValueId out = Float({sequence_.batch, rows_});
    KernelCall call =
        CallOf<kernels::LstmPeephole>({{"gates", builder_.Tensor(sums)},
                                       {"c", builder_.Tensor(cell)},
                                       {"w", BiasOperand(builder_, node_.inputs[kLstmPeephole], rows_ - units_, 4)},
                                       {"y", builder_.Tensor(out)}});
    call.scalars = {
        {"UNITS", units_}, {"FIRST_GATE", gates.first}, {"GATES", gates.count}, {"WEIGHT_FIRST", gates.weight_first}};
    UseBatch(sequence_.batch, rows_, call);
    HEARTH_TRY(builder_.Call(node_, call));
    return out;
  }

  Result<ValueId> CallNormalize(ValueId sums) {
    if (!Has(kLstmNormalization)) return sums;
    const ValueId out = Float({sequence_.batch, rows_});
    KernelCall call =
        CallOf<kernels::LstmNormalize>({{"gates", builder_.Tensor(sums)},
                                        {"factor", BiasOperand(builder_, node_.inputs[kLstmNormalization], rows_, 4)},
                                        {"bias", BiasOperand(builder_, node_.inputs[kLstmBias], rows_, 4)},
                                        {"y", builder_.Tensor(out)}});
    call.scalars = {{"UNITS", units_}, {"CHANNELS", rows_}, {"EPSILON", kLayerNormalizationEpsilon}};
    UseBatch(sequence_.batch, rows_, call);
    HEARTH_TRY(builder_.Call(node_, call));
    return out;
  }

  Status CallCell(ValueId sums, ValueId cell, ValueId next_cell, const StepTensor& h) {
    KernelCall call = CallOf<kernels::LstmCell>({{"gates", builder_.Tensor(sums)},
                                                 {"c_before", builder_.Tensor(cell)},
                                                 {"h", builder_.Tensor(h.value)},
                                                 {"c", builder_.Tensor(next_cell)}});
    call.defines = {{"CIFG", gates_ == 3 ? "1" : "0"},
                    {"ACTIVATION", std::to_string(static_cast<int>(lstm_.activation))}};
    call.scalars = {{"UNITS", units_},
                    {"GATE_CHANNELS", units_},
                    {"H_PIXELS", h.pixels},
                    {"H_FIRST", h.first},
                    {"H_STEP", h.step},
                    {"CELL_CLIP", lstm_.cell_clip > 0.0f ? lstm_.cell_clip : std::numeric_limits<float>::max()}};
    UseBatch(sequence_.batch, units_, call);
    return builder_.Call(node_, call);
  }

  Status CallProjection(int32_t t, ValueId out) {
    StepCall call;
    call.bias = InputOf(node_, kLstmProjectionBias);
    call.weights = node_.inputs[kLstmProjection];
    call.h = Batch(out);
    call.y = Output(t);
    if (lstm_.proj_clip > 0.0f) {
      call.epilogue = {{{StatementForm::kLimit}, {}, {{"proj_clip", lstm_.proj_clip}}}};
    }
    return CallRecurrentStep(builder_, node_, sequence_.batch, call);
  }

  const Node& node_;
  PlanBuilder& builder_;
  const Lstm& lstm_;
  SequenceShape sequence_;
  int32_t units_, rows_, gates_;
  ValueId base_ = kNoValue, sums_ = kNoValue;
};

}  // namespace

std::optional<std::string> LstmUnsupported(const Graph& graph, const Node& node, const Placing&) {
  if (InputOf(node, kLstmWeightScales) != kNoValue) return "inputs that are rounded to 8 bits in each step";
  if (SequenceOf(graph.value(node.inputs[kLstmX]).desc.shape, std::get<Lstm>(node.op).time_major).steps > kMaxSteps)
    return TooManySteps();
  return RuntimeWeightsAfter(graph, node, kLstmWeights);
}

Status LowerLstm(const Node& node, PlanBuilder& builder) {
  return LstmLowering(node, builder).Run();
}

// ---- RNN and SVDF ----

std::optional<std::string> RnnUnsupported(const Graph& graph, const Node& node, const Placing&) {
  if (SequenceOf(graph.value(node.inputs[0]).desc.shape, std::get<Rnn>(node.op).time_major).steps > kMaxSteps)
    return TooManySteps();
  return RuntimeWeightsAfter(graph, node, 2);
}

Status LowerRnn(const Node& node, PlanBuilder& builder) {
  const auto& rnn = std::get<Rnn>(node.op);
  const SequenceShape sequence = SequenceOf(builder.DescOf(node.inputs[0]).shape, rnn.time_major);
  const int32_t units = builder.DescOf(node.inputs[2]).shape[0];
  const ValueId base = builder.Scratch({DType::kFloat32, {1, sequence.batch * sequence.steps, units}, {}});
  HEARTH_TRY(CallInputProduct(builder, node, {node.inputs[0], node.inputs[2], node.inputs[4], base}));
  for (int32_t t = 0; t < sequence.steps; ++t) {
    StepCall call;
    call.base = StepOf(base, sequence, t);
    call.weights = node.inputs[3];
    call.h = t == 0 ? StepTensor{node.inputs[1], sequence.batch, 0, 1} : StepOf(node.outputs[0], sequence, t - 1);
    call.y = StepOf(node.outputs[0], sequence, t);
    call.epilogue = ActivationEpilogue(rnn.activation);
    HEARTH_TRY(CallRecurrentStep(builder, node, sequence.batch, call));
  }
  return CallCopyLast(builder, node, sequence, node.outputs[0], node.outputs[1]);
}

std::optional<std::string> SvdfUnsupported(const Graph& graph, const Node& node, const Placing&) {
  return RuntimeWeightsAfter(graph, node, 2);
}

Status LowerSvdf(const Node& node, PlanBuilder& builder) {
  const auto& svdf = std::get<Svdf>(node.op);
  const int32_t batch = builder.DescOf(node.inputs[0]).shape[0];
  const Shape& times = builder.DescOf(node.inputs[3]).shape;
  const int32_t filters = times[0], memory = times[1], outputs = filters / svdf.rank;
  const ValueId features = builder.Scratch({DType::kFloat32, {batch, filters}, {}});
  HEARTH_TRY(CallInputProduct(builder, node, {node.inputs[0], node.inputs[2], kNoValue, features}));

  const int32_t channels = filters * memory;
  KernelCall shift = CallOf<kernels::SvdfShift>({{"state", builder.Tensor(node.inputs[1])},
                                                 {"feature", builder.Tensor(features)},
                                                 {"y", builder.Tensor(node.outputs[1])}});
  shift.scalars = {{"CHANNELS", channels}, {"MEMORY", memory}};
  UseBatch(batch, channels, shift);
  HEARTH_TRY(builder.Call(node, shift));

  KernelCall sum = CallOf<kernels::SvdfSum>({{"state", builder.Tensor(node.outputs[1])},
                                             {"w", BiasOperand(builder, node.inputs[3], channels, 4)},
                                             {"bias", BiasOperand(builder, InputOf(node, 4), outputs, 4)},
                                             {"y", builder.Tensor(node.outputs[0])}});
  sum.scalars = {{"OUTPUTS", outputs}, {"TERMS", svdf.rank * memory}};
  UseBatch(batch, outputs, sum);
  sum.epilogue = ActivationEpilogue(svdf.activation);
  return builder.Call(node, sum);
}

}  // namespace hearth
