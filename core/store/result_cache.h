// The one way to what is kept between starts: the results of expensive functions, found by the functions' arguments.
//
//   GetOrMake(cache, request, Parse, Make)
//
// gives the result of Make(request), which may capture nothing: all that it depends on is a member of the request, and
// the members are the key (key_request.h). It is parsed from the stored bytes if there are any. The cache looks in its
// layers, its own store and a server, in this order; verifies what it finds; remembers crashes; rejects what can't be
// parsed; lets one process make what several lack; keeps what was made until it is stored in a batch; knows what a
// result cost and who made it; tells an observer; and keeps the entries of one model token apart.
//
// The cache is an accelerator, never a dependency: no call here fails. Trouble is a counted miss or put error and a
// warning; the caller computes and goes on.
#ifndef HEARTH_CORE_STORE_RESULT_CACHE_H_
#define HEARTH_CORE_STORE_RESULT_CACHE_H_

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/log.h"
#include "core/store/entry_source.h"
#include "core/store/key_request.h"
#include "hearth/cache_types.h"

namespace hearth {

// What a cache is put together from.
struct CacheParts {
  std::vector<std::unique_ptr<EntrySource>> layers = {};  // read-only
  std::unique_ptr<EntrySource> own = nullptr;             // gets what is made; null: nothing is stored
  std::unique_ptr<EntrySource> server = nullptr;          // gets what is made here, and signs it
  // What `own` remembers beside entries; null where it does not.
  CrashMarks* marks = nullptr;
  MakingClaims* claims = nullptr;
  ContentNames* names = nullptr;
  SessionLog* log = nullptr;
  CacheObserver observer = {};
  std::function<double()> now_ms = {};  // a clock, for what making costs; empty: costs are 0
  std::string token = {};               // only entries of this token are found; empty: those without one
  bool is_read_only = false;            // nothing is put
};

class ResultCache;

// An entry that is being parsed.
struct StoredEntry {
  const CacheKey& key;
  std::span<const std::byte> bytes;
  double cost_ms = 0;
  bool is_made_here = true;  // else it came from a bundle, a layer or a server
  ResultCache* cache;

  // The bytes of an entry that this one names (entry_links.h). kNotFound if it is gone.
  Result<std::vector<std::byte>> Linked(const CacheKey& link) const;
};

// A result, and what is known of its entry.
template <typename T>
struct Kept {
  T value;
  std::optional<CacheKey> found_as;              // the key of the entry that it was parsed from; nullopt: it was made
  double cost_ms = 0;                            // the time that making it took, now or then; 0 without a cache
  std::unique_ptr<MakingClaim> claim = nullptr;  // hold it until the result is put: others wait for it
};

// What a function from StoredEntry to Result gives.
template <typename Parse>
using ParsedBy = std::remove_cvref_t<decltype(*std::declval<std::invoke_result_t<const Parse&, const StoredEntry&>>())>;

// An entry to be put, by a key that the cache has given.
struct KeyedBytes {
  CacheKey key;
  std::vector<std::byte> bytes;
  double cost_ms = 0;
};

// Whether a missing entry counts as a miss. Of some results few have an entry, and without one nothing is missing.
enum class Misses : uint8_t { kCounted, kUncounted };

// The result of make(request). `cache` may be null. `elsewhere` is asked before the result counts as missing: it may
// lie in another form.
template <typename T, typename Request>
Result<Kept<T>> GetOrMake(ResultCache* cache, const Request& request,
                          Result<T> (*parse)(const Request&, const StoredEntry&), Result<T> (*make)(const Request&),
                          std::optional<T> (*elsewhere)(const Request&) = nullptr);

// Any thread. In a forked child a copy of the cache is empty, and one warning says so: its lock may have been held at
// the fork, and what its sources have open belongs to the parent.
class ResultCache {
 public:
  explicit ResultCache(CacheParts parts);
  ~ResultCache();  // Flush
  ResultCache(const ResultCache&) = delete;
  ResultCache& operator=(const ResultCache&) = delete;

  // The key under which the request's result is stored here.
  template <typename Request>
  CacheKey KeyFor(const Request& request, NameUse use = NameUse::kLookUp) {
    return WithToken(KeyOf(request, [&](std::span<const std::byte> bytes) { return NameOf(bytes, use); }));
  }

