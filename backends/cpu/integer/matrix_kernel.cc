#include "backends/cpu/integer/matrix_kernel.h"

#include <algorithm>

#include "backends/cpu/host/vectorized.h"
#include "backends/cpu/integer/matrix_store.h"
#include "core/base/numbers.h"

namespace hearth {
namespace {

constexpr int32_t kPair = 2;  // the numbers of the depth that AVX2 multiplies together

}  // namespace

WeightsPlace PlaceOf(const IntegerWeights& weights, int64_t row_count) {
  constexpr int64_t kMostRows = 12;
  const bool is_dense = weights.depth_stride == 1 && weights.channel_stride == weights.depth;
  return is_dense && row_count <= kMostRows ? WeightsPlace::kModel : WeightsPlace::kPacked;
}

PackedMatrix PackMatrix(const IntegerLayer& layer, const IntegerWeights& weights, WeightsPlace place,
                        int32_t piece_depth, IntegerSet set) {
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
  const int32_t together = set == IntegerSet::kAvx2 ? kPair : kDepthStep;  // of a channel, side by side
  for (int32_t c = 0; c < weights.channels; ++c) {
    int8_t* block = packed.weights.data() + c / kBlockChannels * steps * kBlockStepBytes;
    int8_t* target = block + c % kBlockChannels * together;
    for (int32_t first = 0; first < weights.depth; first += piece_depth) {
      int8_t* step = target;
      for (int32_t k = 0; k < piece_depth; k += together, step += together * kBlockChannels) {
        const int32_t count = std::min(together, piece_depth - k);
        for (int32_t i = 0; i < count; ++i) step[i] = layer.PackedWeight(weights.at(c, first + k + i));
      }
      target += padded_piece / kDepthStep * kBlockStepBytes;
    }
  }
  return packed;
}

#if defined(HEARTH_X86_KERNELS)
namespace {

constexpr int64_t kWidened = 16;  // numbers in a vector of 16-bit ones

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

// ---- AVX2: rows widened to 16 bits, 8 channels a vector ----

// Rows of 16-bit numbers, each piece by itself.
struct WideRows {
  const int16_t* numbers;
  int64_t row_stride, piece_stride;
};

// Rows that overlap, or lie side by side, are widened as the range that they share.
bool SharesRange(const MatrixTask& task) {
  return task.row_stride <= task.depth_steps() * kDepthStep;
}

int64_t WidePiece(const MatrixTask& task) {
  const int64_t depth = task.depth_steps() * kDepthStep;
  return SharesRange(task) ? (task.row_count - 1) * task.row_stride + depth : task.row_count * depth;
}

// Writes up to 15 numbers past the end.
HEARTH_AVX2 void Widen(const uint8_t* from, int64_t count, bool flips_sign, int16_t* to) {
  const __m128i flip = _mm_set1_epi8(static_cast<char>(flips_sign ? 0x80 : 0x00));
  for (; count > 0; count -= kWidened, from += kWidened, to += kWidened) {
    __m128i bytes = flip;
    if (count >= kWidened) {
      bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    } else {
      __builtin_memcpy(&bytes, from, static_cast<size_t>(count));
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_cvtepu8_epi16(_mm_xor_si128(bytes, flip)));
  }
}

WideRows WidenRows(const MatrixTask& task) {
  const int64_t depth = task.depth_steps() * kDepthStep;
  const WideRows rows{task.wide, SharesRange(task) ? task.row_stride : depth, WidePiece(task)};
  int16_t* target = task.wide;
  for (const uint8_t* piece : task.pieces) {
    if (SharesRange(task)) {
      Widen(piece, (task.row_count - 1) * task.row_stride + task.depth, task.flips_sign, target);
    } else {
      for (int64_t r = 0; r < task.row_count; ++r) {
        Widen(piece + r * task.row_stride, task.depth, task.flips_sign, target + r * depth);
      }
    }
    target += rows.piece_stride;
  }
  return rows;
}

// kVectors: of the block's two.
template <int kRows, int kVectors>
HEARTH_AVX2 void TileAvx2(const MatrixTask& task, const WideRows& rows, int64_t row, int32_t block) {
  const int64_t pairs = Tiles(task.depth, kPair), stride = rows.row_stride;
  const int8_t* of_piece = task.weights + block * task.block_bytes();
  const int16_t* piece = rows.numbers + row * stride;
  __m256i sums[kRows][2];
  HEARTH_UNROLLED for (int r = 0; r < kRows; ++r) sums[r][0] = sums[r][1] = _mm256_setzero_si256();
  for (size_t p = 0; p < task.pieces.size(); ++p) {
    const int16_t* x = piece;
    const int8_t* weights = of_piece;
    for (int64_t k = 0; k < pairs; ++k, x += kPair, weights += kPair * kBlockChannels) {
      __m256i w[kVectors];
      HEARTH_UNROLLED for (int v = 0; v < kVectors; ++v) {
        w[v] = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(weights) + v));
      }
      HEARTH_UNROLLED for (int r = 0; r < kRows; ++r) {
        int32_t two;
        __builtin_memcpy(&two, x + r * stride, sizeof(two));
        __m256i pair = _mm256_set1_epi32(two);
        // Row by row: otherwise GCC 12 loads all pairs first and keeps sums on the stack.
        asm volatile("" : "+x"(pair), "+x"(sums[r][0]), "+x"(sums[r][kVectors - 1]));
        HEARTH_UNROLLED for (int v = 0; v < kVectors; ++v) {
          sums[r][v] = _mm256_add_epi32(sums[r][v], _mm256_madd_epi16(pair, w[v]));
        }
      }
    }
    piece += rows.piece_stride;
    of_piece += task.depth_steps() * kBlockStepBytes;
  }
  // By way of memory, so that the code of the store stands here once.
  __m256i finished[kRows][2];
  HEARTH_UNROLLED for (int r = 0; r < kRows; ++r) {
    finished[r][0] = sums[r][0];
    finished[r][1] = sums[r][1];
  }
  for (int r = 0; r < kRows; ++r) {
    asm volatile("" : : "g"(&finished) : "memory");
    StoreAvx2(task, row + r, block * kBlockChannels, finished[r][0], finished[r][1]);
  }
}

