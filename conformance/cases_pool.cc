// Pooling with windows beyond every border, where counting padded elements would show.
#include <fmt/format.h>

#include <iterator>

#include "conformance/conformance_case.h"
#include "conformance/window_shapes.h"

namespace hearth::conformance {
namespace {

ConformanceCase PoolCase(const Shape& input, const Pool2D& pool) {
  const bool average = pool.kind == PoolKind::kAverage;
  const std::string name = fmt::format("{}_k{}x{}_{}_{}", input.ToString(), pool.kernel_h, pool.kernel_w,
                                       WindowText(pool.window), ActivationName(pool.activation));
  // A maximum equals one of its inputs.
  const Exactness exactness = average ? Exactness{int64_t{pool.kernel_h} * pool.kernel_w, 4.0} : Exactness{};
  return OneNode({average ? "average_pool_2d" : "max_pool_2d", name, "pool_2d"}, exactness, pool, {In(input, Wide)});
}

}  // namespace

void AddPoolCases(std::vector<ConformanceCase>& cases) {
  constexpr int32_t kChannels[] = {1, 3, 5, 7, 17, 8};
  constexpr Activation kActivations[] = {Activation::kNone, Activation::kRelu, Activation::kRelu6, Activation::kNone};
  int turn = 0;
  for (PoolKind kind : {PoolKind::kAverage, PoolKind::kMax}) {
    for (const KernelSize& kernel : kKernelSizes) {
      for (const Padding2D& padding : kPaddings) {
        // With an explicit padding a window of one pixel could lie in the padding alone.
        if (padding.mode == PaddingMode::kExplicit && (kernel.h == 1 || kernel.w == 1)) continue;
        for (const Stepping& step : {kSteppings[0], kSteppings[1], kSteppings[2]}) {
          const Shape input = {turn % 5 == 0 ? 2 : 1, 9, 8, kChannels[turn % std::size(kChannels)]};
          cases.push_back(PoolCase(input, {kind, kernel.h, kernel.w, WindowOf(step, padding),
                                           kActivations[turn % std::size(kActivations)]}));
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
