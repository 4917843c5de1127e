// From sums to stored numbers: the last step of all integer kernels with weights. Ties go to even, as in XNNPACK.
#ifndef HEARTH_BACKENDS_CPU_INTEGER_REQUANTIZE_H_
#define HEARTH_BACKENDS_CPU_INTEGER_REQUANTIZE_H_

#include "backends/cpu/integer/layer.h"

// Attributes for functions that need instruction sets the machine may lack. Callers check BestIntegerSet() first.
#if defined(__x86_64__)
#define HEARTH_X86_KERNELS
// GCC 12 warns about vectors that its own header leaves undefined on purpose.
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#define HEARTH_AVX2 __attribute__((target("avx2,fma")))
#define HEARTH_VNNI __attribute__((target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#endif

namespace hearth {

#if defined(HEARTH_X86_KERNELS)

// Stored numbers in the low bytes of 32-bit lanes, with the multipliers from index `place` on.
HEARTH_VNNI inline __m512i Stored512(__m512i sums, const Requantization& terms, int32_t place) {
  const __m512 multiplier = _mm512_loadu_ps(terms.multipliers.data() + place);
  __m512 steps = _mm512_mul_ps(_mm512_cvtepi32_ps(sums), multiplier);
  steps = _mm512_max_ps(steps, _mm512_set1_ps(terms.lowest));
  steps = _mm512_min_ps(steps, _mm512_set1_ps(terms.highest));
  return _mm512_add_epi32(_mm512_cvtps_epi32(steps), _mm512_set1_epi32(terms.zero_point));
}

HEARTH_AVX2 inline __m256i Stored256(__m256i sums, const Requantization& terms, int32_t place) {
  const __m256 multiplier = _mm256_loadu_ps(terms.multipliers.data() + place);
  __m256 steps = _mm256_mul_ps(_mm256_cvtepi32_ps(sums), multiplier);
  steps = _mm256_max_ps(steps, _mm256_set1_ps(terms.lowest));
  steps = _mm256_min_ps(steps, _mm256_set1_ps(terms.highest));
  return _mm256_add_epi32(_mm256_cvtps_epi32(steps), _mm256_set1_epi32(terms.zero_point));
}

#endif

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_INTEGER_REQUANTIZE_H_
