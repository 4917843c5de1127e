// Plain values that describe the cache. The functions that fill them are in hearth/cache.h.
#ifndef HEARTH_CACHE_TYPES_H_
#define HEARTH_CACHE_TYPES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth {

// The fields of a key, in their order: name and value.
using CacheKeyFields = std::vector<std::pair<std::string, std::string>>;

struct StoreCounters {
  uint64_t hits = 0, misses = 0, rejected = 0, put_errors = 0;
  uint64_t bytes_read = 0, bytes_written = 0;
  double milliseconds_saved = 0;
  // Of the hits and the time saved above: by read-only layers, and by a server. The rest is the own store's.
  uint64_t layer_hits = 0, server_hits = 0;
  double layer_milliseconds_saved = 0, server_milliseconds_saved = 0;

  uint64_t own_hits() const { return hits - std::min(hits, layer_hits + server_hits); }
  double own_milliseconds_saved() const {
    return std::max(0.0, milliseconds_saved - layer_milliseconds_saved - server_milliseconds_saved);
  }
  // The share of look-ups that some place answered; nullopt without look-ups.
  std::optional<double> hit_rate() const {
    if (hits + misses == 0) return std::nullopt;
    return static_cast<double>(hits) / static_cast<double>(hits + misses);
  }
};

struct CacheEntry {
  // "source", "weights", "plan", "program", "program-list", "tuning", "probe-read-path", "probe-self-test",
  // "probe-group-limit"
  std::string kind;
  std::string digest;  // 32 hex digits
  uint64_t size_bytes = 0;
  double cost_ms = 0;                        // the time that making it took
  int64_t created_ms = 0, last_used_ms = 0;  // since 1970
  CacheKeyFields fields;
  std::string origin;  // "here", "bundle KEY" or "server KEY" (the signing key, 64 hex digits), "bundle" if unsigned
};

// All conditions must hold; unset ones do not restrict.
struct CacheFilter {
  std::string kind;               // or the beginning of several, before a '-': "probe"
  std::string digest_prefix;      // hex digits
  CacheKeyFields field_contains;  // field name, part of its value
  std::string device;             // part of the name of the device or backend that the entry was made for
  std::optional<std::vector<std::string>> digests;  // one of these
  std::optional<int64_t> unused_since_ms;           // last used before that time
  bool spares_pinned = false;                       // no entries that a pinned model uses
  std::string origin;                               // the beginning of the entry's origin: "here", "bundle"
  std::string signed_by;                            // the first hex digits of the key that signed it
};

struct CacheKindStats {
  uint64_t entries = 0, blob_bytes = 0;
};
struct CacheStats {
  std::string file;
  uint64_t entries = 0, blob_bytes = 0;
  uint64_t file_bytes = 0;                      // with the write-ahead log
  uint64_t damaged_bytes = 0;                   // of a damaged file that was moved aside
  uint64_t other_formats_bytes = 0;             // of stores of other versions of Hearth
  uint64_t quarantined = 0;                     // blobs that were in use when a process died
  uint64_t barred = 0;                          // of these: not accepted for now
  std::map<std::string, CacheKindStats> kinds;  // every kind
  StoreCounters lifetime;                       // of all finished sessions
};

// A model whose sessions used the cache.
struct CacheModel {
  std::string fingerprint;
  std::string path;        // its last known path
  bool is_pinned = false;  // its entries are not evicted
  int64_t last_used_ms = 0;
  uint64_t entries = 0, own_bytes = 0, shared_bytes = 0;  // own: used by no other model
};

// One thing that Examine checked.
struct CacheFinding {
  bool is_trouble = false;
  std::string what;     // its state
  std::string cost;     // what that costs; empty if nothing
  std::string command;  // repairs it; empty if there is nothing to repair, or no command
};

// An entry that was in use when a process died. The same bytes are accepted again until three processes in a row died
// while using them, and then not before `until_ms`.
struct CacheQuarantine {
  std::string digest, kind;  // kind is empty for an entry of a read-only layer
  int64_t deaths = 0;
  int64_t until_ms = 0;  // since 1970
  bool is_barred = false;
};

struct CacheDamage {
  std::string where;  // an entry's digest, or the file
  std::string what;
};
struct CacheVerification {
  uint64_t checked_entries = 0, checked_bytes = 0;
  std::vector<CacheDamage> damages;
  bool repaired = false;
  bool clean() const { return damages.empty(); }
};

struct RemovedEntries {
  uint64_t entries = 0, blob_bytes = 0;
  std::string why_larger = {};  // of Prune: why the store is still larger than wanted, and what helps; empty if it fits
  // Of Clear with `signed_by`: the key that was revoked, and the bytes of other versions' stores beside this one. They
  // keep what the key signed; Clear of everything removes them.
  std::string revoked_key = {};
  uint64_t other_formats_bytes = 0;
};

