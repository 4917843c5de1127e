// NaN behind XNNPACK's clamps. On x86 the minima and maxima of its kernels (Debian's of February 2022) make the lower
// bound of a NaN, minus infinity without an activation, and a broken network would look as if it gave numbers.
#ifndef HEARTH_BACKENDS_CPU_XNNPACK_NAN_KEEPER_H_
#define HEARTH_BACKENDS_CPU_XNNPACK_NAN_KEEPER_H_

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/cpu/host_node.h"

namespace hearth {

// Mends the float32 output of one node after a run in which a thread met a NaN (TookNan in own_threads.h). It costs
// nothing otherwise: watching is free, and the reference, which says where NaN belongs, is made when it is first
// needed.
class NanKeeper {
 public:
  // Null for a node whose elements are only moved.
  static std::unique_ptr<NanKeeper> Of(const HostNodeRequest& request);

  // Evaluates the node once more in the reference, if it holds a number that is not finite; takes its answer where that
  // is NaN, or a number far from the output's. All other elements keep their bits.
  Status Mend();

 private:
  explicit NanKeeper(const HostNodeRequest& request)
      : request_(request), out_(request.arena.floats(request.node.outputs[0])) {}

  bool HoldsOnlyFinite();

  HostNodeRequest request_;
  std::span<float> out_;
  std::optional<bool> constants_are_finite_;  // once it was asked
  std::unique_ptr<HostNode> reference_;
  std::vector<float> kept_;
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_XNNPACK_NAN_KEEPER_H_
