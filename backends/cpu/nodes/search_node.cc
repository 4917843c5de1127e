// Operations along one dimension: index of an extreme, largest elements, running sums, one-hot vectors, distinct
// elements.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/host_operand.h"
#include "backends/cpu/host/quantized.h"
#include "backends/cpu/host/vector_math.h"
#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/graph/ops/axis_split.h"

namespace hearth {
namespace {

constexpr int64_t kLeastSearched = 8 * 1024;  // fewer take less time than waking a worker
constexpr int64_t kLinesOfChunk = 256;        // neighbouring lines, whose state stays in the cache

// One thread's part of a node: lines begin to end, or chunks of neighbouring lines.
struct Lines {
  AxisSplit split;
  int64_t chunks() const { return Tiles(split.inner, kLinesOfChunk); }
  int64_t tasks() const { return split.outer * chunks(); }
  int64_t work_of_task() const { return split.length * std::min(split.inner, kLinesOfChunk); }
};

template <typename Work>
void ForEachChunk(const Lines& lines, WorkerPool& workers, const Work& work) {
  const int64_t least = kLeastSearched / std::max<int64_t>(1, lines.work_of_task()) + 1;
  workers.ForEachPart(lines.tasks(), least, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t first = task % lines.chunks() * kLinesOfChunk;
      work(task / lines.chunks(), first, std::min(kLinesOfChunk, lines.split.inner - first));
    }
  });
}

using Places = std::array<int32_t, kLinesOfChunk>;  // those of one chunk in its lines

// Of `count` neighbouring lines, whose elements lie `step` from each other; those of one line lie `stride` apart.
template <typename T, typename Step>
void FindInLines(bool largest, int64_t length, int64_t stride, const T* x, Step step, int64_t count, Places& found) {
  Vectorized<kMostFor<T>>([=, &found]() HEARTH_INTO_CALLER {
    T best[kLinesOfChunk];
    Places places = {};
    for (int64_t c = 0; c < count; ++c) best[c] = x[c * step];
    for (int64_t k = 1; k < length; ++k) {
      const T* from = x + k * stride;
      for (int64_t c = 0; c < count; ++c) {
        const T element = from[c * step];
        const bool wins = largest ? element > best[c] : element < best[c];
        best[c] = wins ? element : best[c];
        places[c] = wins ? static_cast<int32_t>(k) : places[c];
      }
    }
    found = places;
  });
}

template <typename T, typename Index>
void FindExtremes(bool largest, const Lines& lines, const T* x, Index* y, WorkerPool& workers) {
  const AxisSplit& split = lines.split;
  ForEachChunk(lines, workers, [&](int64_t outer, int64_t first, int64_t count) {
    Places places;
    FindInLines(largest, split.length, split.inner, x + outer * split.length * split.inner + first,
                std::integral_constant<int64_t, 1>(), count, places);
    std::copy_n(places.begin(), count, y + outer * split.inner + first);
  });
}

// Along rows that are too short for vectors: as many rows at once.
template <typename T, typename Index>
void FindInShortRows(bool largest, const AxisSplit& split, const T* x, Index* y, WorkerPool& workers) {
  workers.ForEachPart(split.outer, kLeastSearched / split.length + 1, [&](int64_t begin, int64_t end) {
    Places places;
    for (int64_t row = begin; row < end; row += kLinesOfChunk) {
      const int64_t count = std::min(kLinesOfChunk, end - row);
      FindInLines(largest, split.length, 1, x + row * split.length, split.length, count, places);
      std::copy_n(places.begin(), count, y + row);
    }
  });
}

// As OrderedBits, but NaN comes before every number.
HEARTH_INTO_CALLER inline int32_t OrderedBehindNaN(float x) {
  const int32_t ordered = OrderedBits(x);
  return ordered ^ -static_cast<int32_t>(ordered == OrderedBits(NAN));
}

