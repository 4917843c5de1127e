// Exponentials, logarithms, powers and trigonometric functions of the dialect, where a language's own are not exact or
// not defined at the edges.
#ifndef HEARTH_CORE_EMIT_CURVE_TEXTS_H_
#define HEARTH_CORE_EMIT_CURVE_TEXTS_H_

#include <string_view>

namespace hearth {

// SwiftShader's exp gives infinity for NaN.
inline constexpr std::string_view kGlslExp = R"(vec4 vexp(vec4 a) {
  return px_with_nan(exp(a), a);
}
)";

// Cephes' logf. The built-in one may be off by 2^-21 near 1, and what it gives for a denormal number is open: lavapipe
// and llvmpipe (22.3) are off by 4, and SwiftShader gives a number for negative ones.
inline constexpr std::string_view kGlslLog = R"(vec4 vlog(vec4 a) {
  ivec4 bits = floatBitsToInt(a);
  bvec4 tiny = lessThan(bits, ivec4(0x800000));
  ivec4 whole = mix(bits, floatBitsToInt(vec4(bits)), tiny);
  ivec4 e = (whole - 0x3f3504f3) >> 23;
  vec4 x = intBitsToFloat(whole - (e << 23)) - 1.0;
  vec4 n = vec4(e) - mix(vec4(0.0), vec4(149.0), tiny);
  vec4 p = ((((7.0376836292e-2 * x - 1.1514610310e-1) * x + 1.1676998740e-1) * x - 1.2420140846e-1) * x + 1.4249322787e-1);
  p = (((p * x - 1.6668057665e-1) * x + 2.0000714765e-1) * x - 2.4999993993e-1) * x + 3.3333331174e-1;
  vec4 z = x * x;
  vec4 r = (x + (p * x * z - 2.12194440e-4 * n - 0.5 * z)) + 0.693359375 * n;
  r = mix(r, intBitsToFloat(ivec4(0x7f800000)), equal(bits, ivec4(0x7f800000)));
  r = mix(r, intBitsToFloat(ivec4(0xff800000)), equal(bits & 0x7fffffff, ivec4(0)));
  ivec4 negative = (bits & (ivec4(0) - (bits & 0x7fffffff))) >> 31;
  return px_with_nan(intBitsToFloat(floatBitsToInt(r) | negative), a);
}
float vlog(float a) {
  return vlog(vec4(a)).x;
}
)";

// Cephes' tanhf. Drivers calculate tanh from exponentials: lavapipe and llvmpipe (22.3) lose all digits below 6e-8, and
// PoCL (3.1) ends at 0.99999994.
inline constexpr std::string_view kTanh = R"(float4 vtanh(float4 a) {
  float4 size = vabs(a);
  float4 z = a * a;
  float4 p = splat4(-5.70498872745e-3f);
  p = p * z + splat4(2.06390887954e-2f);
  p = p * z - splat4(5.37397155531e-2f);
  p = p * z + splat4(1.33314422036e-1f);
  p = p * z - splat4(3.33332819422e-1f);
  float4 far = splat4(1.0f) - splat4(2.0f) / (vexp(size + size) + splat4(1.0f));
  far = vselect_lt(a, splat4(0.0f), splat4(0.0f) - far, far);
  return vselect_lt(size, splat4(0.625f), p * z * a + a, far);
}
)";

// GLSL has no erf. Numerical Recipes' fit, 6.2: off by 1.2e-7 of the result everywhere, so that the far negative side
// of gelu keeps its digits.
inline constexpr std::string_view kGlslErfc = R"(vec4 verfc(vec4 a) {
  vec4 x = abs(a);
  vec4 t = 1.0 / (1.0 + 0.5 * x);
  vec4 p = -1.26551223 + t * (1.00002368 + t * (0.37409196 + t * (0.09678418 + t * (-0.18628806 + t * (0.27886807 +
           t * (-1.13520398 + t * (1.48851587 + t * (-0.82215223 + t * 0.17087277))))))));
  vec4 tail = t * exp(p - x * x);
  return mix(tail, 2.0 - tail, lessThan(a, vec4(0.0)));
}
)";

// The series around 0 (NIST's Handbook of Mathematical Functions, 7.1.5) up to 0.5, where the first term left out is
// 1e-9; from there on 1 - erfc, of both signs.
inline constexpr std::string_view kErf = R"(float4 verf(float4 a) {
  float4 size = vabs(a);
  float4 z = a * a;
  float4 p = splat4(1.20552e-4f);
  p = p * z - splat4(8.5483270e-4f);
  p = p * z + splat4(5.22397762e-3f);
  p = p * z - splat4(2.68661706e-2f);
  p = p * z + splat4(1.12837917e-1f);
  p = p * z - splat4(3.76126389e-1f);
  p = p * z + splat4(1.12837917f);
  float4 far = splat4(1.0f) - verfc(size);
  far = vselect_lt(a, splat4(0.0f), splat4(0.0f) - far, far);
  return vselect_lt(size, splat4(0.5f), p * a, far);
}
)";

