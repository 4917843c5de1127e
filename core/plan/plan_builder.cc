#include "core/plan/plan_builder.h"

#include <algorithm>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/graph/op_def.h"
#include "core/plan/tuning.h"

namespace hearth {

KernelCall MapCall(PlanBuilder& builder, ValueId from, ValueId to) {
  constexpr int64_t kRow = int64_t{1} << 21;  // within the 65,535 groups that every device takes in a dimension
  const Bhwc out = builder.ShapeOf(to);
  const int64_t texels = out.pixels() * out.slices();
  KernelCall call = CallOf<kernels::Map>({{"x", builder.Tensor(from)}, {"y", builder.Tensor(to)}});
  call.stores_each_texel_once = true;
  call.scalars = {{"COUNT", texels}, {"ROW", kRow}};
  call.work_items = {std::min(texels, kRow), Tiles(texels, kRow), 1};
  return call;
}

PlanBuilder::PlanBuilder(const Graph& graph, const DeviceInfo& device, const LowerOptions& options)
    : PlanValues(graph, device, options), constants_(*this), instances_(*this, constants_) {}

KernelChoice PlanBuilder::Choose(const Node& node) const {
  std::vector<KernelChoice> candidates = OpDefOf(node.op).candidates(node, *this);
  if (!options().tuned.empty()) {
    const auto tuned = options().tuned.find(LayerKey(graph(), node, device(), options()));
    if (tuned != options().tuned.end() && Contains(candidates, tuned->second.choice)) return tuned->second.choice;
  }
  return std::move(candidates.front());
}

Operand PlanBuilder::Tensor(ValueId value) {
  if (!IsScratch(value) && graph().IsConstant(value)) {
    const TensorDesc& desc = graph().value(value).desc;
    const Bhwc shape = ToBhwc(desc.shape);
    return Packed(value, {PackLayout::kSlices, desc, 4, {shape.b, shape.h, shape.w, shape.c}});
  }
  MakeDeferred(value);
  places_.PutOnDevice(value);
  return {Operand::Kind::kValue, value};
}

void PlanBuilder::Push(CallInstance instance) {
  for (size_t k = 0; k < instance.source.tensors.size(); ++k) {
    if (instance.source.tensors[k].direction == ArgDirection::kWrite &&
        instance.operands[k].kind == Operand::Kind::kValue)
      made_at_[places_.Root(instance.operands[k].id)] = steps_.size();
  }
  steps_.emplace_back(std::move(instance));
}

Status PlanBuilder::Call(const Node& node, const KernelCall& call) {
  HEARTH_ASSIGN(CallInstance instance, instances_.Make(node, call));
  Push(std::move(instance));
  return Status::Ok();
}

Status PlanBuilder::CopyStates() {
  for (const StatePair& state : graph().states) {
    if (!places_.OnDevice(state.read)) continue;  // only the CPU reads it
    Node copy;
    copy.op = Unary{.kind = UnaryKind::kCopy};
    copy.name = fmt::format("state {}", graph().value(state.read).name);
    HEARTH_TRY(Call(copy, MapCall(*this, state.written, state.read)));
  }
  return Status::Ok();
}

void PlanBuilder::CallHost(int node_index) {
  for (ValueId input : graph().nodes()[node_index].inputs) MakeDeferred(input);
  const bool continues = !steps_.empty() && std::holds_alternative<std::vector<int>>(steps_.back());
  // A segment on the CPU reads device memory at its start: an alias of a value that the one before makes needs a new
  // one.
  const bool reads_alias = std::ranges::any_of(graph().nodes()[node_index].inputs, [&](ValueId input) {
    const auto made =
        input == kNoValue || places_.Root(input) == input ? made_at_.end() : made_at_.find(places_.Root(input));
    return made != made_at_.end() && made->second + 1 == steps_.size();
  });
  if (!continues || reads_alias) steps_.emplace_back(std::vector<int>());
  std::get<std::vector<int>>(steps_.back()).push_back(node_index);
  for (ValueId output : graph().nodes()[node_index].outputs) made_at_[output] = steps_.size() - 1;
}

Result<Plan> PlanBuilder::Finish() {
  for (ValueId output : graph().outputs) MakeDeferred(output);
  for (const StatePair& state : graph().states) MakeDeferred(state.written);  // before one that others read changes
  HEARTH_TRY(CopyStates());
  return PlanLayout(*this, places_, constants_).Finish(std::move(steps_));
}

}  // namespace hearth
