#include "core/plan/call_instance.h"

#include <algorithm>
#include <cmath>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/device/device_rules.h"
#include "core/device/group_size.h"
#include "core/emit/arithmetic.h"
#include "core/emit/emit.h"
#include "core/emit/kernel_library.h"
#include "core/emit/kernel_limits.h"
#include "core/graph/op_text.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

// Sums of fewer channels (60 and less) are calculated in 32 bits: the fewer blocks of 16-bit sums add up, the less
// their errors cancel. selfie_segmentation, mostly 16 to 32 channels deep, was off by twice as much as storing it in 16
// bits makes it, with this limit by 1.1 times as much (medians of six pictures; benchmarks/hardware.md).
constexpr int32_t kLeastHalfSlices = 16;
// What every mediump number can be (GLSL ES 3.10, "Range and Precision"); float16 can be four times as large.
constexpr float kLargestHalf = 0x1p14f;
// Below 2^-14 float16 loses digits. Where even the largest product is small, most are below: a softmax over thousands
// of channels times weights of 1e-4 came out as zero.
constexpr float kLeastLargestProduct = 0.5f;

// The argument of this name, or an error: the compiler can't check that a call names all of them.
template <typename Named>
Result<const Named*> FindNamed(const std::vector<Named>& list, const KernelSource& kernel, std::string_view name) {
  for (const Named& item : list) {
    if (item.name.text() == name) return &item;
  }
  return Error(StatusCode::kInternal, "kernel {} is called without its argument {}", kernel.name, name);
}

void AppendEpilogue(const std::vector<EpilogueStep>& steps, KernelSource& source, std::vector<Operand>& operands,
                    std::vector<uint32_t>& scalars) {
  for (const EpilogueStep& step : steps) {
    EpilogueStatement& statement = source.epilogue.emplace_back(step.statement);
    for (const auto& [name, operand] : step.tensors) {
      statement.arguments.push_back(name);
      source.tensors.push_back({name, ArgDirection::kRead});
      operands.push_back(operand);
    }
    for (const auto& [name, scalar] : step.scalars) {
      statement.arguments.push_back(name);
      source.scalars.push_back({name, scalar.type});
      scalars.push_back(scalar.bits);
    }
  }
}

// Few shapes, because each makes a program of its own.
std::array<uint32_t, 3> LocalSizeOfManyItems(std::array<uint32_t, 3> own, const std::array<int64_t, 3>& work_items,
                                             const DeviceInfo& device) {
  if (own != std::array<uint32_t, 3>{8, 1, 1} || device.max_local_invocations < 64) return own;
  if (work_items[0] >= 512 && device.max_local_size[0] >= 64) return {64, 1, 1};
  if (work_items[1] >= 32 && device.max_local_size[1] >= 8) return {8, 8, 1};
  if (work_items[2] >= 4 && work_items[2] % 4 == 0 && device.max_local_size[2] >= 4) return {8, 1, 4};
  return own;
}

// Whether the kernel gives the same results in any work group. Others know the number of their items: as LANES, which
// lowering sets, or by what they share.
bool TakesAnyGroup(const KernelSource& source) {
  const auto lanes = std::ranges::find(source.defines, "LANES", &Define::name);
  return lanes == source.defines.end() ? source.shared.empty() : lanes->value == "1";
}

double ItemsInGroups(const std::array<int64_t, 3>& work_items, const std::array<uint32_t, 3>& group) {
  double items = 1;
  for (int d = 0; d < 3; ++d) items *= static_cast<double>(RoundUp(work_items[d], group[d]));
  return items;
}

// A kernel's own local size suits a CPU's vectors of 8; a GPU needs a whole warp or wave. Kernels whose call sets a
// local size depend on it and keep it.
std::array<uint32_t, 3> LocalSizeFor(const KernelSource& source, const KernelCall& call, const DeviceInfo& device) {
  const uint32_t items = GroupItems(device);
  std::array<uint32_t, 3> size = source.local_size;
  if (Applies(Rule::kCostlyGroups, device)) return LocalSizeOfManyItems(size, call.work_items, device);
  if (items < 64) return size;  // a processor, or a device with small groups
  for (int d = 1; d < 3; ++d) {
    while (size[0] * size[1] * size[2] < items && size[d] < call.work_items[d] &&
           size[d] * 2 <= device.max_local_size[d]) {
      size[d] *= 2;
    }
  }
  // Grows to the full group at once, even if some of it may be idle: a size between would make one more program.
  const uint32_t others = size[1] * size[2];
  if (size[0] * others < items && size[0] < call.work_items[0]) size[0] = items / others;
  // Pictures of 9, 17 or 33 columns leave up to half of a group of 8 columns idle. Four texels still fill a cache line.
  const std::array<uint32_t, 3> narrow = {4, 2, items / 8};
  const bool may_be_narrow =
      source.local_size == std::array<uint32_t, 3>{8, 1, 1} && narrow[2] <= device.max_local_size[2];
  if (may_be_narrow && ItemsInGroups(call.work_items, narrow) * 1.15 <= ItemsInGroups(call.work_items, size))
    return narrow;
  return size;
}

