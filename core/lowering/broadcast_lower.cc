#include "core/lowering/broadcast_lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/lowering/lowering_support.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {
namespace {

constexpr int kPixelDims = Shape::kMaxRank - 1;
constexpr int kKernelDims = kMaxKernelRank - 1;     // the innermost of these
using PixelDims = std::array<int32_t, kPixelDims>;  // all but the channels, outermost first, padded with ones in front

PixelDims PixelDimsOf(const Shape& shape) {
  PixelDims dims;
  dims.fill(1);
  for (int i = 0; i < shape.rank() - 1; ++i) dims[kPixelDims - shape.rank() + 1 + i] = shape[i];
  return dims;
}

int32_t ChannelsOf(const Shape& shape) {
  return shape.rank() == 0 ? 1 : shape[shape.rank() - 1];
}

// The dimensions of result and operands after joining neighbours that lie together in all of them.
struct BroadcastDims {
  PixelDims out;
  std::vector<PixelDims> operands;
};

BroadcastDims Merge(std::span<const Shape> shapes, const Shape& out_shape) {
  BroadcastDims dims{PixelDimsOf(out_shape), {}};
  for (const Shape& shape : shapes) dims.operands.push_back(PixelDimsOf(shape));
  // Starts at the innermost dimension: `to` accumulates, `from` is the next outer one.
  int to = kPixelDims - 1;
  for (int from = to - 1; from >= 0; --from) {
    const auto alike = [&](const PixelDims& operand) { return (operand[from] == 1) == (operand[to] == 1); };
    const bool merges =
        dims.out[from] == 1 || dims.out[to] == 1 || std::all_of(dims.operands.begin(), dims.operands.end(), alike);
    if (!merges) --to;
    const auto move = [&](PixelDims& own) {
      if (to == from) return;
      own[to] *= own[from];
      own[from] = 1;
    };
    move(dims.out);
    for (PixelDims& operand : dims.operands) move(operand);
  }
  return dims;
}

// The scalar names of an operand: strides in the order of PixelDims, then slices, then whether it has one channel.
struct StrideNames {
  std::array<ScalarName, kKernelDims> pixels;
  ScalarName slice, first;
};
constexpr StrideNames kNames[] = {
    {{"AB0", "AB1", "AB2", "AH", "AW"}, "AS", "AFIRST"},
    {{"BB0", "BB1", "BB2", "BH", "BW"}, "BS", "BFIRST"},
    {{"CB0", "CB1", "CB2", "CH", "CW"}, "CS", "CFIRST"},
};

Status CallSelect(const Node& node, PlanBuilder& builder, const Shape& condition, bool per_row) {
  const auto shape = [&](ValueId value) { return builder.DescOf(value).shape; };
  KernelCall call = NodeCallOf<kernels::Select>(builder, node);
  if (per_row) call.defines = {{"PER_ROW", "1"}};
  AddBroadcast(std::array{condition, shape(node.inputs[1]), shape(node.inputs[2])}, shape(node.outputs[0]), call);
  return builder.Call(node, call);
}

}  // namespace

bool FillsWithoutRepeating(const Shape& operand, const Shape& out) {
  return ChannelsOf(operand) == ChannelsOf(out) && PixelDimsOf(operand) == PixelDimsOf(out);
}

std::optional<std::string> BroadcastUnsupported(const Graph& graph, const Node& node) {
  const Shape& out = graph.value(node.outputs[0]).desc.shape;
  if (out.rank() <= kMaxKernelRank) return std::nullopt;
  std::vector<Shape> operands;
  for (const ValueId input : node.inputs) operands.push_back(graph.value(input).desc.shape);
  const BroadcastDims dims = Merge(operands, out);
  const auto left = std::count_if(dims.out.begin(), dims.out.end() - kKernelDims, [](int32_t dim) { return dim > 1; });
  if (left == 0) return std::nullopt;
  return fmt::format("shapes that broadcast in {} dimensions, of which kernels take {}", left + kMaxKernelRank,
                     kMaxKernelRank);
}

void AddBroadcast(std::span<const Shape> operands, const Shape& out, KernelCall& call) {
  const BroadcastDims dims = Merge(operands, out);
  const Bhwc bhwc = ToBhwc(out);
  const auto pixels = static_cast<int32_t>(bhwc.pixels());
  const auto own = [](const PixelDims& all, int d) { return all[kPixelDims - kKernelDims + d]; };
  const NamedScalar sizes[] = {{"OPIX", pixels},          {"N4", bhwc.slices()},    {"OB1", own(dims.out, 1)},
                               {"OB2", own(dims.out, 2)}, {"OH", own(dims.out, 3)}, {"OW", own(dims.out, 4)}};
  call.scalars.insert(call.scalars.end(), std::begin(sizes), std::end(sizes));
  for (size_t k = 0; k < operands.size(); ++k) {
    int32_t stride = 1;
    for (int d = kKernelDims - 1; d >= 0; --d) {
      const int32_t dim = own(dims.operands[k], d);
      call.scalars.push_back({kNames[k].pixels[d], dim == 1 ? 0 : stride});
      stride *= dim;
    }
    const int32_t channels = ChannelsOf(operands[k]);
    call.scalars.push_back({kNames[k].slice, channels == 1 ? 0 : stride});
    call.scalars.push_back({kNames[k].first, channels == 1 && bhwc.c > 1 ? 1 : 0});
  }
  call.defines.push_back({"LINES", dims.out[kPixelDims - 1] < pixels ? "1" : "0"});
  call.work_items = {pixels, bhwc.slices(), 1};
}

std::optional<std::string> SelectUnsupported(const Graph& graph, const Node& node, const Placing& placing) {
  if (auto reason = BroadcastUnsupported(graph, node)) return reason;
  return WideIntegers(graph, node, placing);
}

Status LowerSelect(const Node& node, PlanBuilder& builder) {
  return CallSelect(node, builder, builder.DescOf(node.inputs[0]).shape, false);
}

Status LowerSelectRows(const Node& node, PlanBuilder& builder) {
  const Shape& condition = builder.DescOf(node.inputs[0]).shape;
  const int rank = builder.DescOf(node.outputs[0]).shape.rank();
  if (rank == 1) return CallSelect(node, builder, condition, false);
  // The condition chooses whole rows of dimension 0, so its shape is [rows, 1, ..., 1].
  std::vector<int32_t> dims(static_cast<size_t>(rank), 1);
  dims[0] = condition[0];
  return CallSelect(node, builder, Shape::FromSpan(dims), true);
}

}  // namespace hearth
