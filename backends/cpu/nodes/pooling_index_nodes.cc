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

struct ArgmaxPool {
  const MaxPoolArgmax2D& pool;
  Shape in, out;
  Padding2D padding;
  std::pair<float, float> bounds;
  const float* x;
  float *maxima, *places;

  HEARTH_INTO_CALLER inline void PoolWindow(int64_t row, int64_t ox) const {
    const int64_t channels = in[3], at = (row * out[2] + ox) * channels;
    float *largest = maxima + at, *its_places = places + at;
    std::fill_n(largest, channels, std::numeric_limits<float>::lowest());
    std::fill_n(its_places, channels, 0.0f);
    for (int64_t ky = 0; ky < pool.kernel_h; ++ky) {
      const int64_t iy = row % out[1] * pool.window.stride_h - padding.top + ky;
      if (iy < 0 || iy >= in[1]) continue;
      for (int64_t kx = 0; kx < pool.kernel_w; ++kx) {
        const int64_t ix = ox * pool.window.stride_w - padding.left + kx;
        if (ix < 0 || ix >= in[2]) continue;
        const float* from = x + ((row / out[1] * in[1] + iy) * in[2] + ix) * channels;
        const auto place = static_cast<float>(ky * pool.kernel_w + kx);
        for (int64_t c = 0; c < channels; ++c) {
          const bool is_higher = from[c] > largest[c];
          largest[c] = LargerOf(largest[c], from[c]);
          its_places[c] = is_higher ? place : its_places[c];
        }
      }
    }
    for (int64_t c = 0; c < channels; ++c) {
      largest[c] = std::clamp(largest[c], bounds.first, bounds.second);
      its_places[c] = static_cast<float>(its_places[c] + 0.1);
    }
  }
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
  const Shape &in = request.in(0).shape, &out = request.out().shape;
  const std::span<const float> x = request.arena.floats(request.node.inputs[0]);
  const std::span<float> y = request.arena.floats(request.node.outputs[0]);
  if (const auto* unpool = std::get_if<MaxUnpool2D>(&request.node.op)) {
    return NodeOf("pooling_indices", [unpool, &in, &out, x, places = request.arena.floats(request.node.inputs[1]), y] {
      Unpool(*unpool, in, out, x, places, y);
    });
  }
  const auto* pool = std::get_if<MaxPoolArgmax2D>(&request.node.op);
  if (pool == nullptr) return nullptr;
  const auto bounds = ActivationBounds(pool->activation);
  if (!bounds) return nullptr;
  const Padding2D padding = ResolvePadding(pool->window, in[1], in[2], pool->kernel_h, pool->kernel_w);
  float* const places = request.arena.floats(request.node.outputs[1]).data();
  const ArgmaxPool task{*pool, in, out, padding, *bounds, x.data(), y.data(), places};
  return NodeOf("pooling_indices", [task, &workers = request.workers] {
    workers.ForEachPart(int64_t{task.out[0]} * task.out[1], 4, [&](int64_t begin, int64_t end) {
      Vectorized([&]() HEARTH_INTO_CALLER {
        for (int64_t row = begin; row < end; ++row) {
          for (int64_t ox = 0; ox < task.out[2]; ++ox) task.PoolWindow(row, ox);
        }
      });
    });
  });
}

}  // namespace hearth
