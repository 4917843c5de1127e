// Convolutions that add up in float64 as the reference does, in vectors and on all threads: for networks in which one
// bit decides an index (hair segmentation: 101 ms of 117 on a busy core in the reference).
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

constexpr int64_t kBlockInputs = 64;
constexpr int64_t kBlockOutputs = 8;  // whose sums are registers, for as many pixels as a vector has numbers:
constexpr int64_t kMostPixels = 8;

// What a tap gives to the sums of kPixels pixels, input by input as in the reference.
template <int kBytes, int kPixels>
HEARTH_INTO_CALLER inline void AddTap(const float* x, int64_t pixel_step, int64_t inputs, const double* weights,
                                      int64_t outputs, double* sums) {
  using Vector __attribute__((vector_size(kBytes))) = double;
  constexpr int kLanes = kBytes / sizeof(double), kVectors = kBlockOutputs / kLanes;
  for (int64_t first = 0; first < inputs; first += kBlockInputs, weights += kBlockInputs * outputs) {
    const int64_t count = std::min(kBlockInputs, inputs - first);
    double numbers[kPixels][kBlockInputs];
    for (int p = 0; p < kPixels; ++p) std::copy_n(x + p * pixel_step + first, count, numbers[p]);
    int64_t o = 0;
    for (; o + kBlockOutputs <= outputs; o += kBlockOutputs) {
      Vector tile[kPixels * kVectors];
      HEARTH_UNROLLED
      for (int k = 0; k < kPixels * kVectors; ++k) {
        const double* from = sums + k / kVectors * outputs + o + k % kVectors * kLanes;
        std::memcpy(&tile[k], from, sizeof(Vector));
      }
      for (int64_t i = 0; i < count; ++i) {
        Vector weight[kVectors];
        HEARTH_UNROLLED
        for (int v = 0; v < kVectors; ++v)
          std::memcpy(&weight[v], weights + i * outputs + o + v * kLanes, sizeof(Vector));
        HEARTH_UNROLLED
        for (int k = 0; k < kPixels * kVectors; ++k) tile[k] += numbers[k / kVectors][i] * weight[k % kVectors];
      }
      HEARTH_UNROLLED
      for (int k = 0; k < kPixels * kVectors; ++k) {
        double* to = sums + k / kVectors * outputs + o + k % kVectors * kLanes;
        std::memcpy(to, &tile[k], sizeof(Vector));
      }
    }
    for (; o < outputs; ++o) {
      for (int p = 0; p < kPixels; ++p) {
        double sum = sums[p * outputs + o];
        for (int64_t i = 0; i < count; ++i) sum += numbers[p][i] * weights[i * outputs + o];
        sums[p * outputs + o] = sum;
      }
    }
  }
}

// Output pixels of one row, from column `ox` on; more than one only where each of their taps is in the image's width.
template <int kBytes, int kPixels>
HEARTH_INTO_CALLER inline void ConvolvePixels(const ExactConvolution& conv, const float* x, int64_t row, int64_t ox,
                                              float* y, double* sums) {
  const Shape &in = conv.in, &out = conv.out;
  const int64_t inputs = in[3], outputs = out[3];
  const int64_t batch = row / out[1], top = row % out[1] * conv.window.stride_h - conv.padding.top;
  const int64_t left = ox * conv.window.stride_w - conv.padding.left, pixel_step = conv.window.stride_w * inputs;
  for (int p = 0; p < kPixels; ++p) std::copy(conv.bias.begin(), conv.bias.end(), sums + p * outputs);
  for (int64_t ky = 0; ky < conv.kernel_h; ++ky) {
    const int64_t iy = top + ky * conv.window.dilation_h;
    if (iy < 0 || iy >= in[1]) continue;
    for (int64_t kx = 0; kx < conv.kernel_w; ++kx) {
      const int64_t ix = left + kx * conv.window.dilation_w, tap = ky * conv.kernel_w + kx;
      if (ix < 0 || ix >= in[2]) continue;
      const float* from = x + ((batch * in[1] + iy) * in[2] + ix) * inputs;
      if (conv.is_depthwise) {
        const double* weights = conv.weights->numbers.data() + tap * inputs;
        for (int p = 0; p < kPixels; ++p) {
          for (int64_t c = 0; c < inputs; ++c) sums[p * outputs + c] += from[p * pixel_step + c] * weights[c];
        }
      } else {
        AddTap<kBytes, kPixels>(from, pixel_step, inputs, conv.weights->numbers.data() + tap * inputs * outputs,
                                outputs, sums);
      }
    }
  }
  const double lowest = conv.lowest, highest = conv.highest;
  float* to = y + (row * out[2] + ox) * outputs;
  for (int64_t o = 0; o < kPixels * outputs; ++o) {
    const double sum = sums[o] < lowest ? lowest : sums[o];
    to[o] = static_cast<float>(sum > highest ? highest : sum);
  }
}

// Row number `row` of all images' rows.
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

  Status Run() override {
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

// Constants as numbers; empty where they can't be read.
std::vector<double> NumbersOf(const Graph& graph, ValueId value) {
  Result<ReferenceTensor> tensor = ReferenceFromBytes(graph.value(value).desc, graph.ConstantBytes(value));
  return tensor.ok() ? std::move(tensor->values) : std::vector<double>();
}

// [output][tap][input] with the outputs as the fastest dimension.
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
