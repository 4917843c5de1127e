// Fully connected layers of a few rows whose weights the model has in 16, 8 or 4 bits. Such a layer takes as long as
// reading its weights, so they are read where they lie and become floats in registers.
#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/host_output.h"
#include "backends/cpu/host/quantized.h"
#include "backends/cpu/host/vectorized.h"
#include "core/base/numbers.h"
#include "core/graph/block_scales.h"
#include "core/graph/element.h"
#include "core/graph/evaluate.h"
#include "core/graph/quantize.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace hearth {

#if defined(__x86_64__)
namespace {

#define HEARTH_DOT_AVX512 __attribute__((target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")))
#define HEARTH_DOT_AVX2 __attribute__((target("avx2,fma,f16c")))

// Products are added to this many sums in turn, which are added to each other by halves: every processor gets the same
// bits.
constexpr int64_t kSums = 32;

// A scale and a zero point for each `steps` times kSums weights of a column.
struct ColumnBlocks {
  const float *scales = nullptr, *zeros = nullptr;
  int64_t steps = 0;
};

// Of `depth` floats, behind which zeros fill up a multiple of kSums, and as many weights.
using Dot = float (*)(const float* x, const std::byte* weights, int64_t depth, const ColumnBlocks& blocks);

// With a mask: GCC 12 warns of uninitialized variables within the forms without one.
constexpr __mmask16 kAllLanes = 0xffff;

// Each form of weights gives kSums of them as floats: two vectors of 16, or four of 8.
struct Halves {
  static constexpr int64_t kBits = 16;
  HEARTH_DOT_AVX512 static void Load(const std::byte* from, __m512 (&floats)[2]) {
    HEARTH_UNROLLED for (int v = 0; v < 2; ++v) {
      floats[v] = _mm512_maskz_cvtph_ps(kAllLanes, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from) + v));
    }
  }
  HEARTH_DOT_AVX2 static void Load(const std::byte* from, __m256 (&floats)[4]) {
    HEARTH_UNROLLED for (int v = 0; v < 4; ++v) {
      floats[v] = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from) + v));
    }
  }
};

template <bool kAreSigned>
struct Bytes {
  static constexpr int64_t kBits = 8;
  HEARTH_DOT_AVX512 static void Load(const std::byte* from, __m512 (&floats)[2]) {
    HEARTH_UNROLLED for (int v = 0; v < 2; ++v) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from) + v);
      floats[v] = _mm512_maskz_cvtepi32_ps(kAllLanes, kAreSigned ? _mm512_maskz_cvtepi8_epi32(kAllLanes, bytes)
                                                                 : _mm512_maskz_cvtepu8_epi32(kAllLanes, bytes));
    }
  }
  HEARTH_DOT_AVX2 static void Load(const std::byte* from, __m256 (&floats)[4]) {
    HEARTH_UNROLLED for (int v = 0; v < 4; ++v) {
      const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from + 8 * v));
      floats[v] = _mm256_cvtepi32_ps(kAreSigned ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes));
    }
  }
};

// Numbers of -8 to 7, or 0 to 15, two a byte, the first in the low half. The 16 low halves come first, then the 16 high
// ones.
template <bool kAreSigned>
struct Nibbles {
  static constexpr int64_t kBits = 4;
  HEARTH_DOT_AVX512 static void Load(const std::byte* from, __m512 (&floats)[2]) {
    const __m512 values = kAreSigned ? _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1)
                                     : _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    const __m512i low = _mm512_maskz_cvtepu8_epi32(kAllLanes, bytes);  // an index is the number's last four bits
    floats[0] = _mm512_maskz_permutexvar_ps(kAllLanes, low, values);
    floats[1] = _mm512_maskz_permutexvar_ps(kAllLanes, _mm512_maskz_srli_epi32(kAllLanes, low, 4), values);
  }
  HEARTH_DOT_AVX2 static void Load(const std::byte* from, __m256 (&floats)[4]) {
    HEARTH_UNROLLED for (int v = 0; v < 2; ++v) {
      const __m256i low = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from + 8 * v)));
      floats[v] = _mm256_cvtepi32_ps(kAreSigned ? _mm256_srai_epi32(_mm256_slli_epi32(low, 28), 28)
                                                : _mm256_and_si256(low, _mm256_set1_epi32(15)));
      floats[v + 2] = _mm256_cvtepi32_ps(kAreSigned ? _mm256_srai_epi32(_mm256_slli_epi32(low, 24), 28)
                                                    : _mm256_srli_epi32(low, 4));
    }
  }
};

