// STABLEHLO_CONVOLUTION: adds zeros around and between the input's elements, then a 2-D convolution for each plane of a
// window.
#include <algorithm>

#include "core/base/error.h"
#include "frontends/tflite/expand_hlo.h"

namespace hearth {
namespace {

constexpr int64_t kMostPlanes = 256, kMostMerged = int64_t{1} << 30;

// The dimension order: `first`, the dimensions of `image`, `last`.
Result<Shape> OrderOf(int64_t first, const flatbuffers::Vector<int64_t>* image, int64_t last, int rank) {
  HEARTH_ASSIGN(std::vector<int64_t> dims, ListOfAxes(image, "dimensions of an image", rank));
  dims.insert(dims.begin(), first);
  dims.push_back(last);
  std::vector<int64_t> sorted = dims;
  std::ranges::sort(sorted);
  bool is_order = sorted.size() == static_cast<size_t>(rank);
  for (size_t d = 0; is_order && d < sorted.size(); ++d) is_order = sorted[d] == static_cast<int64_t>(d);
  std::vector<int32_t> order(dims.size());
  std::ranges::transform(dims, order.begin(), [](int64_t dim) { return static_cast<int32_t>(dim); });
  if (is_order) return Shape::FromSpan(order);
  return Error(StatusCode::kMalformedInput, "dimensions {} and {} beside {} of an image, of rank {}", first, last,
               dims.size() - 2, rank);
}

// [N, 1, 1, W, C] for [N, W, C]: images get three spatial dimensions.
Made AsVolume(NodeWriter& to, ValueId value) {
  const Shape& shape = to.shape(value);
  std::vector<int32_t> dims(shape.dims().begin(), shape.dims().end());
  dims.insert(dims.begin() + 1, static_cast<size_t>(5 - shape.rank()), 1);
  return to.AddReshape(value, Shape::FromSpan(dims));
}

struct Steps {
  std::vector<int64_t> strides, dilations;  // depth, height, width
  int64_t groups = 1;
};

// The list, padded in front with 1 for missing spatial dimensions.
std::vector<int64_t> OfVolume(std::vector<int64_t> list) {
  list.insert(list.begin(), 3 - list.size(), 1);
  return list;
}

// Convolves x[N,D,H,W,C] with filter[O,kd,kh,kw,I] without padding.
Made ConvolveVolume(NodeWriter& to, ValueId x, ValueId filter, const Steps& steps) {
  const Shape image = to.shape(x), window = to.shape(filter);
  const int64_t reach = (window[1] - 1) * steps.dilations[0] + 1;
  if (window[1] > kMostPlanes || reach > image[1]) {
    return Error(StatusCode::kUnsupported, "windows of {} planes on {}", reach, image[1]);
  }
  const auto depth = static_cast<int32_t>((image[1] - reach) / steps.strides[0] + 1);
  if (int64_t{image[0]} * depth > kMostMerged) return Error(StatusCode::kUnsupported, "{} planes", depth);
  HEARTH_TRY(to.budget().ChargeOperators(4 * int64_t{window[1]}));
  const Conv2D conv{.window = {.stride_h = static_cast<int32_t>(steps.strides[1]),
                               .stride_w = static_cast<int32_t>(steps.strides[2]),
                               .dilation_h = static_cast<int32_t>(steps.dilations[1]),
                               .dilation_w = static_cast<int32_t>(steps.dilations[2]),
                               .padding = {PaddingMode::kValid}}};
  ValueId sum = kNoValue;
  for (int32_t plane = 0; plane < window[1]; ++plane) {
    const Made planes = to.AddSlice(x, 1, static_cast<int32_t>(plane * steps.dilations[0]), depth,
                                    static_cast<int32_t>(steps.strides[0]));
    const Made images = to.AddReshape(planes, {image[0] * depth, image[2], image[3], image[4]});
    const Made weights = to.AddReshape(to.AddSlice(filter, 1, plane, 1), {window[0], window[2], window[3], window[4]});
    HEARTH_ASSIGN(const ValueId part, to.Add(conv, {images, weights}));
    HEARTH_ASSIGN(sum, sum == kNoValue ? Made(part) : to.Add(BinaryKind::kAdd, {sum, part}));
  }
  const Shape made = to.shape(sum);
  return to.AddReshape(sum, {image[0], depth, made[1], made[2], made[3]});
}

Status CheckConvolution(const OperatorView& op, const wire::StablehloConvolutionOptions& options) {
  const TensorDesc &x = op.desc(0), &filter = op.desc(1);
  const int rank = x.shape.rank();
  if (rank < 3 || rank > 5 || filter.shape.rank() != rank || op.to().IsEmpty(op.operand(1))) {
    return Error(StatusCode::kUnsupported, "a filter of shape {} on {}", filter.shape.ToString(), x.shape.ToString());
  }
  if (options.batch_group_count() != 1) {
    return Error(StatusCode::kUnsupported, "{} groups of batches", options.batch_group_count());
  }
  if (x.dtype == DType::kFloat32 && filter.dtype == DType::kFloat32) return Status::Ok();
  return Error(StatusCode::kUnsupported, "only float32, not {} with a filter of {}", DTypeName(x.dtype),
               DTypeName(filter.dtype));
}

// The filter as [O, ..., I], reversed along dimensions of reversed windows.
Made ReadFilter(OperatorView& op, const wire::StablehloConvolutionOptions& options, int rank) {
  HEARTH_ASSIGN(const Shape order,
                OrderOf(options.kernel_output_feature_dimension(), options.kernel_spatial_dimensions(),
                        options.kernel_input_feature_dimension(), rank));
  HEARTH_ASSIGN(const ValueId filter, op.to().AddTranspose(op.operand(1), order));
  Reverse reverse;
  const auto* reversal = options.window_reversal();
  const uint32_t reversals = reversal == nullptr ? 0 : reversal->size(), dims = static_cast<uint32_t>(rank) - 2;
  if (reversals != 0 && reversals != dims)
    return Error(StatusCode::kMalformedInput, "its reversals are {} numbers for {} dimensions", reversals, dims);
  for (uint32_t d = 0; d < reversals; ++d) {
    if (reversal->Get(d) != 0) reverse.axes_mask |= 2U << d;
  }
  return reverse.axes_mask == 0 ? Made(filter) : op.to().Add(reverse, {filter});
}

// The input as [N, ..., C] with zeros around and between its elements.
Made ReadImage(OperatorView& op, const wire::StablehloConvolutionOptions& options, int rank) {
  HEARTH_ASSIGN(const Shape order, OrderOf(options.input_batch_dimension(), options.input_spatial_dimensions(),
                                           options.input_feature_dimension(), rank));
  HEARTH_ASSIGN(const auto padding, ListOfDims(options.padding(), "paddings", -(1 << 30), 2 * (rank - 2)));
  HEARTH_ASSIGN(const auto between, ListOfDims(options.lhs_dilation(), "dilations", 1, rank - 2));
  HEARTH_ASSIGN(ValueId image, op.to().AddTranspose(op.operand(0), order));
  for (int d = 0; d < rank - 2; ++d) {
    const auto at = static_cast<size_t>(d);
    HEARTH_ASSIGN(image, AddBetween(op.to(), image, 1 + d, between[at] - 1, 0));
    HEARTH_ASSIGN(image, AddEdges(op.to(), image, 1 + d, padding[2 * at], padding[2 * at + 1], 0));
  }
  return image;
}

}  // namespace

// (x, filter)
Expanded ExpandHloConvolution(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const auto* options, op.Options<wire::StablehloConvolutionOptions>());
  HEARTH_TRY(CheckConvolution(op, *options));
  const int rank = op.shape(0).rank();
  Steps steps{.strides = {}, .dilations = {}, .groups = options->feature_group_count()};
  HEARTH_ASSIGN(steps.strides, ListOfDims(options->window_strides(), "strides", 1, rank - 2));
  HEARTH_ASSIGN(steps.dilations, ListOfDims(options->rhs_dilation(), "dilations", 1, rank - 2));
  steps.strides = OfVolume(std::move(steps.strides));
  steps.dilations = OfVolume(std::move(steps.dilations));
  HEARTH_ASSIGN(const Shape made_order, OrderOf(options->output_batch_dimension(), options->output_spatial_dimensions(),
                                                options->output_feature_dimension(), rank));
  HEARTH_ASSIGN(ValueId image, ReadImage(op, *options, rank));
  HEARTH_ASSIGN(image, AsVolume(to, image));
  HEARTH_ASSIGN(ValueId filter, ReadFilter(op, *options, rank));
  HEARTH_ASSIGN(filter, AsVolume(to, filter));
  if (steps.groups < 1 || to.shape(image)[4] != int64_t{to.shape(filter)[4]} * steps.groups) {
    return Error(StatusCode::kMalformedInput, "a filter of shape {} in {} groups for {} channels",
                 to.shape(filter).ToString(), steps.groups, to.shape(image)[4]);
  }
  HEARTH_ASSIGN(ValueId made, ConvolveVolume(to, image, filter, steps));
  const Shape volume = to.shape(made);
  std::vector<int32_t> dims(volume.dims().begin(), volume.dims().end());
  dims.erase(dims.begin() + 1, dims.begin() + 1 + (5 - rank));
  HEARTH_ASSIGN(made, to.AddReshape(made, Shape::FromSpan(dims)));
  Shape places = made_order;  // the source of each output dimension
  for (int d = 0; d < rank; ++d) places[made_order[d]] = d;
  return OneValue(to.AddTranspose(made, places));
}

}  // namespace hearth
