// Pooling, and its inverse. They compute in the order of pictures, channels last.
#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/windows.h"
#include "frontends/writer/expansions.h"
#include "frontends/writer/scatter.h"

namespace hearth::onnx {
namespace {

constexpr int kNorm = -2;  // the kind of LpPool and GlobalLpPool

// Pooling of any windows, one dimension after the other. Padding counts for nothing.
Made PoolByParts(NodeWriter& to, const Made& x, PoolKind kind, const Windowing& w) {
  Windows windows{{1}, {1}, {1}, kind == PoolKind::kMax ? BinaryKind::kMaximum : BinaryKind::kAdd};
  windows.sizes.insert(windows.sizes.end(), w.kernel.begin(), w.kernel.end());
  windows.strides.insert(windows.strides.end(), w.stride.begin(), w.stride.end());
  windows.dilations.insert(windows.dilations.end(), w.dilation.begin(), w.dilation.end());
  for (auto* list : {&windows.sizes, &windows.strides, &windows.dilations}) list->push_back(1);
  const double outside = kind == PoolKind::kMax ? -std::numeric_limits<float>::max() : 0.0;
  const auto combined = [&](const Made& value) -> Made {
    HEARTH_ASSIGN(const ValueId padded, AddSpatialPad(to, value, w.before, w.after, outside));
    return ReduceWindows(to, padded, windows, outside);
  };
  const Made made = combined(x);
  if (kind == PoolKind::kMax || !made.ok()) return made;
  Shape one = to.shape(*x);
  one[0] = one[one.rank() - 1] = 1;
  const Made counts = combined(to.AddFilled(one, to.AddNumber(DType::kFloat32, 1.0)));
  return to.Add(BinaryKind::kDiv, {made, counts});
}

// Numbers of a tensor's elements in the file's order, for a plane [N,H,W,C] and the place in it; `by_column` counts
// those of a plane down each column. int32.
struct Place {
  Made row, column;
};
Made NumberOf(NodeWriter& to, const Shape& plane, const Place& at, bool by_column) {
  if (plane.element_count() > std::numeric_limits<int32_t>::max()) {
    return Error(StatusCode::kUnsupported, "numbers of elements in shape {}", plane.ToString());
  }
  const auto times = [&](const Made& a, int32_t b) {
    return to.Add(BinaryKind::kMul, {a, to.AddNumber(DType::kInt32, b)});
  };
  const Made first = times(to.AddIndices({plane[0], 1, 1, plane[3]}), plane[1] * plane[2]);
  const Made within = by_column ? to.Add(BinaryKind::kAdd, {times(at.column, plane[1]), at.row})
                                : to.Add(BinaryKind::kAdd, {times(at.row, plane[2]), at.column});
  return to.Add(BinaryKind::kAdd, {first, within});
}
// The first element of each window along one dimension, which has `count` windows and is dimension `d` of a plane.
Made FirstOf(NodeWriter& to, int d, int32_t count, int32_t stride, int32_t before) {
  Shape shape{1, 1, 1, 1};
  shape[d] = count;
  const Made scaled = to.Add(BinaryKind::kMul, {to.AddIndices(shape), to.AddNumber(DType::kInt32, stride)});
  return to.Add(BinaryKind::kSub, {scaled, to.AddNumber(DType::kInt32, before)});
}
// a / b and the remainder, of integers.
Place Divided(NodeWriter& to, const Made& a, int32_t b) {
  const Made divisor = to.AddNumber(DType::kInt32, b);
  return {to.Add(BinaryKind::kFloorDiv, {a, divisor}), to.Add(BinaryKind::kFloorMod, {a, divisor})};
}

// Maxima and the number of each among the elements of the operand.
Results PoolWithPlaces(const OpView& op, NodeWriter& to, ValueId x, DType dtype, const Windowing& w) {
  const int rank = to.shape(x).rank();
  HEARTH_ASSIGN(const ValueId plane, AsPlane(to, x));
  const MaxPoolArgmax2D pool{rank == 3 ? 1 : static_cast<int32_t>(w.kernel[0]), static_cast<int32_t>(w.kernel.back()),
                             PlaneWindow(w), Activation::kNone};
  const TensorDesc real = PlainType(DType::kFloat32);
  HEARTH_ASSIGN(const std::vector<ValueId> made, to.AddSeveral(pool, {plane}, {real, real}));
  const Shape windows = to.shape(made[0]);
  const Place within = Divided(to, to.AddCast(made[1], DType::kInt32), pool.kernel_w);
  const Padding2D& padding = pool.window.padding;
  const Made top = FirstOf(to, 1, windows[1], pool.window.stride_h, padding.top);
  const Made left = FirstOf(to, 2, windows[2], pool.window.stride_w, padding.left);
  const Place at{to.Add(BinaryKind::kAdd, {top, within.row}), to.Add(BinaryKind::kAdd, {left, within.column})};
  const Made number = NumberOf(to, to.shape(plane), at, op.Int("storage_order", 0) != 0);
  HEARTH_ASSIGN(const ValueId maxima, FromPlane(to, to.AddCast(made[0], dtype), rank));
  HEARTH_ASSIGN(const ValueId numbers, FromPlane(to, to.AddCast(number, DType::kInt64), rank));
  if (op.Int("storage_order", 0) == 0) to.marks().found_in_windows.emplace(numbers, made[1]);
  return std::vector{Tensor{.last = maxima}, Tensor{.last = numbers}};
}

// What ceil_mode adds behind the padding: windows that begin inside.
void AddCeiling(Windowing& w, const Shape& in) {
  for (size_t d = 0; d < w.kernel.size(); ++d) {
    const int64_t size = in[static_cast<int>(d) + 1];
    const int64_t span = (w.kernel[d] - 1) * w.dilation[d] + 1, padded = size + w.before[d] + w.after[d];
    const int64_t steps = padded - span + w.stride[d] - 1;  // of elements, by which windows move at most
    if (steps < 0) continue;
    int64_t count = steps / w.stride[d] + 1;
    if ((count - 1) * w.stride[d] >= size + w.before[d]) --count;  // a window over padding alone
    w.after[d] = std::max<int64_t>((count - 1) * w.stride[d] + span - size - w.before[d], 0);
  }
}

// A power of the size of each element, as norms have it.
Made PowerOf(NodeWriter& to, const Made& x, double p) {
  HEARTH_TRY(x.status());
  if (p == 2.0) return to.Add(UnaryKind::kSquare, x);
  if (p == 0.5) return to.Add(UnaryKind::kSqrt, x);
  const Made size = to.Add(UnaryKind::kAbs, x);
  return p == 1.0 ? size : to.Add(BinaryKind::kPow, {size, AddScalarLike(to, *x, p)});
}

Results ReadPool(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  // Devices take the maxima of real numbers, which have all integers of 8 bits.
  const DType dtype = BitsOf(desc.dtype) == 8 ? DType::kFloat32 : desc.dtype;
  HEARTH_ASSIGN(const ValueId x, to.AddCast(op.Last(0), dtype));
  const Shape in = to.shape(x);
  HEARTH_ASSIGN(Windowing w, WindowingOf(op, op.Ints("kernel_shape"), in));
  const bool is_norm = op.kind() == kNorm;
  const PoolKind kind = is_norm ? PoolKind::kAverage : static_cast<PoolKind>(op.kind());
  const double p = static_cast<double>(op.Int("p", 2));
  if (!(p >= 1.0)) return Error(StatusCode::kMalformedInput, "p={}", p);
  const size_t dims = w.kernel.size();
  const std::vector<int64_t> after = w.after;
  if (op.Int("ceil_mode", 0) != 0) AddCeiling(w, in);
  Made made = is_norm ? PowerOf(to, x, p) : Made(x);
  // Zeros that are elements like others; what ceil_mode adds behind them only adds nothing to a norm.
  if (is_norm || (kind == PoolKind::kAverage && op.Int("count_include_pad", 0) != 0)) {
    std::vector<int64_t> kept = w.after;
    for (size_t d = 0; d < dims && !is_norm; ++d) kept[d] = std::min(after[d], w.after[d]);
    made = AddSpatialPad(to, made, w.before, kept, 0.0);
    w.before.assign(dims, 0);
    for (size_t d = 0; d < dims; ++d) w.after[d] -= kept[d];
  }
  const bool is_dilated = std::ranges::any_of(w.dilation, [](int64_t d) { return d != 1; });
  if (op.HasOutput(1)) {
    if (dims == 3 || is_dilated)
      return Error(StatusCode::kUnsupported, "places of maxima in windows of three dimensions or with gaps");
    return PoolWithPlaces(op, to, x, desc.dtype, w);
  }
  if (dims == 3 || is_dilated) {
    made = PoolByParts(to, made, kind, w);
  } else {
    const Pool2D pool{kind, dims == 1 ? 1 : static_cast<int32_t>(w.kernel[0]), static_cast<int32_t>(w.kernel.back()),
                      PlaneWindow(w), Activation::kNone};
    made = FromPlane(to, to.Add(pool, {AsPlane(to, made)}), in.rank());
  }
  if (!is_norm) return Last(to.AddCast(made, desc.dtype));
  double elements = 1.0;
  for (const int64_t size : w.kernel) elements *= static_cast<double>(size);
  return Last(PowerOf(to, to.Add(BinaryKind::kMul, {made, AddScalarLike(to, x, elements)}), 1.0 / p));
}

// What lies within windows beside each other, where MaxPool found it in a picture of shape `whole` (channels last);
// kNoValue for other numbers.
Made UnpoolWindows(const OpView& op, NodeWriter& to, const Windowing& w, const Shape& whole) {
  HEARTH_ASSIGN(const ValueId numbers, op.Last(1));
  const auto found = to.marks().found_in_windows.find(numbers);
  const Node* producer = found == to.marks().found_in_windows.end() ? nullptr : to.ProducerOf(found->second);
  if (producer == nullptr) return kNoValue;
  const Node node = *producer;
  const auto pool = std::get<MaxPoolArgmax2D>(node.op);
  const Window2D beside{pool.kernel_h, pool.kernel_w, 1, 1, {PaddingMode::kExplicit}};
  const Shape in = to.shape(node.inputs[0]);
  HEARTH_ASSIGN(const ValueId plane, AsPlane(to, op.Last(0)));
  const Shape shape = to.shape(plane);
  const int32_t kernel_h = whole.rank() == 3 ? 1 : static_cast<int32_t>(w.kernel[0]);
  if (pool.window != beside || PlaneWindow(w) != beside || pool.kernel_h != kernel_h ||
      pool.kernel_w != w.kernel.back() || in != (whole.rank() == 3 ? WithDimension(whole, 1, 1) : whole) ||
      shape != to.shape(found->second)) {
    return kNoValue;
  }
  const MaxUnpool2D unpool{pool.kernel_h, pool.kernel_w, pool.kernel_h, pool.kernel_w};
  const Made spread = to.Add(unpool, {plane, found->second});
  const std::vector<int64_t> rest = {in[1] - shape[1] * pool.kernel_h, in[2] - shape[2] * pool.kernel_w};
  return FromPlane(to, AddSpatialPad(to, spread, {0, 0}, rest, 0.0), whole.rank());
}

// (x, numbers of elements, shape?): each element at its number in zeros. As in onnxruntime, that counts in the result.
Results ReadMaxUnpool(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.Last(0));
  Shape whole = to.shape(x);
  HEARTH_ASSIGN(const Windowing w, WindowingOf(op, op.Ints("kernel_shape"), whole));
  std::vector<int64_t> given;
  if (op.Has(2)) {
    HEARTH_ASSIGN(given, op.Numbers(2));
    if (given.size() != w.kernel.size() + 2) return Error(StatusCode::kMalformedInput, "{} sizes", given.size());
  }
  for (size_t d = 0; d < w.kernel.size(); ++d) {
    int32_t& size = whole[static_cast<int>(d) + 1];
    const int64_t least = (int64_t{size} - 1) * w.stride[d] + w.kernel[d] - w.before[d] - w.after[d];
    const int64_t wanted = given.empty() ? least : given[d + 2];
    if (wanted < std::max<int64_t>(least, 1) || wanted > kMostSize) {
      return Error(StatusCode::kMalformedInput, "a size of {} for windows over {}", wanted, least);
    }
    size = static_cast<int32_t>(wanted);
  }
  if (whole.element_count() > std::numeric_limits<int32_t>::max()) {
    return Error(StatusCode::kUnsupported, "numbers of elements in shape {}", whole.ToString());
  }
  HEARTH_ASSIGN(const ValueId unpooled, UnpoolWindows(op, to, w, whole));
  if (unpooled != kNoValue) return Last(unpooled);
  const auto count = static_cast<int32_t>(whole.element_count()),
             rows = static_cast<int32_t>(to.shape(x).element_count());
  HEARTH_ASSIGN(const ValueId numbers, to.AddReshape(op.In(1), {rows}));
  if (to.IsConstant(numbers)) {
    HEARTH_ASSIGN(const std::vector<int64_t> known, to.Integers(numbers));
    const auto is_outside = [&](int64_t n) { return n < 0 || n >= count; };
    if (const auto outside = std::ranges::find_if(known, is_outside); outside != known.end()) {
      return Error(StatusCode::kMalformedInput, "number {} of {} elements", *outside, count);
    }
  }
  const Made zeros = to.AddFilled({count, 1}, to.AddConstant({1}, to.desc(x).dtype, {0.0}));
  HEARTH_ASSIGN(const ValueId places, to.AddCast(numbers, DType::kInt32));
  HEARTH_ASSIGN(const ValueId filled, zeros);
  HEARTH_ASSIGN(const ValueId updates, to.AddReshape(op.In(0), {rows, 1}));
  return Plain(to.AddReshape(ScatterRows(to, filled, updates, places, std::nullopt), PlainShape(whole)));
}

Results ReadGlobalPool(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.Last(0));
  const int rank = to.shape(x).rank();
  if (rank < 3) return Error(StatusCode::kMalformedInput, "an operand of rank {}", rank);
  const bool is_norm = op.kind() == kNorm;
  const ReduceKind kind = is_norm ? ReduceKind::kSum : static_cast<ReduceKind>(op.kind());
  const Reduce reduce{.kind = kind, .axes_mask = SpatialAxes(rank), .keep_dims = true};
  const double p = static_cast<double>(op.Int("p", 2));
  const Made made = to.Add(reduce, {is_norm ? PowerOf(to, x, p) : Made(x)});
  return Last(is_norm ? PowerOf(to, made, 1.0 / p) : made);
}

}  // namespace

constexpr OperatorRow kPoolingRows[] = {
    {"AveragePool", ReadPool, Kind(PoolKind::kAverage)},
    {"GlobalAveragePool", ReadGlobalPool, Kind(ReduceKind::kMean)},
    {"GlobalLpPool", ReadGlobalPool, kNorm},
    {"GlobalMaxPool", ReadGlobalPool, Kind(ReduceKind::kMax)},
    {"LpPool", ReadPool, kNorm},
    {"MaxPool", ReadPool, Kind(PoolKind::kMax)},
    {"MaxUnpool", ReadMaxUnpool},
};
const OperatorList kPoolingOperators = kPoolingRows;

}  // namespace hearth::onnx
