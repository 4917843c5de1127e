// Fully connected layers of a few rows whose weights the model has in 16 or 8 bits. Such a layer takes as long as
// reading its weights, so they are read where they lie and become floats in registers.
#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/host_output.h"
#include "backends/cpu/host/quantized.h"
#include "backends/cpu/host/vectorized.h"
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

// Product k is added to sum k mod 32, and the sums to each other by halves: every processor gets the same bits.
constexpr int64_t kSums = 32;

struct Half {
  uint16_t bits;
};

// With a mask: GCC 12 warns of uninitialized variables within the forms without one.
constexpr __mmask16 kAllLanes = 0xffff;
HEARTH_DOT_AVX512 inline __m512 Floats512(const Half* from) {
  return _mm512_maskz_cvtph_ps(kAllLanes, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
HEARTH_DOT_AVX512 inline __m512 Floats512(const int8_t* from) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  return _mm512_maskz_cvtepi32_ps(kAllLanes, _mm512_maskz_cvtepi8_epi32(kAllLanes, bytes));
}
HEARTH_DOT_AVX2 inline __m256 Floats256(const Half* from) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
HEARTH_DOT_AVX2 inline __m256 Floats256(const int8_t* from) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
}

HEARTH_DOT_AVX2 inline float SumOf(__m256 eight) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

// The last products, of fewer than kSums, with zeros behind them.
template <typename Weight>
struct Rest {
  Rest(const float* x, const Weight* weights, int64_t count) {
    std::memcpy(this->x, x, static_cast<size_t>(count) * sizeof(float));
    std::memcpy(this->weights, weights, static_cast<size_t>(count) * sizeof(Weight));
  }
  float x[kSums] = {};
  Weight weights[kSums] = {};
};

template <typename Weight>
HEARTH_DOT_AVX512 float DotAvx512(const float* x, const std::byte* stored, int64_t depth) {
  const auto* weights = reinterpret_cast<const Weight*>(stored);
  __m512 low = _mm512_setzero_ps(), high = _mm512_setzero_ps();
  const int64_t whole = depth / kSums * kSums;
  for (int64_t k = 0; k < whole; k += kSums) {
    low = _mm512_fmadd_ps(_mm512_loadu_ps(x + k), Floats512(weights + k), low);
    high = _mm512_fmadd_ps(_mm512_loadu_ps(x + k + 16), Floats512(weights + k + 16), high);
  }
  if (whole < depth) {
    const Rest<Weight> rest(x + whole, weights + whole, depth - whole);
    low = _mm512_fmadd_ps(_mm512_loadu_ps(rest.x), Floats512(rest.weights), low);
    high = _mm512_fmadd_ps(_mm512_loadu_ps(rest.x + 16), Floats512(rest.weights + 16), high);
  }
  const __m512 sixteen = _mm512_add_ps(low, high);
  return SumOf(
      _mm256_add_ps(_mm512_maskz_extractf32x8_ps(0xff, sixteen, 0), _mm512_maskz_extractf32x8_ps(0xff, sixteen, 1)));
}

template <typename Weight>
HEARTH_DOT_AVX2 float DotAvx2(const float* x, const std::byte* stored, int64_t depth) {
  const auto* weights = reinterpret_cast<const Weight*>(stored);
  __m256 sums[4] = {};
  const int64_t whole = depth / kSums * kSums;
  for (int64_t k = 0; k < whole; k += kSums) {
    HEARTH_UNROLLED for (int v = 0; v < 4; ++v) {
      sums[v] = _mm256_fmadd_ps(_mm256_loadu_ps(x + k + 8 * v), Floats256(weights + k + 8 * v), sums[v]);
    }
  }
  if (whole < depth) {
    const Rest<Weight> rest(x + whole, weights + whole, depth - whole);
    HEARTH_UNROLLED for (int v = 0; v < 4; ++v) {
      sums[v] = _mm256_fmadd_ps(_mm256_loadu_ps(rest.x + 8 * v), Floats256(rest.weights + 8 * v), sums[v]);
    }
  }
  return SumOf(_mm256_add_ps(_mm256_add_ps(sums[0], sums[2]), _mm256_add_ps(sums[1], sums[3])));
}

bool ConvertsHalves() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

using Dot = float (*)(const float* x, const std::byte* weights, int64_t depth);

Dot DotFor(DType dtype) {
  const bool is_half = dtype == DType::kFloat16;
  switch (BestVectorSet()) {
    case VectorSet::kAvx512: return is_half ? DotAvx512<Half> : DotAvx512<int8_t>;
    case VectorSet::kAvx2: return !is_half ? DotAvx2<int8_t> : ConvertsHalves() ? DotAvx2<Half> : nullptr;
    default: return nullptr;
  }
}

// The factors of weights as stored: none, one, or one for each column. nullopt if other numbers follow from them.
std::optional<std::vector<float>> FactorsOf(const TensorDesc& weights) {
  if (weights.dtype == DType::kFloat16 && !weights.quantization) return std::vector<float>();
  if (weights.dtype != DType::kInt8 || !weights.quantization) return std::nullopt;
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
        weights_(request.StoredBytes(request.node.inputs[1])),
        factors_(std::move(factors)),
        bias_(std::move(bias)),
        columns_(request.graph.value(request.node.inputs[1]).desc.shape[0]),
        depth_(request.graph.value(request.node.inputs[1]).desc.shape[1]) {}

  std::string_view kernel() const override { return "product with stored weights"; }
  std::optional<uint64_t> held_bytes() const override { return (factors_.size() + bias_.size()) * sizeof(float); }

  Status Run(RunControl* /*control*/) override {
    const int64_t rows = ssize(x_) / depth_;
    const int64_t column_bytes = ssize(weights_) / columns_;
    workers_.ForEachPart(
        columns_, std::max<int64_t>(1, kMinWorkForThreads / (rows * depth_)), [&](int64_t begin, int64_t end) {
          for (int64_t c = begin; c < end; ++c) {
            const std::byte* weights = weights_.data() + c * column_bytes;
            for (int64_t r = 0; r < rows; ++r)
              out_.floats()[r * columns_ + c] = Finished(dot_(x_.data() + r * depth_, weights, depth_), c);
          }
        });
    out_.Finish();
    return Status::Ok();
  }

 private:
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
  if (weights.shape.element_count() < kLeastWeights || x_elements > kMostRows * weights.shape[1]) return nullptr;
  const Dot dot = DotFor(weights.dtype);
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
