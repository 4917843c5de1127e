// Bilinear resizing of 8-bit images with the bits of XNNPACK: weights of 11 bits, and one rounding.
#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/cpu/host/vectorized.h"
#include "backends/cpu/integer/integer_nodes.h"
#include "backends/cpu/integer/layer.h"

namespace hearth {
namespace {

constexpr int64_t kLeastResizedElements = 32 * 1024;  // fewer take less time than waking a worker

// The source of an output line or pixel, with the weight of the second one in 2048ths.
struct ByteSample {
  int64_t first = 0, second = 0;
  int32_t weight = 0;
};

std::vector<ByteSample> ByteSamplesOf(const Resize& resize, int32_t out_size, int32_t in_size) {
  const int32_t less = resize.align_corners && out_size > 1 ? 1 : 0;
  const float scale = static_cast<float>(in_size - less) / static_cast<float>(out_size - less);
  std::vector<ByteSample> samples;
  for (int32_t out = 0; out < out_size; ++out) {
    float position = static_cast<float>(out) * scale;
    if (resize.half_pixel_centers) position = (static_cast<float>(out) + 0.5f) * scale - 0.5f;
    position = std::clamp(position, 0.0f, static_cast<float>(in_size - 1));
    const auto first = static_cast<int64_t>(position);
    samples.push_back({first, std::min<int64_t>(first + 1, in_size - 1),
                       static_cast<int32_t>(std::lrint((position - static_cast<float>(first)) * 2048.0f))});
  }
  return samples;
}

struct ResizeTask {
  const Shape &in, &out;
  std::vector<ByteSample> lines, pixels;

  // First the two lines, into `blended`, which each pixel of the output reads twice; sums of integers have no order.
  template <typename T>
  void ResizeLine(const std::byte* x, int64_t line, int32_t* __restrict blended, std::byte* out_bytes) const {
    Vectorized([&]() HEARTH_INTO_CALLER {
      const int64_t channels = in[3], width = in[2] * channels;
      const ByteSample& sample = lines[static_cast<size_t>(line % out[1])];
      const T* image = reinterpret_cast<const T*>(x) + line / out[1] * in[1] * width;
      const T *above = image + sample.first * width, *below = image + sample.second * width;
      T* __restrict y = reinterpret_cast<T*>(out_bytes) + line * out[2] * channels;
      const int32_t down = sample.weight;
      for (int64_t k = 0; k < width; ++k) blended[k] = above[k] * 2048 + (below[k] - above[k]) * down;
      for (const ByteSample& pixel : pixels) {
        const int32_t *left = blended + pixel.first * channels, *right = blended + pixel.second * channels;
        const int32_t across = pixel.weight;
        for (int64_t c = 0; c < channels; ++c)
          y[c] = static_cast<T>((left[c] * 2048 + (right[c] - left[c]) * across + (1 << 21)) >> 22);
        y += channels;
      }
    });
  }
};

}  // namespace

std::unique_ptr<HostNode> MakeIntegerResizeNode(const HostNodeRequest& request) {
  const auto* resize = std::get_if<Resize>(&request.node.op);
  if (resize == nullptr || resize->kind != ResizeKind::kBilinear) return nullptr;
  if (resize->align_corners && resize->half_pixel_centers) return nullptr;
  const TensorDesc& in = request.in(0);
  const TensorDesc& out = request.out();
  if (request.graph.IsConstant(request.node.inputs[0]) || !IsStoredIn8Bits(in) || !IsStoredIn8Bits(out)) return nullptr;
  if (in.dtype != out.dtype || in.quantization != out.quantization) return nullptr;
  ResizeTask task{in.shape, out.shape, ByteSamplesOf(*resize, out.shape[1], in.shape[1]),
                  ByteSamplesOf(*resize, out.shape[2], in.shape[2])};
  return NodeOf("integer", [task = std::move(task), is_signed = out.dtype == DType::kInt8,
                            x = request.bytes(request.node.inputs[0]).data(),
                            y = request.bytes(request.node.outputs[0]).data(), &workers = request.workers] {
    const int64_t line_elements = int64_t{task.out[2]} * task.out[3];
    workers.ForEachPart(int64_t{task.out[0]} * task.out[1], kLeastResizedElements / line_elements + 1,
                        [&](int64_t begin, int64_t end) {
                          std::vector<int32_t> blended(static_cast<size_t>(int64_t{task.in[2]} * task.in[3]));
                          for (int64_t line = begin; line < end; ++line) {
                            is_signed ? task.ResizeLine<int8_t>(x, line, blended.data(), y)
                                      : task.ResizeLine<uint8_t>(x, line, blended.data(), y);
                          }
                        });
  });
}

}  // namespace hearth
