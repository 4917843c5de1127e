// MediaPipe's max pooling with argmax, and its unpooling.
#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/vectorized.h"
#include "core/base/numbers.h"
#include "core/graph/ops/elementwise_table.h"
#include "core/graph/ops/window.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

class MaxPoolArgmaxNode final : public HostNode {
 public:
  MaxPoolArgmaxNode(const HostNodeRequest& request, std::pair<float, float> bounds)
      : pool_(std::get<MaxPoolArgmax2D>(request.node.op)),
        in_(request.in(0).shape),
        out_(request.out().shape),
        padding_(ResolvePadding(pool_.window, in_[1], in_[2], pool_.kernel_h, pool_.kernel_w)),
        bounds_(bounds),
        x_(request.arena.floats(request.node.inputs[0])),
        maxima_(request.arena.floats(request.node.outputs[0])),
        places_(request.arena.floats(request.node.outputs[1])),
        workers_(request.workers) {}

  std::string_view kernel() const override { return "pooling_indices"; }

  Status Run(RunControl* /*control*/) override {
    workers_.ForEachPart(int64_t{out_[0]} * out_[1], 4, [&](int64_t begin, int64_t end) {
      Vectorized([&]() HEARTH_INTO_CALLER {
        for (int64_t row = begin; row < end; ++row) {
          for (int64_t ox = 0; ox < out_[2]; ++ox) PoolWindow(row, ox);
        }
      });
    });
    return Status::Ok();
  }

 private:
  HEARTH_INTO_CALLER inline void PoolWindow(int64_t row, int64_t ox) {
    const int64_t channels = in_[3], at = (row * out_[2] + ox) * channels;
    float *maxima = maxima_.data() + at, *places = places_.data() + at;
    std::fill_n(maxima, channels, std::numeric_limits<float>::lowest());
    std::fill_n(places, channels, 0.0f);
    for (int64_t ky = 0; ky < pool_.kernel_h; ++ky) {
      const int64_t iy = row % out_[1] * pool_.window.stride_h - padding_.top + ky;
      if (iy < 0 || iy >= in_[1]) continue;
      for (int64_t kx = 0; kx < pool_.kernel_w; ++kx) {
        const int64_t ix = ox * pool_.window.stride_w - padding_.left + kx;
        if (ix < 0 || ix >= in_[2]) continue;
        const float* x = x_.data() + ((row / out_[1] * in_[1] + iy) * in_[2] + ix) * channels;
        const auto place = static_cast<float>(ky * pool_.kernel_w + kx);
        for (int64_t c = 0; c < channels; ++c) {
          const bool is_higher = x[c] > maxima[c];
          maxima[c] = LargerOf(maxima[c], x[c]);
          places[c] = is_higher ? place : places[c];
        }
      }
    }
    for (int64_t c = 0; c < channels; ++c) {
      maxima[c] = std::clamp(maxima[c], bounds_.first, bounds_.second);
      places[c] = static_cast<float>(places[c] + 0.1);
    }
  }

  const MaxPoolArgmax2D& pool_;
  const Shape in_, out_;
  const Padding2D padding_;
  const std::pair<float, float> bounds_;
  std::span<const float> x_;
  std::span<float> maxima_, places_;
  WorkerPool& workers_;
};

// On the calling thread: if windows overlap, the last one counts.
void Unpool(const MaxUnpool2D& unpool, const Shape& in, const Shape& out, std::span<const float> x,
            std::span<const float> places, std::span<float> result) {
  std::fill(result.begin(), result.end(), 0.0f);
  const Padding2D padding = UnpoolPadding(unpool, in[1], in[2]);
  const int64_t channels = in[3], pixels = int64_t{in[0]} * in[1] * in[2];
  const auto window = static_cast<float>(int64_t{unpool.kernel_h} * unpool.kernel_w);
  for (int64_t pixel = 0; pixel < pixels; ++pixel) {
    const int64_t column = pixel % in[2], line = pixel / in[2] % in[1], batch = pixel / in[2] / in[1];
    const int64_t top = line * unpool.stride_h - padding.top, left = column * unpool.stride_w - padding.left;
    for (int64_t c = 0; c < channels; ++c) {
      const float position = places[pixel * channels + c];
      if (!(position >= 0.0f && position < window)) continue;
      const auto place = static_cast<int32_t>(position);
      const int64_t out_y = top + place / unpool.kernel_w, out_x = left + place % unpool.kernel_w;
      if (out_y < 0 || out_y >= out[1] || out_x < 0 || out_x >= out[2]) continue;
      result[((batch * out[1] + out_y) * out[2] + out_x) * channels + c] = x[pixel * channels + c];
    }
  }
}

bool AreFloats(const Graph& graph, const Node& node) {
  for (const auto* list : {&node.inputs, &node.outputs}) {
    for (ValueId value : *list) {
      if (value == kNoValue || graph.IsConstant(value) || !IsPlainFloat32(graph.value(value).desc)) return false;
    }
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<HostNode>> MakePoolingIndexNode(const HostNodeRequest& request) {
  if (!AreFloats(request.graph, request.node)) return nullptr;
  if (const auto* unpool = std::get_if<MaxUnpool2D>(&request.node.op)) {
    return NodeOf(
        "pooling_indices",
        [unpool, &in = request.in(0).shape, &out = request.out().shape,
         x = request.arena.floats(request.node.inputs[0]), places = request.arena.floats(request.node.inputs[1]),
         y = request.arena.floats(request.node.outputs[0])] { Unpool(*unpool, in, out, x, places, y); });
  }
  const auto* pool = std::get_if<MaxPoolArgmax2D>(&request.node.op);
  if (pool == nullptr) return nullptr;
  const auto bounds = ActivationBounds(pool->activation);
  if (!bounds) return nullptr;
  return std::make_unique<MaxPoolArgmaxNode>(request, *bounds);
}

}  // namespace hearth
