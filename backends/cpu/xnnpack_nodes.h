// Nodes that XNNPACK runs, on worker threads. Builds without XNNPACK link no_xnnpack.cc instead of xnnpack/.
#ifndef HEARTH_BACKENDS_CPU_XNNPACK_NODES_H_
#define HEARTH_BACKENDS_CPU_XNNPACK_NODES_H_

#include <memory>
#include <string_view>

#include "backends/cpu/host_node.h"

namespace hearth {

// "XNNPACK + reference" or "reference".
std::string_view HostKernelsName();

// Owns the worker threads, which start with the first node that is taken. Outlives its nodes.
class XnnpackNodes {
 public:
  XnnpackNodes();
  ~XnnpackNodes();

  // Whether XNNPACK has the operation at all; a combination of attributes may still be refused.
  static bool Knows(const Op& op);

  // Null for a node that XNNPACK can't run as TFLite defines it, or whose values are not float32.
  Result<std::unique_ptr<HostNode>> Make(const HostNodeRequest& request);

 private:
  class ThreadPools;
  std::unique_ptr<ThreadPools> pools_;
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_XNNPACK_NODES_H_
