#include "backends/cpu/integer/matrix_kernel.h"

#include <algorithm>

#include "backends/cpu/host/vectorized.h"
#include "backends/cpu/integer/matrix_store.h"
#include "core/base/numbers.h"

namespace hearth {

WeightsPlace PlaceOf(const IntegerWeights& weights, int64_t row_count) {
  constexpr int64_t kMostRows = 12;
  const bool is_dense = weights.depth_stride == 1 && weights.channel_stride == weights.depth;
  return is_dense && row_count <= kMostRows ? WeightsPlace::kModel : WeightsPlace::kPacked;
}

PackedMatrix PackMatrix(const IntegerLayer& layer, const IntegerWeights& weights, WeightsPlace place,
                        int32_t piece_depth) {
  const int32_t blocks = (weights.channels + kBlockChannels - 1) / kBlockChannels;
  const int32_t padded_piece = RoundUp(piece_depth, kDepthStep);
  const int64_t steps = int64_t{weights.depth / piece_depth} * padded_piece / kDepthStep;
  PackedMatrix packed;
  packed.terms = RequantizationOf(layer, weights, blocks * kBlockChannels);
  std::vector<int32_t>& factors = packed.terms.row_factors;
  const auto end = factors.begin() + std::min<int64_t>(weights.channels, static_cast<int64_t>(factors.size()));
  if (!factors.empty() && std::all_of(factors.begin(), end, [&](int32_t factor) { return factor == factors[0]; })) {
    packed.row_factor = factors[0];
    factors = {};
  }
  if (place == WeightsPlace::kModel) return packed;
  packed.weights.resize(static_cast<size_t>(blocks * steps * kBlockStepBytes));
  for (int32_t c = 0; c < weights.channels; ++c) {
    int8_t* block = packed.weights.data() + c / kBlockChannels * steps * kBlockStepBytes;
    int8_t* target = block + c % kBlockChannels * kDepthStep;
    for (int32_t first = 0; first < weights.depth; first += piece_depth) {
      for (int32_t k = 0; k < piece_depth; ++k) {
        target[k / kDepthStep * kBlockStepBytes + k % kDepthStep] = layer.PackedWeight(weights.at(c, first + k));
      }
      target += padded_piece / kDepthStep * kBlockStepBytes;
    }
  }
  return packed;
}

#if defined(HEARTH_X86_KERNELS)
namespace {

// ---- Sums of rows ----

HEARTH_VNNI void SumRowsVnni(const MatrixTask& task, int32_t factor, int32_t* sums) {
  constexpr int64_t kWidth = 64;
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(task.flips_sign ? 0x80 : 0x00));
  for (int64_t r = 0; r < task.row_count; ++r) {
    __m512i sum = _mm512_setzero_si512();
    for (const uint8_t* piece : task.pieces) {
      const uint8_t* row = piece + r * task.row_stride;
      for (int64_t k = 0; k < task.depth; k += kWidth) {
        const __mmask64 mask = task.depth - k >= kWidth ? ~__mmask64{0} : (__mmask64{1} << (task.depth - k)) - 1;
        const __m512i x = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, row + k), flip);
        sum = _mm512_add_epi64(sum, _mm512_sad_epu8(_mm512_maskz_mov_epi8(mask, x), _mm512_setzero_si512()));
      }
    }
    sums[r] = static_cast<int32_t>(_mm512_reduce_add_epi64(sum) * factor);
  }
}

void SumRowsAvx2(const MatrixTask& task, int32_t factor, int32_t* sums) {
  const uint8_t flip = task.flips_sign ? 0x80 : 0x00;
  RunIn(VectorSet::kAvx2, [&]() HEARTH_INTO_CALLER {
    for (int64_t r = 0; r < task.row_count; ++r) {
      uint32_t sum = 0;
      for (const uint8_t* piece : task.pieces) {
        const uint8_t* row = piece + r * task.row_stride;
        for (int64_t k = 0; k < task.depth; ++k) sum += static_cast<uint8_t>(row[k] ^ flip);
      }
      sums[r] = static_cast<int32_t>(sum * static_cast<uint32_t>(factor));
    }
  });
}

