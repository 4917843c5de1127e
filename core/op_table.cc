#include "core/op_table.h"

#include <algorithm>
#include <type_traits>

#include "core/error.h"
#include "core/op_text.h"
#include "core/ops/concat.h"
#include "core/ops/convolution.h"
#include "core/ops/elementwise.h"
#include "core/ops/elementwise_table.h"
#include "core/ops/fully_connected.h"
#include "core/ops/mean.h"
#include "core/ops/pad.h"
#include "core/ops/pooling.h"
#include "core/ops/reshape.h"
#include "core/ops/resize.h"
#include "core/ops/softmax.h"

namespace hearth {
namespace {

Status InferUnknown(Graph& /*graph*/, const Node& node) {
  return Error(StatusCode::kUnsupported, "{}: Hearth does not know this operation", NodeLabel(node));
}

// In the order of the Op variant.
constexpr OpDef kOps[] = {
    {"conv_2d", InferConv2D, ReferenceConv2D, Conv2DUnsupported, LowerConv2D},
    {"depthwise_conv_2d", InferDepthwiseConv2D, ReferenceDepthwiseConv2D, DepthwiseConv2DUnsupported,
     LowerDepthwiseConv2D},
    {"pool_2d", InferPool2D, ReferencePool2D, Pool2DUnsupported, LowerPool2D},
    {"unary", InferUnary, ReferenceUnary, UnaryUnsupported, LowerUnary},
    {"binary", InferBinary, ReferenceBinary, BinaryUnsupported, LowerBinary},
    {"concat", InferConcat, ReferenceConcat, ConcatUnsupported, LowerConcat},
    {"resize", InferResize, ReferenceResize, ResizeUnsupported, LowerResize},
    {"reshape", InferReshape, ReferenceReshape, ReshapeUnsupported, LowerReshape},
    {"softmax", InferSoftmax, ReferenceSoftmax, SoftmaxUnsupported, LowerSoftmax},
    {"pad", InferPad, ReferencePad, PadUnsupported, LowerPad},
    {"fully_connected", InferFullyConnected, ReferenceFullyConnected, FullyConnectedUnsupported, LowerFullyConnected},
    {"mean", InferMean, ReferenceMean, MeanUnsupported, LowerMean},
    {"unknown", InferUnknown, nullptr, nullptr, nullptr},
};
static_assert(std::size(kOps) == std::variant_size_v<Op>);
template <size_t I, typename T>
inline constexpr bool kIsAt = std::is_same_v<std::variant_alternative_t<I, Op>, T>;
static_assert(kIsAt<0, Conv2D> && kIsAt<1, DepthwiseConv2D> && kIsAt<2, Pool2D> && kIsAt<3, Unary> &&
              kIsAt<4, Binary> && kIsAt<5, Concat> && kIsAt<6, Resize> && kIsAt<7, Reshape> && kIsAt<8, Softmax> &&
              kIsAt<9, Pad> && kIsAt<10, FullyConnected> && kIsAt<11, Mean> && kIsAt<12, UnknownOp>);

}  // namespace

const OpDef& OpDefOf(const Op& op) {
  return kOps[op.index()];
}

std::string OpName(const Op& op) {
  if (const auto* unary = std::get_if<Unary>(&op)) return std::string(RowOf(unary->kind).name);
  if (const auto* binary = std::get_if<Binary>(&op)) return std::string(RowOf(binary->kind).name);
  if (const auto* pool = std::get_if<Pool2D>(&op)) {
    return pool->kind == PoolKind::kAverage ? "average_pool_2d" : "max_pool_2d";
  }
  if (const auto* resize = std::get_if<Resize>(&op)) {
    return resize->kind == ResizeKind::kBilinear ? "resize_bilinear" : "resize_nearest";
  }
  if (const auto* unknown = std::get_if<UnknownOp>(&op)) return unknown->name;
  return std::string(OpDefOf(op).name);
}

Status InferShapes(Graph& graph) {
  for (const Node& node : graph.nodes()) HEARTH_TRY(OpDefOf(node.op).infer(graph, node));
  return Status::Ok();
}

}  // namespace hearth
