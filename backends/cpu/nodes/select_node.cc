// Choice between the elements of two tensors, of any type stored in whole bytes.
#include "backends/cpu/host/broadcast_rows.h"
#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/host_operand.h"
#include "backends/cpu/host/host_output.h"
#include "backends/cpu/host/quantized.h"
#include "core/base/error.h"

namespace hearth {
namespace {

template <typename Element>
void ChoosePart(const BroadcastRows<3>& rows, const std::array<HostOperand, 3>& operands, std::byte* out, int64_t begin,
                int64_t end) {
  Vectorized<sizeof(Element) == 4 ? VectorSet::kAvx2 : VectorSet::kBase>([&]() HEARTH_INTO_CALLER {
    const int64_t step = rows.steps()[0], step_a = rows.steps()[1], step_b = rows.steps()[2];
    rows.ForPart(begin, end, [&](int64_t at, int64_t count, const BroadcastRows<3>::Places& places) HEARTH_INTO_CALLER {
      const uint8_t* condition = operands[0].as<uint8_t>() + places[0];
      const Element* a = operands[1].as<Element>() + places[1];
      const Element* b = operands[2].as<Element>() + places[2];
      Element* y = reinterpret_cast<Element*>(out) + at;
      if (step == 0) {
        const Element* chosen = *condition != 0 ? a : b;
        const int64_t chosen_step = *condition != 0 ? step_a : step_b;
        for (int64_t k = 0; k < count; ++k) y[k] = chosen[k * chosen_step];
      } else if (step_a == 1 && step_b == 1) {
        for (int64_t k = 0; k < count; ++k) y[k] = condition[k] != 0 ? a[k] : b[k];
      } else if (step_a == 1) {
        const Element fixed = *b;
        for (int64_t k = 0; k < count; ++k) y[k] = condition[k] != 0 ? a[k] : fixed;
      } else {
        const Element fixed = *a;
        for (int64_t k = 0; k < count; ++k) y[k] = condition[k] != 0 ? fixed : b[k * step_b];
      }
    });
  });
}

}  // namespace

Result<std::unique_ptr<HostNode>> MakeSelectNode(const HostNodeRequest& request) {
  const bool chooses_rows = std::holds_alternative<SelectRows>(request.node.op);
  if (!chooses_rows && !std::holds_alternative<Select>(request.node.op)) return nullptr;
  std::array<HostOperand, 3> operands;
  for (size_t k = 0; k < operands.size(); ++k) {
    HEARTH_ASSIGN(operands[k], HostOperandOf(request, k));
    if (operands[k].bytes == nullptr) return nullptr;
  }
  const TensorDesc out = HeldAs(request.out());
  const bool fits = operands[0].desc.dtype == DType::kBool && operands[1].desc.dtype == out.dtype &&
                    operands[2].desc.dtype == out.dtype && !out.quantization.has_value();
  if (!fits || BitsOf(out.dtype) < 8 || out.shape.element_count() == 0) return nullptr;
  Shape condition = operands[0].desc.shape;
  if (chooses_rows) {
    condition = out.shape;
    for (int d = 1; d < condition.rank(); ++d) condition[d] = 1;
  }
  const BroadcastRows<3> rows(out.shape, {condition, operands[1].desc.shape, operands[2].desc.shape});
  return NodeOf("select", [rows, operands = std::move(operands), y = HostOutput(request), &workers = request.workers] {
    std::byte* to = y.bytes();
    workers.ForEachPart(y.shape().element_count(), kLeastElementsOfPart, [&](int64_t begin, int64_t end) {
      switch (BitsOf(operands[1].desc.dtype)) {
        case 8: return ChoosePart<uint8_t>(rows, operands, to, begin, end);
        case 16: return ChoosePart<uint16_t>(rows, operands, to, begin, end);
        case 32: return ChoosePart<uint32_t>(rows, operands, to, begin, end);
        default: return ChoosePart<uint64_t>(rows, operands, to, begin, end);
      }
    });
    y.Finish();
  });
}

}  // namespace hearth