// ---- AVX-512 with VNNI: 16 channels a vector ----

template <int kRows, int kVectors, bool kFlips>
HEARTH_VNNI void TileVnni(const MatrixTask& task, int64_t row, int32_t block) {
  const int64_t block_bytes = task.block_bytes(), depth_steps = task.depth_steps();
  const int8_t* weights = task.weights + block * block_bytes;
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(0x80));
  __m512i sums[kRows][kVectors];
  HEARTH_UNROLLED for (int v = 0; v < kVectors; ++v) {
    const __m512i offset = _mm512_loadu_si512(task.terms->offsets.data() + (block + v) * kBlockChannels);
    HEARTH_UNROLLED for (int r = 0; r < kRows; ++r) sums[r][v] = offset;
  }
  const bool has_factors = task.row_sums != nullptr && !task.terms->row_factors.empty();
  if (task.row_sums != nullptr && !has_factors) {
    HEARTH_UNROLLED for (int r = 0; r < kRows; ++r) {
      const __m512i row_sum = _mm512_set1_epi32(task.row_sums[row + r]);
      HEARTH_UNROLLED for (int v = 0; v < kVectors; ++v) sums[r][v] = _mm512_add_epi32(sums[r][v], row_sum);
    }
  }
  for (const uint8_t* piece : task.pieces) {
    const uint8_t* rows = piece + row * task.row_stride;
    for (int64_t k = 0; k < depth_steps; ++k, rows += kDepthStep, weights += kBlockStepBytes) {
      __m512i w[kVectors];
      HEARTH_UNROLLED for (int v = 0; v < kVectors; ++v) w[v] = _mm512_loadu_si512(weights + v * block_bytes);
      HEARTH_UNROLLED for (int r = 0; r < kRows; ++r) {
        int32_t four;
        __builtin_memcpy(&four, rows + r * task.row_stride, sizeof(four));
        __m512i x = _mm512_set1_epi32(four);
        if constexpr (kFlips) x = _mm512_xor_si512(x, flip);
        HEARTH_UNROLLED for (int v = 0; v < kVectors; ++v) sums[r][v] = _mm512_dpbusd_epi32(sums[r][v], x, w[v]);
      }
    }
  }
  HEARTH_UNROLLED for (int v = 0; v < kVectors; ++v) {
    const int32_t channel = (block + v) * kBlockChannels;
    HEARTH_UNROLLED for (int r = 0; r < kRows; ++r) {
      StoreVnni(task, row + r, channel, has_factors ? WithRowSum(task, row + r, channel, sums[r][v]) : sums[r][v]);
    }
  }
}

template <int kVectors, bool kFlips>
HEARTH_VNNI void RowsVnni(const MatrixTask& task, int32_t block) {
  int64_t row = 0;
  for (; row + 6 <= task.row_count; row += 6) TileVnni<6, kVectors, kFlips>(task, row, block);
  if (row + 4 <= task.row_count) {
    TileVnni<4, kVectors, kFlips>(task, row, block);
    row += 4;
  }
  if (row + 2 <= task.row_count) {
    TileVnni<2, kVectors, kFlips>(task, row, block);
    row += 2;
  }
  if (row < task.row_count) TileVnni<1, kVectors, kFlips>(task, row, block);
}

template <bool kFlips>
HEARTH_VNNI void MultiplyVnni(const MatrixTask& task) {
  for (int32_t block = task.first_block; block < task.end_block;) {
    const int32_t left = task.end_block - block;
    // Five and six blocks are halved, because that loads rows less often for each product than 4 + 1 and 4 + 2.
    const int32_t taken = left == 5 || left == 6 ? 3 : std::min(left, 4);
    switch (taken) {
      case 1: RowsVnni<1, kFlips>(task, block); break;
      case 2: RowsVnni<2, kFlips>(task, block); break;
      case 3: RowsVnni<3, kFlips>(task, block); break;
      default: RowsVnni<4, kFlips>(task, block); break;
    }
    block += taken;
  }
}

