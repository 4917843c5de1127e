// Transposed convolutions. They compute in the order of pictures, channels last.
#include <algorithm>

#include "core/base/error.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/windows.h"
#include "frontends/writer/expansions.h"

namespace hearth::onnx {
namespace {

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
      made.size = wanted.empty() ? std::min(in * w.stride[d], whole) : wanted[wanted.size() - dims + d];
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

// A transposed convolution of x[N,D,H,W,I] by filter[I,O,kd,kh,kw]: of the result without padding, the part that
// `sizes` say.
Made SpreadVolume(NodeWriter& to, const Windowing& w, const std::vector<Enlarged>& sizes, ValueId x, ValueId filter) {
  const Shape in = to.shape(x), taps = to.shape(filter);
  std::vector<double> whole{double{1} * in[0]};
  for (int d = 0; d < 3; ++d) {
    const int64_t size = w.stride[static_cast<size_t>(d)] * (in[d + 1] - 1) + taps[d + 2];
    if (size > kMostSize) return Error(StatusCode::kUnsupported, "an output of {} planes or lines", size);
    whole.push_back(static_cast<double>(size));
  }
  whole.push_back(taps[1]);
  HEARTH_ASSIGN(const ValueId shape, to.AddConstant({5}, DType::kInt64, whole));
  HEARTH_ASSIGN(const ValueId ordered, AddPermuted(to, filter, {2, 3, 4, 1, 0}));
  Windowing steps = w;
  steps.dilation = {1, 1, 1};  // in the filter
  Made y = AddConv3DTranspose(to, VolumeOf(steps), shape, x, ordered, kNoValue);
  for (int d = 0; d < 3 && y.ok(); ++d) {
    const Enlarged& part = sizes[static_cast<size_t>(d)];
    const int64_t missing = part.before + part.size - static_cast<int64_t>(whole[static_cast<size_t>(d) + 1]);
    if (missing > 0) y = to.AddPad(y, d + 1, 0, static_cast<int32_t>(missing));
    y = to.AddSlice(y, d + 1, static_cast<int32_t>(part.before), static_cast<int32_t>(part.size));
  }
  return y;
}

// The filter with zeros between its taps.
Made Dilated(NodeWriter& to, Made filter, const std::vector<int64_t>& dilation) {
  for (size_t d = 0; d < dilation.size() && filter.ok(); ++d) {
    if (dilation[d] > 1) filter = AddBetween(to, *filter, static_cast<int>(d) + 2, dilation[d] - 1, 0.0);
  }
  return filter;
}

// A transposed convolution of x[N,H,W,C] by filter[C,O,kh,kw], whose channels have filters of their own: a convolution
// of x with zeros between its elements, by the filters from their ends on. As one for each channel, a node each, it
// took 10 times as long for 64 channels.
Made SpreadChannels(NodeWriter& to, const std::vector<Enlarged>& sizes, const std::vector<int64_t>& strides,
                    const Made& x, ValueId filter, ValueId bias) {
  const Shape taps = to.shape(filter);
  Made spread = x;
  for (int d = 0; d < 2 && spread.ok(); ++d) {
    const auto& [made, before, after] = sizes[static_cast<size_t>(d)];
    const int axis = d + 1, last_tap = taps[d + 2] - 1;
    if (strides[static_cast<size_t>(d)] > 1)
      spread = AddBetween(to, *spread, axis, strides[static_cast<size_t>(d)] - 1, 0.0);
    HEARTH_ASSIGN(const ValueId whole, spread);
    const int64_t front = last_tap - before, read = made + last_tap;  // elements that are read from -front on
    const int64_t missing = read - front - to.shape(whole)[axis];
    const auto padded = [](int64_t count) { return static_cast<int32_t>(std::max<int64_t>(count, 0)); };
    spread = to.AddSlice(to.AddPad(whole, axis, padded(front), padded(missing)), axis, padded(-front),
                         static_cast<int32_t>(read));
  }
  const Made rows = to.AddReshape(AddPermuted(to, filter, {2, 3, 0, 1}), {1, taps[2], taps[3], taps[0] * taps[1]});
  return to.Add(DepthwiseConv2D{{.padding = {PaddingMode::kValid}}}, {spread, to.Add(Reverse{0b110}, {rows}), bias});
}

Results ReadConvTranspose(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.Last(0));
  HEARTH_ASSIGN(ValueId filter, op.In(1));  // [I,O/g,kh,kw]
  const int rank = to.shape(x).rank();
  const Shape shape = to.shape(filter);
  if (rank < 3 || rank > 5 || shape.rank() != rank) {
    return Error(StatusCode::kUnsupported, "an operand of rank {} and a filter of shape {}", rank, shape.ToString());
  }
  HEARTH_ASSIGN(const std::vector<int64_t> kernel, KernelOf(op, shape));
  HEARTH_ASSIGN(const Windowing w, WindowingOf(op, kernel, to.shape(x)));
  HEARTH_ASSIGN(const std::vector<Enlarged> sizes, EnlargedSizes(op, w, to.shape(x)));
  HEARTH_ASSIGN(const ValueId bias, op.Optional(2));
  HEARTH_ASSIGN(filter, Dilated(to, filter, w.dilation));
  const Shape taps = to.shape(filter);
  HEARTH_ASSIGN(filter, to.AddReshape(filter, rank == 3 ? Shape{taps[0], taps[1], 1, taps[2]} : taps));
  const int64_t groups = op.Int("group", 1);
  HEARTH_ASSIGN(const ValueId plane, AsPlane(to, x));
  const int last = to.shape(plane).rank() - 1;
  const int32_t channels = to.shape(plane)[last];
  if (groups < 1 || groups > channels || taps[0] != channels || channels % groups != 0) {
    return Error(StatusCode::kMalformedInput, "{} groups of a filter of shape {} for {} channels", groups,
                 shape.ToString(), channels);
  }
  HEARTH_TRY(to.budget().ChargeOperators(groups));
  const Enlarged &width = sizes.back(), height = rank == 3 ? Enlarged{1, 0, 0} : sizes[sizes.size() - 2];
  const TransposeConv conv{
      static_cast<int32_t>(height.size),
      static_cast<int32_t>(width.size),
      rank == 3 ? 1 : static_cast<int32_t>(w.stride[0]),
      static_cast<int32_t>(w.stride.back()),
      {PaddingMode::kExplicit, static_cast<int32_t>(height.before), 0, static_cast<int32_t>(width.before), 0},
      Activation::kNone};
  Operands made;
  const auto part = static_cast<int32_t>(channels / groups), outputs = taps[1];
  if (groups > 1 && part == 1 && rank < 5) {
    const std::vector<Enlarged> of_plane = {height, width};
    const std::vector<int64_t> strides = {conv.stride_h, conv.stride_w};
    return Last(FromPlane(to, SpreadChannels(to, of_plane, strides, plane, filter, bias), rank));
  }
  for (int32_t g = 0; g < groups; ++g) {
    const Made its_x = to.AddSlice(plane, last, g * part, part), its_filter = to.AddSlice(filter, 0, g * part, part);
    HEARTH_TRY(its_x.status());
    HEARTH_TRY(its_filter.status());
    const Made its_bias = bias == kNoValue ? Made(bias) : to.AddSlice(bias, 0, g * outputs, outputs);
    if (rank < 5) {
      made.Append(to.Add(conv, {its_x, AddPermuted(to, its_filter, {1, 2, 3, 0}), its_bias}));
    } else {
      const Made spread = SpreadVolume(to, w, sizes, *its_x, *its_filter);
      made.Append(bias == kNoValue ? spread : to.Add(BinaryKind::kAdd, {spread, its_bias}));
    }
  }
  HEARTH_TRY(made.status);
  return Last(FromPlane(to, made.ids.size() == 1 ? Made(made.ids[0]) : to.Add(Concat{.axis = last}, made), rank));
}

}  // namespace

constexpr OperatorRow kTransposedRows[] = {{"ConvTranspose", ReadConvTranspose, kTransposed}};
const OperatorList kTransposedOperators = kTransposedRows;

}  // namespace hearth::onnx
