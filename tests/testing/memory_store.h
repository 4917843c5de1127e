// A cache without a file, with switches for faults.
#ifndef HEARTH_TESTS_TESTING_MEMORY_STORE_H_
#define HEARTH_TESTS_TESTING_MEMORY_STORE_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/testing/test_cache.h"

namespace hearth::testing {

struct MemoryEntry {
  std::string kind, material;
  std::vector<std::byte> bytes;
  double cost_ms = 0;
};

// Faults. Set them while no other thread uses the store.
struct MemoryFaults {
  bool fail_gets = false;                 // every Get is a miss
  bool fail_puts = false;                 // every Put is a put error
  bool garble_reads = false;              // Get writes wrong bytes, and detects that
  bool has_waited = false;                // somebody else was making what is asked for
  bool keeps_removed = false;             // as a server may
  std::set<BlobKind> refuses_kinds = {};  // as a store does for which they are too large
  std::function<void(const CacheKey&)> on_remove = {};
};

inline const MemoryFaults kNoFaults;

class MemorySource final : public EntrySource {
 public:
  explicit MemorySource(const MemoryFaults& faults = kNoFaults) : faults_(faults) {}

  Answer Get(const CacheKey& key, const Destination& destination, FoundEntry& found) override {
    const std::scoped_lock lock(mutex_);
    const auto place = entries.find(key.digest());
    if (faults_.fail_gets || place == entries.end() || place->second.material != key.material()) return Answer::kMiss;
    const MemoryEntry& entry = place->second;
    const std::span<std::byte> bytes = destination(entry.bytes.size());
    if (faults_.garble_reads || bytes.size() != entry.bytes.size()) {
      std::fill(bytes.begin(), bytes.end(), std::byte{0xa5});
      return Answer::kDamaged;
    }
    std::copy(entry.bytes.begin(), entry.bytes.end(), bytes.begin());
    found = {bytes, FingerprintOf(bytes), entry.cost_ms, {}};
    return Answer::kHit;
  }

  bool Has(const CacheKey& key) override {
    const std::scoped_lock lock(mutex_);
    return entries.contains(key.digest());
  }

  void ForEach(const CacheKey& common, const Visitor& visit) override {
    std::vector<MemoryEntry> all;
    {
      const std::scoped_lock lock(mutex_);
      for (const auto& [digest, entry] : entries) {
        if (entry.kind == BlobKindName(common.kind()) && entry.material.starts_with(common.material()))
          all.push_back(entry);
      }
    }
    for (const MemoryEntry& entry : all) {
      visit(*KeyFromMaterial(common.kind(), entry.material),
            {entry.bytes, FingerprintOf(entry.bytes), entry.cost_ms, {}});
    }
  }

  bool Put(std::span<const NewEntry> put, std::span<PutResult> results, double) override {
    const std::scoped_lock lock(mutex_);
    for (size_t k = 0; k < put.size(); ++k) {
      results[k] = faults_.fail_puts || faults_.refuses_kinds.contains(put[k].key->kind()) ? PutResult::kFailed
                                                                                           : PutResult::kStored;
      if (results[k] != PutResult::kStored) continue;
      entries[put[k].digest] = {std::string(BlobKindName(put[k].key->kind())), put[k].key->material(),
                                std::vector<std::byte>(put[k].bytes.begin(), put[k].bytes.end()), put[k].cost_ms};
    }
    if (faults_.fail_puts && !put.empty()) warnings_.push_back("writing the cache failed: the test wants it so");
    return true;
  }

  void Remove(const CacheKey& key) override {
    if (faults_.on_remove) faults_.on_remove(key);
    const std::scoped_lock lock(mutex_);
    if (!faults_.keeps_removed) entries.erase(key.digest());
  }

  std::vector<std::string> TakeWarnings() override {
    const std::scoped_lock lock(mutex_);
    return std::exchange(warnings_, {});
  }

  std::map<Fingerprint, MemoryEntry> entries;

 private:
  const MemoryFaults& faults_;
  std::mutex mutex_;
  std::vector<std::string> warnings_;
};

inline CacheParts InMemory() {
  return {.own = std::make_unique<MemorySource>()};
}

class MemoryMarks final : public CrashMarks {
 public:
  void BeginUse(const CacheKey& key) override {
    const std::scoped_lock lock(mutex);
    in_use.insert(key.digest());
    ++uses;
  }
  void EndUse(const CacheKey& key) override {
    const std::scoped_lock lock(mutex);
    in_use.erase(in_use.find(key.digest()));
  }
  bool IsSuspect(const CacheKey&) const override { return false; }
  bool IsHidden(const CacheKey&) const override { return false; }

  std::mutex mutex;
  std::multiset<Fingerprint> in_use;
  size_t uses = 0;
};

class MemoryClaims final : public MakingClaims {
 public:
  explicit MemoryClaims(const MemoryFaults& faults) : faults_(faults) {}
  MakingTurn Take(const CacheKey&) override {
    if (faults_.has_waited) return {nullptr, true};
    return {std::make_unique<Claim>(count), false};
  }

  using Count = std::shared_ptr<std::atomic<int>>;  // claims may outlive the store
  Count count = std::make_shared<std::atomic<int>>(0);

 private:
  class Claim final : public MakingClaim {
   public:
    explicit Claim(Count count) : count_(std::move(count)) { ++*count_; }
    ~Claim() override { --*count_; }

   private:
    Count count_;
  };
  const MemoryFaults& faults_;
};

// What must be there before the cache is.
struct MemoryParts : MemoryFaults {
  MemoryMarks marks;
  MemoryClaims memory_claims{*this};
  MemorySource* source = nullptr;

  CacheParts Parts(std::unique_ptr<EntrySource> layer, bool is_read_only) {
    CacheParts parts;
    auto own = std::make_unique<MemorySource>(*this);
    source = own.get();
    parts.own = std::move(own);
    if (layer != nullptr) parts.layers.push_back(std::move(layer));
    parts.marks = &marks;
    parts.claims = &memory_claims;
    parts.is_read_only = is_read_only;
    return parts;
  }
};

class MemoryStore : public MemoryParts, public TestCache {
 public:
  using Entry = MemoryEntry;
  explicit MemoryStore(std::unique_ptr<EntrySource> layer = nullptr, bool is_read_only = false)
      : TestCache(Parts(std::move(layer), is_read_only)) {}

  // For inspection and tampering; not while other threads use the store.
  std::map<Fingerprint, Entry>& entries() { return source->entries; }
  size_t in_use() const { return marks.in_use.size(); }
  size_t uses() const { return marks.uses; }
  int claims() const { return *memory_claims.count; }  // claims that are held

  // Counters since the last call of ResetCounters.
  StoreCounters counters() const {
    StoreCounters now = TestCache::counters();
    now.hits -= before_.hits;
    now.misses -= before_.misses;
    now.rejected -= before_.rejected;
    now.put_errors -= before_.put_errors;
    now.bytes_read -= before_.bytes_read;
    now.bytes_written -= before_.bytes_written;
    now.milliseconds_saved -= before_.milliseconds_saved;
    return now;
  }
  void ResetCounters() { before_ = TestCache::counters(); }

 private:
  StoreCounters before_;
};

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_MEMORY_STORE_H_
