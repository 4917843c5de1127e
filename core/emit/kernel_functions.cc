#include "core/emit/curve_texts.h"
#include "core/emit/helpers.h"

namespace hearth {
namespace {

// The languages' own min and max drop a NaN or leave its result open, and GLSL compilers (Mesa's does) turn comparisons
// into them. So NaN is recognized by its bits, and all bits of the result are set. Selecting the NaN instead took 30 %
// of MobileNet v1's run on lavapipe.
#define HEARTH_GLSL_NAN_BITS_OF_A "((ivec4(0x7f800000) - (floatBitsToInt(a) & ivec4(0x7fffffff))) >> 31)"
constexpr std::string_view kGlslNan = R"(vec4 px_with_nan(vec4 r, vec4 a) {
  return intBitsToFloat(floatBitsToInt(r) | )" HEARTH_GLSL_NAN_BITS_OF_A R"();
}
)";
// 1 for numbers, 0 for NaN.
constexpr std::string_view kGlslNumber = R"(vec4 vnumber(vec4 a) {
  return intBitsToFloat(ivec4(0x3f800000) & ~)" HEARTH_GLSL_NAN_BITS_OF_A R"();
}
)";
constexpr std::string_view kOpenClNumber = R"(float4 vnumber(float4 a) {
  return select((float4)(1.0f), (float4)(0.0f), a != a);
}
)";
constexpr std::string_view kGlslClamp = R"(vec4 vclamp(vec4 a, vec4 lo, vec4 hi) {
  return px_with_nan(min(max(a, lo), hi), a);
}
)";
constexpr std::string_view kGlslMin = R"(vec4 vmin(vec4 a, vec4 b) {
  return px_with_nan(px_with_nan(min(a, b), a), b);
}
)";
constexpr std::string_view kGlslMax = R"(vec4 vmax(vec4 a, vec4 b) {
  return px_with_nan(px_with_nan(max(a, b), a), b);
}
)";
constexpr std::string_view kOpenClClamp = R"(float4 vclamp(float4 a, float4 lo, float4 hi) {
  float4 above = select(a, lo, a < lo);
  return select(above, hi, hi < above);
}
)";
constexpr std::string_view kOpenClMin = R"(float4 vmin(float4 a, float4 b) {
  return select(select(a, b, b < a), b, b != b);
}
)";
constexpr std::string_view kOpenClMax = R"(float4 vmax(float4 a, float4 b) {
  return select(select(a, b, a < b), b, b != b);
}
)";

// The built-in sign gives 0 for NaN.
constexpr std::string_view kGlslSign = R"(vec4 vsign(vec4 a) {
  return px_with_nan(sign(a), a);
}
)";
constexpr std::string_view kOpenClSign = R"(float4 vsign(float4 a) {
  return select(sign(a), a, a != a);
}
)";

// Truncated quotient, floored quotient and floored remainder. GLSL leaves the division of negative numbers undefined,
// and a CPU traps on a divisor of 0 and on INT_MIN / -1: the magnitudes are divided, and 0 divides as 1. TFLite reports
// an error for a zero divisor, but the unused components of a last texel divide too.
constexpr std::string_view kIntegerDivision = R"(int4 vquotient(int4 a, int4 b) {
  int4 d = vselect_eq(b, splat_int4(0), splat_int4(1), b);
  uint4 q = bits_uint4((a ^ (a >> 31)) - (a >> 31)) / bits_uint4((d ^ (d >> 31)) - (d >> 31));
  int4 flip = (a ^ d) >> 31;
  return (bits_int4(q) ^ flip) - flip;
}
int4 vfloor_quotient(int4 a, int4 b) {
  int4 d = vselect_eq(b, splat_int4(0), splat_int4(1), b);
  int4 q = vquotient(a, d);
  int4 r = a - q * d;
  return q + vselect_eq(r, splat_int4(0), splat_int4(0), (r ^ d) >> 31);
}
int4 vfloor_remainder(int4 a, int4 b) {
  int4 d = vselect_eq(b, splat_int4(0), splat_int4(1), b);
  return a - vfloor_quotient(a, d) * d;
}
)";

