#include <fmt/format.h>

#include "core/error.h"
#include "core/ops/broadcast_lower.h"
#include "core/ops/elementwise.h"
#include "core/ops/elementwise_table.h"
#include "core/ops/lowering_support.h"
#include "core/storage.h"

namespace hearth {
namespace {

// Zeros the lanes behind the last channel. They meet only zero weights, but infinity times zero is NaN: a logarithm
// of 5 channels would spoil the convolution behind it.
EpilogueStep ClearTail(const Bhwc& out) {
  return {
      "v = vselect_lt(make_float4(0.5f, 1.5f, 2.5f, 3.5f) + splat4(to_float(i / tail_pixels * 4)), "
      "splat4(to_float(tail_channels)), v, splat4(0.0f));",
      {},
      {{"tail_pixels", static_cast<int32_t>(out.pixels())}, {"tail_channels", out.c}}};
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

std::vector<EpilogueStep> EpilogueOf(const Binary& binary, bool integers, const Bhwc& out) {
  const BinaryRow& row = RowOf(binary.kind);
  if (integers) return IntegerActivationEpilogue(binary.activation);
  if (row.rule != ElementRule::kNumbers) return {};
  std::vector<EpilogueStep> steps;
  // A clamp without bounds saves programs, but it takes a NaN for a number.
  if (!row.unbounded || binary.activation != Activation::kNone) steps = ActivationEpilogue(binary.activation);
  if (row.unbounded && out.c % 4 != 0) steps.push_back(ClearTail(out));
  return steps;
}

}  // namespace

std::optional<std::string> UnaryUnsupported(const Graph& graph, const Node& node, const DeviceInfo&) {
  return std::get<Unary>(node.op).kind == UnaryKind::kCopy ? WideIntegers(graph, node) : WideResults(graph, node);
}

Status LowerUnary(const Node& node, PlanBuilder& builder) {
  const auto& unary = std::get<Unary>(node.op);
  const UnaryRow& row = RowOf(unary.kind);
  const bool integers = HoldsIntegers(builder, node.inputs[0]);
  KernelCall call = MapCallOf(builder, node, node.inputs[0]);
  EpilogueStep step{fmt::format("v = {};", integers ? row.integer_text : row.text), {}, {}};
  if (row.uses_alpha) step.scalars.emplace_back("alpha", unary.alpha);
  call.epilogue = {step};
  const Bhwc shape = builder.ShapeOf(node.outputs[0]);
  if (shape.c % 4 != 0 && row.unbounded) call.epilogue.push_back(ClearTail(shape));
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
  return LowerPair(node, builder, {"vselect_lt(a, splat4(0.0f), a * b, a)", {}, {}});
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
