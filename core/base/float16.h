// IEEE 754 binary16 to and from float, in integer arithmetic (no compiler has to know the type) and without branches,
// so that compilers convert several numbers of a loop at once.
#ifndef HEARTH_CORE_BASE_FLOAT16_H_
#define HEARTH_CORE_BASE_FLOAT16_H_

#include <bit>
#include <cstdint>

namespace hearth {

inline float HalfToFloat(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t magnitude = half & 0x7fffu;
  // Zero or subnormal: mantissa * 2^-24, as the mantissa of 2^-14 less 2^-14.
  const float small = std::bit_cast<float>(0x38800000u + (magnitude << 13)) - 0x1p-14f;
  const uint32_t normal = (magnitude << 13) + (magnitude < 0x7c00u ? 0x38000000u : 0x70000000u);
  const uint32_t is_small = magnitude < 0x400u ? ~0u : 0u;
  return std::bit_cast<float>(sign | (std::bit_cast<uint32_t>(small) & is_small) | (normal & ~is_small));
}

// All bits if a is below b, else none, of numbers below 2^31. Compilers make no branch of it.
inline uint32_t IfBelow(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(static_cast<int32_t>(a - b) >> 31);
}

// Rounds to nearest, ties to even; overflows to infinity.
inline uint16_t FloatToHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), magnitude = bits & 0x7fffffffu;
  // Below 2^-14: in units of 2^-24, which is the last place of numbers from 0.5 on.
  const uint32_t small = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  const uint32_t normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  const uint32_t large = 0x7c00u | (IfBelow(0x7f800000u, magnitude) & 0x200u);  // infinity or NaN
  const uint32_t is_small = IfBelow(magnitude, 0x38800000u);
  const uint32_t is_large = ~IfBelow(magnitude, 0x477ff000u);  // rounds to 65536 or more
  const uint32_t half = (small & is_small) | (large & is_large) | (normal & ~(is_small | is_large));
  return static_cast<uint16_t>(((bits >> 16) & 0x8000u) | half);
}

// How a device stores a float32 number: a finite number beyond the largest half becomes the largest half, not infinity,
// and a number next to 0 becomes the smallest half, not 0. So a mask of -1e9 times 0 stays 0, and an epsilon of 1e-12
// still prevents a division by 0.
inline uint16_t FloatToHeldHalf(float value) {
  const uint32_t half = FloatToHalf(value), magnitude = half & 0x7fffu;
  const uint32_t of_value = std::bit_cast<uint32_t>(value) & 0x7fffffffu;
  const uint32_t is_lost = IfBelow(magnitude, 1) & IfBelow(0, of_value);
  const uint32_t overflows = IfBelow(0x7bffu, magnitude) & IfBelow(of_value, 0x7f800000u);
  return static_cast<uint16_t>(half + (is_lost & 1u) - (overflows & 1u));
}

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_FLOAT16_H_
