#include "core/graph/ops/broadcast.h"

#include <algorithm>

#include "core/graph/op_def.h"
#include "core/graph/ops/op_functions.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

// Dimension `i`, counted from the left of a shape of `rank` >= shape.rank(), padded with ones on the left.
int32_t DimOf(const Shape& shape, int rank, int i) {
  const int own = i - (rank - shape.rank());
  return own < 0 ? 1 : shape[own];
}

// Checks (condition, a, b): bool, and two tensors of the output's type.
Status CheckSelectTypes(const NodeInference& inference) {
  const TensorDesc& a = inference.input(1);
  const TensorDesc& b = inference.input(2);
  if (inference.input(0).dtype != DType::kBool)
    return inference.Unsupported("its condition is {}, not bool", DTypeName(inference.input(0).dtype));
  if (a.dtype != b.dtype || IsReal(a) != IsReal(b) || a.dtype == DType::kInt4) {
    return inference.Malformed("can't choose between elements of types {} and {}", DTypeName(a.dtype),
                               DTypeName(b.dtype));
  }
  return inference.SetOutputTypeOf(0, 1);
}

}  // namespace

Status SetBroadcastOutput(const NodeInference& inference, size_t inputs) {
  int rank = 0;
  for (size_t k = 0; k < inputs; ++k) rank = std::max(rank, inference.shape(k).rank());
  std::array<int64_t, Shape::kMaxRank> dims{};
  dims.fill(1);
  for (size_t k = 0; k < inputs; ++k) {
    for (int i = 0; i < rank; ++i) {
      const int32_t dim = DimOf(inference.shape(k), rank, i);
      if (dim == dims[i] || dim == 1) continue;
      if (dims[i] != 1) {
        return inference.Malformed("the inputs' shapes {} and {} can't be broadcast together", inference.shape(0),
                                   inference.shape(k));
      }
      dims[i] = dim;
    }
  }
  return inference.SetOutput(0, std::span<const int64_t>(dims.data(), static_cast<size_t>(rank)));
}

BroadcastCursor::BroadcastCursor(const Shape& operand, const Shape& out) : out_(out) {
  int64_t stride = 1;
  for (int i = out.rank() - 1; i >= 0; --i) {
    const int32_t dim = DimOf(operand, out.rank(), i);
    strides_[i] = dim == 1 ? 0 : stride;
    stride *= dim;
  }
  if (out.rank() == 0) return;
  step_ = strides_[out.rank() - 1];
  row_ = static_cast<size_t>(out[out.rank() - 1]);
}

void BroadcastCursor::NextRow() {
  for (int i = out_.rank() - 2; i >= 0; --i) {  // adds one with carry
    at_ += strides_[i];
    if (++position_[i] < out_[i]) return;
    at_ -= strides_[i] * out_[i];
    position_[i] = 0;
  }
}

Status InferSelect(const NodeInference& inference) {
  HEARTH_TRY(CheckSelectTypes(inference));
  return SetBroadcastOutput(inference, 3);
}

void ReferenceSelect(const Node&, ReferenceInputs inputs, ReferenceOutputs outputs) {
  ReferenceTensor& out = outputs[0];
  std::array<BroadcastCursor, 3> cursors = {BroadcastCursor(inputs[0]->shape, out.shape),
                                            BroadcastCursor(inputs[1]->shape, out.shape),
                                            BroadcastCursor(inputs[2]->shape, out.shape)};
  const size_t row = cursors[0].row();
  for (size_t first = 0; first < out.values.size(); first += row) {
    for (size_t k = 0; k < row; ++k) {
      const auto element = [&](size_t operand) {
        const BroadcastCursor& cursor = cursors[operand];
        return inputs[operand]->values[static_cast<size_t>(cursor.at() + static_cast<int64_t>(k) * cursor.step())];
      };
      out.values[first + k] = element(0) != 0.0 ? element(1) : element(2);
    }
    for (BroadcastCursor& cursor : cursors) cursor.NextRow();
  }
}

Status InferSelectRows(const NodeInference& inference) {
  HEARTH_TRY(CheckSelectTypes(inference));
  const Shape& condition = inference.shape(0);
  const Shape& a = inference.shape(1);
  if (a != inference.shape(2)) {
    return inference.Malformed("can't choose between tensors of shapes {} and {}", a, inference.shape(2));
  }
  if (condition.rank() != 1 || a.rank() == 0 || condition[0] != a[0]) {
    return inference.Malformed("its condition has shape {}, not an element for each row of {}", condition, a);
  }
  return inference.SetOutput(0, a);
}

void ReferenceSelectRows(const Node&, ReferenceInputs inputs, ReferenceOutputs outputs) {
  std::vector<double>& out = outputs[0].values;
  const size_t row_size = out.size() / inputs[0]->values.size();
  for (size_t k = 0; k < out.size(); ++k) {
    out[k] = inputs[inputs[0]->values[k / row_size] != 0.0 ? 1 : 2]->values[k];
  }
}

}  // namespace hearth
