#include <fmt/format.h>

#include <algorithm>

#include "core/graph/element.h"
#include "core/graph/quantize.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {
namespace {

constexpr size_t kKernelDimensions = kMaxKernelRank - 1;

struct PaddedDimension {
  int32_t out = 1, in = 1, before = 0;
  bool is_padded() const { return out != in; }
};

// All dimensions but the last, innermost first. An unpadded dimension is joined with the next outer one, whose padding
// then is whole lines. Mirroring would have to keep the lines' order, so it prevents that.
std::vector<PaddedDimension> PixelDimensions(const Shape& in, const Shape& out, const Shape& before, bool mirror) {
  std::vector<PaddedDimension> dimensions;  // outermost first
  for (int d = 0; d + 1 < in.rank(); ++d) {
    if (in[d] == 1 && out[d] == 1) continue;
    const bool joins = in[d] == out[d] && !dimensions.empty() && !(mirror && dimensions.back().is_padded());
    if (joins) {
      PaddedDimension& outer = dimensions.back();
      outer = {outer.out * in[d], outer.in * in[d], outer.before * in[d]};
    } else {
      dimensions.push_back({out[d], in[d], before[d]});
    }
  }
  std::reverse(dimensions.begin(), dimensions.end());
  return dimensions;
}

std::optional<std::string> PaddingUnsupported(const Graph& graph, const Node& node, const Placing& placing,
                                              const Shape& before, bool mirror) {
  const Shape &in = graph.value(node.inputs[0]).desc.shape, &out = graph.value(node.outputs[0]).desc.shape;
  const size_t counted = PixelDimensions(in, out, before, mirror).size() + 1;
  if (counted > kMaxKernelRank) return fmt::format("it pads {} dimensions, kernels take {}", counted, kMaxKernelRank);
  return WideIntegers(graph, node, placing);
}

// What lies before a tensor's first element and behind its last one.
struct Border {
  const Shape& before;
  bool mirror = false, symmetric = false;
  double value = 0;  // where it does not mirror
};

// The arguments that both kernels take.
template <typename Kernel>
KernelCall BorderCallOf(const Node& node, const Border& border, PlanBuilder& builder) {
  KernelCall call = NodeCallOf<Kernel>(builder, node);
  const bool is_real = IsReal(builder.DescOf(node.outputs[0]));
  call.defines = {{"MIRROR", border.mirror ? "1" : "0"}, {"VALUE", is_real ? "REAL_VALUE" : "INTEGER_VALUE"}};
  call.scalars = {{"REAL_VALUE", static_cast<float>(border.value)},
                  {"INTEGER_VALUE", Saturate<int32_t>(border.value)},
                  {"EDGE", border.symmetric ? 1 : 0}};
  return call;
}

// Whether only height and width grow: the grid's dimensions are then the image's.
bool IsImagePad(const Bhwc& in, const Bhwc& out) {
  return in.b == out.b && in.c == out.c && out.h <= kMostGroups && int64_t{out.b} * out.slices() <= kMostGroups;
}

KernelCall ImagePadCall(const Node& node, const Border& border, PlanBuilder& builder) {
  const Bhwc in = builder.ShapeOf(node.inputs[0]), out = builder.ShapeOf(node.outputs[0]);
  const Shape& before = border.before;
  const int rank = before.rank();
  KernelCall call = BorderCallOf<kernels::PadImage>(node, border, builder);
  call.stores_each_texel_once = true;
  call.scalars.insert(call.scalars.end(), {{"IH", in.h},
                                           {"IW", in.w},
                                           {"OH", out.h},
                                           {"OW", out.w},
                                           {"TOP", rank > 3 ? before[rank - 3] : 0},
                                           {"LEFT", rank > 2 ? before[rank - 2] : 0}});
  call.work_items = {out.w, out.h, int64_t{out.b} * out.slices()};
  UseWholeLines(builder.device(), call);
  return call;
}

KernelCall AnyPadCall(const Node& node, const Border& border, PlanBuilder& builder) {
  static constexpr ScalarName kNames[kKernelDimensions][3] = {
      {"O1", "I1", "B1"}, {"O2", "I2", "B2"}, {"O3", "I3", "B3"}, {"O4", "I4", "B4"}, {"O5", "I5", "B5"}};
  const Bhwc in = builder.ShapeOf(node.inputs[0]), out = builder.ShapeOf(node.outputs[0]);
  const Shape& before = border.before;
  KernelCall call = BorderCallOf<kernels::Pad>(node, border, builder);
  call.scalars.insert(call.scalars.end(), {{"IC", in.c},
                                           {"IPIX", in.pixels()},
                                           {"OC", out.c},
                                           {"OPIX", out.pixels()},
                                           {"C_BEFORE", before.rank() == 0 ? 0 : before[before.rank() - 1]}});
  const std::vector<PaddedDimension> dimensions = PixelDimensions(
      builder.DescOf(node.inputs[0]).shape, builder.DescOf(node.outputs[0]).shape, before, border.mirror);
  for (size_t k = 0; k < kKernelDimensions; ++k) {
    const PaddedDimension dimension = k < dimensions.size() ? dimensions[k] : PaddedDimension{};
    call.scalars.push_back({kNames[k][0], dimension.out});
    call.scalars.push_back({kNames[k][1], dimension.in});
    call.scalars.push_back({kNames[k][2], dimension.before});
  }
  call.defines.push_back({"DIMENSIONS", dimensions.size() > 3 ? "5" : "3"});
  UseLines(out.pixels(), out.slices(), call);
  return call;
}

Status CallPad(const Node& node, const Border& border, PlanBuilder& builder) {
  const bool is_image = IsImagePad(builder.ShapeOf(node.inputs[0]), builder.ShapeOf(node.outputs[0]));
  return builder.Call(node, (is_image ? ImagePadCall : AnyPadCall)(node, border, builder));
}

// Whether only channels are appended: the existing texels stay in place.
bool OnlyAppendsChannels(const Shape& in, const Shape& out, const Shape& before) {
  for (int d = 0; d + 1 < in.rank(); ++d) {
    if (in[d] != out[d]) return false;
  }
  return in.rank() > 0 && before[in.rank() - 1] == 0;
}

// One comparison per texel instead of a division and a remainder per dimension. Elementwise nodes can follow in the
// same dispatch.
KernelCall AppendChannelsCall(const Node& node, float value, PlanBuilder& builder) {
  const Bhwc in = builder.ShapeOf(node.inputs[0]);
  KernelCall call = MapCall(builder, node.inputs[0], node.outputs[0]);
  call.defines = {{"VALUE", "splat4(0.0f)"}};
  call.epilogue = {{{StatementForm::kAppendChannels},
                    {},
                    {{"filled", static_cast<int32_t>(in.pixels()) * in.slices()},
                     {"whole", static_cast<int32_t>(in.pixels()) * (in.c / 4)},
                     {"rest", in.c % 4},
                     {"appended", value}}}};
  return call;
}

}  // namespace

std::optional<std::string> PadUnsupported(const Graph& graph, const Node& node, const Placing& placing) {
  return PaddingUnsupported(graph, node, placing, std::get<Pad>(node.op).before, false);
}

Status LowerPad(const Node& node, PlanBuilder& builder) {
  const auto& pad = std::get<Pad>(node.op);
  const TensorDesc& in = builder.DescOf(node.inputs[0]);
  if (IsReal(in) && OnlyAppendsChannels(in.shape, builder.DescOf(node.outputs[0]).shape, pad.before)) {
    return builder.Call(node, AppendChannelsCall(node, static_cast<float>(pad.value), builder));
  }
  return CallPad(node, {.before = pad.before, .value = pad.value}, builder);
}

std::optional<std::string> MirrorPadUnsupported(const Graph& graph, const Node& node, const Placing& placing) {
  return PaddingUnsupported(graph, node, placing, std::get<MirrorPad>(node.op).before, true);
}

Status LowerMirrorPad(const Node& node, PlanBuilder& builder) {
  const auto& pad = std::get<MirrorPad>(node.op);
  return CallPad(node, {.before = pad.before, .mirror = true, .symmetric = pad.symmetric}, builder);
}

}  // namespace hearth
