// Claims on missing entries. Among processes that start at once, one compiles a program while the others wait a bounded
// time for it.
//
// A claim is a side file `making-<digest>` with the maker's process id, locked by flock, so that the claim ends with
// its process. It orders work and guards nothing: a process without a claim makes the entry anyway.
#ifndef HEARTH_CACHE_STORE_MAKING_CLAIM_H_
#define HEARTH_CACHE_STORE_MAKING_CLAIM_H_

#include <filesystem>

#include "cache/store/store_connection.h"
#include "core/store/entry_source.h"

namespace hearth {

class StoreMakingClaims final : public MakingClaims {
 public:
  explicit StoreMakingClaims(StoreConnection& connection) : connection_(connection) {}

  // Waits while another process makes the entry: one that lives, is not stopped and has not held its claim for long.
  // Waits at most as long as such an entry is known to cost, after which making it is cheaper, and in all no longer
  // than the session's budget for makers. Does not wait for a claim of this process, since its holder may be waiting
  // here. No claim where nothing can be stored: nobody would find the result.
  MakingTurn Take(const CacheKey& key) override;

 private:
  MakingTurn TakeFile(const CacheKey& key);
  double KnownCostMs(BlobKind kind);
  bool Has(const Fingerprint& digest);

  StoreConnection& connection_;
};

// Removes side files of dead processes. Costs one readdir if there are none.
void RemoveDeadClaims(const std::filesystem::path& folder);

}  // namespace hearth

#endif  // HEARTH_CACHE_STORE_MAKING_CLAIM_H_
