#include "core/base/sha256.h"

#include <algorithm>
#include <bit>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>
#define HEARTH_SHA_EXTENSION
#endif

namespace hearth {
namespace {

constexpr size_t kBlockBytes = 64;

// The first 32 bits of the fractions of the cube roots of the first 64 primes.
constexpr std::array<uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<uint32_t, 8>;

uint32_t BigEndian(const std::byte* bytes) {
  uint32_t word = 0;
  for (int k = 0; k < 4; ++k) word = word << 8 | std::to_integer<uint32_t>(bytes[k]);
  return word;
}

void Compress(State& state, const std::byte* block) {
  std::array<uint32_t, 64> w;
  for (size_t t = 0; t < 16; ++t) w[t] = BigEndian(block + 4 * t);
  for (size_t t = 16; t < 64; ++t) {
    const uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
    const uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t t = 0; t < 64; ++t) {
    const uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t t1 = h + sum1 + ((e & f) ^ (~e & g)) + kRound[t] + w[t];
    const uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const State round = {a, b, c, d, e, f, g, h};
  for (size_t k = 0; k < state.size(); ++k) state[k] += round[k];
}

using CompressBlocks = void (*)(State& state, const std::byte* blocks, size_t count);

void CompressPlainly(State& state, const std::byte* blocks, size_t count) {
  for (size_t k = 0; k < count; ++k) Compress(state, blocks + k * kBlockBytes);
}

#ifdef HEARTH_SHA_EXTENSION
// The processor's own rounds, four at a time.
__attribute__((target("sha,sse4.1,ssse3"))) void CompressByProcessor(State& state, const std::byte* blocks,
                                                                     size_t count) {
  const __m128i to_big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  // The instructions want the state as ABEF and CDGH.
  const __m128i dcba = _mm_loadu_si128(reinterpret_cast<const __m128i*>(state.data()));
  const __m128i hgfe = _mm_loadu_si128(reinterpret_cast<const __m128i*>(state.data() + 4));
  const __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
  for (; count > 0; --count, blocks += kBlockBytes) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i words[4];
    for (size_t group = 0; group < 16; ++group) {
      __m128i& now = words[group % 4];
      if (group < 4) {
        now = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(blocks) + group), to_big_endian);
      } else {
        const __m128i last = words[(group + 3) % 4];
        const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(now, words[(group + 1) % 4]),
                                          _mm_alignr_epi8(last, words[(group + 2) % 4], 4));
        now = _mm_sha256msg2_epu32(sum, last);
      }
      const __m128i round = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kRound.data() + 4 * group));
      const __m128i added = _mm_add_epi32(now, round);
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, added);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(added, 0x0e));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data()), _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data() + 4), _mm_alignr_epi8(dchg, feba, 8));
}

bool HasExtension() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kSsse3 = 1u << 9, kSse41 = 1u << 19, kSha = 1u << 29;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kSsse3) == 0 || (c & kSse41) == 0) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kSha) != 0;
}
#endif

CompressBlocks ChooseCompress() {
#ifdef HEARTH_SHA_EXTENSION
  if (HasExtension()) return CompressByProcessor;
#endif
  return CompressPlainly;
}

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Sha256::Sha256() {
  static const CompressBlocks compress = ChooseCompress();
  compress_ = compress;
}

void Sha256::Add(std::span<const std::byte> piece) {
  all_bytes_ += piece.size();
  if (held_bytes_ > 0) {
    const std::span<const std::byte> first = piece.first(std::min(piece.size(), kBlockBytes - held_bytes_));
    std::ranges::copy(first, held_.begin() + static_cast<std::ptrdiff_t>(held_bytes_));
    held_bytes_ += first.size();
    piece = piece.subspan(first.size());
    if (held_bytes_ < kBlockBytes) return;
    compress_(state_, held_.data(), 1);
  }
  const size_t whole_blocks = piece.size() / kBlockBytes;
  compress_(state_, piece.data(), whole_blocks);
  const std::span<const std::byte> rest = piece.subspan(whole_blocks * kBlockBytes);
  std::ranges::copy(rest, held_.begin());
  held_bytes_ = rest.size();
}

std::array<uint8_t, 32> Sha256::Finish() {
  const uint64_t bit_count = all_bytes_ * 8;
  // The rest, a 1 bit, zeros, and the length at the end of a block.
  std::array<std::byte, 2 * kBlockBytes> tail{};
  std::copy_n(held_.begin(), held_bytes_, tail.begin());
  tail[held_bytes_] = std::byte{0x80};
  const size_t tail_blocks = held_bytes_ + 9 <= kBlockBytes ? 1 : 2;
  for (size_t k = 0; k < 8; ++k) tail[tail_blocks * kBlockBytes - 1 - k] = static_cast<std::byte>(bit_count >> (8 * k));
  compress_(state_, tail.data(), tail_blocks);
  std::array<uint8_t, 32> digest;
  for (size_t k = 0; k < digest.size(); ++k) digest[k] = static_cast<uint8_t>(state_[k / 4] >> (24 - 8 * (k % 4)));
  return digest;
}

std::array<uint8_t, 32> Sha256Of(std::span<const std::byte> bytes) {
  Sha256 whole;
  whole.Add(bytes);
  return whole.Finish();
}

std::array<uint8_t, 32> PlainSha256Of(std::span<const std::byte> bytes) {
  Sha256 whole(CompressPlainly);
  whole.Add(bytes);
  return whole.Finish();
}

std::string HexOf(std::span<const uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (uint8_t byte : bytes) hex += {kDigits[byte >> 4], kDigits[byte & 15]};
  return hex;
}

bool BytesFromHex(std::string_view hex, std::span<uint8_t> bytes) {
  if (hex.size() != 2 * bytes.size()) return false;
  for (size_t k = 0; k < bytes.size(); ++k) {
    const int high = DigitOf(hex[2 * k]), low = DigitOf(hex[2 * k + 1]);
    if (high < 0 || low < 0) return false;
    bytes[k] = static_cast<uint8_t>(high * 16 + low);
  }
  return true;
}

}  // namespace hearth
