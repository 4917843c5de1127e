#include "frontends/tflite/operator_view.h"

#include <algorithm>
#include <limits>

#include "core/base/contains.h"
#include "core/graph/element.h"
#include "core/graph/evaluate.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

// Whether the operator's weights may have 8 bits where its data is float.
bool TakesHybridWeights(const OperatorRow& row) {
  constexpr std::string_view kNames[] = {"CONV_2D",
                                         "DEPTHWISE_CONV_2D",
                                         "TRANSPOSE_CONV",
                                         "FULLY_CONNECTED",
                                         "BATCH_MATMUL",
                                         "EMBEDDING_LOOKUP",
                                         "RNN",
                                         "UNIDIRECTIONAL_SEQUENCE_RNN",
                                         "BIDIRECTIONAL_SEQUENCE_RNN",
                                         "LSTM",
                                         "UNIDIRECTIONAL_SEQUENCE_LSTM",
                                         "BIDIRECTIONAL_SEQUENCE_LSTM",
                                         "SVDF"};
  return Contains(kNames, row.name);
}

}  // namespace

Result<std::vector<int32_t>> OperatorView::ConstantIntegers(int i, size_t most) const {
  HEARTH_ASSIGN(const TensorDesc desc, DescribeInput(i));
  HEARTH_ASSIGN(const std::span<const std::byte> bytes, tensors_.DenseConstantBytes(inputs_[i]));
  if (desc.dtype != DType::kInt32 && desc.dtype != DType::kInt64 && desc.dtype != DType::kInt16) {
    return Error(StatusCode::kMalformedInput, "{} is {} where integers belong", InputLabel(i), DTypeName(desc.dtype));
  }
  const int64_t count = desc.shape.element_count();
  if (count == 0) return std::vector<int32_t>();
  if (bytes.empty()) return Error(StatusCode::kUnsupported, "{}", tensors_.WhyNotConstant(inputs_[i]));
  if (count < 0 || static_cast<size_t>(count) > most) {
    return Error(StatusCode::kMalformedInput, "{} lists {} numbers; at most {} are possible", InputLabel(i), count,
                 most);
  }
  std::vector<int32_t> numbers;
  for (int64_t k = 0; k < count; ++k) {
    const double number = LoadElement(desc.dtype, bytes, k);
    if (number < std::numeric_limits<int32_t>::min() || number > std::numeric_limits<int32_t>::max()) {
      return Error(StatusCode::kMalformedInput, "{} holds {:.0f}, which does not fit 32 bits", InputLabel(i), number);
    }
    numbers.push_back(static_cast<int32_t>(number));
  }
  return numbers;
}

Result<int32_t> OperatorView::ConstantInteger(int i) const {
  HEARTH_ASSIGN(const std::vector<int32_t> numbers, ConstantIntegers(i));
  if (numbers.size() == 1) return numbers[0];
  return Error(StatusCode::kMalformedInput, "{} numbers in {} where one belongs", numbers.size(), InputLabel(i));
}

Result<int32_t> OperatorView::ConstantAxis(int i, int rank) const {
  HEARTH_ASSIGN(const int32_t axis, ConstantInteger(i));
  return ResolveAxis(axis, rank);
}

Result<double> OperatorView::ConstantReal(int i) const {
  HEARTH_ASSIGN(const TensorDesc desc, DescribeInput(i));
  HEARTH_ASSIGN(const std::span<const std::byte> bytes, tensors_.DenseConstantBytes(inputs_[i]));
  if (desc.shape.element_count() != 1) {
    return Error(StatusCode::kMalformedInput, "{} of shape {} is given where one number is needed", InputLabel(i),
                 desc.shape.ToString());
  }
  if (bytes.empty()) return Error(StatusCode::kUnsupported, "{}", tensors_.WhyNotConstant(inputs_[i]));
  if (!AreKept(desc, bytes, Made64::kMoved)) {
    return Error(StatusCode::kUnsupported, "{} is a number of more digits than float64 has: use one below 2^53",
                 InputLabel(i));
  }
  HEARTH_ASSIGN(const ReferenceTensor number, ReferenceFromBytes(desc, bytes));
  return number.values[0];
}

