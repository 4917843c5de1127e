#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/base/numbers.h"
#include "core/emit/kernel_library.h"
#include "core/emit/kernel_limits.h"
#include "core/graph/ops/axis_split.h"
#include "core/graph/quantize.h"
#include "core/lowering/loop_iterations.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {
namespace {

constexpr KernelName kReduceKernel = "reduce";

uint64_t ReduceBytesOfItem() {
  static const uint64_t bytes = LocalBytesOfItem(*LoadKernel(kReduceKernel.text()));
  return bytes;
}

// Neighbouring dimensions, without the channels, that are all reduced or all kept.
struct MergedDims {
  int32_t size = 1;
  int32_t stride = 0;  // in pixels
};

// At most three of each: kept and reduced dimensions alternate, and a shape of six dimensions has five before the last.
struct ReducedPixels {
  std::vector<MergedDims> kept, reduced;  // outermost first; at least three of each, padded in front
};

ReducedPixels MergePixels(const Shape& shape, uint32_t axes_mask) {
  ReducedPixels merged;
  int last = -1;  // whether the previous dimension was reduced
  for (int d = 0; d < shape.rank() - 1; ++d) {
    if (shape[d] == 1) continue;
    const int is_reduced = static_cast<int>(axes_mask >> d & 1);
    std::vector<MergedDims>& list = is_reduced != 0 ? merged.reduced : merged.kept;
    if (is_reduced != last) list.push_back({});
    list.back().size *= shape[d];
    list.back().stride = static_cast<int32_t>(CountBetween(shape, d + 1, shape.rank() - 1));
    last = is_reduced;
  }
  for (std::vector<MergedDims>* list : {&merged.kept, &merged.reduced}) {
    while (list->size() < 3) list->insert(list->begin(), MergedDims{});
  }
  // The longest dimension is innermost, because work items share it. A sum's parts may be added in any order.
  std::sort(merged.reduced.begin(), merged.reduced.end(),
            [](const MergedDims& a, const MergedDims& b) { return a.size < b.size; });
  return merged;
}

// Work items that share one output texel; 1 where none share.
int32_t LanesOfReduction(int64_t shared_length, int64_t output_texels) {
  constexpr int64_t kLongReduction = 128, kVeryLongReduction = 1 << 20, kFewTexels = 1024;
  // A large reduction to few texels leaves most of a device idle unless work items share it.
  if (shared_length < kLongReduction || output_texels > kFewTexels) return 1;
  return shared_length < kVeryLongReduction ? 32 : kMostSharingItems;
}

// The sizes of the kernel's loops.
struct Reduction {
  Bhwc in, out;
  bool over_channels = false;
  ReducedPixels pixels;
  int64_t shared_length = 1;  // of the loop that work items share
  int32_t lanes = 1;          // how many do, where the device's groups hold so many
};

// Quotients and remainders are added up apart.
bool IsMeanOfIntegers(const Graph& graph, const Node& node) {
  return std::get<Reduce>(node.op).kind == ReduceKind::kMean && !IsReal(graph.value(node.inputs[0]).desc);
}

Reduction ReductionOf(const Graph& graph, const Node& node) {
  const Shape& shape = graph.value(node.inputs[0]).desc.shape;
  const uint32_t axes_mask = std::get<Reduce>(node.op).axes_mask;
  const int rank = shape.rank();
  Reduction reduction;
  reduction.in = ToBhwc(shape);
  reduction.out = ToBhwc(graph.value(node.outputs[0]).desc.shape);
  reduction.over_channels = rank > 0 && (axes_mask >> (rank - 1) & 1) != 0;
  reduction.pixels = MergePixels(shape, axes_mask);
  reduction.shared_length =
      int64_t{reduction.pixels.reduced[2].size} * (reduction.over_channels ? reduction.in.slices() : 1);
  if (IsMeanOfIntegers(graph, node)) return reduction;
  reduction.lanes = LanesOfReduction(reduction.shared_length, reduction.out.pixels() * reduction.out.slices());
  return reduction;
}

const char* KindDefine(ReduceKind kind, bool of_integers) {
  switch (kind) {
    case ReduceKind::kProd: return "1";
    case ReduceKind::kMax:
    case ReduceKind::kAny: return "2";
    case ReduceKind::kMin:
    case ReduceKind::kAll: return "3";
    case ReduceKind::kMean: return of_integers ? "4" : "0";
    default: return "0";
  }
}

}  // namespace

