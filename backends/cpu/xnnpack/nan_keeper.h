// Restores NaN after XNNPACK's clamps. On x86 the minima and maxima of its kernels (Debian's of February 2022) turn a
// NaN into the lower bound, which is minus infinity without an activation. A broken network would seem to give numbers.
#ifndef HEARTH_BACKENDS_CPU_XNNPACK_NAN_KEEPER_H_
#define HEARTH_BACKENDS_CPU_XNNPACK_NAN_KEEPER_H_

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/cpu/host/host_node.h"

namespace hearth {

// Corrects the float32 output of one node after a run in which a thread met a NaN (TookNan in own_threads.h). Otherwise
// it costs nothing: the flag is free, and the reference, which says where NaN belongs, is made when first needed.
class NanKeeper {
 public:
  // Null for a node that only moves elements.
  static std::unique_ptr<NanKeeper> Of(const HostNodeRequest& request);

  // Evaluates the node again in the reference if an input, a constant or the output has a number that is not finite.
  // Takes the reference's result where that is NaN, or a number far from the output's. All other elements keep their
  // bits.
  Status Mend();

 private:
  explicit NanKeeper(const HostNodeRequest& request)
      : request_(request), out_(request.arena.floats(request.node.outputs[0])) {}

  bool HoldsOnlyFinite();

  HostNodeRequest request_;
  std::span<float> out_;
  std::optional<bool> constants_are_finite_;  // nullopt until needed
  std::unique_ptr<HostNode> reference_;
  std::vector<float> kept_;
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_XNNPACK_NAN_KEEPER_H_
