// Products of float matrices in the machine code of each set of vector instructions.
#include "backends/cpu/nodes/matrix_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/testing/host_graph.h"

namespace hearth {
namespace {

using testing::RandomFloats;

constexpr uint32_t kProductSeed = 20260404;
constexpr VectorSet kSets[] = {VectorSet::kBase, VectorSet::kAvx2, VectorSet::kAvx512};

std::vector<float> Multiply(const MatrixView& a, const MatrixView& b, const MatrixSizes& sizes,
                            const ProductFinish& finish, VectorSet set, int threads) {
  WorkerPool workers(threads, threads);
  PackedMatrices packed(sizes.depth, sizes.columns, 1, set);
  const std::shared_ptr<std::byte[]> memory = VectorMemory(packed.bytes());
  packed.PackInto(memory.get());
  packed.Pack({&b, 1}, workers);
  std::vector<float> product(static_cast<size_t>(sizes.rows * sizes.columns), -1.0f);
  const MatrixPair pair{a, 0, product.data()};
  packed.Multiply({&pair, 1}, sizes.rows, finish, workers);
  return product;
}

void ExpectProduct(const MatrixSizes& sizes, bool turned, const ProductFinish& finish) {
  const std::vector<float> a = RandomFloats(sizes.rows * sizes.depth, kProductSeed),
                           b = RandomFloats(sizes.depth * sizes.columns, kProductSeed + 1);
  const MatrixView left = turned ? MatrixView{a.data(), 1, sizes.rows} : MatrixView{a.data(), sizes.depth, 1},
                   right = turned ? MatrixView{b.data(), 1, sizes.depth} : MatrixView{b.data(), sizes.columns, 1};
  for (VectorSet set : kSets) {
    if (set > BestVectorSet()) continue;
    const std::vector<float> product = Multiply(left, right, sizes, finish, set, 1);
    EXPECT_EQ(product, Multiply(left, right, sizes, finish, set, 3)) << "threads change a bit";
    for (int64_t row = 0; row < sizes.rows; ++row) {
      for (int64_t column = 0; column < sizes.columns; ++column) {
        double sum = 0.0;
        for (int64_t k = 0; k < sizes.depth; ++k) {
          sum += double{left.data[row * left.row_step + k * left.column_step]} *
                 right.data[k * right.row_step + column * right.column_step];
        }
        if (finish.bias != nullptr) sum += finish.bias[column];
        sum = std::clamp<double>(sum, finish.lowest, finish.highest);
        ASSERT_NEAR(product[static_cast<size_t>(row * sizes.columns + column)], sum, 1e-4 * std::sqrt(sizes.depth))
            << sizes.rows << "x" << sizes.depth << "x" << sizes.columns << " at " << row << ", " << column << ", set "
            << static_cast<int>(set) << ", seed " << kProductSeed;
      }
    }
  }
}

TEST(MatrixProduct, EachEdgeOfATileIsRightInEachSetOfInstructions) {
  for (int64_t rows : {1, 3, 13, 27}) {
    for (int64_t columns : {1, 4, 5, 15, 16, 31, 32, 33, 63}) {
      for (bool turned : {false, true}) ExpectProduct({rows, 9, columns}, turned, {});
    }
  }
}

TEST(MatrixProduct, ADeepProductFinishesItsSumsOnce) {
  const std::vector<float> bias = RandomFloats(37, kProductSeed + 2);
  for (int64_t columns : {37, 16, 32}) ExpectProduct({14, 2300, columns}, false, {bias.data(), -20.0f, 30.0f});
}

TEST(MatrixProduct, RowsThatLieAPageApartAreReadRight) {
  ExpectProduct({30, 1024, 20}, false, {});
  ExpectProduct({30, 1536, 20}, false, {});
}

TEST(MatrixProduct, NanStaysNanThroughAClamp) {
  std::vector<float> a = RandomFloats(13 * 5, kProductSeed);
  const std::vector<float> b = RandomFloats(5 * 33, kProductSeed);
  a[7] = std::numeric_limits<float>::quiet_NaN();
  for (VectorSet set : kSets) {
    if (set > BestVectorSet()) continue;
    const std::vector<float> product =
        Multiply({a.data(), 5, 1}, {b.data(), 33, 1}, {13, 5, 33}, {nullptr, 0.0f, 6.0f}, set, 1);
    for (size_t k = 0; k < product.size(); ++k) EXPECT_EQ(std::isnan(product[k]), k / 33 == 1) << "element " << k;
  }
}

}  // namespace
}  // namespace hearth
