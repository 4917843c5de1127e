#include "backends/cpu/matrix_product.h"

#include <algorithm>
#include <cstring>

namespace hearth {
namespace {

// Below this a product takes less than about 10 us on one thread, and waking a worker as long.
constexpr int64_t kMinWorkForThreads = 200'000;
// Rows that are multiplied with one panel after the other, and their depth: both stay in a core's cache.
constexpr int64_t kMostBlockRows = 96, kLeastBlockRows = 12;
constexpr int64_t kBlockDepth = 1024;
constexpr int kTileVectors = 2;  // side by side in a panel
constexpr float kInfinity = std::numeric_limits<float>::infinity();

int64_t LanesOf(VectorSet set) {
  int64_t lanes = 0;
  RunWithVectorBytes(set, [&](auto bytes) HEARTH_INTO_CALLER { lanes = bytes / int64_t{sizeof(float)}; });
  return lanes;
}

// What a tile reads and writes: a part of the depth, so that panels and rows stay in a core's cache.
struct Tile {
  const float* a;
  int64_t row_step, depth_step;
  const float* panel;
  int64_t depth;
  float* out;
  int64_t out_step;
  int64_t width;                // columns that the product has here
  bool is_first = true;         // of the parts of the depth; the others continue the sums in `out`
  const float* bias = nullptr;  // of these columns, or null
  float lowest = 0, highest = 0;
};

template <typename Floats>
HEARTH_INTO_CALLER inline void Finish(const Tile& tile, const float* bias, Floats& sums) {
  if (bias != nullptr) {
    Floats added;
    std::memcpy(&added, bias, sizeof(Floats));
    sums += added;
  }
  const Floats lowest = Floats{} + tile.lowest, highest = Floats{} + tile.highest;
  sums = sums < lowest ? lowest : sums;
  sums = sums > highest ? highest : sums;
}

// `kIsWhole`: the product has all of the tile's columns.
template <int kRows, int kVectors, int kBytes, bool kIsWhole>
HEARTH_INTO_CALLER inline void MultiplyTile(const Tile& tile) {
  typedef float Floats __attribute__((vector_size(kBytes)));
  constexpr int64_t kLanes = kBytes / sizeof(float);
  constexpr int kNeighbours = 4;  // rows that are addressed from one pointer
  const int64_t width = kIsWhole ? kVectors * kLanes : tile.width, step = tile.row_step;
  float edge[kIsWhole ? 1 : kRows * kVectors * kLanes] = {};  // what lies behind the last column is not the product's
  float* out = kIsWhole ? tile.out : edge;
  const int64_t out_step = kIsWhole ? tile.out_step : kVectors * kLanes;
  const auto copy = [&](float* to, int64_t to_step, const float* from, int64_t from_step) HEARTH_INTO_CALLER {
    for (int r = 0; r < kRows; ++r) {
      std::memcpy(to + r * to_step, from + r * from_step, static_cast<size_t>(width) * sizeof(float));
    }
  };
  if (!kIsWhole && !tile.is_first) copy(edge, out_step, tile.out, tile.out_step);
  Floats sums[kRows][kVectors] = {};
  if (!tile.is_first) {
    HEARTH_UNROLLED for (int r = 0; r < kRows; ++r) {
      HEARTH_UNROLLED for (int v = 0; v < kVectors; ++v) {
        std::memcpy(&sums[r][v], out + r * out_step + v * kLanes, sizeof(Floats));
      }
    }
  }
  const float* a[(kRows + kNeighbours - 1) / kNeighbours];
  HEARTH_UNROLLED for (int r = 0; r < kRows; r += kNeighbours) a[r / kNeighbours] = tile.a + r * step;
  const float* panel = tile.panel;
  for (int64_t k = 0; k < tile.depth; ++k, panel += kVectors * kLanes) {
    Floats b[kVectors];
    HEARTH_UNROLLED for (int v = 0; v < kVectors; ++v) std::memcpy(&b[v], panel + v * kLanes, sizeof(Floats));
    HEARTH_UNROLLED for (int r = 0; r < kRows; ++r) {
      const float x = a[r / kNeighbours][r % kNeighbours * step];
      HEARTH_UNROLLED for (int v = 0; v < kVectors; ++v) sums[r][v] += x * b[v];
    }
    HEARTH_UNROLLED for (int r = 0; r < kRows; r += kNeighbours) a[r / kNeighbours] += tile.depth_step;
  }
  float edge_bias[kIsWhole ? 1 : kVectors * kLanes] = {};
  const float* bias = tile.bias;
  if (!kIsWhole && bias != nullptr) {
    std::memcpy(edge_bias, bias, static_cast<size_t>(width) * sizeof(float));
    bias = edge_bias;
  }
  HEARTH_UNROLLED for (int r = 0; r < kRows; ++r) {
    HEARTH_UNROLLED for (int v = 0; v < kVectors; ++v) {
      Finish(tile, bias == nullptr ? nullptr : bias + v * kLanes, sums[r][v]);
      std::memcpy(out + r * out_step + v * kLanes, &sums[r][v], sizeof(Floats));
    }
  }
  if (!kIsWhole) copy(tile.out, tile.out_step, edge, out_step);
}

// As many rows as fit into registers at a time, then fewer.
template <int kRows, int kVectors, int kBytes, bool kIsWhole>
HEARTH_INTO_CALLER inline void MultiplyRows(const Tile& tile, int64_t rows) {
  constexpr int kFewer = kRows / 3;
  int64_t done = 0;
  const auto at = [&]() HEARTH_INTO_CALLER {
    Tile next = tile;
    next.a += done * tile.row_step;
    next.out += done * tile.out_step;
    return next;
  };
  for (; done + kRows <= rows; done += kRows) MultiplyTile<kRows, kVectors, kBytes, kIsWhole>(at());
  for (; done + kFewer <= rows; done += kFewer) MultiplyTile<kFewer, kVectors, kBytes, kIsWhole>(at());
  for (; done < rows; ++done) MultiplyTile<1, kVectors, kBytes, kIsWhole>(at());
}

void MultiplyPanel(VectorSet set, const Tile& tile, int64_t rows) {
  RunWithVectorBytes(set, [&](auto bytes) HEARTH_INTO_CALLER {
    constexpr int kBytes = decltype(bytes)::value;
    constexpr int kRows = kBytes == 64 ? 12 : 6;  // of 32 and of 16 registers two for each row
    constexpr int64_t kLanes = kBytes / sizeof(float);
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

// Columns `first` to `first` + `width`, row by row, each row filled up to `padded` with zeros.
void PackPanel(const MatrixView& matrix, int64_t depth, int64_t first, int64_t width, int64_t padded, float* packed) {
  const float* from = matrix.data + first * matrix.column_step;
  if (matrix.column_step == 1) {
    for (int64_t k = 0; k < depth; ++k, from += matrix.row_step, packed += padded) {
      std::memcpy(packed, from, static_cast<size_t>(width) * sizeof(float));
      std::fill(packed + width, packed + padded, 0.0f);
    }
    return;
  }
  constexpr int64_t kBlock = 16;  // rows whose part of the panel stays in the cache
  for (int64_t begin = 0; begin < depth; begin += kBlock) {
    const int64_t end = std::min(depth, begin + kBlock);
    for (int64_t c = 0; c < width; ++c) {
      const float* column = from + c * matrix.column_step;
      for (int64_t k = begin; k < end; ++k) packed[k * padded + c] = column[k * matrix.row_step];
    }
    for (int64_t k = begin; k < end; ++k) std::fill(packed + k * padded + width, packed + (k + 1) * padded, 0.0f);
  }
}

template <typename Work>
void ForEachTask(WorkerPool& workers, int64_t tasks, bool on_workers, const Work& work) {
  if (on_workers) return workers.ForEach(tasks, work);
  for (int64_t task = 0; task < tasks; ++task) work(task);
}

int64_t RoundedUp(int64_t number, int64_t step) {
  return (number + step - 1) / step * step;
}

}  // namespace

PackedMatrices::PackedMatrices(int64_t depth, int64_t columns, int64_t count, VectorSet set)
    : depth_(depth), columns_(columns), count_(count), set_(set) {
  const int64_t lanes = LanesOf(set);
  panel_columns_ = kTileVectors * lanes;
  panels_ = RoundedUp(columns, panel_columns_) / panel_columns_;
  matrix_size_ = depth * RoundedUp(columns, lanes);
  packed_.resize(static_cast<size_t>(matrix_size_ * count));
}

int64_t PackedMatrices::WidthOf(int64_t panel) const {
  return std::min(panel_columns_, columns_ - panel * panel_columns_);
}

const float* PackedMatrices::PanelOf(int64_t matrix, int64_t panel) const {
  return packed_.data() + matrix * matrix_size_ + panel * panel_columns_ * depth_;
}

void PackedMatrices::Pack(std::span<const MatrixView> matrices, WorkerPool& workers) {
  constexpr int64_t kLeastElements = 32 * 1024;
  const bool on_workers = matrix_size_ * count_ >= kLeastElements;
  ForEachTask(workers, count_ * panels_, on_workers, [&](int64_t task) {
    const int64_t matrix = task / panels_, panel = task % panels_;
    const int64_t width = WidthOf(panel), padded = RoundedUp(width, panel_columns_ / kTileVectors);
    PackPanel(matrices[static_cast<size_t>(matrix)], depth_, panel * panel_columns_, width, padded,
              const_cast<float*>(PanelOf(matrix, panel)));
  });
}

void PackedMatrices::MultiplyBlock(int64_t matrix, const MatrixView& a, int64_t rows, float* product,
                                   const ProductFinish& finish, int64_t group, int64_t groups) const {
  for (int64_t k = 0; k < depth_; k += kBlockDepth) {
    for (int64_t panel = panels_ * group / groups; panel < panels_ * (group + 1) / groups; ++panel) {
      const int64_t column = panel * panel_columns_, width = WidthOf(panel);
      const int64_t padded = RoundedUp(width, panel_columns_ / kTileVectors);
      const bool is_last = k + kBlockDepth >= depth_;
      const Tile tile{.a = a.data + k * a.column_step,
                      .row_step = a.row_step,
                      .depth_step = a.column_step,
                      .panel = PanelOf(matrix, panel) + k * padded,
                      .depth = std::min(kBlockDepth, depth_ - k),
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

void PackedMatrices::Multiply(std::span<const MatrixPair> pairs, int64_t rows, const ProductFinish& finish,
                              WorkerPool& workers) const {
  const auto count = static_cast<int64_t>(pairs.size());
  const ProductTasks tasks = TasksOf(count, rows, kMostBlockRows, workers);
  tasks.ForEach(workers, [&](int64_t number, int64_t first, int64_t last, int64_t group) {
    const MatrixPair& pair = pairs[static_cast<size_t>(number)];
    const MatrixView a{pair.a.data + first * pair.a.row_step, pair.a.row_step, pair.a.column_step};
    MultiplyBlock(pair.b, a, last - first, pair.product + first * columns_, finish, group, tasks.groups);
  });
}

ProductTasks PackedMatrices::TasksOf(int64_t count, int64_t rows, int64_t most_rows, const WorkerPool& workers) const {
  ProductTasks tasks{.count = count, .rows = rows};
  tasks.on_workers = workers.threads() > 1 && count * rows * depth_ * columns_ >= kMinWorkForThreads;
  const int64_t wanted = tasks.on_workers ? (int64_t{workers.threads()} * 4 + count - 1) / count : 1;
  tasks.blocks =
      std::max({int64_t{1}, RoundedUp(rows, most_rows) / most_rows, std::min(rows / kLeastBlockRows, wanted)});
  tasks.groups = std::clamp<int64_t>(wanted / tasks.blocks, 1, panels_);
  return tasks;
}

}  // namespace hearth
