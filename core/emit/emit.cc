// The emitter turns one KernelSource into the text of one of three dialects. All differences between drivers are here:
// types, ids, accessors, argument declarations.

#define XXH_INLINE_ALL  // header-only use, as in fingerprint.cc
#include "core/emit/emit.h"

#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/emit/arithmetic.h"
#include "core/emit/dialect_texts.h"
#include "core/emit/helpers.h"
#include "core/emit/kernel_source.h"
#include "core/emit/unroll.h"

namespace hearth {
namespace {

constexpr std::string_view kGlesPrecision = R"(precision highp float;
precision highp int;
)";

// Emitted only with a texel argument: drivers without the extension don't know the type.
constexpr std::string_view kGlesTexelBuffers = R"(#extension GL_EXT_texture_buffer : enable
#extension GL_OES_texture_buffer : enable
precision highp samplerBuffer;
)";

// Emitted only if a value must be rounded as it is written. ES 3.2 has `precise` without the extension.
constexpr std::string_view kGlesPrecise = R"(#extension GL_EXT_gpu_shader5 : enable
#extension GL_OES_gpu_shader5 : enable
)";

// Emitted only for kernels whose invocations read each other's values.
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

// The macros for a kernel's arguments and defines. OpenCL kernels share a program, so each undefines its own.
class Macros {
 public:
  void Add(std::string_view signature, std::string_view text) {
    AddLine(signature.substr(0, signature.find('(')), fmt::format("#define {} {}\n", signature, text));
  }
  // Adds a line that declares `name` without being a macro.
  void AddLine(std::string_view name, std::string line) {
    names_.push_back(std::string(name));
    lines_.push_back(std::move(line));
  }

  // The views are valid until the next Add.
  std::vector<Helper> helpers() const {
    std::vector<Helper> helpers;
    for (size_t k = 0; k < names_.size(); ++k) helpers.push_back({{names_[k]}, lines_[k]});
    return helpers;
  }

 private:
  std::vector<std::string> names_, lines_;
};

std::string Undefines(std::span<const Helper> macros, const UsedHelpers& used) {
  std::string text;
  for (const Helper& macro : macros) {
    if (used.Has(macro)) text += fmt::format("#undef {}\n", macro.names[0]);
  }
  return text;
}

const TensorArg* FirstWritten(const KernelSource& source) {
  for (const TensorArg& arg : source.tensors) {
    if (arg.direction == ArgDirection::kWrite) return &arg;
  }
  return nullptr;
}

// Defines texel4 and texel1, for kernels whose text serves every element type.
void AddTexelTypes(const KernelSource& source, Macros& macros) {
  const TensorArg* written = FirstWritten(source);
  const bool integers = written != nullptr && written->storage == StorageType::kInt32;
  macros.Add("texel4", integers ? "int4" : "float4");
  macros.Add("texel1", integers ? "int" : "float");
  macros.Add("make_texel4(a, b, c, d)", integers ? "make_int4(a, b, c, d)" : "make_float4(a, b, c, d)");
  macros.Add("splat_texel4(a)", integers ? "splat_int4(a)" : "splat4(a)");
}

// Adds the macros that do not depend on the kernel's arguments.
void AddOwn(const KernelSource& source, Dialect dialect, Macros& macros) {
  for (const Define& define : source.defines) macros.Add(define.name, define.value);
  AddTexelTypes(source, macros);
  for (const MacroText& macro : ArithmeticMacros(source, dialect)) macros.Add(macro.signature, macro.text);
}

// The store macro evaluates its operands once, under reserved names, and then runs the epilogue on `i` and `v`.
std::string StoreMacro(const KernelSource& source, const TensorArg& arg, std::string_view write) {
  std::string epilogue;
  if (&arg == FirstWritten(source)) {
    for (const EpilogueStatement& statement : source.epilogue) epilogue += TextOf(statement) + " ";
  }
  const char* type = arg.storage == StorageType::kInt32 ? "int4" : "float4";
  return fmt::format("{{ int px_i = (px_at); {0} px_v = (px_value); {{ int i = px_i; {0} v = px_v; {1}{2} }} }}", type,
                     epilogue, write);
}