// An array with an element for each item is as long as the group where the device lacks the memory for more. Elsewhere
// it stays as long as the kernel's file says, so that the reviewed text is what drivers get.
void SetLocalMemory(const KernelCall& call, const DeviceInfo& device, KernelSource& source) {
  if (call.local_texels) source.shared.front().count = *call.local_texels;
  if (!call.local_by_item || LocalMemoryBytes(source) <= device.local_memory_bytes) return;
  const uint32_t items = source.local_size[0] * source.local_size[1] * source.local_size[2];
  for (SharedArray& array : source.shared) array.count = std::min(array.count, items);
}

}  // namespace

StorageType CallInstances::StorageOf(const Operand& operand) const {
  return operand.kind == Operand::Kind::kValue ? values_.StorageOf(operand.id)
                                               : constants_.at(operand.id).recipe.storage;
}

uint64_t CallInstances::OperandBytes(const Operand& operand) const {
  return operand.kind == Operand::Kind::kValue ? values_.BytesOf(operand.id)
                                               : constants_.at(operand.id).range.size_bytes;
}

float CallInstances::LargestMagnitudeOf(const Operand& operand) const {
  return operand.kind == Operand::Kind::kValue ? values_.LargestMagnitudeOf(operand.id)
                                               : constants_.LargestMagnitudeOf(operand.id);
}

Result<KernelSource> CallInstances::Instantiate(const KernelCall& call, std::vector<Operand>& operands,
                                                std::vector<uint32_t>& scalars) {
  auto parsed = parsed_.find(call.kernel.text());
  if (parsed == parsed_.end()) {
    HEARTH_ASSIGN(KernelSource kernel, LoadKernel(call.kernel.text()));
    parsed = parsed_.emplace(call.kernel.text(), std::move(kernel)).first;
  }
  KernelSource source = parsed->second;
  for (const NamedDefine& define : call.defines) {
    if (!IsDefineValue(define.value))
      return Error(StatusCode::kInternal, "'{}' is not a value that a plan may hold: add it to statement.cc",
                   define.value);
    HEARTH_TRY(SetDefine(source, define.name.text(), define.value));
  }
  if (!call.buffer_reads.empty()) HEARTH_TRY(SetDefine(source, kInPlace, "1"));
  source.local_size = call.local_size.value_or(LocalSizeFor(source, call, values_.device()));
  if (TakesAnyGroup(source)) source.local_size = FittingGroup(source.local_size, values_.device());
  SetLocalMemory(call, values_.device(), source);
  for (const TensorArg& arg : source.tensors) {
    HEARTH_ASSIGN(const NamedOperand* named, FindNamed(call.tensors, source, arg.name));
    operands.push_back(named->operand);
  }
  for (const ScalarArg& arg : source.scalars) {
    HEARTH_ASSIGN(const NamedScalar* named, FindNamed(call.scalars, source, arg.name));
    if (named->scalar.type != arg.type)
      return Error(StatusCode::kInternal, "argument {} of kernel {} is given a number of another type", arg.name,
                   source.name);
    scalars.push_back(named->scalar.bits);
  }
  HEARTH_TRY(SetArithmetic(source, operands, scalars));
  AppendEpilogue(call.epilogue, source, operands, scalars);
  AppendEpilogue(RoundingToGrid(source, operands), source, operands, scalars);
  for (size_t k = 0; k < source.tensors.size(); ++k) {
    TensorArg& arg = source.tensors[k];
    const bool as_buffer = Contains(call.buffer_reads, arg.name, &TensorName::text);
    arg.storage = StorageOf(operands[k]);
    const bool fits = !as_buffer && arg.storage != StorageType::kInt32 &&
                      OperandBytes(operands[k]) / TexelBytes(arg.storage) <= values_.device().max_texel_elements;
    if (arg.direction == ArgDirection::kRead && values_.read_path() == AccessPath::kTexelBuffer && fits)
      arg.path = AccessPath::kTexelBuffer;
    if (arg.direction == ArgDirection::kWrite && arg.storage == StorageType::kFloat32 &&
        Applies(Rule::kWideStores, values_.device()))
      arg.path = AccessPath::kBuffer64;
  }
  return source;
}

// Devices hold a quantized value as the real number that it represents. The result is clamped to its type's range and
// rounded to its grid, as an integer kernel would do. Without the clamp a relu6 would be lost that the converter
// dropped because the range implies it.
std::vector<EpilogueStep> CallInstances::RoundingToGrid(const KernelSource& source,
                                                        const std::vector<Operand>& operands) const {
  for (size_t k = 0; k < source.tensors.size(); ++k) {
    if (source.tensors[k].direction != ArgDirection::kWrite) continue;
    if (operands[k].kind != Operand::Kind::kValue) return {};
    const TensorDesc& desc = values_.DescOf(operands[k].id);
    if (!IsQuantized(desc)) return {};
    const TensorGrid grid = GridOf(desc);
    // Clamping first lets a conversion to integers round: PoCL's round() takes five times as long (3.1).
    return {{{IsSmall(grid) ? StatementForm::kRoundToSmallGrid : StatementForm::kRoundToGrid},
             {},
             {{"grid_scale", grid.scale},
              {"grid_inverse", grid.inverse},
              {"grid_lowest", grid.lowest},
              {"grid_highest", grid.highest}}}};
  }
  return {};
}

