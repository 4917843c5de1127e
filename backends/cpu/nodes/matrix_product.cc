#include "backends/cpu/nodes/matrix_product.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/numbers.h"

namespace hearth {
namespace {

// A block of rows, of this depth, is multiplied by one panel after the other; rows and panel stay in a core's cache.
constexpr int64_t kMostBlockRows = 96, kLeastBlockRows = 12;
constexpr int64_t kBlockDepth = 1024;
constexpr int kTileVectors = 2;  // side by side in a panel
constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <typename Number>
int64_t LanesOf(VectorSet set) {
  int64_t lanes = 0;
  RunWithVectorBytes<kMostBytesFor<Number>>(
      set, [&](auto bytes) HEARTH_INTO_CALLER { lanes = bytes / int64_t{sizeof(Number)}; });
  return lanes;
}

// The arguments of a tile: a part of the depth, so that panels and rows stay in a core's cache.
template <typename Number>
struct ProductTile {
  const Number* a;
  int64_t row_step, depth_step;
  const Number* panel;
  int64_t depth;                     // of a piece
  std::span<const int64_t> offsets;  // of the pieces in `a`
  float* out;
  int64_t out_step;
  int64_t width;                 // columns of the product in this tile
  bool is_first = true;          // part of the depth; later parts continue the sums in `out`
  const Number* bias = nullptr;  // for these columns, or null
  Number lowest = 0, highest = 0;
};

template <typename Number>
constexpr bool kStartsWithBias = std::is_same_v<Number, double>;

template <typename Numbers, typename Number>
HEARTH_INTO_CALLER inline void Finish(const ProductTile<Number>& tile, const Number* bias, Numbers& sums, float* out) {
  if (!kStartsWithBias<Number> && bias != nullptr) {
    Numbers added;
    std::memcpy(&added, bias, sizeof(Numbers));
    sums += added;
  }
  const Numbers lowest = Numbers{} + tile.lowest, highest = Numbers{} + tile.highest;
  sums = sums < lowest ? lowest : sums;
  sums = sums > highest ? highest : sums;
  StoreFloats<Number>(sums, out);
}

// Copies fewer than kMost numbers, at most 32, in pieces of constant sizes: a memcpy call for each row of a tile would
// take as long as a shallow tile.
template <int64_t kMost, typename Number>
HEARTH_INTO_CALLER inline void CopyFew(const Number* from, int64_t count, Number* to) {
  const auto piece = [&](auto size) HEARTH_INTO_CALLER {
    constexpr int64_t kSize = decltype(size)::value;
    if constexpr (kSize < kMost) {
      if ((count & kSize) == 0) return;
      std::memcpy(to, from, kSize * sizeof(Number));
      from += kSize;
      to += kSize;
    }
  };
  piece(std::integral_constant<int64_t, 16>());
  piece(std::integral_constant<int64_t, 8>());
  piece(std::integral_constant<int64_t, 4>());
  piece(std::integral_constant<int64_t, 2>());
  piece(std::integral_constant<int64_t, 1>());
}

// `kIsWhole`: all columns of the tile are in the product.
template <int kRows, int kVectors, int kBytes, bool kIsWhole, typename Number>
HEARTH_INTO_CALLER inline void MultiplyTile(const ProductTile<Number>& tile) {
  typedef Number Numbers __attribute__((vector_size(kBytes)));
  constexpr int64_t kLanes = kBytes / sizeof(Number);
  constexpr int kNeighbours = 4;  // rows that are addressed from one pointer
  const int64_t step = tile.row_step;
  Number edge_bias[kIsWhole ? 1 : kVectors * kLanes] = {};  // nothing is read past the last column's bias
  const Number* bias = tile.bias;
  if (!kIsWhole && bias != nullptr) {
    CopyFew<kVectors * kLanes>(bias, tile.width, edge_bias);
    bias = edge_bias;
  }
  Numbers sums[kRows][kVectors] = {};
  if constexpr (kStartsWithBias<Number>) {
    HEARTH_UNROLLED for (int r = 0; r < kRows; ++r) {
      if (bias != nullptr) std::memcpy(sums[r], bias, sizeof(sums[r]));
    }
  } else if (!tile.is_first) {
    HEARTH_UNROLLED for (int r = 0; r < kRows; ++r) {
      float row[kVectors * kLanes] = {};
      const float* from = tile.out + r * tile.out_step;
      if (!kIsWhole) CopyFew<kVectors * kLanes>(from, tile.width, row);
      HEARTH_UNROLLED for (int v = 0; v < kVectors; ++v) {
        std::memcpy(&sums[r][v], (kIsWhole ? from : row) + v * kLanes, sizeof(Numbers));
      }
    }
  }
  const Number* panel = tile.panel;
  for (const int64_t offset : tile.offsets) {
    const Number* a[(kRows + kNeighbours - 1) / kNeighbours];
    HEARTH_UNROLLED for (int r = 0; r < kRows; r += kNeighbours) a[r / kNeighbours] = tile.a + offset + r * step;
    for (int64_t k = 0; k < tile.depth; ++k, panel += kVectors * kLanes) {
      Numbers b[kVectors];
      HEARTH_UNROLLED for (int v = 0; v < kVectors; ++v) std::memcpy(&b[v], panel + v * kLanes, sizeof(Numbers));
      HEARTH_UNROLLED for (int r = 0; r < kRows; ++r) {
        const Number x = a[r / kNeighbours][r % kNeighbours * step];
        HEARTH_UNROLLED for (int v = 0; v < kVectors; ++v) sums[r][v] += x * b[v];
      }
      HEARTH_UNROLLED for (int r = 0; r < kRows; r += kNeighbours) a[r / kNeighbours] += tile.depth_step;
    }
  }
  HEARTH_UNROLLED for (int r = 0; r < kRows; ++r) {
    float* out = tile.out + r * tile.out_step;
    float row[kVectors * kLanes];
    HEARTH_UNROLLED for (int v = 0; v < kVectors; ++v) {
      Finish(tile, bias == nullptr ? nullptr : bias + v * kLanes, sums[r][v], (kIsWhole ? out : row) + v * kLanes);
    }
    if (!kIsWhole) CopyFew<kVectors * kLanes>(row, tile.width, out);
  }
}

// Multiplies as many rows as fit registers at a time, then fewer.
template <int kRows, int kVectors, int kBytes, bool kIsWhole, typename Number>
HEARTH_INTO_CALLER inline void MultiplyRows(const ProductTile<Number>& tile, int64_t rows) {
  constexpr int kFewer = kRows / 3;
  int64_t done = 0;
  const auto at = [&]() HEARTH_INTO_CALLER {
    ProductTile<Number> next = tile;
    next.a += done * tile.row_step;
    next.out += done * tile.out_step;
    return next;
  };
  for (; done + kRows <= rows; done += kRows) MultiplyTile<kRows, kVectors, kBytes, kIsWhole>(at());
  for (; done + kFewer <= rows; done += kFewer) MultiplyTile<kFewer, kVectors, kBytes, kIsWhole>(at());
  for (; done < rows; ++done) MultiplyTile<1, kVectors, kBytes, kIsWhole>(at());
}

template <typename Number>
void MultiplyPanel(VectorSet set, const ProductTile<Number>& tile, int64_t rows) {
  RunWithVectorBytes<kMostBytesFor<Number>>(set, [&](auto bytes) HEARTH_INTO_CALLER {
    constexpr int kBytes = decltype(bytes)::value;
    constexpr int kRows = kBytes == 64 ? 12 : 6;  // two of the 32 or 16 registers for each row
    constexpr int64_t kLanes = kBytes / sizeof(Number);
    if (tile.width == kTileVectors * kLanes) {
      MultiplyRows<kRows, kTileVectors, kBytes, true>(tile, rows);
    } else if (tile.width > kLanes) {
      MultiplyRows<kRows, kTileVectors, kBytes, false>(tile, rows);
    } else if (tile.width == kLanes) {
      MultiplyRows<kRows, 1, kBytes, true>(tile, rows);
    } else {
      MultiplyRows<kRows, 1, kBytes, false>(tile, rows);
    }
  });
}

// Copies columns `first` to `first` + `width`, row by row, each padded with zeros to `padded`.
template <typename Number>
void PackPanel(const MatrixOf<Number>& matrix, int64_t depth, int64_t first, int64_t width, int64_t padded,
               Number* packed) {
  const Number* from = matrix.data + first * matrix.column_step;
  if (matrix.column_step == 1) {
    for (int64_t k = 0; k < depth; ++k, from += matrix.row_step, packed += padded) {
      std::memcpy(packed, from, static_cast<size_t>(width) * sizeof(Number));
      std::fill(packed + width, packed + padded, Number{0});
    }
    return;
  }
  constexpr int64_t kBlock = 16;  // rows whose part of the panel stays in the cache
  for (int64_t begin = 0; begin < depth; begin += kBlock) {
    const int64_t end = std::min(depth, begin + kBlock);
    for (int64_t c = 0; c < width; ++c) {
      const Number* column = from + c * matrix.column_step;
      // So many columns at once are more than the processor fetches ahead: twice as slow without (MobileNet v1, EPYC).
      __builtin_prefetch(column + end * matrix.row_step);
      for (int64_t k = begin; k < end; ++k) packed[k * padded + c] = column[k * matrix.row_step];
    }
    for (int64_t k = begin; k < end; ++k) std::fill(packed + k * padded + width, packed + (k + 1) * padded, Number{0});
  }
}

// Rows a multiple of 2 KiB apart share so few sets of the first-level cache that a tile's rows evict each other, so
// they are copied (128x1024x256 with AVX-512: 219 GFLOP/s instead of 110).
MatrixView Spread(const MatrixView& a, int64_t rows, int64_t depth) {
  constexpr int64_t kConflictStep = 2048 / sizeof(float), kSpace = 16;
  if (a.column_step != 1 || rows < kLeastBlockRows || a.row_step % kConflictStep != 0) return a;
  thread_local std::vector<float> copy;  // shared by all products, so that its pages are in use already
  copy.resize(std::max(copy.size(), static_cast<size_t>(rows * (depth + kSpace))));
  for (int64_t row = 0; row < rows; ++row) {
    std::memcpy(copy.data() + row * (depth + kSpace), a.data + row * a.row_step,
                static_cast<size_t>(depth) * sizeof(float));
  }
  return {copy.data(), depth + kSpace, 1};
}

template <typename Work>
void ForEachTask(WorkerPool& workers, int64_t tasks, bool on_workers, const Work& work) {
  if (on_workers) return workers.ForEach(tasks, work);
  for (int64_t task = 0; task < tasks; ++task) work(task);
}

}  // namespace

template <typename Number>
PackedNumbers<Number>::PackedNumbers(int64_t depth, int64_t columns, int64_t count, VectorSet set)
    : depth_(depth), columns_(columns), count_(count), set_(set) {
  const int64_t lanes = LanesOf<Number>(set);
  panel_columns_ = kTileVectors * lanes;
  panels_ = Tiles(columns, panel_columns_);
  matrix_size_ = depth * RoundUp(columns, lanes);
}

template <typename Number>
int64_t PackedNumbers<Number>::WidthOf(int64_t panel) const {
  return std::min(panel_columns_, columns_ - panel * panel_columns_);
}

template <typename Number>
const Number* PackedNumbers<Number>::PanelOf(int64_t matrix, int64_t panel) const {
  return reinterpret_cast<const Number*>(packed_) + matrix * matrix_size_ + panel * panel_columns_ * depth_;
}

template <typename Number>
void PackedNumbers<Number>::Pack(std::span<const MatrixOf<Number>> matrices, WorkerPool& workers) {
  constexpr int64_t kLeastElements = 32 * 1024;
  const bool on_workers = matrix_size_ * count_ >= kLeastElements;
  ForEachTask(workers, count_ * panels_, on_workers, [&](int64_t task) {
    const int64_t matrix = task / panels_, panel = task % panels_;
    const int64_t width = WidthOf(panel), padded = RoundUp(width, panel_columns_ / kTileVectors);
    PackPanel(matrices[static_cast<size_t>(matrix)], depth_, panel * panel_columns_, width, padded,
              const_cast<Number*>(PanelOf(matrix, panel)));
  });
}

template <typename Number>
void PackedNumbers<Number>::MultiplyBlock(int64_t matrix, const MatrixOf<Number>& a, int64_t rows, float* product,
                                          const FinishOf<Number>& finish, int64_t group, int64_t groups) const {
  constexpr int64_t kNoOffset[] = {0};
  const bool has_pieces = !a.offsets.empty();
  const int64_t block_depth = has_pieces ? depth_ : kBlockDepth;
  for (int64_t k = 0; k < depth_; k += block_depth) {
    const int64_t depth = std::min(block_depth, depth_ - k);
    const bool is_last = k + depth == depth_;
    MatrixOf<Number> part = a;
    if constexpr (std::is_same_v<Number, float>) {
      if (!has_pieces) part = Spread({a.data + k * a.column_step, a.row_step, a.column_step}, rows, depth);
    }
    for (int64_t panel = panels_ * group / groups; panel < panels_ * (group + 1) / groups; ++panel) {
      const int64_t column = panel * panel_columns_, width = WidthOf(panel);
      const int64_t padded = RoundUp(width, panel_columns_ / kTileVectors);
      const ProductTile<Number> tile{.a = part.data,
                                     .row_step = part.row_step,
                                     .depth_step = part.column_step,
                                     .panel = PanelOf(matrix, panel) + k * padded,
                                     .depth = has_pieces ? depth_ / static_cast<int64_t>(a.offsets.size()) : depth,
                                     .offsets = has_pieces ? a.offsets : std::span<const int64_t>(kNoOffset),
                                     .out = product + column,
                                     .out_step = columns_,
                                     .width = width,
                                     .is_first = k == 0,
                                     .bias = finish.bias == nullptr || !is_last ? nullptr : finish.bias + column,
                                     .lowest = is_last ? finish.lowest : -kInfinity,
                                     .highest = is_last ? finish.highest : kInfinity};
      MultiplyPanel(set_, tile, rows);
    }
  }
}

template <typename Number>
void PackedNumbers<Number>::Multiply(std::span<const MatrixPair> pairs, int64_t rows, const ProductFinish& finish,
                                     WorkerPool& workers) const requires std::is_same_v<Number, float> {
  if constexpr (std::is_same_v<Number, float>) {  // clang 14 instantiates it for double as well
    const auto count = static_cast<int64_t>(pairs.size());
    const ProductTasks tasks = TasksOf(count, rows, kMostBlockRows, workers);
    tasks.ForEach(workers, [&](int64_t number, int64_t first, int64_t last, int64_t group) {
      const MatrixPair& pair = pairs[static_cast<size_t>(number)];
      const MatrixView a{pair.a.data + first * pair.a.row_step, pair.a.row_step, pair.a.column_step};
      MultiplyBlock(pair.b, a, last - first, pair.product + first * columns_, finish, group, tasks.groups);
    });
  }
}

template <typename Number>
ProductTasks PackedNumbers<Number>::TasksOf(int64_t count, int64_t rows, int64_t most_rows,
                                            const WorkerPool& workers) const {
  ProductTasks tasks{.count = count, .rows = rows};
  tasks.on_workers = workers.threads() > 1 && count * rows * depth_ * columns_ >= kMinWorkForThreads;
  const int64_t wanted = tasks.on_workers ? (int64_t{workers.threads()} * 4 + count - 1) / count : 1;
  tasks.blocks = std::max({int64_t{1}, Tiles(rows, most_rows), std::min(rows / kLeastBlockRows, wanted)});
  tasks.groups = std::clamp<int64_t>(wanted / tasks.blocks, 1, panels_);
  return tasks;
}

template class PackedNumbers<float>;
template class PackedNumbers<double>;

}  // namespace hearth
