// The emitter: one KernelSource, three driver texts. What differs between drivers is here and
// nowhere else: types, ids, accessors, argument declarations.

#define XXH_INLINE_ALL  // header-only use, as in fingerprint.cc
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/fingerprint.h"
#include "core/emit/emit_access.h"
#include "core/emit/kernel_functions.h"
#include "core/emit/kernel_source.h"
#include "core/emit/unroll.h"

namespace hearth {
namespace {

constexpr std::string_view kOpenClPrelude = R"(#define GID(d) ((int)get_global_id(d))
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
#define to_int4_sat(a) convert_int4_sat(a)
#define bits_int4(a) as_int4(a)
#define bits_uint4(a) as_uint4(a)
#define LANE(t, p) ((p) == 0 ? (t).x : (p) == 1 ? (t).y : (p) == 2 ? (t).z : (t).w)
#define vabs(a) fabs(a)
#define vfloor(a) floor(a)
#define vceil(a) ceil(a)
#define vround(a) rint(a)
#define vround_away(a) round(a)
#define vround_small(a) convert_float4(convert_int4((a) + copysign((float4)(0.49999997f), (a))))
#define vsign(a) sign(a)
#define vexp(a) exp(a)
#define vlog(a) log(a)
#define vsqrt(a) sqrt(a)
#define vrsqrt(a) rsqrt(a)
#define vsin(a) sin(a)
#define vcos(a) cos(a)
#define vtanh(a) tanh(a)
#define verfc(a) erfc(a)
#define vpow(a, b) pow(a, b)
#define vatan2(a, b) atan2(a, b)
#define vfma(a, b, c) fma(a, b, c)
#define vmin(a, b) fmin(a, b)
#define vmax(a, b) fmax(a, b)
#define vclamp(a, lo, hi) fmin(fmax(a, lo), hi)
#define vselect_lt(a, b, x, y) select((y), (x), (a) < (b))
#define vselect_eq(a, b, x, y) select((y), (x), (a) == (b))
#define vless(a, b) convert_float4(-((a) < (b)))
#define vless_equal(a, b) convert_float4(-((a) <= (b)))
#define vequal(a, b) convert_float4(-((a) == (b)))
)";

constexpr std::string_view kGlslPrelude = R"(#define float2 vec2
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
#define to_int4_sat(a) mix(ivec4(clamp(a, -2147483648.0, 2147483520.0)), ivec4(2147483647), greaterThanEqual(a, vec4(2147483648.0)))
#define bits_int4(a) ivec4(a)
#define bits_uint4(a) uvec4(a)
#define LANE(t, p) ((p) == 0 ? (t).x : (p) == 1 ? (t).y : (p) == 2 ? (t).z : (t).w)
#define vabs(a) abs(a)
#define vfloor(a) floor(a)
#define vceil(a) ceil(a)
#define vround(a) roundEven(a)
#define vround_away(a) (sign(a) * floor(abs(a) + 0.5))
#define vround_small(a) trunc((a) + sign(a) * 0.49999997)
#define vsign(a) sign(a)
#define vexp(a) exp(a)
#define vlog(a) log(a)
#define vsqrt(a) sqrt(a)
#define vrsqrt(a) inversesqrt(a)
#define vsin(a) px_sin((a), 0)
#define vcos(a) px_sin((a), 1)
#define vtanh(a) tanh(clamp(a, -15.0, 15.0))
#define vfma(a, b, c) ((a) * (b) + (c))
#define vmin(a, b) min(a, b)
#define vmax(a, b) max(a, b)
#define vclamp(a, lo, hi) min(max(a, lo), hi)
#define vselect_lt(a, b, x, y) mix((y), (x), lessThan((a), (b)))
#define vselect_eq(a, b, x, y) mix((y), (x), equal((a), (b)))
#define vless(a, b) vec4(lessThan((a), (b)))
#define vless_equal(a, b) vec4(lessThanEqual((a), (b)))
#define vequal(a, b) vec4(equal((a), (b)))
)";

constexpr std::string_view kGlesPrecision = R"(precision highp float;
precision highp int;
)";

// Only with a texel argument: drivers without the extension don't know the type.
constexpr std::string_view kGlesTexelBuffers = R"(#extension GL_EXT_texture_buffer : enable
#extension GL_OES_texture_buffer : enable
precision highp samplerBuffer;
)";

// Only where a kernel is told how many invocations may read each other's values.
constexpr std::string_view kVulkanSubgroups = R"(#extension GL_KHR_shader_subgroup_basic : enable
#extension GL_KHR_shader_subgroup_shuffle : enable
#define SUBGROUP_LANE int(gl_SubgroupInvocationID)
#define from_lane(v, p) subgroupShuffle((v), uint(p))
)";