// Repeated squaring; wraps. A negative exponent, an error in TFLite, gives the truncated power: 0 unless the base is 1
// or -1.
constexpr std::string_view kIntegerPower = R"(int4 vpower(int4 a, int4 b) {
  uint4 result = bits_uint4(splat_int4(1));
  uint4 square = bits_uint4(a);
  int4 rest = vselect_lt(b, splat_int4(0), b & splat_int4(1), b);
  for (int k = 0; k < 31; ++k) {
    result = bits_uint4(vselect_eq(rest & splat_int4(1), splat_int4(1), bits_int4(result * square), bits_int4(result)));
    square = square * square;
    rest = rest >> 1;
  }
  int4 power = bits_int4(result);
  int4 inverse = vselect_eq(a, splat_int4(1), power, vselect_eq(a, splat_int4(-1), power, splat_int4(0)));
  return vselect_lt(b, splat_int4(0), inverse, power);
}
)";

// As C's fmod: the remainder has the dividend's sign. GLSL has no fmod, and not every driver keeps a multiply-add with
// one rounding: mantissas are divided, 8 bits per iteration.
constexpr std::string_view kGlslRemainder = R"(float px_fmod(float a, float b) {
  uint x = floatBitsToUint(a) & 0x7fffffffu;
  uint y = floatBitsToUint(b) & 0x7fffffffu;
  if (x >= 0x7f800000u || y > 0x7f800000u || y == 0u) return uintBitsToFloat(0x7fc00000u);
  if (x < y) return a;
  uint divisor = y < 0x800000u ? y : (y & 0x7fffffu) | 0x800000u;
  uint r = (x < 0x800000u ? x : (x & 0x7fffffu) | 0x800000u) % divisor;
  int exponent = int(max(y >> 23, 1u));
  for (int left = int(max(x >> 23, 1u)) - exponent; left > 0; left -= 8) r = (r << uint(min(left, 8))) % divisor;
  int top = max(findMSB(r), 0);
  int shift = min(23 - top, exponent - 1);
  r = r << uint(shift);
  if (r >= 0x800000u) r += uint(exponent - shift - 1) << 23;
  return uintBitsToFloat(r | (floatBitsToUint(a) & 0x80000000u));
}
#define px_remainder(a, b) vec4(px_fmod(a.x, b.x), px_fmod(a.y, b.y), px_fmod(a.z, b.z), px_fmod(a.w, b.w))
)";
constexpr std::string_view kOpenClRemainder = "#define px_remainder(a, b) fmod(a, b)\n";
// The floor of the exact quotient, and the remainder with the divisor's sign.
constexpr std::string_view kFloatDivision = R"(float4 vfloor_div(float4 a, float4 b) {
  float4 q = a / b;
  float4 r = px_remainder(a, b);
  float4 whole = vround((a - r) / b);
  float4 lower = vselect_lt(r * vsign(b), splat4(0.0f), whole - splat4(1.0f), whole);
  lower = vselect_lt(splat4(3.40282347e38f), vabs(b), q, lower);
  return vselect_lt(vabs(q), splat4(2097152.0f), lower, vfloor(q));
}
float4 vfloor_mod(float4 a, float4 b) {
  float4 r = px_remainder(a, b);
  return vselect_lt(r * vsign(b), splat4(0.0f), r + b, r);
}
)";

// Clamps a number for 16-bit storage: at most 65504 where float16 would overflow, at least the smallest half where it
// would underflow to 0. Both could make a NaN in the next operation. Infinities and NaN stay.
constexpr std::string_view kGlslHeld = R"(vec4 vheld(vec4 a) {
  vec4 size = abs(a);
  bvec4 has_digits = lessThan(floatBitsToUint(size) - uvec4(1u), uvec4(0x7f7fffffu));
  return mix(a, sign(a) * clamp(size, 5.9604645e-8, 65504.0), has_digits);
}
)";
constexpr std::string_view kOpenClHeld = R"(float4 vheld(float4 a) {
  float4 size = fabs(a);
  int4 has_digits = (size > 0.0f) & (size <= 3.402823466e+38f);
  return select(a, copysign(clamp(size, 5.9604645e-8f, 65504.0f), a), has_digits);
}
)";

