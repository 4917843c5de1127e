#include "core/emit/arithmetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace hearth {
namespace {

constexpr const char* kFourAtOnce = "sum += (a).x * (w0) + (a).y * (w1) + (a).z * (w2) + (a).w * (w3)";
constexpr const char* kOneByOne =
    "{ sum += (a).x * (w0); sum += (a).y * (w1); sum += (a).z * (w2); sum += (a).w * (w3); }";

struct HalfType {
  const char *name, *conversion;  // of `a`
};

// OpenGL ES has no type of 16 bits: it lets drivers calculate mediump numbers so. llvmpipe does (Mesa 22.3, 25.0).
HalfType HalfTypeOf(Dialect dialect) {
  switch (dialect) {
    case Dialect::kOpenCl: return {"half4", "convert_half4(a)"};
    case Dialect::kGles: return {"mediump vec4", "(a)"};
    case Dialect::kVulkan: return {"f16vec4", "f16vec4(a)"};
  }
  return {};
}

// Halves in a buffer are loaded as such, not by way of floats.
std::string RealLoadOf(const TensorArg& arg, Dialect dialect) {
  const bool is_memory = arg.storage == StorageType::kFloat16 && arg.path == AccessPath::kBuffer;
  if (!is_memory || dialect == Dialect::kGles) return fmt::format("to_real4({}_load(i))", arg.name);
  if (dialect == Dialect::kOpenCl) return fmt::format("vload4((i), px_{})", arg.name);
  return fmt::format("f16vec4(unpackFloat2x16(px_{0}[(i)].x), unpackFloat2x16(px_{0}[(i)].y))", arg.name);
}

// Sums that are only stored as integers are integers through the loop too, which costs lavapipe's conv_tile 1.35 times
// the time (22.3, LLVM 15). A last operation on floats, which no compiler can remove, avoids that: x * 1 is x.
const char* SumOf(const TensorArg& arg, const KernelSource& source) {
  const bool is_only_stored = arg.path == AccessPath::kBuffer64 && source.epilogue.empty();
  return is_only_stored ? "((v) * float(min(gl_NumWorkGroups.x, 1u)))" : "(v)";
}

bool HasHalfFactors(const KernelSource& source) {
  return NumberOf(source, kHalf) != 0;
}

}  // namespace

int NumberOf(const KernelSource& source, std::string_view define) {
  const auto found = std::ranges::find(source.defines, define, &Define::name);
  int number = 0;
  if (found != source.defines.end())
    std::from_chars(found->value.data(), found->value.data() + found->value.size(), number);
  return number;
}

int HalfProductsOf(const KernelSource& source) {
  return HasHalfFactors(source) ? 4 * NumberOf(source, kTurns) : 0;
}

int TurnsOf(int32_t slices) {
  return slices % 4 == 0 ? 4 : slices % 2 == 0 ? 2 : 1;
}

std::vector<MacroText> ArithmeticMacros(const KernelSource& source, Dialect dialect) {
  const bool is_half = HasHalfFactors(source);
  const HalfType half = HalfTypeOf(dialect);
  std::vector<MacroText> macros = {
      {"real4", is_half ? half.name : "float4"},
      {"to_real4(a)", is_half ? half.conversion : "(a)"},
      {"from_real4(a)", is_half ? "to_float4(a)" : "(a)"},
      {"make_real4(a, b, c, d)", "to_real4(make_float4(a, b, c, d))"},
      {"splat_real4(a)", "to_real4(splat4(a))"},
      {"add_products(sum, a, w0, w1, w2, w3)", is_half || NumberOf(source, kChained) != 0 ? kOneByOne : kFourAtOnce}};
  for (const TensorArg& arg : source.tensors) {
    if (arg.direction == ArgDirection::kWrite) {
      macros.push_back({arg.name + "_sum(v)", SumOf(arg, source)});
      continue;
    }
    macros.push_back({arg.name + "_real(i)", is_half ? RealLoadOf(arg, dialect) : arg.name + "_load(i)"});
  }
  return macros;
}

std::string_view ArithmeticExtension(const KernelSource& source, Dialect dialect) {
  if (!HasHalfFactors(source)) return {};
  if (dialect == Dialect::kOpenCl) return "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n";
  return "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n";
}

}  // namespace hearth
