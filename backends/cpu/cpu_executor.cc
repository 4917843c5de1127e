#include "backends/cpu/cpu_executor.h"

#include <algorithm>
#include <map>
#include <thread>

#include "core/error.h"
#include "core/op_table.h"

namespace hearth {
namespace {

// Runs nodes one after the other with the float64 reference.
class ReferenceProgram final : public HostProgram {
 public:
  ReferenceProgram(const Graph& graph, std::span<const int> nodes) : graph_(graph), nodes_(nodes.begin(), nodes.end()) {}

  Status Run(std::span<const HostTensor> tensors) override {
    std::map<ValueId, ReferenceTensor> values;
    for (const HostTensor& tensor : tensors) {
      HEARTH_ASSIGN(values[tensor.value], ReferenceFromBytes(graph_.value(tensor.value).desc, tensor.bytes));
    }
    for (int index : nodes_) HEARTH_TRY(RunNode(graph_.nodes()[index], values));
    for (const HostTensor& tensor : tensors) {
      HEARTH_TRY(ReferenceToBytes(values[tensor.value], graph_.value(tensor.value).desc, tensor.bytes));
    }
    return Status::Ok();
  }

  uint64_t arena_bytes() const override { return naive_bytes(); }
  uint64_t naive_bytes() const override {
    uint64_t bytes = 0;
    for (int index : nodes_) {
      for (ValueId value : graph_.nodes()[index].outputs) bytes += graph_.value(value).desc.size_bytes();
    }
    return bytes;
  }

 private:
  Status RunNode(const Node& node, std::map<ValueId, ReferenceTensor>& values) {
    std::vector<const ReferenceTensor*> inputs;
    for (ValueId value : node.inputs) {
      if (value != kNoValue && graph_.IsConstant(value) && !values.contains(value)) {
        HEARTH_ASSIGN(values[value], ReferenceFromBytes(graph_.value(value).desc, graph_.ConstantBytes(value)));
      }
      inputs.push_back(value == kNoValue ? nullptr : &values[value]);
    }
    HEARTH_ASSIGN(std::vector<ReferenceTensor> outputs, EvaluateNode(graph_, node, inputs));
    for (size_t k = 0; k < node.outputs.size(); ++k) values[node.outputs[k]] = std::move(outputs[k]);
    return Status::Ok();
  }

  const Graph& graph_;
  std::vector<int> nodes_;
};

class CpuExecutor final : public HostExecutor {
 public:
  Result<std::unique_ptr<HostProgram>> Prepare(const Graph& graph, std::span<const int> nodes, std::span<const ValueId>, int) override {
    return std::unique_ptr<HostProgram>(std::make_unique<ReferenceProgram>(graph, nodes));
  }
};

}  // namespace

DeviceInfo CpuDeviceInfo() {
  DeviceInfo info;
  info.backend = BackendKind::kCpu;
  info.type = DeviceType::kCpu;
  info.name = "CPU";
  info.driver_version = "reference";
  info.compute_units = std::max(1u, std::thread::hardware_concurrency());
  info.unified_memory = true;
  return info;
}

std::unique_ptr<HostExecutor> MakeCpuExecutor() { return std::make_unique<CpuExecutor>(); }

}  // namespace hearth