// A part of a key that differs between the wanted and the stored entry.
struct CacheKeyDifference {
  std::string field;
  std::string part;                           // the field's meaning: "driver version", "device uuid", "option", ...
  std::optional<std::string> wanted, stored;  // nullopt: the key has no such field
};

// An entry that a start looked up.
struct CacheNeed {
  std::string kind, digest;
  bool is_hit = false;
  std::string reason;          // one sentence; empty for a hit
  std::string nearest_digest;  // the entry of this kind whose key differs least; empty if there is none
  std::vector<CacheKeyDifference> differences;  // from the nearest entry
  CacheKeyFields fields;
};

// An entry that an earlier start missed and made. The cache keeps the last 64.
struct CacheMiss {
  int64_t when_ms = 0;  // since 1970; equal for all misses of a start
  std::string model_fingerprint, model_path;
  std::string device;  // as the entry's key names it; empty if devices share the entry
  std::string kind;
  std::string name;    // of the kernel or layer; may be empty
  std::string reason;  // "not in the cache", "another driver version: 1 -> 2", "rejected: ..."
};

// The device that native entries are made for; they fit if all four fields are equal.
struct CacheDevice {
  std::string backend, name, driver, uuid;
  friend bool operator==(const CacheDevice&, const CacheDevice&) = default;
};

// A bundle: a file of entries and a manifest with a SHA-256 of each. It can be imported into a store, or be used in
// place as a read-only layer.
struct BundleExport {
  std::string folder;  // the file
  uint64_t entries = 0, blob_bytes = 0, native_entries = 0;
  uint64_t damaged_entries = 0;          // left out
  uint64_t programs_without_source = 0;  // left out: of no use without their SPIR-V, which the cache no longer has
  // Entries in the bundle that came from another bundle or a server, and the keys that signed them. Where the bundle is
  // signed, its key signs them too, and a revocation of these keys does not find them where it is imported.
  uint64_t from_others = 0;
  std::vector<std::string> other_keys;
  uint64_t revoked_entries = 0;  // left out of a signed bundle: a key that was revoked here has signed them
  std::vector<CacheDevice> devices;
  std::string signed_by;  // the public key in hex; empty: not signed
};
struct BundleImport {
  uint64_t entries = 0, blob_bytes = 0;
  uint64_t other_devices = 0;  // native entries left out because they fit no device here
  // Entries left out because three runs in a row died while they used the same bytes, and when the last of them is
  // accepted again (since 1970; 0: there are none).
  uint64_t quarantined = 0;
  int64_t quarantined_until_ms = 0;
  std::string signed_by;              // the trusted key in hex; empty: not signed by a trusted key
  std::vector<std::string> warnings;  // such as that the signing key was revoked here before
};

// A Redis server that machines with the same device and driver share, behind the local cache. Entries count only when
// a trusted key has signed them.
struct CacheServer {
  std::string address;       // "host:port" or "rediss://user:password@host:port/database?ttl=30d"; empty: none
  std::string trusted_keys;  // file of public keys (hearth cache key)
  std::string sign_with;     // file of the secret key; empty: nothing is stored there
};

// Something that happened in a session's cache.
struct CacheEvent {
  enum class What { kHit, kMiss, kRejected, kStored };
  What what = What::kHit;
  std::string kind, digest;
  uint64_t size_bytes = 0;  // of hits and stored entries
  CacheKeyFields fields;
};
// Called on the thread of the event, one call at a time; must not call the session.
using CacheObserver = std::function<void(const CacheEvent&)>;

// A caller's own store, used instead of the cache folder: anything that keeps bytes under names. Hearth checks values
// that it reads (key and checksum), so a store may lose, damage or mix up values: that is a miss. Both functions may be
// called from several threads at once.
class KeyValueStore {
 public:
  virtual ~KeyValueStore() = default;
  // The value last written under `key` (letters, digits, '-' and '/', at most 64); nullopt when there is none.
  virtual std::optional<std::vector<std::byte>> Read(std::string_view key) = 0;
  // False when it could not be kept. An empty value removes the key.
  virtual bool Write(std::string_view key, std::span<const std::byte> value) = 0;
  // Why nothing more is to be asked of it, in one sentence for the session's warnings; empty: it can be used.
  virtual std::string why_unusable() const { return {}; }
  // More such sentences, each once.
  virtual std::vector<std::string> TakeWarnings() { return {}; }
};

}  // namespace hearth

#endif  // HEARTH_CACHE_TYPES_H_