constexpr std::string_view kVulkanInt64 = "#extension GL_ARB_gpu_shader_int64 : enable\n";

bool SharesValues(const KernelSource& source) {
  return std::any_of(source.defines.begin(), source.defines.end(),
                     [](const Define& define) { return define.name == "SUBGROUP" && define.value != "1"; });
}

bool IsInPairs(const TensorArg& arg) {
  return arg.path == AccessPath::kBuffer64;
}

bool ReadsTexels(const TensorArg& arg) {
  return arg.direction == ArgDirection::kRead && arg.path == AccessPath::kTexelBuffer;
}

// #define for one macro, remembered so that OpenCL kernels sharing a program can #undef it.
class Macros {
 public:
  void Add(std::string_view signature, std::string_view text) {
    out_ += fmt::format("#define {} {}\n", signature, text);
    undefs_ += fmt::format("#undef {}\n", signature.substr(0, signature.find('(')));
  }
  const std::string& text() const { return out_; }
  const std::string& undefs() const { return undefs_; }

 private:
  std::string out_, undefs_;
};

const TensorArg* FirstWritten(const KernelSource& source) {
  for (const TensorArg& arg : source.tensors) {
    if (arg.direction == ArgDirection::kWrite) return &arg;
  }
  return nullptr;
}

// texel4 and texel1: what a kernel moves whose text serves every element type.
void AddTexelTypes(const KernelSource& source, Macros& macros) {
  if (!Uses(source, "texel4") && !Uses(source, "texel1")) return;
  const TensorArg* written = FirstWritten(source);
  const bool integers = written != nullptr && written->storage == StorageType::kInt32;
  macros.Add("texel4", integers ? "int4" : "float4");
  macros.Add("texel1", integers ? "int" : "float");
  macros.Add("make_texel4(a, b, c, d)", integers ? "make_int4(a, b, c, d)" : "make_float4(a, b, c, d)");
  macros.Add("splat_texel4(a)", integers ? "splat_int4(a)" : "splat4(a)");
}

// The store macro: evaluates its operands once under reserved names, then hands the epilogue `i` and `v`.
std::string StoreMacro(const KernelSource& source, const TensorArg& arg, std::string_view write) {
  std::string epilogue;
  if (&arg == FirstWritten(source)) {
    for (const EpilogueStatement& statement : source.epilogue) epilogue += TextOf(statement) + " ";
  }
  const char* type = arg.storage == StorageType::kInt32 ? "int4" : "float4";
  return fmt::format("{{ int px_i = (px_at); {0} px_v = (px_value); {{ int i = px_i; {0} v = px_v; {1}{2} }} }}", type,
                     epilogue, write);
}

// _load16, _span and _store16 over four texels, where the dialect has nothing better.
void AddWideMacros(const TensorArg& arg, Dialect dialect, bool native_load16, Macros& macros) {
  const std::string& name = arg.name;
  if (arg.direction == ArgDirection::kRead) {
    if (native_load16) return;
    const char* type = dialect == Dialect::kOpenCl ? "(float16)" : "mat4";
    macros.Add(name + "_span(i)",
               fmt::format("({1}({0}_load(i), {0}_load((i) + 1), {0}_load((i) + 2), {0}_load((i) + 3)))", name, type));
    macros.Add(name + "_load16(i)", fmt::format("{}_span((i) * 4)", name));
    return;
  }
  const bool opencl = dialect == Dialect::kOpenCl;
  const std::array<const char*, 4> parts =
      opencl ? std::array{"px_wide.s0123", "px_wide.s4567", "px_wide.s89ab", "px_wide.scdef"}
             : std::array{"px_wide[0]", "px_wide[1]", "px_wide[2]", "px_wide[3]"};
  std::string text =
      "{ int px_first = (px_start); int px_step = (px_stride); int px_count = (px_texels); float16 px_wide = "
      "(px_value16); ";
  for (int k = 0; k < 4; ++k) {
    text += fmt::format("if (px_count > {0}) {1}_store(px_first + {0} * px_step, {2}) ", k, name, parts[k]);
  }
  macros.Add(name + "_store16(px_start, px_stride, px_texels, px_value16)", text + "}");
}

