// Products of matrices of float, or of double where the result has to have the reference's bits, in tiles that stay in
// registers.
#ifndef HEARTH_BACKENDS_CPU_NODES_MATRIX_PRODUCT_H_
#define HEARTH_BACKENDS_CPU_NODES_MATRIX_PRODUCT_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>

#include "backends/cpu/host/shared_weights.h"
#include "backends/cpu/host/vectorized.h"
#include "backends/cpu/host/worker_pool.h"

namespace hearth {

// Element (row, column) is at data[row * row_step + column * column_step].
template <typename Number>
struct MatrixOf {
  const Number* data = nullptr;
  int64_t row_step = 0, column_step = 1;
  // A left operand whose rows consist of pieces of equal length: the offset of each piece from the row's start.
  std::span<const int64_t> offsets = {};
};
using MatrixView = MatrixOf<float>;

struct MatrixSizes {
  int64_t rows = 0, depth = 0, columns = 0;
};

// A bias for each column, to which sums of double are added, as in the reference, and which is added to sums of float.
// In the end each element is clamped. NaN stays NaN.
template <typename Number>
struct FinishOf {
  const Number* bias = nullptr;
  float lowest = -std::numeric_limits<float>::infinity(), highest = std::numeric_limits<float>::infinity();
};
using ProductFinish = FinishOf<float>;

// A pair of matrices and the dense memory of their product.
struct MatrixPair {
  MatrixView a;
  int64_t b = 0;  // index of the packed matrix
  float* product = nullptr;
};

// Divides a product into blocks of rows and groups of columns, which are tasks for threads.
struct ProductTasks {
  int64_t count = 1, rows = 0;  // number of products, and rows of each
  int64_t blocks = 1, groups = 1;
  bool on_workers = false;

  // Calls work(product, first row, last row, group of columns) for each task.
  template <typename Work>
  void ForEach(WorkerPool& workers, const Work& work) const {
    const auto run = [&](int64_t task) {
      const int64_t block = task / groups % blocks;
      work(task / groups / blocks, rows * block / blocks, rows * (block + 1) / blocks, task % groups);
    };
    if (on_workers) return workers.ForEach(count * blocks * groups, run);
    for (int64_t task = 0; task < count * blocks * groups; ++task) run(task);
  }
};

// Right operands packed in panels, which have as many columns as a tile.
template <typename Number>
class PackedNumbers {
 public:
  // `set`: the instruction set that multiplies them; this machine must have it.
  PackedNumbers(int64_t depth, int64_t columns, int64_t count, VectorSet set = BestVectorSet());
  // Constants, which lie in memory from `weights`.
  PackedNumbers(int64_t depth, int64_t columns, int64_t count, VectorSet set, ProgramWeights& weights)
      : PackedNumbers(depth, columns, count, set) {
    own_ = weights.Allocate(bytes());
    packed_ = own_.get();
  }

  uint64_t bytes() const { return static_cast<uint64_t>(matrix_size_ * count_) * sizeof(Number); }

  // Packs into this memory from now on, which has bytes().
  void PackInto(std::byte* memory) { packed_ = memory; }
  // `matrices`: as many as the constructor was told.
  void Pack(std::span<const MatrixOf<Number>> matrices, WorkerPool& workers);

  // Each element is one sum in the order of the depth, so neither threads nor sizes change a bit.
  void Multiply(std::span<const MatrixPair> pairs, int64_t rows, const ProductFinish& finish,
                WorkerPool& workers) const requires std::is_same_v<Number, float>;

  // The parts of Multiply, for callers that make the rows of `a` on the way. `most_rows`: of a block.
  ProductTasks TasksOf(int64_t count, int64_t rows, int64_t most_rows, const WorkerPool& workers) const;
  // Rows of double consist of pieces: a part of their depth would leave its sums in `product` as floats.
  void MultiplyBlock(int64_t matrix, const MatrixOf<Number>& a, int64_t rows, float* product,
                     const FinishOf<Number>& finish, int64_t group, int64_t groups) const;

 private:
  const Number* PanelOf(int64_t matrix, int64_t panel) const;
  int64_t WidthOf(int64_t panel) const;

  int64_t depth_, columns_, count_;
  VectorSet set_;
  int64_t panel_columns_, panels_, matrix_size_;
  std::shared_ptr<std::byte[]> own_;
  std::byte* packed_ = nullptr;
};
using PackedMatrices = PackedNumbers<float>;

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_NODES_MATRIX_PRODUCT_H_
