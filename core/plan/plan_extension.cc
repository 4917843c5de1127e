// Elementwise nodes that become part of the dispatch before them.
#include <fmt/format.h>

#include <algorithm>

#include "core/device/device_rules.h"
#include "core/graph/quantize.h"
#include "core/plan/plan_builder.h"
#include "core/plan/storage.h"

namespace hearth {
namespace {

// The kernel's own tensors and one per step: GLES guarantees 16 texel reads per program.
constexpr size_t kMostTensorsOfChain = 10;

// A kernel with a further node in its epilogue is a program of its own.
bool IsWorthAProgram(const LowerOptions& options, const DeviceInfo& device) {
  if (options.preference == Preference::kFastSingleAnswer) return false;
  return !Applies(Rule::kCostlyPrograms, device) || options.preference == Preference::kSustainedSpeed;
}

}  // namespace

const CallInstance* PlanBuilder::ExtensibleProducerOf(ValueId value) const {
  if (!IsWorthAProgram(options(), device())) return nullptr;
  const auto made = made_at_.find(value);
  if (made == made_at_.end() || places_.IsWithin(value) || IsScratch(value) || graph().IsKept(value)) return nullptr;
  const auto* pending = std::get_if<CallInstance>(&steps_[made->second]);
  if (pending == nullptr || !pending->call.stores_each_texel_once) return nullptr;
  const auto is_it = [&](const Operand& operand) {
    return operand.kind == Operand::Kind::kValue && operand.id == value;
  };
  if (std::count_if(pending->operands.begin(), pending->operands.end(), is_it) != 1) return nullptr;  // it reads it too
  const TensorDesc& desc = graph().value(value).desc;
  return IsReal(desc) && !IsQuantized(desc) && pending->source.tensors.size() < kMostTensorsOfChain ? pending : nullptr;
}

bool PlanBuilder::CanExtend(ValueId value, std::span<const ValueId> others) const {
  if (ExtensibleProducerOf(value) == nullptr || !IsReadOnce(value)) return false;
  const size_t producer = made_at_.at(value);
  return std::all_of(others.begin(), others.end(), [&](ValueId other) {
    const auto made = made_at_.find(places_.Root(other));
    return made == made_at_.end() || made->second < producer;
  });
}

std::string PlanBuilder::StepSuffix(ValueId value) const {
  const CallInstance* producer = ExtensibleProducerOf(value);
  return producer == nullptr ? "" : fmt::format("_{}", producer->call.epilogue.size());
}

bool PlanBuilder::Extend(const Node& node, ValueId value, ValueId output, const std::vector<EpilogueStep>& steps) {
  const size_t index = made_at_.at(value);
  KernelCall call = std::get<CallInstance>(steps_[index]).call;
  // A separate kernel would have read the rounded value: results must not depend on fusing. The step clamps nothing.
  if (StorageOf(value) == StorageType::kFloat16) call.epilogue.push_back({{StatementForm::kRoundToHalf}, {}, {}});
  call.epilogue.insert(call.epilogue.end(), steps.begin(), steps.end());
  return Replace(index, node, value, output, std::move(call));
}

}  // namespace hearth
