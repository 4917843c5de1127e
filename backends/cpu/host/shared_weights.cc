#include "backends/cpu/host/shared_weights.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <utility>

#include "core/base/large_pages.h"
#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/graph/block_scales.h"

namespace hearth {

WeightsKey& WeightsKey::AddContent(std::span<const std::byte> bytes) {
  const Fingerprint content = FingerprintOf(bytes);
  return Add(ssize(bytes)).Add(std::span<const uint8_t>(content.bytes));
}

WeightsKey& WeightsKey::Add(const BlockScales& blocks) {
  Add(blocks.size).Add(blocks.zero).Add(blocks.has_unsigned_nibbles ? 1 : 0);
  for (const BlockScales::Numbers* numbers : {&blocks.scales, &blocks.zeros}) {
    Add(static_cast<int64_t>(numbers->dtype))
        .Add(numbers->row_step)
        .Add(numbers->block_step)
        .AddContent(numbers->bytes);
  }
  return *this;
}

WeightsKey& WeightsKey::Add(const Graph& graph, ValueId constant) {
  const Value& value = graph.value(constant);
  const Constant& stored = graph.constant(*value.constant);
  const Shape& shape = value.desc.shape;
  Add(static_cast<int64_t>(value.desc.dtype));
  for (int k = 0; k < shape.rank(); ++k) Add(shape[k]);
  if (const std::optional<Quantization>& grid = value.desc.quantization) {
    Add(grid->dimension).Add(std::span(grid->scales)).Add(std::span(grid->zero_points));
    if (grid->blocks != nullptr) Add(*grid->blocks);
  }
  if (stored.elements != nullptr) {
    const auto& [view, factors, type] = stored.elements->form();
    Add(static_cast<int64_t>(type)).Add(view.base).Add(ssize(view.digits));
    for (const auto& [radix, stride] : view.digits) Add(radix).Add(stride);
    for (const auto& [by_row, numbers] : factors) Add(by_row ? 1 : 0).Add(std::span(numbers));
  }
  if (!stored.source) return Add(0).AddContent(stored.bytes);
  const std::array<uint64_t, 3> place{stored.source->file, stored.source->offset_bytes, stored.bytes.size()};
  return Add(1).Add(std::span<const uint64_t>(place));
}

Fingerprint WeightsKey::digest() const {
  return FingerprintOf(BytesOf(material_));
}

namespace {
constexpr uint64_t kVectorBytes = 64;  // of the longest vector
}

std::shared_ptr<std::byte[]> VectorMemory(uint64_t bytes) {
  constexpr std::align_val_t kAlignment{kVectorBytes};
  return {new (kAlignment) std::byte[bytes], [=](std::byte* memory) { ::operator delete[](memory, kAlignment); }};
}

namespace {

// All models of a process.
struct Models {
  explicit Models(const Models* of_parent) : parents(of_parent) {}

  const pid_t process = ::getpid();
  const Models* const parents;  // of the process that this one was forked from
  std::mutex mutex;
  std::map<Fingerprint, std::weak_ptr<SharedWeights>> weights;
};

Models& ModelsOfThisProcess() {
  static std::atomic<Models*> newest = nullptr;
  Models* found = newest;
  if (found != nullptr && found->process == ::getpid()) return *found;
  auto own = std::make_unique<Models>(found);
  return newest.compare_exchange_strong(found, own.get()) ? *own.release() : *found;
}

}  // namespace

std::shared_ptr<SharedWeights> SharedWeights::Of(const Fingerprint& files) {
  Models& models = ModelsOfThisProcess();
  const std::scoped_lock lock(models.mutex);
  std::weak_ptr<SharedWeights>& known = models.weights[files];
  std::shared_ptr<SharedWeights> found = known.lock();
  if (found == nullptr) known = found = std::make_shared<SharedWeights>();
  std::erase_if(models.weights, [](const auto& model) { return model.second.expired(); });
  return found;
}

SharedWeights::Holding SharedWeights::Find(const Fingerprint& key) const {
  const std::scoped_lock lock(mutex_);
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return {};
  return {entry->second.weights.lock(), entry->second.bytes};
}

SharedWeights::Holding SharedWeights::Add(const Fingerprint& key, std::shared_ptr<const void> made, uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  Entry& entry = entries_[key];
  if (std::shared_ptr<const void> others = entry.weights.lock()) return {std::move(others), entry.bytes};
  entry = {made, bytes};
  return {std::move(made), bytes};
}

uint64_t SharedWeights::LiveBytes() const {
  const std::scoped_lock lock(mutex_);
  uint64_t bytes = 0;
  for (const auto& [key, entry] : entries_) bytes += entry.weights.expired() ? 0 : entry.bytes;
  return bytes;
}

std::shared_ptr<const void> ProgramWeights::Noted(SharedWeights::Holding holding, bool was_found) {
  std::shared_ptr<const void> weights = holding.weights;
  if (weights != nullptr) uses_.try_emplace(weights.get(), Use{std::move(holding), was_found});
  return weights;
}

namespace {

// Gives the pages that lie within this memory back to the system, whatever is in them.
void GiveBackPages(std::span<std::byte> memory) {
  const auto page_bytes = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(memory.data());
  const uintptr_t first = RoundUp(begin, page_bytes), last = (begin + memory.size()) / page_bytes * page_bytes;
  if (first < last) static_cast<void>(::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED));
}

}  // namespace

std::shared_ptr<std::byte[]> ProgramWeights::Allocate(uint64_t bytes) {
  constexpr uint64_t kLeastBytes = 8 << 20;  // of which the unused rest of the last large page is little
  const uint64_t taken_bytes = RoundUp(bytes, kVectorBytes);
  if (block_ == nullptr && left_bytes_ >= kLeastBytes) {
    block_ = AllocateInLargePages(left_bytes_);
    next_ = block_.get();
  }
  if (block_ == nullptr || taken_bytes > left_bytes_) return VectorMemory(bytes);
  left_bytes_ -= taken_bytes;
  // Sessions with other options may hold a few packings of the block much longer than the others are needed.
  return {std::exchange(next_, next_ + taken_bytes), [block = block_, taken_bytes](std::byte* packing) {
            if (block.use_count() > 1) GiveBackPages({packing, taken_bytes});
          }};
}

std::span<const std::byte> ProgramWeights::ReadInPlace(std::span<const std::byte> bytes) {
  read_in_place_.push_back(bytes);
  return bytes;
}

SharedBytes ProgramWeights::Finish() {
  SharedBytes bytes;
  for (const auto& [address, use] : uses_) {
    if (use.holding.weights.use_count() == 1) continue;
    bytes.all += use.holding.bytes;
    if (use.was_found) bytes.found += use.holding.bytes;
  }
  uses_.clear();
  return bytes;
}

}  // namespace hearth
