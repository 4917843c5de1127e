#include "backends/cpu/host/host_operand.h"

#include <cstring>

#include "backends/cpu/host/quantized.h"
#include "core/base/error.h"
#include "core/graph/evaluate.h"

namespace hearth {
namespace {

// A copy of a constant's bytes that is aligned for every type.
std::shared_ptr<const SharedNumbers<double>> AlignedConstant(const HostNodeRequest& request, ValueId constant) {
  WeightsKey key("aligned");
  key.Add(request.graph, constant);
  request.weights.NoteShared(constant);
  return request.weights.FindOrMake<SharedNumbers<double>>(key, [&] {
    const OrderedBytes stored = request.graph.ReadConstant(constant);
    const std::span<const std::byte> bytes = stored.bytes;
    SharedNumbers<double> copy{std::vector<double>((bytes.size() + sizeof(double) - 1) / sizeof(double))};
    std::memcpy(copy.values.data(), bytes.data(), bytes.size());
    return copy;
  });
}

}  // namespace

template <>
Result<std::vector<float>> ConstantAs<float>(const Graph& graph, ValueId constant) {
  return ConstantAsFloats(graph, constant);
}
template <>
Result<std::vector<double>> ConstantAs<double>(const Graph& graph, ValueId constant) {
  HEARTH_ASSIGN(ReferenceTensor tensor,
                ReferenceFromBytes(graph.value(constant).desc, graph.ReadConstant(constant).bytes));
  return std::move(tensor.values);
}

template <typename Number>
Result<std::shared_ptr<const SharedNumbers<Number>>> SharedConstant(const HostNodeRequest& request, ValueId constant) {
  request.weights.NoteShared(constant);
  WeightsKey key("numbers");
  key.Add(request.graph, constant).Add(sizeof(Number));
  return request.weights.FindOrTry<SharedNumbers<Number>>(key, [&]() -> Result<SharedNumbers<Number>> {
    HEARTH_ASSIGN(std::vector<Number> numbers, ConstantAs<Number>(request.graph, constant));
    return SharedNumbers<Number>{std::move(numbers)};
  });
}

template Result<std::shared_ptr<const SharedNumbers<float>>> SharedConstant(const HostNodeRequest&, ValueId);
template Result<std::shared_ptr<const SharedNumbers<double>>> SharedConstant(const HostNodeRequest&, ValueId);

HostOperand::HostOperand() = default;
HostOperand::HostOperand(HostOperand&&) noexcept = default;
HostOperand& HostOperand::operator=(HostOperand&&) noexcept = default;
HostOperand::~HostOperand() = default;

Result<HostOperand> HostOperandOf(const HostNodeRequest& request, size_t position) {
  HostOperand operand;
  const ValueId value = position < request.node.inputs.size() ? request.node.inputs[position] : kNoValue;
  if (value == kNoValue) return operand;
  const TensorDesc& stored = request.graph.value(value).desc;
  operand.desc = HeldAs(stored);
  operand.is_constant = request.graph.IsConstant(value);
  if (stored.shape.element_count() == 0) return operand;
  if (!operand.is_constant) {
    operand.bytes = request.arena.bytes(value).data();
    return operand;
  }
  const int bits = BitsOf(stored.dtype);
  const bool is_weight = stored.dtype == DType::kFloat16 || stored.quantization.has_value() || bits % 8 != 0;
  if (is_weight) {
    HEARTH_ASSIGN(const std::shared_ptr<const SharedNumbers<float>> floats, SharedConstant<float>(request, value));
    operand.desc = {DType::kFloat32, stored.shape, std::nullopt};
    operand.bytes = reinterpret_cast<const std::byte*>(floats->values.data());
    operand.shared = floats;
    return operand;
  }
  const std::span<const std::byte> bytes = request.graph.ConstantBytes(value);
  const bool is_aligned = reinterpret_cast<uintptr_t>(bytes.data()) % (static_cast<size_t>(bits) / 8) == 0;
  if (is_aligned) {
    operand.bytes = request.weights.ReadInPlace(bytes).data();
  } else {
    const std::shared_ptr<const SharedNumbers<double>> copy = AlignedConstant(request, value);
    operand.bytes = reinterpret_cast<const std::byte*>(copy->values.data());
    operand.shared = copy;
  }
  return operand;
}

}  // namespace hearth
