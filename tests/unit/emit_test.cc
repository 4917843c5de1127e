// What emitted texts promise to backends and lowerings; their wording is kept by tests/golden.

#include "core/emit/emit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/emit/kernel_library.h"
#include "core/emit/kernel_source.h"
#include "core/graph/op.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr Dialect kDialects[] = {Dialect::kOpenCl, Dialect::kGles, Dialect::kVulkan};

KernelSource Kernel(std::string_view text) {
  Result<KernelSource> source = ParseKernel("test", text);
  EXPECT_TRUE(source.ok()) << source.status().message();
  return source.ok() ? *source : KernelSource{};
}

KernelSource CopyKernel() {
  return Kernel("@read x\n@write y\n@int COUNT\n@float SCALE\n@local 8 1 1\n---\n  y_store(0, x_load(0) * SCALE)\n");
}

// The lines that declare or define `name` in a text.
std::string LinesWith(const std::string& text, const std::string& name) {
  std::string found;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (line.find(name) != std::string::npos) found += line + "\n";
    at = end + 1;
  }
  return found;
}

TEST(Emit, EqualSourcesGiveEqualTexts) {
  for (Dialect dialect : kDialects) EXPECT_EQ(Emit(CopyKernel(), dialect), Emit(CopyKernel(), dialect));
}

TEST(Emit, WritesTheLocalSizeInEveryDialect) {
  EXPECT_THAT(Emit(CopyKernel(), Dialect::kOpenCl), HasSubstr("reqd_work_group_size(8, 1, 1)"));
  for (Dialect dialect : {Dialect::kGles, Dialect::kVulkan}) {
    EXPECT_THAT(Emit(CopyKernel(), dialect), HasSubstr("local_size_x = 8, local_size_y = 1, local_size_z = 1"));
  }
}

// PoCL 3.1 keeps a base in a pointer, and makes code 1.6 times as slow of an index that contains it.
TEST(Emit, ABaseIsAPointerInOpenClAndPartOfTheIndexInGlsl) {
  KernelSource source = Kernel("@read x\n@write y\n@local 8 1 1\n---\n  y_store(0, x_load_from(GID(2), GID(0)))\n");
  EXPECT_THAT(Emit(source, Dialect::kOpenCl), HasSubstr("#define x_load_from(base, i) (px_x + (base))[(i)]\n"));
  for (Dialect dialect : {Dialect::kGles, Dialect::kVulkan}) {
    EXPECT_THAT(Emit(source, dialect), HasSubstr("#define x_load_from(base, i) x_load((base) + (i))\n"));
  }
  source.tensors[0].storage = StorageType::kFloat16;
  EXPECT_THAT(Emit(source, Dialect::kOpenCl), HasSubstr("vload_half4((i), (px_x + 4 * (base)))"));
}

TEST(Emit, PrefixesTensorsSoThatALocalOfABodyCapturesNoArgument) {
  // A body that calls its locals like the arguments: each use of x_load must still reach the argument's memory.
  const KernelSource source =
      Kernel("@read x\n@write y\n@local 8 1 1\n---\n  float4 x = x_load(0);\n  y_store(0, x)\n");
  EXPECT_THAT(Emit(source, Dialect::kOpenCl), HasSubstr("float4* px_alone px_x"));
  for (Dialect dialect : {Dialect::kGles, Dialect::kVulkan}) {
    EXPECT_THAT(Emit(source, dialect), HasSubstr("vec4 px_x[]"));
  }
}

TEST(Emit, DefinesWhatABodyUsesAndNothingElse) {
  const KernelSource source = Kernel(
      "@read x wide\n@write y\n@int COUNT UNUSED\n@define ROWS 3\n@define LINES 4\n@shared texel4 part 8\n---\n"
      "  part[0] = x_load(ROWS);\n  y_store(COUNT, vabs(part[0]) + splat4(0.0f))\n");
  for (Dialect dialect : kDialects) {
    const std::string text = Emit(source, dialect);
    for (const char* macro : {"ROWS", "texel4", "splat4", "vabs", "x_load", "y_store"}) {
      EXPECT_THAT(text, HasSubstr(std::string("#define ") + macro));
    }
    for (const char* macro : {"LINES", "GID", "vceil", "make_float4", "x_load16", "make_texel4"}) {
      EXPECT_THAT(text, Not(HasSubstr(std::string("#define ") + macro)));
    }
    EXPECT_EQ(text.find("#define float4 vec4") != std::string::npos, dialect != Dialect::kOpenCl);
    EXPECT_THAT(text, Not(HasSubstr("int UNUSED =")));
  }
}

