// Products and windows beyond plain convolution: matrices of every rank, computed filters, groups of every size,
// transposed convolution, pooling with argmax, sampling.
#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <utility>

#include "conformance/conformance_case.h"
#include "conformance/window_shapes.h"
#include "core/base/numbers.h"

namespace hearth::conformance {
namespace {

// ---- Matrices ----

void AddMatMul(std::vector<ConformanceCase>& cases, const Shape& a, const Shape& b, const BatchMatMul& product,
               bool constant) {
  const int64_t depth = a[a.rank() - (product.adjoint_a ? 2 : 1)];
  const std::string name = fmt::format("{}{}_{}{}{}", a, product.adjoint_a ? "T" : "", b, product.adjoint_b ? "T" : "",
                                       constant ? "_constant" : "");
  cases.push_back(OneNode({"batch_matmul", name}, {depth, 2}, product, {In(a), constant ? Const(b) : In(b)}));
}

void AddMatMuls(std::vector<ConformanceCase>& cases) {
  struct Sizes {
    int32_t m, k, n;
  };
  struct Batch {
    std::vector<int32_t> a, b;
  };
  const Batch batches[] = {{{}, {}},         {{3}, {3}},          {{2}, {1}},
                           {{1}, {3}},       {{2, 3}, {}},        {{}, {2, 3}},
                           {{2, 1}, {1, 3}}, {{2, 1, 3}, {4, 1}}, {{2, 2, 2}, {2, 2, 2}}};
  const Sizes sizes[] = {{1, 1, 1}, {5, 3, 7}, {4, 8, 12}, {6, 17, 5}, {3, 130, 2}};
  int turn = 0;
  for (const Batch& batch : batches) {
    for (const Sizes& size : sizes) {
      for (bool adjoint_a : {false, true}) {
        const bool adjoint_b = turn % 3 != 1;
        std::vector<int32_t> a = batch.a, b = batch.b;
        a.insert(a.end(), {adjoint_a ? size.k : size.m, adjoint_a ? size.m : size.k});
        b.insert(b.end(), {adjoint_b ? size.n : size.k, adjoint_b ? size.k : size.n});
        AddMatMul(cases, Shape::FromSpan(a), Shape::FromSpan(b), {adjoint_a, adjoint_b}, turn % 5 == 2);
        ++turn;
      }
    }
  }
  AddMatMul(cases, {2, 70, 33}, {33, 41}, {}, false);
  AddMatMul(cases, {2, 70, 33}, {33, 41}, {}, true);
  AddMatMul(cases, {2, 70, 33}, {41, 33}, {false, true}, true);
  AddMatMul(cases, {1, 129, 64}, {1, 64, 129}, {}, false);
}

void AddDense(std::vector<ConformanceCase>& cases, const Shape& x, const Shape& filter, const FullyConnected& dense,
              int computed, bool bias) {
  const std::string name = fmt::format("{}_f{}{}{}_{}{}", x, filter, dense.keep_dims ? "_keep" : "",
                                       bias ? "" : "_nobias", ActivationName(dense.activation),
                                       computed == 2   ? "_computed_bias"
                                       : computed == 1 ? "_computed"
                                                       : "");
  std::vector<Operand> operands = {In(x), computed == 1 ? In(filter) : Const(filter)};
  if (bias) operands.push_back(computed > 0 ? In({filter[0]}) : Const({filter[0]}));
  cases.push_back(OneNode({"fully_connected", name}, {filter[1], dense.activation == Activation::kTanh ? 16.0 : 2.0},
                          dense, operands));
}

void AddDenseCases(std::vector<ConformanceCase>& cases) {
  int turn = 0;
  // Rows that are one pixel, are several pixels, or end within a pixel.
  const std::pair<Shape, Shape> shapes[] = {
      {{7}, {5, 7}},          {{3, 7}, {5, 7}},          {{1, 130}, {9, 130}},     {{2, 3, 5}, {6, 5}},
      {{2, 3, 8}, {3, 24}},   {{2, 2, 3, 5}, {4, 30}},   {{1, 3, 3, 6}, {7, 54}},  {{4, 6}, {3, 8}},
      {{2, 3, 3, 5}, {6, 9}}, {{2, 2, 2, 3, 4}, {5, 4}}, {{1, 1, 1, 16}, {1, 16}}, {{5, 1}, {8, 1}}};
  for (const auto& [x, filter] : shapes) {
    for (int computed : {0, 1, 2}) {
      constexpr Activation kActivations[] = {Activation::kNone, Activation::kRelu, Activation::kTanh};
      const bool keep = x[x.rank() - 1] == filter[1] && turn % 2 == 0;
      AddDense(cases, x, filter, {keep, kActivations[turn % 3]}, computed, computed == 2 || turn % 4 != 0);
      ++turn;
    }
  }
}

// ---- Convolutions ----

struct Filter {
  Shape shape;
  bool computed, bias;
};

// What a convolution reads: the image, then filters and biases, which are both constants or both computed.
std::vector<Operand> OperandsOf(const Shape& x, const Filter& filter, int32_t biases) {
  const auto operand = filter.computed ? In : Const;
  return {In(x), operand(filter.shape, Symmetric, {}), If(filter.bias, operand({biases}, Symmetric, {}))};
}

template <typename Convolution>
void AddConvolution(std::vector<ConformanceCase>& cases, const char* op, const Shape& x, const Filter& filter,
                    const Convolution& conv, int32_t out_channels, int64_t terms) {
  const std::string name =
      fmt::format("{}_f{}_{}_{}{}{}", x, filter.shape, WindowText(conv.window), ActivationName(conv.activation),
                  filter.bias ? "" : "_nobias", filter.computed ? "_computed" : "");
  cases.push_back(OneNode({op, name}, {terms, 2}, conv, OperandsOf(x, filter, out_channels)));
}

void AddGroupedAndComputed(std::vector<ConformanceCase>& cases) {
  struct Channels {
    int32_t groups, in, out;  // of each group
  };
  constexpr Channels kChannels[] = {{2, 4, 4}, {3, 8, 4}, {2, 4, 8}, {2, 3, 2}, {4, 1, 3}, {3, 5, 4},
                                    {5, 2, 1}, {1, 5, 7}, {1, 8, 4}, {1, 1, 1}, {8, 4, 1}};
  constexpr Activation kActivations[] = {Activation::kNone, Activation::kRelu6};
  int turn = 0;
  for (const Channels& channels : kChannels) {
    for (const KernelSize& kernel : {KernelSize{1, 1}, {3, 3}, {2, 3}}) {
      for (bool computed : {false, true}) {
        if (channels.groups == 1 && !computed) continue;  // in cases_window.cc
        const Conv2D conv{WindowOf(kSteppings[turn % std::size(kSteppings)], kPaddings[turn % std::size(kPaddings)]),
                          kActivations[turn % 2]};
        const int32_t out = channels.groups * channels.out;
        AddConvolution(cases, "conv_2d", {turn % 4 == 0 ? 2 : 1, 9, 8, channels.groups * channels.in},
                       {{out, kernel.h, kernel.w, channels.in}, computed, turn % 3 != 0}, conv, out,
                       int64_t{kernel.h} * kernel.w * channels.in);
        ++turn;
      }
    }
  }
  AddConvolution(cases, "conv_2d", {1, 6, 7, 5}, {{9, 1, 1, 5}, true, true}, Conv2D{}, 9, 5);
}

void AddDepthwiseCases(std::vector<ConformanceCase>& cases) {
  // Small windows have programs with fixed kernel, stride and multiplier: the ones of cases_window.cc.
  for (int32_t channels : {1, 5, 8}) {
    AddConvolution(cases, "depthwise_conv_2d", {2, 11, 14, channels}, {{1, 3, 3, channels}, true, channels != 5},
                   DepthwiseConv2D{WindowOf(kSteppings[0], kPaddings[0]), Activation::kRelu}, channels, 9);
    AddConvolution(cases, "depthwise_conv_2d", {1, 11, 14, channels}, {{1, 3, 3, channels * 3}, true, true},
                   DepthwiseConv2D{WindowOf(kSteppings[0], kPaddings[1]), Activation::kNone}, channels * 3, 9);
  }
  // Windows too large to be unrolled.
  const Shape images[] = {{1, 9, 12, 3}, {2, 16, 10, 6}};
  for (const Shape& image : images) {
    for (int32_t multiplier : {1, 2, 5}) {
      for (const Stepping& step : {kSteppings[0], kSteppings[1], kSteppings[3]}) {
        const int32_t out = image[3] * multiplier;
        AddConvolution(cases, "depthwise_conv_2d", image, {{1, 9, 7, out}, multiplier == 2, true},
                       DepthwiseConv2D{WindowOf(step, kPaddings[0]), Activation::kNone}, out, 63);
      }
    }
  }
  AddConvolution(cases, "depthwise_conv_2d", {1, 40, 30, 2}, {{1, 40, 30, 2}, false, true}, DepthwiseConv2D{}, 2, 1200);
}

// ---- Transposed convolution ----

void AddTransposed(std::vector<ConformanceCase>& cases, const Shape& x, const Filter& filter,
                   const TransposeConv& conv) {
  const Window2D window{conv.stride_h, conv.stride_w, 1, 1, conv.padding};
  const Shape& w = filter.shape;
  const int64_t rows = Tiles(w[1], conv.stride_h), columns = Tiles(w[2], conv.stride_w);
  const std::string name =
      fmt::format("{}_f{}_{}x{}_{}_{}{}{}", x, w, conv.height, conv.width, WindowText(window),
                  ActivationName(conv.activation), filter.bias ? "" : "_nobias", filter.computed ? "_computed" : "");
  cases.push_back(OneNode({"transpose_conv", name}, {rows * columns * w[3], 2}, conv, OperandsOf(x, filter, w[0])));
}

void AddTransposedCases(std::vector<ConformanceCase>& cases) {
  struct Channels {
    int32_t in, out;
  };
  constexpr Channels kChannels[] = {{1, 1}, {3, 5}, {8, 4}, {5, 2}, {4, 17}, {17, 3}};
  constexpr Activation kActivations[] = {Activation::kNone, Activation::kRelu, Activation::kRelu6};
  struct Stride {
    int32_t h, w;
  };
  int turn = 0;
  for (const KernelSize& kernel : {KernelSize{2, 2}, {3, 3}, {1, 1}, {4, 4}, {3, 1}, {2, 5}, {5, 5}}) {
    for (const Stride& stride : {Stride{2, 2}, {1, 1}, {1, 3}, {3, 2}}) {
      for (const Padding2D& padding : kPaddings) {
        const Channels channels = kChannels[turn % std::size(kChannels)];
        TransposeConv conv{.stride_h = stride.h, .stride_w = stride.w, .padding = padding};
        conv.activation = kActivations[turn % std::size(kActivations)];
        // Output sizes from the file, some of which cut off or add pixels, and computed sizes.
        const bool given = turn % 3 == 1 || padding.mode == PaddingMode::kExplicit;
        if (given) {
          conv.height = 5 * stride.h + turn % 5 - 1;
          conv.width = 6 * stride.w + turn % 7 - 2;
        }
        AddTransposed(cases, {turn % 4 == 0 ? 2 : 1, 5, 6, channels.in},
                      {{channels.out, kernel.h, kernel.w, channels.in}, turn % 5 == 3, turn % 3 != 0}, conv);
        ++turn;
      }
    }
  }
  AddTransposed(cases, {1, 32, 33, 16}, {{9, 2, 2, 16}, false, true}, {.stride_h = 2, .stride_w = 2});
  AddTransposed(cases, {1, 1, 1, 3}, {{2, 7, 7, 3}, false, true}, {.stride_h = 7, .stride_w = 7});
  AddTransposed(cases, {1, 2, 2, 3}, {{2, 2, 2, 3}, false, true},
                {.height = 9, .width = 11, .stride_h = 5, .stride_w = 4, .padding = {PaddingMode::kSame}});
}

// ---- Pooling and sampling ----

void AddPositions(std::vector<ConformanceCase>& cases) {
  int turn = 0;
  for (const KernelSize& kernel : {KernelSize{2, 2}, {3, 3}, {1, 3}, {5, 2}}) {
    for (const Padding2D& padding : {kPaddings[0], kPaddings[1]}) {
      for (const Stepping& step : {kSteppings[0], kSteppings[1], kSteppings[2]}) {
        const Shape x = {turn % 3 == 0 ? 2 : 1, 9, 8, turn % 7 + 1};
        MaxPoolArgmax2D pool{kernel.h, kernel.w, WindowOf(step, padding), Activation::kNone};
        if (turn % 4 == 3) pool.activation = Activation::kRelu6;
        const std::string name = fmt::format("{}_k{}x{}_{}_{}", x, kernel.h, kernel.w, WindowText(pool.window),
                                             ActivationName(pool.activation));
        // Both outputs, from few different numbers, so that some are equal.
        cases.push_back(NewCase({"max_pool_argmax_2d", name}, {0, 2}, [=](CaseGraph& graph) {
          const std::vector<ValueId> outputs = graph.Nodes(pool, {graph.Input(x, Digits)}, {{}, {}});
          return graph.Node(Concat{-1}, outputs);
        }));
        ++turn;
      }
    }
  }
}

float InWindow(float uniform) {
  return std::floor(uniform * 9.0f) + 0.125f;  // some are outside of a window of 2x3
}

void AddUnpooling(std::vector<ConformanceCase>& cases) {
  struct Steps {
    int32_t kernel_h, kernel_w, stride_h, stride_w;
  };
  int turn = 0;
  for (const Steps& steps : {Steps{2, 2, 2, 2}, {2, 3, 2, 3}, {3, 3, 1, 2}, {1, 2, 3, 4}, {1, 1, 1, 1}}) {
    for (int32_t channels : {1, 4, 7}) {
      const Shape x = {turn % 2 + 1, 4, 5, channels};
      const std::string name =
          fmt::format("{}_k{}x{}_s{}x{}", x, steps.kernel_h, steps.kernel_w, steps.stride_h, steps.stride_w);
      cases.push_back(OneNode({"max_unpool_2d", name}, {},
                              MaxUnpool2D{steps.kernel_h, steps.kernel_w, steps.stride_h, steps.stride_w},
                              {In(x), In(x, InWindow)}));
      ++turn;
    }
  }
}

void AddSampling(std::vector<ConformanceCase>& cases) {
  struct Images {
    Shape image, points;
  };
  const Images images[] = {{{1, 4, 5, 3}, {1, 6, 7, 2}}, {{2, 7, 7, 8}, {2, 3, 3, 2}},  {{1, 1, 1, 1}, {1, 5, 5, 2}},
                           {{3, 2, 9, 5}, {3, 1, 8, 3}}, {{1, 6, 3, 17}, {1, 4, 1, 7}}, {{2, 5, 5, 4}, {2, 5, 5, 2}}};
  for (const Images& sizes : images) {
    // The last bits of a coordinate are multiplied by the image's numbers.
    const std::string name = fmt::format("{}_at{}", sizes.image, sizes.points);
    cases.push_back(OneNode({"resampler", name}, {4, 16}, Resampler{}, {In(sizes.image), In(sizes.points, Wide)}));
  }
}

void AddL2Pooling(std::vector<ConformanceCase>& cases) {
  int turn = 0;
  for (const KernelSize& kernel : {KernelSize{2, 2}, {3, 3}, {1, 4}}) {
    for (const Padding2D& padding : {kPaddings[0], kPaddings[1]}) {
      for (int32_t channels : {1, 5, 8}) {
        const Shape x = {turn % 2 + 1, 7, 9, channels};
        const Pool2D pool{PoolKind::kL2, kernel.h, kernel.w, WindowOf(kSteppings[turn % 3], padding),
                          Activation::kNone};
        const std::string name = fmt::format("{}_k{}x{}_{}", x, kernel.h, kernel.w, WindowText(pool.window));
        cases.push_back(OneNode({"l2_pool_2d", name}, {int64_t{kernel.h} * kernel.w, 4}, pool, {In(x)}));
        ++turn;
      }
    }
  }
}

// ---- Quantized values and their grids ----

void AddQuantizedProducts(std::vector<ConformanceCase>& cases) {
  const ElementType in = Quantized(DType::kInt8, 1.0f / 64, 3), out = Quantized(DType::kInt8, 1.0f / 32, -7);
  const ElementType weights = Quantized(DType::kInt8, 1.0f / 128, 0);
  for (int32_t channels : {3, 8}) {
    cases.push_back(OneNode({"batch_matmul", fmt::format("int8_c{}", channels)}, {channels, 4}, BatchMatMul{},
                            {In({2, 3, channels}, Symmetric, in), In({2, channels, 5}, Symmetric, in)}, out));
    cases.push_back(OneNode({"transpose_conv", fmt::format("int8_c{}", channels)}, {channels * 4, 4},
                            TransposeConv{.stride_h = 2, .stride_w = 2, .padding = {PaddingMode::kSame}},
                            {In({1, 4, 5, channels}, Symmetric, in), Const({6, 3, 3, channels}, Symmetric, weights)},
                            out));
    cases.push_back(OneNode({"conv_2d", fmt::format("int8_computed_c{}", channels)}, {channels * 9, 4}, Conv2D{},
                            {In({1, 4, 5, channels}, Symmetric, in), In({6, 3, 3, channels}, Symmetric, weights)},
                            out));
  }
}

}  // namespace

void AddProductCases(std::vector<ConformanceCase>& cases) {
  AddMatMuls(cases);
  AddDenseCases(cases);
  AddGroupedAndComputed(cases);
  AddDepthwiseCases(cases);
  AddTransposedCases(cases);
  AddPositions(cases);
  AddUnpooling(cases);
  AddSampling(cases);
  AddL2Pooling(cases);
  AddQuantizedProducts(cases);
}

}  // namespace hearth::conformance
