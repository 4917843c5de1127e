#include <algorithm>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/device/device_rules.h"
#include "core/device/group_size.h"
#include "core/graph/quantize.h"
#include "core/lowering/loop_iterations.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/matrix_call.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {
namespace {

// ---- Winograd ----
// F(4x4,3x3) (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015): a 3x3 convolution of stride 1
// as 36 matrix products over 6x6 patches, with a quarter of the multiplications.

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

// "winograd_wide", "winograd_tile": how the products are calculated, as MatrixCandidates. Empty if it is impossible or
// cannot pay: other windows, few channels, scratch memory that is too large or not allowed.
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

// Precondition: `choice` is one of them.
Status LowerWinograd(const Node& node, PlanBuilder& builder, const KernelChoice& choice) {
  const auto& conv = std::get<Conv2D>(node.op);
  const TensorDesc& filter = builder.DescOf(node.inputs[1]);
  const Bhwc in = builder.ShapeOf(node.inputs[0]), out = builder.ShapeOf(node.outputs[0]);
  const Padding2D padding = ResolvePadding(conv.window, in.h, in.w, 3, 3);
  const TileGrid grid = GridOf(out);
  const ValueId patches = builder.Scratch(ScratchOf(grid, in.c)), products = builder.Scratch(ScratchOf(grid, out.c));
  const NamedScalar tiles[] = {{"T", grid.all}, {"TH", grid.high}, {"TW", grid.wide}};

  KernelCall input =
      CallOf<kernels::WinogradInput>({{"x", builder.Tensor(node.inputs[0])}, {"y", builder.Tensor(patches)}});
  input.scalars = {{"IH", in.h},        {"IW", in.w},        {"IPIX", in.pixels()},
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

  KernelCall output = CallOf<kernels::WinogradOutput>({{"x", builder.Tensor(products)},
                                                       {"bias", BiasOperand(builder, InputOf(node, 2), out.c, 4)},
                                                       {"y", builder.Tensor(node.outputs[0])}});
  output.stores_each_texel_once = true;
  output.scalars = {{"OH", out.h}, {"OW", out.w}, {"OPIX", out.pixels()}, {"N4", out.slices()}};
  output.scalars.insert(output.scalars.end(), std::begin(tiles), std::end(tiles));
  output.work_items = {grid.all, out.slices(), 1};
  output.epilogue = ActivationEpilogue(conv.activation);
  return builder.Call(node, output);
}

// ---- Convolutions ----

bool IsPointwise(const Window2D& window, const Padding2D& padding, const Shape& filter) {
  return filter[1] == 1 && filter[2] == 1 && window.stride_h == 1 && window.stride_w == 1 && !HasPixels(padding);
}

// Whether each group's channels fill whole texels, as the matrix kernels need.
bool FillsTexels(const Shape& filter, int32_t groups) {
  return groups == 1 || (filter[3] % 4 == 0 && filter[0] / groups % 4 == 0);
}

MatrixShapes ShapesOf(const PlanBuilder& builder, const Node& node) {
  const auto& conv = std::get<Conv2D>(node.op);
  const Shape& filter = builder.DescOf(node.inputs[1]).shape;
  const Bhwc in = builder.ShapeOf(node.inputs[0]);
  const Padding2D padding = ResolvePadding(conv.window, in.h, in.w, filter[1], filter[2]);
  return {builder.ShapeOf(node.outputs[0]).pixels(),
          {filter[0], filter[1], filter[2], filter[3]},
          IsPointwise(conv.window, padding, filter),
          in.c / filter[3]};
}

// For groups that share texels: a kernel that reads single elements.
KernelCall GroupedCall(PlanBuilder& builder, const Node& node, const Shape& filter, int32_t groups) {
  const int64_t pixels = builder.ShapeOf(node.outputs[0]).pixels();
  KernelCall call = CallOf<kernels::ConvGrouped>({{"x", builder.Tensor(node.inputs[0])},
                                                  {"w", builder.Tensor(node.inputs[1])},
                                                  {"bias", BiasOperand(builder, InputOf(node, 2), filter[0], 4)},
                                                  {"y", builder.Tensor(node.outputs[0])}});
  call.stores_each_texel_once = true;
  call.scalars = {{"M", pixels}, {"GI", filter[3]}, {"GO", filter[0] / groups}, {"O", filter[0]}};
  call.work_items = {pixels, Tiles(filter[0], 4), 1};
  return call;
}

// A computed filter has the layout of a packed one.
Operand DepthwiseFilter(PlanBuilder& builder, ValueId filter) {
  const TensorDesc& desc = builder.DescOf(filter);
  if (!builder.graph().IsConstant(filter)) return builder.Tensor(filter);
  const Shape& shape = desc.shape;
  return builder.Packed(filter, {PackLayout::kDepthwise, desc, 4, {1, shape[1], shape[2], shape[3]}});
}

// A larger window, unrolled, compiles for seconds and spills registers.
constexpr int64_t kMaxUnrolledTaps = 49;

}  // namespace

// conv_grouped has a loop over a group's channels for each channel of an output texel.
int64_t ConvolutionIterations(const Graph& graph, const Node& node) {
  const Shape& filter = graph.value(node.inputs[1]).desc.shape;
  const int32_t groups = ToBhwc(graph.value(node.inputs[0]).desc.shape).c / filter[3];
  if (FillsTexels(filter, groups)) return FilterIterations(graph, node);
  return LoopOf(filter[1], LoopOf(filter[2], 4 * LoopOf(filter[3])));
}

std::vector<KernelChoice> Conv2DCandidates(const Node& node, const PlanBuilder& builder) {
  const MatrixShapes shapes = ShapesOf(builder, node);
  if (!FillsTexels(builder.DescOf(node.inputs[1]).shape, shapes.groups)) return {{"grouped", 1, 1, 8}};
  std::vector<KernelChoice> candidates = MatrixCandidates(builder, node, shapes);
  const std::vector<KernelChoice> winograd = WinogradCandidates(builder, node, shapes);
  // Winograd's three kernels are worth compiling for many runs: 1.6 to 2 times as fast with 32 channels (PoCL 3.1,
  // lavapipe of Mesa 22.3).
  const bool leads = builder.options().preference == Preference::kSustainedSpeed &&
                     std::min(shapes.filter[0], shapes.filter[3]) >= 32 && shapes.pixels >= 512;
  candidates.insert(candidates.begin() + (leads ? 0 : 1), winograd.begin(), winograd.end());
  return candidates;
}

Status LowerConv2D(const Node& node, PlanBuilder& builder) {
  const auto& conv = std::get<Conv2D>(node.op);
  const Shape& filter = builder.DescOf(node.inputs[1]).shape;
  const Bhwc in = builder.ShapeOf(node.inputs[0]);
  const Bhwc out = builder.ShapeOf(node.outputs[0]);
  const KernelChoice choice = builder.Choose(node);
  if (choice.variant.starts_with("winograd")) return LowerWinograd(node, builder, choice);
  const MatrixShapes shapes = ShapesOf(builder, node);
  KernelCall call = choice.variant == "grouped" ? GroupedCall(builder, node, filter, shapes.groups)
                                                : MatrixCall(builder, node, shapes, choice);
  const auto window = WindowScalars(conv.window, in, out, filter[1], filter[2]);
  call.scalars.insert(call.scalars.end(), window.begin(), window.end());
  call.epilogue = ActivationEpilogue(conv.activation);
  return builder.Call(node, call);
}

// Whether depthwise_wide fits: a work item makes a whole line, in vectors of four pixels.
bool IsWideDepthwise(const Node& node, const PlanBuilder& builder) {
  const Window2D& window = std::get<DepthwiseConv2D>(node.op).window;
  const Shape& filter = builder.DescOf(node.inputs[1]).shape;
  return Applies(Rule::kWideVectors, builder.device()) && window.stride_w <= 2 && filter[1] * filter[2] <= 25 &&
         builder.ShapeOf(node.inputs[0]).c == builder.ShapeOf(node.outputs[0]).c;
}

// The rows that a work item makes on a software GPU. More rows share fetches, but programs with 7 or 9 rows compile 20
// to 60 ms longer than with 4. The cost counts fetches, 3 texels per input row, and stores, each as slow as 6 fetches
// (llvmpipe and lavapipe of Mesa 22.3).
int ShaderRows(const Window2D& window, int32_t out_h, Preference preference) {
  const auto cost = [&](int rows) {
    const int64_t items = Tiles(out_h, int64_t{rows} * window.dilation_h) * window.dilation_h;
    return items * (10 + 3 * ((rows - 1) * window.stride_h + 3) + 6 * rows);
  };
  const int64_t worth_percent = preference == Preference::kSustainedSpeed     ? 95
                                : preference == Preference::kFastSingleAnswer ? 0
                                                                              : 75;
  int best = 4;
  for (int rows : {7, 9}) {
    if (cost(rows) * 100 < cost(best) * worth_percent) best = rows;
  }
  return best;
}

// rows and cols count the outputs of a work item.
std::vector<KernelChoice> DepthwiseConv2DCandidates(const Node& node, const PlanBuilder& builder) {
  const Window2D& window = std::get<DepthwiseConv2D>(node.op).window;
  const Shape& filter = builder.DescOf(node.inputs[1]).shape;
  const Bhwc in = builder.ShapeOf(node.inputs[0]);
  const Bhwc out = builder.ShapeOf(node.outputs[0]);
  if (int64_t{filter[1]} * filter[2] > kMaxUnrolledTaps) return {{"any", 1, 1, 8}};
  // Outputs of a tile share texels along an axis only if they are one dilation apart (see the kernel), and never if the
  // stride is larger than the window.
  const bool tile_x = (window.dilation_w == 1 && window.stride_w <= 4) || window.stride_w == 1;
  const bool tile_y = (window.dilation_h == 1 && window.stride_h <= 4) || window.stride_h == 1;
  const bool large_tiles = Applies(Rule::kLargeTiles, builder.device());
  const bool small_window = filter[1] * filter[2] <= 9;  // past that the unrolled text compiles too long
  std::vector<KernelChoice> candidates;
  if (IsWideDepthwise(node, builder)) candidates.push_back({"wide", 1, 1, 1});
  const bool multiplies = in.c != out.c;  // a window's texel takes four fetches
  const bool upright = Applies(Rule::kUprightTiles, builder.device());
  int first_rows = 1;
  if (large_tiles && tile_y && small_window)
    first_rows = multiplies ? 4 : ShaderRows(window, out.h, builder.options().preference);
  if (upright && tile_y && small_window) first_rows = 2;
  candidates.push_back({"tile", first_rows, tile_x && small_window && !large_tiles && !upright ? 4 : 1, 8});
  for (const auto& [rows, cols] :
       {std::pair{1, 4}, {2, 4}, {4, 1}, {2, 2}, {4, 2}, {7, 1}, {2, 1}, {1, 2}, {1, 7}, {1, 1}}) {
    // A large window and a large tile together would spill registers.
    const bool fits = small_window || rows * cols <= 4;
    if (fits && (rows == 1 || tile_y) && (cols == 1 || tile_x)) candidates.push_back({"tile", rows, cols, 8});
  }
  return WithoutRepeats(std::move(candidates));
}

Status LowerDepthwiseConv2D(const Node& node, PlanBuilder& builder) {
  const auto& conv = std::get<DepthwiseConv2D>(node.op);
  const Window2D& window = conv.window;
  const Shape& filter = builder.DescOf(node.inputs[1]).shape;
  const Bhwc in = builder.ShapeOf(node.inputs[0]);
  const Bhwc out = builder.ShapeOf(node.outputs[0]);
  const KernelChoice choice = builder.Choose(node);
  const bool tile = choice.variant == "tile", wide = choice.variant == "wide";
  KernelCall call;
  call.kernel = wide ? KernelName("depthwise_wide") : tile ? KernelName("depthwise") : KernelName("depthwise_any");
  call.stores_each_texel_once = true;
  if (wide || tile) {
    const bool any_stride = wide && builder.options().preference == Preference::kFastSingleAnswer;
    call.defines = {{"KH", std::to_string(filter[1])},
                    {"KW", std::to_string(filter[2])},
                    {"SH", any_stride ? "STRIDE_H" : std::to_string(window.stride_h)},
                    {"SW", any_stride ? "STRIDE_W" : std::to_string(window.stride_w)}};
  }
  if (tile) {
    call.defines.push_back({"TX", std::to_string(choice.cols)});
    call.defines.push_back({"TY", std::to_string(choice.rows)});
    call.defines.push_back({"MULTIPLIER", std::to_string(out.c / in.c)});
    const bool plain = in.b == 1 && window.dilation_w == 1 && window.dilation_h == 1;
    call.defines.push_back({"PLAIN", plain ? "1" : "0"});
  }
  call.tensors = {{"x", builder.Tensor(node.inputs[0])},
                  {"w", DepthwiseFilter(builder, node.inputs[1])},
                  {"bias", BiasOperand(builder, InputOf(node, 2), out.c, 4)},
                  {"y", builder.Tensor(node.outputs[0])}};
  // Without a tile along an axis the outputs are neighbours, but the kernel still steps its taps by the dilation.
  call.scalars = WindowScalars(window, in, out, filter[1], filter[2]);
  call.scalars.insert(
      call.scalars.end(),
      {{"STRIDE_H", window.stride_h}, {"STRIDE_W", window.stride_w}, {"IC", in.c}, {"MULTIPLIER", out.c / in.c}});
  call.work_items = {out.w, out.h, int64_t{out.slices()} * out.b};
  if (wide) call.work_items = {out.h, int64_t{out.slices()} * out.b, 1};
  if (tile) {
    call.work_items[0] = Tiles(out.w, int64_t{choice.cols} * window.dilation_w) * window.dilation_w;
    call.work_items[1] = Tiles(out.h, int64_t{choice.rows} * window.dilation_h) * window.dilation_h;
    if (Applies(Rule::kCostlyGroups, builder.device()) && call.work_items[2] >= 4) call.local_size = {8, 1, 4};
  }
  call.epilogue = ActivationEpilogue(conv.activation);
  return builder.Call(node, call);
}

}  // namespace hearth