Status CallInstances::SetArithmetic(KernelSource& source, std::span<const Operand> operands,
                                    std::span<const uint32_t> scalars) const {
  const auto half = std::ranges::find(source.defines, kHalf, &Define::name);
  // A call for cooperative matrices has set it: their factors always have 16 bits, their sums 32.
  if (half == source.defines.end() || half->value != "0") return Status::Ok();
  // Adding four products at once rounds a quarter as often: a sum that decides an index must stay close to exact.
  const bool decides = std::ranges::any_of(operands, [&](const Operand& operand) {
    return operand.kind == Operand::Kind::kValue && values_.DecidesIndices(operand.id);
  });
  const bool is_float = values_.options().precision == Precision::kFp32;  // its tolerance allows chained sums
  if (is_float && !decides && Applies(Rule::kChainedSums, values_.device()))
    HEARTH_TRY(SetDefine(source, kChained, "1"));
  if (is_float || !Applies(Rule::kHalfArithmetic, values_.device())) return Status::Ok();
  // Values kept in 32 bits, because an error repeats or decides an index, are multiplied in 32 bits. A bias is added,
  // not multiplied.
  for (size_t k = 0; k < source.tensors.size(); ++k) {
    if (source.tensors[k].name != "bias" && StorageOf(operands[k]) != StorageType::kFloat16) return Status::Ok();
  }
  const auto place = std::ranges::find(source.scalars, "K4", &ScalarArg::name) - source.scalars.begin();
  const auto slices = static_cast<int32_t>(scalars[place]);
  if (slices < kLeastHalfSlices) return Status::Ok();
  const int turns = values_.options().precision == Precision::kFp16 ? TurnsOf(slices) : 1;
  if (!Applies(Rule::kUnboundedHalves, values_.device()) && !FitsHalfSums(source, operands, 4 * turns))
    return Status::Ok();
  HEARTH_TRY(SetDefine(source, kTurns, std::to_string(turns)));
  return SetDefine(source, kHalf, "1");
}

bool CallInstances::FitsHalfSums(const KernelSource& source, std::span<const Operand> operands, int products) const {
  float largest = static_cast<float>(products);
  for (size_t k = 0; k < source.tensors.size(); ++k) {
    const TensorArg& arg = source.tensors[k];
    if (arg.direction == ArgDirection::kRead && arg.name != "bias") largest *= LargestMagnitudeOf(operands[k]);
    if (std::isinf(largest)) return false;  // weights, which stand behind, are read only where their input is bounded
  }
  return largest <= kLargestHalf && largest >= kLeastLargestProduct * static_cast<float>(products);  // false for NaN
}

Status CallInstances::CheckFits(const KernelSource& source, std::span<const Operand> operands,
                                const std::array<uint64_t, 3>& groups) const {
  HEARTH_TRY(CheckKernelLimits(source, values_.device()));
  for (size_t k = 0; k < source.tensors.size(); ++k)
    HEARTH_TRY(CheckBindingLimit(source, source.tensors[k], OperandBytes(operands[k]), values_.device()));
  return CheckGroupLimits(source, groups, values_.device());
}

Result<CallInstance> CallInstances::Make(const Node& node, const KernelCall& call) {
  CallInstance instance;
  HEARTH_ASSIGN(KernelSource source, Instantiate(call, instance.operands, instance.dispatch.scalars));
  std::array<uint64_t, 3> groups{};
  for (int d = 0; d < 3; ++d)
    groups[d] = RoundUp(static_cast<uint64_t>(call.work_items[d]), source.local_size[d]) / source.local_size[d];
  HEARTH_TRY(CheckFits(source, instance.operands, groups).Within(NodeLabel(node)));
  for (int d = 0; d < 3; ++d) instance.dispatch.group_count[d] = static_cast<uint32_t>(groups[d]);
  instance.dispatch.label = NodeLabel(node);
  instance.call = call;
  instance.source = std::move(source);
  return instance;
}

bool CallInstances::Replace(const Node& node, KernelCall call, CallInstance& instance) {
  std::vector<Operand> operands;
  std::vector<uint32_t> scalars;
  Result<KernelSource> source = Instantiate(call, operands, scalars);
  const auto& groups = instance.dispatch.group_count;
  if (!source.ok() || !CheckFits(*source, operands, {groups[0], groups[1], groups[2]}).ok()) return false;
  instance.dispatch.scalars = std::move(scalars);
  instance.dispatch.label += " + " + NodeLabel(node);
  instance.call = std::move(call);
  instance.source = std::move(source).value();
  instance.operands = std::move(operands);
  return true;
}

}  // namespace hearth
