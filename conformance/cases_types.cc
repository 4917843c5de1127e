// Element types: quantized activations and weights, float16 tensors, and chains of them.
#include <fmt/format.h>

#include "conformance/conformance_case.h"

namespace hearth::conformance {
namespace {

struct Type {
  const char* name;
  ElementType in, out, weights;
};

// Grids that hold the data, with some clamping at both ends of the output's range.
const Type kTypes[] = {
    {"int8", Quantized(DType::kInt8, 1.0f / 64, 3), Quantized(DType::kInt8, 1.0f / 32, -7),
     Quantized(DType::kInt8, 1.0f / 128, 0)},
    {"uint8", Quantized(DType::kUInt8, 1.0f / 100, 128), Quantized(DType::kUInt8, 1.0f / 50, 90),
     Quantized(DType::kUInt8, 1.0f / 128, 131)},
    {"int16", Quantized(DType::kInt16, 1.0f / 32768, 0), Quantized(DType::kInt16, 1.0f / 4096, 0),
     Quantized(DType::kInt8, 1.0f / 128, 0)},
    {"hybrid8", {}, {}, Quantized(DType::kInt8, 1.0f / 128, 0)},
    {"hybrid4", {}, {}, Quantized(DType::kInt4, 1.0f / 8, 0)},
    {"half_weights", {}, {}, {DType::kFloat16, std::nullopt}},
    {"half", {DType::kFloat16, std::nullopt}, {DType::kFloat16, std::nullopt}, {DType::kFloat16, std::nullopt}},
};

using Build = ValueId (*)(CaseGraph&, const Type&, int32_t channels);

struct Family {
  const char* op;
  Build build;
  int64_t terms;  // one product each
  bool exact = false;
  bool mixes_weights = true;  // false: the same type for all weights
};

ValueId Convolution(CaseGraph& graph, const Type& type, int32_t channels) {
  return graph.Node(Conv2D{.window = {.padding = {PaddingMode::kSame}}},
                    {graph.Input({1, 5, 6, channels}, Symmetric, type.in),
                     graph.Constant({9, 3, 3, channels}, Symmetric, type.weights), graph.Constant({9})},
                    type.out);
}
ValueId Pointwise(CaseGraph& graph, const Type& type, int32_t channels) {
  return graph.Node(Conv2D{.activation = Activation::kRelu6},
                    {graph.Input({2, 7, 3, channels}, Symmetric, type.in),
                     graph.Constant({18, 1, 1, channels}, Symmetric, type.weights)},
                    type.out);
}
ValueId Depthwise(CaseGraph& graph, const Type& type, int32_t channels) {
  return graph.Node(DepthwiseConv2D{.window = {.stride_h = 2, .stride_w = 2, .padding = {PaddingMode::kSame}}},
                    {graph.Input({1, 8, 7, channels}, Symmetric, type.in),
                     graph.Constant({1, 3, 3, channels}, Symmetric, type.weights)},
                    type.out);
}
ValueId Dense(CaseGraph& graph, const Type& type, int32_t channels) {
  return graph.Node(
      FullyConnected{},
      {graph.Input({3, channels}, Symmetric, type.in), graph.Constant({10, channels}, Symmetric, type.weights)},
      type.out);
}
ValueId Average(CaseGraph& graph, const Type& type, int32_t channels) {
  return graph.Node(Pool2D{.kernel_h = 2, .kernel_w = 3, .window = {.stride_h = 2}},
                    {graph.Input({1, 6, 7, channels}, Symmetric, type.in)}, type.out);
}
ValueId Sum(CaseGraph& graph, const Type& type, int32_t channels) {
  return graph.Node(
      Binary{.activation = Activation::kRelu},
      {graph.Input({1, 4, 5, channels}, Symmetric, type.in), graph.Input({1, 4, 5, channels}, Symmetric, type.in)},
      type.out);
}
ValueId Logistic(CaseGraph& graph, const Type& type, int32_t channels) {
  return graph.Node(Unary{.kind = UnaryKind::kLogistic}, {graph.Input({1, 4, 5, channels}, Symmetric, type.in)},
                    type.out);
}
ValueId Probabilities(CaseGraph& graph, const Type& type, int32_t channels) {
  return graph.Node(Softmax{}, {graph.Input({3, channels}, Symmetric, type.in)}, type.out);
}
// The output has the input's grid, so elements keep their numbers.
ValueId Moved(CaseGraph& graph, const Type& type, int32_t channels) {
  return graph.Node(Reshape{{2, 2 * channels}}, {graph.Input({1, 2, 2, channels}, Symmetric, type.in)}, type.in);
}
ValueId Padded(CaseGraph& graph, const Type& type, int32_t channels) {
  return graph.Node(Pad{{0, 1, 0, 1}, {0, 0, 2, 2}, 0.0f}, {graph.Input({1, 3, 2, channels}, Symmetric, type.in)},
                    type.in);
}
// Two quantized operations in sequence: the second reads the first one's rounded result.
ValueId Chain(CaseGraph& graph, const Type& type, int32_t channels) {
  const ValueId inner = Pointwise(graph, type, channels);
  return graph.Node(Conv2D{}, {inner, graph.Constant({5, 1, 1, 18}, Symmetric, type.weights)}, type.out);
}

const Family kFamilies[] = {
    {"conv_2d", Convolution, 81},
    {"conv_2d", Pointwise, 32},
    {"depthwise_conv_2d", Depthwise, 9},
    {"fully_connected", Dense, 32},
    {"average_pool_2d", Average, 6, false, false},
    {"add", Sum, 2, false, false},
    {"logistic", Logistic, 2, false, false},
    {"softmax", Probabilities, 16, false, false},
    {"reshape", Moved, 0, true, false},
    {"pad", Padded, 0, true, false},
    {"chain", Chain, 64},
};

}  // namespace

void AddTypeCases(std::vector<ConformanceCase>& cases) {
  for (const Type& type : kTypes) {
    int number = 0;
    for (const Family& family : kFamilies) {
      ++number;
      const bool plain_values = type.in.dtype == DType::kFloat32;
      if (plain_values && !family.mixes_weights) continue;
      for (int32_t channels : {3, 8, 17}) {
        cases.push_back(NewCase(
            {family.op, fmt::format("{}_{}_c{}", type.name, number, channels), "types"},
            family.exact ? Exactness{} : Exactness{family.terms, 4},
            [build = family.build, &type, channels](CaseGraph& graph) { return build(graph, type, channels); },
            channels == 3));
      }
    }
  }
}

}  // namespace hearth::conformance
