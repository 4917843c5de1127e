#include <fmt/format.h>

#include "core/base/error.h"
#include "core/graph/ops/elementwise.h"
#include "core/graph/ops/elementwise_table.h"
#include "core/graph/quantize.h"
#include "core/lowering/broadcast_lower.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {
namespace {

// Zeros the lanes behind the last channel. They meet only zero weights, but infinity times zero is NaN: a logarithm
// of 5 channels would spoil the convolution behind it.
EpilogueStep ClearTail(const Bhwc& out, std::string_view suffix) {
  const std::string pixels = fmt::format("tail_pixels{}", suffix), channels = fmt::format("tail_channels{}", suffix);
  return {fmt::format("v = vselect_lt(make_float4(0.5f, 1.5f, 2.5f, 3.5f) + splat4(to_float(i / {} * 4)), "
                      "splat4(to_float({})), v, splat4(0.0f));",
                      pixels, channels),
          {},
          {{pixels, static_cast<int32_t>(out.pixels())}, {channels, out.c}}};
}

KernelCall MapCallOf(PlanBuilder& builder, const Node& node, ValueId input) {
  KernelCall call = MapCall(builder.ShapeOf(node.outputs[0]));
  call.tensors = {{"x", builder.Tensor(input)}, {"y", builder.Tensor(node.outputs[0])}};
  return call;
}

const Shape& ShapeOf(const PlanBuilder& builder, ValueId value) {
  return builder.graph().value(value).desc.shape;
}
bool HoldsIntegers(const PlanBuilder& builder, ValueId value) {
  return !IsReal(builder.graph().value(value).desc);
}

// A function of two operands that broadcast to the node's output.
struct PairFunction {
  std::string_view text;
  std::vector<EpilogueStep> epilogue;
  std::vector<std::pair<std::string, Scalar>> scalars;  // that the text names
};

// How the texel of an operand follows from the index of the output's.
enum class Reach : uint8_t { kOther, kSame, kOneElement, kPerChannel, kPerPixel };
Reach ReachOf(const Shape& operand, const Shape& out) {
  if (FillsWithoutRepeating(operand, out)) return Reach::kSame;
  if (operand.element_count() == 1) return Reach::kOneElement;
  const Bhwc own = ToBhwc(operand), whole = ToBhwc(out);
  if (own.pixels() == 1 && own.c == whole.c) return Reach::kPerChannel;
  if (out.rank() == 0) return Reach::kOther;
  Shape one_channel = out;
  one_channel[out.rank() - 1] = 1;
  return FillsWithoutRepeating(operand, one_channel) ? Reach::kPerPixel : Reach::kOther;
}

std::string LoadOf(Reach reach, const std::string& name, const std::string& pixels) {
  switch (reach) {
    case Reach::kOneElement: return fmt::format("splat4({}_load(0).x)", name);
    case Reach::kPerChannel: return fmt::format("{}_load(i / {})", name, pixels);
    case Reach::kPerPixel: return fmt::format("splat4({}_load(i % {}).x)", name, pixels);
    default: return fmt::format("{}_load(i)", name);
  }
}

// The node as steps behind the dispatch that makes one of its operands. False where that can't be.
bool ExtendByPair(const Node& node, PlanBuilder& builder, std::string_view text,
                  const std::vector<EpilogueStep>& epilogue, bool rhs_leads) {
  const ValueId lead = node.inputs[rhs_leads ? 1 : 0], other = node.inputs[rhs_leads ? 0 : 1];
  const ValueId output = node.outputs[0];
  const Shape& out = ShapeOf(builder, output);
  const Reach reach = ReachOf(ShapeOf(builder, other), out);
  const bool fits = FillsWithoutRepeating(ShapeOf(builder, lead), out) && reach != Reach::kOther &&
                    !HoldsIntegers(builder, other) && !HoldsIntegers(builder, output);
  if (!fits || !builder.CanExtend(lead, {&other, 1})) return false;
  const std::string name = "other" + builder.StepSuffix(lead), pixels = name + "_pixels";
  EpilogueStep step{fmt::format("{{ float4 {} = v; float4 {} = {}; v = {}; }}", rhs_leads ? "b" : "a",
                                rhs_leads ? "a" : "b", LoadOf(reach, name, pixels), text),
                    {{name, builder.Tensor(other)}},
                    {}};
  if (reach == Reach::kPerChannel || reach == Reach::kPerPixel)
    step.scalars.emplace_back(pixels, static_cast<int32_t>(ToBhwc(out).pixels()));
  std::vector<EpilogueStep> steps = {std::move(step)};
  steps.insert(steps.end(), epilogue.begin(), epilogue.end());
  return builder.Extend(node, lead, output, steps);
}

// Operands without repeating, or of one element: the texel index of all is that of the output.
Status LowerPairAsMap(const Node& node, PlanBuilder& builder, const PairFunction& function, bool rhs_leads) {
  const ValueId lead = node.inputs[rhs_leads ? 1 : 0], other = node.inputs[rhs_leads ? 0 : 1];
  const bool integers = HoldsIntegers(builder, lead);
  const bool other_repeats = !FillsWithoutRepeating(ShapeOf(builder, other), ShapeOf(builder, node.outputs[0]));
  KernelCall call = MapCallOf(builder, node, lead);
  const bool changes_type = integers != HoldsIntegers(builder, node.outputs[0]);
  if (changes_type) call.defines = {{"VALUE", "splat4(0.0f)"}};
  const std::string_view type = integers ? "int4" : "float4";
  const std::string load =
      other_repeats ? fmt::format("{}(other_load(0).x)", integers ? "splat_int4" : "splat4") : "other_load(i)";
  call.epilogue = {{fmt::format("{{ {0} {1} = {2}; {0} {3} = {4}; v = {5}; }}", type, rhs_leads ? "b" : "a",
                                changes_type ? "x_load(i)" : "v", rhs_leads ? "a" : "b", load, function.text),
                    {{"other", builder.Tensor(other)}},
                    function.scalars}};
  call.epilogue.insert(call.epilogue.end(), function.epilogue.begin(), function.epilogue.end());
  return builder.Call(node, call);
}

Status LowerPair(const Node& node, PlanBuilder& builder, const PairFunction& function) {
  const Shape& out = ShapeOf(builder, node.outputs[0]);
  const Shape shapes[] = {ShapeOf(builder, node.inputs[0]), ShapeOf(builder, node.inputs[1])};
  const bool fills[] = {FillsWithoutRepeating(shapes[0], out), FillsWithoutRepeating(shapes[1], out)};
  if (fills[0] && (fills[1] || shapes[1].element_count() == 1)) return LowerPairAsMap(node, builder, function, false);
  if (fills[1] && shapes[0].element_count() == 1) return LowerPairAsMap(node, builder, function, true);
  KernelCall call;
  call.kernel = "binary";
  call.stores_each_texel_once = true;
  call.defines = {{"OP", fmt::format("({})", function.text)}};
  if (HoldsIntegers(builder, node.inputs[0])) {
    call.defines.push_back({"IN", "int4"});
    call.defines.push_back({"SPLAT", "splat_int4"});
  }
  call.tensors = {{"lhs", builder.Tensor(node.inputs[0])},
                  {"rhs", builder.Tensor(node.inputs[1])},
                  {"y", builder.Tensor(node.outputs[0])}};
  AddBroadcast(shapes, out, call);
  if (!function.scalars.empty()) call.epilogue.push_back({"", {}, function.scalars});
  call.epilogue.insert(call.epilogue.end(), function.epilogue.begin(), function.epilogue.end());
  return builder.Call(node, call);
}

std::vector<EpilogueStep> EpilogueOf(const Binary& binary, bool integers, const Bhwc& out,
                                     std::string_view suffix = "") {
  const BinaryRow& row = RowOf(binary.kind);
  if (integers) return IntegerActivationEpilogue(binary.activation);
  if (row.rule != ElementRule::kNumbers) return {};
  std::vector<EpilogueStep> steps;
  // A clamp without bounds saves programs, but it takes a NaN for a number.
  if (!row.unbounded || binary.activation != Activation::kNone) steps = ActivationEpilogue(binary.activation, suffix);
  if (row.unbounded && out.c % 4 != 0) steps.push_back(ClearTail(out, suffix));
  return steps;
}

bool ExtendByUnary(const Node& node, PlanBuilder& builder, const Unary& unary) {
  const ValueId input = node.inputs[0], output = node.outputs[0];
  if (HoldsIntegers(builder, output) || !builder.CanExtend(input, {})) return false;
  const UnaryRow& row = RowOf(unary.kind);
  const std::string suffix = builder.StepSuffix(input);
  EpilogueStep step{fmt::format("v = {};", row.text), {}, {}};
  if (row.uses_alpha) {
    step.statement = fmt::format("{{ float alpha = slope{}; v = {}; }}", suffix, row.text);
    step.scalars.emplace_back("slope" + suffix, unary.alpha);
  }
  std::vector<EpilogueStep> steps = {std::move(step)};
  const Bhwc shape = builder.ShapeOf(output);
  if (shape.c % 4 != 0 && row.unbounded) steps.push_back(ClearTail(shape, suffix));
  return builder.Extend(node, input, output, steps);
}

// The operand that is made last leads: the other one is there by then.
bool ExtendByBinary(const Node& node, PlanBuilder& builder, const Binary& binary) {
  const std::string_view text = RowOf(binary.kind).text;
  for (const bool rhs_leads : {false, true}) {
    const std::string suffix = builder.StepSuffix(node.inputs[rhs_leads ? 1 : 0]);
    const auto epilogue = EpilogueOf(binary, false, builder.ShapeOf(node.outputs[0]), suffix);
    if (ExtendByPair(node, builder, text, epilogue, rhs_leads)) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> UnaryUnsupported(const Graph& graph, const Node& node, const DeviceInfo&) {
  return std::get<Unary>(node.op).kind == UnaryKind::kCopy ? WideIntegers(graph, node) : WideResults(graph, node);
}

Status LowerUnary(const Node& node, PlanBuilder& builder) {
  const auto& unary = std::get<Unary>(node.op);
  const UnaryRow& row = RowOf(unary.kind);
  const bool integers = HoldsIntegers(builder, node.inputs[0]);
  if (!integers && ExtendByUnary(node, builder, unary)) return Status::Ok();
  KernelCall call = MapCallOf(builder, node, node.inputs[0]);
  EpilogueStep step{fmt::format("v = {};", integers ? row.integer_text : row.text), {}, {}};
  if (row.uses_alpha) step.scalars.emplace_back("alpha", unary.alpha);
  call.epilogue = {step};
  const Bhwc shape = builder.ShapeOf(node.outputs[0]);
  if (shape.c % 4 != 0 && row.unbounded) call.epilogue.push_back(ClearTail(shape, ""));
  return builder.Call(node, call);
}

std::optional<std::string> BinaryUnsupported(const Graph& graph, const Node& node, const DeviceInfo&) {
  const BinaryKind kind = std::get<Binary>(node.op).kind;
  const bool chooses = kind == BinaryKind::kMaximum || kind == BinaryKind::kMinimum;
  return chooses ? WideIntegers(graph, node) : WideResults(graph, node);
}

Status LowerBinary(const Node& node, PlanBuilder& builder) {
  const auto& binary = std::get<Binary>(node.op);
  const BinaryRow& row = RowOf(binary.kind);
  const bool integers = HoldsIntegers(builder, node.inputs[0]);
  if (!integers && ExtendByBinary(node, builder, binary)) return Status::Ok();
  PairFunction function{integers ? row.integer_text : row.text, {}, {}};
  function.epilogue = EpilogueOf(binary, HoldsIntegers(builder, node.outputs[0]), builder.ShapeOf(node.outputs[0]));
  if (function.text.find("type_bits") != std::string_view::npos) {
    function.scalars = {{"type_bits", BitsOf(builder.graph().value(node.inputs[0]).desc.dtype)}};
  }
  return LowerPair(node, builder, function);
}

std::optional<std::string> PReluUnsupported(const Graph& graph, const Node& node, const DeviceInfo&) {
  return NotReal(graph, node);
}

Status LowerPRelu(const Node& node, PlanBuilder& builder) {
  constexpr std::string_view kText = "vselect_lt(a, splat4(0.0f), a * b, a)";
  if (ExtendByPair(node, builder, kText, {}, false)) return Status::Ok();
  return LowerPair(node, builder, {kText, {}, {}});
}

std::optional<std::string> AddNUnsupported(const Graph& graph, const Node& node, const DeviceInfo&) {
  return WideResults(graph, node);
}

// The first call copies, and every call adds at most two tensors: with what it reads and writes that is the four
// buffers that every device has.
Status LowerAddN(const Node& node, PlanBuilder& builder) {
  const std::vector<ValueId>& inputs = node.inputs;
  const size_t rest = inputs.size() - 1;
  for (size_t first = 1; first == 1 || first <= rest; first += 2) {
    KernelCall call = MapCallOf(builder, node, first == 1 ? inputs[0] : node.outputs[0]);
    if (first > 1) call.buffer_reads = {"x"};
    if (first <= rest)
      call.epilogue.push_back({"v = v + second_load(i);", {{"second", builder.Tensor(inputs[first])}}, {}});
    if (first < rest)
      call.epilogue.push_back({"v = v + third_load(i);", {{"third", builder.Tensor(inputs[first + 1])}}, {}});
    HEARTH_TRY(builder.Call(node, call));
  }
  return Status::Ok();
}

}  // namespace hearth
