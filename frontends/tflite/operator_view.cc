#include "frontends/tflite/operator_view.h"

#include <cstring>
#include <limits>

#include "core/graph/element.h"
#include "core/graph/evaluate.h"

namespace hearth {
namespace {

template <typename T>
Result<std::vector<int32_t>> Narrowed(std::span<const std::byte> bytes, const std::string& label) {
  std::vector<int32_t> numbers(bytes.size() / sizeof(T));
  for (size_t i = 0; i < numbers.size(); ++i) {
    T number;
    std::memcpy(&number, bytes.data() + i * sizeof(T), sizeof(T));
    if (number < std::numeric_limits<int32_t>::min() || number > std::numeric_limits<int32_t>::max()) {
      return Error(StatusCode::kMalformedInput, "{} holds {}, which does not fit 32 bits", label, number);
    }
    numbers[i] = static_cast<int32_t>(number);
  }
  return numbers;
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
  if (desc.dtype == DType::kInt16) return Narrowed<int16_t>(bytes, InputLabel(i));
  return desc.dtype == DType::kInt32 ? Narrowed<int32_t>(bytes, InputLabel(i))
                                     : Narrowed<int64_t>(bytes, InputLabel(i));
}

Result<std::optional<double>> OperatorView::ConstantNumber(int i) const {
  HEARTH_ASSIGN(const TensorDesc desc, DescribeInput(i));
  HEARTH_ASSIGN(const std::span<const std::byte> bytes, tensors_.DenseConstantBytes(inputs_[i]));
  if (bytes.empty()) return std::optional<double>();
  if (desc.shape.element_count() != 1) {
    return Error(StatusCode::kMalformedInput, "{} of shape {} is given where one number is needed", InputLabel(i),
                 desc.shape.ToString());
  }
  return std::optional(LoadElement(desc.dtype, bytes, 0));
}

Result<double> OperatorView::ConstantReal(int i) const {
  HEARTH_ASSIGN(const TensorDesc desc, DescribeInput(i));
  HEARTH_ASSIGN(const std::span<const std::byte> bytes, tensors_.DenseConstantBytes(inputs_[i]));
  if (desc.shape.element_count() != 1) {
    return Error(StatusCode::kMalformedInput, "{} of shape {} is given where one number is needed", InputLabel(i),
                 desc.shape.ToString());
  }
  if (bytes.empty()) return Error(StatusCode::kUnsupported, "{}", tensors_.WhyNotConstant(inputs_[i]));
  if (!AreKept(desc, bytes, false)) {
    return Error(StatusCode::kUnsupported, "{} is a number of more digits than float64 has: use one below 2^53",
                 InputLabel(i));
  }
  HEARTH_ASSIGN(const ReferenceTensor number, ReferenceFromBytes(desc, bytes));
  return number.values[0];
}

Result<Activation> ReadActivation(wire::ActivationFunctionType activation) {
  switch (activation) {
    case wire::ActivationFunctionType_NONE: return Activation::kNone;
    case wire::ActivationFunctionType_RELU: return Activation::kRelu;
    case wire::ActivationFunctionType_RELU_N1_TO_1: return Activation::kReluN1To1;
    case wire::ActivationFunctionType_RELU6: return Activation::kRelu6;
    case wire::ActivationFunctionType_TANH: return Activation::kTanh;
    case wire::ActivationFunctionType_SIGN_BIT:
      return Error(StatusCode::kUnsupported, "no fused activation SIGN_BIT here");
  }
  return Error(StatusCode::kMalformedInput, "there is no fused activation {}", static_cast<int>(activation));
}

Result<int32_t> ResolveAxis(int32_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    return Error(StatusCode::kMalformedInput, "axis {} does not exist in a tensor of rank {}", axis, rank);
  }
  return axis < 0 ? axis + rank : axis;
}

}  // namespace hearth