// The same along rows of floats: the extreme is found in vectors, then its place. NaN is passed over, but in the first
// place no comparison moves it away.
template <typename Index>
void FindInRows(bool largest, const Lines& lines, const float* x, Index* y, WorkerPool& workers) {
  const int64_t length = lines.split.length;
  const float sign = largest ? 1.0f : -1.0f;
  workers.ForEachPart(lines.split.outer, kLeastSearched / length + 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const float* from = x + row * length;
      int32_t extreme = std::numeric_limits<int32_t>::min();
      Vectorized([&]() HEARTH_INTO_CALLER {
        int32_t most = extreme;
        for (int64_t k = 0; k < length; ++k) {
          const int32_t number = OrderedBehindNaN(sign * from[k]);
          most = most < number ? number : most;
        }
        extreme = most;
      });
      const float* found = std::isnan(from[0]) ? from : std::find(from, from + length, sign * NumberOfOrder(extreme));
      y[row] = static_cast<Index>(found - from);
    }
  });
}

// Of rows: four at once, so that no addition waits for the one before.
template <typename T, typename Sum>
void AddUpRows(const CumSum& cumsum, const AxisSplit& split, const T* x, T* y, WorkerPool& workers) {
  constexpr int64_t kAtOnce = 4;
  const int64_t length = split.length;
  workers.ForEachPart(split.outer, kLeastSearched / length + 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row += kAtOnce) {
      const int64_t rows = std::min(kAtOnce, end - row), step = cumsum.reverse ? -1 : 1;
      const int64_t first = row * length + (cumsum.reverse ? length - 1 : 0);
      Sum sums[kAtOnce] = {};
      const auto add = [&](int64_t r, int64_t at) HEARTH_INTO_CALLER {
        const Sum before = sums[r];
        sums[r] += static_cast<Sum>(x[at + r * length]);
        y[at + r * length] = static_cast<T>(cumsum.exclusive ? before : sums[r]);
      };
      for (int64_t k = 0, at = first; k < length; ++k, at += step) {
        if (rows == kAtOnce) {
          HEARTH_UNROLLED for (int64_t r = 0; r < kAtOnce; ++r) add(r, at);
        } else {
          for (int64_t r = 0; r < rows; ++r) add(r, at);
        }
      }
    }
  });
}

// Sums of floats are float64; sums of integers wrap.
template <typename T, typename Sum>
void AddUp(const CumSum& cumsum, const Lines& lines, const T* x, T* y, WorkerPool& workers) {
  const AxisSplit& split = lines.split;
  if (split.inner == 1) return AddUpRows<T, Sum>(cumsum, split, x, y, workers);
  ForEachChunk(lines, workers, [&](int64_t outer, int64_t first, int64_t count) {
    Vectorized<kMostFor<T>>([&]() HEARTH_INTO_CALLER {
      Sum sums[kLinesOfChunk] = {};
      for (int64_t k = 0; k < split.length; ++k) {
        const int64_t place = cumsum.reverse ? split.length - 1 - k : k;
        const int64_t at = (outer * split.length + place) * split.inner + first;
        const T* from = x + at;
        T* to = y + at;
        if (cumsum.exclusive) {
          HEARTH_INDEPENDENT for (int64_t c = 0; c < count; ++c) {
            const Sum before = sums[c];
            sums[c] += static_cast<Sum>(from[c]);
            to[c] = static_cast<T>(before);
          }
        } else {
          HEARTH_INDEPENDENT for (int64_t c = 0; c < count; ++c) {
            sums[c] += static_cast<Sum>(from[c]);
            to[c] = static_cast<T>(sums[c]);
          }
        }
      }
    });
  });
}

// Integers in the order of the elements: NaN before every number, both zeros alike.
void OrderNumbers(const float* x, int64_t count, int32_t* ordered) {
  Vectorized([=]() HEARTH_INTO_CALLER {
    for (int64_t k = 0; k < count; ++k) {
      const int32_t number = OrderedBehindNaN(x[k]);
      ordered[k] = number + static_cast<int32_t>(number == -1);
    }
  });
}
template <typename T>
void OrderNumbers(const T* x, int64_t count, T* ordered) {
  std::copy_n(x, count, ordered);
}

