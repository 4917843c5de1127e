#include "backends/cpu/host_node.h"

#include "backends/cpu/quantized.h"

namespace hearth {

TensorDesc HostNodeRequest::HeldAs(ValueId value) const {
  const TensorDesc& desc = graph.value(value).desc;
  return in_integers || graph.IsConstant(value) ? desc : hearth::HeldAs(desc);
}

}  // namespace hearth