// GLSL's pow is undefined for negative bases and for 0 to a power of at most 0, and loses digits of bases near 1. This
// one is C's: 1 to any power and any number to the power of 0 are 1, even NaN. Of negative bases (-0 too) only -inf has
// non-integer powers.
inline constexpr std::string_view kGlslPow = R"(vec4 vpow(vec4 a, vec4 b) {
  vec4 size = abs(a);
  vec4 r = mix(vexp(b * vlog(size)), vec4(1.0), equal(size, vec4(1.0)));
  r = mix(r, mix(vec4(0.0), vec4(intBitsToFloat(0x7f800000)), lessThan(b, vec4(0.0))), equal(a, vec4(0.0)));
  r = px_with_nan(px_with_nan(r, a), b);
  r = mix(mix(r, vec4(1.0), equal(b, vec4(0.0))), vec4(1.0), equal(a, vec4(1.0)));
  vec4 whole = floor(b);
  vec4 odd = vec4(equal(whole, b)) * vec4(equal(abs(b - 2.0 * floor(b * 0.5)), vec4(1.0)));
  vec4 of_negative = mix(r, -r, equal(odd, vec4(1.0)));
  vec4 has_root = vec4(equal(b, whole)) + vec4(equal(a, vec4(0.0))) + vec4(greaterThan(size, vec4(3.40282347e38)));
  of_negative = mix(of_negative, vec4(intBitsToFloat(0x7fc00000)), equal(has_root, vec4(0.0)));
  return mix(r, of_negative, lessThan(floatBitsToInt(a), ivec4(0)));
}
)";

// GLSL's atan may be off by 4096 steps, and is undefined where both are zero. Cephes' atanf; signs of zeros count.
inline constexpr std::string_view kGlslAtan2 = R"(vec4 vatan2(vec4 a, vec4 b) {
  vec4 y = abs(a);
  vec4 x = abs(b);
  vec4 longer = max(x, y);
  vec4 t = mix(min(x, y) / longer, vec4(1.0), equal(x, y));
  t = mix(t, vec4(0.0), equal(longer, vec4(0.0)));
  bvec4 far = greaterThan(t, vec4(0.414213562));
  t = mix(t, (t - 1.0) / (t + 1.0), far);
  vec4 z = t * t;
  vec4 r = t + t * z * (-3.33329491539e-1 + z * (1.99777106478e-1 + z * (-1.38776856032e-1 + z * 8.05374449538e-2)));
  r = mix(r, r + 0.785398163, far);
  r = mix(r, 1.57079633 - r, greaterThan(y, x));
  r = mix(r, 3.14159265 - r, lessThan(floatBitsToInt(b), ivec4(0)));
  r = mix(r, -r, lessThan(floatBitsToInt(a), ivec4(0)));
  return px_with_nan(px_with_nan(r, a), b);
}
)";

// PoCL's sine of a vector with a component beyond about 10^7 is wrong in small ones: sin(0.001) was 0.008.
inline constexpr std::string_view kOpenClSine = R"(float4 vsin(float4 a) {
  return (float4)(sin(a.x), sin(a.y), sin(a.z), sin(a.w));
}
)";
inline constexpr std::string_view kOpenClCosine = R"(float4 vcos(float4 a) {
  return (float4)(cos(a.x), cos(a.y), cos(a.z), cos(a.w));
}
)";

// Vulkan and GLES allow sine and cosine an error of 2^-11 (SwiftShader uses it: 1.9e-4). Reduction to [-pi/4, pi/4] by
// pi/2 in three parts and minimax polynomials as in Cephes' sinf: good to 2^-23 up to about 8000. Beyond that the
// digits are multiplied by those of 2/pi that decide the quadrant and 30 bits of the angle in it (Payne and Hanek).
inline constexpr std::string_view kGlslSine = R"(const uint px_two_by_pi[7] =
    uint[7](0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u);
void px_reduce(float a, inout float r, inout int quadrant) {
  uint bits = floatBitsToUint(a) & 0x7fffffffu;
  if (bits < 0x46000000u || bits >= 0x7f800000u) return;
  uint first = (bits >> 23) - 120u;
  uint k = first >> 5;
  uint s = first & 31u;
  uint high = (px_two_by_pi[k] << s) | ((px_two_by_pi[k + 1u] >> 1) >> (31u - s));
  uint low = (px_two_by_pi[k + 1u] << s) | ((px_two_by_pi[k + 2u] >> 1) >> (31u - s));
  uint digits = (bits & 0x7fffffu) | 0x800000u;
  uint carry;
  uint rest;
  umulExtended(digits, low, carry, rest);
  uint angle = digits * high + carry;
  uint nearest = (angle + 0x20000000u) >> 30;
  float part = float(int(angle - (nearest << 30))) * 1.46291808e-9;
  r = a < 0.0 ? -part : part;
  quadrant = a < 0.0 ? -int(nearest) : int(nearest);
}
vec4 px_sin(vec4 a, int quarter_turns) {
  vec4 q = roundEven(a * 0.636619772);
  vec4 r = ((a - q * 1.5703125) - q * 4.83751297e-4) - q * 7.54978995e-8;
  ivec4 quadrant = ivec4(q);
  px_reduce(a.x, r.x, quadrant.x);
  px_reduce(a.y, r.y, quadrant.y);
  px_reduce(a.z, r.z, quadrant.z);
  px_reduce(a.w, r.w, quadrant.w);
  quadrant += quarter_turns;
  vec4 r2 = r * r;
  vec4 s = r + r * r2 * (-1.66666546e-1 + r2 * (8.33216087e-3 - r2 * 1.95152959e-4));
  vec4 c = 1.0 - 0.5 * r2 + r2 * r2 * (4.16666457e-2 + r2 * (-1.38873163e-3 + r2 * 2.44331571e-5));
  vec4 v = mix(s, c, notEqual(quadrant & 1, ivec4(0)));
  return mix(v, -v, notEqual(quadrant & 2, ivec4(0)));
}
)";

}  // namespace hearth

#endif  // HEARTH_CORE_EMIT_CURVE_TEXTS_H_
