// Convolutions and pooling. They compute in the order of pictures, channels last.
#include "frontends/onnx/windows.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "frontends/onnx/operators.h"
#include "frontends/writer/expansions.h"

namespace hearth::onnx {
namespace {

constexpr int64_t kMostSize = int64_t{1} << 28;

// One number for each spatial dimension.
Result<std::vector<int64_t>> PerDimension(const OpView& op, std::string_view name, size_t count, int64_t otherwise) {
  std::vector<int64_t> numbers = op.Ints(name, std::vector<int64_t>(count, otherwise));
  if (numbers.size() != count) {
    return Error(StatusCode::kMalformedInput, "{} {} for {} dimensions", numbers.size(), name, count);
  }
  for (const int64_t number : numbers) {
    if (number < 0 || number > kMostSize)
      return Error(StatusCode::kMalformedInput, "a number of {} in {}", number, name);
  }
  return numbers;
}

bool IsSame(std::string_view pad) {
  return pad == "SAME_UPPER" || pad == "SAME_LOWER";
}

// A picture of one or two spatial dimensions as one of two: [N,L,C] becomes [N,1,L,C].
Made AsPlane(NodeWriter& to, const Made& x) {
  HEARTH_TRY(x.status());
  const Shape shape = to.shape(*x);
  if (shape.rank() != 3) return x;
  return to.AddReshape(x, {shape[0], 1, shape[1], shape[2]});
}
// Back, for `rank`.
Made FromPlane(NodeWriter& to, const Made& x, int rank) {
  HEARTH_TRY(x.status());
  const Shape shape = to.shape(*x);
  if (rank != 3) return x;
  return to.AddReshape(x, {shape[0], shape[2], shape[3]});
}

// The windows of a plane: those of a line lie in its second dimension.
Window2D PlaneWindow(const Windowing& w) {
  const size_t last = w.kernel.size() - 1, first = last == 0 ? 0 : last - 1;
  const bool is_line = last == 0;
  const auto at = [](const std::vector<int64_t>& list, size_t d) { return static_cast<int32_t>(list[d]); };
  return {is_line ? 1 : at(w.stride, first),
          at(w.stride, last),
          is_line ? 1 : at(w.dilation, first),
          at(w.dilation, last),
          {PaddingMode::kExplicit, is_line ? 0 : at(w.before, first), is_line ? 0 : at(w.after, first),
           at(w.before, last), at(w.after, last)}};
}

// Pads the spatial dimensions, 1 and following.
Made AddSpatialPad(NodeWriter& to, Made x, const std::vector<int64_t>& before, const std::vector<int64_t>& after,
                   double number) {
  for (size_t d = 0; d < before.size() && x.ok(); ++d) {
    x = to.AddPad(x, static_cast<int>(d) + 1, static_cast<int32_t>(before[d]), static_cast<int32_t>(after[d]), number);
  }
  return x;
}

// A convolution over depth, height and width, as the writer composes it.
Made Convolve3D(NodeWriter& to, const Windowing& w, const Made& x, const Made& filter, ValueId bias) {
  const Made padded = AddSpatialPad(to, x, w.before, w.after, 0.0);
  HEARTH_ASSIGN(const ValueId in, padded);
  // [O,I,kd,kh,kw] to [kd,kh,kw,I,O].
  HEARTH_ASSIGN(const ValueId ordered, AddPermuted(to, filter, {2, 3, 4, 1, 0}));
  if (to.shape(ordered)[3] != to.shape(in)[4]) return Error(StatusCode::kUnsupported, "groups in three dimensions");
  Volume volume{static_cast<int32_t>(w.stride[0]), static_cast<int32_t>(w.dilation[0]), {}, Activation::kNone};
  volume.plane = {static_cast<int32_t>(w.stride[1]),
                  static_cast<int32_t>(w.stride[2]),
                  static_cast<int32_t>(w.dilation[1]),
                  static_cast<int32_t>(w.dilation[2]),
                  {PaddingMode::kValid}};
  return AddConv3D(to, volume, in, ordered, bias);
}

// The size of a transposed convolution along one dimension, and the padding that gives it.
struct Enlarged {
  int64_t size = 0, before = 0, after = 0;
};

Result<std::vector<Enlarged>> EnlargedSizes(const OpView& op, const Windowing& w, const Shape& x) {
  const size_t dims = w.kernel.size();
  HEARTH_ASSIGN(const std::vector<int64_t> extra, PerDimension(op, "output_padding", dims, 0));
  const std::vector<int64_t> wanted = op.Ints("output_shape");
  if (!wanted.empty() && wanted.size() < dims)
    return Error(StatusCode::kMalformedInput, "{} output sizes", wanted.size());
  const std::string_view pad = op.Text("auto_pad", "NOTSET");
  std::vector<Enlarged> sizes;
  for (size_t d = 0; d < dims; ++d) {
    const int64_t in = x[static_cast<int>(d) + 1];
    const int64_t whole = w.stride[d] * (in - 1) + extra[d] + (w.kernel[d] - 1) * w.dilation[d] + 1;
    Enlarged made{whole - w.before[d] - w.after[d], w.before[d], w.after[d]};
    if (!wanted.empty() || IsSame(pad)) {
      made.size = wanted.empty() ? in * w.stride[d] : wanted[wanted.size() - dims + d];
      const int64_t total = std::max<int64_t>(whole - made.size, 0);
      // The odd pixel: after, for SAME_UPPER; otherwise before.
      made.before = pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    }
    if (made.size < 1 || made.size > kMostSize || made.before < 0 || made.before > kMostSize) {
      return Error(StatusCode::kMalformedInput, "an output size of {}", made.size);
    }
    sizes.push_back(made);
  }
  return sizes;
}

// The filter with zeros between its taps.
Made Dilated(NodeWriter& to, Made filter, const std::vector<int64_t>& dilation) {
  for (size_t d = 0; d < dilation.size() && filter.ok(); ++d) {
    if (dilation[d] > 1) filter = AddBetween(to, *filter, static_cast<int>(d) + 2, dilation[d] - 1, 0.0);
  }
  return filter;
}

// Windows of one dimension after the other, for three spatial dimensions: maxima, and means that count no padding.
Made PoolVolume(NodeWriter& to, const Made& x, PoolKind kind, const Windowing& w) {
  HEARTH_TRY(x.status());
  const Shape in = to.shape(*x);  // [N,D,H,W,C]
  if (std::ranges::any_of(w.dilation, [](int64_t d) { return d != 1; })) {
    return Error(StatusCode::kUnsupported, "dilated windows in three dimensions");
  }
  const auto at = [](const std::vector<int64_t>& list, size_t d) { return static_cast<int32_t>(list[d]); };
  Pool2D planes{kind,
                at(w.kernel, 1),
                at(w.kernel, 2),
                {at(w.stride, 1),
                 at(w.stride, 2),
                 1,
                 1,
                 {PaddingMode::kExplicit, at(w.before, 1), at(w.after, 1), at(w.before, 2), at(w.after, 2)}},
                Activation::kNone};
  HEARTH_ASSIGN(const ValueId pooled, to.Add(planes, {to.AddReshape(x, {in[0] * in[1], in[2], in[3], in[4]})}));
  const Shape plane = to.shape(pooled);
  Pool2D depth{kind,
               at(w.kernel, 0),
               1,
               {at(w.stride, 0), 1, 1, 1, {PaddingMode::kExplicit, at(w.before, 0), at(w.after, 0), 0, 0}},
               Activation::kNone};
  HEARTH_ASSIGN(const ValueId made, to.Add(depth, {to.AddReshape(pooled, {in[0], in[1], plane[1] * plane[2], in[4]})}));
  return to.AddReshape(made, {in[0], to.shape(made)[1], plane[1], plane[2], in[4]});
}

}  // namespace

Result<Windowing> WindowingOf(const OpView& op, const std::vector<int64_t>& kernel, const Shape& x) {
  const size_t dims = kernel.size();
  if (dims < 1 || dims > 3 || x.rank() != static_cast<int>(dims) + 2) {
    return Error(StatusCode::kUnsupported, "windows of {} dimensions in an operand of rank {}", dims, x.rank());
  }
  Windowing w{kernel, {}, {}, std::vector<int64_t>(dims, 0), std::vector<int64_t>(dims, 0)};
  HEARTH_ASSIGN(w.stride, PerDimension(op, "strides", dims, 1));
  HEARTH_ASSIGN(w.dilation, PerDimension(op, "dilations", dims, 1));
  const std::string_view pad = op.Text("auto_pad", "NOTSET");
  if (pad == "NOTSET" || pad.empty()) {
    HEARTH_ASSIGN(const std::vector<int64_t> pads, PerDimension(op, "pads", 2 * dims, 0));
    std::copy_n(pads.begin(), dims, w.before.begin());
    std::copy_n(pads.begin() + static_cast<ptrdiff_t>(dims), dims, w.after.begin());
  } else if (!IsSame(pad) && pad != "VALID") {
    return Error(StatusCode::kMalformedInput, "auto_pad '{}'", pad.substr(0, 40));
  }
  for (size_t d = 0; d < dims; ++d) {
    if (w.stride[d] < 1 || w.dilation[d] < 1 || kernel[d] < 1 || kernel[d] > kMostSize) {
      return Error(StatusCode::kMalformedInput, "a window of {}, stride {}, dilation {}", kernel[d], w.stride[d],
                   w.dilation[d]);
    }
    if (!IsSame(pad) || op.kind() == kTransposed) continue;
    const int64_t in = x[static_cast<int>(d) + 1], made = (in + w.stride[d] - 1) / w.stride[d];
    const int64_t total = std::max<int64_t>((made - 1) * w.stride[d] + (kernel[d] - 1) * w.dilation[d] + 1 - in, 0);
    w.before[d] = pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    w.after[d] = total - w.before[d];
    if (total > kMostSize) return Error(StatusCode::kUnsupported, "a padding of {} elements", total);
  }
  return w;
}

Made AddConvolution(NodeWriter& to, const Windowing& w, const Made& x, const Made& filter, ValueId bias,
                    int64_t groups) {
  HEARTH_ASSIGN(const ValueId in, x);
  HEARTH_ASSIGN(const ValueId taps, filter);
  const int rank = to.shape(in).rank();
  const Shape shape = to.shape(taps);
  if (groups < 1 || groups > to.shape(in)[rank - 1] || shape[1] * groups != to.shape(in)[rank - 1]) {
    return Error(StatusCode::kMalformedInput, "{} groups of {} channels in an operand of {}", groups, shape[1],
                 to.shape(in)[rank - 1]);
  }
  if (rank == 5) return Convolve3D(to, w, in, taps, bias);
  const bool is_depthwise = groups > 1 && shape[1] == 1;
  const Shape plane = rank == 3 ? Shape{shape[0], shape[1], 1, shape[2]} : shape;
  const Made ordered =
      AddPermuted(to, to.AddReshape(taps, plane), is_depthwise ? Shape{1, 2, 3, 0} : Shape{0, 2, 3, 1});
  Operands operands{AsPlane(to, in), ordered};
  if (bias != kNoValue) operands.ids.push_back(bias);
  const Window2D window = PlaneWindow(w);
  return FromPlane(to, is_depthwise ? to.Add(DepthwiseConv2D{window}, operands) : to.Add(Conv2D{window}, operands),
                   rank);
}

Results ReadConv(OpView& op) {
  HEARTH_ASSIGN(const ValueId x, op.Last(0));
  HEARTH_ASSIGN(const ValueId filter, op.In(1));
  const Shape shape = op.to().shape(filter);
  if (shape.rank() < 3) return Error(StatusCode::kMalformedInput, "a filter of shape {}", shape.ToString());
  const std::vector<int64_t> kernel(shape.dims().begin() + 2, shape.dims().end());
  HEARTH_ASSIGN(const Windowing w, WindowingOf(op, kernel, op.to().shape(x)));
  HEARTH_ASSIGN(const ValueId bias, op.Has(2) ? op.In(2) : Made(kNoValue));
  return Last(AddConvolution(op.to(), w, x, filter, bias, op.Int("group", 1)));
}

Results ReadConvTranspose(OpView& op) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(const ValueId x, op.Last(0));
  HEARTH_ASSIGN(ValueId filter, op.In(1));  // [I,O/g,kh,kw]
  const int rank = to.shape(x).rank();
  const Shape shape = to.shape(filter);
  if (rank < 3 || rank > 4 || shape.rank() != rank) {
    return Error(StatusCode::kUnsupported, "an operand of rank {} and a filter of shape {}", rank, shape.ToString());
  }
  const std::vector<int64_t> kernel(shape.dims().begin() + 2, shape.dims().end());
  HEARTH_ASSIGN(const Windowing w, WindowingOf(op, kernel, to.shape(x)));
  HEARTH_ASSIGN(const std::vector<Enlarged> sizes, EnlargedSizes(op, w, to.shape(x)));
  HEARTH_ASSIGN(const ValueId bias, op.Has(2) ? op.In(2) : Made(kNoValue));
  HEARTH_ASSIGN(filter, Dilated(to, filter, w.dilation));
  const Shape taps = to.shape(filter);
  HEARTH_ASSIGN(filter, to.AddReshape(filter, rank == 3 ? Shape{taps[0], taps[1], 1, taps[2]} : taps));
  const int64_t groups = op.Int("group", 1);
  HEARTH_ASSIGN(const ValueId plane, AsPlane(to, x));
  const int32_t channels = to.shape(plane)[3];
  if (groups < 1 || groups > channels || taps[0] != channels || channels % groups != 0) {
    return Error(StatusCode::kMalformedInput, "{} groups of a filter of shape {} for {} channels", groups,
                 shape.ToString(), channels);
  }
  HEARTH_TRY(to.budget().ChargeOperators(groups));
  const Enlarged &last = sizes.back(), first = rank == 3 ? Enlarged{1, 0, 0} : sizes[0];
  const TransposeConv conv{
      static_cast<int32_t>(first.size),
      static_cast<int32_t>(last.size),
      rank == 3 ? 1 : static_cast<int32_t>(w.stride[0]),
      static_cast<int32_t>(w.stride.back()),
      {PaddingMode::kExplicit, static_cast<int32_t>(first.before), 0, static_cast<int32_t>(last.before), 0},
      Activation::kNone};
  std::vector<ValueId> made;
  const auto part = static_cast<int32_t>(channels / groups), outputs = taps[1];
  for (int32_t g = 0; g < groups; ++g) {
    const Made its_filter = AddPermuted(to, to.AddSlice(filter, 0, g * part, part), {1, 2, 3, 0});
    Operands operands{to.AddSlice(plane, 3, g * part, part), its_filter};
    if (bias != kNoValue) {
      HEARTH_ASSIGN(const ValueId its_bias, to.AddSlice(bias, 0, g * outputs, outputs));
      operands.ids.push_back(its_bias);
    }
    HEARTH_ASSIGN(const ValueId enlarged, to.Add(conv, operands));
    made.push_back(enlarged);
  }
  return Last(FromPlane(to, made.size() == 1 ? Made(made[0]) : to.Add(Concat{.axis = 3}, made), rank));
}

