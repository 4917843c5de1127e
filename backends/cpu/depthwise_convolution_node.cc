// Depthwise convolutions of float32 with one output for each channel. With AVX-512 they take 0.5 to 0.8 times as long
// as XNNPACK's (Debian's of February 2022), with the same bits: the bias first, then the taps column by column.
#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/float_convolution.h"
#include "backends/cpu/host_output.h"
#include "backends/cpu/vectorized.h"
#include "core/graph/evaluate.h"

namespace hearth {
namespace {

struct DepthwiseTaps {
  std::vector<float> numbers;  // [tap][channel]
  uint64_t bytes() const { return numbers.size() * sizeof(float); }
};

struct DepthwiseConvolution : FloatConvolution {
  std::shared_ptr<const DepthwiseTaps> weights;
  std::vector<float> bias;
  float lowest = 0, highest = 0;
};

// Neighbouring pixels of an output line that have the same taps inside the image.
struct DepthwisePixels {
  const float* x = nullptr;  // address of the first pixel's first tap, even if it is outside
  int64_t line_step = 0, tap_step = 0, pixel_step = 0;
  int64_t first_line = 0, end_line = 0, first_tap = 0, end_tap = 0;
  float* y = nullptr;
};

// One vector of channels from `c` on.
template <int kBytes, int kPixels>
HEARTH_INTO_CALLER inline void AddTaps(const DepthwiseConvolution& conv, const DepthwisePixels& pixels, int64_t c) {
  typedef float Floats __attribute__((vector_size(kBytes)));
  const int64_t channels = conv.out[3];
  Floats sums[kPixels];
  HEARTH_UNROLLED for (int p = 0; p < kPixels; ++p) std::memcpy(&sums[p], conv.bias.data() + c, sizeof(Floats));
  for (int64_t kx = pixels.first_tap; kx < pixels.end_tap; ++kx) {
    const float* weights = conv.weights->numbers.data() + (pixels.first_line * conv.kernel_w + kx) * channels + c;
    const float* x = pixels.x + pixels.first_line * pixels.line_step + kx * pixels.tap_step + c;
    for (int64_t ky = pixels.first_line; ky < pixels.end_line; ++ky) {
      Floats weight;
      std::memcpy(&weight, weights, sizeof(Floats));
      HEARTH_UNROLLED for (int p = 0; p < kPixels; ++p) {
        Floats number;
        std::memcpy(&number, x + p * pixels.pixel_step, sizeof(Floats));
        sums[p] += number * weight;
      }
      weights += conv.kernel_w * channels;
      x += pixels.line_step;
    }
  }
  const Floats lowest = Floats{} + conv.lowest, highest = Floats{} + conv.highest;
  HEARTH_UNROLLED for (int p = 0; p < kPixels; ++p) {
    sums[p] = sums[p] < lowest ? lowest : sums[p];
    sums[p] = sums[p] > highest ? highest : sums[p];
    std::memcpy(pixels.y + p * channels + c, &sums[p], sizeof(Floats));
  }
}

// All channels; the last vector overlaps the one before it.
template <int kBytes, int kPixels>
HEARTH_INTO_CALLER inline void ConvolveDepthwise(const DepthwiseConvolution& conv, const DepthwisePixels& pixels) {
  constexpr int64_t kLanes = kBytes / sizeof(float);
  const int64_t channels = conv.out[3];
  if (channels >= kLanes) {
    for (int64_t c = 0; c + kLanes <= channels; c += kLanes) AddTaps<kBytes, kPixels>(conv, pixels, c);
    if (channels % kLanes != 0) AddTaps<kBytes, kPixels>(conv, pixels, channels - kLanes);
  } else if constexpr (kBytes > 16) {
    ConvolveDepthwise<kBytes / 2, kPixels>(conv, pixels);
  } else {
    for (int64_t c = 0; c < channels; ++c) AddTaps<sizeof(float), kPixels>(conv, pixels, c);
  }
}

// Computes one line, counted over all images.
template <int kBytes>
HEARTH_INTO_CALLER inline void ConvolveDepthwiseLine(const DepthwiseConvolution& conv, const float* x, int64_t line,
                                                     float* y) {
  const Shape &in = conv.in, &out = conv.out;
  const Window2D& window = conv.window;
  const int64_t channels = out[3], line_size = int64_t{in[2]} * channels;
  const TapRange lines =
      TapsInside(line % out[1], window.stride_h, conv.padding.top, window.dilation_h, conv.kernel_h, in[1]);
  DepthwisePixels pixels;
  pixels.line_step = window.dilation_h * line_size;
  pixels.tap_step = window.dilation_w * channels;
  pixels.pixel_step = window.stride_w * channels;
  pixels.first_line = lines.begin;
  pixels.end_line = lines.end;
  const float* from = x + (line / out[1] * in[1] + lines.origin) * line_size;
  // Pixels a multiple of 1 KiB apart share few sets of the first-level cache (14x14x512: 42 us instead of 52).
  const bool has_conflicts = pixels.pixel_step % 256 == 0;
  for (int64_t ox = 0; ox < out[2];) {
    const auto taps_at = [&](int64_t column) HEARTH_INTO_CALLER {
      return TapsInside(column, window.stride_w, conv.padding.left, window.dilation_w, conv.kernel_w, in[2]);
    };
    const TapRange taps = taps_at(ox);
    pixels.x = from + taps.origin * channels;
    pixels.first_tap = taps.begin;
    pixels.end_tap = taps.end;
    pixels.y = y + (line * out[2] + ox) * channels;
    const auto are_whole = [&](int64_t count) HEARTH_INTO_CALLER {
      if (ox + count > out[2] || taps.end - taps.begin != conv.kernel_w) return false;
      const TapRange last = taps_at(ox + count - 1);
      return last.end - last.begin == conv.kernel_w;
    };
    if (!has_conflicts && are_whole(8)) {
      ConvolveDepthwise<kBytes, 8>(conv, pixels);
      ox += 8;
    } else if (are_whole(4)) {
      ConvolveDepthwise<kBytes, 4>(conv, pixels);
      ox += 4;
    } else if (are_whole(2)) {
      ConvolveDepthwise<kBytes, 2>(conv, pixels);
      ox += 2;
    } else {
      ConvolveDepthwise<kBytes, 1>(conv, pixels);
      ++ox;
    }
  }
}

class DepthwiseConvolutionNode final : public HostNode {
 public:
  DepthwiseConvolutionNode(const HostNodeRequest& request, DepthwiseConvolution conv)
      : conv_(std::move(conv)),
        x_(request.arena.floats(request.node.inputs[0]).data()),
        out_(request, ActivationPartsOf(conv_.activation).rest),
        workers_(request.workers) {}