TEST(Emit, DefinesAHelperOfSeveralOpenClKernelsOnce) {
  const KernelSource sources[] = {Kernel("@read x\n@write y\n---\n  y_store(0, vpower(x_load(0), x_load(1)))\n"),
                                  Kernel("@read x\n@write y\n---\n  y_store(1, vpower(x_load(0), x_load(1)))\n"),
                                  Kernel("@read x\n@write y\n---\n  y_store(1, vpower(x_load(0), x_load(1)))\n")};
  const std::string text = EmitOpenClProgram(sources);
  EXPECT_EQ(LinesWith(text, "int4 vpower(int4 a, int4 b) {"), "int4 vpower(int4 a, int4 b) {\n");
  EXPECT_EQ(LinesWith(text, "#define splat_int4").size(),
            LinesWith(Emit(sources[0], Dialect::kOpenCl), "#define splat_int4").size());
  EXPECT_EQ(std::ranges::count(LinesWith(text, "__kernel"), '\n'), 2) << text;
}

TEST(Emit, StoreEvaluatesItsOperandsBeforeTheEpilogueNamesThem) {
  // `i` and `v` of a body must not be captured by the `i` and `v` that an epilogue sees.
  KernelSource source = Kernel("@read x\n@write y\n@local 8 1 1\n---\n  int v = 3;\n  y_store(v + 1, x_load(v))\n");
  source.epilogue = {{.form = StatementForm::kAdd, .arguments = {"x"}}};
  for (Dialect dialect : kDialects) {
    const std::string store = LinesWith(Emit(source, dialect), "#define y_store");
    EXPECT_LT(store.find("int px_i = (px_at)"), store.find("int i = px_i")) << store;
    EXPECT_LT(store.find("float4 px_v = (px_value)"), store.find("float4 v = px_v")) << store;
    EXPECT_LT(store.find("v = v + x_load(i);"), store.find("[i] = v;")) << store;
  }
}

TEST(Emit, NumbersBindingsPerKindForGlesAndByPositionForVulkan) {
  KernelSource source = Kernel("@read x\n@read w\n@write y\n---\n  y_store(0, x_load(0) + w_load(0))\n");
  source.tensors[0].path = AccessPath::kTexelBuffer;
  const std::string gles = Emit(source, Dialect::kGles);
  EXPECT_THAT(LinesWith(gles, "samplerBuffer px_x"), HasSubstr("binding = 0"));
  EXPECT_THAT(LinesWith(gles, "px_block_w"), HasSubstr("binding = 0"));
  EXPECT_THAT(LinesWith(gles, "px_block_y"), HasSubstr("binding = 1"));
  const std::string vulkan = Emit(source, Dialect::kVulkan);
  EXPECT_THAT(LinesWith(vulkan, "samplerBuffer px_x"), HasSubstr("set = 0, binding = 0"));
  EXPECT_THAT(LinesWith(vulkan, "px_block_w"), HasSubstr("binding = 1"));
  EXPECT_THAT(LinesWith(vulkan, "px_block_y"), HasSubstr("binding = 2"));
}

TEST(Emit, PassesFloatScalarsOfGlesAsTheirBits) {
  const std::string gles = Emit(CopyKernel(), Dialect::kGles);
  EXPECT_THAT(gles, HasSubstr("uniform int px_scalars[2];"));
  EXPECT_THAT(gles, HasSubstr("float SCALE = intBitsToFloat(px_scalars[1]);"));
  EXPECT_THAT(Emit(CopyKernel(), Dialect::kVulkan), HasSubstr("float px_SCALE;"));
}

TEST(Emit, AsksForSubgroupsOnlyOnVulkanAndWhereMoreThanOneInvocationSharesValues) {
  KernelSource source = Kernel("@read x\n@write y\n@define SUBGROUP 1\n---\n  y_store(0, x_load(0))\n");
  EXPECT_THAT(Emit(source, Dialect::kVulkan), Not(HasSubstr("GL_KHR_shader_subgroup")));
  EXPECT_TRUE(SetDefine(source, "SUBGROUP", "8").ok());
  EXPECT_THAT(Emit(source, Dialect::kVulkan), HasSubstr("#extension GL_KHR_shader_subgroup_shuffle : enable"));
  EXPECT_THAT(Emit(source, Dialect::kGles), Not(HasSubstr("GL_KHR_shader_subgroup")));
}

