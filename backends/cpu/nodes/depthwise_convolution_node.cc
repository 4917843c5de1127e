// Depthwise convolutions of float32 with one output for each channel. With AVX-512 they take 0.5 to 0.8 times as long
// as XNNPACK's (Debian's of February 2022), with the same bits: the bias first, then the taps column by column. Where a
// bit decides an index, float64 sums with the bits of the reference: the taps line by line.
#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/host/host_output.h"
#include "backends/cpu/host/vectorized.h"
#include "backends/cpu/nodes/float_convolution.h"
#include "backends/cpu/nodes/packed_constant.h"

namespace hearth {
namespace {

template <typename Number>
struct DepthwiseConvolution : FloatConvolution {
  std::shared_ptr<const SharedNumbers<Number>> weights;  // [tap][channel]
  std::vector<Number> bias;
  float lowest = 0, highest = 0;
};

// The lines or the columns of a window that are in the image, and the distance between two of them.
struct DepthwiseRange {
  int64_t begin = 0, end = 0;
  int64_t x_step = 0, weight_step = 0;
};

// Neighbouring pixels of an output line that have the same taps inside the image.
struct DepthwisePixels {
  const float* x = nullptr;  // address of the first pixel's first tap, even if it is outside
  int64_t pixel_step = 0;
  DepthwiseRange outer, inner;  // in the order in which taps are added
  float* y = nullptr;
};

// One vector of channels from `c` on.
template <int kBytes, int kPixels, typename Number>
HEARTH_INTO_CALLER inline void AddTaps(const DepthwiseConvolution<Number>& conv, const DepthwisePixels& pixels,
                                       int64_t c) {
  typedef Number Numbers __attribute__((vector_size(kBytes)));
  const int64_t channels = conv.out[3];
  const DepthwiseRange &outer = pixels.outer, &inner = pixels.inner;
  Numbers sums[kPixels];
  HEARTH_UNROLLED for (int p = 0; p < kPixels; ++p) std::memcpy(&sums[p], conv.bias.data() + c, sizeof(Numbers));
  for (int64_t o = outer.begin; o < outer.end; ++o) {
    const Number* weights = conv.weights->values.data() + o * outer.weight_step + inner.begin * inner.weight_step + c;
    const float* x = pixels.x + o * outer.x_step + inner.begin * inner.x_step + c;
    for (int64_t i = inner.begin; i < inner.end; ++i) {
      Numbers weight;
      std::memcpy(&weight, weights, sizeof(Numbers));
      HEARTH_UNROLLED for (int p = 0; p < kPixels; ++p) {
        Numbers number;
        LoadFloats<Number>(x + p * pixels.pixel_step, number);
        sums[p] += number * weight;
      }
      weights += inner.weight_step;
      x += inner.x_step;
    }
  }
  const Numbers lowest = Numbers{} + conv.lowest, highest = Numbers{} + conv.highest;
  HEARTH_UNROLLED for (int p = 0; p < kPixels; ++p) {
    sums[p] = sums[p] < lowest ? lowest : sums[p];
    sums[p] = sums[p] > highest ? highest : sums[p];
    StoreFloats<Number>(sums[p], pixels.y + p * channels + c);
  }
}

// All channels; the last vector overlaps the one before it.
template <int kBytes, int kPixels, typename Number>
HEARTH_INTO_CALLER inline void ConvolveDepthwise(const DepthwiseConvolution<Number>& conv,
                                                 const DepthwisePixels& pixels) {
  constexpr int64_t kLanes = kBytes / sizeof(Number);
  const int64_t channels = conv.out[3];
  if (channels >= kLanes) {
    for (int64_t c = 0; c + kLanes <= channels; c += kLanes) AddTaps<kBytes, kPixels>(conv, pixels, c);
    if (channels % kLanes != 0) AddTaps<kBytes, kPixels>(conv, pixels, channels - kLanes);
  } else if constexpr (kBytes > 16) {
    ConvolveDepthwise<kBytes / 2, kPixels>(conv, pixels);
  } else {
    for (int64_t c = 0; c < channels; ++c) AddTaps<sizeof(Number), kPixels>(conv, pixels, c);
  }
}

// Computes one line, counted over all images.
template <int kBytes, typename Number>
HEARTH_INTO_CALLER inline void ConvolveDepthwiseLine(const DepthwiseConvolution<Number>& conv, const float* x,
                                                     int64_t line, float* y) {
  constexpr bool kIsExact = std::is_same_v<Number, double>;  // in the order of the reference, lines first
  const Shape &in = conv.in, &out = conv.out;
  const Window2D& window = conv.window;
  const int64_t channels = out[3], line_size = int64_t{in[2]} * channels;
  const TapRange lines =
      TapsInside(line % out[1], window.stride_h, conv.padding.top, window.dilation_h, conv.kernel_h, in[1]);
  DepthwisePixels pixels;
  pixels.pixel_step = window.stride_w * channels;
  (kIsExact ? pixels.outer : pixels.inner) = {lines.begin, lines.end, window.dilation_h * line_size,
                                              conv.kernel_w * channels};
  DepthwiseRange& columns = kIsExact ? pixels.inner : pixels.outer;
  columns = {0, 0, window.dilation_w * channels, channels};
  const float* from = x + (line / out[1] * in[1] + lines.origin) * line_size;
  // Pixels a multiple of 1 KiB apart share few sets of the first-level cache (14x14x512: 42 us instead of 52).
  const bool has_conflicts = pixels.pixel_step % 256 == 0;
  for (int64_t ox = 0; ox < out[2];) {
    const auto taps_at = [&](int64_t column) HEARTH_INTO_CALLER {
      return TapsInside(column, window.stride_w, conv.padding.left, window.dilation_w, conv.kernel_w, in[2]);
    };
    const TapRange taps = taps_at(ox);
    pixels.x = from + taps.origin * channels;
    columns.begin = taps.begin;
    columns.end = taps.end;
    pixels.y = y + (line * out[2] + ox) * channels;
    const auto are_whole = [&](int64_t count) HEARTH_INTO_CALLER {
      if (ox + count > out[2] || taps.end - taps.begin != conv.kernel_w) return false;
      const TapRange last = taps_at(ox + count - 1);
      return last.end - last.begin == conv.kernel_w;
    };
    const auto convolve = [&]<int kPixels>(std::integral_constant<int, kPixels>) HEARTH_INTO_CALLER {
      ConvolveDepthwise<kBytes, kPixels>(conv, pixels);
      ox += kPixels;
    };
    // Eight and two pixels would be 16 KB of code for the few layers that decide indices, and on x86 for processors of
    // before 2013.
#if defined(__x86_64__)
    constexpr bool kHasAll = !kIsExact && kBytes > 16;
#else
    constexpr bool kHasAll = !kIsExact;
#endif
    constexpr int kPair = kHasAll ? 2 : 1;
    if constexpr (kHasAll) {
      if (!has_conflicts && are_whole(8)) {
        convolve(std::integral_constant<int, 8>());
        continue;
      }
    }
    if (are_whole(4)) {
      convolve(std::integral_constant<int, 4>());
    } else if (are_whole(kPair)) {
      convolve(std::integral_constant<int, kPair>());
    } else {
      convolve(std::integral_constant<int, 1>());
    }
  }
}

template <typename Number>
Result<std::unique_ptr<HostNode>> MakeOf(const HostNodeRequest& request, const FloatConvolution& convolution) {
  const ActivationParts parts = ActivationPartsOf(convolution.activation);
  DepthwiseConvolution<Number> conv{convolution, nullptr, {}, parts.lowest, parts.highest};
  HEARTH_ASSIGN(conv.weights, SharedConstant<Number>(request, request.node.inputs[1]));
  conv.bias.resize(static_cast<size_t>(conv.out[3]));
  if (conv.has_bias) {
    HEARTH_ASSIGN(conv.bias, ConstantAs<Number>(request.graph, request.node.inputs[2]));
  }
  const uint64_t held_bytes = conv.bias.size() * sizeof(Number);
  return NodeOf(
      std::is_same_v<Number, double> ? "exact" : "depthwise",
      [conv = std::move(conv), x = request.arena.floats(request.node.inputs[0]).data(),
       out = HostOutput(request, parts.rest), &workers = request.workers] {
        const int64_t line_work = int64_t{conv.out[2]} * conv.out[3] * conv.kernel_h * conv.kernel_w;
        float* y = out.floats().data();
        workers.ForEachPart(
            int64_t{conv.out[0]} * conv.out[1], kMinWorkForThreads / line_work + 1, [&](int64_t begin, int64_t end) {
              RunWithVectorBytes<kMostBytesFor<Number>>(BestVectorSet(), [&](auto bytes) HEARTH_INTO_CALLER {
                for (int64_t line = begin; line < end; ++line)
                  ConvolveDepthwiseLine<decltype(bytes)::value>(conv, x, line, y);
              });
            });
        out.Finish();
      },
      held_bytes);
}

}  // namespace

Result<std::unique_ptr<HostNode>> MakeDepthwiseConvolutionNode(const HostNodeRequest& request) {
  const std::optional<FloatConvolution> convolution = FloatConvolutionOf(request);
  if (!convolution || !convolution->is_depthwise || !FitsExactness(request, *convolution)) return nullptr;
  return request.decides_indices ? MakeOf<double>(request, *convolution) : MakeOf<float>(request, *convolution);
}

}  // namespace hearth
