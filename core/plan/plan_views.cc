// Values within other values, and deferred copies.
#include <algorithm>

#include "core/base/error.h"
#include "core/graph/op_text.h"
#include "core/plan/plan_builder.h"

namespace hearth {
namespace {

// Whether the step does not depend on the texel's index.
bool KnowsNoPlace(const EpilogueStep& step) {
  switch (step.statement.form) {
    case StatementForm::kPair: return step.statement.reach == Reach::kOneElement && !step.statement.from_x;
    case StatementForm::kNothing:
    case StatementForm::kAdd:
    case StatementForm::kClearTail:
    case StatementForm::kAppendChannels: return false;
    default: return true;
  }
}

}  // namespace

Status PlanBuilder::Alias(const Node& node, ValueId output, ValueId input) {
  HEARTH_CHECK(ShapeOf(output).c == ShapeOf(input).c && ShapeOf(output).pixels() == ShapeOf(input).pixels());
  if (graph().IsState(places_.Root(input)) || StorageOf(output) != StorageOf(input))
    return Call(node, MapCall(*this, input, output));
  Tensor(input);
  places_.PutWithin(output, input, 0);
  return Status::Ok();
}

bool PlanBuilder::AliasPart(ValueId output, ValueId input, int64_t first) {
  const uint64_t offset_bytes = static_cast<uint64_t>(first) * TexelBytes(StorageOf(input));
  // A texel view may be a little longer than the range, but must not reach into memory that the same dispatch writes.
  const bool view_fits = offset_bytes + PlacedBytes(BytesOf(output)) <= PlacedBytes(BytesOf(input));
  if (graph().IsConstant(input) || graph().IsState(places_.Root(input)) || StorageOf(output) != StorageOf(input) ||
      !view_fits || offset_bytes % device().buffer_offset_alignment != 0)
    return false;
  Tensor(input);
  places_.PutWithin(output, input, offset_bytes);
  return true;
}

bool PlanBuilder::PlaceWithin(ValueId part, ValueId whole, int64_t first) {
  MakeDeferred(part);
  const auto made = made_at_.find(part);
  const uint64_t offset_bytes = static_cast<uint64_t>(first) * TexelBytes(StorageOf(whole));
  const bool is_own = made != made_at_.end() && !places_.IsWithin(part) && part != places_.Root(whole) &&
                      std::holds_alternative<CallInstance>(steps_[made->second]);
  // A dispatch may read one part and write the next, so no texel view may extend beyond its part.
  if (!is_own || !HoldAlike(part, whole) || offset_bytes % device().buffer_offset_alignment != 0 ||
      PlacedBytes(BytesOf(part)) != BytesOf(part))
    return false;
  HEARTH_CHECK(offset_bytes + BytesOf(part) <= BytesOf(whole));
  Tensor(whole);
  size_t& whole_made = made_at_.try_emplace(places_.Root(whole), made->second).first->second;
  whole_made = std::max(whole_made, made_at_.at(part));
  made_at_.erase(part);
  places_.TakeOff(part);
  places_.PutWithin(part, whole, offset_bytes);
  return true;
}

Status PlanBuilder::Defer(ValueId output, Deferred deferred) {
  HEARTH_TRY(
      instances_.Make(*deferred.node, deferred.call).status());  // an impossible dispatch is an error of this node
  deferred_[output] = std::move(deferred);
  return Status::Ok();
}

const PlanBuilder::Deferred* PlanBuilder::DeferredAt(ValueId value) const {
  const auto found = deferred_.find(value);
  return found == deferred_.end() ? nullptr : &found->second;
}

void PlanBuilder::MakeDeferred(ValueId value) {
  const auto node = deferred_.extract(value);
  if (node.empty()) return;
  const Deferred& deferred = node.mapped();
  Tensor(deferred.source);
  places_.PutOnDevice(value);
  HEARTH_CHECK(Call(*deferred.node, deferred.call).ok());
}

const KernelCall* PlanBuilder::RelocatableMakerOf(ValueId value) const {
  const auto made = made_at_.find(value);
  if (made == made_at_.end() || places_.IsWithin(value) || IsScratch(value) || graph().IsKept(value)) return nullptr;
  const auto* pending = std::get_if<CallInstance>(&steps_[made->second]);
  const bool can = pending != nullptr && pending->call.stores_each_texel_once &&
                   std::ranges::all_of(pending->call.epilogue, KnowsNoPlace);
  return can ? &pending->call : nullptr;
}

bool PlanBuilder::Relocate(const Node& node, ValueId value, ValueId output, std::span<const NamedScalar> scalars) {
  if (StorageOf(value) != StorageOf(output)) return false;
  const size_t index = made_at_.at(value);
  KernelCall call = std::get<CallInstance>(steps_[index]).call;
  for (NamedScalar& own : call.scalars) {
    const auto other = std::ranges::find(scalars, own.name.text(), [](const NamedScalar& s) { return s.name.text(); });
    if (other != scalars.end()) own.scalar = other->scalar;
  }
  return Replace(index, node, value, output, std::move(call));
}

bool PlanBuilder::Replace(size_t index, const Node& node, ValueId value, ValueId output, KernelCall call) {
  const Operand made = Tensor(output);
  for (auto& [name, operand] : call.tensors) {
    if (operand.kind == Operand::Kind::kValue && operand.id == value) operand = made;
  }
  if (!instances_.Replace(node, std::move(call), std::get<CallInstance>(steps_[index]))) return false;
  made_at_.erase(value);
  places_.TakeOff(value);
  made_at_[output] = index;
  return true;
}

}  // namespace hearth
