#include <fmt/format.h>

#include "core/graph/ops/cast.h"
#include "core/graph/quantize.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {
namespace {

// How a loaded texel of real numbers becomes one of `to`; {0} stands for the texel.
std::string_view FromReal(DType to) {
  switch (to) {
    case DType::kBool: return "(splat4(1.0f) - vequal({0}, splat4(0.0f)))";
    case DType::kUInt8: return "to_int4(vclamp({0}, splat4(0.0f), splat4(255.0f)))";
    case DType::kInt8: return "to_int4(vclamp({0}, splat4(-128.0f), splat4(127.0f)))";
    case DType::kInt16: return "to_int4(vclamp({0}, splat4(-32768.0f), splat4(32767.0f)))";
    case DType::kInt32:
    case DType::kInt64: return "to_int4_sat({0})";
    default: return "{0}";
  }
}

// The same for a texel of integers, which wrap.
std::string_view FromInteger(DType to) {
  switch (to) {
    case DType::kBool: return "(splat4(1.0f) - vequal({0}, splat_int4(0)))";
    case DType::kUInt8: return "({0} & splat_int4(255))";
    case DType::kInt8: return "(({0} << 24) >> 24)";
    case DType::kInt16: return "(({0} << 16) >> 16)";
    case DType::kInt32:
    case DType::kInt64: return "{0}";
    default: return "to_float4({0})";
  }
}

}  // namespace

std::optional<std::string> CastUnsupported(const Graph& graph, const Node& node, const DeviceInfo&) {
  return WideIntegers(graph, node);
}

Status LowerCast(const Node& node, PlanBuilder& builder) {
  const DType to = std::get<Cast>(node.op).to;
  const bool from_real = IsReal(builder.graph().value(node.inputs[0]).desc);
  KernelCall call = MapCall(builder.ShapeOf(node.outputs[0]));
  call.tensors = {{"x", builder.Tensor(node.inputs[0])}, {"y", builder.Tensor(node.outputs[0])}};
  call.defines = {{"VALUE", fmt::format(fmt::runtime(from_real ? FromReal(to) : FromInteger(to)), "x_load(at)")}};
  return builder.Call(node, call);
}

}  // namespace hearth
