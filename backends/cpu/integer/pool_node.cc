// Maxima and means over windows of 8-bit images.
#include <algorithm>

#include "backends/cpu/host/vector_math.h"
#include "backends/cpu/host/vectorized.h"
#include "backends/cpu/integer/integer_nodes.h"
#include "backends/cpu/integer/layer.h"
#include "core/graph/ops/elementwise_table.h"
#include "core/graph/ops/window.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

constexpr int64_t kLeastPoolReads = 100'000;  // elements read; fewer take less time than waking a worker
constexpr int32_t kBlock = 64;                // channels whose sums or maxima stay in registers
constexpr int64_t kMostTaps = 1 << 22;        // their sum fits 32 bits

struct Image {
  int64_t batch = 1;
  int32_t height = 1, width = 1, channels = 1;
};

struct PoolTask {
  bool is_mean = false;
  Image in;
  int32_t out_h = 1, out_w = 1, kernel_h = 1, kernel_w = 1;
  Window2D window;
  Padding2D padding;
  TensorGrid from, to;
  float lowest = 0, highest = 0;  // the activation's, in steps of `to`
  bool changes_numbers = false;   // a maximum is looked up in the table
  bool averages_stored = false;   // AVERAGE_POOL_2D between equal grids
  ByteTable table{};
};

// The window of one output pixel, `width` channels of it.
template <typename T>
struct Taps {
  const T* first = nullptr;
  int64_t lines = 0, pixels = 0, line_step = 0, pixel_step = 0;
};

template <typename T>
HEARTH_INTO_CALLER inline void StoreMean(const PoolTask& task, const Taps<T>& taps, int32_t width, T* out) {
  int32_t sums[kBlock] = {};
  for (int64_t y = 0; y < taps.lines; ++y) {
    const T* tap = taps.first + y * taps.line_step;
    for (int64_t x = 0; x < taps.pixels; ++x, tap += taps.pixel_step) {
      for (int32_t c = 0; c < width; ++c) sums[c] += tap[c];
    }
  }
  const auto count = static_cast<int32_t>(taps.lines * taps.pixels);
  const TensorGrid from = task.from, to = task.to;
  const float lowest = task.lowest, highest = task.highest;
  const int32_t from_zero = static_cast<int32_t>(from.zero_point) * count;
  const auto to_zero = static_cast<int32_t>(to.zero_point);
  const float taken = static_cast<float>(std::max(1, count));
  if (task.averages_stored) {
    // LiteRT's kernel rounds the average of the stored numbers, half away from zero.
    const float least = to.zero_point + lowest, most = to.zero_point + highest;
    for (int32_t c = 0; c < width; ++c) {
      float stored = static_cast<float>(sums[c]) / taken;
      stored = stored > least ? stored : least;
      stored = stored < most ? stored : most;
      out[c] = static_cast<T>(stored + (stored < 0.0f ? -0.5f : 0.5f));
    }
    return;
  }
  // XNNPACK's rule for MEAN, but for the order of its roundings: 10 of a million elements are a step off.
  const float scale = from.scale / to.scale / taken;
  for (int32_t c = 0; c < width; ++c) {
    float steps = static_cast<float>(sums[c] - from_zero) * scale;
    steps = steps > lowest ? steps : lowest;
    steps = steps < highest ? steps : highest;
    out[c] = static_cast<T>(static_cast<int32_t>(RoundedToEven(steps)) + to_zero);
  }
}

template <typename T>
HEARTH_INTO_CALLER inline void StoreMaximum(const PoolTask& task, const Taps<T>& taps, int32_t width, T* out) {
  T maxima[kBlock];
  std::fill_n(maxima, kBlock, std::numeric_limits<T>::lowest());
  for (int64_t y = 0; y < taps.lines; ++y) {
    const T* tap = taps.first + y * taps.line_step;
    for (int64_t x = 0; x < taps.pixels; ++x, tap += taps.pixel_step) {
      for (int32_t c = 0; c < width; ++c) maxima[c] = tap[c] > maxima[c] ? tap[c] : maxima[c];
    }
  }
  if (task.changes_numbers) {
    ApplyTable(task.table, reinterpret_cast<const uint8_t*>(maxima), reinterpret_cast<uint8_t*>(out), width);
  } else {
    for (int32_t c = 0; c < width; ++c) out[c] = maxima[c];
  }
}

// Full blocks have a constant length for the compiler.
template <typename T>
HEARTH_INTO_CALLER inline void StorePixel(const PoolTask& task, Taps<T> taps, T* out) {
  // 64 bits: the end of the last block may exceed 32.
  for (int64_t c = 0; c < task.in.channels; c += kBlock, taps.first += kBlock, out += kBlock) {
    const auto width = static_cast<int32_t>(std::min<int64_t>(kBlock, task.in.channels - c));
    if (task.is_mean) {
      width == kBlock ? StoreMean(task, taps, kBlock, out) : StoreMean(task, taps, width, out);
    } else {
      width == kBlock ? StoreMaximum(task, taps, kBlock, out) : StoreMaximum(task, taps, width, out);
    }
  }
}

