#include "core/ops/elementwise.h"

#include <algorithm>
#include <array>

#include "core/ops/elementwise_table.h"
#include "core/ops/node_inference.h"

namespace hearth {
namespace {

// Dimension `i`, counted from the left of a shape of `rank` >= shape.rank(), padded with ones on the left.
int32_t DimOf(const Shape& shape, int rank, int i) {
  const int own = i - (rank - shape.rank());
  return own < 0 ? 1 : shape[own];
}

// How far to go in a broadcast tensor for one step along each dimension of the result (0 where it repeats).
std::array<int64_t, Shape::kMaxRank> BroadcastStrides(const Shape& shape, int rank) {
  std::array<int64_t, Shape::kMaxRank> strides{};
  int64_t stride = 1;
  for (int i = rank - 1; i >= 0; --i) {
    const int32_t dim = DimOf(shape, rank, i);
    strides[i] = dim == 1 ? 0 : stride;
    stride *= dim;
  }
  return strides;
}

Status CheckBinaryTypes(const NodeInference& inference, const BinaryRow& row) {
  const DType a = inference.input(0).dtype, b = inference.input(1).dtype;
  if (a != b) {
    return inference.Fail(StatusCode::kMalformedInput, "the inputs' types differ: {} and {}", DTypeName(a),
                          DTypeName(b));
  }
  const bool integers = (a == DType::kInt32 || a == DType::kInt64) && !inference.input(0).quantization;
  if (integers && row.exact_on_integers) return Status::Ok();
  HEARTH_TRY(inference.CheckReal(0));
  return inference.CheckReal(1);
}

}  // namespace

Status InferUnary(Graph& graph, const Node& node) {
  const NodeInference inference(graph, node);
  HEARTH_TRY(inference.CheckOperands(1));
  // A copy moves any type.
  if (std::get<Unary>(node.op).kind != UnaryKind::kCopy) HEARTH_TRY(inference.CheckReal(0));
  return inference.SetOutput(0, inference.shape(0));
}

void ReferenceUnary(const Node& node, std::span<const ReferenceTensor* const> inputs,
                    std::span<ReferenceTensor> outputs) {
  const auto& unary = std::get<Unary>(node.op);
  const auto function = RowOf(unary.kind).function;
  const double alpha = unary.alpha;
  std::transform(inputs[0]->values.begin(), inputs[0]->values.end(), outputs[0].values.begin(),
                 [=](double v) { return function(v, alpha); });
}

Status InferBinary(Graph& graph, const Node& node) {
  const NodeInference inference(graph, node);
  HEARTH_TRY(inference.CheckOperands(2));
  HEARTH_TRY(CheckBinaryTypes(inference, RowOf(std::get<Binary>(node.op).kind)));
  const Shape& a = inference.shape(0);
  const Shape& b = inference.shape(1);
  const int rank = std::max(a.rank(), b.rank());
  std::array<int64_t, Shape::kMaxRank> dims{};
  for (int i = 0; i < rank; ++i) {
    const int32_t dim_a = DimOf(a, rank, i), dim_b = DimOf(b, rank, i);
    if (dim_a != dim_b && dim_a != 1 && dim_b != 1) {
      return inference.Fail(StatusCode::kMalformedInput, "the inputs' shapes {} and {} can't be broadcast together",
                            a.ToString(), b.ToString());
    }
    dims[i] = std::max(dim_a, dim_b);
  }
  return inference.SetOutput(0, std::span<const int64_t>(dims.data(), rank));
}

void ReferenceBinary(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs) {
  const auto& binary = std::get<Binary>(node.op);
  const auto function = RowOf(binary.kind).function;
  ReferenceTensor& out = outputs[0];
  const int rank = out.shape.rank();
  const auto strides_a = BroadcastStrides(inputs[0]->shape, rank);
  const auto strides_b = BroadcastStrides(inputs[1]->shape, rank);
  std::array<int32_t, Shape::kMaxRank> position{};  // of the output element
  int64_t a = 0, b = 0;                             // of the input elements
  for (double& result : out.values) {
    result = function(inputs[0]->values[a], inputs[1]->values[b]);
    for (int i = rank - 1; i >= 0; --i) {  // the next position: add one with carry
      a += strides_a[i];
      b += strides_b[i];
      if (++position[i] < out.shape[i]) break;
      a -= strides_a[i] * out.shape[i];
      b -= strides_b[i] * out.shape[i];
      position[i] = 0;
    }
  }
  ApplyActivation(binary.activation, out.values);
}

}  // namespace hearth