HEARTH_DOT_AVX2 inline float SumOf(__m256 eight) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

// The last weights, fewer than kSums, with zeros behind them.
template <typename Weights>
struct Rest {
  Rest(const std::byte* weights, int64_t count) {
    std::memcpy(this->weights, weights, static_cast<size_t>(count * Weights::kBits / 8));
  }
  std::byte weights[kSums * Weights::kBits / 8] = {};
};

// `x` ends with zeros at a multiple of kSums.
template <typename Weights, bool kHasBlocks>
HEARTH_DOT_AVX512 float DotAvx512(const float* x, const std::byte* weights, int64_t depth, const ColumnBlocks& blocks) {
  __m512 low = _mm512_setzero_ps(), high = _mm512_setzero_ps(), floats[2];
  int64_t block = 0, left = blocks.steps;
  for (; depth > 0; depth -= kSums, x += kSums, weights += kSums * Weights::kBits / 8) {
    if (depth >= kSums) {
      Weights::Load(weights, floats);
    } else {
      Weights::Load(Rest<Weights>(weights, depth).weights, floats);
    }
    if constexpr (kHasBlocks) {
      const __m512 zero = _mm512_set1_ps(blocks.zeros[block]), scale = _mm512_set1_ps(blocks.scales[block]);
      for (__m512& each : floats) each = _mm512_mul_ps(_mm512_sub_ps(each, zero), scale);
      if (--left == 0) ++block, left = blocks.steps;
    }
    low = _mm512_fmadd_ps(_mm512_loadu_ps(x), floats[0], low);
    high = _mm512_fmadd_ps(_mm512_loadu_ps(x + 16), floats[1], high);
  }
  const __m512 sixteen = _mm512_add_ps(low, high);
  return SumOf(
      _mm256_add_ps(_mm512_maskz_extractf32x8_ps(0xff, sixteen, 0), _mm512_maskz_extractf32x8_ps(0xff, sixteen, 1)));
}

template <typename Weights, bool kHasBlocks>
HEARTH_DOT_AVX2 float DotAvx2(const float* x, const std::byte* weights, int64_t depth, const ColumnBlocks& blocks) {
  __m256 sums[4] = {}, floats[4];
  int64_t block = 0, left = blocks.steps;
  for (; depth > 0; depth -= kSums, x += kSums, weights += kSums * Weights::kBits / 8) {
    if (depth >= kSums) {
      Weights::Load(weights, floats);
    } else {
      Weights::Load(Rest<Weights>(weights, depth).weights, floats);
    }
    if constexpr (kHasBlocks) {
      const __m256 zero = _mm256_set1_ps(blocks.zeros[block]), scale = _mm256_set1_ps(blocks.scales[block]);
      for (__m256& each : floats) each = _mm256_mul_ps(_mm256_sub_ps(each, zero), scale);
      if (--left == 0) ++block, left = blocks.steps;
    }
    HEARTH_UNROLLED for (int v = 0; v < 4; ++v) sums[v] =
        _mm256_fmadd_ps(_mm256_loadu_ps(x + 8 * v), floats[v], sums[v]);
  }
  return SumOf(_mm256_add_ps(_mm256_add_ps(sums[0], sums[2]), _mm256_add_ps(sums[1], sums[3])));
}

bool ConvertsHalves() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

// Every `step`th one.
HEARTH_DOT_AVX2 void FloatsOfHalves(const std::byte* halves, int64_t step, std::span<float> floats) {
  for (size_t k = 0; k < floats.size(); ++k)
    floats[k] = _cvtsh_ss(LoadAt<uint16_t>(halves, static_cast<int64_t>(k) * step));
}

