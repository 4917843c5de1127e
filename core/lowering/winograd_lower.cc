#include "core/lowering/winograd_lower.h"

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/device/device_rules.h"
#include "core/device/group_size.h"
#include "core/graph/quantize.h"
#include "core/lowering/lowering_support.h"

namespace hearth {
namespace {

constexpr int32_t kPlanes = 36, kTile = 4;
constexpr std::string_view kVariantPrefix = "winograd_";  // followed by the variant of its product
constexpr int32_t kFewestChannels = 16;
constexpr int64_t kMostScratchBytes = int64_t{32} << 20;  // patches and products together

struct TileGrid {
  int32_t high = 0, wide = 0, all = 0;
};
TileGrid GridOf(const Bhwc& out) {
  const auto high = static_cast<int32_t>(Tiles(out.h, kTile)), wide = static_cast<int32_t>(Tiles(out.w, kTile));
  return {high, wide, high * wide * out.b};
}

// The sizes as a matrix product: rows of all planes, input and output channels.
MatrixShapes ProductOf(const TileGrid& grid, const Shape& filter) {
  return {int64_t{kPlanes} * grid.all, {filter[0], 1, 1, filter[3]}};
}

TensorDesc ScratchOf(const TileGrid& grid, int32_t channels) {
  return {DType::kFloat32, {kPlanes, 1, grid.all, channels}, {}};
}

}  // namespace

std::vector<KernelChoice> WinogradCandidates(const PlanBuilder& builder, const Node& node, const MatrixShapes& shapes) {
  const Window2D& window = std::get<Conv2D>(node.op).window;
  const LowerOptions& options = builder.options();
  const Graph& graph = builder.graph();
  const bool is_small_window = shapes.filter[1] == 3 && shapes.filter[2] == 3 && window.stride_h == 1 &&
                               window.stride_w == 1 && window.dilation_h == 1 && window.dilation_w == 1;
  const bool is_wanted = !options.low_memory && options.preference != Preference::kFastSingleAnswer;
  if (!is_small_window || !is_wanted || shapes.groups > 1 || !graph.IsConstant(node.inputs[1])) return {};
  if (shapes.filter[0] < kFewestChannels || shapes.filter[3] < kFewestChannels) return {};
  // Patches sum inputs times up to 25: too inexact if the result decides an index.
  if (builder.DecidesIndices(node.outputs[0])) return {};
  const TileGrid grid = GridOf(builder.ShapeOf(node.outputs[0]));
  const int64_t texels_in = int64_t{kPlanes} * grid.all * Tiles(shapes.filter[3], 4);
  const int64_t texels_out = int64_t{kPlanes} * grid.all * Tiles(shapes.filter[0], 4);
  if (16 * (texels_in + texels_out) > kMostScratchBytes) return {};
  const auto lanes = static_cast<int>(GroupItems(builder.device()));
  if (Applies(Rule::kWideVectors, builder.device())) {
    KernelChoice choice = WideProductChoice(builder.device());
    choice.variant.insert(0, kVariantPrefix);
    return {choice};
  }
  return {{"winograd_tile", 8, 2, lanes}, {"winograd_tile", 4, 2, lanes}};
}

Status LowerWinograd(const Node& node, PlanBuilder& builder, const KernelChoice& choice) {
  const auto& conv = std::get<Conv2D>(node.op);
  const TensorDesc& filter = builder.graph().value(node.inputs[1]).desc;
  const Bhwc in = builder.ShapeOf(node.inputs[0]), out = builder.ShapeOf(node.outputs[0]);
  const Padding2D padding = ResolvePadding(conv.window, in.h, in.w, 3, 3);
  const TileGrid grid = GridOf(out);
  const ValueId patches = builder.Scratch(ScratchOf(grid, in.c)), products = builder.Scratch(ScratchOf(grid, out.c));
  const NamedScalar tiles[] = {{"T", grid.all}, {"TH", grid.high}, {"TW", grid.wide}};

  KernelCall input;
  input.kernel = "winograd_input";
  input.tensors =
      TensorsOf<kernels::WinogradInput>({{"x", builder.Tensor(node.inputs[0])}, {"y", builder.Tensor(patches)}});
  input.scalars = {{"IH", in.h},        {"IW", in.w},        {"IPIX", static_cast<int32_t>(in.pixels())},
                   {"N4", in.slices()}, {"PT", padding.top}, {"PL", padding.left}};
  input.scalars.insert(input.scalars.end(), std::begin(tiles), std::end(tiles));
  input.work_items = {grid.all, in.slices(), 1};
  HEARTH_TRY(builder.Call(node, input));

  const MatrixShapes shapes = ProductOf(grid, filter.shape);
  KernelChoice product_choice = choice;
  product_choice.variant = choice.variant.substr(kVariantPrefix.size());
  const PackRecipe recipe{
      PackLayout::kWinograd, filter, WidthOf(product_choice), {filter.shape[0], 3, 3, filter.shape[3]}};
  HEARTH_TRY(builder.Call(node, PlanesCall(builder, {patches, builder.Packed(node.inputs[1], recipe), products}, shapes,
                                           kPlanes, product_choice)));

  KernelCall output;
  output.kernel = "winograd_output";
  output.stores_each_texel_once = true;
  output.tensors = TensorsOf<kernels::WinogradOutput>(
      {{"x", builder.Tensor(products)},
       {"bias", BiasOperand(builder, node.inputs.size() > 2 ? node.inputs[2] : kNoValue, out.c, 4)},
       {"y", builder.Tensor(node.outputs[0])}});
  output.scalars = {{"OH", out.h}, {"OW", out.w}, {"OPIX", static_cast<int32_t>(out.pixels())}, {"N4", out.slices()}};
  output.scalars.insert(output.scalars.end(), std::begin(tiles), std::end(tiles));
  output.work_items = {grid.all, out.slices(), 1};
  output.epilogue = ActivationEpilogue(conv.activation);
  return builder.Call(node, output);
}

}  // namespace hearth
