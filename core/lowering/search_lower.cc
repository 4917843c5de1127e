#include <fmt/format.h>

#include <string>

#include "core/device/device_rules.h"
#include "core/graph/ops/axis_split.h"
#include "core/graph/quantize.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {
namespace {

// How many work items search a pixel's channels together, by topk_shared.kernel; 1: each item searches a pixel of its
// own. Sharing pays where so few pixels would leave most of a GPU idle. A software driver runs a group on one core, so
// it gains nothing there, as for sums.
int TopKLanes(const DeviceInfo& device, const Bhwc& in) {
  constexpr int kLanes = 64, kFewestLanes = 16;  // the kernel's largest and smallest LANES
  constexpr int32_t kManySlices = 32;
  constexpr int64_t kFewPixels = 1024;
  constexpr uint32_t kLocalBytes = 3 * sizeof(float) * kLanes;
  if (Applies(Rule::kOneItemSums, device) || in.slices() < kManySlices || in.pixels() > kFewPixels) return 1;
  const int lanes = FittingLanes(device, kLanes);
  return lanes < kFewestLanes || device.local_memory_bytes < kLocalBytes ? 1 : lanes;
}

}  // namespace

Status LowerArgReduce(const Node& node, PlanBuilder& builder) {
  const auto& search = std::get<ArgReduce>(node.op);
  const TensorDesc& desc = builder.DescOf(node.inputs[0]);
  const int rank = desc.shape.rank();
  const int axis = *AxisFromFront(search.axis, rank);
  const bool over_channels = axis == rank - 1;
  const Bhwc in = ToBhwc(desc.shape), out = builder.ShapeOf(node.outputs[0]);
  KernelCall call = NodeCallOf<kernels::ArgReduce>(builder, node);
  call.defines = {{"REALS", IsReal(desc) ? "1" : "0"},
                  {"CHANNELS", over_channels ? "1" : "0"},
                  {"LARGEST", search.kind == ArgKind::kMax ? "1" : "0"}};
  const int64_t inner = over_channels ? 1 : CountBetween(desc.shape, axis + 1, rank - 1);
  call.scalars = {
      {"OPIX", out.pixels()}, {"OC", out.c}, {"IPIX", in.pixels()}, {"LENGTH", desc.shape[axis]}, {"INNER", inner}};
  UseLines(out.pixels(), out.slices(), call);
  return builder.Call(node, call);
}

// The kernel reads a row once for each element that it finds, while the CPU sorts it. PoCL took 100 ms for 300 of
// 100,000 and 2 s to sort 40,000, the CPU 0.1 and 5.
std::optional<std::string> TopKUnsupported(const Graph& graph, const Node& node, const Placing& placing) {
  constexpr int64_t kMostRead = 1 << 20;
  const Shape& shape = graph.value(node.inputs[0]).desc.shape;
  const int32_t k = std::get<TopK>(node.op).k;
  if (int64_t{shape[shape.rank() - 1]} * k > kMostRead)
    return fmt::format("its device kernel would read rows of {} elements {} times, the CPU sorts them",
                       shape[shape.rank() - 1], k);
  return WideIntegers(graph, node, placing);
}

Status LowerTopK(const Node& node, PlanBuilder& builder) {
  const Bhwc in = builder.ShapeOf(node.inputs[0]);
  KernelCall call = NodeCallOf<kernels::Topk>(builder, node);
  call.defines = {{"REALS", IsReal(builder.DescOf(node.inputs[0])) ? "1" : "0"}};
  call.scalars = {{"PIXELS", in.pixels()}, {"LENGTH", in.c}, {"K", std::get<TopK>(node.op).k}};
  UseLines(in.pixels(), 1, call);
  if (const int lanes = TopKLanes(builder.device(), in); lanes > 1) {
    call.kernel = "topk_shared";  // has the same arguments
    call.defines.push_back({"LANES", std::to_string(lanes)});
    call.local_size = {static_cast<uint32_t>(lanes), 1, 1};
    call.work_items[0] *= lanes;
  }
  return builder.Call(node, call);
}

Status LowerCumSum(const Node& node, PlanBuilder& builder) {
  const auto& cumsum = std::get<CumSum>(node.op);
  const Shape& shape = builder.DescOf(node.inputs[0]).shape;
  const int axis = *AxisFromFront(cumsum.axis, shape.rank());
  const bool over_channels = axis == shape.rank() - 1;
  const Bhwc in = ToBhwc(shape);
  const int64_t sums = over_channels ? in.pixels() : in.pixels() / shape[axis];
  const int64_t inner = over_channels ? 1 : CountBetween(shape, axis + 1, shape.rank() - 1);
  KernelCall call = NodeCallOf<kernels::Cumsum>(builder, node);
  call.defines = {{"CHANNELS", over_channels ? "1" : "0"}};
  call.scalars = {{"PIXELS", in.pixels()},
                  {"C", in.c},
                  {"SUMS", sums},
                  {"LENGTH", shape[axis]},
                  {"INNER", inner},
                  {"EXCLUSIVE", cumsum.exclusive ? 1 : 0},
                  {"REVERSE", cumsum.reverse ? 1 : 0}};
  UseLines(sums, over_channels ? 1 : in.slices(), call);
  return builder.Call(node, call);
}

}  // namespace hearth
