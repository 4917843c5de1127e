// 3-D convolutions as 2-D ones: the depth of a window becomes channels, or the height of pictures of single pixels.
#include <algorithm>

#include "core/base/error.h"
#include "frontends/writer/expansions.h"

namespace hearth {
namespace {

constexpr int32_t kMostStep = 1 << 14;  // strides, dilations
constexpr int64_t kMostVolumeElements = int64_t{1} << 30;
constexpr int64_t kMostTaps = 256;  // the depth of a window: each plane is a slice

struct Depth {
  int32_t before = 0, after = 0, size = 0;  // padding and output depth
};

Status CheckSteps(const Volume& volume) {
  for (const int32_t step : {volume.stride_d, volume.dilation_d, volume.plane.stride_h, volume.plane.stride_w,
                             volume.plane.dilation_h, volume.plane.dilation_w}) {
    if (step < 1 || step > kMostStep) return Error(StatusCode::kMalformedInput, "a stride or dilation of {}", step);
  }
  return Status::Ok();
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
Made Merge(NodeWriter& to, const Made& value, int first) {
  if (!value.ok()) return value;
  const Shape shape = to.shape(*value);
  const int64_t merged = int64_t{shape[first]} * shape[first + 1];
  if (merged > kMostVolumeElements) return Error(StatusCode::kUnsupported, "a volume of shape {}", shape.ToString());
  Shape made = Without(shape, first + 1);
  made[first] = static_cast<int32_t>(merged);
  return to.AddReshape(value, made);
}

// `inputs` and `depth` are the filter's dimensions of input channels and planes.
Status CheckOperands(const NodeWriter& to, ValueId x, ValueId filter, int inputs, int depth) {
  const Shape &image = to.shape(x), &window = to.shape(filter);
  if (image.rank() != 5 || window.rank() != 5 || image[4] != window[inputs]) {
    return Error(StatusCode::kMalformedInput, "a filter of shape {} for an input of shape {}", window.ToString(),
                 image.ToString());
  }
  if (window[depth] > kMostTaps || to.IsEmpty(filter)) {
    return Error(StatusCode::kUnsupported, "a filter of shape {}", window.ToString());
  }
  if (to.desc(x).dtype == DType::kFloat32 && to.desc(filter).dtype == DType::kFloat32) return Status::Ok();
  return Error(StatusCode::kUnsupported, "only float32, not {} with a filter of {}", DTypeName(to.desc(x).dtype),
               DTypeName(to.desc(filter).dtype));
}

// Whether windows are lines of the depth, whose other sizes stay what they are.
bool IsOverDepth(const Window2D& plane, const Shape& filter) {
  const Padding2D& padding = plane.padding;
  const bool is_padded = padding.top != 0 || padding.bottom != 0 || padding.left != 0 || padding.right != 0;
  return filter[1] == 1 && filter[2] == 1 && plane.stride_h == 1 && plane.stride_w == 1 && !is_padded;
}

// Their convolution: each plane of the volume is a line of a picture.
Made ConvolveDepth(NodeWriter& to, const Volume& volume, const Depth& depth, ValueId x, ValueId filter, ValueId bias) {
  const Shape image = to.shape(x), taps = to.shape(filter);
  const Window2D window{
      volume.stride_d, 1, volume.dilation_d, 1, {PaddingMode::kExplicit, depth.before, depth.after, 0, 0}};
  const Made y = to.Add(Conv2D{window, volume.activation},
                        {Merge(to, x, 2), to.AddReshape(filter, {taps[0], taps[3], 1, taps[4]}), bias});
  return to.AddReshape(y, {image[0], depth.size, image[2], image[3], taps[0]});
}

}  // namespace

// The kd planes of each window are concatenated as channels.
Made AddConv3D(NodeWriter& to, const Volume& volume, ValueId x, ValueId filter, ValueId bias) {
  HEARTH_TRY(CheckSteps(volume));
  HEARTH_TRY(CheckOperands(to, x, filter, 4, 3));
  const Shape image = to.shape(x);
  const int32_t taps = to.shape(filter)[3];
  Depth depth = WindowsOver(image[1] + volume.before_d + volume.after_d, taps, volume.stride_d, volume.dilation_d,
                            volume.plane.padding.mode);
  depth.before += volume.before_d;
  depth.after += volume.after_d;
  if (depth.size < 1) {
    return Error(StatusCode::kMalformedInput, "a window of {} planes, {} apart, on {} planes", taps, volume.dilation_d,
                 image[1]);
  }
  if (taps > 1 && IsOverDepth(volume.plane, to.shape(filter))) return ConvolveDepth(to, volume, depth, x, filter, bias);
  const Made padded = to.AddPad(x, 1, depth.before, depth.after);
  std::vector<ValueId> planes;
  for (int32_t tap = 0; tap < taps; ++tap) {
    HEARTH_ASSIGN(const ValueId plane, to.AddSlice(padded, 1, tap * volume.dilation_d, depth.size, volume.stride_d));
    planes.push_back(plane);
  }
  const Made images = Merge(to, taps == 1 ? Made(planes[0]) : to.Add(Concat{.axis = 4}, planes), 0);
  const Made weights = Merge(to, filter, 3);
  HEARTH_ASSIGN(const ValueId y, to.Add(Conv2D{volume.plane, volume.activation}, {images, weights, bias}));
  const Shape made = to.shape(y);
  return to.AddReshape(y, {image[0], depth.size, made[1], made[2], made[3]});
}

namespace {

// A transposed convolution with checked sizes.
struct Spread {
  TransposeConv conv;  // for one plane
  Depth depth;         // of the convolution whose gradient this is
  int32_t planes = 0;  // of the output
};

Result<Spread> SpreadOf(const NodeWriter& to, const Volume& volume, ValueId shape, ValueId x, ValueId filter) {
  HEARTH_ASSIGN(const std::vector<int64_t> wanted, to.Integers(shape));
  const Shape &image = to.shape(x), &window = to.shape(filter);
  if (volume.dilation_d != 1 || volume.plane.dilation_h != 1 || volume.plane.dilation_w != 1) {
    return Error(StatusCode::kUnsupported, "a dilated one");
  }
  bool fits = wanted.size() == 5 && wanted[0] == image[0] && wanted[4] == window[3];
  for (size_t d = 1; fits && d < 4; ++d) fits = wanted[d] >= 1 && wanted[d] <= (1 << 28);
  if (!fits) return Error(StatusCode::kMalformedInput, "its output's shape does not fit {}", image.ToString());
  const int32_t stride = volume.stride_d;
  Spread spread;
  spread.planes = static_cast<int32_t>(wanted[1]);
  spread.conv = {.height = static_cast<int32_t>(wanted[2]),
                 .width = static_cast<int32_t>(wanted[3]),
                 .stride_h = volume.plane.stride_h,
                 .stride_w = volume.plane.stride_w,
                 .padding = volume.plane.padding};
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
Made UnfoldPlanes(NodeWriter& to, ValueId y, const Shape& image, int32_t first, int32_t stride, int32_t outputs) {
  const int32_t pixels = to.shape(y)[1] * to.shape(y)[2];
  const Made part =
      to.AddReshape(to.AddSlice(y, 3, first, stride * outputs), {image[0], image[1], pixels, stride, outputs});
  return to.AddReshape(to.AddTranspose(part, {0, 1, 3, 2, 4}), {image[0], image[1] * stride, pixels, outputs});
}

}  // namespace

// Each plane makes kd planes of results as channels. Groups of `stride_d` neighbouring taps are adjacent planes, and
// each next group starts one input plane later. The groups are added up and the padding is cut off.
Made AddConv3DTranspose(NodeWriter& to, const Volume& volume, ValueId shape, ValueId x, ValueId filter, ValueId bias) {
  HEARTH_TRY(CheckSteps(volume));
  HEARTH_TRY(CheckOperands(to, x, filter, 4, 0));
  HEARTH_ASSIGN(const Spread spread, SpreadOf(to, volume, shape, x, filter));
  const Shape image = to.shape(x), window = to.shape(filter);
  const int32_t taps = window[0], stride = volume.stride_d, outputs = window[3];
  const int32_t lists = (taps + stride - 1) / stride;
  const Made weights =
      to.AddPad(Merge(to, to.AddTranspose(filter, {0, 3, 1, 2, 4}), 0), 0, 0, (lists * stride - taps) * outputs);
  const Made images = Merge(to, x, 0);
  HEARTH_ASSIGN(const ValueId y, to.Add(spread.conv, {images, weights}));
  ValueId sum = kNoValue;
  for (int32_t list = 0; list < lists; ++list) {
    const Made planes = UnfoldPlanes(to, y, image, list * stride * outputs, stride, outputs);
    HEARTH_ASSIGN(const ValueId part, to.AddPad(planes, 1, list * stride, (lists - 1 - list) * stride));
    HEARTH_ASSIGN(sum, sum == kNoValue ? Made(part) : to.Add(BinaryKind::kAdd, {sum, part}));
  }
  const int32_t missing = std::max(0, spread.depth.before + spread.planes - to.shape(sum)[1]);
  HEARTH_ASSIGN(sum, to.AddSlice(to.AddPad(sum, 1, 0, missing), 1, spread.depth.before, spread.planes));
  if (bias != kNoValue || volume.activation != Activation::kNone) {
    const Made added = bias != kNoValue ? Made(bias) : to.AddNumber(DType::kFloat32, 0.0);
    HEARTH_ASSIGN(sum, to.Add(Binary{BinaryKind::kAdd, volume.activation}, {sum, added}));
  }
  return to.AddReshape(sum, {image[0], spread.planes, spread.conv.height, spread.conv.width, outputs});
}

}  // namespace hearth
