// Depthwise convolutions of 8-bit numbers in machine code.
#ifndef HEARTH_BACKENDS_CPU_INTEGER_DEPTHWISE_KERNEL_H_
#define HEARTH_BACKENDS_CPU_INTEGER_DEPTHWISE_KERNEL_H_

#include <cstdint>
#include <vector>

#include "backends/cpu/integer/layer.h"
#include "backends/cpu/integer/matrix_kernel.h"

namespace hearth {

// Weights and terms in the order in which the kernel of one set wants them.
struct DepthwiseWeights {
  std::vector<int8_t> numbers;   // kVnni: for each 64 channels, for each four taps, four vectors of 16 channels
  std::vector<int16_t> factors;  // kAvx2: for each tap each channel's weight less its zero point
  Requantization terms;
  int32_t channels = 0, taps = 0;

  uint64_t bytes() const { return numbers.size() + factors.size() * sizeof(int16_t) + terms.bytes(); }
  int32_t tap_steps() const { return (taps + kDepthStep - 1) / kDepthStep; }
};
// `weights` has one channel for each of the input's, and the window's taps as depth.
DepthwiseWeights PackDepthwise(const IntegerLayer& layer, const IntegerWeights& weights, IntegerSet set);

// The same for `pixels` neighbours at once, which with a stride of 1 are as many times the channels.
DepthwiseWeights PackNeighbours(const IntegerLayer& layer, const IntegerWeights& weights, int32_t pixels,
                                IntegerSet set);
// How many neighbours fill vectors best.
int32_t NeighboursOf(int32_t channels, IntegerSet set);

// Pixels of the output in a row. taps: for each pixel tap_steps * kDepthStep addresses of input pixels; those past the
// window's taps may be any that can be read. No more than `channels` bytes are read at each.
struct DepthwiseTask {
  const uint8_t* const* taps = nullptr;
  int64_t pixels = 0;
  bool flips_sign = false;
  const DepthwiseWeights* weights = nullptr;
  uint8_t* out = nullptr;
};
void ConvolvePixels(const DepthwiseTask& task, IntegerSet set);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_INTEGER_DEPTHWISE_KERNEL_H_
