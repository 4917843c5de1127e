// A BlobStore without a file, with switches for faults.
#ifndef HEARTH_TESTS_TESTING_MEMORY_STORE_H_
#define HEARTH_TESTS_TESTING_MEMORY_STORE_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/blob_store.h"

namespace hearth::testing {

class MemoryStore : public BlobStore {
 public:
  struct Entry {
    std::string kind, material;
    std::vector<std::byte> bytes;
    double cost_ms = 0;
  };

  // Faults. Set them while no other thread uses the store.
  bool fail_gets = false;     // every Get is a miss
  bool fail_puts = false;     // every Put is a put error
  bool garble_reads = false;  // Get writes wrong bytes, detects that, and counts a reject

  using BlobStore::Get;
  bool Get(const CacheKey& key, const Destination& destination) override {
    const std::scoped_lock lock(mutex_);
    const auto found = entries_.find(key.digest());
    if (fail_gets || found == entries_.end() || found->second.material != key.material()) {
      ++counters_.misses;
      return false;
    }
    const Entry& entry = found->second;
    const std::span<std::byte> bytes = destination(entry.bytes.size());
    if (garble_reads || bytes.size() != entry.bytes.size()) {
      std::fill(bytes.begin(), bytes.end(), std::byte{0xa5});
      ++counters_.rejected;
      return false;
    }
    std::copy(entry.bytes.begin(), entry.bytes.end(), bytes.begin());
    ++counters_.hits;
    counters_.bytes_read += bytes.size();
    counters_.milliseconds_saved += entry.cost_ms;
    return true;
  }

  void ForEach(const CacheKey& common, const Visitor& visit) override {
    std::vector<Entry> found;
    {
      const std::scoped_lock lock(mutex_);
      for (const auto& [digest, entry] : entries_) {
        if (entry.kind == BlobKindName(common.kind()) && entry.material.starts_with(common.material())) {
          found.push_back(entry);
        }
      }
      counters_.hits += found.size();
    }
    for (const Entry& entry : found) {
      CacheKey key(common.kind());
      const auto fields = DecodeKeyMaterial(entry.material);
      for (const auto& [name, value] : *fields) key.Add(name, value);
      visit(key, entry.bytes);
    }
  }

  void Put(std::span<const PutRequest> requests) override {
    const std::scoped_lock lock(mutex_);
    if (fail_puts) {
      counters_.put_errors += requests.size();
      if (!requests.empty()) warnings_.push_back("writing the cache failed: the test wants it so");
      return;
    }
    for (const PutRequest& request : requests) {
      entries_[request.key->digest()] = {std::string(BlobKindName(request.key->kind())), request.key->material(),
                                         std::vector<std::byte>(request.bytes.begin(), request.bytes.end()),
                                         request.cost_ms};
      counters_.bytes_written += request.bytes.size();
    }
  }

  void Reject(const CacheKey& key, std::string_view reason) override {
    const std::scoped_lock lock(mutex_);
    entries_.erase(key.digest());
    ++counters_.rejected;
    warnings_.emplace_back(reason);
  }

  void BeginUse(const CacheKey& key) override {
    const std::scoped_lock lock(mutex_);
    in_use_.insert(key.digest());
    ++uses_;
  }
  void EndUse(const CacheKey& key) override {
    const std::scoped_lock lock(mutex_);
    in_use_.erase(in_use_.find(key.digest()));
  }

  MakingTurn TakeMakingTurn(const CacheKey&) override { return {std::make_unique<Claim>(claims_), false}; }

  StoreCounters counters() const override {
    const std::scoped_lock lock(mutex_);
    return counters_;
  }
  std::vector<std::string> TakeWarnings() override {
    const std::scoped_lock lock(mutex_);
    return std::exchange(warnings_, {});
  }

  // For inspection and tampering; not while other threads use the store.
  std::map<Fingerprint, Entry>& entries() { return entries_; }
  size_t in_use() const { return in_use_.size(); }
  size_t uses() const { return uses_; }
  int claims() const { return *claims_; }  // claims that are held
  void ResetCounters() { counters_ = {}; }

 private:
  using ClaimCount = std::shared_ptr<std::atomic<int>>;  // claims may outlive the store
  class Claim final : public MakingClaim {
   public:
    explicit Claim(ClaimCount count) : count_(std::move(count)) { ++*count_; }
    ~Claim() override { --*count_; }

   private:
    ClaimCount count_;
  };

  mutable std::mutex mutex_;
  std::map<Fingerprint, Entry> entries_;
  std::multiset<Fingerprint> in_use_;
  size_t uses_ = 0;
  ClaimCount claims_ = std::make_shared<std::atomic<int>>(0);
  StoreCounters counters_;
  std::vector<std::string> warnings_;
};

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_MEMORY_STORE_H_