// Rounds to 16-bit storage and back: the value that another kernel would load. But what 16 bits do not hold keeps its
// size, because a scale may follow.
constexpr std::string_view kGlslHalf = R"(vec4 vhalf(vec4 v) {
  vec4 a = vheld(v);
  a = vec4(unpackHalf2x16(packHalf2x16(a.xy)), unpackHalf2x16(packHalf2x16(a.zw)));
  return mix(a, v, greaterThan(abs(v), vec4(65504.0)));
}
)";
constexpr std::string_view kOpenClHalf = R"(float4 vhalf(float4 a) {
  ushort halves[4];
  vstore_half4(vheld(a), 0, (half*)halves);
  return select(vload_half4(0, (const half*)halves), a, fabs(a) > 65504.0f);
}
)";

// Views a local array as smaller elements, so that an index known only at run time can address them.
constexpr std::string_view kGlslElements = R"(#define FLOAT_OF(a, e) ((a)[(e) / 4][(e) % 4])
#define FLOAT4_OF(a, e) ((a)[(e) / 4][(e) % 4])
)";
constexpr std::string_view kOpenClElements = R"(#define FLOAT_OF(a, e) (((float*)(a))[e])
#define FLOAT4_OF(a, e) (((float4*)(a))[e])
)";

// Four texels in one vector.
constexpr std::string_view kGlslFourTexels = R"(#define make_float16(a, b, c, d) mat4(a, b, c, d)
#define vmul16(a, b) matrixCompMult(a, b)
#define veven16(a, b) mat4((a)[0], (a)[2], (b)[0], (b)[2])
mat4 vinside16(mat4 v, int column, int step, int width) {
  for (int p = 0; p < 4; ++p) {
    int x = column + p * step;
    if (x < 0 || x >= width) v[p] = vec4(0.0);
  }
  return v;
}
)";
constexpr std::string_view kOpenClFourTexels = R"(#define make_float16(a, b, c, d) ((float16)((a), (b), (c), (d)))
#define vmul16(a, b) ((a) * (b))
#define veven16(a, b) ((float16)((a).s0123, (a).s89ab, (b).s0123, (b).s89ab))
float16 vinside16(float16 v, int column, int step, int width) {
  uint16 p = (uint16)(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
  uint16 x = (uint16)((uint)column) + p * (uint16)((uint)step);
  return select((float16)(0.0f), v, x < (uint16)((uint)width));
}
)";

// Marks a loop that must stay a loop: unrolled it would cost registers and compile time.
constexpr std::string_view kGlslRolled = "#define ROLLED\n";
constexpr std::string_view kOpenClRolled = "#define ROLLED _Pragma(\"nounroll\")\n";

// For results that are rounded step by step: no multiplication is contracted into an addition.
constexpr std::string_view kGlslPrecise =
    R"(#if __VERSION__ >= 400 || defined(GL_EXT_gpu_shader5) || defined(GL_OES_gpu_shader5)
#define px_precise precise
#else
#define px_precise
#endif
)";

// a + (b - a) * w, rounded three times as on the host.
constexpr std::string_view kGlslBlend = R"(vec4 vblend(vec4 a, vec4 b, vec4 w) {
  px_precise vec4 part = (b - a) * w;
  px_precise vec4 sum = a + part;
  return sum;
}
)";
constexpr std::string_view kOpenClBlend = R"(float4 vblend(float4 a, float4 b, float4 w) {
#pragma OPENCL FP_CONTRACT OFF
  float4 part = (b - a) * w;
  return a + part;
}
)";

