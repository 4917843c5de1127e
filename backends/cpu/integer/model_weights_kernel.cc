#include <algorithm>
#include <array>

#include "backends/cpu/host/vectorized.h"
#include "backends/cpu/integer/matrix_kernel.h"
#include "backends/cpu/integer/matrix_store.h"

namespace hearth {

#if defined(HEARTH_X86_KERNELS)
namespace {

// The weights of four channels from `channel` on; the last channel's weights repeat past the end.
inline std::array<const std::byte*, 4> FourChannels(const MatrixTask& task, int32_t channel) {
  std::array<const std::byte*, 4> weights;
  for (int32_t i = 0; i < 4; ++i)
    weights[static_cast<size_t>(i)] = task.model_weights + std::min(channel + i, task.channels - 1) * task.depth;
  return weights;
}

// ---- AVX-512 with VNNI: 64 elements of the depth in a vector ----

// The sum of each of four vectors.
HEARTH_VNNI inline __m128i SumsOfFour(const __m512i (&sums)[4]) {
  const __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi32(sums[0], sums[1]), _mm512_unpackhi_epi32(sums[0], sums[1]));
  const __m512i cd = _mm512_add_epi32(_mm512_unpacklo_epi32(sums[2], sums[3]), _mm512_unpackhi_epi32(sums[2], sums[3]));
  const __m512i quarters = _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
  const __m256i halves = _mm256_add_epi32(_mm512_castsi512_si256(quarters), _mm512_extracti64x4_epi64(quarters, 1));
  return _mm_add_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
}

// A part of the depth of four channels: the elements in `mask`.
template <int kRows>
HEARTH_VNNI inline void DotPartVnni(const uint8_t* rows, const std::array<const std::byte*, 4>& weights, int64_t k,
                                    __mmask64 mask, const MatrixTask& task, __m512i (&sums)[kRows][4]) {
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(task.flips_sign ? 0x80 : 0x00));
  const __m512i weight_flip = _mm512_set1_epi8(static_cast<char>(task.flips_weights ? 0x80 : 0x00));
  __m512i w[4];
  HEARTH_UNROLLED for (int i = 0; i < 4; ++i) {
    w[i] = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, weights[i] + k), weight_flip);
  }
  HEARTH_UNROLLED for (int r = 0; r < kRows; ++r) {
    // Rows are zero past the depth, whatever the weights are there.
    const __m512i x = _mm512_xor_si512(_mm512_mask_loadu_epi8(flip, mask, rows + r * task.row_stride + k), flip);
    HEARTH_UNROLLED for (int i = 0; i < 4; ++i) {
      sums[r][i] = _mm512_dpbusd_epi32(sums[r][i], x, w[i]);
      // Otherwise GCC 12 copies sums to other registers in each turn, and some onto the stack.
      asm volatile("" : "+v"(sums[r][i]));
    }
  }
}

// The dot products of FourChannels.
template <int kRows>
HEARTH_VNNI inline void DotFourVnni(const MatrixTask& task, int64_t row, int32_t channel, int32_t* dots) {
  constexpr int64_t kWidth = 64;
  const uint8_t* rows = task.pieces[0] + row * task.row_stride;
  const std::array<const std::byte*, 4> weights = FourChannels(task, channel);
  __m512i sums[kRows][4];
  HEARTH_UNROLLED for (int i = 0; i < 4; ++i) {
    HEARTH_UNROLLED for (int r = 0; r < kRows; ++r) sums[r][i] = _mm512_setzero_si512();
  }
  int64_t k = 0;
  for (; k + kWidth <= task.depth; k += kWidth) DotPartVnni<kRows>(rows, weights, k, ~__mmask64{0}, task, sums);
  const __mmask64 rest = (__mmask64{1} << (task.depth - k)) - 1;
  if (rest != 0) DotPartVnni<kRows>(rows, weights, k, rest, task, sums);
  HEARTH_UNROLLED for (int r = 0; r < kRows; ++r) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(dots + r * kBlockChannels), SumsOfFour(sums[r]));
  }
}

template <int kRows>
HEARTH_VNNI void TileByModelVnni(const MatrixTask& task, int64_t row, int32_t block) {
  const int32_t first = block * kBlockChannels, end = std::min(first + kBlockChannels, task.channels);
  int32_t dots[kRows * kBlockChannels] = {};
  for (int32_t channel = first; channel < end; channel += 4)
    DotFourVnni<kRows>(task, row, channel, dots + (channel - first));
  for (int r = 0; r < kRows; ++r) {
    const __m512i sum = _mm512_add_epi32(_mm512_loadu_si512(dots + r * kBlockChannels),
                                         _mm512_loadu_si512(task.terms->offsets.data() + first));
    const __m512i whole = WithRowSum(task, row + r, first, sum);
    task.reals != nullptr ? StoreRealsVnni(task, row + r, first, whole) : StoreVnni(task, row + r, first, whole);
  }
}