Macros OpenClMacros(const KernelSource& source) {
  Macros macros;
  for (const Define& define : source.defines) macros.Add(define.name, define.value);
  for (const ScalarArg& scalar : source.scalars) macros.Add(scalar.name, "px_" + scalar.name);
  for (const SharedArray& shared : source.shared) macros.Add(shared.name, "px_" + shared.name);
  AddTexelTypes(source, macros);
  for (const TensorArg& arg : source.tensors) {
    const std::string memory = "px_" + arg.name;
    const bool half = arg.storage == StorageType::kFloat16;
    const bool texel = ReadsTexels(arg);
    const AccessText access = OpenClAccess(arg.storage);
    if (arg.direction == ArgDirection::kRead) {
      macros.Add(arg.name + "_load(i)",
                 fmt::format(fmt::runtime(texel ? "read_imagef({}, (i))" : access.load), memory));
      if (arg.wide && !texel) {
        macros.Add(arg.name + "_load16(i)", half ? fmt::format("vload_half16((i), {})", memory)
                                                 : fmt::format("vload16((i), (__global const float*){})", memory));
        macros.Add(arg.name + "_span(i)", half ? fmt::format("vload_half16(0, {} + 4 * (i))", memory)
                                               : fmt::format("vload16(0, (__global const float*)({} + (i)))", memory));
      }
    } else {
      macros.Add(arg.name + "_store(px_at, px_value)",
                 StoreMacro(source, arg, fmt::format(fmt::runtime(access.store), memory)));
    }
    if (arg.wide) AddWideMacros(arg, Dialect::kOpenCl, !texel, macros);
  }
  return macros;
}

std::string OpenClParameters(const KernelSource& source) {
  std::vector<std::string> parameters;
  for (const TensorArg& arg : source.tensors) {
    const char* element = OpenClAccess(arg.storage).element;
    if (arg.direction == ArgDirection::kWrite) {
      parameters.push_back(fmt::format("__global {}* px_{}", element, arg.name));
    } else if (arg.path == AccessPath::kTexelBuffer) {
      parameters.push_back(fmt::format("__read_only image1d_buffer_t px_{}", arg.name));
    } else {
      parameters.push_back(fmt::format("__global const {}* px_{}", element, arg.name));
    }
  }
  for (const ScalarArg& scalar : source.scalars) {
    parameters.push_back(fmt::format("{} px_{}", scalar.type == ScalarType::kInt ? "int" : "float", scalar.name));
  }
  return fmt::format("{}", fmt::join(parameters, ", "));
}

void DeclareGlslTensor(const TensorArg& arg, int binding, Dialect dialect, std::string& out) {
  const char* set = dialect == Dialect::kVulkan ? "set = 0, " : "";
  if (IsSampled(arg)) {
    const char* type = arg.path == AccessPath::kTexture ? "highp sampler2D" : "samplerBuffer";
    out += fmt::format("layout({}binding = {}) uniform {} px_{};\n", set, binding, type, arg.name);
    return;
  }
  if (IsImage(arg)) {
    out += fmt::format("layout({}{}, binding = {}) writeonly uniform highp image2D px_{};\n", set,
                       GlslImageFormat(arg.storage), binding, arg.name);
    return;
  }
  out += fmt::format("layout({}std430, binding = {}) {} buffer px_block_{} {{ {} px_{}[]; }};\n", set, binding,
                     arg.direction == ArgDirection::kRead ? "readonly" : "writeonly", arg.name, GlslAccess(arg).element,
                     arg.name);
}

void DeclareGlslArguments(const KernelSource& source, Dialect dialect, std::string& out) {
  int buffers = 0, samplers = 0, images = 0, position = 0;
  for (const TensorArg& arg : source.tensors) {
    const int own_count = IsSampled(arg) ? samplers++ : IsImage(arg) ? images++ : buffers++;
    DeclareGlslTensor(arg, dialect == Dialect::kVulkan ? position : own_count, dialect, out);
    ++position;
  }
  if (source.scalars.empty()) return;
  if (dialect == Dialect::kGles) {
    out += fmt::format("layout(location = 0) uniform int px_scalars[{}];\n", source.scalars.size());
    return;
  }
  out += "layout(push_constant) uniform px_push {\n";
  for (const ScalarArg& scalar : source.scalars) {
    out += fmt::format("  {} px_{};\n", scalar.type == ScalarType::kInt ? "int" : "float", scalar.name);
  }
  out += "};\n";
}

