#include "frontends/onnx/recurrent_steps.h"

#include <algorithm>

#include "frontends/onnx/shared.h"

namespace hearth::onnx {
namespace {

// A function with the parameters that it takes, and what they are in onnxruntime if the file gives none.
struct FunctionRow {
  std::string_view name;
  bool has_alpha = false, has_beta = false;
  double alpha = 0.0, beta = 0.0;
};
constexpr FunctionRow kFunctions[] = {
    {"Sigmoid"},
    {"Tanh"},
    {"Relu"},
    {"Softsign"},
    {"LeakyRelu", true, false, 0.01},
    {"ThresholdedRelu", true},
    {"Elu", true, false, 1.0},
    {"Affine", true, true},
    {"ScaledTanh", true, true},
    {"HardSigmoid", true, true, 0.2, 0.5},
};

// One step of a layer after the other.
class StepWriter {
 public:
  StepWriter(NodeWriter& to, const RecurrentLayer& layer, const Cell& cell) : to_(to), layer_(layer), cell_(cell) {}

  Result<RecurrentResult> Write() {
    HEARTH_TRY(to_.budget().ChargeOperators(int64_t{layer_.steps} * 40));
    if (layer_.bias != kNoValue) {
      const int32_t size = to_.shape(layer_.weights)[0];
      bias_x_ = to_.AddSlice(layer_.bias, 0, 0, size);
      bias_h_ = to_.AddSlice(layer_.bias, 0, size, size);
    }
    HEARTH_ASSIGN(const ValueId inputs, Dense(layer_.x, layer_.weights, bias_x_));  // of all steps
    Operands states, cells;
    for (int32_t step = 0; step < layer_.steps; ++step) {
      const Made x = TakeFirst(to_, inputs, step);
      if (cell_.kind == Recurrent::kGru) {
        GruStep(x);
      } else if (cell_.kind == Recurrent::kRnn) {
        h_ = Applied(0, Sum(x, FromState(h_, 0, 1)));
      } else {
        LstmStep(x);
        cells.Append(AsStep(c_));
      }
      states.Append(AsStep(h_));
    }
    RecurrentResult made;
    HEARTH_ASSIGN(made.y, to_.Add(Concat{.axis = 0}, states));
    HEARTH_ASSIGN(made.h, h_);
    if (cell_.kind != Recurrent::kLstm) return made;
    HEARTH_ASSIGN(made.all_c, to_.Add(Concat{.axis = 0}, cells));
    HEARTH_ASSIGN(made.c, c_);
    return made;
  }

 private:
  Made Two(BinaryKind kind, const Made& a, const Made& b) { return to_.Add(kind, {a, b}); }
  Made With(BinaryKind kind, const Made& a, double number) {
    HEARTH_TRY(a.status());
    return Two(kind, a, AddScalarLike(to_, *a, number));
  }
  Made Times(const Made& a, const Made& b) { return Two(BinaryKind::kMul, a, b); }
  Made Sum(const Made& a, const Made& b) { return Two(BinaryKind::kAdd, a, b); }
  Made AsStep(const Made& state) { return to_.AddReshape(state, {1, layer_.batch, layer_.units}); }

  Made Dense(const Made& x, const Made& weights, const Made& bias) {
    return to_.Add(FullyConnected{.keep_dims = true}, {x, weights, bias});
  }
  // Gates of a sum [B, gates * units], from number `first` on; rows of the recurrent weights and their bias.
  Made Part(const Made& value, int32_t first, int32_t count = 1) {
    return to_.AddSlice(value, 1, first * layer_.units, count * layer_.units);
  }
  Made Rows(const Made& value, int32_t first, int32_t count) {
    if (value.ok() && *value == kNoValue) return value;
    return to_.AddSlice(value, 0, first * layer_.units, count * layer_.units);
  }
  Made FromState(const Made& h, int32_t first, int32_t count) {
    return Dense(h, Rows(layer_.recurrent, first, count), Rows(bias_h_, first, count));
  }

  // Function number k of a sum, which is clipped.
  Made Applied(size_t k, const Made& sum) {
    Made x = sum;
    if (cell_.clip > 0.0 && k < 2) {
      x = With(BinaryKind::kMinimum, With(BinaryKind::kMaximum, sum, -cell_.clip), cell_.clip);
    }
    return AddActivation(to_, cell_.functions[k].name, x, cell_.functions[k].alpha, cell_.functions[k].beta);
  }