HEARTH_VNNI void MultiplyByModelVnni(const MatrixTask& task) {
  for (int32_t block = task.first_block; block < task.end_block; ++block) {
    int64_t row = 0;
    for (; row + 4 <= task.row_count; row += 4) TileByModelVnni<4>(task, row, block);
    if (row + 2 <= task.row_count) {
      TileByModelVnni<2>(task, row, block);
      row += 2;
    }
    if (row < task.row_count) TileByModelVnni<1>(task, row, block);
  }
}

// ---- AVX2: 16 elements of the depth in a vector ----

// The first `count` bytes, followed by `fill`.
HEARTH_AVX2 inline __m128i Sixteen(const void* bytes, int64_t count, char fill) {
  if (count >= 16) return _mm_loadu_si128(static_cast<const __m128i*>(bytes));
  __m128i padded = _mm_set1_epi8(fill);
  __builtin_memcpy(&padded, bytes, static_cast<size_t>(count));
  return padded;
}

// A part of the depth of four channels; less than a vector if kIsShort.
template <int kRows, bool kIsShort>
HEARTH_AVX2 inline void DotPartAvx2(const uint8_t* const (&rows)[kRows], const std::array<const std::byte*, 4>& weights,
                                    int64_t k, int64_t count, const MatrixTask& task, __m256i (&sums)[kRows][4]) {
  const auto flip = static_cast<char>(task.flips_sign ? 0x80 : 0x00);
  const __m128i flips = _mm_set1_epi8(flip);
  const __m128i weight_flips = _mm_set1_epi8(static_cast<char>(task.flips_weights ? 0x80 : 0x00));
  __m256i w[4];
  for (int i = 0; i < 4; ++i) {
    const __m128i stored = Sixteen(weights[i] + k, kIsShort ? count : 16, 0);
    w[i] = _mm256_cvtepi8_epi16(_mm_xor_si128(stored, weight_flips));
  }
  for (int r = 0; r < kRows; ++r) {
    const __m128i stored = Sixteen(rows[r] + k, kIsShort ? count : 16, flip);
    const __m256i x = _mm256_cvtepu8_epi16(_mm_xor_si128(stored, flips));
    for (int i = 0; i < 4; ++i) {
      sums[r][i] = _mm256_add_epi32(sums[r][i], _mm256_madd_epi16(x, w[i]));
      asm volatile("" : "+x"(sums[r][i]));  // as above
    }
  }
}

// The dot products of FourChannels.
template <int kRows>
HEARTH_AVX2 inline void DotFourAvx2(const MatrixTask& task, int64_t row, int32_t channel, int32_t* dots) {
  const uint8_t* rows[kRows];
  const std::array<const std::byte*, 4> weights = FourChannels(task, channel);
  __m256i sums[kRows][4];
  for (int i = 0; i < 4; ++i) {
    for (int r = 0; r < kRows; ++r) sums[r][i] = _mm256_setzero_si256();
  }
  for (int r = 0; r < kRows; ++r) rows[r] = task.pieces[0] + (row + r) * task.row_stride;
  int64_t k = 0;
  for (; k + 16 <= task.depth; k += 16) DotPartAvx2<kRows, false>(rows, weights, k, 16, task, sums);
  if (k < task.depth) DotPartAvx2<kRows, true>(rows, weights, k, task.depth - k, task, sums);
  for (int r = 0; r < kRows; ++r) {
    const __m256i quarters =
        _mm256_hadd_epi32(_mm256_hadd_epi32(sums[r][0], sums[r][1]), _mm256_hadd_epi32(sums[r][2], sums[r][3]));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(dots + r * kBlockChannels),
                     _mm_add_epi32(_mm256_castsi256_si128(quarters), _mm256_extracti128_si256(quarters, 1)));
  }
}

template <int kRows>
HEARTH_AVX2 void TileByModelAvx2(const MatrixTask& task, int64_t row, int32_t block) {
  const int32_t first = block * kBlockChannels, end = std::min(first + kBlockChannels, task.channels);
  int32_t dots[kRows * kBlockChannels] = {};
  for (int32_t channel = first; channel < end; channel += 4)
    DotFourAvx2<kRows>(task, row, channel, dots + (channel - first));
  for (int r = 0; r < kRows; ++r) {
    const auto* sums = reinterpret_cast<const __m256i*>(dots + r * kBlockChannels);
    const __m256i low = _mm256_loadu_si256(sums), high = _mm256_loadu_si256(sums + 1);
    task.reals != nullptr ? StoreRealsAvx2(task, row + r, first, low, high)
                          : StoreAvx2(task, row + r, first, low, high);
  }
}

HEARTH_AVX2 void MultiplyByModelAvx2(const MatrixTask& task) {
  for (int32_t block = task.first_block; block < task.end_block; ++block) {
    int64_t row = 0;
    for (; row + 2 <= task.row_count; row += 2) TileByModelAvx2<2>(task, row, block);
    if (row < task.row_count) TileByModelAvx2<1>(task, row, block);
  }
}

}  // namespace

void MultiplyByModelWeights(const MatrixTask& task, IntegerSet set) {
  return set == IntegerSet::kVnni ? MultiplyByModelVnni(task) : MultiplyByModelAvx2(task);
}

#else

void MultiplyByModelWeights(const MatrixTask&, IntegerSet) {}

#endif

}  // namespace hearth