// Those of the blocks of one row of weights.
void ReadNumbers(const BlockScales& blocks, const BlockScales::Numbers& numbers, int64_t row, std::span<float> floats) {
  const std::byte* first = numbers.bytes.data();
  const int64_t count = ssize(floats);
  if (numbers.dtype == DType::kFloat16) {
    FloatsOfHalves(first + 2 * numbers.At(row, 0), numbers.block_step, floats);
  } else if (numbers.dtype == DType::kFloat32) {
    for (int64_t k = 0; k < count; ++k) floats[static_cast<size_t>(k)] = LoadAt<float>(first, numbers.At(row, k));
  } else if (numbers.dtype == DType::kInt4) {
    for (int64_t k = 0; k < count; ++k)
      floats[static_cast<size_t>(k)] = static_cast<float>(blocks.Unsigned(LoadInt4(first, numbers.At(row, k))));
  } else {
    for (int64_t k = 0; k < count; ++k)
      floats[static_cast<size_t>(k)] =
          static_cast<float>(LoadElement(numbers.dtype, numbers.bytes, numbers.At(row, k)));
  }
}

template <typename Weights, bool kHasBlocks>
Dot DotOf() {
  switch (BestVectorSet()) {
    case VectorSet::kAvx512: return DotAvx512<Weights, kHasBlocks>;
    case VectorSet::kAvx2: return ConvertsHalves() ? DotAvx2<Weights, kHasBlocks> : nullptr;
    default: return nullptr;
  }
}

Dot DotFor(const TensorDesc& weights) {
  if (const BlockScales* blocks = BlocksOf(weights)) {
    if (blocks->size % kSums != 0) return nullptr;
    switch (weights.dtype) {
      case DType::kUInt8: return DotOf<Bytes<false>, true>();
      case DType::kInt8: return DotOf<Bytes<true>, true>();
      case DType::kInt4:
        return blocks->has_unsigned_nibbles ? DotOf<Nibbles<false>, true>() : DotOf<Nibbles<true>, true>();
      default: return nullptr;
    }
  }
  switch (weights.dtype) {
    case DType::kFloat16: return DotOf<Halves, false>();
    case DType::kInt8: return DotOf<Bytes<true>, false>();
    case DType::kInt4: return DotOf<Nibbles<true>, false>();
    default: return nullptr;
  }
}

// The factors of sums of products with weights as stored: none, one, or one for each column. nullopt if other numbers
// follow from them.
std::optional<std::vector<float>> FactorsOf(const TensorDesc& weights) {
  if (BlocksOf(weights) != nullptr) return std::vector<float>();
  const bool are_halves = weights.dtype == DType::kFloat16;
  if (are_halves == weights.quantization.has_value()) return std::nullopt;
  if (are_halves) return std::vector<float>();
  const Quantization& grid = *weights.quantization;
  const bool is_symmetric = std::ranges::all_of(grid.zero_points, [](int64_t zero) { return zero == 0; });
  const bool fits = grid.scales.size() == 1 || (grid.dimension == 0 && ssize(grid.scales) == weights.shape[0]);
  return is_symmetric && fits ? std::optional(grid.scales) : std::nullopt;
}

class StoredProductNode final : public HostNode {
 public:
  StoredProductNode(const HostNodeRequest& request, Activation activation, Dot dot, std::vector<float> factors,
                    std::vector<float> bias)
      : out_(request, ActivationPartsOf(activation).rest),
        workers_(request.workers),
        parts_(ActivationPartsOf(activation)),
        dot_(dot),
        x_(request.arena.floats(request.node.inputs[0])),
        has_pairs_(request.in(1).dtype == DType::kInt4),
        blocks_(BlocksOf(request.in(1))),
        weights_(request.StoredBytes(request.node.inputs[1])),
        factors_(std::move(factors)),
        bias_(std::move(bias)),
        columns_(request.in(1).shape[0]),
        depth_(request.in(1).shape[1]) {
    if (blocks_ == nullptr) return;
    request.weights.ReadInPlace(blocks_->scales.bytes);
    request.weights.ReadInPlace(blocks_->zeros.bytes);
  }

  std::string_view kernel() const override { return "product with stored weights"; }
  std::optional<uint64_t> held_bytes() const override { return (factors_.size() + bias_.size()) * sizeof(float); }

