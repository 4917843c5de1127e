// Resize and Upsample. Along each dimension an element is a sum of 1, 2 or 4 others; what Hearth's own operation
// computes is left to that.
#include <algorithm>
#include <cmath>

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
};

enum class Filter : uint8_t { kNearest, kLinear, kCubic };

struct Rules {
  std::string_view coordinates = "half_pixel", rounding = "round_prefer_floor";
  Filter filter = Filter::kNearest;
  double cubic = -0.75;
  bool excludes_outside = false;
};

// Where an output element lies in the operand, in single precision as in the format's own runtime.
float Position(const Rules& rules, const Resized& r, int64_t at) {
  const auto o = static_cast<float>(at), in = static_cast<float>(r.in), out = static_cast<float>(r.out);
  if (rules.coordinates == "asymmetric") return o / r.scale;
  if (rules.coordinates == "pytorch_half_pixel") return r.out > 1 ? (o + 0.5f) / r.scale - 0.5f : 0.0f;
  if (rules.coordinates == "align_corners") return r.out == 1 ? 0.0f : o * (in - 1.0f) / (out - 1.0f);
  if (rules.coordinates == "half_pixel_symmetric") {
    const float offset = in / 2.0f * (1.0f - out / (r.scale * in));
    return offset + (o + 0.5f) / r.scale - 0.5f;
  }
  if (rules.coordinates == "tf_crop_and_resize") {  // of all that there is
    return r.out > 1 ? o * (in - 1.0f) / (out - 1.0f) : 0.5f * (in - 1.0f);
  }
  return (o + 0.5f) / r.scale - 0.5f;
}

int64_t NearestAt(const Rules& rules, float position) {
  if (rules.rounding == "floor") return static_cast<int64_t>(std::floor(position));
  if (rules.rounding == "ceil") return static_cast<int64_t>(std::ceil(position));
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
  const int count = rules.filter == Filter::kNearest ? 1 : rules.filter == Filter::kLinear ? 2 : 4;
  Taps taps{std::vector<std::vector<double>>(static_cast<size_t>(count)),
            std::vector<std::vector<double>>(static_cast<size_t>(count))};
  for (int64_t at = 0; at < r.out; ++at) {
    const float position = Position(rules, r, at);
    const auto floor = static_cast<int64_t>(std::floor(position));
    const double part = static_cast<double>(position) - static_cast<double>(floor);
    double sum = 0.0;
    std::array<double, 4> weights{1.0};
    std::array<int64_t, 4> places{NearestAt(rules, position)};
    for (int t = 0; count > 1 && t < count; ++t) {
      const auto k = static_cast<size_t>(t);
      places[k] = floor + (count == 2 ? t : t - 1);
      weights[k] = count == 2 ? (t == 0 ? 1.0 - part : part) : CubicWeight(rules.cubic, part + 1.0 - t);
      if (count == 4 && rules.excludes_outside && (places[k] < 0 || places[k] >= r.in)) weights[k] = 0.0;
      sum += weights[k];
    }
    for (int t = 0; t < count; ++t) {
      const auto k = static_cast<size_t>(t);
      taps.places[k].push_back(static_cast<double>(std::clamp<int64_t>(places[k], 0, r.in - 1)));
      taps.weights[k].push_back(count == 4 && rules.excludes_outside ? weights[k] / sum : weights[k]);
    }
  }
  return taps;
}

