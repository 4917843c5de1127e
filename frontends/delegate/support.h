// Which nodes of the interpreter the delegate takes.
#ifndef HEARTH_FRONTENDS_DELEGATE_SUPPORT_H_
#define HEARTH_FRONTENDS_DELEGATE_SUPPORT_H_

#include <string>
#include <vector>

#include "core/lower.h"
#include "frontends/delegate/interpreter_model.h"

namespace hearth {

struct LeftNode {  // a node that stays with the interpreter
  int index = -1;
  std::string op, reason;
};

struct Support {
  std::vector<InterpreterNode> taken;  // in execution order
  std::vector<LeftNode> left;
};

// Asks of every node whether the reader understands it, whether its shapes are what Hearth infers, and, of all such
// nodes together behind the passes, whether core places it on the device. Copies no weights. Nodes with quantized
// tensors are left where `allows_quantized` is false.
Result<Support> FindSupport(const tflite_c::TfLiteContext& context, std::span<const InterpreterNode> plan,
                            const DeviceInfo& device, const LowerOptions& options, bool allows_quantized);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_DELEGATE_SUPPORT_H_
