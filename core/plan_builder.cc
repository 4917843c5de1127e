#include "core/plan_builder.h"

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/kernel_library.h"
#include "core/memory_planner.h"
#include "core/op_text.h"
#include "core/positions.h"
#include "core/storage.h"

namespace hearth {
namespace {

uint64_t RoundUp(uint64_t number, uint64_t multiple) {
  return (number + multiple - 1) / multiple * multiple;
}

// The numbers that a quantized type stores.
std::pair<double, double> StoredRange(DType dtype) {
  switch (dtype) {
    case DType::kUInt8: return {0, 255};
    case DType::kInt8: return {-128, 127};
    case DType::kInt16: return {-32768, 32767};
    case DType::kInt4: return {-8, 7};
    default: return {-2147483648.0, 2147483647.0};
  }
}

template <typename Item>
const Item* FindNamed(const std::vector<std::pair<std::string_view, Item>>& list, std::string_view name) {
  for (const auto& [item_name, item] : list) {
    if (item_name == name) return &item;
  }
  return nullptr;
}

void AppendEpilogue(const std::vector<EpilogueStep>& steps, KernelSource& source, std::vector<Operand>& operands,
                    std::vector<uint32_t>& scalars) {
  for (const EpilogueStep& step : steps) {
    source.epilogue.push_back(step.statement);
    for (const auto& [name, operand] : step.tensors) {
      source.tensors.push_back({name, ArgDirection::kRead});
      operands.push_back(operand);
    }
    for (const auto& [name, scalar] : step.scalars) {
      source.scalars.push_back({name, scalar.type});
      scalars.push_back(scalar.bits);
    }
  }
}

// A kernel's own local size is made for 8 lanes of a CPU; a GPU needs a whole warp or wave in a work group. Only for
// kernels that ask for no size of their own in the call: those don't depend on it.
std::array<uint32_t, 3> LocalSizeFor(const KernelSource& source, const KernelCall& call, const DeviceInfo& device) {
  constexpr uint32_t kItems = 64;
  std::array<uint32_t, 3> size = source.local_size;
  if (device.is_software() || device.max_local_invocations < kItems) return size;
  for (int d = 1; d < 3; ++d) {
    while (size[0] * size[1] * size[2] < kItems && size[d] < call.work_items[d] &&
           size[d] * 2 <= device.max_local_size[d]) {
      size[d] *= 2;
    }
  }
  return size;
}

// Texels as they are: both values have equally many, in the same order.
KernelCall CopyCall(PlanBuilder& builder, ValueId from, ValueId to) {
  KernelCall call = MapCall(builder.ShapeOf(to));
  call.tensors = {{"x", builder.Tensor(from)}, {"y", builder.Tensor(to)}};
  return call;
}

Status CheckLimits(const KernelSource& source, const DeviceInfo& device) {
  const auto on_buffers = std::count_if(source.tensors.begin(), source.tensors.end(), [](const TensorArg& arg) {
    return arg.direction == ArgDirection::kWrite || arg.path == AccessPath::kBuffer;
  });
  if (on_buffers > static_cast<int64_t>(device.max_storage_buffers)) {
    return Error(StatusCode::kResourceExhausted, "kernel {} needs {} storage buffers, {} has {}", source.name,
                 on_buffers, device.name, device.max_storage_buffers);
  }
  if (source.scalars.size() * 4 > device.max_scalar_bytes) {
    return Error(StatusCode::kResourceExhausted, "kernel {} needs {} bytes of scalars, {} has {}", source.name,
                 source.scalars.size() * 4, device.name, device.max_scalar_bytes);
  }
  return Status::Ok();
}

}  // namespace

KernelCall MapCall(const Bhwc& out) {
  constexpr int64_t kRow = int64_t{1} << 21;  // within the 65,535 groups that every device takes in a dimension
  const int64_t texels = out.pixels() * out.slices();
  KernelCall call;
  call.kernel = "map";
  call.scalars = {{"COUNT", static_cast<int32_t>(texels)}, {"ROW", static_cast<int32_t>(kRow)}};
  call.work_items = {std::min(texels, kRow), (texels + kRow - 1) / kRow, 1};
  return call;
}

PlanBuilder::PlanBuilder(const Graph& graph, const DeviceInfo& device, const LowerOptions& options)
    : graph_(graph),
      device_(device),
      read_path_(options.read_path.value_or(DefaultReadPath(device))),
      real_storage_(RealStorage(options.precision, device)),
      chooses_positions_(ValuesThatChoosePositions(graph)) {}

ValueId PlanBuilder::Root(ValueId value) const {
  for (auto at = alias_of_.find(value); at != alias_of_.end(); at = alias_of_.find(value)) value = at->second;
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
  device_values_[Root(value)] = true;
  return {Operand::Kind::kValue, value};
}

Operand PlanBuilder::Packed(ValueId constant, PackRecipe recipe) {
  PlanConstant packed;
  // Numbers per channel stay whole: they are few, and an error in one is the same in every pixel (PoseNet with
  // depthwise filters in float16 is off by 3.4 % of its range instead of less than 2 %).
  recipe.storage = recipe.layout == PackLayout::kSlices                                    ? StorageOf(constant)
                   : recipe.layout == PackLayout::kMatrix && !chooses_positions_[constant] ? real_storage_
                                                                                           : StorageType::kFloat32;
  const Constant& source = graph_.constant(*graph_.value(constant).constant);
  if (source.file_offset.has_value()) {
    packed.file_offset = *source.file_offset;
    packed.file_size_bytes = source.bytes.size();
  }
  packed.recipe = std::move(recipe);
  const bool is_inline = !source.file_offset.has_value();
  return ConstantOperand(constant, std::move(packed), is_inline ? source.bytes : std::span<const std::byte>());
}

Operand PlanBuilder::Zeros(int32_t count, int32_t width) {
  PlanConstant zeros;
  zeros.recipe = {PackLayout::kLinear, {DType::kFloat32, {count}, {}}, width, {count, 1, 1, 1}};
  const std::vector<std::byte> bytes(zeros.recipe.source.size_bytes());
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
  // What is one pixel is few numbers, and an error in one is the same in all the pixels that it scales or shifts; what
  // is between the dispatches of one node would be rounded once more than the node's result.
  const bool is_whole = IsScratch(value) || ToBhwc(desc.shape).pixels() == 1 || chooses_positions_[value];
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
  HEARTH_ASSIGN(KernelSource source, LoadKernel(call.kernel));
  for (const Define& define : call.defines) SetDefine(source, define.name, define.value);
  source.local_size = call.local_size.value_or(LocalSizeFor(source, call, device_));
  for (const TensorArg& arg : source.tensors) {
    const Operand* operand = FindNamed(call.tensors, arg.name);
    HEARTH_CHECK(operand != nullptr);
    operands.push_back(*operand);
  }
  for (const ScalarArg& arg : source.scalars) {
    const Scalar* scalar = FindNamed(call.scalars, arg.name);
    HEARTH_CHECK(scalar != nullptr && scalar->type == arg.type);
    scalars.push_back(scalar->bits);
  }
  AppendEpilogue(call.epilogue, source, operands, scalars);
  AppendEpilogue(RoundingToGrid(source, operands), source, operands, scalars);
  for (size_t k = 0; k < source.tensors.size(); ++k) {
    TensorArg& arg = source.tensors[k];
    const bool as_buffer =
        std::find(call.buffer_reads.begin(), call.buffer_reads.end(), arg.name) != call.buffer_reads.end();
    arg.storage = StorageOf(operands[k]);
    const bool fits = !as_buffer && arg.storage != StorageType::kInt32 &&
                      OperandBytes(operands[k]) / TexelBytes(arg.storage) <= device_.max_texel_elements;
    if (arg.direction == ArgDirection::kRead && read_path_ == AccessPath::kTexelBuffer && fits)
      arg.path = AccessPath::kTexelBuffer;
  }
  return source;
}

// Devices hold a quantized value as the real number that it stands for: what the call writes is clamped to the range of
// its type and rounded to its grid, as an integer kernel would have. The clamp is not optional: converters drop a
// relu6 that the range implies.
std::vector<EpilogueStep> PlanBuilder::RoundingToGrid(const KernelSource& source,
                                                      const std::vector<Operand>& operands) const {
  for (size_t k = 0; k < source.tensors.size(); ++k) {
    if (source.tensors[k].direction != ArgDirection::kWrite) continue;
    if (operands[k].kind != Operand::Kind::kValue) return {};
    const TensorDesc& desc = DescOf(operands[k].id);
    if (!IsQuantized(desc)) return {};
    const double scale = desc.quantization->scales[0];
    const double zero_point =
        desc.quantization->zero_points.empty() ? 0.0 : static_cast<double>(desc.quantization->zero_points[0]);
    const auto [lowest, highest] = StoredRange(desc.dtype);
    return {{"v = vclamp(vround_away(v * grid_inverse), splat4(grid_lowest), splat4(grid_highest)) * grid_scale;",
             {},
             {{"grid_scale", static_cast<float>(scale)},
              {"grid_inverse", static_cast<float>(1.0 / scale)},
              {"grid_lowest", static_cast<float>(lowest - zero_point)},
              {"grid_highest", static_cast<float>(highest - zero_point)}}}};
  }
  return {};
}

uint32_t PlanBuilder::KernelIndex(KernelSource source) {
  const auto known = std::find(plan_.kernels.begin(), plan_.kernels.end(), source);
  if (known != plan_.kernels.end()) return static_cast<uint32_t>(known - plan_.kernels.begin());
  plan_.kernels.push_back(std::move(source));
  return static_cast<uint32_t>(plan_.kernels.size() - 1);
}

Status PlanBuilder::Call(const Node& node, const KernelCall& call) {
  PendingDispatch pending;
  HEARTH_ASSIGN(KernelSource source, Instantiate(call, pending.operands, pending.dispatch.scalars));
  HEARTH_TRY(CheckLimits(source, device_).Within(NodeLabel(node)));
  for (int d = 0; d < 3; ++d) {
    const uint64_t groups =
        RoundUp(static_cast<uint64_t>(call.work_items[d]), source.local_size[d]) / source.local_size[d];
    if (groups == 0 || groups > device_.max_group_count[d]) {
      return Error(StatusCode::kResourceExhausted,
                   "{} needs {} work groups in dimension {} of kernel {}; {} takes 1 to {}", NodeLabel(node), groups, d,
                   source.name, device_.name, device_.max_group_count[d]);
    }
    pending.dispatch.group_count[d] = static_cast<uint32_t>(groups);
  }
  pending.dispatch.label = NodeLabel(node);
  pending.dispatch.kernel = KernelIndex(std::move(source));
  pending_.emplace_back(std::move(pending));
  return Status::Ok();
}

Status PlanBuilder::Alias(const Node& node, ValueId output, ValueId input) {
  HEARTH_CHECK(ShapeOf(output).c == ShapeOf(input).c && ShapeOf(output).pixels() == ShapeOf(input).pixels());
  if (graph_.IsState(Root(input)) || StorageOf(output) != StorageOf(input))
    return Call(node, CopyCall(*this, input, output));
  Tensor(input);
  alias_of_[output] = input;
  return Status::Ok();
}

Status PlanBuilder::CopyStates() {
  for (const StatePair& state : graph_.states) {
    if (!OnDevice(state.read)) continue;  // no dispatch reads it
    Node copy;
    copy.op = Unary{.kind = UnaryKind::kCopy};
    copy.name = fmt::format("state {}", graph_.value(state.read).name);
    HEARTH_TRY(Call(copy, CopyCall(*this, state.written, state.read)));
  }
  return Status::Ok();
}

void PlanBuilder::CallHost(int node_index) {
  if (pending_.empty() || !std::holds_alternative<PendingHost>(pending_.back())) pending_.emplace_back(PendingHost{});
  std::get<PendingHost>(pending_.back()).nodes.push_back(node_index);
}

std::map<ValueId, PlanBuilder::Lifetime> PlanBuilder::Lifetimes() const {
  std::map<ValueId, Lifetime> lifetimes;
  const auto touch = [&](ValueId value, int step) {
    if (value == kNoValue || !OnDevice(value) || graph_.IsState(Root(value))) return;
    const auto [at, is_new] = lifetimes.try_emplace(Root(value), Lifetime{step, step});
    if (!is_new) at->second.last = step;
  };
  // Step 0 is the upload of the inputs, the last one the download of the outputs.
  for (ValueId input : graph_.inputs) touch(input, 0);
  int step = 0;
  for (const auto& pending : pending_) {
    ++step;
    if (const auto* dispatch = std::get_if<PendingDispatch>(&pending)) {
      for (const Operand& operand : dispatch->operands) {
        if (operand.kind == Operand::Kind::kValue) touch(operand.id, step);
      }
    } else {
      for (int index : std::get<PendingHost>(pending).nodes) {
        for (ValueId value : graph_.nodes()[index].inputs) touch(value, step);
        for (ValueId value : graph_.nodes()[index].outputs) touch(value, step);
      }
    }
  }
  for (ValueId output : graph_.outputs) touch(output, step + 1);
  for (const StatePair& state : graph_.states) touch(state.written, step + 1);  // the host may fetch it
  return lifetimes;
}

Status PlanBuilder::PlaceArena(Plan& plan, std::map<ValueId, BufferRange>& ranges) const {
  const std::map<ValueId, Lifetime> lifetimes = Lifetimes();
  std::vector<TensorUsage> usages;
  usages.reserve(lifetimes.size());
  for (const auto& [value, lifetime] : lifetimes) usages.push_back({ValueBytes(value), lifetime.first, lifetime.last});
  if (usages.empty()) return Status::Ok();
  const OffsetPlan offsets = PlanOffsetsGreedyBySize(usages, device_.buffer_offset_alignment);
  plan.memory.arena_bytes = offsets.total_bytes;
  plan.memory.naive_bytes = NaiveBytes(usages);
  plan.memory.lower_bound_bytes = LowerBoundBytes(usages);
  if (offsets.total_bytes > device_.max_buffer_bytes) {
    return Error(StatusCode::kResourceExhausted,
                 "the network's tensors need {} bytes at once, one buffer of {} takes {}; try --device cpu",
                 offsets.total_bytes, device_.name, device_.max_buffer_bytes);
  }
  const auto arena = static_cast<uint32_t>(plan.buffers.size());
  plan.buffers.push_back({BufferRole::kArena, offsets.total_bytes});
  size_t k = 0;
  for (const auto& [value, lifetime] : lifetimes) {
    ranges[value] = {arena, offsets.offsets[k], usages[k].size_bytes};
    ++k;
  }
  return Status::Ok();
}

Status PlanBuilder::PlaceStates(Plan& plan, std::map<ValueId, BufferRange>& ranges) const {
  const auto buffer = static_cast<uint32_t>(plan.buffers.size());
  uint64_t end_bytes = 0;
  for (const StatePair& state : graph_.states) {
    if (!OnDevice(state.read)) continue;
    const uint64_t offset_bytes = RoundUp(end_bytes, device_.buffer_offset_alignment);
    ranges[state.read] = {buffer, offset_bytes, ValueBytes(state.read)};
    end_bytes = offset_bytes + ValueBytes(state.read);
  }
  if (end_bytes == 0) return Status::Ok();
  if (end_bytes > device_.max_buffer_bytes) {
    return Error(StatusCode::kResourceExhausted, "the network's state needs {} bytes, one buffer of {} takes {}",
                 end_bytes, device_.name, device_.max_buffer_bytes);
  }
  plan.buffers.push_back({BufferRole::kState, end_bytes});
  plan.memory.state_bytes = end_bytes;
  return Status::Ok();
}

Status PlanBuilder::PlaceConstants(Plan& plan) const {
  for (PlanConstant& constant : plan.constants) {
    const uint64_t size = constant.range.size_bytes;
    if (size > device_.max_buffer_bytes) {
      return Error(StatusCode::kResourceExhausted, "a constant needs {} bytes, one buffer of {} takes {}", size,
                   device_.name, device_.max_buffer_bytes);
    }
    const bool fits =
        !plan.buffers.empty() && plan.buffers.back().role == BufferRole::kConstants &&
        RoundUp(plan.buffers.back().size_bytes, device_.buffer_offset_alignment) + size <= device_.max_buffer_bytes;
    if (!fits) plan.buffers.push_back({BufferRole::kConstants, 0});
    BufferSpec& buffer = plan.buffers.back();
    constant.range.buffer = static_cast<uint32_t>(plan.buffers.size() - 1);
    constant.range.offset_bytes = RoundUp(buffer.size_bytes, device_.buffer_offset_alignment);
    buffer.size_bytes = constant.range.offset_bytes + size;
    plan.memory.weights_bytes += size;
  }
  return Status::Ok();
}

HostTransfer PlanBuilder::TransferOf(ValueId value, const std::map<ValueId, BufferRange>& ranges) const {
  return {value, graph_.value(value).desc, StorageOf(value), ranges.at(Root(value))};
}

HostStep PlanBuilder::FinishHostStep(const PendingHost& pending, const std::map<ValueId, BufferRange>& ranges) const {
  HostStep step;
  step.nodes = pending.nodes;
  std::set<ValueId> made;
  for (int index : pending.nodes) {
    const Node& node = graph_.nodes()[index];
    made.insert(node.outputs.begin(), node.outputs.end());
  }
  std::set<ValueId> read;
  for (int index : pending.nodes) {
    for (ValueId value : graph_.nodes()[index].inputs) {
      const bool from_device = value != kNoValue && !graph_.IsConstant(value) && !made.contains(value) &&
                               OnDevice(value) &&
                               std::find(graph_.inputs.begin(), graph_.inputs.end(), value) == graph_.inputs.end();
      if (from_device && read.insert(value).second) step.reads.push_back(TransferOf(value, ranges));
    }
  }
  for (ValueId value : made) {
    if (OnDevice(value)) step.writes.push_back(TransferOf(value, ranges));
  }
  return step;
}

std::vector<PlanState> PlanBuilder::FinishStates(const std::map<ValueId, BufferRange>& ranges) const {
  std::vector<PlanState> states;
  for (const StatePair& pair : graph_.states) {
    if (!OnDevice(pair.read) && graph_.ConsumersOf(pair.read).empty()) continue;
    PlanState state{graph_.value(pair.read).name, graph_.value(pair.read).desc, OnDevice(pair.read), {}, false, {}};
    if (state.on_device) state.transfer = TransferOf(pair.read, ranges);
    state.next_on_device = !state.on_device && OnDevice(pair.written);
    if (state.next_on_device) state.next = TransferOf(pair.written, ranges);
    state.transfer.value = pair.read;
    state.next.value = pair.written;
    states.push_back(std::move(state));
  }
  return states;
}

Result<Plan> PlanBuilder::Finish() {
  HEARTH_TRY(CopyStates());
  std::map<ValueId, BufferRange> ranges;
  HEARTH_TRY(PlaceArena(plan_, ranges));
  HEARTH_TRY(PlaceStates(plan_, ranges));
  HEARTH_TRY(PlaceConstants(plan_));
  for (size_t k = 0; k < pending_.size(); ++k) {
    if (auto* pending = std::get_if<PendingDispatch>(&pending_[k])) {
      for (const Operand& operand : pending->operands) {
        pending->dispatch.tensors.push_back(operand.kind == Operand::Kind::kValue ? ranges.at(Root(operand.id))
                                                                                  : plan_.constants[operand.id].range);
      }
      plan_.steps.emplace_back(std::move(pending->dispatch));
    } else {
      plan_.steps.emplace_back(FinishHostStep(std::get<PendingHost>(pending_[k]), ranges));
    }
  }
  const auto edge = [&](ValueId value) {
    PlanTensor tensor{graph_.value(value).name, graph_.value(value).desc, ranges.contains(Root(value)), {}};
    if (tensor.on_device) tensor.transfer = TransferOf(value, ranges);
    tensor.transfer.value = value;
    return tensor;
  };
  for (ValueId value : graph_.inputs) plan_.inputs.push_back(edge(value));
  for (ValueId value : graph_.outputs) plan_.outputs.push_back(edge(value));
  plan_.states = FinishStates(ranges);
  return std::move(plan_);
}

}  // namespace hearth
