// Convolutions with float64 sums like the reference's, but in vectors and on all threads, for networks in which one bit
// decides an index (hair segmentation: 101 ms of 117 on a busy core in the reference).
#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/float_convolution.h"
#include "backends/cpu/vectorized.h"
#include "core/graph/evaluate.h"
#include "core/graph/ops/elementwise_table.h"

namespace hearth {
namespace {

struct ExactWeights {
  std::vector<double> numbers;  // [tap][input channel][output channel]; depthwise [tap][channel]
  uint64_t bytes() const { return numbers.size() * sizeof(double); }
};

struct ExactConvolution : FloatConvolution {
  float lowest = 0, highest = 0;
  std::shared_ptr<const ExactWeights> weights;
  std::vector<double> bias;
};

constexpr int64_t kExactDepth = 256;  // inputs of this depth are converted at a time
constexpr int64_t kNumbersStep = kExactDepth + 8;
constexpr int64_t kBlockOutputs = 8;  // outputs whose sums are registers, for as many pixels as a vector has numbers
constexpr int64_t kMostPixels = 8;

// Adds `count` inputs of kPixels pixels to the sums of kVectors vectors of outputs, input by input as the reference
// does.
template <int kBytes, int kPixels, int kVectors>
HEARTH_INTO_CALLER inline void AddToOutputs(const double* numbers, int64_t count, const double* weights,
                                            int64_t outputs, double* sums) {
  using Vector __attribute__((vector_size(kBytes))) = double;
  constexpr int kLanes = kBytes / sizeof(double);
  Vector tile[kPixels][kVectors];
  HEARTH_UNROLLED for (int p = 0; p < kPixels; ++p) {
    HEARTH_UNROLLED for (int v = 0; v < kVectors; ++v)
        std::memcpy(&tile[p][v], sums + p * outputs + v * kLanes, sizeof(Vector));
  }
  for (int64_t i = 0; i < count; ++i) {
    Vector weight[kVectors];
    HEARTH_UNROLLED for (int v = 0; v < kVectors; ++v)
        std::memcpy(&weight[v], weights + i * outputs + v * kLanes, sizeof(Vector));
    HEARTH_UNROLLED for (int p = 0; p < kPixels; ++p) {
      HEARTH_UNROLLED for (int v = 0; v < kVectors; ++v) tile[p][v] += numbers[p * kNumbersStep + i] * weight[v];
    }
  }
  HEARTH_UNROLLED for (int p = 0; p < kPixels; ++p) {
    HEARTH_UNROLLED for (int v = 0; v < kVectors; ++v)
        std::memcpy(sums + p * outputs + v * kLanes, &tile[p][v], sizeof(Vector));
  }
}

// The same for all outputs.
template <int kBytes, int kPixels>
HEARTH_INTO_CALLER inline void AddNumbers(const double* numbers, int64_t count, const double* weights, int64_t outputs,
                                          double* sums) {
  constexpr int kLanes = kBytes / sizeof(double), kVectors = kBlockOutputs / kLanes;
  int64_t o = 0;
  if constexpr (kBytes == 64) {  // half of the 32 registers are sums
    for (; o + 2 * kBlockOutputs <= outputs; o += 2 * kBlockOutputs)
      AddToOutputs<kBytes, kPixels, 2 * kVectors>(numbers, count, weights + o, outputs, sums + o);
  }
  for (; o + kBlockOutputs <= outputs; o += kBlockOutputs)
    AddToOutputs<kBytes, kPixels, kVectors>(numbers, count, weights + o, outputs, sums + o);
  for (; o < outputs; ++o) {
    for (int p = 0; p < kPixels; ++p) {
      double sum = sums[p * outputs + o];
      for (int64_t i = 0; i < count; ++i) sum += numbers[p * kNumbersStep + i] * weights[i * outputs + o];
      sums[p * outputs + o] = sum;
    }
  }
}

// Neighbouring pixels of an output row: where their windows begin, and which taps are in the image.
struct ExactPixels {
  const float* x = nullptr;  // address of the first pixel's first tap, even if it is outside
  int64_t line_step = 0, tap_step = 0, pixel_step = 0;
  TapRange lines, taps;
};

// Windows that are entirely in the image, some of their lines at a time.
template <int kBytes, int kPixels>
HEARTH_INTO_CALLER inline void AddWindows(const ExactConvolution& conv, const ExactPixels& pixels, double* sums) {
  const int64_t run = int64_t{conv.kernel_w} * conv.in[3], outputs = conv.out[3], most_lines = kExactDepth / run;
  double numbers[kPixels * kNumbersStep];
  for (int64_t ky = 0; ky < conv.kernel_h; ky += most_lines) {
    const int64_t lines = std::min<int64_t>(most_lines, conv.kernel_h - ky);
    for (int p = 0; p < kPixels; ++p) {
      for (int64_t line = 0; line < lines; ++line) {
        const float* from = pixels.x + p * pixels.pixel_step + (ky + line) * pixels.line_step;
        std::copy_n(from, run, numbers + p * kNumbersStep + line * run);
      }
    }
    AddNumbers<kBytes, kPixels>(numbers, lines * run, conv.weights->numbers.data() + ky * run * outputs, outputs, sums);
  }
}

// Adds the taps that are in the image, one by one.
template <int kBytes, int kPixels>
HEARTH_INTO_CALLER inline void AddExactTaps(const ExactConvolution& conv, const ExactPixels& pixels, double* sums) {
  const int64_t inputs = conv.in[3], outputs = conv.out[3];
  double numbers[kPixels * kNumbersStep];
  for (int64_t ky = pixels.lines.begin; ky < pixels.lines.end; ++ky) {
    for (int64_t kx = pixels.taps.begin; kx < pixels.taps.end; ++kx) {
      const float* from = pixels.x + ky * pixels.line_step + kx * pixels.tap_step;
      const double* weights = conv.weights->numbers.data() + (ky * conv.kernel_w + kx) * inputs * outputs;
      for (int64_t first = 0; first < inputs; first += kExactDepth) {
        const int64_t count = std::min(kExactDepth, inputs - first);
        for (int p = 0; p < kPixels; ++p)
          std::copy_n(from + p * pixels.pixel_step + first, count, numbers + p * kNumbersStep);
        AddNumbers<kBytes, kPixels>(numbers, count, weights + first * outputs, outputs, sums);
      }
    }
  }
}

// Depthwise: one vector of channels from `c` on.
template <int kBytes, int kPixels>
HEARTH_INTO_CALLER inline void AddChannels(const ExactConvolution& conv, const ExactPixels& pixels, int64_t c,
                                           double* sums) {
  using Vector __attribute__((vector_size(kBytes))) = double;
  constexpr int kLanes = kBytes / sizeof(double);
  const int64_t channels = conv.in[3];
  Vector tile[kPixels];
  HEARTH_UNROLLED for (int p = 0; p < kPixels; ++p) std::memcpy(&tile[p], sums + p * channels + c, sizeof(Vector));
  for (int64_t ky = pixels.lines.begin; ky < pixels.lines.end; ++ky) {
    for (int64_t kx = pixels.taps.begin; kx < pixels.taps.end; ++kx) {
      const float* from = pixels.x + ky * pixels.line_step + kx * pixels.tap_step + c;
      Vector weight;
      std::memcpy(&weight, conv.weights->numbers.data() + (ky * conv.kernel_w + kx) * channels + c, sizeof(Vector));
      HEARTH_UNROLLED for (int p = 0; p < kPixels; ++p) {
        double converted[kLanes];
        std::copy_n(from + p * pixels.pixel_step, kLanes, converted);
        Vector number;
        std::memcpy(&number, converted, sizeof(Vector));
        tile[p] += number * weight;
      }
    }
  }
  HEARTH_UNROLLED for (int p = 0; p < kPixels; ++p) std::memcpy(sums + p * channels + c, &tile[p], sizeof(Vector));
}

template <int kBytes, int kPixels>
HEARTH_INTO_CALLER inline void AddDepthwise(const ExactConvolution& conv, const ExactPixels& pixels, double* sums) {
  constexpr int64_t kLanes = kBytes / sizeof(double);
  int64_t c = 0;
  for (; c + kLanes <= conv.in[3]; c += kLanes) AddChannels<kBytes, kPixels>(conv, pixels, c, sums);
  for (; c < conv.in[3]; ++c) AddChannels<sizeof(double), kPixels>(conv, pixels, c, sums);
}

// Output pixels of one row from column `ox` on. Several only if all their taps are within the image's width.
template <int kBytes, int kPixels>
HEARTH_INTO_CALLER inline void ConvolvePixels(const ExactConvolution& conv, const float* x, int64_t row, int64_t ox,
                                              float* y, double* sums) {
  const Shape &in = conv.in, &out = conv.out;
  const Window2D& window = conv.window;
  const int64_t inputs = in[3], outputs = out[3], batch = row / out[1];
  ExactPixels pixels;
  pixels.lines = TapsInside(row % out[1], window.stride_h, conv.padding.top, window.dilation_h, conv.kernel_h, in[1]);
  pixels.taps = TapsInside(ox, window.stride_w, conv.padding.left, window.dilation_w, conv.kernel_w, in[2]);
  pixels.x = x + ((batch * in[1] + pixels.lines.origin) * in[2] + pixels.taps.origin) * inputs;
  pixels.line_step = int64_t{window.dilation_h} * in[2] * inputs;
  pixels.tap_step = window.dilation_w * inputs;
  pixels.pixel_step = window.stride_w * inputs;
  for (int p = 0; p < kPixels; ++p) std::copy(conv.bias.begin(), conv.bias.end(), sums + p * outputs);
  const bool are_whole =
      pixels.lines.end - pixels.lines.begin == conv.kernel_h && pixels.taps.end - pixels.taps.begin == conv.kernel_w;
  if (conv.is_depthwise) {
    AddDepthwise<kBytes, kPixels>(conv, pixels, sums);
  } else if (are_whole && window.dilation_w == 1 && conv.kernel_w * inputs <= kExactDepth) {
    AddWindows<kBytes, kPixels>(conv, pixels, sums);
  } else {
    AddExactTaps<kBytes, kPixels>(conv, pixels, sums);
  }
  const double lowest = conv.lowest, highest = conv.highest;
  float* to = y + (row * out[2] + ox) * outputs;
  for (int64_t o = 0; o < kPixels * outputs; ++o) {
    const double sum = sums[o] < lowest ? lowest : sums[o];
    to[o] = static_cast<float>(sum > highest ? highest : sum);
  }
}

// Computes one row, counted over all images.
template <int kBytes>
HEARTH_INTO_CALLER inline void ConvolveRow(const ExactConvolution& conv, const float* x, int64_t row, float* y,
                                           double* sums) {
  constexpr int kPixels = kBytes / sizeof(double);
  const int64_t width = conv.out[2], step = conv.window.stride_w;
  const int64_t reach = (conv.kernel_w - 1) * conv.window.dilation_w;
  for (int64_t ox = 0; ox < width;) {
    const int64_t left = ox * step - conv.padding.left;
    if (left >= 0 && ox + kPixels <= width && left + (kPixels - 1) * step + reach < conv.in[2]) {
      ConvolvePixels<kBytes, kPixels>(conv, x, row, ox, y, sums);
      ox += kPixels;
    } else {
      ConvolvePixels<kBytes, 1>(conv, x, row, ox, y, sums);
      ++ox;
    }
  }
}

class ExactConvolutionNode final : public HostNode {
 public:
  ExactConvolutionNode(const HostNodeRequest& request, ExactConvolution conv)
      : conv_(std::move(conv)),
        x_(request.arena.floats(request.node.inputs[0])),
        y_(request.arena.floats(request.node.outputs[0])),
        workers_(request.workers) {}

