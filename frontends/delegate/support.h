// Which nodes of the interpreter the delegate takes.
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
  std::vector<LeftNode> left;                // the same
  TensorShapes shapes;                       // that Hearth infers for what the nodes make
  std::vector<std::string> unknown_cpu_ops;  // those that name no node
};

// What FindSupport asks about. The weights are not copied.
struct SupportQuestion {
  const DeviceInfo* device = nullptr;
  LowerOptions options;
  std::vector<std::string> cpu_ops;  // see DelegateOptions
  bool allows_quantized = true;
};

// A node is taken when the reader understands it, Hearth infers the shapes of what it makes, no size of what it reads
// is known only while the network runs, and core places it on the device, asked of all such nodes together and behind
// the passes.
Result<Support> FindSupport(const tflite_c::TfLiteContext& context, std::span<const InterpreterNode> plan,
                            const SupportQuestion& question);

// Moves nodes from `taken` to `left`.
void Leave(const std::vector<LeftNode>& nodes, Support& support);

// Nodes that cannot be read when these are a network of their own with these outputs: an operator that is known with
// constant operands only, whose constants are made by nodes elsewhere. Without them another may be found.
Result<std::vector<LeftNode>> UnreadableNodes(const tflite_c::TfLiteContext& context,
                                              std::span<const InterpreterNode> nodes,
                                              const std::optional<std::vector<int>>& outputs,
                                              const TensorShapes& shapes);

// `nodes` behind the nodes outside of them that only prepare their constants. `makers`: those nodes by the tensor that
// they make.
Result<std::vector<InterpreterNode>> WithTheirConstants(tflite_c::TfLiteContext& context,
                                                        std::span<const InterpreterNode> nodes,
                                                        std::map<int, int> makers);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_DELEGATE_SUPPORT_H_
