// A call of a kernel, with its arguments by name: what lowering functions give to a PlanBuilder.
#ifndef HEARTH_CORE_PLAN_KERNEL_CALL_H_
#define HEARTH_CORE_PLAN_KERNEL_CALL_H_

#include <array>
#include <bit>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/emit/kernel_names.h"
#include "core/emit/kernel_source.h"
#include "core/graph/graph.h"
#include "core/plan/plan.h"

namespace hearth {

// A tensor argument of a call: a value in the arena or a packed constant.
struct Operand {
  enum class Kind : uint8_t { kValue, kConstant };
  Kind kind = Kind::kValue;
  int32_t id = 0;  // a ValueId, or an index into the plan's constants
};

struct Scalar {
  // Implicit, so that an argument list reads {{"M", rows}, {"BETA", beta}}.
  Scalar(int32_t number) : bits(std::bit_cast<uint32_t>(number)) {}  // NOLINT(google-explicit-constructor)
  // Counts of texels and elements, which lowering has found to fit into 32 bits.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Scalar(int64_t number) : bits(static_cast<uint32_t>(number)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Scalar(float number) : type(ScalarType::kFloat), bits(std::bit_cast<uint32_t>(number)) {}

  ScalarType type = ScalarType::kInt;
  uint32_t bits = 0;
};

// One step of an epilogue. The statement's arguments are these in order, tensors first.
struct EpilogueStep {
  EpilogueStatement statement;
  std::vector<std::pair<std::string, Operand>> tensors;  // read by the statement
  std::vector<std::pair<std::string, Scalar>> scalars;
};

// Arguments of a call, by the names that the .kernel file gives them.
struct NamedOperand {
  TensorName name;
  Operand operand;
};
struct NamedScalar {
  ScalarName name;
  Scalar scalar;
};
template <typename Kernel>
struct OperandOf {
  NameIn<Kernel::kTensors> name;
  Operand operand;
};
struct NamedDefine {
  DefineName name;
  std::string value;
};

struct KernelCall {
  KernelName kernel;
  // The kernel stores every texel of its result once, so elementwise nodes after it may become part of the store.
  bool stores_each_texel_once = false;
  std::vector<NamedDefine> defines;  // override the kernel's defaults
  std::vector<NamedOperand> tensors;
  std::vector<NamedScalar> scalars;
  std::vector<EpilogueStep> epilogue;
  std::array<int64_t, 3> work_items = {1, 1, 1};      // rounded up to the local size
  std::optional<std::array<uint32_t, 3>> local_size;  // overrides the kernel's
  std::optional<uint32_t> local_texels;               // of local memory, overrides the kernel's
  bool local_by_item = false;            // the arrays there have an element for each item: a small group needs no more
  std::vector<TensorName> buffer_reads;  // arguments that the call also writes, so not read through texels
};

// The tensors of a kernel (a type of kernel_constants.h), all named in one place. Another kernel's names, and a wrong
// number of them, do not compile.
template <typename Kernel, size_t kCount>
std::vector<NamedOperand> TensorsOf(const OperandOf<Kernel> (&tensors)[kCount]) {
  static_assert(kCount == Kernel::kTensors.size());
  std::vector<NamedOperand> named;
  for (const OperandOf<Kernel>& tensor : tensors) named.push_back({TensorName(tensor.name), tensor.operand});
  return named;
}

// A call of that kernel with these tensors.
template <typename Kernel, size_t kCount>
KernelCall CallOf(const OperandOf<Kernel> (&tensors)[kCount]) {
  KernelCall call;
  call.kernel = Kernel::kName.data();
  call.tensors = TensorsOf<Kernel>(tensors);
  return call;
}

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_KERNEL_CALL_H_
