// Fourier transforms of frames, as convolutions with cosines and sines.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "frontends/onnx/operators.h"

namespace hearth::onnx {

namespace {

Results ReadStft(OpView& op) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(ValueId signal, op.In(0));  // [batch, length] or [batch, length, 1]
  const Shape shape = to.shape(signal);
  if (shape.rank() < 2 || shape.rank() > 3 || (shape.rank() == 3 && shape[2] != 1)) {
    return Error(StatusCode::kUnsupported, "a signal of shape {}, which is not of real numbers", shape.ToString());
  }
  HEARTH_ASSIGN(const int64_t step, op.Integer(1));
  std::vector<float> window;
  if (op.Has(2)) {
    HEARTH_ASSIGN(const ValueId value, op.In(2));
    if (!to.IsConstant(value)) return Error(StatusCode::kUnsupported, "its window{}", to.ComputedFrom(value));
    HEARTH_ASSIGN(window, ConstantAsFloats(to.graph(), value));
  }
  auto length = static_cast<int64_t>(window.size());
  if (op.Has(3)) {
    HEARTH_ASSIGN(length, op.Integer(3));
  }
  if (step < 1 || length < 1 || length > std::min(shape[1], 1 << 24) ||
      (!window.empty() && window.size() != static_cast<size_t>(length))) {
    return Error(StatusCode::kMalformedInput, "frames of {} elements, every {}, of {}", length, step, shape[1]);
  }
  const auto size = static_cast<int32_t>(length);
  const int32_t bins = op.Int("onesided", 1) != 0 ? size / 2 + 1 : size;
  // Real and imaginary parts are neighbours: output channels 2k and 2k + 1.
  HEARTH_TRY(to.budget().CheckRoom({2 * bins, size}, DType::kFloat32));
  std::vector<double> filter;
  for (int32_t bin = 0; bin < bins; ++bin) {
    for (const bool is_real : {true, false}) {
      for (int64_t at = 0; at < size; ++at) {
        const double angle = 2.0 * std::numbers::pi * static_cast<double>(bin * at % size) / size;
        const double weight = window.empty() ? 1.0 : static_cast<double>(window[static_cast<size_t>(at)]);
        filter.push_back(weight * (is_real ? std::cos(angle) : -std::sin(angle)));
      }
    }
  }
  const Conv2D conv{.window = {.stride_w = static_cast<int32_t>(std::min<int64_t>(step, shape[1]))}};
  HEARTH_ASSIGN(signal, to.AddReshape(signal, {shape[0], 1, shape[1], 1}));
  HEARTH_ASSIGN(const ValueId made,
                to.Add(conv, {signal, to.AddConstant({2 * bins, 1, size, 1}, DType::kFloat32, filter)}));
  return Plain(to.AddReshape(made, {shape[0], to.shape(made)[2], bins, 2}));
}

}  // namespace

std::span<const OperatorRow> SpectrumOperators() {
  static constexpr OperatorRow kRows[] = {
      {"STFT", ReadStft},
  };
  return kRows;
}

}  // namespace hearth::onnx
