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

class IntegerResizeNode final : public HostNode {
 public:
  IntegerResizeNode(const HostNodeRequest& request, const Resize& resize)
      : in_(request.in(0).shape),
        out_(request.out()),
        lines_(ByteSamplesOf(resize, out_.shape[1], in_[1])),
        pixels_(ByteSamplesOf(resize, out_.shape[2], in_[2])),
        x_(request.arena.stored(request.node.inputs[0]).data()),
        y_(request.arena.stored(request.node.outputs[0]).data()),
        workers_(request.workers) {}

  std::string_view kernel() const override { return "integer"; }

  Status Run(RunControl* /*control*/) override {
    const int64_t line_elements = int64_t{out_.shape[2]} * out_.shape[3];
    workers_.ForEachPart(int64_t{out_.shape[0]} * out_.shape[1], kLeastResizedElements / line_elements + 1,
                         [&](int64_t begin, int64_t end) {
                           std::vector<int32_t> blended(static_cast<size_t>(int64_t{in_[2]} * in_[3]));
                           for (int64_t line = begin; line < end; ++line) {
                             out_.dtype == DType::kInt8 ? ResizeLine<int8_t>(line, blended.data())
                                                        : ResizeLine<uint8_t>(line, blended.data());
                           }
                         });
    return Status::Ok();
  }

 private:
  // First the two lines, into `blended`, which each pixel of the output reads twice; sums of integers have no order.
  template <typename T>
  void ResizeLine(int64_t line, int32_t* __restrict blended) const {
    Vectorized([&]() HEARTH_INTO_CALLER {
      const int64_t channels = in_[3], width = in_[2] * channels;
      const ByteSample& sample = lines_[static_cast<size_t>(line % out_.shape[1])];
      const T* image = reinterpret_cast<const T*>(x_) + line / out_.shape[1] * in_[1] * width;
      const T *above = image + sample.first * width, *below = image + sample.second * width;
      T* __restrict y = reinterpret_cast<T*>(y_) + line * out_.shape[2] * channels;
      const int32_t down = sample.weight;
      for (int64_t k = 0; k < width; ++k) blended[k] = above[k] * 2048 + (below[k] - above[k]) * down;
      for (const ByteSample& pixel : pixels_) {
        const int32_t *left = blended + pixel.first * channels, *right = blended + pixel.second * channels;
        const int32_t across = pixel.weight;
        for (int64_t c = 0; c < channels; ++c)
          y[c] = static_cast<T>((left[c] * 2048 + (right[c] - left[c]) * across + (1 << 21)) >> 22);
        y += channels;
      }
    });
  }

  const Shape& in_;
  const TensorDesc& out_;
  std::vector<ByteSample> lines_, pixels_;
  const std::byte* x_;
  std::byte* y_;
  WorkerPool& workers_;
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
  return std::make_unique<IntegerResizeNode>(request, *resize);
}

}  // namespace hearth
