// Where expensive results are kept between starts: the interface that the cache implements
// and that everything else is given.
//
// An accelerator, never a dependency: no call here fails. Trouble is a counted miss or a
// counted put error plus a warning; the caller recomputes and goes on.
#ifndef HEARTH_CORE_BASE_BLOB_STORE_H_
#define HEARTH_CORE_BASE_BLOB_STORE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/fingerprint.h"
#include "hearth/cache_types.h"

namespace hearth {

struct PutRequest {
  const CacheKey* key = nullptr;
  std::span<const std::byte> bytes;
  double cost_ms = 0;            // what making it took: the saving that a later hit counts
  std::string_view origin = {};  // where it came from, as CacheEntry::origin says it; empty: made here
};

// Held by the process that makes a missing entry, until the entry is put or given up.
class MakingClaim {
 public:
  virtual ~MakingClaim() = default;
};
struct MakingTurn {
  std::unique_ptr<MakingClaim> claim;  // null: make it without
  bool has_waited = false;             // somebody else may have made the entry meanwhile: ask for it again
};

// Thread-safe: all calls may come from several threads at once.
class BlobStore {
 public:
  virtual ~BlobStore() = default;

  // Asks `destination` for room for the blob's size and fills it. True only when the full key
  // material matched and the blob's checksum was right; otherwise what was written into the
  // destination is garbage, to be overwritten. An empty span from `destination` (a size that
  // the caller can't take) is a reject.
  using Destination = std::function<std::span<std::byte>(uint64_t size_bytes)>;
  virtual bool Get(const CacheKey& key, const Destination& destination) = 0;

  // Every entry of the kind whose key begins with the fields of `common`, as far as they lie at hand: a server is not
  // asked. Each counts as a hit.
  using Visitor = std::function<void(const CacheKey& key, std::span<const std::byte> bytes)>;
  virtual void ForEach(const CacheKey& /*common*/, const Visitor& /*visit*/) {}

  // Long content's name in keys: nobody can make other content that has it too. A name for a look-up may be shorter
  // where no entry can have the full one.
  enum class NameUse : uint8_t { kLookUp, kPut };
  virtual std::string NameOfContent(std::span<const std::byte> bytes, NameUse use);

  // Stores all or nothing, in one transaction. Replaces entries of the same key.
  virtual void Put(std::span<const PutRequest> requests) = 0;

  // Between the two, what is put may be kept in memory, where Get finds it, and be stored in one transaction at the
  // end; of that, what there is no room for is left out alone.
  virtual void BeginBatch() {}
  virtual void EndBatch() {}

  // Removes an entry whose blob turned out to be unusable (a driver refused it); counts a reject.
  virtual void Reject(const CacheKey& key, std::string_view reason) = 0;

  // A blob that crashes its driver must crash it once: entries named between BeginUse and EndUse
  // when the process dies are quarantined at the next start.
  virtual void BeginUse(const CacheKey& key) = 0;
  virtual void EndUse(const CacheKey& key) = 0;

  // After a miss of something expensive: waits a bounded time while another process makes this entry.
  virtual MakingTurn TakeMakingTurn(const CacheKey&) { return {}; }
  // Gives a claim back once all that was put so far is stored, so that whoever waited for it finds the entry.
  virtual void ReleaseWhenStored(std::unique_ptr<MakingClaim>) {}

  // Whether a process died while it was using this entry: then copies of it elsewhere are not to be used either.
  virtual bool IsSuspect(const CacheKey&) const { return false; }

  // Writes down what is kept in memory for the end (last-used stamps, counters), best effort.
  virtual void Flush() {}

  virtual StoreCounters counters() const = 0;
  virtual std::vector<std::string> TakeWarnings() = 0;  // since the last call; each once

  // Get into a vector of its own.
  std::optional<std::vector<std::byte>> Get(const CacheKey& key);
};

// A batch for one scope. `store` may be null.
class PutBatch {
 public:
  explicit PutBatch(BlobStore* store) : store_(store) {
    if (store_ != nullptr) store_->BeginBatch();
  }
  ~PutBatch() {
    if (store_ != nullptr) store_->EndBatch();
  }
  PutBatch(const PutBatch&) = delete;
  PutBatch& operator=(const PutBatch&) = delete;

 private:
  BlobStore* store_;
};

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_BLOB_STORE_H_
