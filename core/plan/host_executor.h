// Runs nodes on the host: what the cpu device is made of, and what other devices fall back to.
// core owns the interface, backends/cpu implements it, sessions are given one.
#ifndef HEARTH_CORE_PLAN_HOST_EXECUTOR_H_
#define HEARTH_CORE_PLAN_HOST_EXECUTOR_H_

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"

namespace hearth {

// A value in host memory: dense, in the model's own type and layout.
struct HostTensor {
  ValueId value = kNoValue;
  std::span<std::byte> bytes;
};

// What one node of a profiled run took, and by which of the host's kernels.
struct HostNodeTime {
  int node = -1;  // index into graph.nodes()
  std::string_view kernel;
  double milliseconds = 0;
};

// Prepared nodes. Run is for one thread at a time.
class HostProgram {
 public:
  virtual ~HostProgram() = default;

  // `tensors` holds at least the program's inputs and outputs: non-constant inputs made
  // elsewhere (filled) and outputs used elsewhere (to be filled). The same list, same order and
  // addresses may differ between calls; sizes must be the values' own.
  // With `times`, each node's are appended.
  virtual Status Run(std::span<const HostTensor> tensors, std::vector<HostNodeTime>* times = nullptr) = 0;

  // Where an output is made as it is handed out: a run that is given this memory for it copies nothing. Zeros before
  // the first run, the program's as long as it lives. Empty where there is no such place.
  virtual std::span<std::byte> LentOutput(ValueId value) const = 0;

  // Peak bytes of intermediate values (planned as one arena) and the sum if each had its own.
  virtual uint64_t arena_bytes() const = 0;
  virtual uint64_t naive_bytes() const = 0;
  virtual uint64_t lower_bound_bytes() const = 0;  // what no plan can go below
  virtual uint64_t weights_bytes() const = 0;      // what the nodes hold of constants
  // Of these: where other programs of the executor, and of those beside it, may read them too; and of those, what one
  // of them held before this program was prepared.
  virtual uint64_t shared_weights_bytes() const = 0;
  virtual uint64_t found_weights_bytes() const = 0;
};

class HostExecutor {
 public:
  virtual ~HostExecutor() = default;

  // Prepares `nodes` (indices into graph.nodes(), in order). `outputs`: values to hand out.
  // The graph must outlive the program. kUnsupported names the node that nothing can run.
  virtual Result<std::unique_ptr<HostProgram>> Prepare(const Graph& graph, std::span<const int> nodes,
                                                       std::span<const ValueId> outputs, int threads) = 0;

  // Another one, with threads of its own. Programs of both read one copy of what they make alike of constants, so the
  // graphs of both must be of one model, whose files stay mapped. What one planned for the same values, the other
  // knows.
  virtual std::unique_ptr<HostExecutor> Beside() const = 0;
  virtual uint64_t live_weights_bytes()
      const = 0;  // of shared_weights_bytes: of all programs that are alive, each once
};

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_HOST_EXECUTOR_H_
