#include <fmt/format.h>

#include "core/ops/elementwise.h"
#include "core/ops/elementwise_table.h"
#include "core/ops/lowering_support.h"

namespace hearth {
namespace {

// Strides in texels of an operand that is broadcast to `out`; 0 repeats.
struct BroadcastStrides {
  int32_t batch, height, width, slice, first_channel;
};

// The operand's shape with leading ones up to `rank`: numpy aligns at the last dimension.
Bhwc AlignedShape(const Shape& shape, int rank) {
  std::vector<int32_t> dims(static_cast<size_t>(rank - shape.rank()), 1);
  dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
  return ToBhwc(Shape::FromSpan(dims));
}

BroadcastStrides StridesOf(const Bhwc& operand, const Bhwc& out) {
  return {operand.b == 1 ? 0 : operand.h * operand.w, operand.h == 1 ? 0 : operand.w, operand.w == 1 ? 0 : 1,
          operand.c == 1 ? 0 : static_cast<int32_t>(operand.pixels()), operand.c == 1 && out.c > 1 ? 1 : 0};
}

// Whether finite operands can give an infinity or a NaN.
bool LeavesFinite(UnaryKind kind) {
  return kind == UnaryKind::kExp || kind == UnaryKind::kLog || kind == UnaryKind::kRsqrt || kind == UnaryKind::kSqrt;
}
bool LeavesFinite(BinaryKind kind) {
  return kind == BinaryKind::kDiv || kind == BinaryKind::kPow || kind == BinaryKind::kFloorDiv ||
         kind == BinaryKind::kFloorMod;
}

// Zeros the lanes behind the last channel. They meet only zero weights, but infinity times zero is NaN: a logarithm
// of 5 channels would spoil the convolution behind it.
EpilogueStep ClearTail(const Bhwc& out) {
  return {
      "v = vselect_lt(make_float4(0.5f, 1.5f, 2.5f, 3.5f) + splat4(to_float(i / tail_pixels * 4)), "
      "splat4(to_float(tail_channels)), v, splat4(0.0f));",
      {},
      {{"tail_pixels", static_cast<int32_t>(out.pixels())}, {"tail_channels", out.c}}};
}

KernelCall MapCall(PlanBuilder& builder, const Node& node, ValueId input) {
  const Bhwc shape = builder.ShapeOf(node.outputs[0]);
  const int64_t texels = shape.pixels() * shape.slices();
  KernelCall call;
  call.kernel = "map";
  call.tensors = {{"x", builder.Tensor(input)}, {"y", builder.Tensor(node.outputs[0])}};
  call.scalars = {{"COUNT", static_cast<int32_t>(texels)}};
  call.work_items = {texels, 1, 1};
  return call;
}

// Rank 5 folds its leading dimensions into the batch, so an operand may repeat there only as a whole.
bool FoldsCleanly(const Shape& operand, const Shape& out) {
  if (out.rank() <= 4) return true;
  const int offset = out.rank() - operand.rank();
  bool all_equal = true, all_one = true;
  for (int d = 0; d < out.rank() - 3; ++d) {
    const int32_t dim = d < offset ? 1 : operand[d - offset];
    all_equal = all_equal && dim == out[d];
    all_one = all_one && dim == 1;
  }
  return all_equal || all_one;
}

}  // namespace

std::optional<std::string> UnaryUnsupported(const Graph& graph, const Node& node, const DeviceInfo&) {
  return NotReal(graph, node);
}

Status LowerUnary(const Node& node, PlanBuilder& builder) {
  const auto& unary = std::get<Unary>(node.op);
  const UnaryRow& row = RowOf(unary.kind);
  KernelCall call = MapCall(builder, node, node.inputs[0]);
  EpilogueStep step{fmt::format("v = {};", row.text), {}, {}};
  if (row.uses_alpha) step.scalars.emplace_back("alpha", unary.alpha);
  call.epilogue = {step};
  const Bhwc shape = builder.ShapeOf(node.outputs[0]);
  if (shape.c % 4 != 0 && LeavesFinite(unary.kind)) call.epilogue.push_back(ClearTail(shape));
  return builder.Call(node, call);
}

std::optional<std::string> BinaryUnsupported(const Graph& graph, const Node& node, const DeviceInfo&) {
  if (auto reason = NotReal(graph, node)) return reason;
  const Shape& out = graph.value(node.outputs[0]).desc.shape;
  for (ValueId value : node.inputs) {
    const TensorDesc& desc = graph.value(value).desc;
    if (!FoldsCleanly(desc.shape, out)) return "broadcasting over part of the leading dimensions has no device kernel";
  }
  return std::nullopt;
}

Status LowerBinary(const Node& node, PlanBuilder& builder) {
  const auto& binary = std::get<Binary>(node.op);
  const BinaryRow& row = RowOf(binary.kind);
  const Shape& out_shape = builder.graph().value(node.outputs[0]).desc.shape;
  const Bhwc out = ToBhwc(out_shape);
  const bool clear_tail = out.c % 4 != 0 && LeavesFinite(binary.kind);
  const Bhwc a = AlignedShape(builder.graph().value(node.inputs[0]).desc.shape, out_shape.rank());
  const Bhwc b = AlignedShape(builder.graph().value(node.inputs[1]).desc.shape, out_shape.rank());
  if (a == out && b == out) {
    KernelCall call = MapCall(builder, node, node.inputs[0]);
    call.epilogue = {{fmt::format("{{ float4 a = v; float4 b = rhs_load(i); v = {}; }}", row.text),
                      {{"rhs", builder.Tensor(node.inputs[1])}},
                      {}}};
    for (EpilogueStep& step : ActivationEpilogue(binary.activation)) call.epilogue.push_back(std::move(step));
    if (clear_tail) call.epilogue.push_back(ClearTail(out));
    return builder.Call(node, call);
  }
  const BroadcastStrides sa = StridesOf(a, out);
  const BroadcastStrides sb = StridesOf(b, out);
  KernelCall call;
  call.kernel = "binary";
  call.defines = {{"OP", fmt::format("({})", row.text)}};
  call.tensors = {{"lhs", builder.Tensor(node.inputs[0])},
                  {"rhs", builder.Tensor(node.inputs[1])},
                  {"y", builder.Tensor(node.outputs[0])}};
  call.scalars = {{"OH", out.h},
                  {"OW", out.w},
                  {"OPIX", static_cast<int32_t>(out.pixels())},
                  {"N4", out.slices()},
                  {"AB", sa.batch},
                  {"AH", sa.height},
                  {"AW", sa.width},
                  {"AS", sa.slice},
                  {"AFIRST", sa.first_channel},
                  {"BB", sb.batch},
                  {"BH", sb.height},
                  {"BW", sb.width},
                  {"BS", sb.slice},
                  {"BFIRST", sb.first_channel}};
  call.work_items = {out.w, int64_t{out.h} * out.b, out.slices()};
  call.epilogue = ActivationEpilogue(binary.activation);
  if (clear_tail) call.epilogue.push_back(ClearTail(out));
  return builder.Call(node, call);
}

}  // namespace hearth
