#include "core/emit/helpers.h"

#include "core/base/contains.h"

namespace hearth {
namespace {

// One macro per line.
constexpr std::string_view kOpenClMacros = R"(#define GID(d) ((int)get_global_id(d))
#define LID(d) ((int)get_local_id(d))
#define WGID(d) ((int)get_group_id(d))
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define UNROLL _Pragma("unroll")
#define make_float4(a, b, c, d) ((float4)((a), (b), (c), (d)))
#define splat4(a) ((float4)(a))
#define splat16(a) ((float16)(a))
#define make_int4(a, b, c, d) ((int4)((a), (b), (c), (d)))
#define splat_int4(a) ((int4)(a))
#define to_float(a) ((float)(a))
#define to_int(a) ((int)(a))
#define to_float4(a) convert_float4(a)
#define to_int4(a) convert_int4(a)
#define to_int4_sat(a) select((int4)(2147483647), convert_int4_sat(a), (a) < 2147483648.0f)
#define bits_int4(a) as_int4(a)
#define bits_uint4(a) as_uint4(a)
#define LANE(t, p) ((p) == 0 ? (t).x : (p) == 1 ? (t).y : (p) == 2 ? (t).z : (t).w)
#define vabs(a) fabs(a)
#define vfloor(a) floor(a)
#define vceil(a) ceil(a)
#define vround(a) rint(a)
#define vround_away(a) round(a)
#define vround_small(a) convert_float4(convert_int4((a) + copysign((float4)(0.49999997f), (a))))
#define vexp(a) exp(a)
#define vlog(a) log(a)
#define vsqrt(a) sqrt(a)
#define vrsqrt(a) rsqrt(a)
#define verfc(a) erfc(a)
#define vpow(a, b) pow(a, b)
#define vatan2(a, b) atan2(a, b)
#define vfma(a, b, c) fma(a, b, c)
#define vsaturate(a, lo, hi) fmin(fmax(a, lo), hi)
#define vselect_lt(a, b, x, y) select((y), (x), (a) < (b))
#define vselect_eq(a, b, x, y) select((y), (x), (a) == (b))
#define vless(a, b) convert_float4(-((a) < (b)))
#define vless_equal(a, b) convert_float4(-((a) <= (b)))
#define vequal(a, b) convert_float4(-((a) == (b)))
)";

constexpr std::string_view kGlslMacros = R"(#define float2 vec2
#define float4 vec4
#define float16 mat4
#define int2 ivec2
#define int4 ivec4
#define uint2 uvec2
#define uint4 uvec4
#define GID(d) int(gl_GlobalInvocationID[d])
#define LID(d) int(gl_LocalInvocationID[d])
#define WGID(d) int(gl_WorkGroupID[d])
#define BARRIER { memoryBarrierShared(); barrier(); }
#define make_float4(a, b, c, d) vec4(a, b, c, d)
#define splat4(a) vec4(a)
#define splat16(a) mat4(vec4(a), vec4(a), vec4(a), vec4(a))
#define make_int4(a, b, c, d) ivec4(a, b, c, d)
#define splat_int4(a) ivec4(a)
#define to_float(a) float(a)
#define to_int(a) int(a)
#define to_float4(a) vec4(a)
#define to_int4(a) ivec4(a)
#define to_int4_sat(a) mix(ivec4(2147483647), ivec4(clamp(a, -2147483648.0, 2147483520.0)), lessThan(a, vec4(2147483648.0)))
#define bits_int4(a) ivec4(a)
#define bits_uint4(a) uvec4(a)
#define LANE(t, p) ((p) == 0 ? (t).x : (p) == 1 ? (t).y : (p) == 2 ? (t).z : (t).w)
#define vabs(a) abs(a)
#define vfloor(a) floor(a)
#define vceil(a) ceil(a)
#define vround(a) roundEven(a)
#define vround_away(a) trunc((a) + sign(a) * 0.49999997)
#define vround_small(a) vround_away(a)
#define vsqrt(a) sqrt(a)
#define vrsqrt(a) inversesqrt(a)
#define vsin(a) px_sin((a), 0)
#define vcos(a) px_sin((a), 1)
#define vfma(a, b, c) ((a) * (b) + (c))
#define vsaturate(a, lo, hi) min(max(a, lo), hi)
#define vselect_lt(a, b, x, y) mix((y), (x), lessThan((a), (b)))
#define vselect_eq(a, b, x, y) mix((y), (x), equal((a), (b)))
#define vless(a, b) vec4(lessThan((a), (b)))
#define vless_equal(a, b) vec4(lessThanEqual((a), (b)))
#define vequal(a, b) vec4(equal((a), (b)))
)";

constexpr std::array<bool, 256> kOfIdentifier = [] {
  std::array<bool, 256> is{};
  for (int c = 0; c < 128; ++c) is[c] = IsOfIdentifier(static_cast<char>(c));
  return is;
}();

size_t SkipWhile(bool of_identifier, std::string_view text, size_t at) {
  while (at < text.size() && kOfIdentifier[static_cast<unsigned char>(text[at])] == of_identifier) ++at;
  return at;
}

size_t BucketOf(std::string_view name) {
  return (static_cast<size_t>(name.front()) + 7 * static_cast<size_t>(name.back()) + 13 * name.size()) % 256;
}

std::vector<Helper> MacrosAndFunctions(std::string_view macros, Dialect dialect) {
  constexpr size_t kNameStart = std::string_view("#define ").size();
  std::vector<Helper> helpers;
  while (!macros.empty()) {
    const std::string_view line = macros.substr(0, macros.find('\n') + 1);
    helpers.push_back({{line.substr(kNameStart, line.find_first_of("( ", kNameStart) - kNameStart)}, line});
    macros.remove_prefix(line.size());
  }
  const std::vector<Helper> functions = KernelFunctions(dialect);
  helpers.insert(helpers.end(), functions.begin(), functions.end());
  return helpers;
}

}  // namespace

std::span<const Helper> HelpersOf(Dialect dialect) {
  static const std::vector<Helper> opencl = MacrosAndFunctions(kOpenClMacros, Dialect::kOpenCl);
  static const std::vector<Helper> glsl = MacrosAndFunctions(kGlslMacros, Dialect::kGles);
  return dialect == Dialect::kOpenCl ? opencl : glsl;
}

void UsedHelpers::Know(std::span<const Helper> helpers) {
  for (const Helper& helper : helpers) {
    for (std::string_view name : helper.names) {
      if (name.empty()) continue;
      int& first = first_[BucketOf(name)];
      known_.push_back({name, &helper, first});
      first = static_cast<int>(known_.size()) - 1;
    }
  }
}

void UsedHelpers::Read(std::string_view text) {
  for (size_t at = SkipWhile(false, text, 0); at < text.size();) {
    const size_t end = SkipWhile(true, text, at);
    Use(text.substr(at, end - at));
    at = SkipWhile(false, text, end);
  }
}

void UsedHelpers::Use(std::string_view name) {
  for (int k = first_[BucketOf(name)]; k >= 0; k = known_[k].next) {
    if (known_[k].name != name) continue;
    const Helper* helper = known_[k].helper;
    if (Has(*helper)) return;
    used_.push_back(helper);
    return Read(helper->text);
  }
}

bool UsedHelpers::Has(const Helper& helper) const {
  return Contains(used_, &helper);
}

std::string UsedHelpers::TextOf(std::span<const Helper> helpers) const {
  std::string text;
  for (const Helper& helper : helpers) {
    if (Has(helper)) text += helper.text;
  }
  return text;
}

}  // namespace hearth
