// RFFT2D and operators that read its result. A complex tensor is a pair of real ones. A transform is a product with the
// matrix of its cosines and sines.
#include <cmath>
#include <numbers>

#include "core/base/error.h"
#include "frontends/tflite/expand_rows.h"

namespace hearth {
namespace {

constexpr int64_t kMostNumbers = 5 << 20;  // elements of one matrix: rows of 2,048, columns of 1,024 points
constexpr int64_t kMostSpectrumElements = 1 << 30;

// The angle 2 * pi * j * k / length, reduced exactly modulo 2 * pi.
double Angle(int64_t j, int64_t k, int64_t length) {
  return 2.0 * std::numbers::pi * static_cast<double>(j * k % length) / static_cast<double>(length);
}

// Cuts the dimension, or pads it with zeros, to `length` elements.
Result<ValueId> Fit(Expansion& to, ValueId x, int axis, int32_t length) {
  const int32_t size = to.shape(x)[axis];
  if (size < length) return to.AddPad(x, axis, 0, length - size);
  return to.AddSlice(x, axis, 0, length);
}

// The matrix from `length` numbers to the real, then the imaginary parts of `bins` frequencies.
Result<ValueId> RealTransform(Expansion& to, int32_t length, int32_t bins) {
  HEARTH_TRY(to.CheckRoom({2 * bins, length}, DType::kFloat32));
  std::vector<double> matrix;
  matrix.reserve(2 * static_cast<size_t>(bins) * static_cast<size_t>(length));
  for (const bool is_real : {true, false}) {
    for (int32_t bin = 0; bin < bins; ++bin) {
      for (int32_t k = 0; k < length; ++k) {
        const double angle = Angle(bin, k, length);
        matrix.push_back(is_real ? std::cos(angle) : -std::sin(angle));
      }
    }
  }
  return to.AddConstant({2 * bins, length}, DType::kFloat32, matrix);
}

// The matrix from the real, then the imaginary parts of `length` numbers to those of as many frequencies.
Result<ValueId> ComplexTransform(Expansion& to, int32_t length) {
  HEARTH_TRY(to.CheckRoom({2 * length, 2 * length}, DType::kFloat32));
  std::vector<double> matrix;
  matrix.reserve(4 * static_cast<size_t>(length) * static_cast<size_t>(length));
  for (const bool is_real : {true, false}) {
    for (int32_t bin = 0; bin < length; ++bin) {
      for (int32_t k = 0; k < 2 * length; ++k) {
        const bool of_real = k < length;
        const double angle = Angle(bin, of_real ? k : k - length, length);
        if (is_real) matrix.push_back(of_real ? std::cos(angle) : std::sin(angle));
        if (!is_real) matrix.push_back(of_real ? -std::sin(angle) : std::cos(angle));
      }
    }
  }
  return to.AddConstant({2 * length, 2 * length}, DType::kFloat32, matrix);
}

}  // namespace

// (x[..., H, W], sizes[2])
Expanded ExpandRfft2D(Expansion& to) {
  HEARTH_ASSIGN(const std::vector<int64_t> sizes, to.Integers(1));
  const Shape shape = to.shape(to.operand(0));
  const int rank = shape.rank();
  if (to.desc(to.operand(0)).dtype != DType::kFloat32 || rank < 2 || sizes.size() != 2 || sizes[0] < 1 ||
      sizes[1] < 1) {
    return Error(StatusCode::kMalformedInput, "a transform of shape {}", shape.ToString());
  }
  const int64_t images_before = CountBetween(shape, 0, rank - 2);
  if (sizes[0] > kMostNumbers || sizes[1] > kMostNumbers || (sizes[1] / 2 + 1) * 2 * sizes[1] > kMostNumbers ||
      (sizes[0] > 1 && 4 * sizes[0] * sizes[0] > kMostNumbers) ||
      images_before > kMostSpectrumElements / (sizes[0] * sizes[1])) {
    return Error(StatusCode::kUnsupported, "a transform of {} x {} points of shape {}", sizes[0], sizes[1],
                 shape.ToString());
  }
  const auto height = static_cast<int32_t>(sizes[0]), width = static_cast<int32_t>(sizes[1]), bins = width / 2 + 1;
  HEARTH_ASSIGN(ValueId x, Fit(to, to.operand(0), rank - 2, height));
  HEARTH_ASSIGN(x, Fit(to, x, rank - 1, width));
  const auto images = static_cast<int32_t>(to.shape(x).element_count() / height / width);
  HEARTH_ASSIGN(x, to.AddReshape(x, {images * height, width}));
  HEARTH_ASSIGN(const ValueId rows, RealTransform(to, width, bins));
  HEARTH_ASSIGN(x, to.Add(FullyConnected{}, {x, rows}));
  if (height > 1) {
    HEARTH_ASSIGN(x, to.AddReshape(x, {images, height, 2, bins}));
    HEARTH_ASSIGN(x, to.AddTranspose(x, {0, 3, 2, 1}));
    HEARTH_ASSIGN(x, to.AddReshape(x, {images * bins, 2 * height}));
    HEARTH_ASSIGN(const ValueId columns, ComplexTransform(to, height));
    HEARTH_ASSIGN(x, to.Add(FullyConnected{}, {x, columns}));
    HEARTH_ASSIGN(x, to.AddReshape(x, {images, bins, 2, height}));
    HEARTH_ASSIGN(x, to.AddTranspose(x, {0, 3, 2, 1}));
    HEARTH_ASSIGN(x, to.AddReshape(x, {images * height, 2 * bins}));
  }
  Shape made = shape;
  made[rank - 2] = height;
  made[rank - 1] = bins;
  ComplexValue parts;
  HEARTH_ASSIGN(parts.real, to.AddSlice(x, 1, 0, bins));
  HEARTH_ASSIGN(parts.imaginary, to.AddSlice(x, 1, bins, bins));
  HEARTH_ASSIGN(parts.real, to.AddReshape(parts.real, made));
  HEARTH_ASSIGN(parts.imaginary, to.AddReshape(parts.imaginary, made));
  to.SetComplexOutput(parts);
  return std::vector<ValueId>();
}

Expanded ExpandReal(Expansion& to) {
  HEARTH_ASSIGN(const ComplexValue parts, to.ComplexOperand(0));
  return std::vector<ValueId>{parts.real};
}

Expanded ExpandImaginary(Expansion& to) {
  HEARTH_ASSIGN(const ComplexValue parts, to.ComplexOperand(0));
  return std::vector<ValueId>{parts.imaginary};
}

Expanded ExpandComplexAbs(Expansion& to) {
  HEARTH_ASSIGN(const ComplexValue parts, to.ComplexOperand(0));
  HEARTH_ASSIGN(const ValueId real, to.AddBinary(BinaryKind::kMul, parts.real, parts.real));
  HEARTH_ASSIGN(const ValueId imaginary, to.AddBinary(BinaryKind::kMul, parts.imaginary, parts.imaginary));
  HEARTH_ASSIGN(const ValueId sum, to.AddBinary(BinaryKind::kAdd, real, imaginary));
  return OneValue(to.Add(Unary{.kind = UnaryKind::kSqrt}, {sum}));
}

}  // namespace hearth
