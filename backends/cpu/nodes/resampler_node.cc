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

class ResamplerNode final : public HostNode {
 public:
  ResamplerNode(const HostNodeRequest& request, HostOperand images, HostOperand points)
      : images_(std::move(images)),
        points_(std::move(points)),
        out_(request),
        workers_(request.workers),
        outside_(static_cast<size_t>(images_.desc.shape[3]), 0.0f) {}

  std::string_view kernel() const override { return "resampler"; }
  std::optional<uint64_t> held_bytes() const override { return outside_.size() * sizeof(float); }

  Status Run(RunControl* /*control*/) override {
    const int64_t channels = out_.shape()[3], count = out_.shape().element_count() / channels;
    float* y = out_.floats().data();
    workers_.ForEachPart(count, kLeastElementsOfPart / (4 * channels) + 1, [&](int64_t begin, int64_t end) {
      Vectorized<VectorSet::kAvx2>([&]() HEARTH_INTO_CALLER {
        for (int64_t point = begin; point < end; ++point) {
          const Taps taps = TapsOf(point);
          const auto& [pixels, weights] = taps;
          float* to = y + point * channels;
          for (int64_t c = 0; c < channels; ++c) {
            to[c] = weights[0] * pixels[0][c] + weights[1] * pixels[1][c] + weights[2] * pixels[2][c] +
                    weights[3] * pixels[3][c];
          }
        }
      });
    });
    out_.Finish();
    return Status::Ok();
  }

 private:
  struct Taps {
    std::array<const float*, 4> pixels;
    std::array<float, 4> weights{};
  };

  // Pixels outside the image are 0.
  Taps TapsOf(int64_t point) const {
    const Shape &images = images_.desc.shape, &points = points_.desc.shape;
    const int64_t height = images[1], width = images[2], channels = images[3];
    const int64_t image = point / (int64_t{points[1]} * points[2]);
    const float* place = points_.floats() + point * points[3];  // x, y and what nobody reads
    const double x = place[0], y = place[1];
    Taps taps;
    taps.pixels.fill(outside_.data());
    if (!(x > -1.0 && y > -1.0 && x < static_cast<double>(width) && y < static_cast<double>(height))) return taps;
    const auto left = static_cast<int64_t>(std::floor(x)), top = static_cast<int64_t>(std::floor(y));
    for (int k = 0; k < 4; ++k) {
      const int64_t iy = top + k / 2, ix = left + k % 2;
      if (iy < 0 || iy >= height || ix < 0 || ix >= width) continue;
      taps.pixels[k] = images_.floats() + ((image * height + iy) * width + ix) * channels;
      taps.weights[k] = static_cast<float>((1.0 - std::abs(x - static_cast<double>(ix))) *
                                           (1.0 - std::abs(y - static_cast<double>(iy))));
    }
    return taps;
  }

  HostOperand images_, points_;
  HostOutput out_;
  WorkerPool& workers_;
  std::vector<float> outside_;
};

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
  return std::make_unique<ResamplerNode>(request, std::move(images), std::move(points));
}

}  // namespace hearth