// Whether Hearth's operation reads the same elements with the same weights along this dimension.
bool IsAs(const Resize& resize, const Rules& rules, const Resized& r) {
  for (int64_t at = 0; at < r.out; ++at) {
    const float position = Position(rules, r, at);
    if (rules.filter == Filter::kNearest) {
      if (NearestPixel(resize, at, r.out, r.in) != std::clamp<int64_t>(NearestAt(rules, position), 0, r.in - 1)) {
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
  if (rules.filter == Filter::kCubic) return std::nullopt;
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
  HEARTH_TRY(to.budget().CheckRoom({count, 4}, DType::kFloat32));
  const Taps taps = TapsOf(rules, r);
  Shape along = to.shape(*x);
  for (int d = 0; d < along.rank(); ++d) along[d] = d == axis ? count : 1;
  Made sum(kNoValue);
  for (size_t t = 0; t < taps.places.size(); ++t) {
    const Made taken = to.Add(Gather{axis, 0}, {x, to.AddConstant({count}, DType::kInt32, taps.places[t])});
    if (rules.filter == Filter::kNearest) return taken;
    const Made weights = to.AddConstant(along, to.desc(*x).dtype, taps.weights[t]);
    const Made part = to.Add(BinaryKind::kMul, {taken, weights});
    sum = t == 0 ? part : to.Add(BinaryKind::kAdd, {sum, part});
    HEARTH_TRY(sum.status());
  }
  return sum;
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
    HEARTH_ASSIGN(const ValueId value, op.In(scales_at));
    if (!op.to().IsConstant(value)) {
      return Error(StatusCode::kUnsupported, "its scales{}", op.to().ComputedFrom(value));
    }
    HEARTH_ASSIGN(const std::vector<float> floats, ConstantAsFloats(op.to().graph(), value));
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
  for (size_t k = 0; k < axes.size(); ++k) {
    HEARTH_ASSIGN(const int d, OpView::Axis(axes[k], rank));
    Resized& r = all[static_cast<size_t>(d)];
    const double made =
        sizes.empty() ? std::floor(static_cast<double>(r.in) * scales[k]) : static_cast<double>(sizes[k]);
    if (r.in < 1 || !(made >= 1.0 && made <= kMostPixels)) {
      return Error(StatusCode::kMalformedInput, "dimension {} of {} becomes {}", d, r.in, made);
    }
    r.out = static_cast<int64_t>(made);
    r.scale = sizes.empty() ? static_cast<float>(scales[k]) : static_cast<float>(r.out) / static_cast<float>(r.in);
  }
  return all;
}

Result<Rules> RulesOf(const OpView& op, bool is_upsample) {
  Rules rules;
  const std::string_view mode = op.Text("mode", "nearest");
  if (mode != "nearest" && mode != "linear" && mode != "cubic") {
    return Error(StatusCode::kUnsupported, "the mode '{}'", mode.substr(0, 40));
  }
  rules.filter = mode == "nearest" ? Filter::kNearest : mode == "linear" ? Filter::kLinear : Filter::kCubic;
  if (is_upsample || op.opset() < 11) {
    rules.coordinates = "asymmetric";
    rules.rounding = "floor";
    return rules;
  }
  rules.coordinates = op.Text("coordinate_transformation_mode", "half_pixel");
  rules.rounding = op.Text("nearest_mode", "round_prefer_floor");
  rules.cubic = op.Float("cubic_coeff_a", -0.75);
  rules.excludes_outside = op.Int("exclude_outside", 0) != 0;
  constexpr std::string_view kCoordinates[] = {"half_pixel",    "half_pixel_symmetric", "pytorch_half_pixel",
                                               "align_corners", "asymmetric",           "tf_crop_and_resize"};
  if (std::ranges::find(kCoordinates, rules.coordinates) == std::end(kCoordinates)) {
    return Error(StatusCode::kUnsupported, "the coordinates '{}'", rules.coordinates.substr(0, 40));
  }
  constexpr std::string_view kRoundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  if (std::ranges::find(kRoundings, rules.rounding) == std::end(kRoundings)) {
    return Error(StatusCode::kUnsupported, "the nearest_mode '{}'", rules.rounding.substr(0, 40));
  }
  // A rounding of the offset may move an element.
  if (rules.coordinates == "half_pixel_symmetric" && rules.filter == Filter::kNearest) {
    return Error(StatusCode::kUnsupported, "nearest elements by the coordinates 'half_pixel_symmetric'");
  }
  if (op.Text("keep_aspect_ratio_policy", "stretch") != "stretch") {
    return Error(StatusCode::kUnsupported, "the policy '{}'", op.Text("keep_aspect_ratio_policy", "").substr(0, 40));
  }
  return rules;
}

// Whether the region of tf_crop_and_resize is all of the operand.
bool TakesAll(const OpView& op) {
  if (!op.Has(1)) return true;
  const Made region = op.IsConstant(1) ? op.In(1) : Made(kNoValue);
  if (!region.ok() || *region == kNoValue) return false;
  const Result<std::vector<float>> ends = ConstantAsFloats(op.to().graph(), *region);
  for (size_t k = 0; ends.ok() && k < ends->size(); ++k) {
    if ((*ends)[k] != (k < ends->size() / 2 ? 0.0f : 1.0f)) return false;
  }
  return ends.ok();
}

Results ReadResize(OpView& op) {
  NodeWriter& to = op.to();
  const bool is_upsample = op.kind() != 0;
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  const int rank = desc.shape.rank();
  HEARTH_ASSIGN(const Rules rules, RulesOf(op, is_upsample));
  HEARTH_ASSIGN(const std::vector<Resized> all, ResizedOf(op, desc.shape, is_upsample));
  const bool shrinks = std::ranges::any_of(all, [](const Resized& r) { return r.scale < 1.0f; });
  if (op.Int("antialias", 0) != 0 && shrinks && rules.filter != Filter::kNearest) {
    return Error(StatusCode::kUnsupported, "antialias");
  }
  if (rules.coordinates == "tf_crop_and_resize" && !TakesAll(op)) {
    return Error(StatusCode::kUnsupported, "a region of tf_crop_and_resize");
  }
  const Order order = rank >= 3 ? Order::kLast : Order::kPlain;
  // Means of integers are cut off, as in the format's own runtime.
  const DType dtype = rules.filter == Filter::kNearest || IsFloat(desc.dtype) ? desc.dtype : DType::kFloat32;
  Made made = to.AddCast(op.In(0, order), dtype);
  const auto is_same = [](const Resized& r) { return r.in == r.out && r.scale == 1.0f; };
  if (rank == 4 && is_same(all[0]) && is_same(all[1]) && IsFloat(dtype)) {
    if (const std::optional<Resize> resize = AsResize(rules, all[2], all[3])) {
      return Last(to.AddCast(to.Add(*resize, {made}), desc.dtype));
    }
  }
  for (int d = 0; d < rank; ++d) {
    const Resized& r = all[static_cast<size_t>(d)];
    if (!is_same(r)) made = ResizeAxis(to, made, AxisIn(order, d, rank), rules, r);
  }
  return InOrder(order, to.AddCast(made, desc.dtype));
}

// x in a range of `size` elements, mirrored at both ends of the picture: the centers of the outer elements, or their
// edges.
Made Mirrored(NodeWriter& to, const Made& x, bool at_centers, int32_t size) {
  HEARTH_TRY(x.status());
  const double least = at_centers ? 0.0 : -0.5, range = at_centers ? size - 1 : size;
  const auto number = [&](double value) { return AddScalarLike(to, *x, value); };
  const Made turned = to.Add(BinaryKind::kFloorMod, {to.Add(BinaryKind::kSub, {x, number(least)}), number(2 * range)});
  const Made beside = to.Add(UnaryKind::kAbs, to.Add(BinaryKind::kSub, {turned, number(range)}));
  return to.Add(BinaryKind::kSub, {number(least + range), beside});
}

// (x[N,C,H,W], points[N,h,w,2] from -1 to 1: column, row)
Results ReadGridSample(OpView& op) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(const ValueId x, op.Last(0));
  HEARTH_ASSIGN(const ValueId grid, op.In(1));
  const Shape shape = to.shape(x), points = to.shape(grid);
  const std::string_view mode = op.Text("mode", "linear"), padding = op.Text("padding_mode", "zeros");
  const bool is_nearest = mode == "nearest", is_linear = mode == "linear" || mode == "bilinear";
  const bool at_centers = op.Int("align_corners", 0) != 0, mirrors = padding == "reflection";
  if (shape.rank() != 4 || points.rank() != 4 || points[3] != 2 || points[0] != shape[0]) {
    return Error(StatusCode::kUnsupported, "points of shape {} in a tensor of rank {}", points.ToString(),
                 shape.rank());
  }
  if ((!is_nearest && !is_linear) || (!mirrors && padding != "zeros" && padding != "border")) {
    return Error(StatusCode::kUnsupported, "the mode '{}' with '{}'", mode.substr(0, 40), padding.substr(0, 40));
  }
  std::vector<ValueId> places;
  for (int k = 0; k < 2; ++k) {
    const int32_t size = shape[2 - k];
    const double span = at_centers ? size - 1 : size;
    const auto number = [&](double value) { return AddScalarLike(to, grid, value); };
    const Made scaled = to.Add(BinaryKind::kMul, {to.AddSlice(grid, 3, k, 1), number(span / 2)});
    Made place = to.Add(BinaryKind::kAdd, {scaled, number((size - 1) / 2.0)});
    if (is_nearest) place = to.Add(UnaryKind::kRound, place);
    if (mirrors && size > 1) place = Mirrored(to, place, at_centers, size);
    if (padding != "zeros") {
      place = to.Add(BinaryKind::kMinimum, {to.Add(BinaryKind::kMaximum, {place, number(0.0)}), number(size - 1)});
    }
    HEARTH_ASSIGN(const ValueId made, place);
    places.push_back(made);
  }
  return Last(to.Add(Resampler{}, {x, to.Add(Concat{.axis = 3}, places)}));
}

}  // namespace

std::span<const OperatorRow> ResizeOperators() {
  static constexpr OperatorRow kRows[] = {
      {"GridSample", ReadGridSample},
      {"Resize", ReadResize},
      {"Upsample", ReadResize, 1},
  };
  return kRows;
}

}  // namespace hearth::onnx
