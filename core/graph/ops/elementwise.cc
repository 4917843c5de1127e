#include <algorithm>

#include "core/graph/element.h"
#include "core/graph/op_def.h"
#include "core/graph/ops/broadcast.h"
#include "core/graph/ops/elementwise_table.h"
#include "core/graph/ops/op_functions.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

Status CheckBool(const NodeInference& inference, size_t i) {
  if (inference.input(i).dtype == DType::kBool) return Status::Ok();
  return inference.Unsupported("input {} is {}; only bool can be run here", i, DTypeName(inference.input(i).dtype));
}

// Whether the row's operation supports the type of input `i`.
template <typename Row>
Status CheckOperandType(const NodeInference& inference, size_t i, const Row& row) {
  const TensorDesc& desc = inference.input(i);
  if (row.rule == ElementRule::kLogical) return CheckBool(inference, i);
  if (row.rule == ElementRule::kCompared && desc.dtype == DType::kBool) return Status::Ok();
  if (!IsReal(desc) && desc.dtype != DType::kInt4 && !row.integer_text.empty()) return Status::Ok();
  if (!row.text.empty()) return inference.CheckReal(i);
  return inference.Unsupported("input {} is not of a plain integer type, which alone can be run here", i);
}

Status CheckSameTypes(const NodeInference& inference, size_t a, size_t b) {
  const TensorDesc& first = inference.input(a);
  const TensorDesc& second = inference.input(b);
  if (first.dtype == second.dtype && IsReal(first) == IsReal(second)) return Status::Ok();
  return inference.Malformed("the inputs' types differ: {} and {}", DTypeName(first.dtype), DTypeName(second.dtype));
}

template <typename Row>
Status SetResultType(const NodeInference& inference, const Row& row) {
  if (row.rule == ElementRule::kCompared) {
    inference.SetOutputType(0, DType::kBool);
    return Status::Ok();
  }
  if (row.rule != ElementRule::kConverted) return inference.SetOutputTypeOf(0, 0);
  const TensorDesc& out = inference.output(0);
  if (IsReal(out) && out.dtype != DType::kBool) return Status::Ok();
  return inference.Malformed("its output is {} without a quantization", DTypeName(out.dtype));
}

// out[i] = function(a, b), with a and b broadcast to the output.
template <typename Function>
void ForEachPair(const ReferenceTensor& lhs, const ReferenceTensor& rhs, ReferenceTensor& out, Function function) {
  BroadcastCursor a(lhs.shape, out.shape), b(rhs.shape, out.shape);
  const size_t row = a.row();
  for (size_t first = 0; first < out.values.size(); first += row) {
    const double *from_a = lhs.values.data() + a.at(), *from_b = rhs.values.data() + b.at();
    for (size_t k = 0; k < row; ++k, from_a += a.step(), from_b += b.step()) {
      out.values[first + k] = function(*from_a, *from_b);
    }
    a.NextRow();
    b.NextRow();
  }
}

double Wrapped(DType dtype, int64_t number) {
  if (dtype == DType::kUInt64) return static_cast<double>(static_cast<uint64_t>(number));
  return static_cast<double>(WrapInteger(dtype, number));
}

}  // namespace

Status InferUnary(const NodeInference& inference) {
  const auto& unary = inference.op<Unary>();
  // A copy supports every type.
  if (unary.kind == UnaryKind::kCopy) return inference.SetOutput(0, inference.shape(0));
  HEARTH_TRY(CheckOperandType(inference, 0, RowOf(unary.kind)));
  HEARTH_TRY(SetResultType(inference, RowOf(unary.kind)));
  return inference.SetOutput(0, inference.shape(0));
}

void ReferenceUnary(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& unary = std::get<Unary>(node.op);
  const UnaryRow& row = RowOf(unary.kind);
  const std::vector<double>& in = inputs[0]->values;
  if (outputs[0].integers.has_value() && row.integer_function != nullptr) {
    const DType dtype = *outputs[0].integers;
    std::transform(in.begin(), in.end(), outputs[0].values.begin(),
                   [&](double v) { return Wrapped(dtype, row.integer_function(ToInt64(v))); });
    return;
  }
  const double alpha = unary.alpha;
  std::transform(in.begin(), in.end(), outputs[0].values.begin(), [&](double v) { return row.function(v, alpha); });
}

Status InferBinary(const NodeInference& inference) {
  const auto& binary = inference.op<Binary>();
  const BinaryRow& row = RowOf(binary.kind);
  HEARTH_TRY(CheckSameTypes(inference, 0, 1));
  HEARTH_TRY(CheckOperandType(inference, 0, row));
  HEARTH_TRY(SetResultType(inference, row));
  const bool has_real_result = row.rule == ElementRule::kNumbers && IsReal(inference.input(0));
  if (binary.activation != Activation::kNone && !has_real_result &&
      (row.rule != ElementRule::kNumbers || !ActivationBounds(binary.activation).has_value()))
    return inference.Unsupported("activation {} does not apply to its result", ActivationName(binary.activation));
  return SetBroadcastOutput(inference, 2);
}

void ReferenceBinary(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& binary = std::get<Binary>(node.op);
  const BinaryRow& row = RowOf(binary.kind);
  ReferenceTensor& out = outputs[0];
  if (out.integers.has_value() && row.integer_function != nullptr) {
    const DType dtype = *out.integers;
    ForEachPair(*inputs[0], *inputs[1], out, [&, bits = BitsOf(dtype)](double a, double b) {
      return Wrapped(dtype, row.integer_function(ToInt64(a), ToInt64(b), bits));
    });
  } else {
    ForEachPair(*inputs[0], *inputs[1], out, row.function);
  }
  ApplyActivation(binary.activation, out.values);
}

Status InferPRelu(const NodeInference& inference) {
  HEARTH_TRY(CheckSameTypes(inference, 0, 1));
  HEARTH_TRY(inference.CheckReal(0));
  HEARTH_TRY(inference.SetOutputTypeOf(0, 0));
  HEARTH_TRY(SetBroadcastOutput(inference, 2));
  const Shape& out = inference.output(0).shape;
  if (out == inference.shape(0)) return Status::Ok();
  return inference.Malformed("alpha has shape {}, which does not broadcast to the input's, {}", inference.shape(1),
                             inference.shape(0));
}

void ReferencePRelu(const Node&, ReferenceInputs inputs, ReferenceOutputs outputs) {
  ForEachPair(*inputs[0], *inputs[1], outputs[0], [](double v, double alpha) { return v < 0.0 ? alpha * v : v; });
}

Status InferAddN(const NodeInference& inference) {
  for (size_t k = 0; k < inference.node().inputs.size(); ++k) {
    HEARTH_TRY(CheckSameTypes(inference, 0, k));
    HEARTH_TRY(CheckOperandType(inference, k, RowOf(BinaryKind::kAdd)));
    if (inference.shape(k) == inference.shape(0)) continue;
    return inference.Malformed("input {} has shape {}, but input 0 {}", k, inference.shape(k), inference.shape(0));
  }
  HEARTH_TRY(inference.SetOutputTypeOf(0, 0));
  return inference.SetOutput(0, inference.shape(0));
}

void ReferenceAddN(const Node&, ReferenceInputs inputs, ReferenceOutputs outputs) {
  std::vector<double>& out = outputs[0].values;
  for (const ReferenceTensor* input : inputs) {
    std::transform(out.begin(), out.end(), input->values.begin(), out.begin(), std::plus<>());
  }
  if (!outputs[0].integers.has_value()) return;
  for (double& sum : out) sum = Wrapped(*outputs[0].integers, ToInt64(sum));
}

}  // namespace hearth