// Areas of intersection and union of two boxes (top, left, bottom, right), rounded as on the host; 0 and 1 if a box has
// no area. As one quotient each driver would round it differently.
constexpr std::string_view kGlslSharedArea = R"(vec2 vshared_area(vec4 a, vec4 b) {
  px_precise float area_a = (a.z - a.x) * (a.w - a.y);
  px_precise float area_b = (b.z - b.x) * (b.w - b.y);
  px_precise float both = max(min(a.z, b.z) - max(a.x, b.x), 0.0) * max(min(a.w, b.w) - max(a.y, b.y), 0.0);
  px_precise float sum = area_a + area_b;
  px_precise float either = sum - both;
  return area_a <= 0.0 || area_b <= 0.0 ? vec2(0.0, 1.0) : vec2(both, either);
}
)";
constexpr std::string_view kOpenClSharedArea = R"(float2 vshared_area(float4 a, float4 b) {
#pragma OPENCL FP_CONTRACT OFF
  float area_a = (a.z - a.x) * (a.w - a.y);
  float area_b = (b.z - b.x) * (b.w - b.y);
  float both = fmax(fmin(a.z, b.z) - fmax(a.x, b.x), 0.0f) * fmax(fmin(a.w, b.w) - fmax(a.y, b.y), 0.0f);
  float sum = area_a + area_b;
  float either = sum - both;
  return area_a <= 0.0f || area_b <= 0.0f ? (float2)(0.0f, 1.0f) : (float2)(both, either);
}
)";

// Functions that call each other, with all names that they define.
struct FunctionGroup {
  std::array<std::string_view, 4> names;
  std::string_view glsl, opencl;  // empty if the language has them built in
};

constexpr FunctionGroup kGroups[] = {
    {{"px_with_nan"}, kGlslNan, {}},
    {{"vnumber"}, kGlslNumber, kOpenClNumber},
    {{"vclamp"}, kGlslClamp, kOpenClClamp},
    {{"vmin"}, kGlslMin, kOpenClMin},
    {{"vmax"}, kGlslMax, kOpenClMax},
    {{"vsign"}, kGlslSign, kOpenClSign},
    {{"vexp"}, kGlslExp, {}},
    {{"vlog"}, kGlslLog, {}},
    {{"vtanh"}, kTanh, kTanh},
    {{"vquotient", "vfloor_quotient", "vfloor_remainder"}, kIntegerDivision, kIntegerDivision},
    {{"vpower"}, kIntegerPower, kIntegerPower},
    {{"px_fmod", "px_remainder"}, kGlslRemainder, kOpenClRemainder},
    {{"vfloor_div", "vfloor_mod"}, kFloatDivision, kFloatDivision},
    {{"verfc"}, kGlslErfc, {}},
    {{"verf"}, kErf, kErf},
    {{"vpow"}, kGlslPow, {}},
    {{"vatan2"}, kGlslAtan2, {}},
    {{"px_sin"}, kGlslSine, {}},
    {{"vsin"}, {}, kOpenClSine},
    {{"vcos"}, {}, kOpenClCosine},
    {{"px_precise"}, kGlslPrecise, {}},
    {{"vblend"}, kGlslBlend, kOpenClBlend},
    {{"vshared_area"}, kGlslSharedArea, kOpenClSharedArea},
    {{"vheld"}, kGlslHeld, kOpenClHeld},
    {{"vhalf"}, kGlslHalf, kOpenClHalf},
    {{"ROLLED"}, kGlslRolled, kOpenClRolled},
    {{"FLOAT_OF", "FLOAT4_OF"}, kGlslElements, kOpenClElements},
    {{"make_float16", "vmul16", "veven16", "vinside16"}, kGlslFourTexels, kOpenClFourTexels},
};

}  // namespace

std::vector<Helper> KernelFunctions(Dialect dialect) {
  std::vector<Helper> functions;
  for (const FunctionGroup& group : kGroups) {
    const std::string_view text = dialect == Dialect::kOpenCl ? group.opencl : group.glsl;
    if (!text.empty()) functions.push_back({group.names, text});
  }
  return functions;
}

}  // namespace hearth
