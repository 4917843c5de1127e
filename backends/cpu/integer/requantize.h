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

// The same for 8 sums, whose factors stay in registers.
struct Scale256 {
  HEARTH_AVX2 Scale256(const Requantization& terms, int32_t place)
      : multiplier(_mm256_loadu_ps(terms.multipliers.data() + place)),
        lowest(_mm256_set1_ps(terms.lowest)),
        highest(_mm256_set1_ps(terms.highest)),
        zero_point(_mm256_set1_epi32(terms.zero_point)) {}

  HEARTH_AVX2 __m256i Stored(__m256i sums) const {
    const __m256 steps = _mm256_max_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(sums), multiplier), lowest);
    return _mm256_add_epi32(_mm256_cvtps_epi32(_mm256_min_ps(steps, highest)), zero_point);
  }

  __m256 multiplier, lowest, highest;
  __m256i zero_point;
};

// The low bytes of 16 lanes, in order.
HEARTH_AVX2 inline __m128i LowBytes256(__m256i low, __m256i high) {
  const __m256i byte = _mm256_set1_epi32(0xff);
  const __m256i words = _mm256_packus_epi32(_mm256_and_si256(low, byte), _mm256_and_si256(high, byte));
  const __m256i ordered = _mm256_permute4x64_epi64(words, _MM_SHUFFLE(3, 1, 2, 0));
  return _mm_packus_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1));
}

// Stores the first `count` bytes, or all 16.
HEARTH_AVX2 inline void StoreBytes(__m128i bytes, int32_t count, uint8_t* out) {
  if (count >= 16) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), bytes);
    return;
  }
  for (int32_t part = 8; part > 0; part /= 2) {
    if ((count & part) == 0) continue;
    __builtin_memcpy(out, &bytes, static_cast<size_t>(part));
    out += part;
    bytes = part == 8 ? _mm_srli_si128(bytes, 8) : part == 4 ? _mm_srli_si128(bytes, 4) : _mm_srli_si128(bytes, 2);
  }
}

#endif

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_INTEGER_REQUANTIZE_H_
