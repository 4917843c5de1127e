#include <algorithm>
#include <cmath>
#include <vector>

#include "core/graph/ops/coordinates.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"

namespace hearth {
namespace {

// The source of an output row or column: lower * (1 - weight) + upper * weight.
struct Sample {
  int64_t lower = 0, upper = 0;
  double weight = 0.0;
};

// TFLite's reference formulas. A half-pixel coordinate before the first or behind the last pixel has both
// neighbors clamped to that pixel, so its weight does not matter.
Sample BilinearSample(const Resize& resize, int32_t out, int32_t out_size, int32_t in_size) {
  const double scale = resize.align_corners && out_size > 1 ? (in_size - 1.0) / (out_size - 1.0)
                                                            : static_cast<double>(in_size) / out_size;
  const double position = resize.half_pixel_centers ? (out + 0.5) * scale - 0.5 : out * scale;
  Sample sample;
  sample.lower = std::clamp<int64_t>(static_cast<int64_t>(std::floor(position)), 0, in_size - 1);
  sample.upper = std::clamp<int64_t>(static_cast<int64_t>(std::ceil(position)), 0, in_size - 1);
  sample.weight = position - static_cast<double>(sample.lower);
  return sample;
}

Sample NearestSample(const Resize& resize, int32_t out, int32_t out_size, int32_t in_size) {
  const int64_t pixel = NearestPixel(resize, out, out_size, in_size);
  return {pixel, pixel, 0.0};
}

std::vector<Sample> SamplesOf(const Resize& resize, int32_t out_size, int32_t in_size) {
  const auto sample_of = resize.kind == ResizeKind::kBilinear ? BilinearSample : NearestSample;
  std::vector<Sample> samples;
  samples.reserve(out_size);
  for (int32_t out = 0; out < out_size; ++out) samples.push_back(sample_of(resize, out, out_size, in_size));
  return samples;
}

}  // namespace

int64_t NearestPixel(const Resize& resize, int64_t out, int64_t out_size, int64_t in_size) {
  const float scale = resize.align_corners && out_size > 1
                          ? static_cast<float>(in_size - 1) / static_cast<float>(out_size - 1)
                          : static_cast<float>(in_size) / static_cast<float>(out_size);
  const float position = (static_cast<float>(out) + (resize.half_pixel_centers ? 0.5f : 0.0f)) * scale;
  const float pixel = resize.align_corners ? std::round(position) : std::floor(position);
  return std::clamp<int64_t>(static_cast<int64_t>(pixel), 0, in_size - 1);
}

Status InferResize(const NodeInference& inference) {
  const auto& resize = inference.op<Resize>();
  HEARTH_TRY(inference.CheckRank(0, 4));
  HEARTH_TRY(inference.CheckReal(0));
  if (resize.height < 1 || resize.width < 1) {
    return inference.Fail(StatusCode::kMalformedInput, "the new size {}x{} must be positive", resize.height,
                          resize.width);
  }
  if (resize.kind == ResizeKind::kBilinear && resize.align_corners && resize.half_pixel_centers) {
    return inference.Fail(StatusCode::kMalformedInput, "align_corners and half_pixel_centers exclude each other");
  }
  const Shape& in = inference.shape(0);
  return inference.SetOutput(0, {in[0], resize.height, resize.width, in[3]});
}

void ReferenceResize(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& resize = std::get<Resize>(node.op);
  const ReferenceTensor& in = *inputs[0];
  ReferenceTensor& out = outputs[0];
  const std::vector<Sample> rows = SamplesOf(resize, out.shape[1], in.shape[1]);
  const std::vector<Sample> columns = SamplesOf(resize, out.shape[2], in.shape[2]);
  const int64_t channels = in.shape[3];
  double* pixel = out.values.data();
  for (int64_t b = 0; b < out.shape[0]; ++b) {
    const auto at = [&](int64_t y, int64_t x) {
      return &in.values[((b * in.shape[1] + y) * in.shape[2] + x) * channels];
    };
    for (const Sample& row : rows) {
      for (const Sample& column : columns) {
        const double *top_left = at(row.lower, column.lower), *top_right = at(row.lower, column.upper);
        const double *bottom_left = at(row.upper, column.lower), *bottom_right = at(row.upper, column.upper);
        for (int64_t c = 0; c < channels; ++c) {
          const double top = top_left[c] * (1.0 - column.weight) + top_right[c] * column.weight;
          const double bottom = bottom_left[c] * (1.0 - column.weight) + bottom_right[c] * column.weight;
          *pixel++ = top * (1.0 - row.weight) + bottom * row.weight;
        }
      }
    }
  }
}

}  // namespace hearth
