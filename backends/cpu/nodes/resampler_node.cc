// Bilinear samples of images at points that another node makes: spatial transformers, optical flow, GridSample.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/host_operand.h"
#include "backends/cpu/host/host_output.h"
#include "backends/cpu/host/quantized.h"
#include "backends/cpu/host/vectorized.h"

namespace hearth {
namespace {

struct ResampledTaps {
  std::array<const float*, 4> pixels;
  std::array<float, 4> weights{};
};

// `outside`: the pixels outside the image.
ResampledTaps TapsOf(const HostOperand& images, const HostOperand& points, const float* outside, int64_t point) {
  const Shape &in = images.desc.shape, &at = points.desc.shape;
  const int64_t height = in[1], width = in[2], channels = in[3], image = point / (int64_t{at[1]} * at[2]);
  const float* place = points.floats() + point * at[3];  // x, y and what nobody reads
  const double x = place[0], y = place[1];
  ResampledTaps taps;
  taps.pixels.fill(outside);
  if (!(x > -1.0 && y > -1.0 && x < static_cast<double>(width) && y < static_cast<double>(height))) return taps;
  const auto left = static_cast<int64_t>(std::floor(x)), top = static_cast<int64_t>(std::floor(y));
  for (int k = 0; k < 4; ++k) {
    const int64_t iy = top + k / 2, ix = left + k % 2;
    if (iy < 0 || iy >= height || ix < 0 || ix >= width) continue;
    taps.pixels[k] = images.floats() + ((image * height + iy) * width + ix) * channels;
    taps.weights[k] = static_cast<float>((1.0 - std::abs(x - static_cast<double>(ix))) *
                                         (1.0 - std::abs(y - static_cast<double>(iy))));
  }
  return taps;
}

}  // namespace

Result<std::unique_ptr<HostNode>> MakeResamplerNode(const HostNodeRequest& request) {
  const TensorDesc& out = request.out();
  if (!std::holds_alternative<Resampler>(request.node.op) || request.decides_indices) return nullptr;
  if (HeldAs(out).dtype != DType::kFloat32 || out.shape.element_count() == 0) return nullptr;
  HEARTH_ASSIGN(HostOperand images, HostOperandOf(request, 0));
  HEARTH_ASSIGN(HostOperand points, HostOperandOf(request, 1));
  for (const HostOperand* operand : {&images, &points}) {
    if (operand->bytes == nullptr || operand->desc.dtype != DType::kFloat32) return nullptr;
  }
  std::vector<float> zeros(static_cast<size_t>(out.shape[3]), 0.0f);
  const uint64_t held_bytes = zeros.size() * sizeof(float);
  return NodeOf(
      "resampler",
      [images = std::move(images), points = std::move(points), zeros = std::move(zeros), result = HostOutput(request),
       &workers = request.workers] {
        const int64_t channels = result.shape()[3], count = result.shape().element_count() / channels;
        float* y = result.floats().data();
        workers.ForEachPart(count, kLeastElementsOfPart / (4 * channels) + 1, [&](int64_t begin, int64_t end) {
          Vectorized<VectorSet::kAvx2>([&]() HEARTH_INTO_CALLER {
            for (int64_t point = begin; point < end; ++point) {
              const auto [pixels, weights] = TapsOf(images, points, zeros.data(), point);
              float* to = y + point * channels;
              for (int64_t c = 0; c < channels; ++c) {
                to[c] = weights[0] * pixels[0][c] + weights[1] * pixels[1][c] + weights[2] * pixels[2][c] +
                        weights[3] * pixels[3][c];
              }
            }
          });
        });
        result.Finish();
      },
      held_bytes);
}

}  // namespace hearth