  std::string_view kernel() const override { return "depthwise"; }
  std::optional<uint64_t> held_bytes() const override { return conv_.bias.size() * sizeof(float); }

  Status Run(RunControl* /*control*/) override {
    const int64_t line_work = int64_t{conv_.out[2]} * conv_.out[3] * conv_.kernel_h * conv_.kernel_w;
    float* y = out_.floats().data();
    workers_.ForEachPart(int64_t{conv_.out[0]} * conv_.out[1], kMinWorkForThreads / line_work + 1,
                         [&](int64_t begin, int64_t end) {
                           RunWithVectorBytes(BestVectorSet(), [&](auto bytes) HEARTH_INTO_CALLER {
                             for (int64_t line = begin; line < end; ++line)
                               ConvolveDepthwiseLine<decltype(bytes)::value>(conv_, x_, line, y);
                           });
                         });
    out_.Finish();
    return Status::Ok();
  }

 private:
  const DepthwiseConvolution conv_;
  const float* x_;
  HostOutput out_;
  WorkerPool& workers_;
};

}  // namespace

Result<std::unique_ptr<HostNode>> MakeDepthwiseConvolutionNode(const HostNodeRequest& request) {
  const std::optional<FloatConvolution> convolution = FloatConvolutionOf(request);
  if (!convolution || !convolution->is_depthwise || request.decides_indices) return std::unique_ptr<HostNode>();
  const ActivationParts parts = ActivationPartsOf(convolution->activation);
  DepthwiseConvolution conv{*convolution, nullptr, {}, parts.lowest, parts.highest};
  const WeightsKey key = WeightsKey("depthwise floats").Add(request.graph, request.node.inputs[1]);
  conv.weights = request.weights.Find<DepthwiseTaps>(key);
  if (conv.weights == nullptr) {
    HEARTH_ASSIGN(std::vector<float> numbers, ConstantAsFloats(request.graph, request.node.inputs[1]));
    conv.weights = request.weights.Add(key, DepthwiseTaps{std::move(numbers)});
  }
  conv.bias.resize(static_cast<size_t>(conv.out[3]));
  if (conv.has_bias) {
    HEARTH_ASSIGN(conv.bias, ConstantAsFloats(request.graph, request.node.inputs[2]));
  }
  return std::unique_ptr<HostNode>(std::make_unique<DepthwiseConvolutionNode>(request, std::move(conv)));
}

}  // namespace hearth
