// Elementwise nodes that become part of the dispatch before them.
#include <fmt/format.h>

#include <algorithm>

#include "core/device/device_rules.h"
#include "core/graph/op_text.h"
#include "core/graph/quantize.h"
#include "core/plan/plan_builder.h"
#include "core/plan/storage.h"

namespace hearth {
namespace {

// A kernel's own tensors, and one of each of so many steps: GLES guarantees 16 texel reads to a program.
constexpr size_t kMostTensorsOfChain = 10;

// A kernel that goes on with another node is a program of its own.
bool IsWorthAProgram(const LowerOptions& options, const DeviceInfo& device) {
  if (options.preference == Preference::kFastSingleAnswer) return false;
  return !Applies(Rule::kCostlyPrograms, device) || options.preference == Preference::kSustainedSpeed;
}

}  // namespace

const PlanBuilder::PendingDispatch* PlanBuilder::ExtensibleProducerOf(ValueId value) const {
  if (!IsWorthAProgram(options_, device_)) return nullptr;
  const auto made = made_at_.find(value);
  if (made == made_at_.end() || alias_of_.contains(value) || IsScratch(value) || graph_.IsKept(value)) return nullptr;
  const auto* pending = std::get_if<PendingDispatch>(&pending_[made->second]);
  if (pending == nullptr || !pending->call.stores_each_texel_once) return nullptr;
  const auto is_it = [&](const Operand& operand) {
    return operand.kind == Operand::Kind::kValue && operand.id == value;
  };
  if (std::count_if(pending->operands.begin(), pending->operands.end(), is_it) != 1) return nullptr;  // it adds to it
  const TensorDesc& desc = graph_.value(value).desc;
  return IsReal(desc) && !IsQuantized(desc) && pending->source.tensors.size() < kMostTensorsOfChain ? pending : nullptr;
}

bool PlanBuilder::CanExtend(ValueId value, std::span<const ValueId> others) const {
  if (ExtensibleProducerOf(value) == nullptr) return false;
  int reads = 0;
  for (int consumer : graph_.ConsumersOf(value)) {
    const std::vector<ValueId>& inputs = graph_.nodes()[consumer].inputs;
    reads += static_cast<int>(std::count(inputs.begin(), inputs.end(), value));
  }
  const size_t producer = made_at_.at(value);
  return reads == 1 && std::all_of(others.begin(), others.end(), [&](ValueId other) {
           const auto made = made_at_.find(Root(other));
           return made == made_at_.end() || made->second < producer;
         });
}

std::string PlanBuilder::StepSuffix(ValueId value) const {
  const PendingDispatch* producer = ExtensibleProducerOf(value);
  return producer == nullptr ? "" : fmt::format("_{}", producer->call.epilogue.size());
}

bool PlanBuilder::Extend(const Node& node, ValueId value, ValueId output, const std::vector<EpilogueStep>& steps) {
  const size_t index = made_at_.at(value);
  auto& producer = std::get<PendingDispatch>(pending_[index]);
  KernelCall call = producer.call;
  // A kernel of its own would have read a rounded value: results do not depend on which nodes are fused.
  if (StorageOf(value) == StorageType::kFloat16) call.epilogue.push_back({{StatementForm::kRoundToHalf}, {}, {}});
  call.epilogue.insert(call.epilogue.end(), steps.begin(), steps.end());
  const Operand made = Tensor(output);
  for (auto& [name, operand] : call.tensors) {
    if (operand.kind == Operand::Kind::kValue && operand.id == value) operand = made;
  }
  std::vector<Operand> operands;
  std::vector<uint32_t> scalars;
  Result<KernelSource> source = Instantiate(call, operands, scalars);
  const auto& groups = producer.dispatch.group_count;
  if (!source.ok() || !CheckFits(*source, operands, {groups[0], groups[1], groups[2]}).ok()) return false;
  producer.dispatch.scalars = std::move(scalars);
  producer.dispatch.label += " + " + NodeLabel(node);
  producer.call = std::move(call);
  producer.source = std::move(source).value();
  producer.operands = std::move(operands);
  made_at_.erase(value);
  device_values_.erase(value);
  made_at_[output] = index;
  return true;
}

}  // namespace hearth
