// Keeps expensive results between starts. The cache implements this interface; everything else is given one.
//
// The store is an accelerator, never a dependency: no call here fails. Trouble is a counted miss or put error and a
// warning; the caller recomputes and goes on.
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
  double cost_ms = 0;            // the time that making it took; a later hit counts it as saved
  std::string_view origin = {};  // as CacheEntry::origin; empty: made here
};

// Held by the process that is making a missing entry, until the entry is put or given up.
class MakingClaim {
 public:
  virtual ~MakingClaim() = default;
};
struct MakingTurn {
  std::unique_ptr<MakingClaim> claim;  // null: make the entry without a claim
  bool has_waited = false;             // another process may have made the entry meanwhile: look it up again
};

// Thread-safe: all calls may come from several threads at once.
class BlobStore {
 public:
  virtual ~BlobStore() = default;

  // Asks `destination` for memory of the blob's size and fills it. True only if the full key material matched and the
  // blob's checksum was right; otherwise the destination's content is garbage. An empty span from `destination` (a size
  // that the caller can't take) is a reject.
  using Destination = std::function<std::span<std::byte>(uint64_t size_bytes)>;
  virtual bool Get(const CacheKey& key, const Destination& destination) = 0;

  // Visits every local entry of the kind whose key begins with the fields of `common`; a server is not asked. Each
  // counts as a hit.
  using Visitor = std::function<void(const CacheKey& key, std::span<const std::byte> bytes)>;
  virtual void ForEach(const CacheKey& /*common*/, const Visitor& /*visit*/) {}

  // The name of long content in keys: nobody can make other content with the same name. A name for a look-up may be
  // shorter if no entry can have the full one.
  enum class NameUse : uint8_t { kLookUp, kPut };
  virtual std::string NameOfContent(std::span<const std::byte> bytes, NameUse use);
  // The same name from the content's SHA-256 in hex.
  static std::string NameOfDigest(std::string_view sha256_hex, uint64_t size_bytes);

  // Stores all requests or none, in one transaction. Replaces entries of the same key.
  virtual void Put(std::span<const PutRequest> requests) = 0;

  // Between the two calls, entries that are put may be kept in memory, where Get finds them, and be stored in one
  // transaction at the end. Only entries that do not fit are left out.
  virtual void BeginBatch() {}
  virtual void EndBatch() {}

  // Removes an entry whose blob turned out to be unusable (a driver refused it); counts a reject.
  virtual void Reject(const CacheKey& key, std::string_view reason) = 0;

  // A blob that crashes its driver must do so only once: entries between BeginUse and EndUse when the process dies are
  // quarantined at the next start.
  virtual void BeginUse(const CacheKey& key) = 0;
  virtual void EndUse(const CacheKey& key) = 0;

  // After a miss of an expensive entry: waits a bounded time if another process is making it.
  virtual MakingTurn TakeMakingTurn(const CacheKey&) { return {}; }
  // Releases a claim once everything put so far is stored, so that processes waiting for it find the entry.
  virtual void ReleaseWhenStored(std::unique_ptr<MakingClaim>) {}

  // Whether a process died while using this entry. Then copies of it elsewhere must not be used either.
  virtual bool IsSuspect(const CacheKey&) const { return false; }

  // Writes what is kept in memory (last-used stamps, counters), best effort.
  virtual void Flush() {}

  virtual StoreCounters counters() const = 0;
  virtual std::vector<std::string> TakeWarnings() = 0;  // new since the last call

  // Get into a new vector.
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