  // h' = (1 - z) n + z h. Gates z, r, n stand in this order.
  void GruStep(const Made& x) {
    const Made gates = Applied(0, Sum(Part(x, 0, 2), FromState(h_, 0, 2)));
    const Made z = Part(gates, 0), r = Part(gates, 1);
    const Made past = cell_.resets_product ? Times(r, FromState(h_, 2, 1)) : FromState(Times(r, h_), 2, 1);
    const Made n = Applied(1, Sum(Part(x, 2), past));
    h_ = Sum(n, Times(z, Two(BinaryKind::kSub, h_, n)));
  }

  // Gates i, o, f, c stand in this order; peepholes i, o, f.
  void LstmStep(const Made& x) {
    sums_ = Sum(x, FromState(h_, 0, 4));
    const Made input = Gate(0);
    const Made kept = cell_.ties_forgetting ? With(BinaryKind::kAdd, to_.Add(UnaryKind::kNeg, input), 1.0) : Gate(2);
    c_ = Sum(Times(kept, c_), Times(input, Applied(1, Part(sums_, 3))));
    h_ = Times(Gate(1), Applied(2, c_));
  }
  Made Gate(int32_t k) {
    Made sum = Part(sums_, k);
    if (layer_.peepholes != kNoValue)
      sum = Sum(sum, Times(to_.AddSlice(layer_.peepholes, 0, k * layer_.units, layer_.units), c_));
    return Applied(0, sum);
  }

  NodeWriter& to_;
  const RecurrentLayer& layer_;
  const Cell& cell_;
  Made bias_x_ = kNoValue, bias_h_ = kNoValue;
  Made h_ = layer_.h, c_ = layer_.c, sums_ = kNoValue;  // states, and the sums of an LSTM's step
};

std::array<std::string_view, 3> UsualFunctions(Recurrent kind) {
  if (kind == Recurrent::kRnn) return {"Tanh", "", ""};
  return {"Sigmoid", "Tanh", kind == Recurrent::kGru ? "" : "Tanh"};
}

}  // namespace

bool Cell::is_standard() const {
  const auto usual = UsualFunctions(kind);
  const bool is_relu = kind == Recurrent::kRnn && functions[0].name == "Relu";
  const bool has_usual = std::ranges::equal(functions, usual, {}, &CellFunction::name);
  return kind != Recurrent::kGru && clip == 0.0 && !ties_forgetting && (is_relu || has_usual);
}

Result<Cell> CellOf(const OpView& op, Recurrent kind, int32_t direction) {
  Cell cell{.kind = kind,
            .clip = op.Float("clip", 0.0),
            .ties_forgetting = op.Int("input_forget", 0) != 0,
            .resets_product = op.Int("linear_before_reset", 0) != 0};
  const auto usual = UsualFunctions(kind);
  const auto per_direction = static_cast<size_t>(std::ranges::count_if(usual, [](auto name) { return !name.empty(); }));
  const std::vector<std::string_view> names = op.Texts("activations");
  const std::vector<float> alphas = op.Reals("activation_alpha"), betas = op.Reals("activation_beta");
  size_t alpha = 0, beta = 0;  // each function that takes one takes the next
  for (size_t k = 0; k < per_direction * (static_cast<size_t>(direction) + 1); ++k) {
    const std::string_view name = k < names.size() ? names[k] : usual[k % per_direction];
    const auto* const row = std::ranges::find(kFunctions, name, &FunctionRow::name);
    if (row == std::end(kFunctions)) return Error(StatusCode::kUnsupported, "the activation '{}'", name.substr(0, 40));
    CellFunction& function = cell.functions[k % per_direction];
    function = {row->name, row->alpha, row->beta};
    if (row->has_alpha && alpha < alphas.size()) function.alpha = alphas[alpha++];
    if (row->has_beta && beta < betas.size()) function.beta = betas[beta++];
  }
  return cell;
}

Made TakeFirst(NodeWriter& to, const Made& value, int32_t k) {
  HEARTH_TRY(value.status());
  const Shape shape = to.shape(*value);
  if (shape.rank() < 2 || k >= shape[0]) {
    return Error(StatusCode::kMalformedInput, "an operand of shape {}", shape.ToString());
  }
  return to.AddReshape(to.AddSlice(value, 0, k, 1), Shape::FromSpan(shape.dims().subspan(1)));
}

Result<RecurrentResult> AddSteps(NodeWriter& to, const RecurrentLayer& layer, const Cell& cell) {
  return StepWriter(to, layer, cell).Write();
}

}  // namespace hearth::onnx
