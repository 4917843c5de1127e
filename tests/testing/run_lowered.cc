#include "tests/testing/run_lowered.h"

#include <memory>
#include <utility>

#include "backends/cpu/cpu_executor.h"
#include "core/base/error.h"
#include "core/lowering/lower.h"
#include "hal/run/plan_runs.h"

namespace hearth::testing {

Result<std::vector<std::byte>> RunLowered(const OpenedDevice& opened, const Graph& graph, const LowerOptions& options,
                                          std::span<const std::byte> input) {
  HEARTH_ASSIGN(Plan plan, Lower(graph, opened.info, options));
  const std::unique_ptr<HostExecutor> host = MakeCpuExecutor();
  HEARTH_ASSIGN(const ReadyPlan ready,
                MakePlanReady(std::move(plan), {.device = opened.device.get(), .graph = &graph, .host = host.get()}));
  std::vector<std::byte> output(graph.value(graph.outputs[0]).desc.size_bytes());
  const std::vector<std::span<const std::byte>> inputs = {input};
  const std::vector<std::span<std::byte>> outputs = {output};
  HEARTH_TRY(ready.runs->Run(inputs, outputs));
  return output;
}

}  // namespace hearth::testing
