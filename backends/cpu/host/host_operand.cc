#include "backends/cpu/host/host_operand.h"

#include <cstring>

#include "backends/cpu/host/quantized.h"
#include "core/base/error.h"
#include "core/graph/evaluate.h"

namespace hearth {
namespace {

void Own(const void* data, size_t size_bytes, HostOperand& operand) {
  operand.own.resize((size_bytes + sizeof(double) - 1) / sizeof(double));
  std::memcpy(operand.own.data(), data, size_bytes);
  operand.bytes = reinterpret_cast<const std::byte*>(operand.own.data());
}

}  // namespace

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
    HEARTH_ASSIGN(const std::vector<float> floats, ConstantAsFloats(request.graph, value));
    operand.desc = {DType::kFloat32, stored.shape, std::nullopt};
    Own(floats.data(), floats.size() * sizeof(float), operand);
    return operand;
  }
  const std::span<const std::byte> bytes = request.graph.ConstantBytes(value);
  const bool is_aligned = reinterpret_cast<uintptr_t>(bytes.data()) % (static_cast<size_t>(bits) / 8) == 0;
  if (is_aligned) {
    operand.bytes = request.weights.ReadInPlace(bytes).data();
  } else {
    Own(bytes.data(), bytes.size(), operand);
  }
  return operand;
}

}  // namespace hearth
