// Convolutions and pooling: kernel sizes, strides, dilations and paddings with channel counts that no vector width
// divides.
#include <fmt/format.h>

#include <iterator>

#include "conformance/conformance_case.h"
#include "conformance/window_shapes.h"

namespace hearth::conformance {
namespace {

struct ChannelPair {
  int32_t in, out;
};
constexpr ChannelPair kChannels[] = {{1, 3}, {3, 5}, {5, 7}, {7, 17}, {17, 1}, {4, 8}, {3, 33}};
constexpr Activation kActivations[] = {Activation::kNone, Activation::kRelu6, Activation::kNone, Activation::kRelu,
                                       Activation::kReluN1To1};

template <typename Convolution>
ConformanceCase WindowCase(const char* op, const Shape& input, const Shape& filter, const Convolution& conv,
                           int32_t biases, int64_t terms) {
  const bool curved = conv.activation == Activation::kTanh || conv.activation == Activation::kSigmoid;
  const std::string name = fmt::format("{}_f{}_{}{}_{}", input, filter, WindowText(conv.window),
                                       biases > 0 ? "" : "_nobias", ActivationName(conv.activation));
  return OneNode({op, name}, {terms, curved ? 16.0 : 2.0}, conv,
                 {In(input), Const(filter), If(biases > 0, Const({biases}))});
}

ConformanceCase ConvCase(const Shape& input, const Shape& filter, const Conv2D& conv, bool bias) {
  return WindowCase("conv_2d", input, filter, conv, bias ? filter[0] : 0, int64_t{filter[1]} * filter[2] * filter[3]);
}

void AddConv(std::vector<ConformanceCase>& cases) {
  int turn = 0;
  for (const KernelSize& kernel : kKernelSizes) {
    for (const Padding2D& padding : kPaddings) {
      for (const Stepping& step : kSteppings) {
        const ChannelPair channels = kChannels[turn % std::size(kChannels)];
        const Conv2D conv{WindowOf(step, padding), kActivations[turn % std::size(kActivations)]};
        const Shape input = {turn % 4 == 0 ? 2 : 1, 12, 13, channels.in};
        cases.push_back(ConvCase(input, {channels.out, kernel.h, kernel.w, channels.in}, conv, turn % 3 != 0));
        ++turn;
      }
    }
  }
  // Pointwise: each activation, a single pixel, more pixels than one tile, many channels.
  for (Activation activation : {Activation::kNone, Activation::kRelu, Activation::kRelu6, Activation::kReluN1To1,
                                Activation::kTanh, Activation::kSigmoid}) {
    cases.push_back(ConvCase({1, 5, 7, 9}, {6, 1, 1, 9}, {{}, activation}, true));
  }
  for (const Shape& input : {Shape{1, 1, 1, 1}, {1, 1, 1, 130}, {2, 17, 13, 5}, {1, 40, 1, 3}, {3, 1, 9, 64}}) {
    for (int32_t out : {1, 4, 19, 66}) cases.push_back(ConvCase(input, {out, 1, 1, input[3]}, {}, true));
  }
  cases.push_back(ConvCase({1, 5, 5, 8}, {4, 3, 3, 4}, {}, true));  // two groups
  // Few pixels with many channels, whose sums GPUs share among work items, and as many pixels as their groups hold.
  cases.push_back(ConvCase({2, 5, 6, 70}, {19, 3, 3, 70}, {WindowOf({2, 2, 1, 1}, kPaddings[0]), {}}, true));
  cases.push_back(ConvCase({1, 4, 3, 130}, {33, 2, 2, 130}, {WindowOf({1, 1, 1, 2}, kPaddings[1]), {}}, false));
  cases.push_back(ConvCase({1, 2, 2, 133}, {9, 3, 3, 133}, {WindowOf({2, 2, 1, 1}, kPaddings[0]), {}}, true));
  cases.push_back(ConvCase({1, 16, 16, 6}, {9, 3, 3, 6}, {WindowOf({1, 1, 1, 1}, kPaddings[0]), {}}, true));
}

// Kernel, stride and multiplier are compiled into the program, so there are few programs with many shapes each.
struct DepthwiseProgram {
  KernelSize kernel;
  Stepping step;
  int32_t multiplier;
};
constexpr DepthwiseProgram kDepthwise[] = {
    {{3, 3}, {1, 1, 1, 1}, 1}, {{3, 3}, {2, 2, 1, 1}, 1}, {{3, 3}, {1, 1, 2, 3}, 1},
    {{3, 3}, {2, 2, 2, 2}, 1}, {{5, 5}, {1, 1, 1, 1}, 1}, {{3, 1}, {3, 1, 1, 1}, 1},
    {{1, 1}, {1, 1, 1, 1}, 2}, {{3, 3}, {1, 1, 1, 1}, 3}, {{2, 2}, {2, 1, 1, 2}, 1},
};

ConformanceCase DepthwiseCase(const Shape& input, const DepthwiseProgram& program, const DepthwiseConv2D& conv,
                              bool bias) {
  const Shape filter = {1, program.kernel.h, program.kernel.w, input[3] * program.multiplier};
  return WindowCase("depthwise_conv_2d", input, filter, conv, bias ? filter[3] : 0, int64_t{filter[1]} * filter[2]);
}

void AddDepthwise(std::vector<ConformanceCase>& cases) {
  int turn = 0;
  for (const DepthwiseProgram& program : kDepthwise) {
    for (int32_t channels : {1, 3, 5, 8, 17}) {
      const DepthwiseConv2D conv{WindowOf(program.step, kPaddings[turn % std::size(kPaddings)]),
                                 kActivations[turn % std::size(kActivations)]};
      const Shape input = {turn % 3 == 0 ? 2 : 1, 11, 14, channels};
      cases.push_back(DepthwiseCase(input, program, conv, turn % 2 == 0));
      ++turn;
    }
  }
  // A window larger than the image; a single pixel.
  const DepthwiseConv2D same{{1, 1, 1, 1, {PaddingMode::kSame}}, Activation::kNone};
  cases.push_back(DepthwiseCase({1, 2, 3, 5}, kDepthwise[4], same, true));
  cases.push_back(DepthwiseCase({2, 1, 1, 7}, kDepthwise[0], same, true));
}

ConformanceCase PoolCase(const Shape& input, const Pool2D& pool) {
  const bool average = pool.kind == PoolKind::kAverage;
  const std::string name = fmt::format("{}_k{}x{}_{}_{}", input, pool.kernel_h, pool.kernel_w, WindowText(pool.window),
                                       ActivationName(pool.activation));
  // A maximum equals one of its inputs.
  const Exactness exactness = average ? Exactness{int64_t{pool.kernel_h} * pool.kernel_w, 4.0} : Exactness{};
  return OneNode({average ? "average_pool_2d" : "max_pool_2d", name, "pool_2d"}, exactness, pool, {In(input, Wide)});
}

}  // namespace

void AddWindowCases(std::vector<ConformanceCase>& cases) {
  AddConv(cases);
  AddDepthwise(cases);
}

// Windows beyond every border, where counting padded elements would show.
void AddPoolCases(std::vector<ConformanceCase>& cases) {
  constexpr int32_t kDepths[] = {1, 3, 5, 7, 17, 8};
  constexpr Activation kLimits[] = {Activation::kNone, Activation::kRelu, Activation::kRelu6, Activation::kNone};
  int turn = 0;
  for (PoolKind kind : {PoolKind::kAverage, PoolKind::kMax}) {
    for (const KernelSize& kernel : kKernelSizes) {
      for (const Padding2D& padding : kPaddings) {
        // With an explicit padding a window of one pixel could lie in the padding alone.
        if (padding.mode == PaddingMode::kExplicit && (kernel.h == 1 || kernel.w == 1)) continue;
        for (const Stepping& step : {kSteppings[0], kSteppings[1], kSteppings[2]}) {
          const Shape input = {turn % 5 == 0 ? 2 : 1, 9, 8, kDepths[turn % std::size(kDepths)]};
          cases.push_back(
              PoolCase(input, {kind, kernel.h, kernel.w, WindowOf(step, padding), kLimits[turn % std::size(kLimits)]}));
          ++turn;
        }
      }
    }
    // A window as large as the image, and a larger one.
    cases.push_back(PoolCase({2, 7, 7, 5}, {kind, 7, 7, WindowOf(kSteppings[0], kPaddings[1]), Activation::kNone}));
    cases.push_back(PoolCase({1, 2, 3, 3}, {kind, 5, 5, WindowOf(kSteppings[0], kPaddings[0]), Activation::kNone}));
  }
}

}  // namespace hearth::conformance
