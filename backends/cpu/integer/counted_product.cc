#include "backends/cpu/integer/counted_product.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>
#include <numeric>

#include "backends/cpu/host/quantized.h"
#include "backends/cpu/integer/matrix_kernel.h"
#include "backends/cpu/integer/requantize.h"
#include "core/base/numbers.h"

namespace hearth {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The least and the largest of the numbers and 0. A NaN is neither.
struct FloatRange {
  float least = 0.0f, largest = 0.0f;
  bool has_nan = false;
};

#if defined(HEARTH_X86_KERNELS)

// The sixteen floats from `k` on; zeros past the end.
struct SixteenFloats {
  HEARTH_AVX2 SixteenFloats(std::span<const float> from, size_t k) {
    float padded[16] = {};
    const float* floats = from.data() + k;
    if (from.size() - k < 16) floats = std::copy_n(floats, from.size() - k, padded) - (from.size() - k);
    low = _mm256_loadu_ps(floats);
    high = _mm256_loadu_ps(floats + 8);
  }
  __m256 low, high;
};

HEARTH_AVX2 FloatRange RangeOf(std::span<const float> from) {
  __m256 low = _mm256_setzero_ps(), high = low, nans = low;
  for (size_t k = 0; k < from.size(); k += 16) {
    const SixteenFloats x(from, k);
    low = _mm256_min_ps(x.low, _mm256_min_ps(x.high, low));  // with a NaN the second operand
    high = _mm256_max_ps(x.low, _mm256_max_ps(x.high, high));
    nans = _mm256_or_ps(nans, _mm256_cmp_ps(x.low, x.high, _CMP_UNORD_Q));
  }
  float lows[8], highs[8];
  _mm256_storeu_ps(lows, low);
  _mm256_storeu_ps(highs, high);
  return {*std::min_element(lows, lows + 8), *std::max_element(highs, highs + 8), _mm256_movemask_ps(nans) != 0};
}

HEARTH_AVX2 inline __m256i StepsOf(__m256 x, __m256 step, __m256 zero) {
  const __m256 steps = _mm256_round_ps(_mm256_div_ps(x, step), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m256 above = _mm256_max_ps(_mm256_add_ps(steps, zero), _mm256_setzero_ps());  // of a NaN 0
  return _mm256_cvtps_epi32(_mm256_min_ps(above, _mm256_set1_ps(255.0f)));
}

HEARTH_AVX2 void CountFrom(std::span<const float> from, float step, float zero, uint8_t* to) {
  for (size_t k = 0; k < from.size(); k += 16) {
    const SixteenFloats x(from, k);
    const __m256 steps = _mm256_set1_ps(step), zeros = _mm256_set1_ps(zero);
    StoreBytes(LowBytes256(StepsOf(x.low, steps, zeros), StepsOf(x.high, steps, zeros)),
               static_cast<int32_t>(std::min<size_t>(16, from.size() - k)), to + k);
  }
}

#else

FloatRange RangeOf(std::span<const float>) {
  return {};
}
void CountFrom(std::span<const float>, float, float, uint8_t*) {}

#endif

}  // namespace

CountedBytes CountBytes(std::span<const float> from, std::span<uint8_t> to, WorkerPool& workers) {
  FloatRange range;
  std::mutex mutex;
  workers.ForEachPart(ssize(from), kLeastElementsOfPart, [&](int64_t begin, int64_t end) {
    const FloatRange part = RangeOf(from.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
    const std::scoped_lock lock(mutex);
    range.least = std::min(range.least, part.least);
    range.largest = std::max(range.largest, part.largest);
    range.has_nan |= part.has_nan;
  });
  const float exact = (range.largest - range.least) / 255, step = exact > 0.0f ? exact : 1.0f;
  // A step that is one of the least numbers may be rounded far down: then there are more than 255.
  const float steps_below = std::min(std::rint(-range.least / step), 255.0f);
  if (std::isnan(steps_below)) return {kNan, 0, false};  // of -infinity
  workers.ForEachPart(ssize(from), kLeastElementsOfPart, [&](int64_t begin, int64_t end) {
    CountFrom(from.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)), step, steps_below,
              to.data() + begin);
  });
  return {step, static_cast<int32_t>(steps_below), !range.has_nan && std::isfinite(range.largest)};
}

