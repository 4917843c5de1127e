// Operators that read a tensor between its elements, at points that data make.
#include <algorithm>

#include "core/base/error.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/windows.h"

namespace hearth::onnx {
namespace {

constexpr int64_t kMostOffset = 1 << 20;  // of strides, dilations and paddings of deformable convolutions

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

// An element that counts for a point along one dimension: its number, and its share.
struct Tap {
  ValueId at = kNoValue, share = kNoValue;
};

// The cubic convolution of Keys ("Cubic convolution interpolation", 1981) at a distance from 0 to 2, with a = -0.75.
Made CubicShare(NodeWriter& to, const Made& distance, bool is_near) {
  HEARTH_TRY(distance.status());
  const auto sum = [&](const Made& value, double more) {
    return to.Add(BinaryKind::kAdd, {value, AddScalarLike(to, *distance, more)});
  };
  const auto times = [&](const Made& value, const Made& by) { return to.Add(BinaryKind::kMul, {value, by}); };
  constexpr double kA = -0.75;
  const auto number = [&](double value) { return AddScalarLike(to, *distance, value); };
  if (is_near) return sum(times(times(sum(times(distance, number(kA + 2)), -(kA + 3)), distance), distance), 1);
  return sum(times(sum(times(sum(times(distance, number(kA)), -5 * kA), distance), 8 * kA), distance), -4 * kA);
}

enum class Between : uint8_t { kNearest, kLinear, kCubic };
enum class Outside : uint8_t { kZeros, kBorder, kReflection };

struct Sampling {
  Between between = Between::kLinear;
  Outside outside = Outside::kZeros;
  bool at_centers = false;  // -1 and 1 are the centers of the outer elements, not their edges
};

Made Clamped(NodeWriter& to, const Made& place, int32_t size) {
  HEARTH_TRY(place.status());
  const auto number = [&](double value) { return AddScalarLike(to, *place, value); };
  return to.Add(BinaryKind::kMinimum, {to.Add(BinaryKind::kMaximum, {place, number(0)}), number(size - 1)});
}

// The place in a range of `size` elements at which a point from -1 to 1 lies.
Made PlaceOf(NodeWriter& to, const Made& point, const Sampling& rules, int32_t size) {
  HEARTH_TRY(point.status());
  const auto number = [&](double value) { return AddScalarLike(to, *point, value); };
  const double span = rules.at_centers ? size - 1 : size;
  const Made scaled = to.Add(BinaryKind::kMul, {point, number(span / 2)});
  Made place = to.Add(BinaryKind::kAdd, {scaled, number((size - 1) / 2.0)});
  if (rules.between == Between::kNearest) place = to.Add(UnaryKind::kRound, place);
  if (rules.between == Between::kCubic || rules.outside == Outside::kZeros) return place;  // each element by itself
  if (rules.outside == Outside::kReflection && size > 1) place = Mirrored(to, place, rules.at_centers, size);
  return Clamped(to, place, size);
}

// The elements that count for a place in a range of `size`.
Result<std::vector<Tap>> TapsOf(NodeWriter& to, ValueId place, const Sampling& rules, int32_t size) {
  const auto number = [&](double value) { return AddScalarLike(to, place, value); };
  HEARTH_ASSIGN(const ValueId low, to.Add(UnaryKind::kFloor, place));
  HEARTH_ASSIGN(const ValueId rest, to.Add(BinaryKind::kSub, {place, low}));
  const bool is_cubic = rules.between == Between::kCubic;
  const int first = is_cubic ? -1 : 0, last = is_cubic ? 2 : rules.between == Between::kLinear ? 1 : 0;
  std::vector<Tap> taps;
  for (int k = first; k <= last; ++k) {
    Made at = to.Add(BinaryKind::kAdd, {low, number(k)});
    const Made distance =
        k <= 0 ? to.Add(BinaryKind::kAdd, {rest, number(-k)}) : to.Add(BinaryKind::kSub, {number(k), rest});
    Made share =
        is_cubic ? CubicShare(to, distance, k == 0 || k == 1) : to.Add(BinaryKind::kSub, {number(1), distance});
    if (rules.between == Between::kNearest) share = number(1);
    if (is_cubic && rules.outside == Outside::kReflection && size > 1) at = Mirrored(to, at, rules.at_centers, size);
    HEARTH_ASSIGN(const ValueId inside, Clamped(to, at, size));
    if (rules.outside == Outside::kZeros) {
      const Made is_inside = to.Add(BinaryKind::kEqual, {at, inside});
      share = to.Add(Select{}, {is_inside, share, number(0)});
    }
    HEARTH_ASSIGN(const ValueId counted, share);
    taps.push_back({inside, counted});
  }
  return taps;
}

// Sums of elements of x[N, sizes..., C] around places[N, points, dims] (column first): [N * points, C].
Made SampleByTaps(NodeWriter& to, ValueId x, const std::vector<ValueId>& places, const Sampling& rules) {
  const Shape shape = to.shape(x);
  const int dims = shape.rank() - 2;
  const int32_t batches = shape[0], points = to.shape(places[0])[1], channels = shape[dims + 1];
  const auto elements = static_cast<int32_t>(CountBetween(shape, 1, dims + 1));
  HEARTH_ASSIGN(const ValueId rows, to.AddReshape(x, {batches * elements, channels}));
  std::vector<Tap> sums = {{}};  // by the taps of the dimensions so far
  for (int d = 0; d < dims; ++d) {
    HEARTH_ASSIGN(const std::vector<Tap> taps,
                  TapsOf(to, places[static_cast<size_t>(dims - 1 - d)], rules, shape[d + 1]));
    std::vector<Tap> longer;
    for (const Tap& before : sums) {
      for (const Tap& tap : taps) {
        const Made at = to.AddCast(tap.at, DType::kInt32);
        Tap both = tap;
        HEARTH_ASSIGN(both.at, at);
        if (before.at != kNoValue) {
          const Made line = to.Add(BinaryKind::kMul, {before.at, to.AddNumber(DType::kInt32, shape[d + 1])});
          HEARTH_ASSIGN(both.at, to.Add(BinaryKind::kAdd, {line, at}));
          HEARTH_ASSIGN(both.share, to.Add(BinaryKind::kMul, {before.share, tap.share}));
        }
        longer.push_back(both);
      }
    }
    sums = std::move(longer);
  }
  const Made starts = to.Add(BinaryKind::kMul, {to.AddIndices({batches, 1}), to.AddNumber(DType::kInt32, elements)});
  HEARTH_ASSIGN(const ValueId of_batch, starts);
  ValueId sum = kNoValue;
  for (const Tap& tap : sums) {
    const Made at = to.AddReshape(to.Add(BinaryKind::kAdd, {tap.at, of_batch}), {batches * points});
    const Made share = to.AddReshape(to.Add(BroadcastTo{{batches, points}}, {tap.share}), {batches * points, 1});
    const Made part = to.Add(BinaryKind::kMul, {to.Add(Gather{}, {rows, at}), share});
    HEARTH_ASSIGN(sum, sum == kNoValue ? part : to.Add(BinaryKind::kAdd, {sum, part}));
  }
  return sum;
}

Result<Sampling> SamplingOf(const OpView& op) {
  constexpr Between kModes[] = {Between::kLinear, Between::kLinear, Between::kNearest, Between::kCubic,
                                Between::kCubic};
  HEARTH_ASSIGN(const size_t mode, op.Choice("mode", {"linear", "bilinear", "nearest", "cubic", "bicubic"}));
  HEARTH_ASSIGN(const size_t padding, op.Choice("padding_mode", {"zeros", "border", "reflection"}));
  return Sampling{kModes[mode], static_cast<Outside>(padding), op.Int("align_corners", 0) != 0};
}

// (x[N,C,sizes...], points[N,sizes...,dims] from -1 to 1: column, row, ...)
Results ReadGridSample(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.Last(0));
  HEARTH_ASSIGN(const ValueId grid, op.In(1));
  const Shape shape = to.shape(x), points = to.shape(grid);
  HEARTH_ASSIGN(const Sampling rules, SamplingOf(op));
  const int dims = shape.rank() - 2;
  if (dims < 2 || dims > 3 || points.rank() != shape.rank() || points[dims + 1] != dims || points[0] != shape[0]) {
    return Error(StatusCode::kMalformedInput, "points of shape {} in a tensor of rank {}", points.ToString(),
                 shape.rank());
  }
  if (dims == 3 && rules.between == Between::kCubic)
    return Error(StatusCode::kUnsupported, "cubic samples of a volume, which onnx does not define");
  Shape made = points;
  made[dims + 1] = shape[dims + 1];
  std::vector<ValueId> places;
  for (int k = 0; k < dims; ++k) {
    HEARTH_ASSIGN(const ValueId place, PlaceOf(to, to.AddSlice(grid, dims + 1, k, 1), rules, shape[dims - k]));
    places.push_back(place);
  }
  if (dims == 2 && rules.between != Between::kCubic)
    return Last(to.Add(Resampler{}, {x, to.Add(Concat{.axis = 3}, places)}));
  const auto count = static_cast<int32_t>(CountBetween(points, 1, dims + 1));
  for (ValueId& place : places) {
    HEARTH_ASSIGN(place, to.AddReshape(place, {points[0], count}));
  }
  return Last(to.AddReshape(SampleByTaps(to, x, places, rules), made));
}

// The windows of a deformable convolution.
struct DeformedWindows {
  int32_t height = 0, width = 0;  // of the result
  int32_t taps = 0, offset_groups = 1, groups = 1;
  std::vector<int64_t> kernel, strides, dilations, pads;
};

Result<DeformedWindows> DeformedWindowsOf(const OpView& op, const Shape& x, const Shape& filter) {
  DeformedWindows windows;
  if (x.rank() != 4 || filter.rank() != 4)
    return Error(StatusCode::kUnsupported, "an operand of shape {} with filters of {}", x.ToString(),
                 filter.ToString());
  windows.kernel = {filter[2], filter[3]};
  HEARTH_ASSIGN(windows.strides, PerDimension(op, "strides", 2, 1, kMostOffset));
  HEARTH_ASSIGN(windows.dilations, PerDimension(op, "dilations", 2, 1, kMostOffset));
  HEARTH_ASSIGN(windows.pads, PerDimension(op, "pads", 4, 0, kMostOffset));
  const int64_t groups = op.Int("group", 1), offset_groups = op.Int("offset_group", 1);
  const bool fits = op.Ints("kernel_shape", windows.kernel) == windows.kernel && groups >= 1 && groups <= filter[0] &&
                    filter[0] % groups == 0 && filter[1] * groups == x[1] && offset_groups >= 1 &&
                    offset_groups <= x[1] && x[1] % offset_groups == 0 && windows.strides[0] > 0 &&
                    windows.strides[1] > 0;
  int64_t sizes[2] = {0, 0};
  for (size_t d = 0; fits && d < 2; ++d) {
    const int64_t room = x[static_cast<int>(d) + 2] + windows.pads[d] + windows.pads[d + 2] -
                         windows.dilations[d] * (windows.kernel[d] - 1) - 1;
    sizes[d] = room < 0 ? 0 : room / windows.strides[d] + 1;
  }
  if (!fits || sizes[0] < 1 || sizes[1] < 1 || filter[2] < 1 || filter[3] < 1) {
    return Error(StatusCode::kMalformedInput, "filters of shape {} in {} groups, offsets in {}, for {}",
                 filter.ToString(), groups, offset_groups, x.ToString());
  }
  // As doubles, which do not overflow: filters that are inputs may have any declared size.
  const double taps = static_cast<double>(filter[2]) * filter[3];
  if (taps * static_cast<double>(std::max(sizes[1], 2 * offset_groups)) > kMostSize || sizes[0] > kMostSize)
    return Error(StatusCode::kUnsupported, "windows of {} x {} elements", filter[2], filter[3]);
  windows.height = static_cast<int32_t>(sizes[0]);
  windows.width = static_cast<int32_t>(sizes[1]);
  windows.taps = filter[2] * filter[3];
  windows.groups = static_cast<int32_t>(groups);
  windows.offset_groups = static_cast<int32_t>(offset_groups);
  return windows;
}

// Where the taps of undeformed windows lie, as (column, row): [1, height, width * taps, 2].
Made RegularTaps(NodeWriter& to, const DeformedWindows& windows, DType dtype) {
  const int64_t per_row = int64_t{windows.width} * windows.taps;
  return to.AddEach({1, windows.height, windows.width * windows.taps, 2}, dtype, [&](int64_t k, int64_t is_y) {
    const int64_t y = k / per_row, x = k % per_row / windows.taps, tap = k % windows.taps;
    const int64_t row = tap / windows.kernel[1], column = tap % windows.kernel[1];
    return static_cast<double>(is_y != 0 ? y * windows.strides[0] + row * windows.dilations[0] - windows.pads[0]
                                         : x * windows.strides[1] + column * windows.dilations[1] - windows.pads[1]);
  });
}

// (x, filter[O,C/groups,kh,kw], offsets[N,groups*taps*2,h,w], bias[O]?, mask[N,groups*taps,h,w]?): a convolution whose
// taps each lie somewhere else (Zhu et al., "Deformable ConvNets v2", 2018): samples of all taps, then a product.
Results ReadDeformConv(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const ValueId filter, op.In(1));
  const Shape of_filter = to.shape(filter);
  HEARTH_ASSIGN(const DeformedWindows windows, DeformedWindowsOf(op, desc.shape, of_filter));
  HEARTH_ASSIGN(const ValueId x, op.Last(0));
  HEARTH_ASSIGN(const ValueId offsets, op.Last(2));
  HEARTH_ASSIGN(const ValueId bias, op.Optional(3));
  const int32_t batches = desc.shape[0], taps = windows.taps, h = windows.height, w = windows.width;
  const int32_t of_group = desc.shape[1] / windows.offset_groups, pairs = 2 * taps;
  const auto is_per_tap = [&](ValueId value, int32_t numbers) {
    return to.shape(value) == Shape{batches, h, w, windows.offset_groups * numbers};
  };
  HEARTH_ASSIGN(const ValueId mask, op.Has(4) ? op.Last(4) : Made(kNoValue));
  if (!is_per_tap(offsets, pairs) || (mask != kNoValue && !is_per_tap(mask, taps))) {
    return Error(StatusCode::kMalformedInput, "offsets of shape {} for {} windows of {} taps",
                 to.shape(offsets).ToString(), int64_t{h} * w, taps);
  }
  HEARTH_ASSIGN(const ValueId regular, RegularTaps(to, windows, desc.dtype));
  Operands parts;  // [N, h, w, taps, channels] of each group of offsets
  for (int32_t g = 0; g < windows.offset_groups; ++g) {
    const Made moved = to.AddReshape(to.AddSlice(offsets, 3, g * pairs, pairs), {batches, h, w * taps, 2});
    const Made column_first = to.Add(Reverse{0b1000}, {moved});  // the file has rows first
    const Made points = to.Add(BinaryKind::kAdd, {column_first, regular});
    Made samples = to.Add(Resampler{}, {to.AddSlice(x, 3, g * of_group, of_group), points});
    if (mask != kNoValue) {
      const Made shares = to.AddReshape(to.AddSlice(mask, 3, g * taps, taps), {batches, h, w * taps, 1});
      samples = to.Add(BinaryKind::kMul, {samples, shares});
    }
    parts.Append(to.AddReshape(samples, {batches, h, w, taps, of_group}));
  }
  HEARTH_TRY(parts.status);
  HEARTH_ASSIGN(const ValueId columns,
                windows.offset_groups == 1 ? Made(parts.ids[0]) : to.Add(Concat{.axis = 4}, parts));
  const int32_t outputs = of_filter[0] / windows.groups, inputs = of_filter[1];
  const Made turned = to.AddReshape(to.AddTranspose(filter, {0, 2, 3, 1}), {of_filter[0], taps * inputs});
  Operands made;
  for (int32_t g = 0; g < windows.groups; ++g) {
    const Made own = to.AddReshape(to.AddSlice(columns, 4, g * inputs, inputs), {batches, h, w, taps * inputs});
    const Made added = bias == kNoValue ? Made(bias) : to.AddSlice(bias, 0, g * outputs, outputs);
    made.Append(to.Add(FullyConnected{.keep_dims = true}, {own, to.AddSlice(turned, 0, g * outputs, outputs), added}));
  }
  HEARTH_TRY(made.status);
  return Last(windows.groups == 1 ? Made(made.ids[0]) : to.Add(Concat{.axis = 3}, made));
}

