// Makes quantized convolutions with float sums as exact as with integer sums.
//
// A float kernel's sum has an error of about 1e-6 of the sum of its terms' magnitudes. After rounding to the output's
// grid that matters only if the exact sum is next to the middle between two steps. Such an element is summed again in
// float64, in which the products of 8-bit numbers are exact. It is about one element in 1,600, which costs little
// beside the convolution.
#ifndef HEARTH_BACKENDS_CPU_HOST_ROUNDING_TIES_H_
#define HEARTH_BACKENDS_CPU_HOST_ROUNDING_TIES_H_

#include <memory>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace hearth {

class RoundingTies {
 public:
  // Null for a node that is not a convolution with constant weights and a quantized result, or whose activation is not
  // a clamp. The graph must outlive the result, which reads 8-bit weights in place.
  static std::unique_ptr<RoundingTies> Of(const Graph& graph, const Node& node);

  // The constant's bytes that Refine reads in place; may be empty.
  std::span<const std::byte> filter_bytes() const { return filter_bytes_; }

  // `x` has dense real numbers; `part` has those of the float kernel's result from index `first` on, before rounding.
  // Several threads may refine different parts.
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
  double lowest_ = 0, highest_ = 0;  // the activation's bounds
  double step_ = 1;                  // of the output's grid
  // [O,kh,kw,I]: 8-bit filters in their stored form, with the grid of each output channel; others as numbers.
  bool filter_is_signed_ = false;
  std::span<const std::byte> filter_bytes_;
  std::vector<double> filter_scales_, filter_zero_points_;
  std::vector<double> filter_numbers_;
  std::vector<double> bias_;  // one for each output channel
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_HOST_ROUNDING_TIES_H_
