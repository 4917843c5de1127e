// What matrix products and convolutions multiply: the dialect's real4, of 32 bits or 16. Lowering says so by defines,
// the emitter writes the type, its conversions and accessors.
#ifndef HEARTH_CORE_EMIT_ARITHMETIC_H_
#define HEARTH_CORE_EMIT_ARITHMETIC_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/emit/kernel_source.h"

namespace hearth {

// 1: factors, products and the sums of blocks of TURNS * 4 products have 16 bits; sums of blocks have 32.
inline constexpr std::string_view kHalf = "HALF";
inline constexpr std::string_view kTurns = "TURNS";
// 1: products of 32 bits are added to a sum one by one, not four at once. Those of 16 bits always are, within a block.
inline constexpr std::string_view kChained = "CHAINED";

// How many products one sum of 16 bits holds; 0 where the kernel calculates in 32.
int HalfProductsOf(const KernelSource& source);

// For a sum of `slices` times four products: as many turns as divide it, 4 at most. In blocks of 16 products a sum is
// off by little more than its last rounding to 16 bits, and what 32 bits cost between blocks is an eighth of their
// time; longer blocks gain 5 % of it (RADV's compiler, Navi 21).
int TurnsOf(int32_t slices);

struct MacroText {
  std::string signature, text;
};
// real4, what converts to and from it, add_products, and <arg>_real(i) of each tensor that is read.
std::vector<MacroText> ArithmeticMacros(const KernelSource& source, Dialect dialect);

// What the text of a kernel that multiplies numbers of 16 bits begins with; empty for others.
std::string_view ArithmeticExtension(const KernelSource& source, Dialect dialect);

}  // namespace hearth

#endif  // HEARTH_CORE_EMIT_ARITHMETIC_H_
