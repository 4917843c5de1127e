// A .tflite file, run on the CPU with inputs of arbitrary bits.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "backends/cpu/backend.h"
#include "backends/cpu/cpu_executor.h"
#include "core/base/run_control.h"
#include "core/graph/evaluate.h"
#include "core/graph/loop_graphs.h"
#include "core/graph/passes/pass.h"
#include "core/lowering/lower.h"
#include "frontends/tflite/reader.h"
#include "hal/run/plan_runs.h"
#include "tests/fuzz/fuzzer.h"

namespace hearth {
namespace {

constexpr size_t kMostNodes = 64;
constexpr int64_t kMostElements = 1 << 12;

// Whether one run, or one turn of a loop, takes some milliseconds.
bool IsSmall(const Graph& graph) {
  return graph.nodes().size() <= kMostNodes &&
         std::ranges::all_of(graph.values(),
                             [](const Value& value) { return value.desc.shape.element_count() <= kMostElements; }) &&
         std::ranges::all_of(graph.nodes(), [](const Node& node) {
           const auto* loop = std::get_if<Loop>(&node.op);
           return loop == nullptr || loop->graphs == nullptr ||
                  (IsSmall(loop->graphs->condition) && IsSmall(loop->graphs->body));
         });
}

std::vector<std::vector<std::byte>> MemoryFor(const Graph& graph, std::span<const ValueId> values) {
  std::minstd_rand numbers(1);
  std::vector<std::vector<std::byte>> memory;
  for (const ValueId id : values) {
    memory.emplace_back(graph.value(id).desc.size_bytes());
    std::ranges::generate(memory.back(), [&] { return static_cast<std::byte>(numbers() >> 8); });
  }
  return memory;
}

}  // namespace

void FuzzOne(std::span<const std::byte> bytes) {
  static const std::unique_ptr<Device> device = OpenCpu({}).value();
  static const std::unique_ptr<HostExecutor> host = MakeCpuExecutor();
  const std::vector<std::byte> file(bytes.begin(), bytes.end());  // aligned, as the reader wants it
  Result<Graph> graph = ReadTfliteModel(file);
  if (!graph.ok() || !InferShapes(*graph).ok() || !IsSmall(*graph)) return;
  if (!RunPasses(*graph, device->info(), {}).ok() || !IsSmall(*graph)) return;
  Result<Plan> plan = Lower(*graph, device->info(), {});
  if (!plan.ok()) return;
  const Result<ReadyPlan> ready =
      MakePlanReady(std::move(plan).value(), {.device = device.get(), .graph = &*graph, .host = host.get()});
  if (!ready.ok()) return;
  RunControl trial = RunControl::ForTrial();  // ends loops that inputs keep going
  const std::vector<std::vector<std::byte>> inputs = MemoryFor(*graph, graph->inputs);
  std::vector<std::vector<std::byte>> outputs = MemoryFor(*graph, graph->outputs);
  const std::vector<std::span<const std::byte>> given(inputs.begin(), inputs.end());
  const std::vector<std::span<std::byte>> made(outputs.begin(), outputs.end());
  static_cast<void>(ready->runs->Run(given, made, {.control = &trial}));  // an index out of range is an error
}

}  // namespace hearth
