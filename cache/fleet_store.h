// A store that machines with the same device and driver share, asked after the local one.
//
// Entries that the local store lacks are fetched there and kept locally. Entries that this process made are put there
// when they are put locally, which is after the first run. Values are envelopes (key_value_blob_store.h) after an
// Ed25519 signature:
//   64 bytes signature of the envelope   envelope
// Only values signed by a trusted key count. A server that is slow or gone costs one time-out. After that, or once all
// calls together took `budget_ms` longer than making their entries would have, the session goes on without it.
#ifndef HEARTH_CACHE_FLEET_STORE_H_
#define HEARTH_CACHE_FLEET_STORE_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cache/entry_origin.h"
#include "cache/signature.h"
#include "cache/wait_budget.h"
#include "cache/warnings.h"
#include "core/base/blob_store.h"

namespace hearth {

// A KeyValueStore on a server.
class RemoteValues : public KeyValueStore {
 public:
  virtual bool is_usable() const = 0;            // false after the first failure
  virtual std::string why_unusable() const = 0;  // one sentence
  virtual std::vector<std::string> TakeWarnings() { return {}; }
};

struct FleetOptions {
  std::vector<PublicKey> trusted;
  std::optional<SigningKey> sign_with;  // without a key, nothing is put
  double budget_ms = ServerWaits().lost_ms;
  WaitBudget* waits = nullptr;  // the session's budget, which also counts time lost here; must outlive the store
};

class FleetStore final : public BlobStore, public KnowsOrigins {
 public:
  // `local` may be null.
  FleetStore(std::unique_ptr<BlobStore> local, std::unique_ptr<RemoteValues> remote, FleetOptions options)
      : local_(std::move(local)), remote_(std::move(remote)), options_(std::move(options)) {}
  ~FleetStore() override { Flush(); }

  using BlobStore::Get;
  bool Get(const CacheKey& key, const Destination& destination) override;
  void ForEach(const CacheKey& common, const Visitor& visit) override {
    if (local_ != nullptr) local_->ForEach(common, visit);
  }
  std::string NameOfContent(std::span<const std::byte> bytes, NameUse use) override;
  // What came from elsewhere (a server, a bundle, a layer) is stored locally as that and not sent: signed here, it
  // would be taken by machines that do not trust its maker.
  void Put(std::span<const PutRequest> wanted) override;
  std::optional<std::string> OriginOf(const CacheKey& key, std::span<const std::byte> bytes) override;
  void Reject(const CacheKey& key, std::string_view reason) override;
  void BeginUse(const CacheKey& key) override;
  void EndUse(const CacheKey& key) override;
  MakingTurn TakeMakingTurn(const CacheKey& key) override;
  void ReleaseWhenStored(std::unique_ptr<MakingClaim> claim) override;
  void BeginBatch() override;
  void EndBatch() override;
  bool IsSuspect(const CacheKey& key) const override;
  void Flush() override;  // stores locally what came from the server
  StoreCounters counters() const override;
  std::vector<std::string> TakeWarnings() override;

 private:
  struct Fetched {
    CacheKey key;
    std::vector<std::byte> bytes;
    double cost_ms = 0;
    std::string origin;
  };

  bool MayAskServer() const;  // under the lock
  void TakeServersWarnings();
  void Lose(double ms);  // counts a wait without a result
  std::optional<Fetched> Fetch(const CacheKey& key);
  void Send(const PutRequest& request);
  void StoreFetched();

  std::unique_ptr<BlobStore> local_;
  std::unique_ptr<RemoteValues> remote_;
  FleetOptions options_;
  mutable std::mutex mutex_;  // guards the members below and the server's connection
  double spent_ms_ = 0;
  std::vector<Fetched> fetched_;  // not stored locally yet
  OriginsOfBytes received_;       // of all that this session fetched
  StoreCounters own_;             // hits from the server, with their misses in the local store
  uint64_t local_misses_served_ = 0;
  Warnings warnings_;
};

}  // namespace hearth

#endif  // HEARTH_CACHE_FLEET_STORE_H_
