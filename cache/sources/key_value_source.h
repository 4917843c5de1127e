// Entries in anything that keeps bytes under names: the caller's own store, or a server that machines share.
#ifndef HEARTH_CACHE_SOURCES_KEY_VALUE_SOURCE_H_
#define HEARTH_CACHE_SOURCES_KEY_VALUE_SOURCE_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cache/files/wait_budget.h"
#include "cache/trust/signature.h"
#include "core/base/log.h"
#include "core/store/entry_source.h"

namespace hearth {

// The caller's own store. Values do not say who made them, so nothing that was read counts as made here.
class KeyValueSource final : public EntrySource {
 public:
  // `values` must outlive the source.
  explicit KeyValueSource(KeyValueStore& values) : values_(values) {}

  Answer Get(const CacheKey& key, const Destination& destination, FoundEntry& found) override;
  bool Put(std::span<const NewEntry> entries, std::span<PutResult> results, double patience_ms) override;
  bool Has(const CacheKey& key) override;
  void Remove(const CacheKey& key) override;
  bool is_usable() const override { return values_.why_unusable().empty(); }
  std::vector<std::string> TakeWarnings() override;

 private:
  KeyValueStore& values_;
  std::mutex mutex_;  // guards the warnings
  Warnings warnings_;
};

struct ServerOptions {
  std::vector<PublicKey> trusted;
  std::optional<SigningKey> sign_with;  // without a key, nothing is put
  double budget_ms = ServerWaits().lost_ms;
  WaitBudget* waits = nullptr;  // the session's budget, which also counts time lost here; must outlive the source
};

// A server that machines with the same device and driver share. Values are sealed envelopes, and only those sealed with
// a trusted key count. A server that is slow or gone costs one time-out. After that, or once all calls together took
// `budget_ms` longer than making their entries would have, the session goes on without it.
class ServerSource final : public EntrySource {
 public:
  ServerSource(std::unique_ptr<KeyValueStore> remote, ServerOptions options)
      : remote_(std::move(remote)), options_(std::move(options)) {}

  Answer Get(const CacheKey& key, const Destination& destination, FoundEntry& found) override;
  bool Put(std::span<const NewEntry> entries, std::span<PutResult> results, double patience_ms) override;
  bool is_usable() const override;
  std::vector<std::string> TakeWarnings() override;

 private:
  bool MayAsk() const;
  void Lose(double ms);  // counts a wait without a result
  bool Send(const NewEntry& entry);
  void TakeServersWarnings();

  std::unique_ptr<KeyValueStore> remote_;
  const ServerOptions options_;
  mutable std::mutex mutex_;  // guards the members below and the server's connection
  double lost_ms_ = 0;
  Warnings warnings_;
};

}  // namespace hearth

#endif  // HEARTH_CACHE_SOURCES_KEY_VALUE_SOURCE_H_