// The k largest elements of each row, largest first; the first of equal ones comes first. NaN comes after every number.
template <typename T>
void FindLargest(const T* x, int64_t rows, int64_t length, int64_t k, T* values, int32_t* places, WorkerPool& workers) {
  using Ordered = std::conditional_t<std::is_floating_point_v<T>, int32_t, T>;
  workers.ForEachPart(rows, kLeastSearched / length + 1, [&](int64_t begin, int64_t end) {
    std::vector<Ordered> ordered(static_cast<size_t>(length));
    std::vector<int32_t> found(static_cast<size_t>(k));
    const auto precedes = [&ordered](int32_t a, int32_t b) {
      const Ordered one = ordered[static_cast<size_t>(a)], other = ordered[static_cast<size_t>(b)];
      return one != other ? one > other : a < b;
    };
    for (int64_t row = begin; row < end; ++row) {
      const T* from = x + row * length;
      OrderNumbers(from, length, ordered.data());
      std::iota(found.begin(), found.end(), 0);
      std::ranges::make_heap(found, precedes);  // the last one that counts is the first of the heap
      for (int64_t place = k; place < length && k > 0; ++place) {
        if (ordered[static_cast<size_t>(place)] <= ordered[static_cast<size_t>(found.front())]) continue;
        std::ranges::pop_heap(found, precedes);
        found.back() = static_cast<int32_t>(place);
        std::ranges::push_heap(found, precedes);
      }
      std::ranges::sort_heap(found, precedes);
      for (int64_t i = 0; i < k; ++i) {
        places[row * k + i] = found[static_cast<size_t>(i)];
        values[row * k + i] = from[found[static_cast<size_t>(i)]];
      }
    }
  });
}

template <typename T, typename Index>
void FindPlaces(bool largest, const Lines& lines, const T* x, Index* places, WorkerPool& workers) {
  constexpr int64_t kShort = 64;
  if (lines.split.inner > 1) return FindExtremes(largest, lines, x, places, workers);
  if constexpr (std::is_same_v<T, float>) {
    if (lines.split.length > kShort) return FindInRows(largest, lines, x, places, workers);
  }
  FindInShortRows(largest, lines.split, x, places, workers);
}

// `made`: the memory of the outputs. `Sum`: of elements of type T.
template <typename T, typename Sum>
void SearchElements(const Op& op, const Lines& lines, const HostOperand& x, std::span<std::byte* const> made,
                    bool has_wide_places, WorkerPool& workers) {
  if (const auto* cumsum = std::get_if<CumSum>(&op))
    return AddUp<T, Sum>(*cumsum, lines, x.as<T>(), reinterpret_cast<T*>(made[0]), workers);
  if (const auto* search = std::get_if<ArgReduce>(&op)) {
    const bool largest = search->kind == ArgKind::kMax;
    return has_wide_places ? FindPlaces(largest, lines, x.as<T>(), reinterpret_cast<int64_t*>(made[0]), workers)
                           : FindPlaces(largest, lines, x.as<T>(), reinterpret_cast<int32_t*>(made[0]), workers);
  }
  const int64_t length = lines.split.length;
  FindLargest(x.as<T>(), x.desc.shape.element_count() / length, length, std::get<TopK>(op).k,
              reinterpret_cast<T*>(made[0]), reinterpret_cast<int32_t*>(made[1]), workers);
}

Result<std::unique_ptr<HostNode>> MakeOneHotNode(const HostNodeRequest& request) {
  HEARTH_ASSIGN(HostOperand indices, HostOperandOf(request, 0));
  HEARTH_ASSIGN(HostOperand on, HostOperandOf(request, 1));
  HEARTH_ASSIGN(HostOperand off, HostOperandOf(request, 2));
  const TensorDesc& out = request.out();
  const bool is_plain = !out.quantization.has_value() && BitsOf(out.dtype) >= 8;
  if (!is_plain || !indices.has_indices() || on.desc.dtype != out.dtype || off.desc.dtype != out.dtype ||
      on.bytes == nullptr || off.bytes == nullptr) {
    return nullptr;
  }
  const auto& op = std::get<OneHot>(request.node.op);
  const OneHotSplit split = SplitOneHot(op, indices.desc.shape);
  return NodeOf("one-hot", [split, depth = int64_t{op.depth}, indices = std::move(indices), on = std::move(on),
                            off = std::move(off), bytes = request.bytes(request.node.outputs[0]).data()] {
    // Moves bytes, so any type works.
    const auto fill = [&]<typename Element>(Element) {
      auto* y = reinterpret_cast<Element*>(bytes);
      std::fill_n(y, split.prefix * depth * split.suffix, *off.as<Element>());
      for (int64_t k = 0; k < split.prefix * split.suffix; ++k) {
        const int64_t index = indices.index(k);
        if (index < 0 || index >= depth) continue;
        y[(k / split.suffix * depth + index) * split.suffix + k % split.suffix] = *on.as<Element>();
      }
    };
    switch (BitsOf(on.desc.dtype)) {
      case 8: return fill(uint8_t{});
      case 16: return fill(uint16_t{});
      case 32: return fill(uint32_t{});
      default: return fill(uint64_t{});
    }
  });
}

