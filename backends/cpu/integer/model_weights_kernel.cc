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

// ---- AVX2: 32 elements of the depth in a vector ----

// Sums of two products of bytes need more than 16 bits; with halves of inputs (and with what halving drops) they do
// not. So a dot product is twice that of the halves, plus that of the odd parts.
struct DotSums {
  __m256i of_halves, of_odds;  // eight doubled sums, and sixteen
};

// The first `count` bytes, followed by `fill`.
HEARTH_AVX2 inline __m256i FirstBytes(const void* bytes, int64_t count, char fill) {
  __m256i padded = _mm256_set1_epi8(fill);
  __builtin_memcpy(&padded, bytes, static_cast<size_t>(count));
  return padded;
}

// The `count` elements of four channels from `k` on, at most 32.
HEARTH_AVX2 inline void DotPartAvx2(const uint8_t* x, const std::array<const std::byte*, 4>& weights, int64_t k,
                                    int64_t count, const MatrixTask& task, DotSums (&sums)[4]) {
  const auto flip = static_cast<char>(task.flips_sign ? 0x80 : 0x00);
  const __m256i weight_flip = _mm256_set1_epi8(static_cast<char>(task.flips_weights ? 0x80 : 0x00));
  const __m256i bytes = _mm256_xor_si256(FirstBytes(x + k, count, flip), _mm256_set1_epi8(flip));
  const __m256i halves = _mm256_and_si256(_mm256_srli_epi16(bytes, 1), _mm256_set1_epi8(0x7f));
  const __m256i odds = _mm256_and_si256(bytes, _mm256_set1_epi8(1));
  HEARTH_UNROLLED for (size_t i = 0; i < 4; ++i) {
    const __m256i w = _mm256_xor_si256(FirstBytes(weights[i] + k, count, 0), weight_flip);
    const __m256i doubled = _mm256_madd_epi16(_mm256_maddubs_epi16(halves, w), _mm256_set1_epi16(2));
    sums[i].of_halves = _mm256_add_epi32(sums[i].of_halves, doubled);
    sums[i].of_odds = _mm256_add_epi16(sums[i].of_odds, _mm256_maddubs_epi16(odds, w));
    asm volatile("" : "+x"(sums[i].of_halves), "+x"(sums[i].of_odds));  // as above
  }
}

// The dot products of FourChannels.
HEARTH_AVX2 inline __m128i DotFourAvx2(const MatrixTask& task, int64_t row, int32_t channel) {
  constexpr int64_t kWidth = 32, kMostTurns = 127;  // each adds at most 256 to 16 bits
  const uint8_t* x = task.pieces[0] + row * task.row_stride;
  const std::array<const std::byte*, 4> weights = FourChannels(task, channel);
  DotSums sums[4];
  for (DotSums& each : sums) each.of_halves = _mm256_setzero_si256();
  for (int64_t k = 0; k < task.depth;) {
    const int64_t end = std::min(task.depth, k + kMostTurns * kWidth);
    for (DotSums& each : sums) each.of_odds = _mm256_setzero_si256();
    for (; k + kWidth <= end; k += kWidth) DotPartAvx2(x, weights, k, kWidth, task, sums);
    if (k < end) DotPartAvx2(x, weights, k, end - k, task, sums);
    k = end;
    for (DotSums& each : sums) {
      const __m256i odds = _mm256_madd_epi16(each.of_odds, _mm256_set1_epi16(1));
      each.of_halves = _mm256_add_epi32(each.of_halves, odds);
    }
  }
  const __m256i quarters = _mm256_hadd_epi32(_mm256_hadd_epi32(sums[0].of_halves, sums[1].of_halves),
                                             _mm256_hadd_epi32(sums[2].of_halves, sums[3].of_halves));
  return _mm_add_epi32(_mm256_castsi256_si128(quarters), _mm256_extracti128_si256(quarters, 1));
}

HEARTH_AVX2 void TileByModelAvx2(const MatrixTask& task, int64_t row, int32_t block) {
  const int32_t first = block * kBlockChannels;
  __m128i dots[4] = {};
  for (int32_t i = 0; i < 4 && first + 4 * i < task.channels; ++i) dots[i] = DotFourAvx2(task, row, first + 4 * i);
  const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(dots[0]), dots[1], 1),
                high = _mm256_inserti128_si256(_mm256_castsi128_si256(dots[2]), dots[3], 1);
  task.reals != nullptr ? StoreRealsAvx2(task, row, first, low, high) : StoreAvx2(task, row, first, low, high);
}

HEARTH_AVX2 void MultiplyByModelAvx2(const MatrixTask& task) {
  for (int32_t block = task.first_block; block < task.end_block; ++block) {
    for (int64_t row = 0; row < task.row_count; ++row) TileByModelAvx2(task, row, block);
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
