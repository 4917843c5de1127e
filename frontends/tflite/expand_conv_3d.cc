// 3-D convolutions as 2-D ones: the depth of a window becomes channels.
#include <algorithm>

#include "core/base/error.h"
#include "frontends/tflite/expansion.h"

namespace hearth {
namespace {

constexpr int32_t kMostStep = 1 << 14;  // strides, dilations
constexpr int64_t kMostVolumeElements = int64_t{1} << 30;
constexpr int64_t kMostTaps = 256;  // the depth of a window: each plane is a slice

struct Depth {
  int32_t before = 0, after = 0, size = 0;  // padding and output depth
};

Status CheckSteps(const wire::Conv3DOptions& options) {
  for (const int32_t step : {options.stride_d(), options.stride_h(), options.stride_w(), options.dilation_d_factor(),
                             options.dilation_h_factor(), options.dilation_w_factor()}) {
    if (step < 1 || step > kMostStep) return Error(StatusCode::kMalformedInput, "a stride or dilation of {}", step);
  }
  if (options.padding() == wire::Padding_SAME || options.padding() == wire::Padding_VALID) return Status::Ok();
  return Error(StatusCode::kMalformedInput, "there is no padding mode {}", static_cast<int>(options.padding()));
}

Padding2D PaddingOf(const wire::Conv3DOptions& options) {
  return {options.padding() == wire::Padding_SAME ? PaddingMode::kSame : PaddingMode::kValid};
}

// Padding and output depth of windows of `kernel` planes over a depth of `size`.
Depth WindowsOver(int32_t size, int32_t kernel, int32_t stride, int32_t dilation, PaddingMode padding) {
  Depth depth;
  if (padding == PaddingMode::kSame) {
    const int64_t count = (size + int64_t{stride} - 1) / stride;
    const int64_t missing = std::max<int64_t>((count - 1) * stride + (kernel - 1) * int64_t{dilation} + 1 - size, 0);
    depth.before = static_cast<int32_t>(missing / 2);
    depth.after = static_cast<int32_t>(missing - missing / 2);
  }
  depth.size = WindowedSize(size, depth.before, depth.after, kernel, stride, dilation);
  return depth;
}

// Joins dimension `first` with the next one.
Result<ValueId> Merge(Expansion& to, ValueId value, int first) {
  const Shape& shape = to.shape(value);
  std::vector<int32_t> dims(shape.dims().begin(), shape.dims().end());
  const int64_t merged = int64_t{shape[first]} * shape[first + 1];
  if (merged > kMostVolumeElements) return Error(StatusCode::kUnsupported, "a volume of shape {}", shape.ToString());
  dims[static_cast<size_t>(first)] = static_cast<int32_t>(merged);
  dims.erase(dims.begin() + first + 1);
  return to.AddReshape(value, Shape::FromSpan(dims));
}

Status CheckOperands(const Expansion& to, ValueId x, ValueId filter, int filter_inputs) {
  const Shape &image = to.shape(x), &window = to.shape(filter);
  if (image.rank() != 5 || window.rank() != 5 || image[4] != window[filter_inputs]) {
    return Error(StatusCode::kMalformedInput, "a filter of shape {} for an input of shape {}", window.ToString(),
                 image.ToString());
  }
  if (window[0] > kMostTaps || to.IsEmpty(filter)) {
    return Error(StatusCode::kUnsupported, "a filter of shape {}", window.ToString());
  }
  if (to.desc(x).dtype == DType::kFloat32 && to.desc(filter).dtype == DType::kFloat32) return Status::Ok();
  return Error(StatusCode::kUnsupported, "only float32, not {} with a filter of {}", DTypeName(to.desc(x).dtype),
               DTypeName(to.desc(filter).dtype));
}

}  // namespace

// (x[N,D,H,W,I], filter[kd,kh,kw,I,O], bias[O]?): the kd planes of each window are concatenated as channels.
Expanded ExpandConv3D(Expansion& to) {
  HEARTH_ASSIGN(const wire::Conv3DOptions* options, to.Options<wire::Conv3DOptions>());
  HEARTH_TRY(CheckSteps(*options));
  HEARTH_TRY(CheckOperands(to, to.operand(0), to.operand(1), 3));
  const Shape image = to.shape(to.operand(0)), window = to.shape(to.operand(1));
  const int32_t taps = window[0], stride = options->stride_d(), dilation = options->dilation_d_factor();
  Conv2D conv{.window = {.stride_h = options->stride_h(),
                         .stride_w = options->stride_w(),
                         .dilation_h = options->dilation_h_factor(),
                         .dilation_w = options->dilation_w_factor(),
                         .padding = PaddingOf(*options)}};
  HEARTH_ASSIGN(conv.activation, ReadActivation(options->fused_activation_function()));
  const Depth depth = WindowsOver(image[1], taps, stride, dilation, conv.window.padding.mode);
  if (depth.size < 1) {
    return Error(StatusCode::kMalformedInput, "a window of {} planes, {} apart, on {} planes", taps, dilation,
                 image[1]);
  }
  HEARTH_ASSIGN(const ValueId padded, to.AddPad(to.operand(0), 1, depth.before, depth.after));
  std::vector<ValueId> planes;
  for (int32_t tap = 0; tap < taps; ++tap) {
    HEARTH_ASSIGN(const ValueId plane, to.AddSlice(padded, 1, tap * dilation, depth.size, stride));
    planes.push_back(plane);
  }
  HEARTH_ASSIGN(ValueId x, taps == 1 ? Result<ValueId>(planes[0]) : to.Add(Concat{.axis = 4}, planes));
  HEARTH_ASSIGN(x, Merge(to, x, 0));
  HEARTH_ASSIGN(ValueId filter, to.AddTranspose(to.operand(1), {4, 1, 2, 0, 3}));
  HEARTH_ASSIGN(filter, Merge(to, filter, 3));
  std::vector<ValueId> inputs = {x, filter};
  if (to.Has(2)) inputs.push_back(to.operand(2));
  HEARTH_ASSIGN(const ValueId y, to.Add(conv, std::move(inputs)));
  const Shape made = to.shape(y);
  return OneValue(to.AddReshape(y, {image[0], depth.size, made[1], made[2], made[3]}));
}

namespace {

// A transposed convolution with checked sizes.
struct Spread {
  TransposeConv conv;  // for one plane
  Depth depth;         // of the convolution whose gradient this is
  int32_t planes = 0;  // of the output
};

Result<Spread> ReadSpread(const Expansion& to, const wire::Conv3DOptions& options) {
  HEARTH_ASSIGN(const std::vector<int64_t> wanted, to.Integers(0));
  const Shape &image = to.shape(to.operand(2)), &window = to.shape(to.operand(1));
  if (options.dilation_d_factor() != 1 || options.dilation_h_factor() != 1 || options.dilation_w_factor() != 1) {
    return Error(StatusCode::kUnsupported, "a dilated one");
  }
  bool fits = wanted.size() == 5 && wanted[0] == image[0] && wanted[4] == window[3];
  for (size_t d = 1; fits && d < 4; ++d) fits = wanted[d] >= 1 && wanted[d] <= (1 << 28);
  if (!fits) return Error(StatusCode::kMalformedInput, "its output's shape does not fit {}", image.ToString());
  const int32_t stride = options.stride_d();
  Spread spread;
  spread.planes = static_cast<int32_t>(wanted[1]);
  spread.conv = {.height = static_cast<int32_t>(wanted[2]),
                 .width = static_cast<int32_t>(wanted[3]),
                 .stride_h = options.stride_h(),
                 .stride_w = options.stride_w(),
                 .padding = PaddingOf(options)};
  spread.depth = WindowsOver(spread.planes, window[0], stride, 1, spread.conv.padding.mode);
  if (spread.depth.size != image[1]) {
    return Error(StatusCode::kMalformedInput, "an output of {} planes can't come from an input of shape {}",
                 spread.planes, image.ToString());
  }
  if (wanted[2] * wanted[3] > kMostVolumeElements || int64_t{image[1]} * stride > kMostVolumeElements ||
      int64_t{window[0] + stride} * window[3] > kMostVolumeElements) {
    return Error(StatusCode::kUnsupported, "an output of {} x {} pixels in steps of {} planes", spread.conv.height,
                 spread.conv.width, stride);
  }
  return spread;
}

// Channels `first` to `first + stride * outputs` of each plane as `stride` adjacent planes.
Result<ValueId> UnfoldPlanes(Expansion& to, ValueId y, const Shape& image, int32_t first, int32_t stride,
                             int32_t outputs) {
  const int32_t pixels = to.shape(y)[1] * to.shape(y)[2];
  HEARTH_ASSIGN(ValueId part, to.AddSlice(y, 3, first, stride * outputs));
  HEARTH_ASSIGN(part, to.AddReshape(part, {image[0], image[1], pixels, stride, outputs}));
  HEARTH_ASSIGN(part, to.AddTranspose(part, {0, 1, 3, 2, 4}));
  return to.AddReshape(part, {image[0], image[1] * stride, pixels, outputs});
}

}  // namespace

// (shape, filter[kd,kh,kw,O,I], x[N,D,H,W,I], bias[O]?): each plane makes kd planes of results as channels. Groups of
// `stride` neighbouring taps are adjacent planes, and each next group starts one input plane later. The groups are
// added up and the padding is cut off.
Expanded ExpandConv3DTranspose(Expansion& to) {
  HEARTH_ASSIGN(const wire::Conv3DOptions* options, to.Options<wire::Conv3DOptions>());
  HEARTH_TRY(CheckSteps(*options));
  HEARTH_TRY(CheckOperands(to, to.operand(2), to.operand(1), 4));
  HEARTH_ASSIGN(const Activation activation, ReadActivation(options->fused_activation_function()));
  HEARTH_ASSIGN(const Spread spread, ReadSpread(to, *options));
  const Shape image = to.shape(to.operand(2)), window = to.shape(to.operand(1));
  const int32_t taps = window[0], stride = options->stride_d(), outputs = window[3];
  const int32_t lists = (taps + stride - 1) / stride;
  HEARTH_ASSIGN(ValueId filter, to.AddTranspose(to.operand(1), {0, 3, 1, 2, 4}));
  HEARTH_ASSIGN(filter, Merge(to, filter, 0));
  HEARTH_ASSIGN(filter, to.AddPad(filter, 0, 0, (lists * stride - taps) * outputs));
  HEARTH_ASSIGN(const ValueId x, Merge(to, to.operand(2), 0));
  HEARTH_ASSIGN(const ValueId y, to.Add(spread.conv, {x, filter}));
  ValueId sum = kNoValue;
  for (int32_t list = 0; list < lists; ++list) {
    HEARTH_ASSIGN(ValueId part, UnfoldPlanes(to, y, image, list * stride * outputs, stride, outputs));
    HEARTH_ASSIGN(part, to.AddPad(part, 1, list * stride, (lists - 1 - list) * stride));
    HEARTH_ASSIGN(sum, sum == kNoValue ? Result<ValueId>(part) : to.AddBinary(BinaryKind::kAdd, sum, part));
  }
  HEARTH_ASSIGN(sum, to.AddPad(sum, 1, 0, std::max(0, spread.depth.before + spread.planes - to.shape(sum)[1])));
  HEARTH_ASSIGN(sum, to.AddSlice(sum, 1, spread.depth.before, spread.planes));
  if (to.Has(3) || activation != Activation::kNone) {
    HEARTH_ASSIGN(const ValueId bias, to.Has(3) ? Result<ValueId>(to.operand(3)) : to.AddNumber(DType::kFloat32, 0.0));
    HEARTH_ASSIGN(sum, to.AddBinary(BinaryKind::kAdd, sum, bias, activation));
  }
  return OneValue(to.AddReshape(sum, {image[0], spread.planes, spread.conv.height, spread.conv.width, outputs}));
}

}  // namespace hearth
