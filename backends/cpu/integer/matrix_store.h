// The end of 8-bit matrix product kernels: from the sums of 16 channels to stored numbers, or to real ones.
#ifndef HEARTH_BACKENDS_CPU_INTEGER_MATRIX_STORE_H_
#define HEARTH_BACKENDS_CPU_INTEGER_MATRIX_STORE_H_

#include <algorithm>

#include "backends/cpu/integer/matrix_task.h"
#include "backends/cpu/integer/requantize.h"

namespace hearth {

#if defined(HEARTH_X86_KERNELS)

// Adds the zero points' contribution to 16 channels from `channel` on.
HEARTH_VNNI inline __m512i WithRowSum(const MatrixTask& task, int64_t row, int32_t channel, __m512i sums) {
  if (task.row_sums == nullptr) return sums;
  const __m512i row_sum = _mm512_set1_epi32(task.row_sums[row]);
  if (task.terms->row_factors.empty()) return _mm512_add_epi32(sums, row_sum);
  const __m512i factors = _mm512_loadu_si512(task.terms->row_factors.data() + channel);
  return _mm512_add_epi32(sums, _mm512_mullo_epi32(factors, row_sum));
}

HEARTH_VNNI inline void StoreVnni(const MatrixTask& task, int64_t row, int32_t channel, __m512i sums) {
  const int32_t left = std::min(kBlockChannels, task.channels - channel);
  const auto mask = static_cast<__mmask16>((1u << left) - 1);
  if (task.sums != nullptr) {
    _mm512_mask_storeu_epi32(task.sums + row * task.out_stride + channel, mask, sums);
    return;
  }
  // Narrows in a register: narrowing in a masked store takes AMD processors 100 times as long.
  const __m128i stored = _mm512_cvtepi32_epi8(Stored512(sums, *task.terms, channel));
  _mm_mask_storeu_epi8(task.out + row * task.out_stride + channel, mask, stored);
}

HEARTH_VNNI inline void StoreRealsVnni(const MatrixTask& task, int64_t row, int32_t channel, __m512i sums) {
  const int32_t left = std::min(kBlockChannels, task.channels - channel);
  const __m512 multipliers = _mm512_loadu_ps(task.terms->multipliers.data() + channel);
  _mm512_mask_storeu_ps(task.reals + row * task.out_stride + channel, static_cast<__mmask16>((1u << left) - 1),
                        _mm512_mul_ps(_mm512_cvtepi32_ps(sums), multipliers));
}

// Adds offsets and the zero points' contribution to 8 channels.
HEARTH_AVX2 inline __m256i WithTerms(__m256i sums, const MatrixTask& task, int64_t row, int32_t channel) {
  const int32_t* offsets = task.terms->offsets.data() + channel;
  sums = _mm256_add_epi32(sums, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(offsets)));
  if (task.row_sums == nullptr) return sums;
  const __m256i row_sum = _mm256_set1_epi32(task.row_sums[row]);
  if (task.terms->row_factors.empty()) return _mm256_add_epi32(sums, row_sum);
  const int32_t* factors = task.terms->row_factors.data() + channel;
  const __m256i factor = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(factors));
  return _mm256_add_epi32(sums, _mm256_mullo_epi32(factor, row_sum));
}

// Stores 16 channels from `channel` on.
HEARTH_AVX2 inline void StoreAvx2(const MatrixTask& task, int64_t row, int32_t channel, __m256i low, __m256i high) {
  low = WithTerms(low, task, row, channel);
  high = WithTerms(high, task, row, channel + 8);
  if (task.sums != nullptr) {
    int32_t sums[kBlockChannels];
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums), low);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + 8), high);
    std::copy_n(sums, std::min(kBlockChannels, task.channels - channel), task.sums + row * task.out_stride + channel);
    return;
  }
  const __m128i stored =
      LowBytes256(Scale256(*task.terms, channel).Stored(low), Scale256(*task.terms, channel + 8).Stored(high));
  StoreBytes(stored, task.channels - channel, task.out + row * task.out_stride + channel);
}

HEARTH_AVX2 inline void StoreRealsAvx2(const MatrixTask& task, int64_t row, int32_t channel, __m256i low,
                                       __m256i high) {
  const float* multipliers = task.terms->multipliers.data() + channel;
  float reals[kBlockChannels];
  _mm256_storeu_ps(reals,
                   _mm256_mul_ps(_mm256_cvtepi32_ps(WithTerms(low, task, row, channel)), _mm256_loadu_ps(multipliers)));
  _mm256_storeu_ps(reals + 8, _mm256_mul_ps(_mm256_cvtepi32_ps(WithTerms(high, task, row, channel + 8)),
                                            _mm256_loadu_ps(multipliers + 8)));
  std::copy_n(reals, std::min(kBlockChannels, task.channels - channel), task.reals + row * task.out_stride + channel);
}

#endif

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_INTEGER_MATRIX_STORE_H_
