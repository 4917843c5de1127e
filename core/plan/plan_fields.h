// The fields of a Plan in the order of their binary form: one list that writes and reads.
//
// Fields(archive, value) visits every part of `value`. With a writing archive `value` is const and is appended;
// with a reading one it is filled and checked. All numbers are little-endian; counts and sizes are 64 bits.
#ifndef HEARTH_CORE_PLAN_PLAN_FIELDS_H_
#define HEARTH_CORE_PLAN_PLAN_FIELDS_H_

#include <type_traits>

#include "core/plan/plan.h"

namespace hearth {

// The last value of each enumeration that a plan may hold: a reader refuses numbers beyond it.
constexpr DType LastOf(DType) {
  return DType::kInt4;
}
constexpr ArgDirection LastOf(ArgDirection) {
  return ArgDirection::kWrite;
}
constexpr StorageType LastOf(StorageType) {
  return StorageType::kInt32;
}
constexpr AccessPath LastOf(AccessPath) {
  return AccessPath::kBuffer64;
}
constexpr ScalarType LastOf(ScalarType) {
  return ScalarType::kFloat;
}
constexpr BufferRole LastOf(BufferRole) {
  return BufferRole::kState;
}
constexpr PackLayout LastOf(PackLayout) {
  return PackLayout::kWinograd;
}

// T for a reading archive, const T for a writing one.
template <typename Archive, typename T>
using FieldOf = std::conditional_t<Archive::kReads, T, const T>;

// ---- Vocabulary types ----

template <typename Archive>
void Fields(Archive& archive, FieldOf<Archive, Quantization>& quantization) {
  archive(quantization.scales, quantization.zero_points, quantization.dimension);
}

template <typename Archive>
void Fields(Archive& archive, FieldOf<Archive, TensorDesc>& desc) {
  archive(desc.dtype, desc.shape, desc.quantization);
}

template <typename Archive>
void Fields(Archive& archive, FieldOf<Archive, Bhwc>& shape) {
  archive(shape.b, shape.h, shape.w, shape.c);
}

// ---- Kernels ----

template <typename Archive>
void Fields(Archive& archive, FieldOf<Archive, TensorArg>& arg) {
  archive(arg.name, arg.direction, arg.path, arg.storage, arg.wide);
}

template <typename Archive>
void Fields(Archive& archive, FieldOf<Archive, ScalarArg>& arg) {
  archive(arg.name, arg.type);
}

template <typename Archive>
void Fields(Archive& archive, FieldOf<Archive, SharedArray>& array) {
  archive(array.name, array.type, array.count);
}

template <typename Archive>
void Fields(Archive& archive, FieldOf<Archive, Define>& define) {
  archive(define.name, define.value);
}

template <typename Archive>
void Fields(Archive& archive, FieldOf<Archive, KernelSource>& kernel) {
  archive(kernel.name, kernel.tensors, kernel.scalars, kernel.shared, kernel.defines, kernel.epilogue,
          kernel.local_size, kernel.body);
}

// ---- Memory ----

template <typename Archive>
void Fields(Archive& archive, FieldOf<Archive, BufferRange>& range) {
  archive(range.buffer, range.offset_bytes, range.size_bytes);
}

template <typename Archive>
void Fields(Archive& archive, FieldOf<Archive, BufferSpec>& buffer) {
  archive(buffer.role, buffer.size_bytes);
}

template <typename Archive>
void Fields(Archive& archive, FieldOf<Archive, PackRecipe>& recipe) {
  archive(recipe.layout, recipe.source, recipe.width, recipe.dims, recipe.storage);
}

template <typename Archive>
void Fields(Archive& archive, FieldOf<Archive, PlanConstant>& constant) {
  archive(constant.range, constant.recipe, constant.file_offset, constant.file_size_bytes, constant.inline_bytes,
          constant.is_kept);
}

template <typename Archive>
void Fields(Archive& archive, FieldOf<Archive, MemoryFigures>& memory) {
  archive(memory.arena_bytes, memory.naive_bytes, memory.lower_bound_bytes, memory.weights_bytes, memory.state_bytes);
}

// ---- Steps and edges ----

template <typename Archive>
void Fields(Archive& archive, FieldOf<Archive, Dispatch>& dispatch) {
  archive(dispatch.kernel, dispatch.tensors, dispatch.scalars, dispatch.group_count, dispatch.label);
}

template <typename Archive>
void Fields(Archive& archive, FieldOf<Archive, HostTransfer>& transfer) {
  archive(transfer.value, transfer.desc, transfer.storage, transfer.range);
}

template <typename Archive>
void Fields(Archive& archive, FieldOf<Archive, HostStep>& step) {
  archive(step.nodes, step.reads, step.writes);
}

template <typename Archive>
void Fields(Archive& archive, FieldOf<Archive, PlanTensor>& tensor) {
  archive(tensor.name, tensor.desc, tensor.on_device, tensor.transfer);
}

template <typename Archive>
void Fields(Archive& archive, FieldOf<Archive, PlanState>& state) {
  archive(state.name, state.desc, state.on_device, state.transfer, state.next_on_device, state.next);
}

template <typename Archive>
void Fields(Archive& archive, FieldOf<Archive, Fallback>& fallback) {
  archive(fallback.source_index, fallback.op, fallback.reason);
}

template <typename Archive>
void Fields(Archive& archive, FieldOf<Archive, Plan>& plan) {
  archive(plan.kernels, plan.buffers, plan.constants, plan.steps, plan.inputs, plan.outputs, plan.states,
          plan.fallbacks, plan.source_op_count, plan.memory);
}

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_PLAN_FIELDS_H_
