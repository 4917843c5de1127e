// LSTM, GRU and RNN. LSTM and RNN are Hearth's own layers, with the gates in another order; GRU is written out step by
// step.
#include "core/graph/ops/recurrent.h"

#include <algorithm>
#include <array>
#include <span>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "frontends/onnx/integer_products.h"
#include "frontends/onnx/operators.h"
#include "frontends/writer/expansions.h"

namespace hearth::onnx {
namespace {

// Kinds of ReadRecurrent.
enum class Recurrent : uint8_t { kLstm, kGru, kRnn, kQuantizedLstm };

// A layer in one direction. Sequences are [T,B,...].
struct Layer {
  ValueId x = kNoValue, weights = kNoValue, recurrent = kNoValue, bias = kNoValue;  // of one direction, 2-D and 1-D
  ValueId weight_scales = kNoValue, recurrent_scales = kNoValue;  // of weights in 8 bits, gates in Hearth's order
  ValueId h = kNoValue, c = kNoValue, peepholes = kNoValue;
  int32_t steps = 0, batch = 0, units = 0;
};
struct LayerResult {
  ValueId y = kNoValue, h = kNoValue, c = kNoValue;
};

// Without the first dimension, of which entry `k` is taken.
Made TakeFirst(NodeWriter& to, const Made& value, int32_t k) {
  HEARTH_TRY(value.status());
  const Shape shape = to.shape(*value);
  if (shape.rank() < 2 || k >= shape[0]) {
    return Error(StatusCode::kMalformedInput, "an operand of shape {}", shape.ToString());
  }
  return to.AddReshape(to.AddSlice(value, 0, k, 1), Shape::FromSpan(shape.dims().subspan(1)));
}

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

Result<LayerResult> AddLstm(NodeWriter& to, const Layer& layer) {
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
  return LayerResult{made[0], made[1], made[2]};
}

Result<LayerResult> AddRnn(NodeWriter& to, const Layer& layer, Activation activation) {
  HEARTH_ASSIGN(const ValueId bias, BiasOf(to, layer.bias, layer.units));
  const TensorDesc real = PlainType(DType::kFloat32);
  HEARTH_ASSIGN(const std::vector<ValueId> made,
                to.AddSeveral(Rnn{.time_major = true, .activation = activation},
                              {layer.x, layer.h, layer.weights, layer.recurrent, bias}, {real, real}));
  return LayerResult{made[0], made[1], kNoValue};
}

// h' = (1 - z) n + z h. Gates z, r, n stand in this order.
Result<LayerResult> AddGru(NodeWriter& to, const Layer& layer, bool resets_product) {
  const int32_t units = layer.units;
  HEARTH_TRY(to.budget().ChargeOperators(int64_t{layer.steps} * 20));
  Made bias_x(kNoValue), bias_h(kNoValue);
  if (layer.bias != kNoValue) {
    bias_x = to.AddSlice(layer.bias, 0, 0, 3 * units);
    bias_h = to.AddSlice(layer.bias, 0, 3 * units, 3 * units);
  }
  const auto dense = [&](const Made& x, const Made& weights, const Made& bias) {
    return to.Add(FullyConnected{.keep_dims = true}, {x, weights, bias});
  };
  const auto part = [&](const Made& value, int32_t first, int32_t count) {
    return value.ok() && *value == kNoValue ? value : to.AddSlice(value, 1, first * units, count * units);
  };
  const auto rows = [&](const Made& value, int32_t first, int32_t count) {
    return value.ok() && *value == kNoValue ? value : to.AddSlice(value, 0, first * units, count * units);
  };
  HEARTH_ASSIGN(const ValueId inputs, dense(layer.x, layer.weights, bias_x));  // of all steps
  Made h = layer.h;
  Operands outputs;
  for (int32_t step = 0; step < layer.steps; ++step) {
    HEARTH_ASSIGN(const ValueId x, TakeFirst(to, inputs, step));
    const Made carried = dense(h, rows(layer.recurrent, 0, 2), rows(bias_h, 0, 2));
    const Made gates = to.Add(UnaryKind::kLogistic, to.Add(BinaryKind::kAdd, {part(x, 0, 2), carried}));
    HEARTH_ASSIGN(const ValueId z, part(gates, 0, 1));
    HEARTH_ASSIGN(const ValueId r, part(gates, 1, 1));
    const Made weights = rows(layer.recurrent, 2, 1), bias = rows(bias_h, 2, 1);
    const Made past = resets_product ? to.Add(BinaryKind::kMul, {r, dense(h, weights, bias)})
                                     : dense(to.Add(BinaryKind::kMul, {r, h}), weights, bias);
    const Made n = to.Add(UnaryKind::kTanh, to.Add(BinaryKind::kAdd, {part(x, 2, 1), past}));
    h = to.Add(BinaryKind::kAdd, {n, to.Add(BinaryKind::kMul, {z, to.Add(BinaryKind::kSub, {h, n})})});
    outputs.Append(to.AddReshape(h, {1, layer.batch, units}));
  }
  HEARTH_ASSIGN(const ValueId y, to.Add(Concat{.axis = 0}, outputs));
  HEARTH_ASSIGN(const ValueId last, h);
  return LayerResult{y, last, kNoValue};
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

// The activation that all directions have; an error for others than the layer's own.
Result<Activation> ActivationOf(const OpView& op, Recurrent kind) {
  const AttributeProto* names = op.Find("activations");
  if (names == nullptr || names->strings.empty()) return Activation::kTanh;
  std::vector<std::string_view> expected = {"Tanh"};
  if (HasCell(kind)) expected = {"Sigmoid", "Tanh", "Tanh"};
  if (kind == Recurrent::kGru) expected = {"Sigmoid", "Tanh"};
  const bool is_relu = kind == Recurrent::kRnn && names->strings[0] == "Relu";
  if (is_relu) expected = {"Relu"};
  for (size_t k = 0; k < names->strings.size(); ++k) {
    if (names->strings[k] == expected[k % expected.size()]) continue;
    return Error(StatusCode::kUnsupported, "the activation '{}'", names->strings[k].substr(0, 40));
  }
  return is_relu ? Activation::kRelu : Activation::kTanh;
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
Made IsInside(NodeWriter& to, const Layer& layer, ValueId lengths) {
  return to.Add(BinaryKind::kLess, {to.AddIndices({layer.steps, 1, 1}), to.AddReshape(lengths, {1, layer.batch, 1})});
}

// The cells where sequences end, by a layer that keeps its cells from there on: a further input is 1 on those steps,
// which closes the input's gate and opens the one that forgets. What the file has there, any numbers, becomes 0. Cells
// of empty sequences are 0, as in onnxruntime.
Made CellsAtEnds(NodeWriter& to, const Layer& layer, ValueId lengths) {
  constexpr double kSaturated = 1e4;  // more than weights of h make, less than the largest number of 16 bits
  const auto gate = [&](double weight) {
    return to.AddFilled({layer.units, 1}, to.AddNumber(DType::kFloat32, weight));
  };
  const Made column = to.Add(Concat{.axis = 0}, {gate(-kSaturated), gate(0.0), gate(kSaturated), gate(0.0)});
  const Made is_inside = IsInside(to, layer, lengths);
  const Made is_behind =
      to.Add(BinaryKind::kSub, {to.AddNumber(DType::kFloat32, 1.0), to.AddCast(is_inside, DType::kFloat32)});
  Layer longer = layer;
  const Made x = to.Add(Select{}, {is_inside, layer.x, to.AddNumber(DType::kFloat32, 0.0)});
  HEARTH_ASSIGN(longer.x, to.Add(Concat{.axis = 2}, {x, is_behind}));
  HEARTH_ASSIGN(longer.weights, to.Add(Concat{.axis = 1}, {layer.weights, column}));
  HEARTH_ASSIGN(const LayerResult made, AddLstm(to, longer));
  return to.Add(Select{}, {TakeFirst(to, is_inside, 0), made.c, to.AddNumber(DType::kFloat32, 0.0)});
}

// What a layer of all steps made, cut to sequences that end before: behind their ends they are 0.
Result<LayerResult> EndedAt(NodeWriter& to, const Layer& layer, ValueId lengths, LayerResult made) {
  HEARTH_ASSIGN(made.y, to.Add(Select{}, {IsInside(to, layer, lengths), made.y, to.AddNumber(DType::kFloat32, 0.0)}));
  HEARTH_ASSIGN(made.h, TakeFirst(to, AddReverseSequence(to, made.y, lengths, 0, 1), 0));
  return made;
}

// The operand of one direction, or zeros [batch, units].
Made StateOf(OpView& op, NodeWriter& to, size_t i, const Layer& layer, int32_t direction, bool is_batch_first) {
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
  const std::string_view direction = op.Text("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    return Error(StatusCode::kMalformedInput, "the direction '{}'", direction.substr(0, 40));
  }
  const int32_t directions = direction == "bidirectional" ? 2 : 1;
  HEARTH_ASSIGN(const Activation activation, ActivationOf(op, kind));
  HEARTH_ASSIGN(const ValueId lengths, LengthsOf(op, kind, to.shape(x)[0]));
  const auto reversed = [&](ValueId value) {
    return lengths == kNoValue ? to.Add(Reverse{1}, {value}) : AddReverseSequence(to, value, lengths, 0, 1);
  };
  if (op.Find("clip") != nullptr) return Error(StatusCode::kUnsupported, "a clip of the gates");
  if (op.Int("input_forget", 0) != 0) return Error(StatusCode::kUnsupported, "input_forget");
  std::vector<ValueId> outputs, hidden, cells;
  for (int32_t d = 0; d < directions; ++d) {
    Layer layer{.steps = to.shape(x)[0], .batch = to.shape(x)[1], .units = recurrent.shape[columns]};
    const bool is_reverse = direction == "reverse" || d == 1;
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
    HEARTH_ASSIGN(LayerResult made, HasCell(kind)             ? AddLstm(to, layer)
                                    : kind == Recurrent::kGru ? AddGru(to, layer, op.Int("linear_before_reset", 0) != 0)
                                                              : AddRnn(to, layer, activation));
    if (lengths != kNoValue) {
      HEARTH_ASSIGN(made, EndedAt(to, layer, lengths, made));
      if (HasCell(kind) && op.HasOutput(2)) {
        HEARTH_ASSIGN(made.c, CellsAtEnds(to, layer, lengths));
      }
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
