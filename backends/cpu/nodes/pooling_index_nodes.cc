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
class MaxUnpoolNode final : public HostNode {
 public:
  explicit MaxUnpoolNode(const HostNodeRequest& request)
      : unpool_(std::get<MaxUnpool2D>(request.node.op)),
        in_(request.in(0).shape),
        out_(request.out().shape),
        padding_(UnpoolPadding(unpool_, in_[1], in_[2])),
        x_(request.arena.floats(request.node.inputs[0])),
        places_(request.arena.floats(request.node.inputs[1])),
        y_(request.arena.floats(request.node.outputs[0])) {}

  std::string_view kernel() const override { return "pooling_indices"; }

  Status Run(RunControl* /*control*/) override {
    std::fill(y_.begin(), y_.end(), 0.0f);
    const int64_t channels = in_[3], pixels = int64_t{in_[0]} * in_[1] * in_[2];
    const auto window = static_cast<float>(int64_t{unpool_.kernel_h} * unpool_.kernel_w);
    for (int64_t pixel = 0; pixel < pixels; ++pixel) {
      const int64_t x = pixel % in_[2], y = pixel / in_[2] % in_[1], batch = pixel / in_[2] / in_[1];
      const int64_t top = y * unpool_.stride_h - padding_.top, left = x * unpool_.stride_w - padding_.left;
      for (int64_t c = 0; c < channels; ++c) {
        const float position = places_[pixel * channels + c];
        if (!(position >= 0.0f && position < window)) continue;
        const auto place = static_cast<int32_t>(position);
        const int64_t out_y = top + place / unpool_.kernel_w, out_x = left + place % unpool_.kernel_w;
        if (out_y < 0 || out_y >= out_[1] || out_x < 0 || out_x >= out_[2]) continue;
        y_[((batch * out_[1] + out_y) * out_[2] + out_x) * channels + c] = x_[pixel * channels + c];
      }
    }
    return Status::Ok();
  }

 private:
  const MaxUnpool2D& unpool_;
  const Shape in_, out_;
  const Padding2D padding_;
  std::span<const float> x_, places_;
  std::span<float> y_;
};

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
  if (std::holds_alternative<MaxUnpool2D>(request.node.op)) {
    return std::make_unique<MaxUnpoolNode>(request);
  }
  const auto* pool = std::get_if<MaxPoolArgmax2D>(&request.node.op);
  if (pool == nullptr) return nullptr;
  const auto bounds = ActivationBounds(pool->activation);
  if (!bounds) return nullptr;
  return std::make_unique<MaxPoolArgmaxNode>(request, *bounds);
}

}  // namespace hearth