// (matrices[N,d,d+1], sizes[d+2]) -> [N,...,d]: the points of a picture or volume, from -1 to 1, times each matrix.
Results ReadAffineGrid(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId matrices, op.In(0));
  HEARTH_ASSIGN(const std::vector<int64_t> sizes, op.Numbers(1));
  const Shape shape = to.shape(matrices);
  const int dims = static_cast<int>(sizes.size()) - 2;
  const bool fits = (dims == 2 || dims == 3) && shape == Shape{static_cast<int32_t>(sizes[0]), dims, dims + 1};
  int64_t count = 1;
  for (int d = 0; fits && d < dims; ++d)
    count = sizes[static_cast<size_t>(d) + 2] < 1
                ? 0
                : std::min<int64_t>(count * sizes[static_cast<size_t>(d) + 2], 1 << 30);
  if (!fits || count < 1 || count > (1 << 24))
    return Error(StatusCode::kMalformedInput, "matrices of shape {} for {} points", shape.ToString(), count);
  HEARTH_TRY(to.budget().CheckRoom({static_cast<int32_t>(count), dims + 1}, DType::kFloat32));
  const bool at_centers = op.Int("align_corners", 0) != 0;
  std::vector<double> points;  // x, y, z, 1
  for (int64_t k = 0; k < count; ++k) {
    int64_t left = k;
    for (int d = dims - 1; d >= 0; --d) {
      const int64_t size = sizes[static_cast<size_t>(d) + 2], at = left % size;
      left /= size;
      points.push_back(!at_centers ? (2.0 * static_cast<double>(at) + 1.0) / static_cast<double>(size) - 1.0
                       : size == 1 ? 0.0
                                   : 2.0 * static_cast<double>(at) / static_cast<double>(size - 1) - 1.0);
    }
    points.push_back(1.0);
  }
  const Made matrix = to.AddConstant({1, static_cast<int32_t>(count), dims + 1}, DType::kFloat32, points);
  std::vector<int32_t> whole = {shape[0]};
  for (size_t d = 2; d < sizes.size(); ++d) whole.push_back(static_cast<int32_t>(sizes[d]));
  whole.push_back(dims);
  return Plain(to.AddReshape(to.Add(BatchMatMul{.adjoint_b = true}, {matrix, matrices}), Shape::FromSpan(whole)));
}

}  // namespace

constexpr OperatorRow kSamplingRows[] = {
    {"AffineGrid", ReadAffineGrid},
    {"DeformConv", ReadDeformConv},
    {"GridSample", ReadGridSample},
};
const OperatorList kSamplingOperators = kSamplingRows;

}  // namespace hearth::onnx
