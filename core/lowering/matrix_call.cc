#include "core/lowering/matrix_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/numbers.h"
#include "core/device/device_rules.h"
#include "core/device/group_size.h"
#include "core/lowering/group_product.h"
#include "core/lowering/lowering_support.h"

namespace hearth {
namespace {

constexpr int kWideRows = 6;  // 12 accumulators of 256 bits in pointwise_wide; 7 rows spill
constexpr int kWideConvRows = 4;
// For 32 registers of 512 bits (PoCL 3.1, AVX-512): 20 of them accumulate, or 8 if there are few channels.
constexpr int kPatchRows = 10, kWideRowsOfMany = 8;
// Per output channel: below it idle work items cost less than another program.
constexpr int64_t kFewMultiplications = 1 << 20;

// 7 rows, because sizes of 7 x 2^n pixels are common. Convolutions gain little past 16 accumulators, and each of their
// programs would compile 70 ms longer.
KernelChoice LargeTile(bool is_pointwise, int32_t slices_out) {
  const int cols = slices_out <= 2 ? 2 : 4;  // only two widths, since each is a program of its own
  return {"tile", is_pointwise ? 7 : 4, cols, 8};
}

// Work items of a group read neighbouring pixels.
KernelChoice TileFor(const PlanBuilder& builder, const MatrixShapes& shapes, int32_t slices_out) {
  const DeviceInfo& device = builder.device();
  const bool compiles_little = builder.options().preference == Preference::kFastSingleAnswer;
  if (Applies(Rule::kLargeTiles, device) && !compiles_little) return LargeTile(shapes.is_pointwise, slices_out);
  if (Applies(Rule::kShortGroups, device))
    return shapes.is_pointwise ? KernelChoice{"tile", 8, 2, 8} : KernelChoice{"tile", 4, 2, 8};
  // GPUs hide latency by many work items: smaller tiles if there are few pixels.
  const int most_rows = !shapes.is_pointwise && Applies(Rule::kTwoPixelTiles, device) ? 2 : 4;
  const int64_t items = Tiles(shapes.pixels, most_rows) * Tiles(slices_out, 2);
  const bool is_large = items >= int64_t{device.compute_units} * 128;
  const int rows = is_large ? most_rows : 2;
  return {"tile", rows, is_large ? 2 : 1, static_cast<int>(GroupItemsFor(device, shapes.pixels, rows))};
}

void AddTiles(const DeviceInfo& device, std::vector<KernelChoice>& candidates) {
  const bool short_groups = Applies(Rule::kShortGroups, device);
  const auto lanes = static_cast<int>(GroupItems(device));
  for (const auto& [rows, cols] : {std::pair{4, 2}, {8, 1}, {4, 1}, {8, 2}, {4, 4}, {2, 2}, {2, 1}, {1, 1}}) {
    candidates.push_back({"tile", rows, cols, lanes});
  }
  if (!short_groups) {
    for (const auto& [rows, cols] : {std::pair{4, 2}, {2, 2}, {2, 1}})
      candidates.push_back({"tile", rows, cols, lanes > 8 ? 32 : lanes});
  }
}

// Whether weights and bias are constants, which are packed in vectors of 16. The wide kernels' sums are long chains of
// fused multiply-adds and slightly less exact, so they must not decide indices.
bool CanBeWide(const PlanBuilder& builder, const Node& node, const MatrixShapes& shapes) {
  const Graph& graph = builder.graph();
  const ValueId bias = InputOf(node, 2);
  return graph.IsConstant(node.inputs[1]) && shapes.groups == 1 && (bias == kNoValue || graph.IsConstant(bias)) &&
         Applies(Rule::kWideVectors, builder.device()) && !builder.DecidesIndices(node.outputs[0]);
}

// Whether work items should share a sum: with few rows most of a tile would be idle.
bool SharesSums(const PlanBuilder& builder, const Node& node, const MatrixShapes& shapes) {
  return shapes.is_pointwise && shapes.groups == 1 && shapes.pixels <= 4 && shapes.filter[3] >= 64 &&
         builder.graph().IsConstant(node.inputs[1]);
}

// By how many items of a group. None where its groups hold fewer, or its local memory less than fully_connected has.
std::vector<KernelChoice> SharingCandidates(const DeviceInfo& device) {
  constexpr uint32_t kBytesOfParts = 1024;
  if (device.local_memory_bytes < kBytesOfParts) return {};
  std::vector<KernelChoice> candidates;
  const bool small = Applies(Rule::kShortGroups, device) || device.max_local_invocations < 64;
  for (int lanes : small ? std::array{8, 16} : std::array{32, 64}) candidates.push_back({"lanes", 1, 1, lanes});
  return WithFittingLanes(device, std::move(candidates));
}

ProductSize SizeOf(const MatrixShapes& shapes) {
  return {shapes.pixels, shapes.filter[3], shapes.filter[0], shapes.is_pointwise};
}

// Whether at least nine tenths of the work items' pixels exist.
bool FillsGroups(const KernelChoice& tile, int64_t pixels) {
  const int64_t of_group = int64_t{tile.rows} * tile.lanes;
  return pixels * 10 >= Tiles(pixels, of_group) * of_group * 9;
}

// Flat tiles come first if groups of the other kind would be partly empty, or if sums must be shared.
void AddFirstTiles(const PlanBuilder& builder, const Node& node, const MatrixShapes& shapes, KernelChoice tile,
                   std::vector<KernelChoice>& candidates) {
  const bool is_plain = shapes.groups == 1 && builder.graph().IsConstant(node.inputs[1]);
  const auto flat = is_plain ? FlatCandidates(builder.device(), SizeOf(shapes)) : std::vector<KernelChoice>();
  const bool flat_leads = !flat.empty() && (flat.front().lanes > 1 || !FillsGroups(tile, shapes.pixels));
  if (flat_leads) candidates.push_back(flat.front());
  candidates.push_back(std::move(tile));
  const bool may_be_local = is_plain && shapes.is_pointwise;
  const auto local = may_be_local ? LocalCandidates(builder.device(), SizeOf(shapes)) : std::vector<KernelChoice>();
  if (!local.empty()) candidates.push_back(local.front());
  candidates.insert(candidates.end(), flat.begin(), flat.end());
  candidates.insert(candidates.end(), local.begin(), local.end());
}

// For tuning last, and on hardware one of them second, so that a short measurement includes it; first where the rule
// applies. Their sums are added in an order that the driver chooses, so they must not decide indices.
void AddCooperative(const PlanBuilder& builder, const Node& node, const MatrixShapes& shapes,
                    std::vector<KernelChoice>& candidates) {
  const bool can_be = shapes.is_pointwise && shapes.groups == 1 && builder.graph().IsConstant(node.inputs[1]) &&
                      builder.IsHalf(node.inputs[0]) && !builder.DecidesIndices(node.inputs[1]) &&
                      !builder.DecidesIndices(node.outputs[0]);
  if (!can_be) return;
  const auto cooperative = CooperativeCandidates(builder.device(), SizeOf(shapes));
  if (cooperative.empty()) return;
  const bool leads = Applies(Rule::kCooperativeMatrices, builder.device());
  if (leads || !builder.device().is_software())
    candidates.insert(candidates.begin() + (leads ? 0 : 1), cooperative.front());
  candidates.insert(candidates.end(), cooperative.begin(), cooperative.end());
}

void AddWide(const DeviceInfo& device, const MatrixShapes& shapes, std::vector<KernelChoice>& candidates) {
  const KernelChoice wide{"wide", shapes.is_pointwise ? kWideRows : kWideConvRows, 1, 8};
  if (Applies(Rule::kWideRegisters, device)) {
    const int64_t multiplications = shapes.pixels * shapes.filter[1] * shapes.filter[2] * shapes.filter[3];
    const bool fills_half = shapes.filter[0] <= 16 && multiplications > kFewMultiplications;
    if (fills_half) candidates.push_back({"wide", kWideRowsOfMany, 1, 8});
    for (int rows : {kPatchRows, 12, 8}) candidates.push_back({"patch", rows, 1, 1});
    candidates.push_back({"wide", kWideRowsOfMany, 1, 8});
  }
  candidates.push_back(wide);
  for (int rows : {5, 4, 6, 3, 2, 1}) candidates.push_back({"wide", rows, 1, 8});
}

// Sets one product's tile.
void UseWideTile(const KernelChoice& choice, int64_t pixels, int32_t slices_out, KernelCall& call) {
  call.defines = {{"ROWS", std::to_string(choice.rows)}};
  call.local_size = {static_cast<uint32_t>(choice.lanes), 1, 1};
  call.work_items = {Tiles(pixels, choice.rows), Tiles(slices_out, WidthOf(choice) / 4), 1};
}

// The number of invocations that share loaded weights: the whole subgroup, if the tile consists of whole subgroups.
int SharingInvocations(const DeviceInfo& device, int lanes) {
  const auto size = static_cast<int>(device.subgroup_size);
  return Applies(Rule::kSubgroupWeights, device) && lanes % size == 0 ? size : 1;
}

void UseTile(const DeviceInfo& device, const KernelChoice& tile, int64_t pixels, int32_t slices_out, KernelCall& call) {
  const int lanes = FittingLanes(device, tile.lanes);
  call.defines = {{"ROWS", std::to_string(tile.rows)},
                  {"COLS", std::to_string(tile.cols)},
                  {"LANES", std::to_string(lanes)},
                  {"SUBGROUP", std::to_string(SharingInvocations(device, lanes))}};
  call.local_size = {static_cast<uint32_t>(lanes), 1, 1};
  call.work_items = {Tiles(pixels, int64_t{tile.rows} * lanes) * lanes, Tiles(slices_out, tile.cols), 1};
}

KernelName PointwiseKernel(const KernelChoice& choice) {
  if (choice.variant == "patch") return "pointwise_patch";
  return choice.variant == "wide" ? KernelName("pointwise_wide") : KernelName("pointwise_tile");
}

KernelName ConvolutionKernel(const KernelChoice& choice) {
  if (choice.variant == "patch") return "conv_patch";
  return choice.variant == "wide" ? KernelName("conv_wide") : KernelName("conv_tile");
}

}  // namespace

KernelChoice WideProductChoice(const DeviceInfo& device) {
  return Applies(Rule::kWideRegisters, device) ? KernelChoice{"patch", kPatchRows, 1, 1}
                                               : KernelChoice{"wide", kWideRows, 1, 8};
}

int32_t WidthOf(const KernelChoice& choice) {
  return choice.variant == "patch" ? 32 : choice.variant == "wide" ? 16 : 4;
}

std::vector<KernelChoice> MatrixCandidates(const PlanBuilder& builder, const Node& node, const MatrixShapes& shapes) {
  const auto slices_out = static_cast<int32_t>(Tiles(shapes.filter[0], 4));
  std::vector<KernelChoice> candidates;
  if (CanBeWide(builder, node, shapes)) AddWide(builder.device(), shapes, candidates);
  if (SharesSums(builder, node, shapes)) {
    const std::vector<KernelChoice> sharing = SharingCandidates(builder.device());
    candidates.insert(candidates.end(), sharing.begin(), sharing.end());
  }
  AddFirstTiles(builder, node, shapes, TileFor(builder, shapes, slices_out), candidates);
  AddTiles(builder.device(), candidates);
  AddCooperative(builder, node, shapes, candidates);
  // Tiles larger than the output repeat work. Grouped convolutions allow one column.
  const int most_cols = shapes.groups > 1                              ? 1
                        : Applies(Rule::kLargeTiles, builder.device()) ? std::max(slices_out, candidates.front().cols)
                                                                       : slices_out;
  for (KernelChoice& choice : candidates) choice.cols = std::min(choice.cols, most_cols);
  return WithoutRepeats(std::move(candidates));
}

KernelCall MatrixCall(PlanBuilder& builder, const Node& node, const MatrixShapes& shapes, const KernelChoice& choice) {
  const Graph& graph = builder.graph();
  const bool computed_filter = !graph.IsConstant(node.inputs[1]);
  const bool plain = !computed_filter && shapes.groups == 1;
  const int32_t width = WidthOf(choice);
  const int32_t channels_out = shapes.filter[0];
  const auto slices_out = static_cast<int32_t>(Tiles(channels_out, 4));
  const PackRecipe recipe{PackLayout::kMatrix, graph.value(node.inputs[1]).desc, width, shapes.filter};
  KernelCall call;
  call.kernel = shapes.is_pointwise && plain ? PointwiseKernel(choice) : ConvolutionKernel(choice);
  call.stores_each_texel_once = true;
  call.tensors = {{"x", builder.Tensor(node.inputs[0])},
                  {"w", computed_filter ? builder.Tensor(node.inputs[1]) : builder.Packed(node.inputs[1], recipe)},
                  {"bias", BiasOperand(builder, InputOf(node, 2), channels_out, width)},
                  {"y", builder.Tensor(node.outputs[0])}};
  call.scalars = {{"M", shapes.pixels}, {"K4", Tiles(shapes.filter[3], 4)},  {"N4", slices_out},
                  {"T", shapes.pixels}, {"GO4", slices_out / shapes.groups}, {"I", shapes.filter[3]},
                  {"O", channels_out}};
  if (choice.variant == "lanes") {
    call.kernel = "fully_connected";
    call.defines = {{"LANES", std::to_string(choice.lanes)}};
    call.local_size = {static_cast<uint32_t>(choice.lanes), 1, 1};
    call.work_items = {int64_t{slices_out} * choice.lanes, shapes.pixels, 1};
  } else if (choice.variant == kFlatVariant) {
    UseFlat(builder.device(), SizeOf(shapes), choice, call);
  } else if (choice.variant == kLocalVariant) {
    UseLocal(SizeOf(shapes), choice, call);
  } else if (choice.variant == kCooperativeVariant) {
    UseCooperative(builder.device(), SizeOf(shapes), choice, call);
  } else if (width > 4) {
    UseWideTile(choice, shapes.pixels, slices_out, call);
    const bool is_shallow = choice.variant == "patch" && !shapes.is_pointwise && shapes.filter[3] <= 4;
    if (is_shallow) call.defines.push_back({"DEPTH", "1"});  // the second texel would be unused
  } else {
    UseTile(builder.device(), choice, shapes.pixels, slices_out, call);
    if (computed_filter) call.defines.insert(call.defines.end(), {{"RUNTIME", "1"}, {"SUBGROUP", "1"}});
  }
  return call;
}

KernelCall PlanesCall(PlanBuilder& builder, const PlanesOperands& operands, const MatrixShapes& shapes, int32_t planes,
                      const KernelChoice& choice) {
  const bool wide = WidthOf(choice) > 4;
  const auto slices_out = static_cast<int32_t>(Tiles(shapes.filter[0], 4));
  const int64_t rows = shapes.pixels / planes;
  KernelCall call;
  call.kernel = PointwiseKernel(choice);
  call.tensors = {{"x", builder.Tensor(operands.a)},
                  {"w", operands.weights},
                  {"bias", builder.Zeros(shapes.filter[0], WidthOf(choice))},
                  {"y", builder.Tensor(operands.y)}};
  call.scalars = {{"M", shapes.pixels}, {"K4", Tiles(shapes.filter[3], 4)}, {"N4", slices_out}, {"T", rows}};
  if (wide) {
    UseWideTile(choice, rows, slices_out, call);
  } else {
    UseTile(builder.device(), choice, rows, slices_out, call);
  }
  call.work_items[2] = planes;
  return call;
}

}  // namespace hearth
