#include "hal/run/resident_constants.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/large_pages.h"
#include "core/base/numbers.h"
#include "core/graph/block_scales.h"
#include "hal/device/stopping.h"
#include "hal/device/stopwatch.h"

namespace hearth {
namespace {

bool Contains(const BufferRange& outer, const BufferRange& inner) {
  return outer.buffer == inner.buffer && outer.offset_bytes <= inner.offset_bytes &&
         inner.offset_bytes + inner.size_bytes <= outer.offset_bytes + outer.size_bytes;
}

const PlanConstant* ConstantAround(const Plan& plan, const BufferRange& range) {
  const auto found = std::ranges::find_if(
      plan.constants, [&](const PlanConstant& constant) { return Contains(constant.range, range); });
  return found == plan.constants.end() ? nullptr : &*found;
}

// Marks buffers whose constants may be in separate memory: each dispatch reads only within one constant, and nothing is
// copied to or from the buffer.
std::vector<bool> BuffersOfSingleConstants(const Plan& plan) {
  std::vector<bool> is_single(plan.buffers.size());
  for (size_t b = 0; b < plan.buffers.size(); ++b) is_single[b] = plan.buffers[b].role == BufferRole::kConstants;
  const auto exclude = [&](const HostTransfer& transfer) { is_single[transfer.range.buffer] = false; };
  for (const std::vector<PlanTensor>* tensors : {&plan.inputs, &plan.outputs}) {
    for (const PlanTensor& tensor : *tensors)
      if (tensor.on_device) exclude(tensor.transfer);
  }
  for (const PlanState& state : plan.states) {
    if (state.on_device) exclude(state.transfer);
    if (state.next_on_device) exclude(state.next);
  }
  for (const Segment& segment : plan.segments) {
    for (const std::vector<SegmentOperand>* operands : {&segment.reads, &segment.writes}) {
      for (const SegmentOperand& operand : *operands)
        if (operand.crosses) exclude(operand.transfer);
    }
  }
  for (const Dispatch& dispatch : plan.dispatches) {
    for (const BufferRange& range : dispatch.tensors) {
      if (is_single[range.buffer] && ConstantAround(plan, range) == nullptr) is_single[range.buffer] = false;
    }
  }
  return is_single;
}

// Makes a buffer with the layout of the plan.
Status PlaceWhole(Device& device, const Plan& plan, uint32_t buffer, PlacedConstants& placed) {
  HEARTH_ASSIGN(placed.whole[buffer], device.CreateBuffer(plan.buffers[buffer].size_bytes));
  placed.made.push_back(placed.whole[buffer]);
  for (size_t k = 0; k < plan.constants.size(); ++k) {
    const BufferRange& range = plan.constants[k].range;
    if (range.buffer != buffer) continue;
    placed.places[k] = {placed.whole[buffer], range.offset_bytes};
    placed.made_bytes += range.size_bytes;
  }
  return Status::Ok();
}

// Makes memory for a buffer's constants that are not held, one after the other.
Status PlaceTheRest(Device& device, const Plan& plan, uint32_t buffer, PlacedConstants& placed) {
  uint64_t size_bytes = 0;
  for (size_t k = 0; k < plan.constants.size(); ++k) {
    const BufferRange& range = plan.constants[k].range;
    if (range.buffer != buffer) continue;
    (placed.is_held[k] ? placed.held_bytes : placed.made_bytes) += range.size_bytes;
    if (placed.is_held[k]) continue;
    placed.places[k].offset_bytes = RoundUp(size_bytes, uint64_t{device.info().buffer_offset_alignment});
    size_bytes = placed.places[k].offset_bytes + range.size_bytes;
  }
  if (size_bytes == 0) return Status::Ok();
  HEARTH_ASSIGN(std::shared_ptr<Buffer> memory, device.CreateBuffer(size_bytes));
  for (size_t k = 0; k < plan.constants.size(); ++k) {
    if (plan.constants[k].range.buffer == buffer && !placed.is_held[k]) placed.places[k].buffer = memory;
  }
  placed.made.push_back(std::move(memory));
  return Status::Ok();
}

constexpr double kMiB = 1 << 20;

// The cost of a constant from the cache, measured with the file in the page cache: 0.2 ms per MiB to read it and its
// checksum, 0.15 to hash its source for the key, and 0.05 per entry.
constexpr double kReadMsPerMiB = 0.35;
constexpr double kReadMsPerEntry = 0.05;
constexpr double kMargin = 2.0;

// Packing times (AVX2, 1 MiB of matrices, by type of source): floats 0.2 to 0.8, halves 1.4 to 6, Winograd's filters
// 2.9, as halves 11. The least of each is used, so that the plan decides what is kept, not how busy the machine was.
double PackMsPerMiB(const PackRecipe& recipe) {
  if (recipe.layout == PackLayout::kWinograd) return 2.9;
  return recipe.storage == StorageType::kFloat16 ? 1.4 : 0.2;
}

// Weights of a few bits are never kept: as floats they are up to eight times as large as the model.
bool IsCostly(const PlanConstant& constant) {
  if (BlocksOf(constant.recipe.source) != nullptr) return false;
  const double size_mib = static_cast<double>(constant.range.size_bytes) / kMiB;
  return PackMsPerMiB(constant.recipe) * size_mib > kMargin * (kReadMsPerEntry + kReadMsPerMiB * size_mib);
}

Result<std::span<const std::byte>> BytesAt(const FileRange& range, const ModelFileBytes& model_files) {
  const auto& [file, offset, size] = range;
  if (file >= model_files.size()) {
    return Error(StatusCode::kMalformedInput, "the plan refers to file {} of a model with {} files", file,
                 model_files.size());
  }
  const std::span<const std::byte> bytes = model_files[file];
  if (size > bytes.size() || offset > bytes.size() - size) {
    return Error(StatusCode::kMalformedInput, "the plan refers to bytes {}+{} of a model file of {} bytes", offset,
                 size, bytes.size());
  }
  return bytes.subspan(offset, size);
}

Result<std::span<const std::byte>> SourceBytes(const PlanConstant& constant, const ModelFileBytes& model_files) {
  if (!constant.inline_bytes.empty()) return std::span<const std::byte>(constant.inline_bytes);
  return BytesAt(constant.source, model_files);
}

// The constant's recipe with the scales and zero points of its blocks; nothing if it has no blocks.
Result<std::optional<PackRecipe>> CompleteRecipe(const PlanConstant& constant, const ModelFileBytes& model_files) {
  const BlockScales* of_plan = BlocksOf(constant.recipe.source);
  if (of_plan == nullptr) return std::optional<PackRecipe>();
  PackRecipe recipe = constant.recipe;
  BlockScales blocks = *of_plan;
  for (BlockScales::Numbers* numbers : {&blocks.scales, &blocks.zeros}) {
    if (!numbers->source) continue;
    HEARTH_ASSIGN(numbers->bytes, BytesAt(*numbers->source, model_files));
  }
  recipe.source.quantization = GridOf(std::move(blocks));
  return std::optional(std::move(recipe));
}

}  // namespace

ResidentConstants::Key ResidentConstants::KeyOf(const PlanConstant& constant) {
  const bool is_inline = !constant.inline_bytes.empty();
  return {is_inline ? FileRange{0, 0, constant.inline_bytes.size()} : constant.source, constant.range.size_bytes,
          is_inline ? FingerprintOf(constant.inline_bytes) : Fingerprint()};
}

std::optional<ResidentRange> ResidentConstants::Find(const PlanConstant& constant) const {
  const Key key = KeyOf(constant);
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  for (const Entry& entry : found->second) {
    std::shared_ptr<Buffer> buffer = entry.recipe == constant.recipe ? entry.buffer.lock() : nullptr;
    if (buffer == nullptr) continue;
    ResidentRange range = entry.range;
    range.buffer = std::move(buffer);
    return range;
  }
  return std::nullopt;
}

void ResidentConstants::Add(const PlanConstant& constant, const ResidentRange& range) {
  const Key key = KeyOf(constant);
  const std::scoped_lock lock(mutex_);
  std::vector<Entry>& entries = entries_[key];
  std::erase_if(entries, [](const Entry& entry) { return entry.buffer.expired(); });
  entries.push_back({constant.recipe, range.buffer, {nullptr, range.offset_bytes, range.pack_ms, range.is_kept}});
}

uint64_t ResidentConstants::LiveBytes() const {
  const std::scoped_lock lock(mutex_);
  std::set<std::shared_ptr<Buffer>> buffers;
  for (const auto& [key, entries] : entries_) {
    for (const Entry& entry : entries) buffers.insert(entry.buffer.lock());
  }
  uint64_t bytes = 0;
  for (const std::shared_ptr<Buffer>& buffer : buffers) bytes += buffer == nullptr ? 0 : buffer->size_bytes();
  return bytes;
}

Result<PlacedConstants> PlaceConstants(Device& device, const Plan& plan, const ResidentConstants* held) {
  PlacedConstants placed;
  placed.places.resize(plan.constants.size());
  placed.is_held.resize(plan.constants.size());
  placed.whole.resize(plan.buffers.size());
  std::vector<bool> lie_apart(plan.buffers.size());
  if (held != nullptr) {
    const std::vector<bool> may_lie_apart = BuffersOfSingleConstants(plan);
    for (size_t k = 0; k < plan.constants.size(); ++k) {
      const uint32_t buffer = plan.constants[k].range.buffer;
      std::optional<ResidentRange> found;
      if (may_lie_apart[buffer]) found = held->Find(plan.constants[k]);
      if (!found) continue;
      placed.places[k] = *std::move(found);
      placed.is_held[k] = lie_apart[buffer] = true;
    }
  }
  for (uint32_t b = 0; b < plan.buffers.size(); ++b) {
    if (plan.buffers[b].role != BufferRole::kConstants) continue;
    HEARTH_TRY(lie_apart[b] ? PlaceTheRest(device, plan, b, placed) : PlaceWhole(device, plan, b, placed));
  }
  return placed;
}

uint64_t ResidentBytesOf(const Plan& plan, const ResidentConstants& held) {
  const std::vector<bool> may_lie_apart = BuffersOfSingleConstants(plan);
  uint64_t bytes = 0;
  for (const PlanConstant& constant : plan.constants) {
    if (may_lie_apart[constant.range.buffer] && held.Find(constant)) bytes += constant.range.size_bytes;
  }
  return bytes;
}

BoundRange Locate(const Plan& plan, const PlacedConstants& placed, const BufferRange& range) {
  if (Buffer* whole = placed.whole[range.buffer].get()) return {whole, range.offset_bytes, range.size_bytes};
  const PlanConstant* constant = ConstantAround(plan, range);
  HEARTH_CHECK(constant != nullptr);
  const ResidentRange& place = placed.places[static_cast<size_t>(constant - plan.constants.data())];
  return {place.buffer.get(), place.offset_bytes + range.offset_bytes - constant->range.offset_bytes, range.size_bytes};
}

Result<std::vector<double>> UploadConstants(Device& device, const PlacedConstants& placed, const Plan& plan,
                                            const ModelFileBytes& model_files, ResultCache* cache,
                                            const ModelBytesRead& done, const std::stop_token& stop) {
  std::vector<double> pack_ms(plan.constants.size());
  const auto make = [&](size_t index, std::span<std::byte> packed) -> Status {
    const PlanConstant& constant = plan.constants[index];
    HEARTH_ASSIGN(const std::span<const std::byte> source, SourceBytes(constant, model_files));
    HEARTH_ASSIGN(const std::optional<PackRecipe> complete, CompleteRecipe(constant, model_files));
    const PackRecipe& recipe = complete ? *complete : constant.recipe;
    if (cache != nullptr && constant.is_kept && cache->FindInto(WeightsRequest{{source}, recipe}, packed))
      return Status::Ok();
    const Stopwatch watch;
    HEARTH_TRY(PackConstant(recipe, source, packed));
    pack_ms[index] = watch.milliseconds();
    if (done != nullptr && constant.inline_bytes.empty()) done(source);
    return Status::Ok();
  };
  // Packing and checking read what they wrote.
  std::vector<std::byte> beside;
  const auto place = [&](size_t index, std::span<std::byte> memory) -> Status {
    if (device.info().is_read_fast_by_host()) return make(index, memory);
    beside.resize(std::max(beside.size(), memory.size()));
    const std::span<std::byte> packed = std::span(beside).first(memory.size());
    HEARTH_TRY(make(index, packed));
    std::ranges::copy(packed, memory.begin());
    return Status::Ok();
  };
  for (const std::shared_ptr<Buffer>& buffer : placed.made) {
    HEARTH_TRY(device.Write(*buffer, 0, buffer->size_bytes(), [&](std::span<std::byte> memory) -> Status {
      AskForLargePages(memory);
      for (size_t k = 0; k < plan.constants.size(); ++k) {
        if (stop.stop_requested()) return Stopped();
        if (placed.is_held[k] || placed.places[k].buffer != buffer) continue;
        HEARTH_TRY(place(k, memory.subspan(placed.places[k].offset_bytes, plan.constants[k].range.size_bytes)));
      }
      return Status::Ok();
    }));
  }
  return pack_ms;
}

void StoreCostlyConstants(Plan& plan, std::span<const double> pack_ms, const ModelFileBytes& model_files,
                          ResultCache& cache, const ModelBytesCopy& copy) {
  for (size_t k = 0; k < pack_ms.size(); ++k) {
    PlanConstant& constant = plan.constants[k];
    if (pack_ms[k] == 0 || !IsCostly(constant)) continue;
    Result<std::span<const std::byte>> source = SourceBytes(constant, model_files);
    std::vector<std::byte> packed(constant.range.size_bytes), copied;
    if (source.ok() && constant.inline_bytes.empty() && copy != nullptr) {
      Result<std::vector<std::byte>> read = copy(*source);
      if (!read.ok()) return;
      source = copied = std::move(read).value();
    }
    if (!source.ok() || !PackConstant(constant.recipe, *source, packed).ok()) continue;
    cache.Put(WeightsRequest{{*source}, constant.recipe}, packed, pack_ms[k]);
    constant.is_kept = true;
  }
}

}  // namespace hearth
