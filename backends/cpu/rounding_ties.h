// Quantized convolutions in float sums, as exact as in integers.
//
// A float kernel's sum is off by about 1e-6 of what it adds up. Rounded to the output's grid that matters only where
// the exact sum lies next to the middle between two steps; there the element is summed again in float64, in which the
// products of 8-bit numbers are exact. About one element in 1,600 is, which costs little beside the convolution.
#ifndef HEARTH_BACKENDS_CPU_ROUNDING_TIES_H_
#define HEARTH_BACKENDS_CPU_ROUNDING_TIES_H_

#include <memory>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace hearth {

class RoundingTies {
 public:
  // Null for a node that is not a convolution with constant weights and a quantized result, or whose activation is no
  // clamp. The graph must outlive the result, which reads weights of 8 bits where they lie.
  static std::unique_ptr<RoundingTies> Of(const Graph& graph, const Node& node);

  // `x` holds real numbers, dense; `part` those of the float kernel's result from number `first` on, not yet rounded.
  // Several threads may refine their parts.
  void Refine(std::span<const float> x, std::span<float> part, size_t first) const;

 private:
  RoundingTies() = default;
  bool ReadsInPlace(const TensorDesc& filter);
  double Sum(std::span<const float> x, int64_t pixel, int32_t channel) const;
  template <typename T>
  double SumOfProducts(std::span<const float> x, const T* filter, double zero_point, int64_t pixel,
                       int32_t channel) const;

  Shape in_, filter_, out_;
  Window2D window_;
  Padding2D padding_;
  double lowest_ = 0, highest_ = 0;  // the activation's
  double step_ = 1;                  // of the output's grid
  // [O,kh,kw,I]: of 8 bits as they are stored, with the grid of each output channel; any others as numbers.
  bool filter_is_signed_ = false;
  std::span<const std::byte> filter_bytes_;
  std::vector<double> filter_scales_, filter_zero_points_;
  std::vector<double> filter_numbers_;
  std::vector<double> bias_;  // one for each output channel
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_ROUNDING_TIES_H_