std::optional<std::string> ReduceUnsupported(const Graph& graph, const Node& node, const Placing& placing) {
  const Shape& in = graph.value(node.inputs[0]).desc.shape;
  const auto [kept, reduced] = MergePixels(in, std::get<Reduce>(node.op).axes_mask);
  if (kept.size() > 3 || reduced.size() > 3) {
    return fmt::format("dimensions of {} that are reduced and kept by turns", in);
  }
  const ReduceKind kind = std::get<Reduce>(node.op).kind;
  // The kernel adds up remainders of four channels.
  constexpr int64_t kMostIntegersOfMean = int64_t{1} << 28;
  const int64_t count =
      in.element_count() / std::max<int64_t>(graph.value(node.outputs[0]).desc.shape.element_count(), 1);
  if (IsMeanOfIntegers(graph, node) && count > kMostIntegersOfMean) return fmt::format("a mean of {} integers", count);
  const bool searches = kind == ReduceKind::kMax || kind == ReduceKind::kMin;
  return searches ? WideIntegers(graph, node, placing) : WideResults(graph, node, placing);
}

// Where channels are reduced, each channel of an output texel is a sum of its own.
int64_t ReduceIterations(const Graph& graph, const Node& node) {
  const Reduction reduction = ReductionOf(graph, node);
  const std::vector<MergedDims>& reduced = reduction.pixels.reduced;
  const int64_t shared = LoopOf(Tiles(reduction.shared_length, reduction.lanes));
  const int64_t sum = LoopOf(reduced[0].size, LoopOf(reduced[1].size, shared));
  const int64_t sums = reduction.over_channels ? LoopOf(4) + std::min(reduction.out.c, 4) * sum : sum;
  return sums + LoopOf(reduction.lanes);
}

Status LowerReduce(const Node& node, PlanBuilder& builder) {
  const auto& reduce = std::get<Reduce>(node.op);
  const TensorDesc& desc = builder.DescOf(node.inputs[0]);
  const Reduction reduction = ReductionOf(builder.graph(), node);
  const Bhwc &in = reduction.in, &out = reduction.out;
  const auto& [kept, reduced] = reduction.pixels;
  const int32_t lanes = FittingLanes(builder.device(), reduction.lanes, ReduceBytesOfItem());

  KernelCall call = NodeCallOf<kernels::Reduce>(builder, node);
  call.defines = {{"KIND", KindDefine(reduce.kind, !IsReal(desc))},
                  {"CHANNELS", reduction.over_channels ? "1" : "0"},
                  {"INTEGERS", IsReal(desc) ? "0" : "1"},
                  {"LANES", std::to_string(lanes)}};
  const int64_t count = desc.shape.element_count() / (out.pixels() * out.c);
  call.scalars = {
      {"OPIX", out.pixels()},     {"OC", out.c},
      {"IPIX", in.pixels()},      {"IC", in.c},
      {"K1", kept[1].size},       {"K2", kept[2].size},
      {"SK0", kept[0].stride},    {"SK1", kept[1].stride},
      {"SK2", kept[2].stride},    {"R0", reduced[0].size},
      {"R1", reduced[1].size},    {"R2", reduced[2].size},
      {"SR0", reduced[0].stride}, {"SR1", reduced[1].stride},
      {"SR2", reduced[2].stride}, {"COUNT", reduce.kind == ReduceKind::kMean ? static_cast<int32_t>(count) : 1}};
  UseLines(out.pixels(), out.slices(), call, lanes);
  if (lanes > 1) call.local_size = {static_cast<uint32_t>(lanes), 1, 1};
  call.local_by_item = true;
  if (reduce.kind == ReduceKind::kProd) WrapIntegers(node, builder, call);
  return builder.Call(node, call);
}

}  // namespace hearth
