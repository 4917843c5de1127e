#include "core/op_table.h"

#include <algorithm>
#include <type_traits>

#include "core/error.h"
#include "core/op_text.h"
#include "core/ops/cast.h"
#include "core/ops/concat.h"
#include "core/ops/convolution.h"
#include "core/ops/elementwise.h"
#include "core/ops/elementwise_table.h"
#include "core/ops/fully_connected.h"
#include "core/ops/pad.h"
#include "core/ops/pooling.h"
#include "core/ops/reduce.h"
#include "core/ops/reshape.h"
#include "core/ops/resize.h"
#include "core/ops/select.h"
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
    {"reduce", InferReduce, ReferenceReduce, ReduceUnsupported, LowerReduce},
    {"arg_reduce", InferUnknown, nullptr, nullptr, nullptr},
    {"topk", InferUnknown, nullptr, nullptr, nullptr},
    {"cumsum", InferUnknown, nullptr, nullptr, nullptr},
    {"log_softmax", InferUnknown, nullptr, nullptr, nullptr},
    {"l2_normalization", InferUnknown, nullptr, nullptr, nullptr},
    {"local_response_normalization", InferUnknown, nullptr, nullptr, nullptr},
    {"select", InferSelect, ReferenceSelect, SelectUnsupported, LowerSelect},
    {"select_rows", InferSelectRows, ReferenceSelectRows, SelectRowsUnsupported, LowerSelectRows},
    {"prelu", InferPRelu, ReferencePRelu, PReluUnsupported, LowerPRelu},
    {"cast", InferCast, ReferenceCast, CastUnsupported, LowerCast},
    {"add_n", InferAddN, ReferenceAddN, AddNUnsupported, LowerAddN},
    {"transpose", InferUnknown, nullptr, nullptr, nullptr},
    {"slice", InferUnknown, nullptr, nullptr, nullptr},
    {"split", InferUnknown, nullptr, nullptr, nullptr},
    {"pack", InferUnknown, nullptr, nullptr, nullptr},
    {"unpack", InferUnknown, nullptr, nullptr, nullptr},
    {"tile", InferUnknown, nullptr, nullptr, nullptr},
    {"broadcast_to", InferUnknown, nullptr, nullptr, nullptr},
    {"reverse", InferUnknown, nullptr, nullptr, nullptr},
    {"depth_to_space", InferUnknown, nullptr, nullptr, nullptr},
    {"space_to_depth", InferUnknown, nullptr, nullptr, nullptr},
    {"space_to_batch", InferUnknown, nullptr, nullptr, nullptr},
    {"batch_to_space", InferUnknown, nullptr, nullptr, nullptr},
    {"mirror_pad", InferUnknown, nullptr, nullptr, nullptr},
    {"gather", InferUnknown, nullptr, nullptr, nullptr},
    {"gather_nd", InferUnknown, nullptr, nullptr, nullptr},
    {"one_hot", InferUnknown, nullptr, nullptr, nullptr},
    {"batch_matmul", InferUnknown, nullptr, nullptr, nullptr},
    {"transpose_conv", InferUnknown, nullptr, nullptr, nullptr},
    {"unknown", InferUnknown, nullptr, nullptr, nullptr},
};
static_assert(std::size(kOps) == std::variant_size_v<Op>);

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
  if (const auto* reduce = std::get_if<Reduce>(&op)) {
    constexpr std::string_view kNames[] = {"mean",        "sum",        "reduce_max", "reduce_min",
                                           "reduce_prod", "reduce_any", "reduce_all"};
    return std::string(kNames[static_cast<int>(reduce->kind)]);
  }
  if (const auto* search = std::get_if<ArgReduce>(&op)) return search->kind == ArgKind::kMax ? "arg_max" : "arg_min";
  if (const auto* unknown = std::get_if<UnknownOp>(&op)) return unknown->name;
  return std::string(OpDefOf(op).name);
}

Status InferShapes(Graph& graph) {
  for (const Node& node : graph.nodes()) HEARTH_TRY(OpDefOf(node.op).infer(graph, node));
  return Status::Ok();
}

}  // namespace hearth
