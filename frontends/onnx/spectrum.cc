// Fourier transforms, as products with cosines and sines; windows for them.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "frontends/onnx/operators.h"

namespace hearth::onnx {

namespace {

constexpr int64_t kMostPoints = 1 << 12;  // of a matrix that is as wide and twice as high
constexpr int64_t kMostWindow = 1 << 24;

// Element k of `length` in frequency `bin`: the cosine, or the negated sine, of its angle.
double Wave(int64_t bin, int64_t k, int64_t length, bool is_real) {
  const double angle = 2.0 * std::numbers::pi * static_cast<double>(bin * k % length) / static_cast<double>(length);
  return is_real ? std::cos(angle) : -std::sin(angle);
}

// (x, length?, axis?): a product with the matrix of all waves. The last dimension is a number's real part, or both.
Results ReadDft(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  const Shape shape = to.shape(x);
  const int rank = shape.rank();
  HEARTH_ASSIGN(const int64_t listed,
                op.Has(2) ? op.Integer(2) : Result<int64_t>(op.Int("axis", op.opset() < 20 ? 1 : -2)));
  HEARTH_ASSIGN(const int axis, OpView::Axis(listed, rank));
  const bool is_inverse = op.Int("inverse", 0) != 0, is_onesided = op.Int("onesided", 0) != 0;
  if (rank < 2 || axis == rank - 1 || shape[rank - 1] < 1 || shape[rank - 1] > 2) {
    return Error(StatusCode::kMalformedInput, "dimension {} of shape {}", axis, shape.ToString());
  }
  const bool is_complex = shape[rank - 1] == 2, makes_real = is_inverse && is_onesided;
  if (is_onesided && is_complex != is_inverse)
    return Error(StatusCode::kMalformedInput, "onesided of shape {}", shape.ToString());
  HEARTH_ASSIGN(const int64_t length,
                op.Has(1) ? op.Integer(1) : Result<int64_t>(makes_real ? 2 * (shape[axis] - 1) : shape[axis]));
  if (length < 1 || length > kMostPoints) return Error(StatusCode::kUnsupported, "a transform of {} points", length);
  const auto points = static_cast<int32_t>(length), half = points / 2 + 1;
  const int32_t taken = std::min(shape[axis], makes_real ? half : points),
                made = is_onesided && !is_inverse ? half : points;
  const int32_t parts = makes_real ? 1 : 2, given = shape[rank - 1];
  const auto weight_at = [&](int64_t out, int64_t in) {
    const int64_t bin = out / parts, k = in / given;
    const bool from_real = in % given == 0, to_real = out % parts == 0;
    // (cos - i sin) (a + i b), with the other sign of the sine for the inverse.
    double weight = Wave(bin, k, points, from_real == to_real);
    if (from_real != to_real && from_real == is_inverse) weight = -weight;
    // The other half of the spectrum is the mirrored one.
    if (makes_real && k > 0 && 2 * k != points) weight *= 2.0;
    return is_inverse ? weight / points : weight;
  };
  const Shape turn = Exchange(axis, rank - 2, rank);
  Shape whole = shape;
  for (int d = 0; d < rank; ++d) whole[d] = shape[turn[d]];
  whole[rank - 2] = made;
  whole[rank - 1] = parts;
  const auto lines = static_cast<int32_t>(CountBetween(whole, 0, rank - 2));
  const Made moved = to.AddTranspose(to.AddSlice(x, axis, 0, taken), turn);
  const Made rows = to.AddReshape(moved, {lines, taken * given});
  const Made product =
      to.Add(FullyConnected{}, {rows, to.AddEach({made * parts, taken * given}, DType::kFloat32, weight_at)});
  return Plain(to.AddTranspose(to.AddReshape(product, whole), turn));
}

// Kinds of ReadWindow: the factors of its cosines, of no, one and two periods.
constexpr double kWindows[][3] = {{0.5, -0.5, 0.0}, {25.0 / 46.0, -21.0 / 46.0, 0.0}, {0.42, -0.5, 0.08}};

Results ReadWindow(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const int64_t size, op.Integer(0));
  if (size < 0 || size > kMostWindow) return Error(StatusCode::kUnsupported, "a window of {} elements", size);
  const auto type = static_cast<int32_t>(op.Int("output_datatype", kFloat));
  const std::optional<DType> dtype = ComputedTypeOf(type);
  if (!dtype) return UnknownType(type);
  const int64_t period = op.Int("periodic", 1) != 0 ? size : size - 1;
  const double* factors = kWindows[op.kind()];
  return Plain(to.AddEach({static_cast<int32_t>(size)}, *dtype, [&](int64_t, int64_t k) {
    const auto wave = [&](int64_t bin) { return Wave(bin, k, std::max<int64_t>(period, 1), true); };
    return factors[0] + factors[1] * wave(1) + factors[2] * wave(2);
  }));
}

Results ReadStft(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(ValueId signal, op.In(0));  // [batch, length] or [batch, length, 1]
  const Shape shape = to.shape(signal);
  if (shape.rank() < 2 || shape.rank() > 3 || (shape.rank() == 3 && shape[2] != 1)) {
    return Error(StatusCode::kUnsupported, "a signal of shape {}, which is not of real numbers", shape.ToString());
  }
  HEARTH_ASSIGN(const int64_t step, op.Integer(1));
  std::vector<float> window;
  if (op.Has(2)) {
    HEARTH_ASSIGN(const ValueId value, op.In(2));
    if (!to.IsConstant(value)) return Error(StatusCode::kUnsupported, "its window{}", to.ComputedFrom(value));
    HEARTH_ASSIGN(window, ConstantAsFloats(to.graph(), value));
  }
  HEARTH_ASSIGN(const int64_t length, op.Has(3) ? op.Integer(3) : Result<int64_t>(static_cast<int64_t>(window.size())));
  if (step < 1 || length < 1 || length > std::min(shape[1], 1 << 24) ||
      (!window.empty() && window.size() != static_cast<size_t>(length))) {
    return Error(StatusCode::kMalformedInput, "frames of {} elements, every {}, of {}", length, step, shape[1]);
  }
  const auto size = static_cast<int32_t>(length);
  const int32_t bins = op.Int("onesided", 1) != 0 ? size / 2 + 1 : size;
  // Real and imaginary parts are neighbours: output channels 2k and 2k + 1.
  const auto weight_at = [&](int64_t k, int64_t) {
    const int64_t channel = k / size, at = k % size;
    const double weight = window.empty() ? 1.0 : static_cast<double>(window[static_cast<size_t>(at)]);
    return weight * Wave(channel / 2, at, size, channel % 2 == 0);
  };
  const Conv2D conv{.window = {.stride_w = static_cast<int32_t>(std::min<int64_t>(step, shape[1]))}};
  HEARTH_ASSIGN(signal, to.AddReshape(signal, {shape[0], 1, shape[1], 1}));
  HEARTH_ASSIGN(const ValueId made,
                to.Add(conv, {signal, to.AddEach({2 * bins, 1, size, 1}, DType::kFloat32, weight_at)}));
  return Plain(to.AddReshape(made, {shape[0], to.shape(made)[2], bins, 2}));
}

}  // namespace

constexpr OperatorRow kSpectrumRows[] = {
    {"BlackmanWindow", ReadWindow, 2}, {"DFT", ReadDft},   {"HammingWindow", ReadWindow, 1},
    {"HannWindow", ReadWindow},        {"STFT", ReadStft},
};
const OperatorList kSpectrumOperators = kSpectrumRows;

}  // namespace hearth::onnx
