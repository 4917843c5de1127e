// An .onnx file on its way to a plan for the CPU.
#include "backends/cpu/cpu_executor.h"
#include "core/graph/evaluate.h"
#include "core/graph/passes/pass.h"
#include "core/lowering/lower.h"
#include "frontends/onnx/reader.h"
#include "tests/fuzz/fuzzer.h"

namespace hearth {

void FuzzOne(std::span<const std::byte> bytes) {
  static_cast<void>(IsOnnxModel(bytes));
  static_cast<void>(OnnxFiles(bytes));
  static_cast<void>(ReadOnnxInterface(bytes));
  static_cast<void>(ReadOnnxMetadata(bytes));
  Result<Graph> graph = ReadOnnxModel(bytes);
  if (!graph.ok()) return;
  const Status valid = graph->Validate();
  Expect(valid.ok(), ("a graph that was read is valid: " + valid.message()).c_str());
  if (!InferShapes(*graph).ok() || !RunPasses(*graph, CpuDeviceInfo(), {}).ok()) return;
  Expect(graph->Validate().ok(), "passes leave a valid graph");
  static_cast<void>(Lower(*graph, CpuDeviceInfo(), {}));
}

}  // namespace hearth