// As variables of main: llvmpipe and lavapipe (Mesa 22.3) load a uniform once for all lanes only outside of loops.
std::string GlslScalars(const KernelSource& source, Dialect dialect) {
  std::string out;
  for (size_t k = 0; k < source.scalars.size(); ++k) {
    const ScalarArg& scalar = source.scalars[k];
    const bool is_int = scalar.type == ScalarType::kInt;
    const std::string uniform = dialect == Dialect::kVulkan ? "px_" + scalar.name
                                : is_int                    ? fmt::format("px_scalars[{}]", k)
                                                            : fmt::format("intBitsToFloat(px_scalars[{}])", k);
    out += fmt::format("{} {} = {};\n", is_int ? "int" : "float", scalar.name, uniform);
  }
  return out;
}

Macros GlslMacros(const KernelSource& source, Dialect dialect) {
  Macros macros;
  for (const Define& define : source.defines) macros.Add(define.name, define.value);
  for (const SharedArray& shared : source.shared) macros.Add(shared.name, "px_" + shared.name);
  AddTexelTypes(source, macros);
  for (const TensorArg& arg : source.tensors) {
    const std::string memory = "px_" + arg.name;
    const AccessText access = GlslAccess(arg);
    if (arg.direction == ArgDirection::kWrite) {
      macros.Add(
          arg.name + "_store(px_at, px_value)",
          StoreMacro(source, arg, fmt::format(fmt::runtime(IsImage(arg) ? kTextureStore : access.store), memory)));
    } else {
      const char* load = arg.path == AccessPath::kTexture       ? kTextureLoad
                         : arg.path == AccessPath::kTexelBuffer ? "texelFetch({}, (i))"
                                                                : access.load;
      macros.Add(arg.name + "_load(i)", fmt::format(fmt::runtime(load), memory));
    }
    if (arg.wide) AddWideMacros(arg, dialect, false, macros);
  }
  return macros;
}

std::string EmitGlsl(const KernelSource& source, Dialect dialect) {
  std::string out = "#version 450\n";
  if (dialect == Dialect::kVulkan) {
    if (std::any_of(source.tensors.begin(), source.tensors.end(), IsInPairs)) out += kVulkanInt64;
    if (SharesValues(source)) out += kVulkanSubgroups;
  } else {
    const bool has_texels = std::any_of(source.tensors.begin(), source.tensors.end(), ReadsTexels);
    out = "#version 310 es\n" + std::string(has_texels ? kGlesTexelBuffers : "") + std::string(kGlesPrecision);
  }
  out += fmt::format("layout(local_size_x = {}, local_size_y = {}, local_size_z = {}) in;\n", source.local_size[0],
                     source.local_size[1], source.local_size[2]);
  out += kGlslPrelude;
  out += FunctionsUsedBy(source, dialect);
  DeclareGlslArguments(source, dialect, out);
  out += GlslMacros(source, dialect).text();  // first: a shared array may be of texel4
  for (const SharedArray& shared : source.shared) {
    out += fmt::format("shared {} px_{}[{}];\n", shared.type, shared.name, shared.count);
  }
  Result<std::string> body = ExpandUnrolledLoops(source.body, source.defines);
  // Tests emit each of our kernels: this is one of a plan from elsewhere, and the compiler says no.
  if (!body.ok()) return out + "#error its loops can't be unrolled\n";
  return out + "void main() {\n" + GlslScalars(source, dialect) + *body + "}\n";
}

}  // namespace

std::string EntryPoint(const KernelSource& source) {
  // Over everything that reaches the text, so that two variants of a kernel can share a program.
  std::string all = EmitGlsl(source, Dialect::kVulkan);
  return fmt::format("hearth_{}_{:08x}", source.name, static_cast<uint32_t>(XXH3_64bits(all.data(), all.size())));
}

std::string EmitOpenClPrelude() {
  return std::string(kOpenClPrelude);
}

std::string EmitOpenClKernel(const KernelSource& source) {
  const Macros macros = OpenClMacros(source);
  std::string out = FunctionsUsedBy(source, Dialect::kOpenCl) + macros.text();
  out +=
      fmt::format("__kernel __attribute__((reqd_work_group_size({}, {}, {}))) void {}({}) {{\n", source.local_size[0],
                  source.local_size[1], source.local_size[2], EntryPoint(source), OpenClParameters(source));
  for (const SharedArray& shared : source.shared) {
    out += fmt::format("__local {} px_{}[{}];\n", shared.type, shared.name, shared.count);
  }
  return out + source.body + "}\n" + macros.undefs();
}

std::string Emit(const KernelSource& source, Dialect dialect) {
  if (dialect == Dialect::kOpenCl) return EmitOpenClPrelude() + EmitOpenClKernel(source);
  return EmitGlsl(source, dialect);
}

}  // namespace hearth