std::unique_ptr<CountedProduct> CountedProduct::Of(const HostNodeRequest& request, ValueId constant,
                                                   std::span<const float> scales) {
  constexpr int64_t kMostDepth = std::numeric_limits<int32_t>::max() / (255 * 128);
  const TensorDesc& desc = request.graph.value(constant).desc;
  if (scales.empty() || desc.dtype != DType::kInt8 || !StandsForIntegers(desc)) return nullptr;
  if (std::ranges::any_of(desc.quantization->zero_points, std::identity())) return nullptr;
  const int64_t depth = desc.shape.element_count() / ssize(scales);
  if (depth == 0 || depth > kMostDepth || BestIntegerSet() == IntegerSet::kNone) return nullptr;
  return std::unique_ptr<CountedProduct>(new CountedProduct(request.StoredBytes(constant), scales));
}

CountedProduct::CountedProduct(std::span<const std::byte> weights, std::span<const float> scales)
    : weights_(weights), scales_(scales.begin(), scales.end()), weight_sums_(scales.size()) {
  const size_t depth = weights.size() / scales.size();
  const auto* bytes = reinterpret_cast<const int8_t*>(weights.data());
  for (int32_t& sum : weight_sums_) {
    sum = std::accumulate(bytes, bytes + depth, 0);
    bytes += depth;
  }
  terms_.offsets.resize(RoundUp(scales.size(), kBlockChannels));
  terms_.multipliers.resize(terms_.offsets.size());
}

CountedProduct::~CountedProduct() = default;

void CountedProduct::Multiply(std::span<const float> x, std::span<float> y, WorkerPool& workers) {
  const size_t rows = scales_.size(), depth = weights_.size() / rows;
  bytes_.resize(x.size());
  const auto [step, zero, are_finite] = CountBytes(x, bytes_, workers);
  for (size_t row = 0; row < rows; ++row) {
    terms_.offsets[row] = -zero * weight_sums_[row];
    terms_.multipliers[row] = scales_[row] * step;
  }
  const uint8_t* first = bytes_.data();
  MatrixTask task;
  task.pieces = {&first, 1};
  task.depth = task.row_stride = static_cast<int64_t>(depth);
  task.row_count = ssize(x) / task.depth;
  task.model_weights = weights_.data();
  task.channels = static_cast<int32_t>(rows);
  task.terms = &terms_;
  task.reals = y.data();
  task.out_stride = static_cast<int64_t>(rows);
  const int64_t least = kMinWorkForThreads / (ssize(x) * kBlockChannels + 1) + 1;
  workers.ForEachPart(Tiles(ssize(scales_), kBlockChannels), least, [&](int64_t begin, int64_t end) {
    MatrixTask part = task;
    part.first_block = static_cast<int32_t>(begin);
    part.end_block = static_cast<int32_t>(end);
    MultiplyByModelWeights(part, BestIntegerSet());
  });
  for (size_t at = 0; !are_finite && at * depth < x.size(); ++at) {
    if (!AllFinite(x.subspan(at * depth, depth))) std::ranges::fill(y.subspan(at * rows, rows), kNan);
  }
}

namespace {}  // namespace

Result<std::unique_ptr<HostNode>> MakeDynamicQuantizeNode(const HostNodeRequest& request) {
  const bool is_taken = std::holds_alternative<DynamicQuantize>(request.node.op) &&
                        BestIntegerSet() != IntegerSet::kNone && !request.graph.IsConstant(request.node.inputs[0]);
  if (!is_taken) return nullptr;
  const std::span<const std::byte> in = request.bytes(request.node.inputs[0]);
  const std::span x(reinterpret_cast<const float*>(in.data()),
                    static_cast<size_t>(request.in(0).shape.element_count()));
  const auto output = [&](size_t k) { return request.bytes(request.node.outputs[k]).data(); };
  return NodeOf("integer", [x, y = output(0), step = output(1), zero = output(2), &workers = request.workers] {
    const std::span<uint8_t> steps(reinterpret_cast<uint8_t*>(y), x.size());
    CountedBytes counted = CountBytes(x, steps, workers);
    if (!counted.are_finite) {
      counted = {kNan, 0, false};
      std::ranges::fill(steps, uint8_t{0});
    }
    std::memcpy(step, &counted.step, sizeof(counted.step));
    *zero = static_cast<std::byte>(counted.zero);
  });
}

}  // namespace hearth
