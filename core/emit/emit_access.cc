#include "core/emit/emit_access.h"

namespace hearth {

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

}  // namespace hearth