Result<std::vector<int32_t>> OperatorView::CodesOf(int32_t subgraph, size_t most) const {
  HEARTH_ASSIGN(const wire::SubGraph* called, CalledSubgraph(reading_, subgraph));
  std::vector<int32_t> codes;
  if (called->operators() == nullptr) return codes;
  if (called->operators()->size() > most) {
    return Error(StatusCode::kUnsupported, "subgraph {}, which it calls, has {} operators; at most {} are possible",
                 subgraph, called->operators()->size(), most);
  }
  for (const wire::Operator* op : *called->operators()) codes.push_back(reading_.CodeOf(*op));
  return codes;
}

Status OperatorView::MakeOperands() {
  for (const int32_t tensor : inputs_) {
    HEARTH_ASSIGN(const ValueId value, tensor == -1 ? Made(kNoValue) : OperandOf(tensor, false));
    operands_.push_back(value);
  }
  return Status::Ok();
}

Made OperatorView::OperandOf(int32_t tensor, bool takes_stored) const {
  HEARTH_ASSIGN(const ValueId value, tensors_.OperandOf(tensor, takes_stored));
  const TensorDesc& desc = to().desc(value);
  // What an operator of its own dequantizes has the meaning that the file gives it.
  if (tensors_[tensor].is_real_view || !IsQuantized(desc) || BitsOf(desc.dtype) != 8) return value;
  const std::vector<int64_t>& zero_points = desc.quantization->zero_points;
  const bool is_symmetric = std::ranges::all_of(zero_points, [](int64_t number) { return number == 0; });
  if ((desc.dtype == DType::kInt8 && is_symmetric) || !TakesHybridWeights(*code().row) || output_count() == 0) {
    return value;
  }
  HEARTH_ASSIGN(const TensorDesc made, DescribeOutput(0));
  if (!IsPlainFloat32(made)) return value;
  if (!to().IsConstant(value)) {
    return Error(StatusCode::kUnsupported,
                 "its 8-bit weights {} are made at run time, and are not int8 with zero point 0, as its kernels in "
                 "TFLite read them",
                 tensors_.Label(tensor));
  }
  return to().AddSymmetric(value);
}

Result<TensorDesc> OperatorView::DescribeOutput(int i) const {
  if (i < output_count()) return tensors_.Describe(output(i));
  return Error(StatusCode::kMalformedInput, "it has {} outputs", output_count());
}

Result<Activation> ReadActivation(wire::ActivationFunctionType activation) {
  constexpr Activation kKnown[] = {Activation::kNone, Activation::kRelu, Activation::kReluN1To1, Activation::kRelu6,
                                   Activation::kTanh};
  if (activation >= 0 && activation <= wire::ActivationFunctionType_TANH) return kKnown[activation];
  if (activation == wire::ActivationFunctionType_SIGN_BIT)
    return Error(StatusCode::kUnsupported, "no fused activation SIGN_BIT here");
  return Error(StatusCode::kMalformedInput, "there is no fused activation {}", static_cast<int>(activation));
}

Result<int32_t> ResolveAxis(int32_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    return Error(StatusCode::kMalformedInput, "axis {} does not exist in a tensor of rank {}", axis, rank);
  }
  return axis < 0 ? axis + rank : axis;
}

Result<uint32_t> ResolveAxes(std::span<const int32_t> axes, int rank) {
  uint32_t mask = 0;
  for (const int32_t axis : axes) {
    HEARTH_ASSIGN(const int32_t resolved, ResolveAxis(axis, rank));
    mask |= 1u << resolved;
  }
  return mask;
}

}  // namespace hearth
