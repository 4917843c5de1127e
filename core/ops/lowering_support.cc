#include "core/ops/lowering_support.h"

#include <fmt/format.h>

#include <limits>

#include "core/ops/elementwise_table.h"

namespace hearth {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::optional<std::pair<float, float>> ClampBounds(Activation activation) {
  switch (activation) {
    case Activation::kNone: return {{-kInfinity, kInfinity}};
    case Activation::kRelu: return {{0.0f, kInfinity}};
    case Activation::kRelu6: return {{0.0f, 6.0f}};
    case Activation::kReluN1To1: return {{-1.0f, 1.0f}};
    case Activation::kTanh:
    case Activation::kSigmoid: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::vector<EpilogueStep> ActivationEpilogue(Activation activation) {
  if (const auto bounds = ClampBounds(activation)) {
    return {{"v = vclamp(v, splat4(act_lowest), splat4(act_highest));",
             {},
             {{"act_lowest", bounds->first}, {"act_highest", bounds->second}}}};
  }
  return {{fmt::format("v = {};", RowOf(UnaryOf(activation)).text), {}, {}}};
}

bool PrefersWideVectors(const DeviceInfo& device) {
  return device.dialect == Dialect::kOpenCl && device.is_software();
}

Operand BiasOperand(PlanBuilder& builder, ValueId bias, int32_t channels, int32_t width) {
  if (bias == kNoValue) return builder.Zeros(channels, width);
  return builder.Packed(bias, {PackLayout::kLinear, builder.graph().value(bias).desc, width, {channels, 1, 1, 1}});
}

std::vector<std::pair<std::string_view, Scalar>> ImageScalars(const Bhwc& in, const Bhwc& out) {
  return {{"IH", in.h},         {"IW", in.w},    {"IPIX", static_cast<int32_t>(in.pixels())},
          {"OH", out.h},        {"OW", out.w},   {"OPIX", static_cast<int32_t>(out.pixels())},
          {"N4", out.slices()}, {"BATCH", out.b}};
}

std::optional<std::string> NotFloat(const Graph& graph, const Node& node) {
  for (const auto* list : {&node.inputs, &node.outputs}) {
    for (ValueId value : *list) {
      if (value == kNoValue || graph.IsConstant(value)) continue;
      const DType dtype = graph.value(value).desc.dtype;
      if (dtype != DType::kFloat32)
        return fmt::format("it works on {}, device kernels take float32",
                           DTypeName(dtype));  // no name: equal reasons are one warning
    }
  }
  return std::nullopt;
}

std::optional<std::string> RuntimeWeights(const Graph& graph, const Node& node) {
  for (size_t k = 1; k < node.inputs.size(); ++k) {
    if (node.inputs[k] != kNoValue && !graph.IsConstant(node.inputs[k])) return "its weights are not constant";
  }
  return std::nullopt;
}

}  // namespace hearth