Results ReadPool(OpView& op) {
  NodeWriter& to = op.to();
  if (op.HasOutput(1)) return Error(StatusCode::kUnsupported, "the indices of maxima as an output");
  HEARTH_ASSIGN(const ValueId x, op.Last(0));
  const Shape in = to.shape(x);
  HEARTH_ASSIGN(Windowing w, WindowingOf(op, op.Ints("kernel_shape"), in));
  const auto kind = static_cast<PoolKind>(op.kind());
  const size_t dims = w.kernel.size();
  const bool has_padding = std::ranges::any_of(w.before, [](int64_t n) { return n > 0; }) ||
                           std::ranges::any_of(w.after, [](int64_t n) { return n > 0; });
  const bool counts_padding = kind == PoolKind::kAverage && op.Int("count_include_pad", 0) != 0 && has_padding;
  const std::vector<int64_t> before = w.before, after = w.after;
  for (size_t d = 0; d < dims; ++d) {
    const int64_t size = in[static_cast<int>(d) + 1];
    const int64_t span = (w.kernel[d] - 1) * w.dilation[d] + 1, padded = size + w.before[d] + w.after[d];
    if (op.Int("ceil_mode", 0) == 0 || padded < span) continue;
    int64_t count = (padded - span + w.stride[d] - 1) / w.stride[d] + 1;
    if ((count - 1) * w.stride[d] >= size + w.before[d]) --count;  // a window over padding alone
    w.after[d] = std::max<int64_t>((count - 1) * w.stride[d] + span - size - w.before[d], 0);
  }
  Made made = x;
  if (counts_padding) {  // these zeros are elements like others; what ceil_mode adds behind them is not
    std::vector<int64_t> kept(dims);
    for (size_t d = 0; d < dims; ++d) {
      kept[d] = std::min(after[d], w.after[d]);
      w.after[d] -= kept[d];
    }
    made = AddSpatialPad(to, made, before, kept, 0.0);
    w.before.assign(dims, 0);
    HEARTH_TRY(made.status());
  }
  if (dims == 3) return Last(PoolVolume(to, made, kind, w));
  if (std::ranges::any_of(w.dilation, [](int64_t d) { return d != 1; })) {
    if (kind != PoolKind::kMax) return Error(StatusCode::kUnsupported, "means of dilated windows");
    Windows windows{{1}, {1}, {1}, BinaryKind::kMaximum};
    const double lowest = -std::numeric_limits<float>::max();
    made = AddSpatialPad(to, made, w.before, w.after, lowest);
    HEARTH_TRY(made.status());
    for (size_t d = 0; d < dims; ++d) {
      windows.sizes.push_back(w.kernel[d]);
      windows.strides.push_back(w.stride[d]);
      windows.dilations.push_back(w.dilation[d]);
    }
    for (auto* list : {&windows.sizes, &windows.strides, &windows.dilations}) list->push_back(1);
    return Last(ReduceWindows(to, *made, windows, lowest));
  }
  const Pool2D pool{kind, dims == 1 ? 1 : static_cast<int32_t>(w.kernel[0]), static_cast<int32_t>(w.kernel.back()),
                    PlaneWindow(w), Activation::kNone};
  return Last(FromPlane(to, to.Add(pool, {AsPlane(to, made)}), in.rank()));
}

Results ReadGlobalPool(OpView& op) {
  HEARTH_ASSIGN(const ValueId x, op.Last(0));
  const int rank = op.to().shape(x).rank();
  if (rank < 3) return Error(StatusCode::kMalformedInput, "an operand of rank {}", rank);
  const Reduce reduce{.kind = static_cast<ReduceKind>(op.kind()), .axes_mask = SpatialAxes(rank), .keep_dims = true};
  return Last(op.to().Add(reduce, {x}));
}

std::span<const OperatorRow> WindowOperators() {
  static constexpr OperatorRow kRows[] = {
      {"AveragePool", ReadPool, Kind(PoolKind::kAverage)},
      {"Conv", ReadConv},
      {"ConvTranspose", ReadConvTranspose, kTransposed},
      {"GlobalAveragePool", ReadGlobalPool, Kind(ReduceKind::kMean)},
      {"GlobalMaxPool", ReadGlobalPool, Kind(ReduceKind::kMax)},
      {"MaxPool", ReadPool, Kind(PoolKind::kMax)},
  };
  return kRows;
}

}  // namespace hearth::onnx
