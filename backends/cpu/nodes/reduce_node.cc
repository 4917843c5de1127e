// Reductions over any dimensions. Sums and products of floats are float64, like the reference's.
#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/host_operand.h"
#include "backends/cpu/host/host_output.h"
#include "backends/cpu/host/quantized.h"
#include "backends/cpu/host/vector_math.h"
#include "core/base/numbers.h"

namespace hearth {
namespace {

constexpr int64_t kChunk = 128;  // neighbouring outputs, whose results stay in the cache
constexpr int kParts = 16;       // independent partial sums of floats, so that none waits for another

struct ReducedDigit {
  int64_t radix = 1, stride = 0;
};

// The input's dimensions; neighbours that are both reduced or both kept are merged.
struct Layout {
  std::vector<ReducedDigit> kept, reduced;  // without the innermost; outermost first
  ReducedDigit innermost{1, 1};
  bool innermost_is_reduced = true;
  int64_t inputs = 1, outputs = 1;
};

Layout LayoutOf(const Shape& in, uint32_t axes_mask) {
  Layout layout;
  std::vector<std::pair<ReducedDigit, bool>> digits;  // innermost first
  for (int d = in.rank() - 1; d >= 0; --d) {
    const bool is_reduced = ((axes_mask >> d) & 1u) != 0;
    const int64_t stride = layout.inputs;
    layout.inputs *= in[d];
    if (!is_reduced) layout.outputs *= in[d];
    if (in[d] == 1) continue;
    if (!digits.empty() && digits.back().second == is_reduced) {
      digits.back().first.radix *= in[d];
    } else {
      digits.push_back({{in[d], stride}, is_reduced});
    }
  }
  if (digits.empty()) return layout;
  layout.innermost = digits[0].first;
  layout.innermost_is_reduced = digits[0].second;
  for (size_t k = digits.size() - 1; k > 0; --k) {
    (digits[k].second ? layout.reduced : layout.kept).push_back(digits[k].first);
  }
  return layout;
}

int64_t CountOf(const std::vector<ReducedDigit>& digits) {
  int64_t count = 1;
  for (const ReducedDigit& digit : digits) count *= digit.radix;
  return count;
}

int64_t PlaceOf(const std::vector<ReducedDigit>& digits, int64_t number) {
  int64_t place = 0;
  for (size_t d = digits.size(); d-- > 0; number /= digits[d].radix) {
    place += number % digits[d].radix * digits[d].stride;
  }
  return place;
}

// The places of PlaceOf, one number after the other from 0 on.
class PlacesInTurn {
 public:
  explicit PlacesInTurn(const std::vector<ReducedDigit>& digits) : digits_(digits) {}
  int64_t place() const { return place_; }
  void GoOn() {
    for (size_t d = digits_.size(); d-- > 0;) {
      place_ += digits_[d].stride;
      if (++numbers_[d] < digits_[d].radix) return;
      place_ -= digits_[d].radix * digits_[d].stride;
      numbers_[d] = 0;
    }
  }

