// Runs nodes on the host: what the cpu device is made of, and what other devices fall back to.
// core owns the interface, backends/cpu implements it, sessions are given one.
#ifndef HEARTH_CORE_PLAN_HOST_EXECUTOR_H_
#define HEARTH_CORE_PLAN_HOST_EXECUTOR_H_

#include <memory>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace hearth {

// A value in host memory: dense, in the model's own type and layout.
struct HostTensor {
  ValueId value = kNoValue;
  std::span<std::byte> bytes;
};

// Prepared nodes. Run is for one thread at a time.
class HostProgram {
 public:
  virtual ~HostProgram() = default;

  // `tensors` holds at least every value that crosses the program's edge: non-constant inputs made
  // elsewhere (filled) and outputs used elsewhere (to be filled). The same list, same order and
  // addresses may differ between calls; sizes must be the values' own.
  virtual Status Run(std::span<const HostTensor> tensors) = 0;

  // Peak bytes of intermediate values (planned as one arena) and the sum if each had its own.
  virtual uint64_t arena_bytes() const = 0;
  virtual uint64_t naive_bytes() const = 0;
  virtual uint64_t lower_bound_bytes() const = 0;  // what no plan can go below
};

class HostExecutor {
 public:
  virtual ~HostExecutor() = default;

  // Prepares `nodes` (indices into graph.nodes(), in order). `edge_outputs`: values to hand out.
  // The graph must outlive the program. kUnsupported names the node that nothing can run.
  virtual Result<std::unique_ptr<HostProgram>> Prepare(const Graph& graph, std::span<const int> nodes,
                                                       std::span<const ValueId> edge_outputs, int threads) = 0;
};

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_HOST_EXECUTOR_H_