TEST(Emit, WritesTexelsAsTwoNumbersOf64BitsWhereThePathSaysSo) {
  KernelSource source = CopyKernel();
  EXPECT_THAT(Emit(source, Dialect::kVulkan), Not(HasSubstr("int64")));
  source.tensors[1].path = AccessPath::kBuffer64;
  const std::string vulkan = Emit(source, Dialect::kVulkan);
  EXPECT_THAT(vulkan, HasSubstr("#extension GL_ARB_gpu_shader_int64 : enable"));
  EXPECT_THAT(LinesWith(vulkan, "px_block_y"), HasSubstr("u64vec2 px_y[]"));
  EXPECT_THAT(LinesWith(vulkan, "px_block_x"), HasSubstr("vec4 px_x[]"));
}

TEST(Emit, UnrollsForGlslAndLeavesItToTheCompilerForOpenCl) {
  const KernelSource source = Kernel(
      "@read x\n@write y\n@define ROWS 3\n---\n  UNROLL for (int i = 0; i < ROWS; ++i) { y_store(i, x_load(i)) }\n");
  EXPECT_THAT(Emit(source, Dialect::kOpenCl), HasSubstr("UNROLL for (int i = 0; i < ROWS; ++i)"));
  for (Dialect dialect : {Dialect::kGles, Dialect::kVulkan}) {
    EXPECT_THAT(Emit(source, dialect), Not(HasSubstr("UNROLL")));
    EXPECT_THAT(Emit(source, dialect), HasSubstr("const int i = 2;"));
  }
}

TEST(Emit, UndefinesEveryMacroOfAnOpenClKernel) {
  KernelSource source = Kernel(
      "@read x wide\n@write y wide\n@int M\n@define ROWS 3\n---\n  y_store16(0, M, ROWS, "
      "x_load16(0))\n");
  const std::string text = Emit(source, Dialect::kOpenCl);
  for (const char* macro : {"ROWS", "x_load16", "y_store", "y_store16"}) {
    EXPECT_THAT(text, HasSubstr(std::string("#define ") + macro));
    EXPECT_THAT(text, HasSubstr(std::string("#undef ") + macro + "\n"));
  }
}

TEST(Emit, DefinesErfcForGlslOnlyWhereItIsUsed) {
  KernelSource source = CopyKernel();
  EXPECT_THAT(Emit(source, Dialect::kVulkan), Not(HasSubstr("vec4 verfc")));
  source.epilogue = {{StatementForm::kUnary, ElementFunction::Of(UnaryKind::kGelu)}};
  EXPECT_THAT(Emit(source, Dialect::kVulkan), HasSubstr("vec4 verfc"));
}

TEST(Emit, ConvertsHalfStorageAtTheSeam) {
  KernelSource source = CopyKernel();
  for (TensorArg& arg : source.tensors) arg.storage = StorageType::kFloat16;
  EXPECT_THAT(Emit(source, Dialect::kOpenCl), HasSubstr("vload_half4"));
  EXPECT_THAT(Emit(source, Dialect::kOpenCl), HasSubstr("vstore_half4"));
  EXPECT_THAT(Emit(source, Dialect::kVulkan), HasSubstr("unpackHalf2x16"));
  EXPECT_THAT(Emit(source, Dialect::kVulkan), HasSubstr("packHalf2x16"));
}

TEST(EntryPoint, DiffersWhereverTheTextDoes) {
  std::vector<KernelSource> variants(6, CopyKernel());
  variants[1].epilogue = {{StatementForm::kUnary, ElementFunction::Of(UnaryKind::kAbs)}};
  variants[2].body = "  y_store(1, x_load(0) * SCALE)\n";
  variants[3].local_size = {16, 1, 1};
  variants[4].tensors[0].path = AccessPath::kTexelBuffer;
  variants[5].tensors[0].storage = StorageType::kFloat16;
  std::set<std::string> names;
  for (const KernelSource& variant : variants) {
    EXPECT_TRUE(EntryPoint(variant).starts_with("hearth_test_"));
    names.insert(EntryPoint(variant));
  }
  EXPECT_EQ(names.size(), variants.size());
}

}  // namespace
}  // namespace hearth
