// An LSTM as dispatches: one matrix product for the input's part of all steps, then a few dispatches per step.
#include <limits>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/graph/ops/recurrent.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/op_lowerings.h"
#include "core/lowering/recurrent_call.h"

namespace hearth {
namespace {

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
  bool Has(LstmInput input) const { return LstmOperand(node_, input) != kNoValue; }
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
    const auto slices = static_cast<int32_t>(Tiles(rows_, 4));
    KernelCall call;
    call.kernel = "lstm_peephole";
    call.tensors =
        TensorsOf<kernels::LstmPeephole>({{"gates", builder_.Tensor(sums)},
                                          {"c", builder_.Tensor(cell)},
                                          {"w", BiasOperand(builder_, node_.inputs[kLstmPeephole], rows_ - units_, 4)},
                                          {"y", builder_.Tensor(out)}});
    call.scalars = {{"BATCH", sequence_.batch},  {"UNITS", units_},      {"N4", slices},
                    {"FIRST_GATE", gates.first}, {"GATES", gates.count}, {"WEIGHT_FIRST", gates.weight_first}};
    call.work_items = {slices, sequence_.batch, 1};
    HEARTH_TRY(builder_.Call(node_, call));
    return out;
  }

  Result<ValueId> CallNormalize(ValueId sums) {
    if (!Has(kLstmNormalization)) return sums;
    const ValueId out = Float({sequence_.batch, rows_});
    const auto slices = static_cast<int32_t>(Tiles(rows_, 4));
    KernelCall call;
    call.kernel = "lstm_normalize";
    call.tensors = TensorsOf<kernels::LstmNormalize>(
        {{"gates", builder_.Tensor(sums)},
         {"factor", BiasOperand(builder_, node_.inputs[kLstmNormalization], rows_, 4)},
         {"bias", BiasOperand(builder_, node_.inputs[kLstmBias], rows_, 4)},
         {"y", builder_.Tensor(out)}});
    call.scalars = {{"BATCH", sequence_.batch},
                    {"UNITS", units_},
                    {"CHANNELS", rows_},
                    {"N4", slices},
                    {"EPSILON", kLayerNormalizationEpsilon}};
    call.work_items = {slices, sequence_.batch, 1};
    HEARTH_TRY(builder_.Call(node_, call));
    return out;
  }

  Status CallCell(ValueId sums, ValueId cell, ValueId next_cell, const StepTensor& h) {
    const auto slices = static_cast<int32_t>(Tiles(units_, 4));
    KernelCall call;
    call.kernel = "lstm_cell";
    call.defines = {{"CIFG", gates_ == 3 ? "1" : "0"},
                    {"ACTIVATION", std::to_string(static_cast<int>(lstm_.activation))}};
    call.tensors = TensorsOf<kernels::LstmCell>({{"gates", builder_.Tensor(sums)},
                                                 {"c_before", builder_.Tensor(cell)},
                                                 {"h", builder_.Tensor(h.value)},
                                                 {"c", builder_.Tensor(next_cell)}});
    call.scalars = {{"BATCH", sequence_.batch},
                    {"UNITS", units_},
                    {"N4", slices},
                    {"GATE_CHANNELS", units_},
                    {"H_PIXELS", h.pixels},
                    {"H_FIRST", h.first},
                    {"H_STEP", h.step},
                    {"CELL_CLIP", lstm_.cell_clip > 0.0f ? lstm_.cell_clip : std::numeric_limits<float>::max()}};
    call.work_items = {slices, sequence_.batch, 1};
    return builder_.Call(node_, call);
  }

  Status CallProjection(int32_t t, ValueId out) {
    StepCall call;
    call.bias = LstmOperand(node_, kLstmProjectionBias);
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
  if (SequenceOf(graph.value(node.inputs[kLstmX]).desc.shape, std::get<Lstm>(node.op).time_major).steps > kMaxSteps)
    return TooManySteps();
  return RuntimeWeightsAfter(graph, node, kLstmWeights);
}

Status LowerLstm(const Node& node, PlanBuilder& builder) {
  return LstmLowering(node, builder).Run();
}

}  // namespace hearth