template <typename T>
void PoolRows(const PoolTask& task, const T* x, T* y, int64_t begin, int64_t end) {
  const Image& in = task.in;
  const Window2D& window = task.window;
  Vectorized([&]() HEARTH_INTO_CALLER {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t batch = row / task.out_h, oy = row % task.out_h;
      const TapRange lines = TapsInside(oy, window.stride_h, task.padding.top, 1, task.kernel_h, in.height);
      for (int64_t ox = 0; ox < task.out_w; ++ox) {
        const TapRange pixels = TapsInside(ox, window.stride_w, task.padding.left, 1, task.kernel_w, in.width);
        const int64_t line = batch * in.height + lines.origin + lines.begin;
        const int64_t pixel = line * in.width + pixels.origin + pixels.begin;
        const Taps<T> taps{x + pixel * in.channels, lines.end - lines.begin, pixels.end - pixels.begin,
                           int64_t{in.width} * in.channels, in.channels};
        StorePixel(task, taps, y + (row * task.out_w + ox) * in.channels);
      }
    }
  });
}

std::unique_ptr<HostNode> PoolOf(const HostNodeRequest& request, const PoolTask& task) {
  return NodeOf("integer", [task, is_signed = request.in(0).dtype == DType::kInt8,
                            x = request.bytes(request.node.inputs[0]).data(),
                            y = request.bytes(request.node.outputs[0]).data(), &workers = request.workers] {
    const int64_t row_work = int64_t{task.out_w} * task.in.channels * task.kernel_h * task.kernel_w;
    workers.ForEachPart(task.in.batch * task.out_h, kLeastPoolReads / (row_work + 1) + 1,
                        [&](int64_t begin, int64_t end) {
                          const auto pool = [&]<typename T>(T) {
                            PoolRows(task, reinterpret_cast<const T*>(x), reinterpret_cast<T*>(y), begin, end);
                          };
                          is_signed ? pool(int8_t{}) : pool(uint8_t{});
                        });
  });
}

// Returns false for unsupported grids and activations. Precondition: is_mean is set.
bool FillNumbers(const HostNodeRequest& request, Activation activation, PoolTask& task) {
  const TensorDesc& in = request.in(0);
  const TensorDesc& out = request.out();
  const auto bounds = ActivationBounds(activation);
  if (!IsStoredIn8Bits(in) || !IsStoredIn8Bits(out) || in.dtype != out.dtype || !bounds) return false;
  task.from = GridOf(in);
  task.to = GridOf(out);
  task.lowest = static_cast<float>(StepsOf(bounds->first, task.to));
  task.highest = static_cast<float>(StepsOf(bounds->second, task.to));
  task.changes_numbers = !task.is_mean && (in.quantization != out.quantization || activation != Activation::kNone);
  if (task.changes_numbers) task.table = TableOf(in, out, Unary{UnaryOf(activation)});
  return true;
}

std::unique_ptr<HostNode> MakePool(const HostNodeRequest& request, const Pool2D& pool) {
  PoolTask task;
  if (pool.kind == PoolKind::kL2 || pool.window.dilation_h != 1 || pool.window.dilation_w != 1) return nullptr;
  if (int64_t{pool.kernel_h} * pool.kernel_w > kMostTaps) return nullptr;
  task.is_mean = pool.kind == PoolKind::kAverage;
  if (!FillNumbers(request, pool.activation, task)) return nullptr;
  const Shape& in = request.in(0).shape;
  const Shape& out = request.out().shape;
  task.in = {in[0], in[1], in[2], in[3]};
  task.out_h = out[1];
  task.out_w = out[2];
  task.kernel_h = pool.kernel_h;
  task.kernel_w = pool.kernel_w;
  task.window = pool.window;
  task.padding = ResolvePadding(pool.window, in[1], in[2], pool.kernel_h, pool.kernel_w);
  task.averages_stored = task.is_mean && request.in(0).quantization == request.out().quantization;
  return PoolOf(request, task);
}

// A mean over neighbouring dimensions is one window over that many lines.
std::unique_ptr<HostNode> MakeMean(const HostNodeRequest& request, const Reduce& reduce) {
  PoolTask task;
  task.is_mean = true;
  const Shape& in = request.in(0).shape;
  if (reduce.kind != ReduceKind::kMean || reduce.axes_mask == 0 || !FillNumbers(request, Activation::kNone, task)) {
    return nullptr;
  }
  int64_t reduced = 1, inner = 1;
  int last = -1;
  for (int d = 0; d < in.rank(); ++d) {
    if ((reduce.axes_mask >> d & 1) == 0) {
      inner *= in[d];
      continue;
    }
    if (last >= 0 && last != d - 1) return nullptr;
    if (last < 0) task.in.batch = inner;
    inner = 1;
    reduced *= in[d];
    last = d;
  }
  if (reduced > kMostTaps || inner > INT32_MAX) return nullptr;
  task.in.height = task.kernel_h = static_cast<int32_t>(reduced);
  task.in.channels = static_cast<int32_t>(inner);
  return PoolOf(request, task);
}

}  // namespace

std::unique_ptr<HostNode> MakeIntegerPoolNode(const HostNodeRequest& request) {
  if (request.graph.IsConstant(request.node.inputs[0])) return nullptr;
  if (const auto* pool = std::get_if<Pool2D>(&request.node.op)) return MakePool(request, *pool);
  if (const auto* reduce = std::get_if<Reduce>(&request.node.op)) return MakeMean(request, *reduce);
  return nullptr;
}

}  // namespace hearth
