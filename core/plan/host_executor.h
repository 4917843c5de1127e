// Runs nodes on the host, for the cpu device and as the fallback of other devices. core owns the interface,
// backends/cpu implements it, and each session is given one.
#ifndef HEARTH_CORE_PLAN_HOST_EXECUTOR_H_
#define HEARTH_CORE_PLAN_HOST_EXECUTOR_H_

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/fingerprint.h"
#include "core/base/run_control.h"
#include "core/base/threads.h"
#include "core/graph/graph.h"

namespace hearth {

// A value in host memory: dense, in the model's own type and layout.
struct HostTensor {
  ValueId value = kNoValue;
  std::span<std::byte> bytes;
};

// The time of one node in a profiled run, and the host kernel that ran it.
struct HostNodeTime {
  int node = -1;  // index into graph.nodes()
  std::string_view kernel;
  double milliseconds = 0;
};

// What a run may be given: what may end it, and where the times of nodes go. Both may be null.
struct HostRun {
  RunControl* control = nullptr;
  std::vector<HostNodeTime>* times = nullptr;
};

// Prepared nodes. Only one thread at a time may call Run.
class HostProgram {
 public:
  virtual ~HostProgram() = default;

  // `tensors` holds at least the program's inputs (non-constant values made elsewhere, filled) and outputs (values used
  // elsewhere, to be filled). Order and addresses may differ between calls; sizes must be those of the values. Appends
  // each node's time to run.times.
  virtual Status Run(std::span<const HostTensor> tensors, const HostRun& run = {}) = 0;

  // The program's own memory of an output, if it is made there in its final form: a run that is given this memory for
  // the output does not copy it. It is zero before the first run and lives as long as the program. Empty if there is
  // none.
  virtual std::span<std::byte> OutputInPlace(ValueId value) const = 0;

  // The graph's constants that runs read where they lie: those that the program has no form of its own of.
  virtual std::span<const std::span<const std::byte>> read_in_place() const { return {}; }

  // Peak bytes of intermediate values (planned as one arena) and the sum if each had its own.
  virtual uint64_t arena_bytes() const = 0;
  virtual uint64_t naive_bytes() const = 0;
  virtual uint64_t lower_bound_bytes() const = 0;  // no plan can need less
  virtual uint64_t weights_bytes() const = 0;      // of constants, as the nodes hold them
  // The part of these that other programs of this executor, and of those from Beside, may share; and the part of that
  // which already existed when this program was prepared.
  virtual uint64_t shared_weights_bytes() const = 0;
  virtual uint64_t found_weights_bytes() const = 0;
};

// Called with bytes of the model that a start has read for the last time. Whoever mapped them may then release their
// pages, so that weights are not in memory twice. They may be read again later.
using ModelBytesRead = std::function<void(std::span<const std::byte>)>;

class HostExecutor {
 public:
  virtual ~HostExecutor() = default;

  // Prepares `nodes` (indices into graph.nodes(), in order). `outputs` are the values that are used elsewhere. The
  // graph must outlive the program. Calls `read`, which may be empty, with the model's constants as they are packed.
  // kUnsupported names the node that nothing can run.
  virtual Result<std::unique_ptr<HostProgram>> Prepare(const Graph& graph, std::span<const int> nodes,
                                                       std::span<const ValueId> outputs, int threads,
                                                       const ModelBytesRead& read) = 0;
  Result<std::unique_ptr<HostProgram>> Prepare(const Graph& graph, std::span<const int> nodes,
                                               std::span<const ValueId> outputs, int threads) {
    return Prepare(graph, nodes, outputs, threads, {});
  }

  // Programs prepared from now on share equally packed constants with those of all executors of this process that were
  // told of the same files. `files`: identifies the content of the model's files.
  virtual void ShareWeightsOf(const Fingerprint& /*files*/) {}

  // Another executor with its own threads. Programs of both share equally packed constants, so both must run graphs of
  // one model, whose files stay mapped. They also share memory plans for the same values.
  virtual std::unique_ptr<HostExecutor> Beside() const = 0;
  virtual uint64_t live_weights_bytes()
      const = 0;  // shared_weights_bytes of all living programs, each copy counted once

  // The threads that loops of this executor, and of those from Beside, leave CPUs to.
  virtual std::shared_ptr<BackgroundThreads> background_threads() const = 0;
};

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_HOST_EXECUTOR_H_