  std::string_view kernel() const override { return "exact"; }
  std::optional<uint64_t> held_bytes() const override { return conv_.bias.size() * sizeof(double); }

  Status Run(RunControl* /*control*/) override {
    workers_.ForEachPart(int64_t{conv_.out[0]} * conv_.out[1], 1, [&](int64_t begin, int64_t end) {
      std::vector<double> sums(static_cast<size_t>(kMostPixels * conv_.out[3]));
      RunWithVectorBytes(BestVectorSet(), [&](auto bytes) HEARTH_INTO_CALLER {
        for (int64_t row = begin; row < end; ++row)
          ConvolveRow<decltype(bytes)::value>(conv_, x_.data(), row, y_.data(), sums.data());
      });
    });
    return Status::Ok();
  }

 private:
  const ExactConvolution conv_;
  std::span<const float> x_;
  std::span<float> y_;
  WorkerPool& workers_;
};

// The numbers of a constant; empty if they can't be read.
std::vector<double> NumbersOf(const Graph& graph, ValueId value) {
  Result<ReferenceTensor> tensor = ReferenceFromBytes(graph.value(value).desc, graph.ConstantBytes(value));
  return tensor.ok() ? std::move(tensor->values) : std::vector<double>();
}

// Copies weights [output][tap][input] so that outputs are the fastest dimension.
std::vector<double> OutputsLast(const std::vector<double>& filter, int64_t outputs) {
  const int64_t others = static_cast<int64_t>(filter.size()) / outputs;
  std::vector<double> turned(filter.size());
  for (int64_t o = 0; o < outputs; ++o) {
    for (int64_t k = 0; k < others; ++k) turned[k * outputs + o] = filter[o * others + k];
  }
  return turned;
}

}  // namespace

Result<std::unique_ptr<HostNode>> MakeExactConvolutionNode(const HostNodeRequest& request) {
  const std::optional<FloatConvolution> convolution = FloatConvolutionOf(request);
  if (!convolution || !request.decides_indices) return std::unique_ptr<HostNode>();
  const auto bounds = ActivationBounds(convolution->activation);
  if (!bounds) return std::unique_ptr<HostNode>();
  const Graph& graph = request.graph;
  const std::vector<ValueId>& inputs = request.node.inputs;
  ExactConvolution conv{*convolution, bounds->first, bounds->second, {}, {}};
  const int64_t outputs = conv.out[3];
  const WeightsKey key = WeightsKey("exact").Add(graph, inputs[1]).Add(conv.is_depthwise ? 1 : 0);
  conv.weights = request.weights.FindOrMake<ExactWeights>(key, [&] {
    std::vector<double> numbers = NumbersOf(graph, inputs[1]);
    return ExactWeights{conv.is_depthwise ? std::move(numbers) : OutputsLast(numbers, outputs)};
  });
  conv.bias = conv.has_bias ? NumbersOf(graph, inputs[2]) : std::vector<double>(static_cast<size_t>(outputs));
  if (conv.weights->numbers.empty() || conv.bias.size() != static_cast<size_t>(outputs))
    return std::unique_ptr<HostNode>();
  return std::unique_ptr<HostNode>(std::make_unique<ExactConvolutionNode>(request, std::move(conv)));
}

}  // namespace hearth