  // The stored result of a request. `parse(const StoredEntry&)` gives a Result; an error rejects the entry.
  template <typename Request, typename Parse>
  auto Find(const Request& request, const Parse& parse, Misses misses = Misses::kCounted) {
    return FindByKey(KeyFor(request), parse, misses);
  }
  // The same by a key from a list of entries, or from another entry.
  template <typename Parse>
  std::optional<Kept<ParsedBy<Parse>>> FindByKey(const CacheKey& key, const Parse& parse,
                                                 Misses misses = Misses::kCounted);
  // The stored bytes of a request, if there are as many as `memory` has, which is garbage otherwise.
  template <typename Request>
  bool FindInto(const Request& request, std::span<std::byte> memory) {
    return ReadInto(KeyFor(request), memory);
  }

  // Whether a result of the request is stored here, or was. Counts nothing.
  template <typename Request>
  bool Has(const Request& request) {
    return HasKey(KeyFor(request));
  }
  bool HasKey(const CacheKey& key);  // from a list of entries

  // Visits the local entries whose keys begin with the members of `common`: visit(const StoredEntry&) gives a Status,
  // and an error rejects the entry. Each counts as a hit.
  template <typename Request, typename Visitor>
  void Visit(const Request& common, const Visitor& visit) {
    VisitByKey(KeyOf(common), visit);
  }

  // Keeps a result, which is stored with the next batch.
  template <typename Request>
  void Put(const Request& request, std::span<const std::byte> bytes, double cost_ms) {
    PutByKey(KeyFor(request, NameUse::kPut), bytes, cost_ms);
  }
  void Put(const KeyedBytes& entry) { PutByKey(entry.key, entry.bytes, entry.cost_ms); }

  // What was made from these entries led to an error: they are removed.
  void Reject(std::span<const CacheKey> found_as, std::string_view reason) {
    for (const CacheKey& key : found_as) RejectOne(key, reason);
  }

  // Ends a claim once everything put so far is stored, so that processes waiting for it find the entry.
  void ReleaseWhenStored(std::unique_ptr<MakingClaim> claim);

  // The name of long content in keys.
  std::string NameOf(std::span<const std::byte> bytes, NameUse use);
  Result<KnownFile> NameOf(const ContentReading& content, NameUse use);
  // Where files and their names are remembered; null if nowhere.
  ContentNames* names() { return parts_.names; }
  bool is_read_only() const { return parts_.is_read_only; }

  // Stores what is kept in memory and writes statistics, best effort.
  void Flush();
  StoreCounters counters() const;           // of this session
  std::vector<std::string> TakeWarnings();  // new since the last call

 protected:
  // By key, for tests.
  CacheKey WithToken(CacheKey key) const;
  bool Read(const CacheKey& key, const EntrySource::Destination& destination, FoundEntry& found,
            Misses misses = Misses::kCounted);
  bool ReadInto(const CacheKey& key, std::span<std::byte> memory);
  using StatusVisitor = std::function<Status(const StoredEntry&)>;
  void VisitByKey(const CacheKey& common, const StatusVisitor& visit);
  void PutByKey(const CacheKey& key, std::span<const std::byte> bytes, double cost_ms, std::string_view origin = {});
  void BeginUse(const CacheKey& key);
  void EndUse(const CacheKey& key);
  MakingTurn TakeTurn(const CacheKey& key);
  // Those that wait for the end of a batch, for others, or for the end of the session.
  size_t pending_puts() const {
    const std::scoped_lock lock(mutex_);
    return pending_.size();
  }

 private:
  friend class PutBatch;
  friend struct StoredEntry;
  template <typename T, typename Request>
  friend Result<Kept<T>> GetOrMake(ResultCache* cache, const Request& request,
                                   Result<T> (*parse)(const Request&, const StoredEntry&),
                                   Result<T> (*make)(const Request&), std::optional<T> (*elsewhere)(const Request&));

  // An entry that was put, or fetched from the server, and is not stored yet.
  struct Pending {
    CacheKey key;
    std::vector<std::byte> bytes;
    double cost_ms = 0;
    std::string origin;
    Fingerprint checksum;
    bool is_fetched = false;  // it can wait until the end
    bool is_sent = false;     // to the server
  };
  using PendingEntries = std::map<Fingerprint, Pending>;
  // A driver, or whoever else parses an entry, is using it.
  class UseScope {
   public:
    UseScope(ResultCache& cache, const CacheKey& key) : cache_(cache), key_(key) { cache_.BeginUse(key_); }
    ~UseScope() { cache_.EndUse(key_); }
    UseScope(const UseScope&) = delete;
    UseScope& operator=(const UseScope&) = delete;

   private:
    ResultCache& cache_;
    const CacheKey& key_;
  };

