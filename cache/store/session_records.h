// What a session tells the store at its end: which entries it used, counters, what it missed and why, its model.
#ifndef HEARTH_CACHE_STORE_SESSION_RECORDS_H_
#define HEARTH_CACHE_STORE_SESSION_RECORDS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "cache/store/content_names.h"
#include "cache/store/last_misses.h"
#include "cache/store/models.h"
#include "cache/store/quarantine.h"
#include "cache/store/store_connection.h"
#include "core/store/entry_source.h"

namespace hearth {

// The latest time that a store has seen, from the clock at a session's end or from what a trusted key has signed, in
// milliseconds since 1970; 0: none is known. A bundle that has expired stays expired where this machine's clock is set
// back.
int64_t LatestTimeMs(Database& database);

// A counter's name in the store, and its member.
struct NamedCounter {
  std::string_view name;
  uint64_t StoreCounters::*count;
  double StoreCounters::*sum = nullptr;  // instead of `count`

  double In(const StoreCounters& counters) const {
    return sum != nullptr ? counters.*sum : static_cast<double>(counters.*count);
  }
};
inline constexpr NamedCounter kNamedCounters[] = {
    {"hits", &StoreCounters::hits},
    {"misses", &StoreCounters::misses},
    {"rejected", &StoreCounters::rejected},
    {"put_errors", &StoreCounters::put_errors},
    {"bytes_read", &StoreCounters::bytes_read},
    {"bytes_written", &StoreCounters::bytes_written},
    {"milliseconds_saved", nullptr, &StoreCounters::milliseconds_saved},
    {"layer_hits", &StoreCounters::layer_hits},
    {"server_hits", &StoreCounters::server_hits},
    {"layer_milliseconds_saved", nullptr, &StoreCounters::layer_milliseconds_saved},
    {"server_milliseconds_saved", nullptr, &StoreCounters::server_milliseconds_saved},
};

class SessionRecords final : public SessionLog {
 public:
  SessionRecords(StoreConnection& connection, StoreCrashMarks& marks, StoreContentNames& names)
      : connection_(connection), marks_(marks), names_(names) {}

  void Miss(const CacheKey& key, std::string_view reason) override;
  void Make(const CacheKey& key) override;
  // In one transaction, best effort. A start that only read writes nothing, or a page or two that stay in the log.
  void Write(const StoreCounters& so_far) override;

  // The session's model. Without one nothing is recorded of models and misses.
  void SetModel(const ModelName& model);
  // The latest time that the store has seen . SeeTime is written at the session's end.
  int64_t LatestTimeMs();
  void SeeTime(int64_t time_ms);

  // The rest needs the connection's lock.

  // `last_used_ms`: the entry's stamp, which is renewed if it is old.
  void Use(const Fingerprint& digest, int64_t last_used_ms);
  void UseWithoutStamp(const Fingerprint& digest) { used_.emplace(digest, false); }
  void Need(const Fingerprint& digest) { needed_.insert(digest); }
  // Such entries are not evicted for those that the session puts.
  bool IsInUse(const Fingerprint& digest) const { return used_.contains(digest) || needed_.contains(digest); }
  bool IsUsed(const Fingerprint& digest) const { return used_.contains(digest); }
  bool uses_nothing() const { return used_.empty() && needed_.empty(); }
  void NotePut() { has_put_ = true; }
  void NoteDamage() { has_met_damage_ = true; }  // some bytes differ from what was stored, so more may be wrong

 private:
  Status WriteAll(Database& database, const StoreCounters& so_far);
  Status WriteStamps(Database& database) const;
  Result<bool> HasNewsOfModel(Database& database, const std::vector<Fingerprint>& used) const;
  bool has_due_stamps() const;

  StoreConnection& connection_;
  StoreCrashMarks& marks_;
  StoreContentNames& names_;
  ModelName model_;
  std::map<Fingerprint, bool> used_;  // true: its stamp must be renewed
  std::set<Fingerprint> needed_;      // without which what was put is of no use
  SessionMisses misses_;
  StoreCounters written_;
  int64_t seen_ms_ = 0;  // by SeeTime, not yet written
  bool has_put_ = false;
  bool has_met_damage_ = false;
};

}  // namespace hearth

#endif  // HEARTH_CACHE_STORE_SESSION_RECORDS_H_
