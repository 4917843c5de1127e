// How a Plan is written and read: every member of every struct, in the order of its declaration.
//
// Fields(archive, value) visits them. With a writing archive `value` is const and is appended; with a reading one it is
// filled and checked. All numbers are little-endian; counts and sizes are 64 bits.
#ifndef HEARTH_CORE_PLAN_PLAN_FIELDS_H_
#define HEARTH_CORE_PLAN_PLAN_FIELDS_H_

#include <type_traits>

#include "core/base/members.h"
#include "core/plan/plan.h"

namespace hearth {

// The last value of each enumeration that a plan may hold: a reader refuses numbers beyond it.
constexpr DType LastOf(DType) {
  return kLastDType;
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
constexpr StatementForm LastOf(StatementForm) {
  return StatementForm::kRoundToGrid;
}
constexpr ElementFunction::Table LastOf(ElementFunction::Table) {
  return ElementFunction::Table::kPRelu;
}
constexpr Reach LastOf(Reach) {
  return Reach::kRepeated;
}
constexpr BufferRole LastOf(BufferRole) {
  return BufferRole::kState;
}
constexpr Executor LastOf(Executor) {
  return Executor::kCpu;
}
constexpr HostPlace::Kind LastOf(HostPlace::Kind) {
  return HostPlace::Kind::kConstant;
}
constexpr FileType LastOf(FileType) {
  return FileType::kUInt2;
}
constexpr PackLayout LastOf(PackLayout) {
  return PackLayout::kWinograd;
}

template <typename Archive, typename T>
void Fields(Archive& archive, T& value) {
  if constexpr (std::is_same_v<std::remove_const_t<T>, KernelSource>) {  // all but the kernel library's part
    auto& [name, tensors, scalars, shared, defines, epilogue, local_size, body] = value;
    archive(name, tensors, scalars, shared, defines, epilogue, local_size);
  } else {
    VisitMembers(value, [&](auto&... members) { archive(members...); });
  }
}

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_PLAN_FIELDS_H_
