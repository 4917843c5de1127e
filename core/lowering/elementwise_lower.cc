#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/ops/elementwise_table.h"
#include "core/graph/quantize.h"
#include "core/lowering/broadcast_lower.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {
namespace {

// Zeros the components of the last texel that hold no channel. They meet only zero weights, but infinity times zero is
// NaN: the logarithm of 5 channels would spoil the next convolution.
EpilogueStep ClearTail(const Bhwc& out, std::string_view suffix) {
  const std::string pixels = fmt::format("tail_pixels{}", suffix), channels = fmt::format("tail_channels{}", suffix);
  return {{StatementForm::kClearTail}, {}, {{pixels, out.pixels()}, {channels, out.c}}};
}

const Shape& ShapeOf(const PlanBuilder& builder, ValueId value) {
  return builder.DescOf(value).shape;
}
bool HoldsIntegers(const PlanBuilder& builder, ValueId value) {
  return !IsReal(builder.DescOf(value));
}

// A function of two operands that are broadcast to the node's output.
struct PairFunction {
  ElementFunction function;
  std::vector<EpilogueStep> epilogue;
  std::vector<std::pair<std::string, Scalar>> scalars;  // used in the function's text
};

// Whether the operand is broadcast only along leading dimensions: `out` repeats it as a whole.
bool Repeats(const Shape& operand, const Shape& out) {
  int missing = out.rank() - operand.rank();
  for (int d = 0; d + 1 < operand.rank() && operand[d] == 1; ++d) ++missing;
  Shape repeated = out;
  for (int d = 0; d < std::min(missing, out.rank() - 1); ++d) repeated[d] = 1;
  return FillsWithoutRepeating(operand, repeated);
}

std::optional<Reach> ReachOf(const Shape& operand, const Shape& out) {
  if (FillsWithoutRepeating(operand, out)) return Reach::kSame;
  if (operand.element_count() == 1) return Reach::kOneElement;
  const Bhwc own = ToBhwc(operand), whole = ToBhwc(out);
  if (own.pixels() == 1 && own.c == whole.c) return Reach::kPerChannel;
  if (out.rank() == 0) return std::nullopt;
  Shape one_channel = out;
  one_channel[out.rank() - 1] = 1;
  if (FillsWithoutRepeating(operand, one_channel)) return Reach::kPerPixel;
  return Repeats(operand, out) ? std::optional(Reach::kRepeated) : std::nullopt;
}

// Makes the node an epilogue step of the dispatch that makes one of its operands. False if that is impossible.
bool ExtendByPair(const Node& node, PlanBuilder& builder, const ElementFunction& function,
                  const std::vector<EpilogueStep>& epilogue, bool rhs_leads) {
  const ValueId lead = node.inputs[rhs_leads ? 1 : 0], other = node.inputs[rhs_leads ? 0 : 1];
  const ValueId output = node.outputs[0];
  const Shape& out = ShapeOf(builder, output);
  const std::optional<Reach> reach = ReachOf(ShapeOf(builder, other), out);
  const bool fits = FillsWithoutRepeating(ShapeOf(builder, lead), out) && reach.has_value() &&
                    !HoldsIntegers(builder, other) && !HoldsIntegers(builder, output);
  if (!fits || !builder.CanExtend(lead, {&other, 1})) return false;
  const std::string name = "other" + builder.StepSuffix(lead), pixels = name + "_pixels";
  const EpilogueStatement statement{
      .form = StatementForm::kPair, .function = function, .reach = *reach, .other_first = rhs_leads};
  EpilogueStep step{statement, {{name, builder.Tensor(other)}}, {}};
  if (reach >= Reach::kPerChannel) step.scalars.emplace_back(pixels, ToBhwc(out).pixels());
  if (reach == Reach::kRepeated) step.scalars.emplace_back(name + "_own", ToBhwc(ShapeOf(builder, other)).pixels());
  std::vector<EpilogueStep> steps = {std::move(step)};
  steps.insert(steps.end(), epilogue.begin(), epilogue.end());
  return builder.Extend(node, lead, output, steps);
}

// For operands that are not broadcast or have one element: all have the output's texel index.
Status LowerPairAsMap(const Node& node, PlanBuilder& builder, const PairFunction& function, bool rhs_leads) {
  const ValueId lead = node.inputs[rhs_leads ? 1 : 0], other = node.inputs[rhs_leads ? 0 : 1];
  const bool integers = HoldsIntegers(builder, lead);
  const bool other_repeats = !FillsWithoutRepeating(ShapeOf(builder, other), ShapeOf(builder, node.outputs[0]));
  KernelCall call = MapCall(builder, lead, node.outputs[0]);
  const bool changes_type = integers != HoldsIntegers(builder, node.outputs[0]);
  if (changes_type) call.defines = {{"VALUE", "splat4(0.0f)"}};
  const EpilogueStatement statement{.form = StatementForm::kPair,
                                    .function = function.function,
                                    .reach = other_repeats ? Reach::kOneElement : Reach::kSame,
                                    .integers = integers,
                                    .other_first = rhs_leads,
                                    .from_x = changes_type};
  call.epilogue = {{statement, {{"other", builder.Tensor(other)}}, function.scalars}};
  call.epilogue.insert(call.epilogue.end(), function.epilogue.begin(), function.epilogue.end());
  return builder.Call(node, call);
}

Status LowerPair(const Node& node, PlanBuilder& builder, const PairFunction& function) {
  const Shape& out = ShapeOf(builder, node.outputs[0]);
  const Shape shapes[] = {ShapeOf(builder, node.inputs[0]), ShapeOf(builder, node.inputs[1])};
  const bool fills[] = {FillsWithoutRepeating(shapes[0], out), FillsWithoutRepeating(shapes[1], out)};
  if (fills[0] && (fills[1] || shapes[1].element_count() == 1)) return LowerPairAsMap(node, builder, function, false);
  if (fills[1] && shapes[0].element_count() == 1) return LowerPairAsMap(node, builder, function, true);
  KernelCall call = NodeCallOf<kernels::Binary>(builder, node);
  call.stores_each_texel_once = true;
  call.defines = {{"OP", DefineValueOf(function.function)}};
  if (HoldsIntegers(builder, node.inputs[0])) {
    call.defines.push_back({"IN", "int4"});
    call.defines.push_back({"SPLAT", "splat_int4"});
  }
  AddBroadcast(shapes, out, call);
  if (!function.scalars.empty()) call.epilogue.push_back({{}, {}, function.scalars});
  call.epilogue.insert(call.epilogue.end(), function.epilogue.begin(), function.epilogue.end());
  return builder.Call(node, call);
}

std::vector<EpilogueStep> EpilogueOf(const Binary& binary, bool integers, const Bhwc& out,
                                     std::string_view suffix = "") {
  const BinaryRow& row = RowOf(binary.kind);
  if (integers) return IntegerActivationEpilogue(binary.activation);
  if (row.rule != ElementRule::kNumbers) return {};
  std::vector<EpilogueStep> steps = ActivationEpilogue(binary.activation, suffix);
  if (row.unbounded && out.c % 4 != 0) steps.push_back(ClearTail(out, suffix));
  return steps;
}

bool ExtendByUnary(const Node& node, PlanBuilder& builder, const Unary& unary) {
  const ValueId input = node.inputs[0], output = node.outputs[0];
  builder.MakeDeferred(input);
  if (HoldsIntegers(builder, output) || !builder.CanExtend(input, {})) return false;
  const UnaryRow& row = RowOf(unary.kind);
  const std::string suffix = builder.StepSuffix(input);
  EpilogueStep step{{StatementForm::kUnary, ElementFunction::Of(unary.kind)}, {}, {}};
  if (row.uses_alpha) {
    step.statement.form = StatementForm::kSlopedUnary;
    step.scalars.emplace_back("slope" + suffix, unary.alpha);
  }
  std::vector<EpilogueStep> steps = {std::move(step)};
  const Bhwc shape = builder.ShapeOf(output);
  if (shape.c % 4 != 0 && row.unbounded) steps.push_back(ClearTail(shape, suffix));
  return builder.Extend(node, input, output, steps);
}

// Extends the dispatch of the operand that is made last: the other operand exists by then.
bool ExtendByBinary(const Node& node, PlanBuilder& builder, const Binary& binary) {
  const ElementFunction function = ElementFunction::Of(binary.kind);
  for (const bool rhs_leads : {false, true}) {
    const std::string suffix = builder.StepSuffix(node.inputs[rhs_leads ? 1 : 0]);
    const auto epilogue = EpilogueOf(binary, false, builder.ShapeOf(node.outputs[0]), suffix);
    if (ExtendByPair(node, builder, function, epilogue, rhs_leads)) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> UnaryUnsupported(const Graph& graph, const Node& node, const Placing& placing) {
  return std::get<Unary>(node.op).kind == UnaryKind::kCopy ? WideIntegers(graph, node, placing)
                                                           : WideResults(graph, node, placing);
}

Status LowerUnary(const Node& node, PlanBuilder& builder) {
  const auto& unary = std::get<Unary>(node.op);
  const UnaryRow& row = RowOf(unary.kind);
  const bool integers = HoldsIntegers(builder, node.inputs[0]);
  if (!integers && ExtendByUnary(node, builder, unary)) return Status::Ok();
  KernelCall call = MapCall(builder, node.inputs[0], node.outputs[0]);
  EpilogueStep step{{StatementForm::kUnary, ElementFunction::Of(unary.kind, integers)}, {}, {}};
  if (row.uses_alpha) step.scalars.emplace_back("alpha", unary.alpha);
  call.epilogue = {step};
  if (unary.kind != UnaryKind::kCopy) WrapIntegers(node, builder, call);
  const Bhwc shape = builder.ShapeOf(node.outputs[0]);
  if (shape.c % 4 != 0 && row.unbounded) call.epilogue.push_back(ClearTail(shape, ""));
  return builder.Call(node, call);
}

std::optional<std::string> BinaryUnsupported(const Graph& graph, const Node& node, const Placing& placing) {
  if (auto reason = BroadcastUnsupported(graph, node)) return reason;
  const BinaryKind kind = std::get<Binary>(node.op).kind;
  const bool chooses = kind == BinaryKind::kMaximum || kind == BinaryKind::kMinimum;
  return chooses ? WideIntegers(graph, node, placing) : WideResults(graph, node, placing);
}

Status LowerBinary(const Node& node, PlanBuilder& builder) {
  const auto& binary = std::get<Binary>(node.op);
  for (ValueId input : node.inputs) builder.MakeDeferred(input);
  const bool integers = HoldsIntegers(builder, node.inputs[0]);
  if (!integers && ExtendByBinary(node, builder, binary)) return Status::Ok();
  PairFunction function{ElementFunction::Of(binary.kind, integers), {}, {}};
  function.epilogue = EpilogueOf(binary, HoldsIntegers(builder, node.outputs[0]), builder.ShapeOf(node.outputs[0]));
  if (RowOf(binary.kind).integer_function != nullptr) {
    const auto wrap = IntegerWrapEpilogue(builder.DescOf(node.outputs[0]));
    function.epilogue.insert(function.epilogue.begin(), wrap.begin(), wrap.end());
  }
  if (TextOf(function.function).find("type_bits") != std::string_view::npos) {
    function.scalars = {{"type_bits", BitsOf(builder.DescOf(node.inputs[0]).dtype)}};
  }
  return LowerPair(node, builder, function);
}

std::optional<std::string> PReluUnsupported(const Graph& graph, const Node& node, const Placing& placing) {
  if (auto reason = BroadcastUnsupported(graph, node)) return reason;
  return NotReal(graph, node, placing);
}

Status LowerPRelu(const Node& node, PlanBuilder& builder) {
  for (ValueId input : node.inputs) builder.MakeDeferred(input);
  if (ExtendByPair(node, builder, ElementFunction::PRelu(), {}, false)) return Status::Ok();
  return LowerPair(node, builder, {ElementFunction::PRelu(), {}, {}});
}

// The first call copies; each further call adds at most two tensors. With input and output it uses four buffers, which
// every device has.
Status LowerAddN(const Node& node, PlanBuilder& builder) {
  const std::vector<ValueId>& inputs = node.inputs;
  const size_t rest = inputs.size() - 1;
  for (size_t first = 1; first == 1 || first <= rest; first += 2) {
    KernelCall call = MapCall(builder, first == 1 ? inputs[0] : node.outputs[0], node.outputs[0]);
    if (first > 1) call.buffer_reads = {"x"};
    if (first <= rest)
      call.epilogue.push_back({{StatementForm::kAdd}, {{"second", builder.Tensor(inputs[first])}}, {}});
    if (first < rest)
      call.epilogue.push_back({{StatementForm::kAdd}, {{"third", builder.Tensor(inputs[first + 1])}}, {}});
    WrapIntegers(node, builder, call);
    HEARTH_TRY(builder.Call(node, call));
  }
  return Status::Ok();
}

std::optional<std::string> CastUnsupported(const Graph& graph, const Node& node, const Placing& placing) {
  const DType from = graph.value(node.inputs[0]).desc.dtype;
  const bool from_real = from == DType::kFloat32 || from == DType::kFloat16;
  return from_real ? WideResults(graph, node, placing) : WideIntegers(graph, node, placing);
}

Status LowerCast(const Node& node, PlanBuilder& builder) {
  const DType to = std::get<Cast>(node.op).to;
  const bool from_real = IsReal(builder.DescOf(node.inputs[0]));
  KernelCall call = MapCall(builder, node.inputs[0], node.outputs[0]);
  call.defines = {{"VALUE", std::string(CastText(to, from_real))}};
  return builder.Call(node, call);
}

}  // namespace hearth