  NameUse UseHere(NameUse use) const;
  std::vector<EntrySource*> SourcesOf(const CacheKey& key, const Fingerprint& digest);
  bool ReadPending(const Fingerprint& digest, const CacheKey& key, const EntrySource::Destination& destination,
                   FoundEntry& found);
  void NoteHit(EntrySource& source, const CacheKey& key, const Fingerprint& digest, const FoundEntry& found);
  void NoteMiss(const CacheKey& key, std::string reason = {});  // `reason`: why the entry was rejected
  void RejectOne(const CacheKey& key, std::string_view reason);
  // The functions below need the lock.
  // `source`: null for what this session put.
  void CountHit(const EntrySource* source, const CacheKey& key, uint64_t size_bytes, double saved_ms);
  void Keep(Pending entry);
  enum class When : uint8_t { kNow, kWithFetched, kAtTheEnd };
  void StorePending(When when);
  void SendPending();
  void NoteResult(const Pending& entry, const Fingerprint& digest, PutResult result);
  void PassOnOrigins();
  std::string_view KnownOrigin(const Fingerprint& digest, const Fingerprint& checksum) const;
  void Tell(CacheEvent::What what, const CacheKey& key, uint64_t size_bytes);

  const pid_t opener_ = ::getpid();
  CacheParts parts_;
  std::atomic<bool> has_told_child_ = false;
  mutable std::mutex mutex_;  // guards everything below
  StoreCounters counters_;
  Warnings warnings_;
  int open_batches_ = 0;
  PendingEntries pending_;
  uint64_t pending_bytes_ = 0;
  std::vector<std::unique_ptr<MakingClaim>> held_claims_;               // until pending entries are stored
  std::map<std::pair<Fingerprint, Fingerprint>, std::string> origins_;  // of what was read, by key and bytes
  std::map<Fingerprint, EntrySource*> served_by_;                       // other sources than the own store
  std::set<std::pair<EntrySource*, Fingerprint>> rejected_;             // not asked for again
};

// At the end of its scope, what was put until then is stored in one transaction. `cache` may be null.
class PutBatch {
 public:
  explicit PutBatch(ResultCache* cache);
  ~PutBatch();
  PutBatch(const PutBatch&) = delete;
  PutBatch& operator=(const PutBatch&) = delete;

 private:
  ResultCache* cache_;
};

template <typename Parse>
std::optional<Kept<ParsedBy<Parse>>> ResultCache::FindByKey(const CacheKey& key, const Parse& parse, Misses misses) {
  std::vector<std::byte> bytes;
  FoundEntry found;
  const auto room = [&bytes](uint64_t size_bytes) {
    bytes.resize(size_bytes);
    return std::span<std::byte>(bytes);
  };
  if (!Read(key, room, found, misses)) return std::nullopt;
  auto parsed = [&] {
    const UseScope use(*this, key);
    return parse(StoredEntry{key, bytes, found.cost_ms, found.origin.empty(), this});
  }();
  if (parsed.ok()) return Kept<ParsedBy<Parse>>{std::move(parsed).value(), key, found.cost_ms};
  RejectOne(key, parsed.status().message());
  return std::nullopt;
}

template <typename T, typename Request>
Result<Kept<T>> GetOrMake(ResultCache* cache, const Request& request,
                          Result<T> (*parse)(const Request&, const StoredEntry&), Result<T> (*make)(const Request&),
                          std::optional<T> (*elsewhere)(const Request&)) {
  std::unique_ptr<MakingClaim> claim;
  if (cache != nullptr) {
    const CacheKey key = cache->KeyFor(request);
    const auto find = [&]() -> std::optional<Kept<T>> {
      const auto parse_entry = [&](const StoredEntry& entry) { return parse(request, entry); };
      const Misses misses = elsewhere != nullptr ? Misses::kUncounted : Misses::kCounted;
      if (auto found = cache->FindByKey(key, parse_entry, misses)) return found;
      if (elsewhere == nullptr) return std::nullopt;
      if (auto found = elsewhere(request)) return Kept<T>{std::move(*found), key};
      return std::nullopt;
    };
    if (auto found = find()) return std::move(*found);
    MakingTurn turn = cache->TakeTurn(key);
    if (turn.has_waited) {
      if (auto found = find()) return std::move(*found);
    }
    if (elsewhere != nullptr) cache->NoteMiss(key);
    claim = std::move(turn.claim);
  }
  const double begin_ms = cache != nullptr ? cache->parts_.now_ms() : 0;
  Result<T> made = make(request);
  if (!made.ok()) return made.status();
  const double cost_ms = cache != nullptr ? cache->parts_.now_ms() - begin_ms : 0;
  return Kept<T>{std::move(made).value(), std::nullopt, cost_ms, std::move(claim)};
}

}  // namespace hearth

#endif  // HEARTH_CORE_STORE_RESULT_CACHE_H_
