// Products of two matrices that other nodes make, or that XNNPACK's fully connected operator refuses.
#include <algorithm>
#include <vector>

#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/host_output.h"
#include "backends/cpu/host/quantized.h"
#include "backends/cpu/host/vectorized.h"
#include "backends/cpu/nodes/packed_constant.h"
#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/ops/broadcast.h"

namespace hearth {
namespace {

// A product of two lists of matrices, and the pairs that are multiplied.
struct Product {
  MatrixSizes sizes;
  bool adjoint_a = false, adjoint_b = false;
  struct Pair {
    int64_t a = 0, b = 0;
  };
  std::vector<Pair> pairs;  // in the order of the results
  int64_t b_count = 1;
  Activation activation = Activation::kNone;
};

int64_t LastDimension(const Shape& shape, int from_end) {
  return shape[shape.rank() - from_end];
}

Product ProductOf(const BatchMatMul& op, const Shape& a, const Shape& b, const Shape& out) {
  Product product;
  product.adjoint_a = op.adjoint_a;
  product.adjoint_b = op.adjoint_b;
  product.sizes = {LastDimension(out, 2), LastDimension(a, op.adjoint_a ? 2 : 1), LastDimension(out, 1)};
  const auto sizes = MatrixBatch(out).sizes;
  const int64_t matrices = int64_t{sizes[0]} * sizes[1] * sizes[2];
  product.b_count = b.element_count() / (LastDimension(b, 1) * LastDimension(b, 2));
  const bool a_is_dense = a.element_count() == matrices * LastDimension(a, 1) * LastDimension(a, 2);
  if (product.b_count == 1 && !op.adjoint_a && a_is_dense) {  // one tall matrix
    product.sizes.rows *= matrices;
    product.pairs = {{0, 0}};
    return product;
  }
  const auto a_steps = MatrixBatch(a).Steps(), b_steps = MatrixBatch(b).Steps();
  for (int32_t i = 0; i < sizes[0]; ++i) {
    for (int32_t j = 0; j < sizes[1]; ++j) {
      for (int32_t k = 0; k < sizes[2]; ++k) {
        product.pairs.push_back({i * a_steps[0] + j * a_steps[1] + k * a_steps[2],  //
                                 i * b_steps[0] + j * b_steps[1] + k * b_steps[2]});
      }
    }
  }
  return product;
}

Product ProductOf(const FullyConnected& op, const Shape& x, const Shape& weights) {
  Product product;
  product.adjoint_b = true;
  product.sizes = {x.element_count() / weights[1], weights[1], weights[0]};
  product.pairs = {{0, 0}};
  product.activation = op.activation;
  return product;
}

// A node's operand as floats.
struct Operand {
  std::shared_ptr<const SharedNumbers<float>> constant;
  std::span<const float> values;
};

Result<Operand> OperandOf(const HostNodeRequest& request, size_t position) {
  Operand operand;
  const ValueId value = position < request.node.inputs.size() ? request.node.inputs[position] : kNoValue;
  if (value == kNoValue) return operand;
  if (!request.graph.IsConstant(value)) {
    operand.values = request.arena.floats(value);
    return operand;
  }
  HEARTH_ASSIGN(operand.constant, SharedConstant<float>(request, value));
  operand.values = operand.constant->values;
  return operand;
}

MatrixView ViewOf(std::span<const float> values, int64_t number, int64_t rows, int64_t columns, bool adjoint) {
  const float* first = values.data() + number * rows * columns;
  return adjoint ? MatrixView{first, 1, rows} : MatrixView{first, columns, 1};
}

// Products of so few rows take as long as reading the right operand, which packing would read and write once more.
constexpr int64_t kFewRows = 4;

// Independent sums, so that no addition waits for another.
HEARTH_INTO_CALLER inline float SumOfProducts(const float* a, int64_t a_step, const float* b, int64_t b_step,
                                              int64_t count) {
  constexpr int kSums = 16;
  float sums[kSums] = {};
  int64_t k = 0;
  for (; k + kSums <= count; k += kSums) {
    for (int part = 0; part < kSums; ++part) sums[part] += a[(k + part) * a_step] * b[(k + part) * b_step];
  }
  for (; k < count; ++k) sums[0] += a[k * a_step] * b[k * b_step];
  for (int half = kSums / 2; half > 0; half /= 2) {
    for (int part = 0; part < half; ++part) sums[part] += sums[part + half];
  }
  return sums[0];
}

// Columns [first, last) of y, `rows` rows of `columns`, = a times b. What is read of b serves all rows.
HEARTH_INTO_CALLER inline void MultiplyRows(const MatrixView& a, const MatrixView& b, const MatrixSizes& sizes,
                                            int64_t first, int64_t last, float* __restrict y) {
  const auto& [rows, depth, columns] = sizes;
  if (b.column_step == 1) {
    for (int64_t r = 0; r < rows; ++r) std::fill(y + r * columns + first, y + r * columns + last, 0.0f);
    int64_t k = 0;
    for (; k + 4 <= depth; k += 4) {
      const float *b0 = b.data + k * b.row_step, *b1 = b0 + b.row_step, *b2 = b1 + b.row_step, *b3 = b2 + b.row_step;
      for (int64_t r = 0; r < rows; ++r) {
        const float* from = a.data + r * a.row_step + k * a.column_step;
        const float a0 = from[0], a1 = from[a.column_step], a2 = from[2 * a.column_step], a3 = from[3 * a.column_step];
        float* __restrict to = y + r * columns;
        for (int64_t c = first; c < last; ++c) to[c] = to[c] + a0 * b0[c] + a1 * b1[c] + a2 * b2[c] + a3 * b3[c];
      }
    }
    for (; k < depth; ++k) {
      const float* row = b.data + k * b.row_step;
      for (int64_t r = 0; r < rows; ++r) {
        const float factor = a.data[r * a.row_step + k * a.column_step];
        for (int64_t c = first; c < last; ++c) y[r * columns + c] += factor * row[c];
      }
    }
    return;
  }
  const bool are_dense = a.column_step == 1 && b.row_step == 1;
  for (int64_t c = first; c < last; ++c) {
    const float* column = b.data + c * b.column_step;
    for (int64_t r = 0; r < rows; ++r) {
      const float* row = a.data + r * a.row_step;
      y[r * columns + c] = are_dense ? SumOfProducts(row, 1, column, 1, depth)
                                     : SumOfProducts(row, a.column_step, column, b.row_step, depth);
    }
  }
}

// One column: a row of the transposed product, whose results lie in the same order.
bool IsTurned(const MatrixSizes& sizes) {
  return sizes.columns == 1 && sizes.rows > 1;
}

// A few rows, or a few columns as rows of the transposed product, times matrices that other nodes make.
std::unique_ptr<HostNode> FewRowsOf(const HostNodeRequest& request, const Product& product, Operand a) {
  struct Pair {
    MatrixView a, b;
    float* y;
  };
  MatrixSizes sizes = product.sizes;
  const auto& [rows, depth, columns] = product.sizes;
  const std::span<const float> b = request.arena.floats(request.node.inputs[1]);
  const HostOutput out(request);
  std::vector<Pair> pairs;
  float* to = out.floats().data();
  for (const Product::Pair& pair : product.pairs) {
    MatrixView left = ViewOf(a.values, pair.a, rows, depth, product.adjoint_a);
    MatrixView right = ViewOf(b, pair.b, depth, columns, product.adjoint_b);
    if (IsTurned(product.sizes)) {
      std::swap(left, right);
      std::swap(left.row_step, left.column_step);
      std::swap(right.row_step, right.column_step);
    }
    pairs.push_back({left, right, to});
    to += rows * columns;
  }
  if (IsTurned(product.sizes)) std::swap(sizes.rows, sizes.columns);
  return NodeOf(
      "rows times matrix",
      [a = std::move(a), pairs = std::move(pairs), sizes, out, &workers = request.workers] {
        constexpr int64_t kMostColumns = 1024;  // whose sums stay in the first cache
        const int64_t parts = Tiles(sizes.columns, kMostColumns);
        const int64_t work = sizes.rows * sizes.depth * std::min(sizes.columns, kMostColumns);
        workers.ForEachPart(ssize(pairs) * parts, kMinWorkForThreads / work + 1, [&](int64_t begin, int64_t end) {
          Vectorized<VectorSet::kAvx2>([&]() HEARTH_INTO_CALLER {  // memory is the bound
            for (int64_t task = begin; task < end; ++task) {
              const auto& [left, right, y] = pairs[static_cast<size_t>(task / parts)];
              const int64_t first = task % parts * kMostColumns;
              MultiplyRows(left, right, sizes, first, std::min(sizes.columns, first + kMostColumns), y);
            }
          });
        });
        out.Finish();
      },
      0);  // besides what nodes share
}

}  // namespace

Result<std::unique_ptr<HostNode>> MakeMatrixProductNode(const HostNodeRequest& request) {
  const Graph& graph = request.graph;
  const Node& node = request.node;
  const auto* batch = std::get_if<BatchMatMul>(&node.op);
  const auto* connected = std::get_if<FullyConnected>(&node.op);
  // If sums decide an index, only the reference's float64 sums choose as the network was checked with.
  if ((batch == nullptr && connected == nullptr) || request.decides_indices) return nullptr;
  for (const auto* list : {&node.inputs, &node.outputs}) {
    for (ValueId value : *list) {
      if (value == kNoValue) continue;
      const TensorDesc& desc = graph.value(value).desc;
      if (desc.shape.element_count() == 0) return nullptr;
      if (!graph.IsConstant(value) && HeldAs(desc).dtype != DType::kFloat32) return nullptr;
    }
  }
  HEARTH_ASSIGN(Operand a, OperandOf(request, 0));
  HEARTH_ASSIGN(Operand bias, OperandOf(request, 2));
  const Shape &a_shape = graph.value(node.inputs[0]).desc.shape, &b_shape = graph.value(node.inputs[1]).desc.shape;
  const Product product = batch != nullptr
                              ? ProductOf(*batch, a_shape, b_shape, graph.value(node.outputs[0]).desc.shape)
                              : ProductOf(*connected, a_shape, b_shape);
  const auto& [rows, depth, columns] = product.sizes;
  std::shared_ptr<const PackedMatrices> packed;
  // Right operands that another node makes, packed again in each run, into the program's scratch memory; else null.
  std::shared_ptr<PackedMatrices> changing;
  std::vector<MatrixView> views;
  if (graph.IsConstant(node.inputs[1])) {
    const MatrixLayout layout{depth, columns, product.b_count, product.adjoint_b ? 1 : columns,
                              product.adjoint_b ? depth : 1};
    HEARTH_ASSIGN(const PackedFloats constant, PackedConstant(request, node.inputs[1], layout));
    packed = constant.matrices;
  } else {
    const bool is_plain = bias.values.empty() && product.activation == Activation::kNone;
    if (is_plain && (rows <= kFewRows || IsTurned(product.sizes))) return FewRowsOf(request, product, std::move(a));
    const std::span<const float> values = request.arena.floats(node.inputs[1]);
    packed = changing = std::make_shared<PackedMatrices>(depth, columns, product.b_count);
    request.arena.NeedScratch(packed->bytes());
    for (int64_t k = 0; k < product.b_count; ++k) views.push_back(ViewOf(values, k, depth, columns, product.adjoint_b));
  }
  const ActivationParts activation = ActivationPartsOf(product.activation);
  const ProductFinish finish{bias.values.empty() ? nullptr : bias.values.data(), activation.lowest, activation.highest};
  const HostOutput out(request, activation.rest);
  std::vector<MatrixPair> pairs;
  float* to = out.floats().data();
  for (const Product::Pair& pair : product.pairs) {
    pairs.push_back({ViewOf(a.values, pair.a, rows, depth, product.adjoint_a), pair.b, to});
    to += rows * columns;
  }
  return NodeOf(
      "matrix product",
      [a = std::move(a), bias = std::move(bias), count = product.sizes.rows, packed, changing, views = std::move(views),
       pairs = std::move(pairs), finish, out, &arena = request.arena, &workers = request.workers] {
        if (changing != nullptr) {
          changing->PackInto(arena.scratch());
          changing->Pack(views, workers);
        }
        packed->Multiply(pairs, count, finish, workers);
        out.Finish();
      },
      0);  // besides what nodes share
}

}  // namespace hearth
