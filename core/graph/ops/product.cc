#include <algorithm>
#include <vector>

#include "core/graph/ops/broadcast.h"
#include "core/graph/ops/elementwise_table.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"

namespace hearth {
namespace {

// A matrix within a tensor, read as [rows, columns] even if it is stored transposed.
struct MatrixView {
  MatrixView(const ReferenceTensor& tensor, bool adjoint) {
    const Shape& shape = tensor.shape;
    const int64_t lines = shape[shape.rank() - 2], line = shape[shape.rank() - 1];
    data = tensor.values.data();
    size = lines * line;
    row_step = adjoint ? 1 : line;
    column_step = adjoint ? line : 1;
  }
  double at(int64_t matrix, int64_t row, int64_t column) const {
    return data[matrix * size + row * row_step + column * column_step];
  }

  const double* data;
  int64_t size, row_step, column_step;
};

Status CheckMatrices(const NodeInference& inference) {
  for (size_t i : {0, 1}) {
    HEARTH_TRY(inference.CheckReal(i));
    const int rank = inference.shape(i).rank();
    if (rank < 2 || rank > 2 + MatrixBatch::kDims) {
      return inference.Malformed("input {} has rank {} (shape {}), needs rank 2 to {}", i, rank, inference.shape(i),
                                 2 + MatrixBatch::kDims);
    }
  }
  return Status::Ok();
}

}  // namespace

MatrixBatch::MatrixBatch(const Shape& shape) {
  const int leading = shape.rank() - 2;
  for (int d = 0; d < leading; ++d) sizes[kDims - leading + d] = shape[d];
}

std::array<int64_t, MatrixBatch::kDims> MatrixBatch::Steps() const {
  std::array<int64_t, kDims> steps = {};
  int64_t step = 1;
  for (int d = kDims - 1; d >= 0; --d) {
    steps[d] = sizes[d] == 1 ? 0 : step;
    step *= sizes[d];
  }
  return steps;
}

Status InferBatchMatMul(const NodeInference& inference) {
  const auto& product = inference.op<BatchMatMul>();
  HEARTH_TRY(CheckMatrices(inference));
  const TensorDesc& declared = inference.output(0);
  if (declared.dtype == DType::kInt32 && !declared.quantization.has_value())
    return inference.Unsupported("a product of quantized matrices as plain int32 can't be run");
  const Shape &a = inference.shape(0), &b = inference.shape(1);
  const int32_t* a_last = &a.dims()[a.rank() - 2];
  const int32_t* b_last = &b.dims()[b.rank() - 2];
  const int32_t rows = a_last[product.adjoint_a ? 1 : 0], depth_a = a_last[product.adjoint_a ? 0 : 1];
  const int32_t columns = b_last[product.adjoint_b ? 0 : 1], depth_b = b_last[product.adjoint_b ? 1 : 0];
  if (depth_a != depth_b) {
    return inference.Malformed("{}{} times {}{}: sums over {} and {} elements", a,
                               product.adjoint_a ? " (adjoint)" : "", b, product.adjoint_b ? " (adjoint)" : "", depth_a,
                               depth_b);
  }
  const MatrixBatch batch_a(a), batch_b(b);
  const int rank = std::max(a.rank(), b.rank());
  std::vector<int64_t> dims;
  for (int d = MatrixBatch::kDims - (rank - 2); d < MatrixBatch::kDims; ++d) {
    const int32_t size_a = batch_a.sizes[d], size_b = batch_b.sizes[d];
    if (size_a != size_b && size_a != 1 && size_b != 1)
      return inference.Malformed("the leading dimensions of {} and {} don't go together", a, b);
    dims.push_back(size_a == 1 ? size_b : size_a);  // which may be 0
  }
  dims.insert(dims.end(), {rows, columns});
  return inference.SetOutput(0, dims);
}

void ReferenceBatchMatMul(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& product = std::get<BatchMatMul>(node.op);
  const Shape& a_shape = inputs[0]->shape;
  const Shape& out = outputs[0].shape;
  const int64_t rows = out[out.rank() - 2], columns = out[out.rank() - 1];
  const int64_t depth = a_shape[a_shape.rank() - (product.adjoint_a ? 2 : 1)];
  const MatrixView a(*inputs[0], product.adjoint_a), b(*inputs[1], product.adjoint_b);
  const auto sizes = MatrixBatch(out).sizes;
  const auto a_steps = MatrixBatch(a_shape).Steps(), b_steps = MatrixBatch(inputs[1]->shape).Steps();
  double* line = outputs[0].values.data();
  const int64_t matrices = int64_t{sizes[0]} * sizes[1] * sizes[2];
  for (int64_t matrix = 0; matrix < matrices; ++matrix) {
    const int64_t at[] = {matrix / sizes[2] / sizes[1], matrix / sizes[2] % sizes[1], matrix % sizes[2]};
    int64_t a_matrix = 0, b_matrix = 0;
    for (int d = 0; d < MatrixBatch::kDims; ++d) {
      a_matrix += at[d] * a_steps[d];
      b_matrix += at[d] * b_steps[d];
    }
    for (int64_t row = 0; row < rows; ++row, line += columns) {
      for (int64_t k = 0; k < depth; ++k) {
        const double factor = a.at(a_matrix, row, k);
        for (int64_t column = 0; column < columns; ++column) line[column] += factor * b.at(b_matrix, k, column);
      }
    }
  }
}

Status InferFullyConnected(const NodeInference& inference) {
  const auto& fully_connected = inference.op<FullyConnected>();
  HEARTH_TRY(inference.CheckReal(0));
  HEARTH_TRY(inference.CheckReal(1));
  HEARTH_TRY(inference.CheckRank(1, 2));
  const Shape& in = inference.shape(0);
  const Shape& filter = inference.shape(1);
  const int32_t outputs = filter[0], depth = filter[1];
  if (inference.HasInput(2)) HEARTH_TRY(inference.CheckBias(2, outputs));
  if (fully_connected.keep_dims) {
    if (in.rank() < 1 || in[in.rank() - 1] != depth)
      return inference.Malformed("the input's last dimension ({}) differs from the filter's {}", in, depth);
    Shape out = in;
    out[in.rank() - 1] = outputs;
    return inference.SetOutput(0, out);
  }
  // Without keep_dims TFLite flattens the input of any shape into rows.
  if (depth == 0 || in.element_count() % depth != 0) {
    return inference.Malformed("the input's {} elements ({}) are not a multiple of the filter's {}", in.element_count(),
                               in, depth);
  }
  return inference.SetOutput(0, {in.element_count() / depth, outputs});
}

void ReferenceFullyConnected(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const ReferenceTensor& filter = *inputs[1];
  const int64_t out_count = filter.shape[0], depth = filter.shape[1];
  const int64_t rows = static_cast<int64_t>(inputs[0]->values.size()) / depth;
  const ReferenceTensor* bias = inputs.size() > 2 ? inputs[2] : nullptr;
  double* out = outputs[0].values.data();
  for (int64_t row = 0; row < rows; ++row) {
    const double* in = &inputs[0]->values[row * depth];
    for (int64_t o = 0; o < out_count; ++o) {
      const double* weights = &filter.values[o * depth];
      double sum = bias != nullptr ? bias->values[o] : 0.0;
      for (int64_t k = 0; k < depth; ++k) sum += in[k] * weights[k];
      *out++ = sum;
    }
  }
  ApplyActivation(std::get<FullyConnected>(node.op).activation, outputs[0].values);
}

}  // namespace hearth