// UNIQUE of integers: the distinct elements in order of first occurrence, then zeros.
template <typename T, typename Place>
void FindDistinct(std::span<const T> elements, T* values, Place* places, std::byte* count) {
  std::unordered_map<T, int32_t> known;
  for (size_t i = 0; i < elements.size(); ++i) {
    const auto [place, is_new] = known.emplace(elements[i], static_cast<int32_t>(known.size()));
    if (is_new) values[place->second] = elements[i];
    places[i] = place->second;
  }
  std::fill_n(values + known.size(), elements.size() - known.size(), T{0});
  *reinterpret_cast<int32_t*>(count) = static_cast<int32_t>(known.size());
}

Result<std::unique_ptr<HostNode>> MakeUniqueNode(const HostNodeRequest& request) {
  HEARTH_ASSIGN(HostOperand x, HostOperandOf(request, 0));
  if (!x.has_indices() || x.desc.quantization.has_value()) return nullptr;
  const auto made = [&](size_t k) { return request.bytes(request.node.outputs[k]).data(); };
  return NodeOf("unique", [x = std::move(x), values = made(0), places = made(1), count = made(2),
                           has_wide_places = request.out(1).dtype == DType::kInt64] {
    const auto find = [&]<typename T>(T) {
      const std::span elements(x.as<T>(), static_cast<size_t>(x.desc.shape.element_count()));
      auto* to = reinterpret_cast<T*>(values);
      has_wide_places ? FindDistinct(elements, to, reinterpret_cast<int64_t*>(places), count)
                      : FindDistinct(elements, to, reinterpret_cast<int32_t*>(places), count);
    };
    x.desc.dtype == DType::kInt64 ? find(int64_t{}) : find(int32_t{});
  });
}

}  // namespace

Result<std::unique_ptr<HostNode>> MakeSearchNode(const HostNodeRequest& request) {
  const Op& op = request.node.op;
  if (std::holds_alternative<Unique>(op)) return MakeUniqueNode(request);
  if (std::holds_alternative<OneHot>(op)) return MakeOneHotNode(request);
  const auto* search = std::get_if<ArgReduce>(&op);
  const auto* cumsum = std::get_if<CumSum>(&op);
  const bool is_top = std::holds_alternative<TopK>(op);
  if (search == nullptr && cumsum == nullptr && !is_top) return nullptr;
  HEARTH_ASSIGN(HostOperand x, HostOperandOf(request, 0));
  const DType type = x.desc.dtype;
  const bool is_number = type == DType::kFloat32 || type == DType::kInt32 || type == DType::kInt64;
  if (x.bytes == nullptr || !is_number || x.desc.quantization.has_value()) return nullptr;
  const TensorDesc& out = request.out();
  // Sums and selected quantized elements would have to be rounded to their grid.
  if (search == nullptr && (out.quantization.has_value() || out.dtype != type)) return nullptr;
  const int32_t axis = search != nullptr ? search->axis : cumsum != nullptr ? cumsum->axis : -1;
  const Lines lines{SplitAt(x.desc.shape, *AxisFromFront(axis, x.desc.shape.rank()))};
  std::vector<std::byte*> made;
  for (const ValueId output : request.node.outputs) made.push_back(request.bytes(output).data());
  return NodeOf("search", [&op, lines, x = std::move(x), made = std::move(made),
                           has_wide_places = HeldAs(out).dtype == DType::kInt64, &workers = request.workers] {
    switch (x.desc.dtype) {
      case DType::kInt32: return SearchElements<int32_t, uint32_t>(op, lines, x, made, has_wide_places, workers);
      case DType::kInt64: return SearchElements<int64_t, uint64_t>(op, lines, x, made, has_wide_places, workers);
      default: return SearchElements<float, double>(op, lines, x, made, has_wide_places, workers);
    }
  });
}

}  // namespace hearth