// Defines _load16, _span and _store16 by four texel accesses, for dialects without anything faster.
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

std::string SharedArrays(const KernelSource& source, std::string_view memory) {
  std::string text;
  for (const SharedArray& shared : source.shared) {
    text += fmt::format("{} {} {}[{}];\n", memory, shared.type, shared.name, shared.count);
  }
  return text;
}

Macros OpenClMacros(const KernelSource& source) {
  Macros macros;
  AddOwn(source, Dialect::kOpenCl, macros);
  for (const TensorArg& arg : source.tensors) {
    const std::string memory = "px_" + arg.name;
    const bool half = arg.storage == StorageType::kFloat16;
    const bool texel = ReadsTexels(arg);
    const AccessText access = OpenClAccess(arg.storage);
    if (arg.direction == ArgDirection::kRead) {
      macros.Add(arg.name + "_load(i)",
                 fmt::format(fmt::runtime(texel ? "read_imagef({}, (i))" : access.load), memory));
      const std::string base = fmt::format("({} + {}(base))", memory, half ? "4 * " : "");
      macros.Add(arg.name + "_load_from(base, i)",
                 texel ? fmt::format("{}_load((base) + (i))", arg.name) : fmt::format(fmt::runtime(access.load), base));
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

bool IsInPlace(const KernelSource& source) {
  return std::ranges::any_of(source.defines,
                             [](const Define& define) { return define.name == kInPlace && define.value != "0"; });
}

std::string OpenClParameters(const KernelSource& source) {
  const std::string alone = IsInPlace(source) ? "" : fmt::format("{} ", kAlone);
  std::vector<std::string> parameters;
  for (const TensorArg& arg : source.tensors) {
    const char* element = OpenClAccess(arg.storage).element;
    if (arg.direction == ArgDirection::kWrite) {
      parameters.push_back(fmt::format("__global {}* {}px_{}", element, alone, arg.name));
    } else if (arg.path == AccessPath::kTexelBuffer) {
      parameters.push_back(fmt::format("__read_only image1d_buffer_t px_{}", arg.name));
    } else {
      parameters.push_back(fmt::format("__global const {}* {}px_{}", element, alone, arg.name));
    }
  }
  for (const ScalarArg& scalar : source.scalars) {
    parameters.push_back(fmt::format("{} {}", scalar.type == ScalarType::kInt ? "int" : "float", scalar.name));
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

// Variables of main: llvmpipe and lavapipe (Mesa 22.3) load a uniform once for all work items only outside of loops.
Macros GlslScalars(const KernelSource& source, Dialect dialect) {
  Macros scalars;
  for (size_t k = 0; k < source.scalars.size(); ++k) {
    const ScalarArg& scalar = source.scalars[k];
    const bool is_int = scalar.type == ScalarType::kInt;
    const std::string uniform = dialect == Dialect::kVulkan ? "px_" + scalar.name
                                : is_int                    ? fmt::format("px_scalars[{}]", k)
                                                            : fmt::format("intBitsToFloat(px_scalars[{}])", k);
    scalars.AddLine(scalar.name, fmt::format("{} {} = {};\n", is_int ? "int" : "float", scalar.name, uniform));
  }
  return scalars;
}

Macros GlslMacros(const KernelSource& source, Dialect dialect) {
  Macros macros;
  AddOwn(source, dialect, macros);
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
      macros.Add(arg.name + "_load_from(base, i)", fmt::format("{}_load((base) + (i))", arg.name));
    }
    if (arg.wide) AddWideMacros(arg, dialect, false, macros);
  }
  return macros;
}

std::string GlslBeginning(const KernelSource& source, std::string_view functions, Dialect dialect) {
  std::string out = "#version 450\n";
  if (dialect == Dialect::kVulkan) {
    if (std::any_of(source.tensors.begin(), source.tensors.end(), IsInPairs)) out += kVulkanInt64;
    if (SharesValues(source)) out += kVulkanSubgroups;
    out += ArithmeticExtension(source, dialect);
    out += MatrixTypes(source);
  } else {
    const bool has_texels = std::any_of(source.tensors.begin(), source.tensors.end(), ReadsTexels);
    const bool is_precise = functions.find("px_precise") != std::string_view::npos;
    out = fmt::format("#version 310 es\n{}{}{}", is_precise ? kGlesPrecise : "", has_texels ? kGlesTexelBuffers : "",
                      kGlesPrecision);
  }
  return out + fmt::format("layout(local_size_x = {}, local_size_y = {}, local_size_z = {}) in;\n",
                           source.local_size[0], source.local_size[1], source.local_size[2]);
}

std::string EmitGlsl(const KernelSource& source, Dialect dialect) {
  const Macros own = GlslMacros(source, dialect), own_scalars = GlslScalars(source, dialect);
  const std::vector<Helper> macros = own.helpers(), scalars = own_scalars.helpers();
  const std::span<const Helper> library = HelpersOf(dialect);
  Result<std::string> body = ExpandUnrolledLoops(source.body, source.defines);
  const std::string shared = SharedArrays(source, "shared");
  UsedHelpers used;
  for (const std::span<const Helper> helpers : {library, std::span(scalars), std::span(macros)}) used.Know(helpers);
  used.Read(body.ok() ? *body : source.body);
  used.Read(shared);

  const std::string functions = used.TextOf(library);
  std::string out = GlslBeginning(source, functions, dialect) + functions;
  DeclareGlslArguments(source, dialect, out);
  out += used.TextOf(macros) + shared;  // the order matters: a shared array may have type texel4
  // Tests emit each of our kernels, so this one comes from a foreign plan. The compiler will refuse it.
  if (!body.ok()) return out + "#error its loops can't be unrolled\n";
  return out + "void main() {\n" + used.TextOf(scalars) + *body + "}\n";
}

struct OpenClText {
  std::string name, text;
};

// The text of the kernel alone; adds the helpers that it needs to `used`.
OpenClText OpenClKernel(const KernelSource& source, UsedHelpers& used) {
  const Macros own = OpenClMacros(source);
  const std::vector<Helper> macros = own.helpers();
  UsedHelpers own_used;
  own_used.Know(macros);
  const std::string arrays = SharedArrays(source, "__local");
  own_used.Read(arrays);
  own_used.Read(source.body);
  const std::string definitions = own_used.TextOf(macros);
  const std::string start = fmt::format("{}{}__kernel __attribute__((reqd_work_group_size({}, {}, {}))) void ",
                                        ArithmeticExtension(source, Dialect::kOpenCl), definitions,
                                        source.local_size[0], source.local_size[1], source.local_size[2]);
  const std::string rest =
      fmt::format("({}) {{\n{}{}}}\n{}", OpenClParameters(source), arrays, source.body, Undefines(macros, own_used));
  for (const std::string_view text : std::initializer_list<std::string_view>{definitions, arrays, source.body}) {
    used.Read(text);
  }
  const std::string all = start + rest;
  const auto hash = static_cast<uint32_t>(XXH3_64bits(all.data(), all.size()));
  const std::string name = fmt::format("hearth_{}_{:08x}", source.name, hash);
  return {name, start + name + rest};
}

}  // namespace

std::string EntryPoint(const KernelSource& source) {
  UsedHelpers used;
  return OpenClKernel(source, used).name;
}

std::string EmitOpenClProgram(std::span<const KernelSource> sources) {
  UsedHelpers used;
  used.Know(HelpersOf(Dialect::kOpenCl));
  std::set<std::string> names;
  std::string kernels;
  for (const KernelSource& source : sources) {
    const OpenClText kernel = OpenClKernel(source, used);
    if (names.insert(kernel.name).second) kernels += kernel.text;
  }
  // The backend defines the macro as restrict or as nothing.
  const std::string alone = fmt::format("#ifndef {0}\n#define {0}\n#endif\n", kAlone);
  return alone + used.TextOf(HelpersOf(Dialect::kOpenCl)) + kernels;
}

std::string Emit(const KernelSource& source, Dialect dialect) {
  if (dialect == Dialect::kOpenCl) return EmitOpenClProgram({&source, 1});
  return EmitGlsl(source, dialect);
}

}  // namespace hearth
