#include "core/plan/plan_builder.h"

#include <algorithm>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/base/round_up.h"
#include "core/device/device_rules.h"
#include "core/device/group_size.h"
#include "core/emit/arithmetic.h"
#include "core/emit/emit.h"
#include "core/emit/kernel_library.h"
#include "core/emit/kernel_limits.h"
#include "core/graph/index_values.h"
#include "core/graph/op_def.h"
#include "core/graph/op_text.h"
#include "core/graph/quantize.h"
#include "core/graph/value_bounds.h"
#include "core/plan/storage.h"
#include "core/plan/tuning.h"

namespace hearth {
namespace {

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

KernelCall MapCall(const Bhwc& out) {
  constexpr int64_t kRow = int64_t{1} << 21;  // within the 65,535 groups that every device takes in a dimension
  const int64_t texels = out.pixels() * out.slices();
  KernelCall call;
  call.kernel = "map";
  call.stores_each_texel_once = true;
  call.scalars = {{"COUNT", static_cast<int32_t>(texels)}, {"ROW", static_cast<int32_t>(kRow)}};
  call.work_items = {std::min(texels, kRow), Tiles(texels, kRow), 1};
  return call;
}

PlanBuilder::PlanBuilder(const Graph& graph, const DeviceInfo& device, const LowerOptions& options)
    : graph_(graph),
      device_(device),
      options_(options),
      read_path_(options.read_path.value_or(DefaultReadPath(device))),
      real_storage_(RealStorage(options.precision, device)),
      decides_indices_(ValuesThatDecideIndices(graph)),
      needs_32_bits_(real_storage_ == StorageType::kFloat32 ? std::vector<bool>(graph.values().size())
                                                            : ValuesThatHoldIntegers(graph)),
      reads_(graph.ReadCounts()) {
  if (real_storage_ != StorageType::kFloat32) {
    const std::vector<bool> beyond_half = ValuesBeyondHalf(graph);
    for (size_t v = 0; v < beyond_half.size(); ++v) needs_32_bits_[v] = needs_32_bits_[v] || beyond_half[v];
  }
  if (options.precision != Precision::kFp32 && Applies(Rule::kHalfArithmetic, device))
    bounds_ = LargestMagnitudes(graph);
}

KernelChoice PlanBuilder::Choose(const Node& node) const {
  std::vector<KernelChoice> candidates = OpDefOf(node.op).candidates(node, *this);
  if (!options_.tuned.empty()) {
    const auto tuned = options_.tuned.find(LayerKey(graph_, node, device_, options_));
    if (tuned != options_.tuned.end() && Contains(candidates, tuned->second.choice)) return tuned->second.choice;
  }
  return std::move(candidates.front());
}

ValueId PlanBuilder::Root(ValueId value) const {
  for (auto at = alias_of_.find(value); at != alias_of_.end(); at = alias_of_.find(value)) value = at->second.of;
  return value;
}

const TensorDesc& PlanBuilder::DescOf(ValueId value) const {
  return IsScratch(value) ? scratch_[value - graph_.values().size()] : graph_.value(value).desc;
}

ValueId PlanBuilder::Scratch(TensorDesc desc) {
  scratch_.push_back(std::move(desc));
  return static_cast<ValueId>(graph_.values().size() + scratch_.size() - 1);
}

Operand PlanBuilder::Tensor(ValueId value) {
  if (!IsScratch(value) && graph_.IsConstant(value)) {
    const TensorDesc& desc = graph_.value(value).desc;
    const Bhwc shape = ToBhwc(desc.shape);
    return Packed(value, {PackLayout::kSlices, desc, 4, {shape.b, shape.h, shape.w, shape.c}});
  }
  MakeDeferred(value);
  device_values_[Root(value)] = true;
  return {Operand::Kind::kValue, value};
}

Operand PlanBuilder::Packed(ValueId constant, PackRecipe recipe) {
  PlanConstant packed;
  // Numbers per channel stay float32: they are few, and an error in one repeats in every pixel. PoseNet with float16
  // depthwise filters is off by 3.4 % of its range, otherwise by less than 2 %.
  recipe.storage = recipe.layout == PackLayout::kSlices                                  ? StorageOf(constant)
                   : recipe.layout == PackLayout::kMatrix && !decides_indices_[constant] ? real_storage_
                                                                                         : StorageType::kFloat32;
  const Constant& stored = graph_.constant(*graph_.value(constant).constant);
  const bool is_inline = !stored.source.has_value();
  if (!is_inline) packed.source = *stored.source;
  packed.recipe = std::move(recipe);
  return ConstantOperand(constant, std::move(packed), is_inline ? stored.bytes : std::span<const std::byte>());
}

Operand PlanBuilder::Zeros(int32_t count, int32_t width) {
  PlanConstant zeros;
  zeros.recipe = {PackLayout::kLinear, {DType::kFloat32, {count}, {}}, width, {count, 1, 1, 1}};
  // PlaceConstants refuses larger ones.
  const bool is_placed = zeros.recipe.packed_size_bytes() <= device_.max_buffer_bytes;
  const std::vector<std::byte> bytes(is_placed ? zeros.recipe.source.size_bytes() : 0);
  return ConstantOperand(kNoValue, std::move(zeros), bytes);
}

Operand PlanBuilder::ConstantOperand(ValueId value, PlanConstant constant, std::span<const std::byte> inline_bytes) {
  const std::pair<ValueId, PackRecipe> key(value, constant.recipe);
  const auto known = std::find(constant_keys_.begin(), constant_keys_.end(), key);
  const auto index = static_cast<int32_t>(known - constant_keys_.begin());
  if (known == constant_keys_.end()) {
    constant.range.size_bytes = constant.recipe.packed_size_bytes();
    constant.inline_bytes.assign(inline_bytes.begin(), inline_bytes.end());
    constant_keys_.push_back(key);
    plan_.constants.push_back(std::move(constant));
  }
  return {Operand::Kind::kConstant, index};
}

uint64_t PlanBuilder::ValueBytes(ValueId value) const {
  const Bhwc shape = ShapeOf(value);
  return static_cast<uint64_t>(shape.pixels()) * shape.slices() * TexelBytes(StorageOf(value));
}

StorageType PlanBuilder::StorageOf(ValueId value) const {
  const TensorDesc& desc = DescOf(value);
  // 1-pixel tensors stay float32: an error there repeats in every pixel that they scale or shift. Values between the
  // dispatches of one node stay float32 too: a rounding there would be one more than the node's result has.
  const bool is_whole =
      IsScratch(value) || ToBhwc(desc.shape).pixels() == 1 || decides_indices_[value] || needs_32_bits_[value];
  return hearth::StorageOf(desc, is_whole ? StorageType::kFloat32 : real_storage_);
}

StorageType PlanBuilder::StorageOf(const Operand& operand) const {
  return operand.kind == Operand::Kind::kValue ? StorageOf(operand.id) : plan_.constants[operand.id].recipe.storage;
}

uint64_t PlanBuilder::OperandBytes(const Operand& operand) const {
  return operand.kind == Operand::Kind::kValue ? ValueBytes(operand.id) : plan_.constants[operand.id].range.size_bytes;
}

Result<KernelSource> PlanBuilder::Instantiate(const KernelCall& call, std::vector<Operand>& operands,
                                              std::vector<uint32_t>& scalars) const {
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
  source.local_size = call.local_size.value_or(LocalSizeFor(source, call, device_));
  if (TakesAnyGroup(source)) source.local_size = FittingGroup(source.local_size, device_);
  SetLocalMemory(call, device_, source);
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
                      OperandBytes(operands[k]) / TexelBytes(arg.storage) <= device_.max_texel_elements;
    if (arg.direction == ArgDirection::kRead && read_path_ == AccessPath::kTexelBuffer && fits)
      arg.path = AccessPath::kTexelBuffer;
    if (arg.direction == ArgDirection::kWrite && arg.storage == StorageType::kFloat32 &&
        Applies(Rule::kWideStores, device_))
      arg.path = AccessPath::kBuffer64;
  }
  return source;
}

// Devices hold a quantized value as the real number that it represents. The result is clamped to its type's range and
// rounded to its grid, as an integer kernel would do. Without the clamp a relu6 would be lost that the converter
// dropped because the range implies it.
std::vector<EpilogueStep> PlanBuilder::RoundingToGrid(const KernelSource& source,
                                                      const std::vector<Operand>& operands) const {
  for (size_t k = 0; k < source.tensors.size(); ++k) {
    if (source.tensors[k].direction != ArgDirection::kWrite) continue;
    if (operands[k].kind != Operand::Kind::kValue) return {};
    const TensorDesc& desc = DescOf(operands[k].id);
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

uint32_t PlanBuilder::KernelIndex(KernelSource source) {
  const auto known = std::find(plan_.kernels.begin(), plan_.kernels.end(), source);
  if (known != plan_.kernels.end()) return static_cast<uint32_t>(known - plan_.kernels.begin());
  plan_.kernels.push_back(std::move(source));
  return static_cast<uint32_t>(plan_.kernels.size() - 1);
}

Status PlanBuilder::CheckFits(const KernelSource& source, std::span<const Operand> operands,
                              const std::array<uint64_t, 3>& groups) const {
  HEARTH_TRY(CheckKernelLimits(source, device_));
  for (size_t k = 0; k < source.tensors.size(); ++k)
    HEARTH_TRY(CheckBindingLimit(source, source.tensors[k], OperandBytes(operands[k]), device_));
  return CheckGroupLimits(source, groups, device_);
}

Result<PlanBuilder::PendingDispatch> PlanBuilder::Pending(const Node& node, const KernelCall& call) const {
  PendingDispatch pending;
  HEARTH_ASSIGN(KernelSource source, Instantiate(call, pending.operands, pending.dispatch.scalars));
  std::array<uint64_t, 3> groups{};
  for (int d = 0; d < 3; ++d)
    groups[d] = RoundUp(static_cast<uint64_t>(call.work_items[d]), source.local_size[d]) / source.local_size[d];
  HEARTH_TRY(CheckFits(source, pending.operands, groups).Within(NodeLabel(node)));
  for (int d = 0; d < 3; ++d) pending.dispatch.group_count[d] = static_cast<uint32_t>(groups[d]);
  pending.dispatch.label = NodeLabel(node);
  pending.call = call;
  pending.source = std::move(source);
  return pending;
}

void PlanBuilder::Push(PendingDispatch pending) {
  for (size_t k = 0; k < pending.source.tensors.size(); ++k) {
    if (pending.source.tensors[k].direction == ArgDirection::kWrite &&
        pending.operands[k].kind == Operand::Kind::kValue)
      made_at_[Root(pending.operands[k].id)] = pending_.size();
  }
  pending_.emplace_back(std::move(pending));
}

Status PlanBuilder::Call(const Node& node, const KernelCall& call) {
  HEARTH_ASSIGN(PendingDispatch pending, Pending(node, call));
  Push(std::move(pending));
  return Status::Ok();
}

Status PlanBuilder::CopyStates() {
  for (const StatePair& state : graph_.states) {
    if (!OnDevice(state.read)) continue;  // only host steps read it
    Node copy;
    copy.op = Unary{.kind = UnaryKind::kCopy};
    copy.name = fmt::format("state {}", graph_.value(state.read).name);
    HEARTH_TRY(Call(copy, TexelCopyCall(*this, state.written, state.read)));
  }
  return Status::Ok();
}

void PlanBuilder::CallHost(int node_index) {
  for (ValueId input : graph_.nodes()[node_index].inputs) MakeDeferred(input);
  const bool continues = !pending_.empty() && std::holds_alternative<PendingHost>(pending_.back());
  // A host step reads device memory at its start: an alias of a value that the previous step makes needs a new one.
  const bool reads_alias = std::ranges::any_of(graph_.nodes()[node_index].inputs, [&](ValueId input) {
    const auto made = input == kNoValue || Root(input) == input ? made_at_.end() : made_at_.find(Root(input));
    return made != made_at_.end() && made->second + 1 == pending_.size();
  });
  if (!continues || reads_alias) pending_.emplace_back(PendingHost{});
  std::get<PendingHost>(pending_.back()).nodes.push_back(node_index);
  for (ValueId output : graph_.nodes()[node_index].outputs) made_at_[output] = pending_.size() - 1;
}

}  // namespace hearth
