// The types of products and sums in matrix products and convolutions: the dialect's real4 has 32 or 16 bits. Lowering
// chooses by defines; the emitter writes the type, its conversions and accessors.
#ifndef HEARTH_CORE_EMIT_ARITHMETIC_H_
#define HEARTH_CORE_EMIT_ARITHMETIC_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/emit/kernel_source.h"

namespace hearth {

// 1: factors, products and the sums of blocks of TURNS * 4 products have 16 bits; sums of blocks have 32. With TURNS 0
// only factors have 16 bits.
inline constexpr std::string_view kHalf = "HALF";
inline constexpr std::string_view kTurns = "TURNS";
// 1: 32-bit products are added to a sum one by one, not four at once. 16-bit products always are, within a block.
inline constexpr std::string_view kChained = "CHAINED";

// The number that a define has; 0 if the kernel lacks it.
int NumberOf(const KernelSource& source, std::string_view define);

// How many products one 16-bit sum holds; 0 if products and sums have 32 bits.
int HalfProductsOf(const KernelSource& source);

// For a sum of `slices` times four products: the largest number of turns, up to 4, that divides `slices`. In blocks of
// 16 products a sum's error is little more than its last rounding to 16 bits. Adding blocks in 32 bits takes an eighth
// of the time; longer blocks save 5 % (RADV's compiler, Navi 21).
int TurnsOf(int32_t slices);

struct MacroText {
  std::string signature, text;
};
// Defines real4, its conversions, add_products, and <arg>_real(i) for each tensor that is read.
std::vector<MacroText> ArithmeticMacros(const KernelSource& source, Dialect dialect);

// The first lines of the text of a kernel whose factors have 16 bits; empty for others.
std::string_view ArithmeticExtension(const KernelSource& source, Dialect dialect);

}  // namespace hearth

#endif  // HEARTH_CORE_EMIT_ARITHMETIC_H_
