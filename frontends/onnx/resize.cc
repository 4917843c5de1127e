// Resize and Upsample. Along each dimension an element is a sum of 1, 2 or 4 others; what Hearth's own operation
// computes is left to that.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/ops/coordinates.h"
#include "frontends/onnx/operators.h"

namespace hearth::onnx {
namespace {

constexpr double kMostPixels = 1 << 20;

// How one dimension changes.
struct Resized {
  int64_t in = 0, out = 0;
  float scale = 1.0f;
  float start = 0.0f, end = 1.0f;  // the region of tf_crop_and_resize, as a share of the dimension
  // Where data say them instead: the places of both in operand 1.
  std::optional<std::pair<int32_t, int32_t>> region;
};

enum class Filter : uint8_t { kNearest, kLinear, kCubic };

struct Rules {
  std::string_view coordinates = "half_pixel", rounding = "round_prefer_floor";
  Filter filter = Filter::kNearest;
  double cubic = -0.75, outside = 0.0;
  bool excludes_outside = false, antialiases = false;
};

// How much of an element an output element counts as one: less than 1 where a wide filter keeps out aliases.
double StretchOf(const Rules& rules, const Resized& r) {
  return rules.antialiases && rules.filter != Filter::kNearest && r.scale < 1.0f ? static_cast<double>(r.scale) : 1.0;
}

// Where an output element lies in the operand, in single precision as in the format's own runtime.
float Position(const Rules& rules, const Resized& r, int64_t at) {
  const auto o = static_cast<float>(at), in = static_cast<float>(r.in), out = static_cast<float>(r.out);
  if (rules.coordinates == "asymmetric") return o / r.scale;
  if (rules.coordinates == "tf_half_pixel_for_nn") return (o + 0.5f) / r.scale;
  if (rules.coordinates == "pytorch_half_pixel") return r.out > 1 ? (o + 0.5f) / r.scale - 0.5f : 0.0f;
  if (rules.coordinates == "align_corners") return r.out == 1 ? 0.0f : o * (in - 1.0f) / (out - 1.0f);
  if (rules.coordinates == "half_pixel_symmetric") {
    const float offset = in / 2.0f * (1.0f - out / (r.scale * in));
    return offset + (o + 0.5f) / r.scale - 0.5f;
  }
  if (rules.coordinates == "tf_crop_and_resize") {
    const float length = (in - 1.0f) * (r.end - r.start);
    return r.start * (in - 1.0f) + (r.out > 1 ? o * length / (out - 1.0f) : 0.5f * length);
  }
  return (o + 0.5f) / r.scale - 0.5f;
}

int64_t NearestAt(const Rules& rules, const Resized& r, float position) {
  const bool is_simple = rules.rounding == "simple";
  if (rules.rounding == "floor" || (is_simple && r.scale >= 1.0f)) return static_cast<int64_t>(std::floor(position));
  if (rules.rounding == "ceil" || is_simple) return static_cast<int64_t>(std::ceil(position));
  if (rules.rounding == "round_prefer_ceil") return static_cast<int64_t>(std::floor(position + 0.5f));
  return static_cast<int64_t>(std::ceil(position - 0.5f));
}

// Keys' cubic convolution ("Cubic Convolution Interpolation for Digital Image Processing", 1981) at a distance.
double CubicWeight(double a, double distance) {
  const double d = std::fabs(distance);
  if (d <= 1.0) return ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0;
  if (d < 2.0) return ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a;
  return 0.0;
}

// By tap: the index and the weight for each output element.
struct Taps {
  std::vector<std::vector<double>> places, weights;
};

Taps TapsOf(const Rules& rules, const Resized& r) {
  const bool is_nearest = rules.filter == Filter::kNearest, is_linear = rules.filter == Filter::kLinear;
  const double stretch = StretchOf(rules, r);
  const auto reach = static_cast<int64_t>(std::ceil((is_linear ? 1.0 : 2.0) / stretch));
  const size_t count = is_nearest ? 1 : static_cast<size_t>(2 * reach);
  const bool excludes = rules.excludes_outside && !is_nearest && (stretch < 1.0 || !is_linear);
  Taps taps{std::vector<std::vector<double>>(count), std::vector<std::vector<double>>(count)};
  for (int64_t at = 0; at < r.out; ++at) {
    const float position = Position(rules, r, at);
    const int64_t first =
        is_nearest ? NearestAt(rules, r, position) : static_cast<int64_t>(std::floor(position)) - reach + 1;
    std::vector<double> weights(count, 1.0);
    for (size_t k = 0; k < count; ++k) {
      const int64_t place = first + static_cast<int64_t>(k);
      const double distance = (static_cast<double>(place) - static_cast<double>(position)) * stretch;
      if (is_linear) weights[k] = std::max(0.0, 1.0 - std::fabs(distance));
      if (!is_linear && !is_nearest) weights[k] = CubicWeight(rules.cubic, distance);
      if (excludes && (place < 0 || place >= r.in)) weights[k] = 0.0;
      taps.places[k].push_back(static_cast<double>(std::clamp<int64_t>(place, 0, r.in - 1)));
    }
    const double sum = excludes || stretch < 1.0 ? std::accumulate(weights.begin(), weights.end(), 0.0) : 1.0;
    for (size_t k = 0; k < count; ++k) taps.weights[k].push_back(weights[k] / sum);
  }
  return taps;
}

// Whether Hearth's operation reads the same elements with the same weights along this dimension.
bool IsAs(const Resize& resize, const Rules& rules, const Resized& r) {
  if (StretchOf(rules, r) < 1.0) return false;
  for (int64_t at = 0; at < r.out; ++at) {
    const float position = Position(rules, r, at);
    if (rules.filter == Filter::kNearest) {
      if (NearestPixel(resize, at, r.out, r.in) != std::clamp<int64_t>(NearestAt(rules, r, position), 0, r.in - 1)) {
        return false;
      }
      continue;
    }
    const double scale = resize.align_corners && r.out > 1
                             ? static_cast<double>(r.in - 1) / static_cast<double>(r.out - 1)
                             : static_cast<double>(r.in) / static_cast<double>(r.out);
    const double o = static_cast<double>(at), most = static_cast<double>(r.in - 1);
    const double other = resize.half_pixel_centers ? (o + 0.5) * scale - 0.5 : o * scale;
    const double difference = std::clamp(other, 0.0, most) - std::clamp(static_cast<double>(position), 0.0, most);
    if (std::fabs(difference) > 1e-6 * static_cast<double>(r.in)) return false;
  }
  return true;
}

// Hearth's operation for height and width, if it is the same.
std::optional<Resize> AsResize(const Rules& rules, const Resized& height, const Resized& width) {
  if (rules.filter == Filter::kCubic || rules.coordinates == "tf_crop_and_resize") return std::nullopt;
  for (const auto& [align_corners, half_pixel] :
       {std::pair(false, true), std::pair(false, false), std::pair(true, false)}) {
    const Resize resize{rules.filter == Filter::kLinear ? ResizeKind::kBilinear : ResizeKind::kNearest,
                        static_cast<int32_t>(height.out), static_cast<int32_t>(width.out), align_corners, half_pixel};
    if (IsAs(resize, rules, height) && IsAs(resize, rules, width)) return resize;
  }
  return std::nullopt;
}

Made ResizeAxis(NodeWriter& to, const Made& x, int axis, const Rules& rules, const Resized& r) {
  HEARTH_TRY(x.status());
  const auto count = static_cast<int32_t>(r.out);
  const auto width = static_cast<int32_t>(std::min(4.0 / StretchOf(rules, r) + 4.0, kMostPixels));
  HEARTH_TRY(to.budget().CheckRoom({count, width}, DType::kFloat32));
  HEARTH_TRY(to.budget().ChargeOperators(3 * int64_t{width}));
  const Taps taps = TapsOf(rules, r);
  Shape along = to.shape(*x);
  for (int d = 0; d < along.rank(); ++d) along[d] = d == axis ? count : 1;
  Made sum(kNoValue);
  for (size_t t = 0; t < taps.places.size(); ++t) {
    const Made taken = to.Add(Gather{axis, 0}, {x, to.AddConstant({count}, DType::kInt32, taps.places[t])});
    if (rules.filter == Filter::kNearest) {
      sum = taken;
      continue;
    }
    const Made weights = to.AddConstant(along, to.desc(*x).dtype, taps.weights[t]);
    const Made part = to.Add(BinaryKind::kMul, {taken, weights});
    sum = t == 0 ? part : to.Add(BinaryKind::kAdd, {sum, part});
    HEARTH_TRY(sum.status());
  }
  if (rules.coordinates != "tf_crop_and_resize") return sum;
  const Made is_inside = to.AddEach(along, DType::kBool, [&](int64_t row, int64_t column) {
    const float position = Position(rules, r, std::max(row, column));  // one of them is 0
    return position >= 0.0f && position <= static_cast<float>(r.in - 1) ? 1.0 : 0.0;
  });
  return to.Add(Select{}, {is_inside, sum, AddScalarLike(to, *x, rules.outside)});
}

// Of a region that data say.
Made ResizeRegion(NodeWriter& to, const Made& x, int axis, const Rules& rules, const Resized& r, ValueId region) {
  if (rules.filter == Filter::kCubic || rules.rounding == "simple")
    return Error(StatusCode::kUnsupported, "a region that data say, by the mode cubic");
  HEARTH_TRY(x.status());
  const auto count = static_cast<int32_t>(r.out);
  const double last = static_cast<double>(r.in - 1);
  const auto number = [&](double value) { return to.AddNumber(DType::kFloat32, value); };
  HEARTH_TRY(to.budget().CheckRoom({count}, DType::kFloat32));
  const auto share_at = [&](int64_t, int64_t at) {
    return count > 1 ? static_cast<double>(at) / static_cast<double>(count - 1) : 0.5;
  };
  const Made start = to.AddSlice(region, 0, r.region->first, 1), end = to.AddSlice(region, 0, r.region->second, 1);
  const Made length = to.Add(BinaryKind::kMul, {to.Add(BinaryKind::kSub, {end, start}), number(last)});
  const Made moved = to.Add(BinaryKind::kMul, {to.AddEach({count}, DType::kFloat32, share_at), length});
  HEARTH_ASSIGN(const ValueId position,
                to.Add(BinaryKind::kAdd, {to.Add(BinaryKind::kMul, {start, number(last)}), moved}));
  Shape along = to.shape(*x);
  for (int d = 0; d < along.rank(); ++d) along[d] = d == axis ? count : 1;
  const auto taken = [&](const Made& place) {
    const Made inside =
        to.Add(BinaryKind::kMinimum, {to.Add(BinaryKind::kMaximum, {place, number(0.0)}), number(last)});
    return to.Add(Gather{axis, 0}, {x, to.AddCast(inside, DType::kInt32)});
  };
  const auto beside = [&](double offset) { return to.Add(BinaryKind::kAdd, {position, number(offset)}); };
  Made made(kNoValue);
  if (rules.filter == Filter::kLinear) {
    const Made low = to.Add(UnaryKind::kFloor, position);
    const Made share = to.AddReshape(to.Add(BinaryKind::kSub, {position, low}), along);
    HEARTH_ASSIGN(const ValueId first, taken(low));
    const Made step = to.Add(BinaryKind::kSub, {taken(to.Add(BinaryKind::kAdd, {low, number(1.0)})), first});
    made = to.Add(BinaryKind::kAdd, {first, to.Add(BinaryKind::kMul, {step, share})});
  } else {
    const bool is_floor = rules.rounding == "floor" || rules.rounding == "round_prefer_ceil";
    const double offset = !rules.rounding.starts_with("round") ? 0.0 : is_floor ? 0.5 : -0.5;
    made = taken(to.Add(is_floor ? UnaryKind::kFloor : UnaryKind::kCeil, beside(offset)));
  }
  const Made is_inside = to.Add(BinaryKind::kLogicalAnd, {to.Add(BinaryKind::kGreaterEqual, {position, number(0.0)}),
                                                          to.Add(BinaryKind::kLessEqual, {position, number(last)})});
  return to.Add(Select{}, {to.AddReshape(is_inside, along), made, AddScalarLike(to, *x, rules.outside)});
}

// The sizes of all dimensions, in the file's order.
Result<std::vector<Resized>> ResizedOf(const OpView& op, const Shape& shape, bool is_upsample) {
  const int rank = shape.rank();
  std::vector<Resized> all(static_cast<size_t>(rank));
  for (int d = 0; d < rank; ++d) all[static_cast<size_t>(d)] = {shape[d], shape[d]};
  std::vector<int64_t> axes = op.Ints("axes");
  if (axes.empty()) {
    for (int d = 0; d < rank; ++d) axes.push_back(d);
  }
  const bool has_roi = !is_upsample && op.opset() >= 11;
  const size_t scales_at = has_roi ? 2 : 1;
  std::vector<double> scales;
  if (const AttributeProto* listed = op.Find("scales")) scales.assign(listed->floats.begin(), listed->floats.end());
  if (op.Has(scales_at)) {
    HEARTH_ASSIGN(const std::vector<float> floats, op.Floats(scales_at));
    scales.assign(floats.begin(), floats.end());
  }
  std::vector<int64_t> sizes;
  if (scales.empty() && op.Has(3)) {
    HEARTH_ASSIGN(sizes, op.Numbers(3));
  }
  if (std::max(scales.size(), sizes.size()) != axes.size()) {
    return Error(StatusCode::kMalformedInput, "{} scales or sizes for {} dimensions",
                 std::max(scales.size(), sizes.size()), axes.size());
  }
  const bool is_cropped = op.Text("coordinate_transformation_mode", "") == "tf_crop_and_resize" && op.Has(1);
  const bool has_data = is_cropped && !op.IsConstant(1);
  if (has_data && sizes.empty())
    return Error(StatusCode::kUnsupported, "scales of a region that data say: give sizes instead");
  HEARTH_ASSIGN(const std::vector<float> region, is_cropped && !has_data ? op.Floats(1) : std::vector<float>());
  if (!region.empty() && region.size() != 2 * axes.size()) {
    return Error(StatusCode::kMalformedInput, "a region of {} numbers for {} dimensions", region.size(), axes.size());
  }
  HEARTH_ASSIGN(const size_t policy, op.Choice("keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"},
                                               StatusCode::kMalformedInput, "policy"));
  for (size_t k = 0; k < axes.size(); ++k) {
    HEARTH_ASSIGN(const int d, OpView::Axis(axes[k], rank));
    Resized& r = all[static_cast<size_t>(d)];
    if (has_data) r.region = std::pair(static_cast<int32_t>(k), static_cast<int32_t>(k + axes.size()));
    if (!region.empty()) {
      r.start = region[k];
      r.end = region[k + axes.size()];
    }
    // In float32, as in onnxruntime: 12 times 10 / 12, as exporters write it, is 10 there and 9.9999996 in float64.
    const float scaled =
        sizes.empty() ? static_cast<float>(scales[k]) * (r.end - r.start) * static_cast<float>(r.in) : 0;
    const double made = sizes.empty() ? std::floor(scaled) : static_cast<double>(sizes[k]);
    if (r.in < 1 || !(made >= 1.0 && made <= kMostPixels)) {
      return Error(StatusCode::kMalformedInput, "dimension {} of {} becomes {}", d, r.in, made);
    }
    r.out = static_cast<int64_t>(made);
    r.scale = sizes.empty() ? static_cast<float>(scales[k]) : static_cast<float>(r.out) / static_cast<float>(r.in);
  }
  if (sizes.empty() || policy == 0) return all;
  // One scale for all: the least or the largest.
  const auto chosen = [&](int64_t axis) -> Resized& { return all[static_cast<size_t>(axis < 0 ? axis + rank : axis)]; };
  float scale = chosen(axes[0]).scale;
  for (const int64_t axis : axes) {
    scale = policy == 1 ? std::min(scale, chosen(axis).scale) : std::max(scale, chosen(axis).scale);
  }
  for (const int64_t axis : axes) {
    Resized& r = chosen(axis);
    r.scale = scale;
    r.out = std::max<int64_t>(static_cast<int64_t>(std::floor(scale * static_cast<float>(r.in) + 0.5f)), 1);
    if (static_cast<double>(r.out) > kMostPixels) return Error(StatusCode::kMalformedInput, "a size of {}", r.out);
  }
  return all;
}

Result<Rules> RulesOf(const OpView& op, bool is_upsample) {
  HEARTH_ASSIGN(const size_t mode, op.Choice("mode", {"nearest", "linear", "cubic"}));
  Rules rules{.filter = static_cast<Filter>(mode)};
  if (is_upsample || op.opset() < 11) {
    rules.coordinates = "asymmetric";
    rules.rounding = "simple";
    return rules;
  }
  rules.coordinates = op.Text("coordinate_transformation_mode", "half_pixel");
  rules.rounding = op.Text("nearest_mode", "round_prefer_floor");
  rules.cubic = op.Float("cubic_coeff_a", -0.75);
  rules.excludes_outside = op.Int("exclude_outside", 0) != 0;
  rules.antialiases = op.Int("antialias", 0) != 0;
  rules.outside = op.Float("extrapolation_value", 0.0);
  HEARTH_TRY(op.Choice("coordinate_transformation_mode",
                       {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
                        "tf_crop_and_resize", "tf_half_pixel_for_nn"},
                       StatusCode::kUnsupported, "coordinates")
                 .status());
  HEARTH_TRY(op.Choice("nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}).status());
  // A rounding of the offset may move an element.
  if (rules.coordinates == "half_pixel_symmetric" && rules.filter == Filter::kNearest) {
    return Error(StatusCode::kUnsupported, "nearest elements by the coordinates 'half_pixel_symmetric'");
  }
  return rules;
}

Results ReadResize(OpView& op, GraphWriter& to) {
  const bool is_upsample = op.kind() != 0;
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  const int rank = desc.shape.rank();
  HEARTH_ASSIGN(const Rules rules, RulesOf(op, is_upsample));
  HEARTH_ASSIGN(const std::vector<Resized> all, ResizedOf(op, desc.shape, is_upsample));
  const Order order = rank >= 3 ? Order::kLast : Order::kPlain;
  const bool has_region = std::ranges::any_of(all, [](const Resized& r) { return r.region.has_value(); });
  HEARTH_ASSIGN(const ValueId region, has_region ? to.AddCast(op.In(1), DType::kFloat32) : Made(kNoValue));
  if (has_region && to.shape(region).element_count() < 2 * ssize(op.Ints("axes", std::vector<int64_t>(rank))))
    return Error(StatusCode::kMalformedInput, "a region of shape {}", to.shape(region).ToString());
  // Means of integers are cut off, as in the format's own runtime.
  const DType dtype = rules.filter == Filter::kNearest || IsFloat(desc.dtype) ? desc.dtype : DType::kFloat32;
  Made made = to.AddCast(op.In(0, order), dtype);
  const auto is_same = [](const Resized& r) {
    return r.in == r.out && r.scale == 1.0f && r.start == 0.0f && r.end == 1.0f && (!r.region || r.in == 1);
  };
  if (rank == 4 && is_same(all[0]) && is_same(all[1]) && IsFloat(dtype)) {
    if (const std::optional<Resize> resize = AsResize(rules, all[2], all[3])) {
      return Last(to.AddCast(to.Add(*resize, {made}), desc.dtype));
    }
  }
  for (int d = 0; d < rank; ++d) {
    const Resized& r = all[static_cast<size_t>(d)];
    if (is_same(r)) continue;
    made = r.region ? ResizeRegion(to, made, AxisIn(order, d, rank), rules, r, region)
                    : ResizeAxis(to, made, AxisIn(order, d, rank), rules, r);
  }
  return InOrder(order, to.AddCast(made, desc.dtype));
}

}  // namespace

constexpr OperatorRow kResizeRows[] = {
    {"Resize", ReadResize},
    {"Upsample", ReadResize, 1},
};
const OperatorList kResizeOperators = kResizeRows;

}  // namespace hearth::onnx