 private:
  const std::vector<ReducedDigit>& digits_;
  int64_t place_ = 0;
  std::array<int64_t, Shape::kMaxRank> numbers_ = {};
};

// How a kind combines elements of type T in an Accumulator. The largest float is the largest of integers in order.
template <typename T, typename Accumulator, auto kJoin, int kSign = 1>
struct Joining {
  using Element = T;
  using Sum = Accumulator;
  Sum start;
  HEARTH_INTO_CALLER static Sum Join(Sum a, Sum b) { return kJoin(a, b); }
  HEARTH_INTO_CALLER static Sum Of(T element) {
    if constexpr (std::is_floating_point_v<T> && std::is_integral_v<Sum>)
      return OrderedBits(kSign * element);
    else
      return static_cast<Sum>(element);
  }
};

template <typename Joined>
HEARTH_INTO_CALLER inline typename Joined::Sum JoinRow(const typename Joined::Element* x, int64_t count,
                                                       const Joined& joined) {
  if constexpr (std::is_integral_v<typename Joined::Sum>) {
    typename Joined::Sum sum = joined.start;
    for (int64_t k = 0; k < count; ++k) sum = Joined::Join(sum, Joined::Of(x[k]));
    return sum;
  }
  typename Joined::Sum parts[kParts];
  for (auto& part : parts) part = joined.start;
  int64_t k = 0;
  for (; k + kParts <= count; k += kParts) {
    for (int part = 0; part < kParts; ++part) parts[part] = Joined::Join(parts[part], Joined::Of(x[k + part]));
  }
  for (; k < count; ++k) parts[0] = Joined::Join(parts[0], Joined::Of(x[k]));
  for (int part = 1; part < kParts; ++part) parts[0] = Joined::Join(parts[0], parts[part]);
  return parts[0];
}

// Runs `finish` on each result. Threads share outputs, so their number changes no bit.
template <typename Joined, typename Finish>
void ReduceAll(const Layout& layout, const typename Joined::Element* x, typename Joined::Element* y,
               const Joined& joined, WorkerPool& workers, Finish finish) {
  const int64_t rows = CountOf(layout.reduced), work_of_output = layout.inputs / layout.outputs;
  if (layout.innermost_is_reduced) {
    workers.ForEachPart(layout.outputs, kLeastElementsOfPart / work_of_output + 1, [&](int64_t begin, int64_t end) {
      Vectorized<kMostFor<typename Joined::Element>>([&]() HEARTH_INTO_CALLER {
        for (int64_t out = begin; out < end; ++out) {
          const auto* from = x + PlaceOf(layout.kept, out);
          typename Joined::Sum sum = joined.start;
          for (int64_t row = 0; row < rows; ++row) {
            sum = Joined::Join(sum, JoinRow(from + PlaceOf(layout.reduced, row), layout.innermost.radix, joined));
          }
          y[out] = finish(sum);
        }
      });
    });
    return;
  }
  const int64_t inner = layout.innermost.radix, chunks = Tiles(inner, kChunk);
  const int64_t least = kLeastElementsOfPart / (work_of_output * std::min(inner, kChunk)) + 1;
  workers.ForEachPart(layout.outputs / inner * chunks, least, [&](int64_t begin, int64_t end) {
    Vectorized<kMostFor<typename Joined::Element>>([&]() HEARTH_INTO_CALLER {
      for (int64_t block = begin; block < end; ++block) {
        const int64_t outer = block / chunks, first = block % chunks * kChunk, count = std::min(kChunk, inner - first);
        // Whole vectors: what lies behind the outputs' elements goes into sums that nobody reads.
        const int64_t wide = std::min(kChunk, RoundUp(count, int64_t{kParts}));
        typename Joined::Sum sums[kChunk];
        std::fill_n(sums, wide, joined.start);
        const int64_t from = PlaceOf(layout.kept, outer) + first;
        PlacesInTurn places(layout.reduced);
        for (int64_t row = 0; row < rows; ++row, places.GoOn()) {
          const int64_t at = from + places.place(), taken = at + wide <= layout.inputs ? wide : count;
          const auto* elements = x + at;
          for (int64_t k = 0; k < taken; ++k) sums[k] = Joined::Join(sums[k], Joined::Of(elements[k]));
        }
        for (int64_t k = 0; k < count; ++k) y[outer * inner + first + k] = finish(sums[k]);
      }
    });
  });
}

template <typename T>
constexpr auto kLarger = [](T a, T b) HEARTH_INTO_CALLER { return a < b ? b : a; };
template <typename T>
constexpr auto kSmaller = [](T a, T b) HEARTH_INTO_CALLER { return b < a ? b : a; };
template <typename T>
constexpr auto kPlus = [](T a, T b) HEARTH_INTO_CALLER { return a + b; };
template <typename T>
constexpr auto kTimes = [](T a, T b) HEARTH_INTO_CALLER { return a * b; };

// The largest element times kSign, which is 1 or -1. NaN if there is one.
template <int kSign>
void ReduceToExtreme(const Layout& layout, const float* x, float* y, WorkerPool& workers) {
  const Joining<float, int32_t, kLarger<int32_t>, kSign> joined{OrderedBits(-std::numeric_limits<float>::infinity())};
  ReduceAll(layout, x, y, joined, workers,
            [](int32_t ordered) HEARTH_INTO_CALLER { return kSign * NumberOfOrder(ordered); });
}

// `Accumulator`: float64 for floats; an unsigned integer, which wraps, for integers.
template <typename T, typename Accumulator>
void ReduceNumbers(ReduceKind kind, const Layout& layout, const std::byte* in, std::byte* out, WorkerPool& workers) {
  const T* x = reinterpret_cast<const T*>(in);
  T* y = reinterpret_cast<T*>(out);
  const auto as_is = [](auto sum) HEARTH_INTO_CALLER { return static_cast<T>(sum); };
  // The sum of a mean has 64 bits, as in TFLite.
  using Whole = std::conditional_t<std::is_floating_point_v<T>, Accumulator, uint64_t>;
  using Exact = std::conditional_t<std::is_floating_point_v<T>, Accumulator, int64_t>;
  const auto count = static_cast<Exact>(layout.inputs / layout.outputs);
  switch (kind) {
    case ReduceKind::kSum:
      return ReduceAll(layout, x, y, Joining<T, Accumulator, kPlus<Accumulator>>{0}, workers, as_is);
    case ReduceKind::kProd:
      return ReduceAll(layout, x, y, Joining<T, Accumulator, kTimes<Accumulator>>{1}, workers, as_is);
    case ReduceKind::kMax:
      if constexpr (std::is_floating_point_v<T>)
        return ReduceToExtreme<1>(layout, x, y, workers);
      else
        return ReduceAll(layout, x, y, Joining<T, T, kLarger<T>>{std::numeric_limits<T>::min()}, workers, as_is);
    case ReduceKind::kMin:
      if constexpr (std::is_floating_point_v<T>)
        return ReduceToExtreme<-1>(layout, x, y, workers);
      else
        return ReduceAll(layout, x, y, Joining<T, T, kSmaller<T>>{std::numeric_limits<T>::max()}, workers, as_is);
    default:
      return ReduceAll(layout, x, y, Joining<T, Whole, kPlus<Whole>>{0}, workers, [count](auto sum) HEARTH_INTO_CALLER {
        return static_cast<T>(static_cast<Exact>(sum) / count);
      });
  }
}

constexpr auto kEither = [](uint8_t a, uint8_t b) HEARTH_INTO_CALLER { return static_cast<uint8_t>(a | (b != 0)); };
constexpr auto kBoth = [](uint8_t a, uint8_t b) HEARTH_INTO_CALLER { return static_cast<uint8_t>(a & (b != 0)); };

void ReduceBools(ReduceKind kind, const Layout& layout, const std::byte* in, std::byte* out, WorkerPool& workers) {
  const auto* x = reinterpret_cast<const uint8_t*>(in);
  auto* y = reinterpret_cast<uint8_t*>(out);
  const auto as_is = [](uint8_t all) HEARTH_INTO_CALLER { return all; };
  if (kind == ReduceKind::kAny) return ReduceAll(layout, x, y, Joining<uint8_t, uint8_t, kEither>{0}, workers, as_is);
  ReduceAll(layout, x, y, Joining<uint8_t, uint8_t, kBoth>{1}, workers, as_is);
}

}  // namespace

Result<std::unique_ptr<HostNode>> MakeReduceNode(const HostNodeRequest& request) {
  const auto* reduce = std::get_if<Reduce>(&request.node.op);
  if (reduce == nullptr) return nullptr;
  const TensorDesc in = HeldAs(request.in(0)), out = HeldAs(request.out());
  const bool is_known =
      in.dtype == DType::kFloat32 || in.dtype == DType::kInt32 || in.dtype == DType::kInt64 || in.dtype == DType::kBool;
  const bool is_alike = in.dtype == out.dtype && !in.quantization.has_value() && !out.quantization.has_value();
  if (!is_known || !is_alike || in.shape.element_count() == 0) return nullptr;
  HEARTH_ASSIGN(HostOperand x, HostOperandOf(request, 0));
  if (x.bytes == nullptr) return nullptr;
  return NodeOf("reduce", [kind = reduce->kind, layout = LayoutOf(in.shape, reduce->axes_mask), x = std::move(x),
                           out = HostOutput(request), &workers = request.workers] {
    std::byte* y = out.bytes();
    switch (x.desc.dtype) {
      case DType::kBool: ReduceBools(kind, layout, x.bytes, y, workers); break;
      case DType::kInt32: ReduceNumbers<int32_t, uint32_t>(kind, layout, x.bytes, y, workers); break;
      case DType::kInt64: ReduceNumbers<int64_t, uint64_t>(kind, layout, x.bytes, y, workers); break;
      default: ReduceNumbers<float, double>(kind, layout, x.bytes, y, workers);
    }
    out.Finish();
  });
}

}  // namespace hearth
