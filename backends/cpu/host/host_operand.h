// An operand of a host node: the output of another node, or a constant of the model.
#ifndef HEARTH_BACKENDS_CPU_HOST_HOST_OPERAND_H_
#define HEARTH_BACKENDS_CPU_HOST_HOST_OPERAND_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "backends/cpu/host/host_node.h"

namespace hearth {

// One input in the form in which the host holds it: quantized numbers of one scale as floats. May be moved.
struct HostOperand {
  // Out of line, because many nodes hold several.
  HostOperand();
  HostOperand(HostOperand&&) noexcept;
  HostOperand& operator=(HostOperand&&) noexcept;
  ~HostOperand();

  TensorDesc desc;  // as it is held; an absent input has a type that no kernel takes
  const std::byte* bytes = nullptr;
  std::shared_ptr<const void> shared;  // memory of `bytes` if a constant had to be converted or is unaligned
  bool is_constant = false;

  const float* floats() const { return reinterpret_cast<const float*>(bytes); }
  template <typename T>
  const T* as() const {
    return reinterpret_cast<const T*>(bytes);
  }

  // Whether it is present with integers that can be indices; and its element `at`.
  bool has_indices() const { return bytes != nullptr && (desc.dtype == DType::kInt32 || desc.dtype == DType::kInt64); }
  int64_t index(int64_t at) const { return desc.dtype == DType::kInt64 ? as<int64_t>()[at] : as<int32_t>()[at]; }
};

// A constant's elements as floats, or as the doubles with which the reference computes.
template <typename Number>
Result<std::vector<Number>> ConstantAs(const Graph& graph, ValueId constant);
// The same, once for all nodes that need them.
template <typename Number>
Result<std::shared_ptr<const SharedNumbers<Number>>> SharedConstant(const HostNodeRequest& request, ValueId constant);

// Input `position` of the node. Null bytes if it is absent, empty, or a constant that can't be held in this form.
Result<HostOperand> HostOperandOf(const HostNodeRequest& request, size_t position);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_HOST_HOST_OPERAND_H_