  Status Run(RunControl* /*control*/) override {
    const int64_t rows = ssize(x_) / depth_, padded_depth = RoundUp(depth_, kSums);
    const int64_t column_bytes = ssize(weights_) / columns_;
    padded_x_.assign(static_cast<size_t>(rows * padded_depth), 0.0f);
    for (int64_t r = 0; r < rows; ++r) PadRow(x_.data() + r * depth_, padded_x_.data() + r * padded_depth);
    const int64_t blocks = blocks_ == nullptr ? 0 : (depth_ + blocks_->size - 1) / blocks_->size;
    const auto multiply = [&](int64_t begin, int64_t end) {
      std::vector<float> scales(static_cast<size_t>(blocks)), zeros(scales.size());
      if (blocks_ != nullptr) std::ranges::fill(zeros, static_cast<float>(blocks_->zero));
      const ColumnBlocks in_blocks{scales.data(), zeros.data(), blocks == 0 ? 0 : blocks_->size / kSums};
      for (int64_t c = begin; c < end; ++c) {
        if (blocks_ != nullptr) ReadNumbers(*blocks_, blocks_->scales, c, scales);
        if (blocks_ != nullptr && !blocks_->zeros.bytes.empty()) ReadNumbers(*blocks_, blocks_->zeros, c, zeros);
        for (int64_t r = 0; r < rows; ++r) {
          const float sum =
              dot_(padded_x_.data() + r * padded_depth, weights_.data() + c * column_bytes, depth_, in_blocks);
          out_.floats()[r * columns_ + c] = Finished(sum, c);
        }
      }
    };
    workers_.ForEachPart(columns_, std::max<int64_t>(1, kMinWorkForThreads / (rows * depth_)), multiply);
    out_.Finish();
    return Status::Ok();
  }

 private:
  // In the order of the weights, as Load gives them.
  void PadRow(const float* from, float* to) const {
    if (!has_pairs_) {
      std::copy(from, from + depth_, to);
      return;
    }
    for (int64_t k = 0; k < depth_; ++k) to[k / kSums * kSums + k % 2 * (kSums / 2) + k % kSums / 2] = from[k];
  }

  float Finished(float sum, int64_t column) const {
    if (!factors_.empty()) sum *= factors_[factors_.size() == 1 ? 0 : column];
    if (!bias_.empty()) sum += bias_[column];
    sum = sum < parts_.lowest ? parts_.lowest : sum;  // NaN stays NaN
    return sum > parts_.highest ? parts_.highest : sum;
  }

  HostOutput out_;
  WorkerPool& workers_;
  ActivationParts parts_;
  Dot dot_;
  std::span<const float> x_;
  bool has_pairs_;
  const BlockScales* blocks_;    // the graph's
  std::vector<float> padded_x_;  // used in runs alone
  std::span<const std::byte> weights_;
  std::vector<float> factors_, bias_;
  int64_t columns_, depth_;
};

}  // namespace

Result<std::unique_ptr<HostNode>> MakeStoredProductNode(const HostNodeRequest& request) {
  constexpr int64_t kMostRows = 4, kLeastWeights = 32 * 1024;
  const Graph& graph = request.graph;
  const auto& inputs = request.node.inputs;
  const auto* connected = std::get_if<FullyConnected>(&request.node.op);
  if (connected == nullptr || request.decides_indices || !graph.IsConstant(inputs[1])) return nullptr;
  if (graph.IsConstant(inputs[0]) || !IsPlainFloat32(graph.value(inputs[0]).desc)) return nullptr;
  const TensorDesc& weights = graph.value(inputs[1]).desc;
  const int64_t x_elements = graph.value(inputs[0]).desc.shape.element_count();
  if (weights.shape.element_count() < kLeastWeights) return nullptr;
  if (x_elements == 0 || x_elements > kMostRows * weights.shape[1]) return nullptr;
  if (weights.shape[1] * BitsOf(weights.dtype) % 8 != 0) return nullptr;  // columns within a byte
  const Dot dot = DotFor(weights);
  std::optional<std::vector<float>> factors = FactorsOf(weights);
  if (dot == nullptr || !factors) return nullptr;
  std::vector<float> bias;
  if (inputs.size() > 2 && inputs[2] != kNoValue) {
    if (!graph.IsConstant(inputs[2])) return nullptr;
    HEARTH_ASSIGN(bias, ConstantAsFloats(graph, inputs[2]));
  }
  return std::make_unique<StoredProductNode>(request, connected->activation, dot, *std::move(factors), std::move(bias));
}
#else
Result<std::unique_ptr<HostNode>> MakeStoredProductNode(const HostNodeRequest& /*request*/) {
  return nullptr;
}
#endif

}  // namespace hearth
