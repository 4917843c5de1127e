// Depthwise convolutions of 8-bit numbers, for each instruction set.
#ifndef HEARTH_BACKENDS_CPU_INTEGER_DEPTHWISE_KERNEL_H_
#define HEARTH_BACKENDS_CPU_INTEGER_DEPTHWISE_KERNEL_H_

#include <cstdint>
#include <vector>

#include "backends/cpu/integer/layer.h"
#include "backends/cpu/integer/matrix_kernel.h"

namespace hearth {

// Weights and requantization in the order that the kernel of one instruction set reads.
struct DepthwiseWeights {
  std::vector<int8_t> numbers;   // kVnni: for every 64 channels and every four taps, four vectors of 16 channels
  std::vector<int16_t> factors;  // kAvx2: for each pair of taps, each channel's two weights minus zero points
  Requantization terms;
  int32_t channels = 0, taps = 0;

  uint64_t bytes() const { return numbers.size() + factors.size() * sizeof(int16_t) + terms.bytes(); }
  int32_t tap_steps() const { return (taps + kDepthStep - 1) / kDepthStep; }
};
// `weights` has a channel for each input channel, and the window's taps as depth.
DepthwiseWeights PackDepthwise(const IntegerLayer& layer, const IntegerWeights& weights, IntegerSet set);

// The same for `pixels` neighbours at once. With a stride of 1 they are like that many times the channels.
DepthwiseWeights PackNeighbours(const IntegerLayer& layer, const IntegerWeights& weights, int32_t pixels,
                                IntegerSet set);
// The number of neighbours that fills vectors best.
int32_t NeighboursOf(int32_t channels, IntegerSet set);

// Consecutive output pixels of a row. taps: tap_steps * kDepthStep addresses of input pixels for each pixel; those
// after the window's last tap may be any readable address. At most `channels` bytes are read at each.
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
