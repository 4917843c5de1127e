// Nodes that XNNPACK runs. Builds without XNNPACK link no_xnnpack.cc instead of xnnpack/.
#ifndef HEARTH_BACKENDS_CPU_XNNPACK_NODES_H_
#define HEARTH_BACKENDS_CPU_XNNPACK_NODES_H_

#include <memory>
#include <string_view>

#include "backends/cpu/host/host_node.h"

namespace hearth {

// "XNNPACK + reference" or "reference".
std::string_view HostKernelsName();

// Why the CPU is many times slower than it could be, and what to do; empty if it is not.
std::string_view WhyHostIsSlow();

// Outlives its nodes.
class XnnpackNodes {
 public:
  XnnpackNodes();
  ~XnnpackNodes();

  // Null for a node that XNNPACK can't run as TFLite defines it, or whose values are not float32.
  Result<std::unique_ptr<HostNode>> Make(const HostNodeRequest& request);

 private:
  class Pools;
  std::unique_ptr<Pools> pools_;
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_XNNPACK_NODES_H_
