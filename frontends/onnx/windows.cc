// Convolutions. They compute in the order of pictures, channels last.
#include "frontends/onnx/windows.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/shared.h"
#include "frontends/writer/expansions.h"

namespace hearth::onnx {

Result<std::vector<int64_t>> PerDimension(const OpView& op, std::string_view name, size_t count, int64_t otherwise,
                                          int64_t most) {
  std::vector<int64_t> numbers = op.Ints(name, std::vector<int64_t>(count, otherwise));
  if (numbers.size() != count) {
    return Error(StatusCode::kMalformedInput, "{} {} for {} dimensions", numbers.size(), name, count);
  }
  for (const int64_t number : numbers) {
    if (number < 0 || number > most) return Error(StatusCode::kMalformedInput, "a number of {} in {}", number, name);
  }
  return numbers;
}

bool IsSame(std::string_view pad) {
  return pad == "SAME_UPPER" || pad == "SAME_LOWER";
}

Volume VolumeOf(const Windowing& w) {
  const auto at = [](const std::vector<int64_t>& list, size_t d) { return static_cast<int32_t>(list[d]); };
  Volume volume{at(w.stride, 0), at(w.dilation, 0), {}, Activation::kNone};
  volume.plane = {at(w.stride, 1), at(w.stride, 2), at(w.dilation, 1), at(w.dilation, 2), {PaddingMode::kValid}};
  return volume;
}

namespace {

// The sum of a convolution of planes for each plane of the window, with groups. Nothing is padded.
Made ConvolveGroups3D(NodeWriter& to, const Windowing& w, ValueId x, ValueId filter, ValueId bias, int64_t groups) {
  const Shape in = to.shape(x), taps = to.shape(filter);
  const Windowing plane{
      {w.kernel[1], w.kernel[2]}, {w.stride[1], w.stride[2]}, {w.dilation[1], w.dilation[2]}, {0, 0}, {0, 0}};
  const int32_t count =
      WindowedSize(in[1], 0, 0, taps[2], static_cast<int32_t>(w.stride[0]), static_cast<int32_t>(w.dilation[0]));
  HEARTH_TRY(to.budget().ChargeOperators(6 * int64_t{taps[2]}));
  if (count < 1 || int64_t{count} * in[0] > kMostSize) {
    return Error(StatusCode::kMalformedInput, "a window of {} planes, {} apart, on {} of {}", taps[2], w.dilation[0],
                 in[1], in.ToString());
  }
  Made sum(kNoValue);
  for (int32_t tap = 0; tap < taps[2] && sum.ok(); ++tap) {
    const Made read =
        to.AddSlice(x, 1, static_cast<int32_t>(tap * w.dilation[0]), count, static_cast<int32_t>(w.stride[0]));
    const Made part = to.AddReshape(read, {in[0] * count, in[2], in[3], in[4]});
    const Made its_filter = to.AddReshape(to.AddSlice(filter, 2, tap, 1), {taps[0], taps[1], taps[3], taps[4]});
    const Made made = AddConvolution(to, plane, part, its_filter, tap == 0 ? bias : kNoValue, groups);
    sum = tap == 0 ? made : to.Add(BinaryKind::kAdd, {sum, made});
  }
  HEARTH_ASSIGN(const ValueId y, sum);
  const Shape made = to.shape(y);
  return to.AddReshape(y, {in[0], count, made[1], made[2], made[3]});
}

// A convolution over depth, height and width, as the writer composes it.
Made Convolve3D(NodeWriter& to, const Windowing& w, const Made& x, const Made& filter, ValueId bias, int64_t groups) {
  HEARTH_ASSIGN(const ValueId taps, filter);
  if (groups > 1) {
    HEARTH_ASSIGN(const ValueId padded, AddSpatialPad(to, x, w.before, w.after, 0.0));
    return ConvolveGroups3D(to, w, padded, taps, bias, groups);
  }
  HEARTH_ASSIGN(const ValueId in, x);
  Volume volume = VolumeOf(w);
  volume.before_d = static_cast<int32_t>(w.before[0]);
  volume.after_d = static_cast<int32_t>(w.after[0]);
  volume.plane.padding = {PaddingMode::kExplicit, static_cast<int32_t>(w.before[1]), static_cast<int32_t>(w.after[1]),
                          static_cast<int32_t>(w.before[2]), static_cast<int32_t>(w.after[2])};
  // [O,I,kd,kh,kw] to [O,kh,kw,kd,I].
  HEARTH_ASSIGN(const ValueId ordered, AddPermuted(to, taps, {0, 3, 4, 2, 1}));
  return AddConv3D(to, volume, in, ordered, bias);
}

}  // namespace

Made AsPlane(NodeWriter& to, const Made& x) {
  HEARTH_TRY(x.status());
  const Shape shape = to.shape(*x);
  if (shape.rank() != 3) return x;
  return to.AddReshape(x, {shape[0], 1, shape[1], shape[2]});
}

Made FromPlane(NodeWriter& to, const Made& x, int rank) {
  HEARTH_TRY(x.status());
  const Shape shape = to.shape(*x);
  if (rank != 3) return x;
  return to.AddReshape(x, {shape[0], shape[2], shape[3]});
}

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

Made AddSpatialPad(NodeWriter& to, Made x, const std::vector<int64_t>& before, const std::vector<int64_t>& after,
                   double number) {
  for (size_t d = 0; d < before.size() && x.ok(); ++d) {
    x = to.AddPad(x, static_cast<int>(d) + 1, static_cast<int32_t>(before[d]), static_cast<int32_t>(after[d]), number);
  }
  return x;
}

Result<std::vector<int64_t>> KernelOf(const OpView& op, const Shape& filter) {
  const std::vector<int64_t> kernel(filter.dims().begin() + 2, filter.dims().end());
  if (const std::vector<int64_t> said = op.Ints("kernel_shape", kernel); said != kernel) {
    return Error(StatusCode::kMalformedInput, "kernel_shape [{}] with a filter of shape {}", fmt::join(said, ","),
                 filter.ToString());
  }
  return kernel;
}

Result<Windowing> WindowingOf(const OpView& op, const std::vector<int64_t>& kernel, const Shape& x, size_t most) {
  const size_t dims = kernel.size();
  if (dims < 1 || dims > most || x.rank() != static_cast<int>(dims) + 2) {
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

Made AddConvolution(NodeWriter& to, const Windowing& w, const Made& x, const Made& filter, ValueId bias, int64_t groups,
                    bool of_integers) {
  HEARTH_ASSIGN(const ValueId in, x);
  HEARTH_ASSIGN(const ValueId taps, filter);
  const int rank = to.shape(in).rank();
  const Shape shape = to.shape(taps);
  if (groups < 1 || groups > to.shape(in)[rank - 1] || shape[1] * groups != to.shape(in)[rank - 1]) {
    return Error(StatusCode::kMalformedInput, "{} groups of {} channels in an operand of {}", groups, shape[1],
                 to.shape(in)[rank - 1]);
  }
  if (rank == 5) return Convolve3D(to, w, in, taps, bias, groups);
  const bool is_depthwise = groups > 1 && shape[1] == 1 && !of_integers;
  const Shape plane = rank == 3 ? Shape{shape[0], shape[1], 1, shape[2]} : shape;
  const Made ordered =
      AddPermuted(to, to.AddReshape(taps, plane), is_depthwise ? Shape{1, 2, 3, 0} : Shape{0, 2, 3, 1});
  const Operands operands{AsPlane(to, in), ordered, bias};
  const Window2D window = PlaneWindow(w);
  if (of_integers) return FromPlane(to, to.Add(ConvInteger{window}, operands, DType::kInt32), rank);
  return FromPlane(to, is_depthwise ? to.Add(DepthwiseConv2D{window}, operands) : to.Add(Conv2D{window}, operands),
                   rank);
}

// Over more than three dimensions, of which some have windows of one element, as jax2onnx writes sums over windows:
// those are moved beside the batch.
Results ReadConvOfMany(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  HEARTH_ASSIGN(const ValueId filter, op.In(1));
  HEARTH_ASSIGN(const ValueId bias, op.Optional(2));
  const Shape shape = to.shape(x), taps = to.shape(filter);
  const int dims = shape.rank() - 2;
  std::vector<int32_t> last(shape.dims().begin(), shape.dims().end());
  std::rotate(last.begin() + 1, last.begin() + 2, last.end());
  HEARTH_ASSIGN(const std::vector<int64_t> kernel, KernelOf(op, taps));
  HEARTH_ASSIGN(const Windowing all, WindowingOf(op, kernel, Shape::FromSpan(last), Shape::kMaxRank));
  Windowing w;
  std::vector<int> order = {0}, read;  // of the dimensions: the batch, those beside it, those with windows, channels
  std::vector<int32_t> windows = {taps[0], taps[1]}, sizes;
  int64_t batch = shape[0];
  for (int d = 0; d < dims; ++d) {
    const auto at = static_cast<size_t>(d);
    const bool has_window = all.kernel[at] > 1 || all.stride[at] > 1 || all.before[at] + all.after[at] > 0;
    if (has_window || (d == dims - 1 && read.empty())) {
      read.push_back(d + 2);
      windows.push_back(taps[d + 2]);
      sizes.push_back(shape[d + 2]);
      for (auto list :
           {&Windowing::kernel, &Windowing::stride, &Windowing::dilation, &Windowing::before, &Windowing::after})
        (w.*list).push_back((all.*list)[at]);
    } else {
      order.push_back(d + 2);
      batch *= shape[d + 2];
    }
  }
  if (read.size() > 3 || batch > kMostSize || op.Has(3)) {
    return Error(StatusCode::kUnsupported, "windows of {} dimensions in an operand of rank {}", read.size(),
                 shape.rank());
  }
  const size_t beside = order.size();
  order.insert(order.end(), read.begin(), read.end());
  order.push_back(1);
  sizes.insert(sizes.begin(), static_cast<int32_t>(batch));
  sizes.push_back(shape[1]);
  const Made moved = to.AddReshape(
      to.AddTranspose(x, Shape::FromSpan(std::vector<int32_t>(order.begin(), order.end()))), Shape::FromSpan(sizes));
  HEARTH_ASSIGN(const ValueId y, AddConvolution(to, w, moved, to.AddReshape(filter, Shape::FromSpan(windows)), bias,
                                                op.Int("group", 1)));
  std::vector<int32_t> made;
  for (size_t k = 0; k < beside; ++k) made.push_back(shape[order[k]]);
  for (int d = 1; d < to.shape(y).rank(); ++d) made.push_back(to.shape(y)[d]);
  Shape back = shape;
  for (int d = 0; d < shape.rank(); ++d) back[order[static_cast<size_t>(d)]] = d;
  return Plain(to.AddTranspose(to.AddReshape(y, Shape::FromSpan(made)), back));
}

// Also FusedConv, to which onnxruntime's optimizer joins a sum and an activation.
Results ReadConv(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  if (desc.shape.rank() > 5) return ReadConvOfMany(op, to);
  HEARTH_ASSIGN(const ValueId x, op.Last(0));
  HEARTH_ASSIGN(const ValueId filter, to.shape(x).rank() == 5 ? op.In(1) : op.Weights(1));
  const Shape shape = to.shape(filter);
  if (shape.rank() < 3) return Error(StatusCode::kMalformedInput, "a filter of shape {}", shape.ToString());
  HEARTH_ASSIGN(const std::vector<int64_t> kernel, KernelOf(op, shape));
  HEARTH_ASSIGN(const Windowing w, WindowingOf(op, kernel, to.shape(x)));
  HEARTH_ASSIGN(const ValueId bias, op.Optional(2));
  const Made made = AddConvolution(to, w, x, filter, bias, op.Int("group", 1));
  return Last(AddFusedActivation(op, op.Has(3) ? to.Add(BinaryKind::kAdd, {made, op.Last(3)}) : made));
}

constexpr OperatorRow kWindowRows[] = {
    {"Conv", ReadConv},
    {"FusedConv", ReadConv, 0, kMicrosoft},
};
const OperatorList kWindowOperators = kWindowRows;

}  // namespace hearth::onnx
