// Sums of many floats in float64.
#ifndef HEARTH_BACKENDS_CPU_VECTOR_SUM_H_
#define HEARTH_BACKENDS_CPU_VECTOR_SUM_H_

#include <cstdint>

#include "backends/cpu/vectorized.h"

namespace hearth {

// The sum of function(element) in kParts independent partial sums, so that no addition waits for another.
template <int kParts, typename Function>
HEARTH_INTO_CALLER inline double VectorSum(const float* x, int64_t count, Function function) {
  double short_sum = 0.0;
  if (count < kParts) {
    for (int64_t k = 0; k < count; ++k) short_sum += function(double{x[k]});
    return short_sum;
  }
  double parts[kParts] = {};
  int64_t k = 0;
  for (; k + kParts <= count; k += kParts) {
    for (int part = 0; part < kParts; ++part) parts[part] += function(double{x[k + part]});
  }
  for (; k < count; ++k) parts[0] += function(double{x[k]});
  double sum = 0.0;
  for (double part : parts) sum += part;
  return sum;
}

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_VECTOR_SUM_H_