// ---- AVX2: 16 channels in four vectors of 4 channels, each with two partial sums ----

// The sums of 8 channels in order.
HEARTH_AVX2 inline __m256i PairSums(__m256i first, __m256i second) {
  return _mm256_permute4x64_epi64(_mm256_hadd_epi32(first, second), _MM_SHUFFLE(3, 1, 2, 0));
}

template <int kRows>
HEARTH_AVX2 void TileAvx2(const MatrixTask& task, int64_t row, int32_t block) {
  const int64_t depth_steps = task.depth_steps();
  const int8_t* weights = task.weights + block * task.block_bytes();
  const __m128i flip = _mm_set1_epi8(static_cast<char>(task.flips_sign ? 0x80 : 0x00));
  __m256i sums[kRows][4];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < 4; ++v) sums[r][v] = _mm256_setzero_si256();
  }
  for (const uint8_t* piece : task.pieces) {
    const uint8_t* rows = piece + row * task.row_stride;
    for (int64_t k = 0; k < depth_steps; ++k, rows += kDepthStep, weights += kBlockStepBytes) {
      __m256i w[4];
      for (int v = 0; v < 4; ++v) {
        w[v] = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(weights + v * 16)));
      }
      for (int r = 0; r < kRows; ++r) {
        int32_t four;
        __builtin_memcpy(&four, rows + r * task.row_stride, sizeof(four));
        const __m256i x = _mm256_cvtepu8_epi16(_mm_xor_si128(_mm_set1_epi32(four), flip));
        for (int v = 0; v < 4; ++v) sums[r][v] = _mm256_add_epi32(sums[r][v], _mm256_madd_epi16(x, w[v]));
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    const __m256i low = PairSums(sums[r][0], sums[r][1]), high = PairSums(sums[r][2], sums[r][3]);
    StoreAvx2(task, row + r, block * kBlockChannels, low, high);
  }
}

HEARTH_AVX2 void MultiplyAvx2(const MatrixTask& task) {
  for (int32_t block = task.first_block; block < task.end_block; ++block) {
    int64_t row = 0;
    for (; row + 2 <= task.row_count; row += 2) TileAvx2<2>(task, row, block);
    if (row < task.row_count) TileAvx2<1>(task, row, block);
  }
}

}  // namespace

IntegerSet BestIntegerSet() {
  static const IntegerSet best = [] {
    __builtin_cpu_init();
    if (BestVectorSet() == VectorSet::kAvx512 && __builtin_cpu_supports("avx512vnni")) return IntegerSet::kVnni;
    return BestVectorSet() == VectorSet::kBase ? IntegerSet::kNone : IntegerSet::kAvx2;
  }();
  return best;
}

void MultiplyRows(const MatrixTask& task, IntegerSet set) {
  if (task.model_weights != nullptr) return MultiplyByModelWeights(task, set);
  if (set == IntegerSet::kAvx2) return MultiplyAvx2(task);
  if (task.flips_sign) return MultiplyVnni<true>(task);
  MultiplyVnni<false>(task);
}

void SumRows(const MatrixTask& task, int32_t factor, int32_t* sums, IntegerSet set) {
  return set == IntegerSet::kVnni ? SumRowsVnni(task, factor, sums) : SumRowsAvx2(task, factor, sums);
}

#else

IntegerSet BestIntegerSet() {
  return IntegerSet::kNone;
}

void MultiplyRows(const MatrixTask&, IntegerSet) {}
void SumRows(const MatrixTask&, int32_t, int32_t*, IntegerSet) {}

#endif

}  // namespace hearth
