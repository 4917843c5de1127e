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
