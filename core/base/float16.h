// IEEE 754 binary16 to and from float, in integer arithmetic (no compiler has to know the type).
#ifndef HEARTH_CORE_BASE_FLOAT16_H_
#define HEARTH_CORE_BASE_FLOAT16_H_

#include <bit>
#include <cmath>
#include <cstdint>

namespace hearth {

// Without branches, so that compilers convert several numbers of a loop at once.
inline float HalfToFloat(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t magnitude = half & 0x7fffu;
  // Zero or subnormal: mantissa * 2^-24, as the mantissa of 2^-14 less 2^-14.
  const float small = std::bit_cast<float>(0x38800000u + (magnitude << 13)) - 0x1p-14f;
  const uint32_t normal = (magnitude << 13) + (magnitude < 0x7c00u ? 0x38000000u : 0x70000000u);
  const uint32_t is_small = magnitude < 0x400u ? ~0u : 0u;
  return std::bit_cast<float>(sign | (std::bit_cast<uint32_t>(small) & is_small) | (normal & ~is_small));
}

// Rounds to nearest, ties to even; overflows to infinity.
inline uint16_t FloatToHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7e00u;   // NaN
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u;  // rounds to 65536 or more
  if (magnitude < 0x38800000u) {                        // below 2^-14: subnormal or zero, in units of 2^-24
    const float units = std::ldexp(std::bit_cast<float>(magnitude), 24);
    return sign | static_cast<uint16_t>(std::nearbyint(units));
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return sign | static_cast<uint16_t>((rounded - 0x38000000u) >> 13);
}

// How a device stores a float32 number: a finite number beyond the largest half becomes the largest half, not infinity,
// and a number next to 0 becomes the smallest half, not 0. So a mask of -1e9 times 0 stays 0, and an epsilon of 1e-12
// still prevents a division by 0.
inline uint16_t FloatToHeldHalf(float value) {
  const uint16_t half = FloatToHalf(value), magnitude = half & 0x7fffu;
  if (magnitude == 0 && value != 0.0f) return static_cast<uint16_t>(half + 1);
  const bool overflows = magnitude == 0x7c00u && std::isfinite(value);
  return overflows ? static_cast<uint16_t>(half - 1) : half;
}

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_FLOAT16_H_
