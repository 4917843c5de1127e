#include "backends/cpu/integer/depthwise_kernel.h"

#include <algorithm>

#include "backends/cpu/host/vectorized.h"
#include "backends/cpu/integer/requantize.h"
#include "core/base/numbers.h"

namespace hearth {
namespace {

// The kernel with VNNI takes 64 channels at once. Interleaving the bytes of four taps puts channel 16 * (p / 4) + 4 * v
// + p % 4 at place p of 16 in vector v of four. Packing the sums to bytes restores the order.
constexpr int32_t kWideBlock = 64, kNarrowBlock = 16;  // the other kernel takes 16
int32_t ChannelAt(int32_t place) {
  const int32_t vector = place / 16, p = place % 16;
  return p / 4 * 16 + vector * 4 + p % 4;
}

template <typename T>
void Interleave(std::vector<T>& numbers) {
  const std::vector<T> ordered = numbers;
  for (size_t block = 0; block < numbers.size(); block += kWideBlock) {
    for (int32_t place = 0; place < kWideBlock; ++place) {
      numbers[block + static_cast<size_t>(place)] = ordered[block + static_cast<size_t>(ChannelAt(place))];
    }
  }
}

}  // namespace

DepthwiseWeights PackDepthwise(const IntegerLayer& layer, const IntegerWeights& weights, IntegerSet set) {
  DepthwiseWeights packed;
  packed.channels = weights.channels;
  packed.taps = weights.depth;
  const int32_t padded = RoundUp(weights.channels, kWideBlock);
  packed.terms = RequantizationOf(layer, weights, padded);
  if (set == IntegerSet::kAvx2) {
    packed.factors.resize(static_cast<size_t>(RoundUp(weights.depth, 2)) * static_cast<size_t>(padded));
    for (int32_t tap = 0; tap < weights.depth; ++tap) {
      int16_t* of_pair = packed.factors.data() + int64_t{tap / 2 * 2} * padded + tap % 2;
      for (int32_t c = 0; c < weights.channels; ++c) {
        const int32_t zero_point = layer.weight_zero_points[static_cast<size_t>(c)];
        const int32_t factor = layer.PackedWeight(weights.at(c, tap)) - zero_point;
        of_pair[c * 2] = static_cast<int16_t>(factor);
        // Signed inputs are multiplied as they are stored: without the 128 that is added to them elsewhere.
        if (!layer.input_is_signed) continue;
        int32_t& offset = packed.terms.offsets[static_cast<size_t>(c)];
        offset = static_cast<int32_t>(static_cast<uint32_t>(offset) + static_cast<uint32_t>(128 * factor));
      }
    }
    return packed;
  }
  packed.numbers.resize(static_cast<size_t>(packed.tap_steps() * kDepthStep) * static_cast<size_t>(padded));
  for (int32_t c = 0; c < padded; ++c) {
    const int32_t block = c / kWideBlock * kWideBlock, channel = block + ChannelAt(c % kWideBlock);
    if (channel >= weights.channels) continue;
    int8_t* of_block = packed.numbers.data() + int64_t{block} * packed.tap_steps() * kDepthStep;
    for (int32_t tap = 0; tap < weights.depth; ++tap) {
      const int32_t step = tap / kDepthStep * kWideBlock * kDepthStep;
      of_block[step + c % kWideBlock * kDepthStep + tap % kDepthStep] = layer.PackedWeight(weights.at(channel, tap));
    }
  }
  Interleave(packed.terms.offsets);
  Interleave(packed.terms.multipliers);
  Interleave(packed.terms.row_factors);
  return packed;
}

DepthwiseWeights PackNeighbours(const IntegerLayer& layer, const IntegerWeights& weights, int32_t pixels,
                                IntegerSet set) {
  IntegerLayer wide = layer;
  std::vector<std::byte> bytes;
  for (int32_t tap = 0; tap < weights.depth; ++tap) {
    for (int32_t c = 0; c < pixels * weights.channels; ++c) bytes.push_back(weights.at(c % weights.channels, tap));
  }
  const auto repeat = [&](auto& list) {
    const auto once = list;
    for (int32_t pixel = 1; pixel < pixels; ++pixel) list.insert(list.end(), once.begin(), once.end());
  };
  repeat(wide.weight_zero_points);
  repeat(wide.biases);
  repeat(wide.multipliers);
  const int32_t channels = pixels * weights.channels;
  return PackDepthwise(wide, {bytes, channels, weights.depth, 1, channels}, set);
}

int32_t NeighboursOf(int32_t channels, IntegerSet set) {
  constexpr int32_t kMostChannels = 768;  // the weights stay in the first-level cache and take little memory
  const int32_t width = set == IntegerSet::kVnni ? kWideBlock : kNarrowBlock;
  const auto vectors_of = [&](int32_t pixels) { return (pixels * channels + width - 1) / width; };
  int32_t best = 1;
  for (int32_t pixels = 2; pixels * channels <= kMostChannels; ++pixels) {
    if (vectors_of(pixels) * best < vectors_of(best) * pixels) best = pixels;
  }
  return best;
}

#if defined(HEARTH_X86_KERNELS)
namespace {

// The low bytes of four vectors of 32-bit stored numbers, in the order of channels.
HEARTH_VNNI inline __m512i LowBytes(const __m512i stored[4]) {
  const __m512i byte = _mm512_set1_epi32(0xff);
  const __m512i low = _mm512_packus_epi32(_mm512_and_si512(stored[0], byte), _mm512_and_si512(stored[1], byte));
  const __m512i high = _mm512_packus_epi32(_mm512_and_si512(stored[2], byte), _mm512_and_si512(stored[3], byte));
  return _mm512_packus_epi16(low, high);
}

template <bool kFlips, bool kHasRowFactors>
HEARTH_VNNI void BlockVnni(const DepthwiseTask& task, int32_t block) {
  const DepthwiseWeights& weights = *task.weights;
  const int32_t steps = weights.tap_steps();
  const int8_t* of_block = weights.numbers.data() + int64_t{block} * steps * kDepthStep;
  const int32_t left = std::min(kWideBlock, weights.channels - block);
  const __mmask64 mask = left == kWideBlock ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(0x80)), all_taps = _mm512_set1_epi8(1);
  const __m512i last_taps = _mm512_set1_epi32(0x01010101 >> (steps * kDepthStep - weights.taps) * 8);
  const uint8_t* const* taps = task.taps;
  uint8_t* out = task.out + block;
  for (int64_t pixel = 0; pixel < task.pixels; ++pixel, taps += steps * kDepthStep, out += weights.channels) {
    __m512i sums[4], totals[4];
    for (int v = 0; v < 4; ++v) {
      sums[v] = _mm512_loadu_si512(weights.terms.offsets.data() + block + v * 16);
      totals[v] = _mm512_setzero_si512();
    }
    const int8_t* of_step = of_block;
    for (int32_t step = 0; step < steps; ++step, of_step += kWideBlock * kDepthStep) {
      __m512i x[4];
      for (int t = 0; t < 4; ++t) {
        x[t] = _mm512_maskz_loadu_epi8(mask, taps[step * kDepthStep + t] + block);
        if constexpr (kFlips) x[t] = _mm512_xor_si512(x[t], flip);
      }
      const __m512i low01 = _mm512_unpacklo_epi8(x[0], x[1]), high01 = _mm512_unpackhi_epi8(x[0], x[1]);
      const __m512i low23 = _mm512_unpacklo_epi8(x[2], x[3]), high23 = _mm512_unpackhi_epi8(x[2], x[3]);
      const __m512i fours[4] = {_mm512_unpacklo_epi16(low01, low23), _mm512_unpackhi_epi16(low01, low23),
                                _mm512_unpacklo_epi16(high01, high23), _mm512_unpackhi_epi16(high01, high23)};
      const __m512i ones = step + 1 < steps ? all_taps : last_taps;
      for (int v = 0; v < 4; ++v) {
        sums[v] = _mm512_dpbusd_epi32(sums[v], fours[v], _mm512_loadu_si512(of_step + v * 64));
        if constexpr (kHasRowFactors) totals[v] = _mm512_dpbusd_epi32(totals[v], fours[v], ones);
      }
    }
    __m512i stored[4];
    for (int v = 0; v < 4; ++v) {
      const int32_t place = block + v * 16;
      if constexpr (kHasRowFactors) {
        const __m512i factors = _mm512_loadu_si512(weights.terms.row_factors.data() + place);
        sums[v] = _mm512_add_epi32(sums[v], _mm512_mullo_epi32(totals[v], factors));
      }
      stored[v] = Stored512(sums[v], weights.terms, place);
    }
    _mm512_mask_storeu_epi8(out, mask, LowBytes(stored));
  }
}

void ConvolveVnni(const DepthwiseTask& task) {
  const bool has_row_factors = !task.weights->terms.row_factors.empty();
  for (int32_t block = 0; block < task.weights->channels; block += kWideBlock) {
    if (task.flips_sign) {
      has_row_factors ? BlockVnni<true, true>(task, block) : BlockVnni<true, false>(task, block);
    } else {
      has_row_factors ? BlockVnni<false, true>(task, block) : BlockVnni<false, false>(task, block);
    }
  }
}

// 8 channels of two taps, whose bytes alternate.
template <bool kIsSigned>
HEARTH_AVX2 inline __m256i Widened(__m128i pairs) {
  return kIsSigned ? _mm256_cvtepi8_epi16(pairs) : _mm256_cvtepu8_epi16(pairs);
}

// Adds `width` channels of two taps, up to 16, times their factors.
template <bool kIsSigned>
HEARTH_AVX2 inline void AddPair(const uint8_t* first, const uint8_t* second, int32_t width, const int16_t* factors,
                                __m256i& low, __m256i& high) {
  __m128i a = _mm_setzero_si128(), b = a;
  __builtin_memcpy(&a, first, static_cast<size_t>(width));
  __builtin_memcpy(&b, second, static_cast<size_t>(width));
  const __m256i x_low = Widened<kIsSigned>(_mm_unpacklo_epi8(a, b));
  const __m256i x_high = Widened<kIsSigned>(_mm_unpackhi_epi8(a, b));
  const auto* w = reinterpret_cast<const __m256i*>(factors);
  low = _mm256_add_epi32(low, _mm256_madd_epi16(x_low, _mm256_loadu_si256(w)));
  high = _mm256_add_epi32(high, _mm256_madd_epi16(x_high, _mm256_loadu_si256(w + 1)));
}

// kWidth: 16 channels from `block` on are in the layer, or fewer if it is 0. kPairs: of taps, or any number if it is 0.
template <bool kIsSigned, int32_t kWidth, int32_t kPairs>
HEARTH_AVX2 void BlockAvx2(const DepthwiseTask& task, int32_t block) {
  const DepthwiseWeights& weights = *task.weights;
  const Requantization& terms = weights.terms;
  const int64_t pair_step = 2 * static_cast<int64_t>(terms.offsets.size()), tap_step = weights.tap_steps() * kDepthStep;
  const int64_t pixels = task.pixels, out_step = weights.channels;
  const int32_t width = kWidth > 0 ? kWidth : weights.channels - block;
  const int32_t pairs = (weights.taps + 1) / 2;
  const auto* offsets = reinterpret_cast<const __m256i*>(terms.offsets.data() + block);
  const __m256i low_offsets = _mm256_loadu_si256(offsets), high_offsets = _mm256_loadu_si256(offsets + 1);
  const Scale256 low_scale(terms, block), high_scale(terms, block + 8);
  const uint8_t* const* taps = task.taps;
  uint8_t* out = task.out + block;
  for (int64_t pixel = 0; pixel < pixels; ++pixel, taps += tap_step, out += out_step) {
    __m256i low = low_offsets, high = high_offsets;
    const auto* factors = weights.factors.data() + 2 * block;
    if constexpr (kPairs > 0) {
      HEARTH_UNROLLED for (int32_t p = 0; p < kPairs; ++p) {
        AddPair<kIsSigned>(taps[2 * p] + block, taps[2 * p + 1] + block, width, factors + p * pair_step, low, high);
      }
    } else {
      for (int32_t p = 0; p < pairs; ++p) {
        AddPair<kIsSigned>(taps[2 * p] + block, taps[2 * p + 1] + block, width, factors + p * pair_step, low, high);
      }
    }
    StoreBytes(LowBytes256(low_scale.Stored(low), high_scale.Stored(high)), width, out);
  }
}

template <bool kIsSigned>
void ConvolveAvx2(const DepthwiseTask& task) {
  constexpr int32_t kPairsOf3x3 = 5;
  const int32_t channels = task.weights->channels, taps = task.weights->taps;
  if (channels < kNarrowBlock) return BlockAvx2<kIsSigned, 0, 0>(task, 0);
  const auto convolve =
      taps == 9 ? BlockAvx2<kIsSigned, kNarrowBlock, kPairsOf3x3> : BlockAvx2<kIsSigned, kNarrowBlock, 0>;
  // The last block is a whole one, too: it repeats channels of the block before.
  for (int32_t block = 0; block < channels; block += kNarrowBlock) {
    convolve(task, std::min(block, channels - kNarrowBlock));
  }
}

}  // namespace

void ConvolvePixels(const DepthwiseTask& task, IntegerSet set) {
  if (set == IntegerSet::kVnni) return ConvolveVnni(task);
  return task.flips_sign ? ConvolveAvx2<true>(task) : ConvolveAvx2<false>(task);
}

#else

void ConvolvePixels(const DepthwiseTask&, IntegerSet) {}

#endif

}  // namespace hearth
