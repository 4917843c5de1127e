#include "core/emit/dialect_texts.h"

#include <fmt/format.h>

#include "core/emit/arithmetic.h"

namespace hearth {
namespace {

// Constants with names become operands by id, literals become words. 3 is the scope of a subgroup. The uses 0, 1 and 2
// are of the left factor, the right one and the sum. 4456 to 4459 are OpTypeCooperativeMatrixKHR and its load, store
// and multiply-add, 6022 is CooperativeMatrixKHR, 80 OpCompositeConstruct. The order 0 is row by row. The accesses 48
// and 40 are visible and available to a scope, and 2 is that of a work group: as those of glslang to shared variables.
constexpr std::string_view kTypes = R"(#pragma use_vulkan_memory_model
#extension GL_EXT_spirv_intrinsics : require
const int px_scope = 3, px_m = {m}, px_n = {n}, px_k = {k}, px_left = 0, px_right = 1, px_sum = 2;
#define left_matrix spirv_type(extensions = ["SPV_KHR_cooperative_matrix"], capabilities = [6022], id = 4456, 16, px_scope, px_m, px_k, px_left)
#define right_matrix spirv_type(extensions = ["SPV_KHR_cooperative_matrix"], capabilities = [6022], id = 4456, 16, px_scope, px_k, px_n, px_right)
#define sum_matrix spirv_type(extensions = ["SPV_KHR_cooperative_matrix"], capabilities = [6022], id = 4456, 32, px_scope, px_m, px_n, px_sum)
spirv_instruction(id = 4457) left_matrix px_load_left(spirv_by_reference f16vec4 at, int order, int step, spirv_literal int access, int scope);
spirv_instruction(id = 4457) right_matrix px_load_right(spirv_by_reference f16vec4 at, int order, int step, spirv_literal int access, int scope);
spirv_instruction(id = 4458) void px_store(spirv_by_reference vec4 at, sum_matrix sum, int order, int step, spirv_literal int access, int scope);
spirv_instruction(id = 4459) sum_matrix add_product_matrix(left_matrix a, right_matrix b, sum_matrix sum);
spirv_instruction(id = 80) sum_matrix sum_matrix_of(float number);
#define load_left_matrix(at, step) px_load_left(at, 0, step, 48, 2)
#define load_right_matrix(at, step) px_load_right(at, 0, step, 48, 2)
#define store_sum_matrix(at, sum, step) px_store(at, sum, 0, step, 40, 2)
)";

}  // namespace

AccessText OpenClAccess(StorageType storage) {
  switch (storage) {
    case StorageType::kFloat16: return {"half", "vload_half4((i), {})", "vstore_half4(vheld(v), i, {});"};
    case StorageType::kInt32: return {"int4", "{}[(i)]", "{}[i] = v;"};
    case StorageType::kUnorm8:
      return {"uchar4", "(convert_float4({}[(i)]) / 255.0f)", "{}[i] = convert_uchar4_sat_rte(v * 255.0f);"};
    case StorageType::kScalar: return {"float", "((float4)({}[(i)], 0.0f, 0.0f, 0.0f))", "{}[i] = v.x;"};
    default: return {"float4", "{}[(i)]", "{}[i] = v;"};
  }
}

AccessText GlslAccess(const TensorArg& arg) {
  if (arg.path == AccessPath::kBuffer64) {
    return {"u64vec2", "",
            "{}[i] = u64vec2(packUint2x32(floatBitsToUint(v.xy)), packUint2x32(floatBitsToUint(v.zw)));"};
  }
  switch (arg.storage) {
    case StorageType::kFloat16:
      return {"uvec2", "vec4(unpackHalf2x16({0}[(i)].x), unpackHalf2x16({0}[(i)].y))",
              "v = vheld(v); {}[i] = uvec2(packHalf2x16(v.xy), packHalf2x16(v.zw));"};
    case StorageType::kInt32: return {"ivec4", "{}[(i)]", "{}[i] = v;"};
    case StorageType::kUnorm8: return {"uint", "unpackUnorm4x8({}[(i)])", "{}[i] = packUnorm4x8(v);"};
    case StorageType::kScalar: return {"float", "vec4({}[(i)], 0.0, 0.0, 0.0)", "{}[i] = v.x;"};
    default: return {"vec4", "{}[(i)]", "{}[i] = v;"};
  }
}

const char* GlslImageFormat(StorageType storage) {
  switch (storage) {
    case StorageType::kUnorm8: return "rgba8";
    case StorageType::kFloat16: return "rgba16f";
    default: return "rgba32f";
  }
}

std::string MatrixTypes(const KernelSource& source) {
  const int rows = NumberOf(source, kTileRows);
  if (rows == 0) return {};
  return fmt::format(fmt::runtime(kTypes), fmt::arg("m", rows), fmt::arg("n", NumberOf(source, kTileColumns)),
                     fmt::arg("k", NumberOf(source, kTileDepth)));
}

}  // namespace hearth
