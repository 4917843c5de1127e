#include <algorithm>

#include "core/base/error.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {
namespace {

// The output has `rows` rows of pixels. Each input has a part of every row, or a whole row if the axis is the channels.
struct Join {
  int64_t rows = 1, row_pixels = 1;  // both of the output
  bool along_channels = false;
};

Join JoinAlong(const Shape& out, int axis) {
  Join join;
  join.along_channels = axis + 1 == out.rank();
  const int first = join.along_channels ? std::max(0, axis - 1) : axis;
  for (int d = 0; d < first; ++d) join.rows *= out[d];
  for (int d = first; d + 1 < out.rank(); ++d) join.row_pixels *= out[d];
  return join;
}

// `start`: pixels of a row before this input's; `slice`: slices before this input's.
KernelCall CopyPixelsCall(const PlanBuilder& builder, Operand x, Operand y, const Bhwc& in, const Bhwc& out,
                          const Join& join, int64_t start, int32_t slice) {
  const bool flat = join.rows > kMostGroups;
  const auto width = static_cast<int32_t>(in.pixels() / join.rows);
  KernelCall call = CallOf<kernels::ConcatPixels>({{"x", x}, {"y", y}});
  call.scalars = {{"OW", width},    {"ROWS", join.rows},    {"SLICES", in.slices()}, {"STEP", join.row_pixels},
                  {"START", start}, {"OPIX", out.pixels()}, {"DST_SLICE", slice}};
  UseLines(in.pixels(), in.slices(), call);
  if (flat) {
    call.defines = {{"FLAT", "1"}};
  } else {
    call.work_items = {width, join.rows, in.slices()};
    UseWholeLines(builder.device(), call);
  }
  return call;
}

KernelCall AppendChannelsCall(Operand x, Operand y, const Bhwc& in, int32_t offset) {
  KernelCall call = CallOf<kernels::ConcatChannels>({{"x", x}, {"before", y}, {"y", y}});
  call.scalars = {{"PIXELS", in.pixels()}, {"CHANNELS", in.c}, {"OFFSET", offset}};
  UseLines(in.pixels(), (in.c + offset % 4 + 3) / 4, call);
  call.buffer_reads = {"before"};
  return call;
}

KernelCall PackChannelCall(Operand x, Operand y, const Bhwc& in, const Bhwc& out, int32_t channel) {
  KernelCall call = CallOf<kernels::PackChannel>({{"x", x}, {"before", y}, {"y", y}});
  call.scalars = {{"IC", in.c}, {"IPIX", in.pixels()}, {"OPIX", out.pixels()}, {"CHANNEL", channel}};
  UseLines(out.pixels(), 1, call);
  call.buffer_reads = {"before"};
  return call;
}

// Applies an activation to a value in place: each work item reads the texel that it writes.
KernelCall ActivateCall(PlanBuilder& builder, ValueId y, Activation activation) {
  KernelCall call = MapCall(builder, y, y);
  call.epilogue = ActivationEpilogue(activation);
  call.buffer_reads = {"x"};
  return call;
}

// Whether applying it twice gives the same: texels that two inputs share are stored twice.
bool IsIdempotent(Activation activation) {
  return activation != Activation::kTanh && activation != Activation::kSigmoid;
}

// The first output texel of an input that can be placed in the output without a copy; nothing if it can't.
std::optional<int64_t> FirstTexel(const Bhwc& in, const Bhwc& out, const Join& join, int64_t start, int32_t channel) {
  if (join.along_channels) {
    const bool fills = channel % 4 == 0 && (in.c % 4 == 0 || channel + in.c == out.c);
    return fills ? std::optional(channel / 4 * out.pixels()) : std::nullopt;
  }
  return join.rows == 1 && out.slices() == 1 ? std::optional(start) : std::nullopt;
}

}  // namespace

std::optional<std::string> ConcatUnsupported(const Graph& graph, const Node& node, const Placing& placing) {
  if (std::get<Concat>(node.op).activation != Activation::kNone) {
    if (auto reason = NotReal(graph, node, placing)) return reason;
  }
  return WideIntegers(graph, node, placing);
}

Status LowerConcat(const Node& node, PlanBuilder& builder) {
  const auto& concat = std::get<Concat>(node.op);
  const Shape& shape = builder.DescOf(node.outputs[0]).shape;
  const Join join = JoinAlong(shape, concat.axis < 0 ? concat.axis + shape.rank() : concat.axis);
  const Bhwc out = builder.ShapeOf(node.outputs[0]);
  const Operand y = builder.Tensor(node.outputs[0]);
  const bool fuses = IsIdempotent(concat.activation);
  int64_t start = 0;
  int32_t channel = 0;
  for (ValueId input : node.inputs) {
    const Bhwc in = builder.ShapeOf(input);
    const auto first = FirstTexel(in, out, join, start, channel);
    const bool is_once = std::ranges::count(node.inputs, input) == 1;
    if (!first || !is_once || concat.activation != Activation::kNone ||
        !builder.PlaceWithin(input, node.outputs[0], *first)) {
      const Operand x = builder.Tensor(input);
      KernelCall call = channel % 4 != 0 ? AppendChannelsCall(x, y, in, channel)
                                         : CopyPixelsCall(builder, x, y, in, out, join, start, channel / 4);
      if (fuses) call.epilogue = ActivationEpilogue(concat.activation);
      HEARTH_TRY(builder.Call(node, call));
    }
    if (join.along_channels) {
      channel += in.c;
    } else {
      start += in.pixels() / join.rows;
    }
  }
  return fuses ? Status::Ok() : builder.Call(node, ActivateCall(builder, node.outputs[0], concat.activation));
}

Status LowerPack(const Node& node, PlanBuilder& builder) {
  const Join join = JoinAlong(builder.DescOf(node.outputs[0]).shape, std::get<Pack>(node.op).axis);
  const Bhwc out = builder.ShapeOf(node.outputs[0]);
  const Operand y = builder.Tensor(node.outputs[0]);
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    const Bhwc in = builder.ShapeOf(node.inputs[k]);
    const Operand x = builder.Tensor(node.inputs[k]);
    const int64_t start = static_cast<int64_t>(k) * (in.pixels() / join.rows);
    HEARTH_TRY(builder.Call(node, join.along_channels ? PackChannelCall(x, y, in, out, static_cast<int32_t>(k))
                                                      : CopyPixelsCall(builder, x, y, in, out, join, start, 0)));
  }
  return Status::Ok();
}

}  // namespace hearth