template <int kRows, int kVectors>
HEARTH_AVX2 void RowsAvx2(const MatrixTask& task, const WideRows& rows, int32_t block) {
  int64_t row = 0;
  for (; row + kRows <= task.row_count; row += kRows) TileAvx2<kRows, kVectors>(task, rows, row, block);
  for (; row + 3 <= task.row_count; row += 3) TileAvx2<3, kVectors>(task, rows, row, block);
  for (; row < task.row_count; ++row) TileAvx2<1, kVectors>(task, rows, row, block);
}

HEARTH_AVX2 void MultiplyAvx2(const MatrixTask& task) {
  const WideRows rows = WidenRows(task);
  for (int32_t block = task.first_block; block < task.end_block; ++block) {
    const bool is_half = task.channels - block * kBlockChannels <= kBlockChannels / 2;
    is_half ? RowsAvx2<12, 1>(task, rows, block) : RowsAvx2<6, 2>(task, rows, block);
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

int64_t WideNumbers(const MatrixTask& task, IntegerSet set) {
  if (set != IntegerSet::kAvx2 || task.model_weights != nullptr) return 0;
  return static_cast<int64_t>(task.pieces.size()) * WidePiece(task) + kWidened;
}

void SumRows(const MatrixTask& task, int32_t factor, int32_t* sums, IntegerSet set) {
  return set == IntegerSet::kVnni ? SumRowsVnni(task, factor, sums) : SumRowsAvx2(task, factor, sums);
}

#else

IntegerSet BestIntegerSet() {
  return IntegerSet::kNone;
}

void MultiplyRows(const MatrixTask&, IntegerSet) {}
int64_t WideNumbers(const MatrixTask&, IntegerSet) {
  return 0;
}
void SumRows(const MatrixTask&, int32_t, int32_t*, IntegerSet) {}

#endif

}  // namespace hearth
