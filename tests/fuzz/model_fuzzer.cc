// A .tflite file on its way to a plan: reader, shapes, passes, lowering for a GPU and for the CPU.
#include <vector>

#include "backends/cpu/cpu_executor.h"
#include "core/graph/evaluate.h"
#include "core/graph/passes/pass.h"
#include "core/lowering/lower.h"
#include "frontends/tflite/reader.h"
#include "tests/fuzz/fuzzer.h"
#include "tests/testing/described_gpu.h"

namespace hearth {
namespace {

void LowerFor(const DeviceInfo& device, Graph graph) {
  if (!InferShapes(graph).ok() || !RunPasses(graph, device, {}).ok()) return;
  Expect(graph.Validate().ok(), "passes leave a valid graph");
  static_cast<void>(Lower(graph, device, {}));
}

}  // namespace

void FuzzOne(std::span<const std::byte> bytes) {
  const std::vector<std::byte> file(bytes.begin(), bytes.end());  // aligned, as the reader wants it
  static_cast<void>(ReadTfliteInterface(file));
  static_cast<void>(ReadTfliteMetadata(file));
  const Result<Graph> graph = ReadTfliteModel(file);
  if (!graph.ok()) return;
  const Status valid = graph->Validate();
  Expect(valid.ok(), ("a graph that was read is valid: " + valid.message()).c_str());
  LowerFor(testing::DescribedGpu(Dialect::kVulkan), graph->Clone());
  LowerFor(CpuDeviceInfo(), graph->Clone());
}

}  // namespace hearth
