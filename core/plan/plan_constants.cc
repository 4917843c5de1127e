#include "core/plan/plan_constants.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/graph/block_scales.h"
#include "core/graph/value_analysis.h"

namespace hearth {
namespace {

// Plans outlive what they are made of: numbers that a file has are read from it when they are needed.
BlockScales OfPlan(BlockScales blocks) {
  for (BlockScales::Numbers* numbers : {&blocks.scales, &blocks.zeros})
    if (numbers->source) numbers->bytes = {};
  return blocks;
}

}  // namespace

Operand PlanConstants::Packed(ValueId constant, PackRecipe recipe) {
  PlanConstant packed;
  // Numbers per channel stay float32: they are few, and an error in one repeats in every pixel. PoseNet with float16
  // depthwise filters is off by 3.4 % of its range, otherwise by less than 2 %.
  recipe.storage = recipe.layout == PackLayout::kSlices ? values_.StorageOf(constant)
                   : recipe.layout == PackLayout::kMatrix && !values_.DecidesIndices(constant) ? values_.real_storage()
                                                                                               : StorageType::kFloat32;
  const Graph& graph = values_.graph();
  const Constant& stored = graph.constant(*graph.value(constant).constant);
  if (const BlockScales* blocks = BlocksOf(recipe.source)) recipe.source.quantization = GridOf(OfPlan(*blocks));
  const bool is_inline = !stored.source.has_value();
  if (!is_inline) packed.source = *stored.source;
  if (stored.elements != nullptr) recipe.stored = stored.elements->form();
  packed.recipe = std::move(recipe);
  return Add(constant, std::move(packed), is_inline ? stored.bytes : std::span<const std::byte>());
}

Operand PlanConstants::Zeros(int32_t count, int32_t width) {
  PlanConstant zeros;
  zeros.recipe = {PackLayout::kLinear, {DType::kFloat32, {count}, {}}, width, {count, 1, 1, 1}};
  // PlaceIn refuses larger ones.
  const bool is_placed = zeros.recipe.packed_size_bytes() <= values_.device().max_buffer_bytes;
  const std::vector<std::byte> bytes(is_placed ? zeros.recipe.source.size_bytes() : 0);
  return Add(kNoValue, std::move(zeros), bytes);
}

Operand PlanConstants::Add(ValueId value, PlanConstant constant, std::span<const std::byte> inline_bytes) {
  const std::pair<ValueId, PackRecipe> key(value, constant.recipe);
  const auto known = std::find(keys_.begin(), keys_.end(), key);
  const auto index = static_cast<int32_t>(known - keys_.begin());
  if (known == keys_.end()) {
    constant.range.size_bytes = constant.recipe.packed_size_bytes();
    constant.inline_bytes.assign(inline_bytes.begin(), inline_bytes.end());
    keys_.push_back(key);
    constants_.push_back(std::move(constant));
  }
  return {Operand::Kind::kConstant, index};
}

float PlanConstants::LargestMagnitudeOf(int32_t index) const {
  const ValueId constant = keys_[static_cast<size_t>(index)].first;
  return constant == kNoValue ? 0.0f : hearth::LargestMagnitudeOf(values_.graph(), constant);
}

Status PlanConstants::PlaceIn(Plan& plan) {
  const DeviceInfo& device = values_.device();
  for (PlanConstant& constant : constants_) {
    const uint64_t size = constant.range.size_bytes;
    if (size > device.max_buffer_bytes) {
      return Error(StatusCode::kResourceExhausted, "a constant needs {} bytes, one buffer of {} takes {}", size,
                   device.name, device.max_buffer_bytes);
    }
    const bool fits =
        !plan.buffers.empty() && plan.buffers.back().role == BufferRole::kConstants &&
        RoundUp(plan.buffers.back().size_bytes, device.buffer_offset_alignment) + values_.PlacedBytes(size) <=
            device.max_buffer_bytes;
    if (!fits) plan.buffers.push_back({BufferRole::kConstants, 0});
    BufferSpec& buffer = plan.buffers.back();
    constant.range.buffer = static_cast<uint32_t>(plan.buffers.size() - 1);
    constant.range.offset_bytes = RoundUp(buffer.size_bytes, device.buffer_offset_alignment);
    buffer.size_bytes = std::min(constant.range.offset_bytes + values_.PlacedBytes(size), device.max_buffer_bytes);
    plan.memory.weights_bytes += size;
  }
  plan.constants = std::move(constants_);
  return Status::Ok();
}

}  // namespace hearth
