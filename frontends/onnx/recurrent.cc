// LSTM, GRU and RNN. LSTM and RNN are Hearth's own layers, with the gates in another order, unless their functions are
// unusual; what is left is written out step by step.
#include "core/graph/ops/recurrent.h"

#include <algorithm>
#include <array>
#include <span>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "frontends/onnx/integer_products.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/recurrent_steps.h"
#include "frontends/writer/expansions.h"

namespace hearth::onnx {
namespace {

// Blocks of `units` rows in another order. Those of a constant, which may be most of the file, are copied once.
Made Reordered(NodeWriter& to, ValueId stacked, int32_t units, std::span<const int32_t> order) {
  const TensorDesc desc = to.desc(stacked);
  const bool fits = to.IsConstant(stacked) && !desc.quantization && BitsOf(desc.dtype) >= 8 &&
                    desc.shape[0] == static_cast<int32_t>(order.size()) * units && !to.IsEmpty(stacked);
  if (fits && to.budget().ChargeMade(desc.size_bytes())) {
    const std::span<const std::byte> bytes = to.graph().ConstantBytes(stacked);
    const size_t size = bytes.size() / order.size();
    std::vector<std::byte> made;
    made.reserve(bytes.size());
    for (const int32_t gate : order) {
      const std::span<const std::byte> block = bytes.subspan(static_cast<size_t>(gate) * size, size);
      made.insert(made.end(), block.begin(), block.end());
    }
    return to.graph().AddConstantValue(fmt::format("gates_{}", to.graph().values().size()), desc, std::move(made));
  }
  Operands blocks;
  for (const int32_t gate : order) blocks.Append(to.AddSlice(stacked, 0, gate * units, units));
  return to.Add(Concat{.axis = 0}, blocks);
}

// The sum of the input's and the recurrent bias, or zeros.
Made BiasOf(NodeWriter& to, ValueId bias, int32_t size) {
  if (bias == kNoValue) return to.AddFilled({size}, to.AddNumber(DType::kFloat32, 0.0));
  if (to.shape(bias) != Shape{2 * size}) {
    return Error(StatusCode::kMalformedInput, "a bias of shape {}", to.shape(bias).ToString());
  }
  return to.Add(BinaryKind::kAdd, {to.AddSlice(bias, 0, 0, size), to.AddSlice(bias, 0, size, size)});
}

bool HasCell(Recurrent kind) {
  return kind == Recurrent::kLstm || kind == Recurrent::kQuantizedLstm;
}

// Those of an LSTM are copied in another order, from any address.
Made RecurrentWeights(OpView& op, size_t i, Recurrent kind) {
  HEARTH_ASSIGN(const ValueId weights, HasCell(kind) ? op.Weights(i) : op.In(i));
  return IsOfFewBits(op.to().desc(weights)) ? op.In(i) : Made(weights);
}

// Of input, output, forget, cell: input, forget, cell, output.
constexpr std::array<int32_t, 4> kLstmGates = {0, 2, 3, 1};

Result<RecurrentResult> AddLstm(NodeWriter& to, const RecurrentLayer& layer) {
  const int32_t units = layer.units;
  const bool has_scales = layer.weight_scales != kNoValue;
  const auto in_order = [&](ValueId weights) {
    return has_scales ? Made(weights) : Reordered(to, weights, units, kLstmGates);
  };
  HEARTH_ASSIGN(const ValueId bias, BiasOf(to, layer.bias, 4 * units));
  const bool has_peepholes = layer.peepholes != kNoValue;  // input, output, forget
  Operands operands{layer.x,
                    layer.h,
                    layer.c,
                    in_order(layer.weights),
                    in_order(layer.recurrent),
                    Reordered(to, bias, units, kLstmGates),
                    has_peepholes ? Reordered(to, layer.peepholes, units, std::array{0, 2, 1}) : Made(kNoValue)};
  if (has_scales) {
    operands.ids.resize(kLstmWeightScales, kNoValue);
    operands.ids.insert(operands.ids.end(), {layer.weight_scales, layer.recurrent_scales});
  }
  const TensorDesc real = PlainType(DType::kFloat32);
  HEARTH_ASSIGN(const std::vector<ValueId> made,
                to.AddSeveral(Lstm{.time_major = true, .activation = Activation::kTanh}, operands, {real, real, real}));
  return RecurrentResult{made[0], made[1], made[2], kNoValue};
}

Result<RecurrentResult> AddRnn(NodeWriter& to, const RecurrentLayer& layer, const Cell& cell) {
  const Activation activation = cell.functions[0].name == "Relu" ? Activation::kRelu : Activation::kTanh;
  HEARTH_ASSIGN(const ValueId bias, BiasOf(to, layer.bias, layer.units));
  const TensorDesc real = PlainType(DType::kFloat32);
  HEARTH_ASSIGN(const std::vector<ValueId> made,
                to.AddSeveral(Rnn{.time_major = true, .activation = activation},
                              {layer.x, layer.h, layer.weights, layer.recurrent, bias}, {real, real}));
  return RecurrentResult{made[0], made[1], kNoValue, kNoValue};
}

// A matrix of 8 bits and what its units are, with gates in Hearth's order.
struct WholeWeights {
  ValueId numbers = kNoValue, scales = kNoValue;  // [4 * units, columns], [4 * units]
};
// Of operand `i`; its scales, operand `at`, and zero points behind them are one for a direction, or for each column.
Result<WholeWeights> WholeWeightsOf(OpView& op, NodeWriter& to, size_t i, size_t at, int32_t direction, int32_t units) {
  const auto numbers = [&](size_t list_at) -> Made {
    HEARTH_ASSIGN(const ValueId list, op.In(list_at));
    HEARTH_ASSIGN(const ValueId own,
                  to.shape(list).rank() == 1 ? to.AddSlice(list, 0, direction, 1) : TakeFirst(to, list, direction));
    if (to.shape(own).element_count() == 1) return to.AddFilled({4 * units}, to.AddReshape(own, Shape()));
    return Reordered(to, own, units, kLstmGates);
  };
  HEARTH_ASSIGN(const ValueId turned, AddPermuted(to, TakeFirst(to, op.In(i), direction), {1, 0}));
  HEARTH_ASSIGN(const ValueId ordered, Reordered(to, turned, units, kLstmGates));
  HEARTH_ASSIGN(const ValueId zeros, numbers(at + 1));
  if (!to.IsConstant(zeros)) return Error(StatusCode::kUnsupported, "its operand {}{}", at + 1, to.ComputedFrom(zeros));
  if (IsFloat(to.desc(zeros).dtype)) return Error(StatusCode::kMalformedInput, "zero points that are no integers");
  HEARTH_ASSIGN(const std::vector<float> zero_points, ConstantAsFloats(to.graph(), zeros));
  Quantization grid{std::vector<float>(zero_points.size(), 1.0f), {zero_points.begin(), zero_points.end()}, 0, nullptr};
  WholeWeights made;
  HEARTH_ASSIGN(made.numbers, OnGrid(to, ordered, std::move(grid)));
  HEARTH_ASSIGN(made.scales, numbers(at));
  return made;
}

// How many steps each sequence [B] has; kNoValue if each has all.
Made LengthsOf(const OpView& op, Recurrent kind, int32_t steps) {
  if (!op.Has(4)) return Made(kNoValue);
  if (op.IsConstant(4)) {
    HEARTH_ASSIGN(const std::vector<int64_t> lengths, op.Numbers(4));
    if (std::ranges::any_of(lengths, [&](int64_t length) { return length < 0 || length > steps; }))
      return Error(StatusCode::kMalformedInput, "lengths of sequences of {} steps are not among 0 to {}", steps, steps);
    if (std::ranges::all_of(lengths, [&](int64_t length) { return length == steps; })) return Made(kNoValue);
  }
  if (kind == Recurrent::kQuantizedLstm) return Error(StatusCode::kUnsupported, "sequences of several lengths");
  return op.to().AddCast(op.In(4), DType::kInt32);
}

// Whether a step [T,1,1] comes before a sequence's end; [T,B,1].
Made IsInside(NodeWriter& to, const RecurrentLayer& layer, ValueId lengths) {
  return to.Add(BinaryKind::kLess, {to.AddIndices({layer.steps, 1, 1}), to.AddReshape(lengths, {1, layer.batch, 1})});
}

// The cells where sequences end, by a layer that keeps its cells from there on: a further input is 1 on those steps,
// which closes the input's gate and opens the one that forgets. What the file has there, any numbers, becomes 0. Cells
// of empty sequences are 0, as in onnxruntime.
Made CellsAtEnds(NodeWriter& to, const RecurrentLayer& layer, ValueId lengths) {
  constexpr double kSaturated = 1e4;  // more than weights of h make, less than the largest number of 16 bits
  const auto gate = [&](double weight) {
    return to.AddFilled({layer.units, 1}, to.AddNumber(DType::kFloat32, weight));
  };
  const Made column = to.Add(Concat{.axis = 0}, {gate(-kSaturated), gate(0.0), gate(kSaturated), gate(0.0)});
  const Made is_inside = IsInside(to, layer, lengths);
  const Made is_behind =
      to.Add(BinaryKind::kSub, {to.AddNumber(DType::kFloat32, 1.0), to.AddCast(is_inside, DType::kFloat32)});
  RecurrentLayer longer = layer;
  const Made x = to.Add(Select{}, {is_inside, layer.x, to.AddNumber(DType::kFloat32, 0.0)});
  HEARTH_ASSIGN(longer.x, to.Add(Concat{.axis = 2}, {x, is_behind}));
  HEARTH_ASSIGN(longer.weights, to.Add(Concat{.axis = 1}, {layer.weights, column}));
  HEARTH_ASSIGN(const RecurrentResult made, AddLstm(to, longer));
  return to.Add(Select{}, {TakeFirst(to, is_inside, 0), made.c, to.AddNumber(DType::kFloat32, 0.0)});
}

// What a layer of all steps made, cut to sequences that end before: behind their ends they are 0. Its cells count if
// `has_cells`.
Result<RecurrentResult> EndedAt(NodeWriter& to, const RecurrentLayer& layer, ValueId lengths, bool has_cells,
                                RecurrentResult made) {
  const Made is_inside = IsInside(to, layer, lengths);
  const auto cut = [&](ValueId all) -> Made {
    return to.Add(Select{}, {is_inside, all, to.AddNumber(DType::kFloat32, 0.0)});
  };
  const auto last = [&](ValueId all) { return TakeFirst(to, AddReverseSequence(to, all, lengths, 0, 1), 0); };
  HEARTH_ASSIGN(made.y, cut(made.y));
  HEARTH_ASSIGN(made.h, last(made.y));
  if (!has_cells) return made;
  if (made.all_c == kNoValue) {
    HEARTH_ASSIGN(made.c, CellsAtEnds(to, layer, lengths));
    return made;
  }
  HEARTH_ASSIGN(made.all_c, cut(made.all_c));
  HEARTH_ASSIGN(made.c, last(made.all_c));
  return made;
}

// The operand of one direction, or zeros [batch, units].
Made StateOf(OpView& op, NodeWriter& to, size_t i, const RecurrentLayer& layer, int32_t direction,
             bool is_batch_first) {
  if (!op.Has(i)) return to.AddFilled({layer.batch, layer.units}, to.AddNumber(DType::kFloat32, 0.0));
  const Made state = is_batch_first ? AddPermuted(to, op.In(i), {1, 0, 2}) : op.In(i);
  return TakeFirst(to, state, direction);
}

Results ReadRecurrent(OpView& op, GraphWriter& to) {
  const auto kind = static_cast<Recurrent>(op.kind());
  const bool is_batch_first = op.Int("layout", 0) != 0;
  const int64_t gates = HasCell(kind) ? 4 : kind == Recurrent::kGru ? 3 : 1;
  HEARTH_ASSIGN(ValueId x, is_batch_first ? AddPermuted(to, op.In(0), {1, 0, 2}) : op.In(0));
  HEARTH_ASSIGN(const TensorDesc recurrent, op.Desc(2));
  // [directions, gates * units, units]; of integers, the last two are transposed.
  const bool is_quantized = kind == Recurrent::kQuantizedLstm;
  const int rows = is_quantized ? 2 : 1, columns = is_quantized ? 1 : 2;
  if (to.shape(x).rank() != 3 || recurrent.shape.rank() != 3 ||
      recurrent.shape[rows] != gates * recurrent.shape[columns]) {
    return Error(StatusCode::kMalformedInput, "operands of shape {} and {}", to.shape(x).ToString(),
                 recurrent.shape.ToString());
  }
  HEARTH_ASSIGN(const size_t direction,
                op.Choice("direction", {"forward", "reverse", "bidirectional"}, StatusCode::kMalformedInput));
  const int32_t directions = direction == 2 ? 2 : 1;
  HEARTH_ASSIGN(const ValueId lengths, LengthsOf(op, kind, to.shape(x)[0]));
  const auto reversed = [&](ValueId value) {
    return lengths == kNoValue ? to.Add(Reverse{1}, {value}) : AddReverseSequence(to, value, lengths, 0, 1);
  };
  std::vector<ValueId> outputs, hidden, cells;
  for (int32_t d = 0; d < directions; ++d) {
    RecurrentLayer layer{.steps = to.shape(x)[0], .batch = to.shape(x)[1], .units = recurrent.shape[columns]};
    const bool is_reverse = direction == 1 || d == 1;
    HEARTH_ASSIGN(layer.x, is_reverse ? reversed(x) : Made(x));
    if (is_quantized) {
      HEARTH_ASSIGN(const WholeWeights weights, WholeWeightsOf(op, to, 1, 8, d, layer.units));
      HEARTH_ASSIGN(const WholeWeights of_h, WholeWeightsOf(op, to, 2, 10, d, layer.units));
      layer.weights = weights.numbers, layer.weight_scales = weights.scales;
      layer.recurrent = of_h.numbers, layer.recurrent_scales = of_h.scales;
    } else {
      HEARTH_ASSIGN(layer.weights, TakeFirst(to, RecurrentWeights(op, 1, kind), d));
      HEARTH_ASSIGN(layer.recurrent, TakeFirst(to, RecurrentWeights(op, 2, kind), d));
    }
    HEARTH_ASSIGN(layer.bias, op.Has(3) ? TakeFirst(to, op.In(3), d) : Made(kNoValue));
    HEARTH_ASSIGN(layer.h, StateOf(op, to, 5, layer, d, is_batch_first));
    if (HasCell(kind)) {
      HEARTH_ASSIGN(layer.c, StateOf(op, to, 6, layer, d, is_batch_first));
      HEARTH_ASSIGN(layer.peepholes, op.Has(7) ? TakeFirst(to, op.In(7), d) : Made(kNoValue));
    }
    HEARTH_ASSIGN(const Cell cell, CellOf(op, kind, d));
    if (is_quantized && !cell.is_standard()) return Error(StatusCode::kUnsupported, "other gates than the usual ones");
    HEARTH_ASSIGN(RecurrentResult made, !cell.is_standard() ? AddSteps(to, layer, cell)
                                        : HasCell(kind)     ? AddLstm(to, layer)
                                                            : AddRnn(to, layer, cell));
    if (lengths != kNoValue) {
      HEARTH_ASSIGN(made, EndedAt(to, layer, lengths, HasCell(kind) && op.HasOutput(2), made));
    }
    HEARTH_ASSIGN(const ValueId y, is_reverse ? reversed(made.y) : Made(made.y));
    outputs.push_back(y);
    hidden.push_back(made.h);
    cells.push_back(made.c);
  }
  // Y is [T,directions,B,H], or [B,T,directions,H]; the states are [directions,B,H], or [B,directions,H].
  HEARTH_ASSIGN(ValueId y, to.Add(Pack{1}, outputs));
  HEARTH_ASSIGN(y, is_batch_first ? AddPermuted(to, y, {2, 0, 1, 3}) : Made(y));
  const Pack states{is_batch_first ? 1 : 0};
  return Plain({y, to.Add(states, hidden), HasCell(kind) ? to.Add(states, cells) : Made(kNoValue)});
}

}  // namespace

constexpr OperatorRow kRecurrentRows[] = {
    {"GRU", ReadRecurrent, Kind(Recurrent::kGru)},
    {"LSTM", ReadRecurrent, Kind(Recurrent::kLstm)},
    {"RNN", ReadRecurrent, Kind(Recurrent::kRnn)},
    {"DynamicQuantizeLSTM", ReadRecurrent, Kind(Recurrent::kQuantizedLstm), kMicrosoft},
};
const OperatorList kRecurrentOperators = kRecurrentRows;

}  // namespace hearth::onnx
