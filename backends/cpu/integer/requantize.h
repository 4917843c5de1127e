// From sums to stored numbers: the last step of all integer kernels with weights.
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

// The largest float below 0.5. Adding 0.5 itself would round that float up to 1.
inline constexpr float kBelowHalf = 0x1.fffffep-2f;

#if defined(HEARTH_X86_KERNELS)

// Stored numbers in the low bytes of 32-bit lanes, with the multipliers from index `place` on.
HEARTH_VNNI inline __m512i Stored512(__m512i sums, const Requantization& terms, int32_t place) {
  const __m512 multiplier = _mm512_loadu_ps(terms.multipliers.data() + place);
  __m512 steps = _mm512_mul_ps(_mm512_cvtepi32_ps(sums), multiplier);
  steps = _mm512_max_ps(steps, _mm512_set1_ps(terms.lowest));
  steps = _mm512_min_ps(steps, _mm512_set1_ps(terms.highest));
  // A half with the sign of the steps: (a & b) | c in one instruction.
  const __m512i sign = _mm512_castps_si512(_mm512_set1_ps(-0.0f));
  const __m512i half = _mm512_castps_si512(_mm512_set1_ps(kBelowHalf));
  const __m512i signed_half = _mm512_ternarylogic_epi32(_mm512_castps_si512(steps), sign, half, 0xEA);
  steps = _mm512_add_ps(steps, _mm512_castsi512_ps(signed_half));
  return _mm512_add_epi32(_mm512_cvttps_epi32(steps), _mm512_set1_epi32(terms.zero_point));
}

HEARTH_AVX2 inline __m256i Stored256(__m256i sums, const Requantization& terms, int32_t place) {
  const __m256 multiplier = _mm256_loadu_ps(terms.multipliers.data() + place);
  __m256 steps = _mm256_mul_ps(_mm256_cvtepi32_ps(sums), multiplier);
  steps = _mm256_max_ps(steps, _mm256_set1_ps(terms.lowest));
  steps = _mm256_min_ps(steps, _mm256_set1_ps(terms.highest));
  const __m256 sign = _mm256_and_ps(steps, _mm256_set1_ps(-0.0f));
  steps = _mm256_add_ps(steps, _mm256_or_ps(sign, _mm256_set1_ps(kBelowHalf)));
  return _mm256_add_epi32(_mm256_cvttps_epi32(steps), _mm256_set1_epi32(terms.zero_point));
}

#endif

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_INTEGER_REQUANTIZE_H_
