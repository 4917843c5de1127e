// Finds the interpreter's nodes that the delegate can take.
#ifndef HEARTH_FRONTENDS_DELEGATE_SUPPORT_H_
#define HEARTH_FRONTENDS_DELEGATE_SUPPORT_H_

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/lowering/lower.h"
#include "frontends/delegate/interpreter_model.h"

namespace hearth {

struct Support {
  std::vector<InterpreterNode> taken;        // in execution order
  std::vector<LeftNode> left;                // in execution order
  TensorShapes shapes;                       // that Hearth infers for the nodes' outputs
  std::vector<std::string> unknown_cpu_ops;  // that match no node
};

// The arguments of FindSupport. Weights are not copied.
struct SupportQuestion {
  const DeviceInfo* device = nullptr;
  LowerOptions options;
  std::vector<std::string> cpu_ops;  // see DelegateOptions
  bool allows_quantized = true;
};

// A node is taken if the reader supports it, Hearth infers the shapes of its outputs, no size of its inputs is known
// only at run time, and core places it on the device. Placement is decided for all such nodes together, after the
// passes.
Result<Support> FindSupport(const tflite_c::TfLiteContext& context, std::span<const InterpreterNode> plan,
                            const SupportQuestion& question);

// Moves nodes from `taken` to `left`.
void Leave(const std::vector<LeftNode>& nodes, Support& support);

// Nodes that cannot be read if `nodes` are a network of their own with these outputs: their operator needs constant
// operands, which nodes outside make. Without them further ones may be found.
Result<std::vector<LeftNode>> UnreadableNodes(const tflite_c::TfLiteContext& context,
                                              std::span<const InterpreterNode> nodes,
                                              const std::optional<std::vector<int>>& outputs,
                                              const TensorShapes& shapes);

// `nodes`, with those outside nodes that only prepare their constants placed before them. `makers`: such nodes by their
// output tensor.
Result<std::vector<InterpreterNode>> WithTheirConstants(tflite_c::TfLiteContext& context,
                                                        std::span<const InterpreterNode> nodes,
                                                        std::map<int, int> makers);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_DELEGATE_SUPPORT_H_
