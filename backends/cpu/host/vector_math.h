// Functions that compilers vectorize: sums, and transcendental functions without branch, call or table.
#ifndef HEARTH_BACKENDS_CPU_HOST_VECTOR_MATH_H_
#define HEARTH_BACKENDS_CPU_HOST_VECTOR_MATH_H_

#include <bit>
#include <cmath>
#include <cstdint>

#include "backends/cpu/host/vectorized.h"

namespace hearth {

// The sum of function(element) in kParts independent partial sums, so that no addition waits for another.
template <int kParts, typename Function>
HEARTH_INTO_CALLER inline double VectorSum(const float* x, int64_t count, Function function) {
  double short_sum = 0.0;
  if (count < kParts) {
    for (int64_t k = 0; k < count; ++k) short_sum += function(double{x[k]});
    return short_sum;
  }
  double parts[kParts] = {};
  int64_t k = 0;
  for (; k + kParts <= count; k += kParts) {
    for (int part = 0; part < kParts; ++part) parts[part] += function(double{x[k + part]});
  }
  for (; k < count; ++k) parts[0] += function(double{x[k]});
  double sum = 0.0;
  for (double part : parts) sum += part;
  return sum;
}

// Integers in the order of the numbers, NaN above all others. Compilers vectorize the search for the largest integer,
// but not that for the largest float.
HEARTH_INTO_CALLER inline int32_t OrderedBits(float x) {
  const auto bits = std::bit_cast<int32_t>(x);
  const int32_t ordered = bits ^ (bits >> 31 & 0x7fffffff);
  const int32_t is_nan = (0x7f800000 - (bits & 0x7fffffff)) >> 31;  // all bits; compilers would make a branch of ?:
  return (ordered & ~is_nan) | (0x7fffffff & is_nan);
}
HEARTH_INTO_CALLER inline float NumberOfOrder(int32_t ordered) {
  return std::bit_cast<float>(ordered ^ (ordered >> 31 & 0x7fffffff));
}

// The nearest integer, the even one of two. Precondition: |x| < 2^22.
HEARTH_INTO_CALLER inline float RoundedToEven(float x) {
  constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: floats near it have no digits behind the point
  return (x + kRounder) - kRounder;
}

// The highest power's factor first.
template <typename T, typename... Factors>
HEARTH_INTO_CALLER inline T Polynomial(T x, T highest, Factors... factors) {
  T sum = highest;
  ((sum = sum * x + factors), ...);
  return sum;
}

// exp of x clamped to -87 to 88, so never 0 or infinity, with a relative error of at most 2e-7. NaN stays NaN.
HEARTH_INTO_CALLER inline float VectorExp(float x) {
  x = x < -87.0f ? -87.0f : x;
  x = x > 88.0f ? 88.0f : x;
  constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: adding it leaves an integer in the low bits
  const float biased = x * 1.44269504f + kRounder;
  const float n = biased - kRounder;
  // ln 2 in two parts, the first with zeros in its low bits.
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = Polynomial(r, 1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f,
                       5.0000001201e-1f);
  p = p * r * r + r + 1.0f;
  const uint32_t power = (std::bit_cast<uint32_t>(biased) << 23) + 0x3f800000;  // unsigned: NaN has any bits
  return p * std::bit_cast<float>(power);
}

// exp that reaches 0 and infinity.
HEARTH_INTO_CALLER inline float VectorWholeExp(float x) {
  const float half = VectorExp(0.5f * x);
  return half * half;
}

HEARTH_INTO_CALLER inline float VectorSigmoid(float x) {
  return 1.0f / (1.0f + VectorExp(-x));
}

// Relative error at most 3e-7.
HEARTH_INTO_CALLER inline float VectorTanh(float x) {
  const float size = x < 0.0f ? -x : x;
  const float square = x * x;
  const float p = Polynomial(square, -5.70498872745e-3f, 2.06390887954e-2f, -5.37397155531e-2f, 1.33314422036e-1f,
                             -3.33332819422e-1f);
  const float near_zero = p * square * x + x;
  const float far = 1.0f - 2.0f / (VectorExp(2.0f * size) + 1.0f);
  const float with_sign = x < 0.0f ? -far : far;
  return size < 0.625f ? near_zero : with_sign;
}

// Numerical Recipes' fit, 6.2: off by 1.2e-7 of the result, and by 1e-5 of it where it is below 1e-30.
HEARTH_INTO_CALLER inline float VectorErfc(float x) {
  const float size = x < 0.0f ? -x : x;
  const float t = 1.0f / (1.0f + 0.5f * size);
  const float p = Polynomial(t, 0.17087277f, -0.82215223f, 1.48851587f, -1.13520398f, 0.27886807f, -0.18628806f,
                             0.09678418f, 0.37409196f, 1.00002368f, -1.26551223f);
  const float tail = t * VectorWholeExp(p - size * size);
  return x < 0.0f ? 2.0f - tail : tail;
}

// Below 0.5 the series around 0 (NIST's Handbook of Mathematical Functions, 7.1.5), whose first term left out is 1e-9.
HEARTH_INTO_CALLER inline float VectorErf(float x) {
  const float size = x < 0.0f ? -x : x;
  const float square = x * x;
  const float p = Polynomial(square, 1.20552e-4f, -8.5483270e-4f, 5.22397762e-3f, -2.68661706e-2f, 1.12837917e-1f,
                             -3.76126389e-1f, 1.12837917f);
  const float far = 1.0f - VectorErfc(size);
  const float with_sign = x < 0.0f ? -far : far;
  return size < 0.5f ? p * x : with_sign;
}

// sin(x + quarters * pi / 2) in double, rounded once; `x` up to 2^20, where the multiple of pi / 2 is still exact to
// 1e-10. Coefficients: Taylor's series to pi / 4, whose first term left out is 3e-11.
HEARTH_INTO_CALLER inline float VectorSine(double x, int64_t quarters) {
  constexpr double kRounder = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves an integer in the low bits
  const double biased = x * 0.63661977236758134 + kRounder;
  const double n = biased - kRounder;
  const double r = (x - n * 1.5707963267948966) - n * 6.123233995736766e-17;
  const int64_t turn = std::bit_cast<int64_t>(biased) + quarters;
  const double square = r * r;
  const double odd = Polynomial(square, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6);
  const double sine = odd * square * r + r;
  const double cosine =
      Polynomial(square, 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -0.5, 1.0);
  const double size = (turn & 1) != 0 ? cosine : sine;
  return static_cast<float>((turn & 2) != 0 ? -size : size);
}

// Natural logarithm, off by 2e-7 of it and by 1e-7 near 1; coefficients of Cephes' logf (Moshier).
HEARTH_INTO_CALLER inline float VectorLog(float x) {
  const bool is_small = x < 0x1p-126f;
  const auto bits = std::bit_cast<uint32_t>(is_small ? x * 0x1p23f : x);
  const uint32_t above = bits - 0x3f3504f3;  // sqrt(1/2), so that the rest is between that and twice that
  const float power = static_cast<float>((static_cast<int32_t>(above) >> 23) - (is_small ? 23 : 0));
  const float r = std::bit_cast<float>((above & 0x007fffff) + 0x3f3504f3) - 1.0f;
  const float square = r * r;
  const float p =
      Polynomial(r, 7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f, 1.4249322787e-1f,
                 -1.6668057665e-1f, 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f);
  float y = p * r * square - 2.12194440e-4f * power - 0.5f * square + r + 0.693359375f * power;
  y = x == 0.0f ? -INFINITY : y;
  y = x < 0.0f ? NAN : y;
  return x < INFINITY ? y : x;  // infinity and NaN
}

// The angle of (x, y), as C's atan2: off by 3e-7 of it. Of the smaller by the larger coordinate, above tan(pi / 8) as
// the difference to pi / 4; coefficients of Cephes' atanf (Moshier).
HEARTH_INTO_CALLER inline float VectorAtan2(float y, float x) {
  const float width = std::fabs(x), height = std::fabs(y);
  const float larger = width < height ? height : width, smaller = width < height ? width : height;
  float slope = larger == 0.0f ? 0.0f : smaller / larger;
  slope = width == height && larger > 0.0f ? 1.0f : slope;  // of two infinities too
  const bool is_steep = slope > 0.41421356f;
  const float near = is_steep ? (slope - 1.0f) / (slope + 1.0f) : slope;
  const float square = near * near;
  const float p = Polynomial(square, 8.05374449538e-2f, -1.38776856032e-1f, 1.99777106478e-1f, -3.33329491539e-1f);
  float angle = p * square * near + near + (is_steep ? 0.78539816f : 0.0f);
  angle = width < height ? 1.57079633f - angle : angle;
  angle = std::bit_cast<int32_t>(x) < 0 ? 3.14159265f - angle : angle;
  angle = std::bit_cast<float>(std::bit_cast<int32_t>(angle) | (std::bit_cast<int32_t>(y) & INT32_MIN));
  return x != x || y != y ? x + y : angle;
}

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_HOST_VECTOR_MATH_H_
