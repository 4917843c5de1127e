// The demo model lowered for a device: what a stored plan is checked against.
#ifndef HEARTH_TESTS_FUZZ_DEMO_PLAN_H_
#define HEARTH_TESTS_FUZZ_DEMO_PLAN_H_

#include <vector>

#include "core/device/device_info.h"
#include "core/graph/graph.h"
#include "core/plan/plan.h"

namespace hearth {

class DemoPlan {
 public:
  // Ends the program where the demo model can't be read.
  explicit DemoPlan(const DeviceInfo& device);

  const std::vector<std::byte>& model() const { return model_; }
  const Graph& graph() const { return graph_; }
  const Plan& plan() const { return plan_; }

 private:
  std::vector<std::byte> model_;
  Graph graph_;
  Plan plan_;
};

}  // namespace hearth

#endif  // HEARTH_TESTS_FUZZ_DEMO_PLAN_H_
