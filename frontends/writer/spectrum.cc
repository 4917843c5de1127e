#include <bit>
#include <cmath>
#include <numbers>
#include <optional>

#include "core/base/error.h"
#include "frontends/writer/expansions.h"

namespace hearth {
namespace {

constexpr int64_t kMostHadamard = 1 << 16;
constexpr int kBitsOfOneMatrix = 6;  // up to 64 elements at once

// Of a transform's matrices: columns of 1,024 points; rows of 2,048, or of 16,384 in two steps.
constexpr int64_t kMostNumbers = 5 << 20;
constexpr int64_t kMostSpectrumElements = 1 << 30;

// The angle 2 * pi * j * k / length, reduced exactly modulo 2 * pi.
double Angle(int64_t j, int64_t k, int64_t length) {
  return 2.0 * std::numbers::pi * static_cast<double>(j * k % length) / static_cast<double>(length);
}

// Of the real or imaginary part of a number in one of its frequency.
double Weight(double angle, bool of_real, bool to_real) {
  if (of_real == to_real) return std::cos(angle);
  return to_real ? std::sin(angle) : -std::sin(angle);
}

// Cuts the dimension, or pads it with zeros, to `length` elements.
Made Fit(NodeWriter& to, const Made& x, int axis, int32_t length) {
  if (!x.ok()) return x;
  const int32_t size = to.shape(*x)[axis];
  if (size < length) return to.AddPad(x, axis, 0, length - size);
  return to.AddSlice(x, axis, 0, length);
}

// The matrix from `length` numbers to the real, then the imaginary parts of `bins` frequencies.
Made RealTransform(NodeWriter& to, int32_t length, int32_t bins) {
  return to.AddEach({2 * bins, length}, DType::kFloat32, [&](int64_t row, int64_t k) {
    const double angle = Angle(row % bins, k, length);
    return row < bins ? std::cos(angle) : -std::sin(angle);
  });
}

// How a long line is transformed in two steps (Cooley and Tukey, 1965): `rows` numbers that are `columns` apart at a
// time, then what comes of these. 2,048 points take a tenth of one matrix's multiply-adds.
struct TwoSteps {
  int32_t rows = 0, columns = 0;
  int64_t numbers() const { return 2 * int64_t{rows} * columns * (columns + 2) + 2 * int64_t{rows} * rows; }
};
constexpr int32_t kFewestPointsForTwo = 1024;  // fewer are moved for longer than they save

// None for few points, and for those that have no divisor near their root.
std::optional<TwoSteps> StepsFor(int64_t points) {
  if (points < kFewestPointsForTwo || points > kMostNumbers) return std::nullopt;
  auto rows = static_cast<int64_t>(std::sqrt(static_cast<double>(points)));
  while (points % rows != 0) --rows;
  const TwoSteps steps{static_cast<int32_t>(rows), static_cast<int32_t>(points / rows)};
  return 4 * steps.numbers() < points * points ? std::optional(steps) : std::nullopt;
}

// Of each of `rows` frequencies a matrix from the real, then the imaginary parts of `columns` numbers to those of each
// `rows`-th frequency up to the half.
Made SecondStep(NodeWriter& to, const TwoSteps& steps) {
  const int32_t half = steps.columns / 2 + 1;
  const int64_t rows = steps.rows, columns = steps.columns;
  return to.AddEach({steps.rows, 2 * steps.columns, 2 * half}, DType::kFloat32, [&](int64_t line, int64_t bin) {
    const int64_t row = line / (2 * columns), k = line % (2 * columns);
    return Weight(Angle(k % columns, row + rows * (bin % half), rows * columns), k < columns, bin < half);
  });
}

// The spectra of `count` lines: the real, then the imaginary parts of each frequency up to the half.
Made AddLineSpectra(NodeWriter& to, const Made& lines, int32_t count, int32_t width,
                    const std::optional<TwoSteps>& steps) {
  const int32_t bins = width / 2 + 1;
  if (!steps) return to.Add(FullyConnected{}, {lines, RealTransform(to, width, bins)});
  const auto [rows, columns] = *steps;
  const int32_t half = columns / 2 + 1;
  const Made turned = to.AddTranspose(to.AddReshape(lines, {count, rows, columns}), {0, 2, 1});
  const Made first =
      to.Add(FullyConnected{}, {to.AddReshape(turned, {count * columns, rows}), RealTransform(to, rows, rows)});
  const Made by_frequency = to.AddTranspose(to.AddReshape(first, {count, columns, 2, rows}), {3, 0, 2, 1});
  const Made second =
      to.Add(BatchMatMul{}, {to.AddReshape(by_frequency, {rows, count, 2 * columns}), SecondStep(to, *steps)});
  // Frequency row + rows * bin is the next one of each row.
  const Made in_order = to.AddTranspose(to.AddReshape(second, {rows, count, 2, half}), {1, 2, 3, 0});
  return to.AddReshape(to.AddSlice(to.AddReshape(in_order, {count, 2, half * rows}), 2, 0, bins), {count, 2 * bins});
}

// The matrix from the real, then the imaginary parts of `length` numbers to those of as many frequencies.
Made ComplexTransform(NodeWriter& to, int32_t length) {
  return to.AddEach({2 * length, 2 * length}, DType::kFloat32, [&](int64_t row, int64_t k) {
    return Weight(Angle(row % length, k % length, length), k < length, row < length);
  });
}

// Sylvester's matrix divided by the root of its size: element (i, k) is negative if i & k has an odd number of bits.
Made HadamardMatrix(NodeWriter& to, int32_t size) {
  return to.AddEach({size, size}, DType::kFloat32, [&](int64_t i, int64_t k) {
    return (std::popcount(static_cast<uint64_t>(i & k)) % 2 == 0 ? 1 : -1) / std::sqrt(size);
  });
}

}  // namespace

Made AddHadamard(NodeWriter& to, ValueId x, int64_t size) {
  const Shape shape = to.shape(x);
  const int32_t length = shape.rank() == 0 ? 0 : shape[shape.rank() - 1];
  if (size < 1 || size > kMostHadamard || !std::has_single_bit(static_cast<uint64_t>(size)) || length % size != 0) {
    return Error(StatusCode::kUnsupported, "a rotation of {} elements of shape {}", size, shape.ToString());
  }
  if (to.desc(x).dtype != DType::kFloat32) return Error(StatusCode::kUnsupported, "only float32");
  // The matrix is a Kronecker product: small ones along the two dimensions of a square multiply the same.
  const int bits = std::countr_zero(static_cast<uint64_t>(size));
  const int32_t inner = 1 << (bits - (bits > kBitsOfOneMatrix ? bits / 2 : 0)),
                outer = static_cast<int32_t>(size) / inner;
  const auto runs = static_cast<int32_t>(shape.element_count() / size);
  Made made = to.Add(FullyConnected{}, {to.AddReshape(x, {runs * outer, inner}), HadamardMatrix(to, inner)});
  if (outer > 1) {
    const Made turned = to.AddTranspose(to.AddReshape(made, {runs, outer, inner}), {0, 2, 1});
    made = to.Add(FullyConnected{}, {to.AddReshape(turned, {runs * inner, outer}), HadamardMatrix(to, outer)});
    made = to.AddTranspose(to.AddReshape(made, {runs, inner, outer}), {0, 2, 1});
  }
  return to.AddReshape(made, shape);
}

ValueId AddComplex(NodeWriter& to, ValueId real, ValueId imaginary) {
  const ValueId both = to.graph().AddValue({"complex", to.desc(real), std::nullopt});
  to.marks().complex.emplace(both, std::pair(real, imaginary));
  return both;
}

Made AddRealSpectrum(NodeWriter& to, ValueId given, const std::vector<int64_t>& sizes) {
  const Shape shape = to.shape(given);
  const int rank = shape.rank();
  if (to.desc(given).dtype != DType::kFloat32 || rank < 2 || sizes.size() != 2 || sizes[0] < 1 || sizes[1] < 1) {
    return Error(StatusCode::kMalformedInput, "a transform of shape {}", shape.ToString());
  }
  const int64_t images_before = CountBetween(shape, 0, rank - 2);
  const std::optional<TwoSteps> steps = StepsFor(sizes[1]);
  if (sizes[0] > kMostNumbers || sizes[1] > kMostNumbers ||
      (steps ? steps->numbers() : (sizes[1] / 2 + 1) * 2 * sizes[1]) > kMostNumbers ||
      (sizes[0] > 1 && 4 * sizes[0] * sizes[0] > kMostNumbers) ||
      images_before > kMostSpectrumElements / (sizes[0] * sizes[1])) {
    return Error(StatusCode::kUnsupported, "a transform of {} x {} points of shape {}", sizes[0], sizes[1],
                 shape.ToString());
  }
  const auto height = static_cast<int32_t>(sizes[0]), width = static_cast<int32_t>(sizes[1]), bins = width / 2 + 1;
  HEARTH_ASSIGN(ValueId x, Fit(to, Fit(to, given, rank - 2, height), rank - 1, width));
  const auto images = static_cast<int32_t>(to.shape(x).element_count() / height / width);
  const Made lines = to.AddReshape(x, {images * height, width});
  HEARTH_ASSIGN(x, AddLineSpectra(to, lines, images * height, width, steps));
  if (height > 1) {
    const Made turned = to.AddTranspose(to.AddReshape(x, {images, height, 2, bins}), {0, 3, 2, 1});
    const Made columns = to.AddReshape(turned, {images * bins, 2 * height});
    const Made made = to.Add(FullyConnected{}, {columns, ComplexTransform(to, height)});
    const Made back = to.AddTranspose(to.AddReshape(made, {images, bins, 2, height}), {0, 3, 2, 1});
    HEARTH_ASSIGN(x, to.AddReshape(back, {images * height, 2 * bins}));
  }
  Shape made = shape;
  made[rank - 2] = height;
  made[rank - 1] = bins;
  const Made first = to.AddSlice(x, 1, 0, bins), second = to.AddSlice(x, 1, bins, bins);
  HEARTH_ASSIGN(const ValueId real, to.AddReshape(first, made));
  HEARTH_ASSIGN(const ValueId imaginary, to.AddReshape(second, made));
  return AddComplex(to, real, imaginary);
}

}  // namespace hearth
