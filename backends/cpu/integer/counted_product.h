// Products of float vectors, counted in 255 steps (CountSteps in core/graph/ops/recurrent.h), with weights that are
// whole bytes. Sums are exact.
#ifndef HEARTH_BACKENDS_CPU_INTEGER_COUNTED_PRODUCT_H_
#define HEARTH_BACKENDS_CPU_INTEGER_COUNTED_PRODUCT_H_

#include <memory>
#include <span>
#include <vector>

#include "backends/cpu/host/host_node.h"
#include "backends/cpu/integer/layer.h"

namespace hearth {

class CountedProduct {
 public:
  // Of the constant [rows, depth], with a scale for each row, which is read in place. Null if its numbers are no int8
  // ones that stand for themselves, a sum may need more than 32 bits, or this processor has no AVX2.
  static std::unique_ptr<CountedProduct> Of(const HostNodeRequest& request, ValueId constant,
                                            std::span<const float> scales);
  ~CountedProduct();

  // Multiplies each of the vectors in `x` into one in `y`. A vector with a NaN gives NaN.
  void Multiply(std::span<const float> x, std::span<float> y, WorkerPool& workers);

 private:
  CountedProduct(std::span<const std::byte> weights, std::span<const float> scales);

  std::span<const std::byte> weights_;
  std::vector<float> scales_;
  std::vector<int32_t> weight_sums_;  // of each row
  Requantization terms_;              // of one run, as the next
  std::vector<uint8_t> bytes_;
};

// The size of a step, NaN if the least number is infinite, and the number of the step that is 0.
struct CountedBytes {
  float step = 1.0f;
  int32_t zero = 0;
  bool are_finite = true;  // all numbers
};
// The numbers of steps from the least of all numbers on. Precondition: this processor has AVX2.
CountedBytes CountBytes(std::span<const float> from, std::span<uint8_t> to, WorkerPool& workers);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_INTEGER_COUNTED_PRODUCT_H_
