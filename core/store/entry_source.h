// What a cache is put together from: places that hold entries, and what the machine's own store remembers beside them.
// The layer `cache` implements these; ResultCache decides when which is asked.
#ifndef HEARTH_CORE_STORE_ENTRY_SOURCE_H_
#define HEARTH_CORE_STORE_ENTRY_SOURCE_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file_stamp.h"
#include "core/store/cache_key.h"
#include "core/store/content.h"

namespace hearth {

// The time that making an entry took, from 0 to about a day. Bundles, servers and other people's stores may say
// anything, even what is no number; sums of what they say must be numbers.
inline constexpr double kMostCostMs = 1e8;
inline double BoundedCostMs(double cost_ms) {
  return std::isfinite(cost_ms) ? std::clamp(cost_ms, 0.0, kMostCostMs) : 0;
}

// The longest key that is read: far more than any has.
inline constexpr uint64_t kMaxMaterialBytes = uint64_t{16} << 20;

// An entry that a source has.
struct FoundEntry {
  std::span<const std::byte> bytes;
  Fingerprint checksum;           // of the bytes
  double cost_ms = 0;             // the time that making it took
  std::string origin;             // as CacheEntry::origin; empty: made here
  std::string_view trouble = {};  // of a damaged entry: "was damaged", "has a wrong size"
};

// An entry to be stored.
struct NewEntry {
  const CacheKey* key = nullptr;
  std::span<const std::byte> bytes;
  double cost_ms = 0;
  std::string_view origin;
  Fingerprint digest, checksum;  // of key and bytes
};

enum class PutResult : uint8_t {
  kStored,
  kPresent,  // the same bytes were there
  kFailed,   // the source can't be written, or has no room: a put error
  kRevoked,  // a put error: who signed it is not trusted any more
  kBarred,   // three runs died while they used these bytes
};

// A place that holds entries. Any thread.
class EntrySource {
 public:
  virtual ~EntrySource() = default;

  // Asks `destination` for memory of the blob's size and fills it. kHit only if the full key material matched and the
  // blob's checksum was right; otherwise the destination's content is garbage. An empty span from `destination` (a size
  // that the caller can't take) is damage.
  enum class Answer : uint8_t { kHit, kMiss, kDamaged };
  using Destination = std::function<std::span<std::byte>(uint64_t size_bytes)>;
  virtual Answer Get(const CacheKey& key, const Destination& destination, FoundEntry& found) = 0;

  // Whether there is an entry of this key, which may be damaged. A server is not asked.
  virtual bool Has(const CacheKey& /*key*/) { return false; }

  // Visits every entry of the kind whose key begins with the fields of `common`.
  using Visitor = std::function<void(const CacheKey& key, const FoundEntry& entry)>;
  virtual void ForEach(const CacheKey& /*common*/, const Visitor& /*visit*/) {}

  // Replaces entries of the same key. `results` has one element per entry. False: nothing was stored, because others
  // hold the source for longer than `patience_ms` and what the session may wait anyway; the same may be put again.
  virtual bool Put(std::span<const NewEntry> entries, std::span<PutResult> results, double patience_ms) = 0;

  // Removes an entry that turned out to be unusable. A source that can't be written does nothing.
  virtual void Remove(const CacheKey& /*key*/) {}

  // False: it answers nothing any more.
  virtual bool is_usable() const { return true; }
  virtual std::vector<std::string> TakeWarnings() { return {}; }  // new since the last call
};

// Remembers across processes which entries were in use when one died, so that a blob crashes its driver only once.
class CrashMarks {
 public:
  virtual ~CrashMarks() = default;
  virtual void BeginUse(const CacheKey& key) = 0;
  virtual void EndUse(const CacheKey& key) = 0;
  // Whether a process died while using this entry. Then copies of it elsewhere must not be used either.
  virtual bool IsSuspect(const CacheKey& key) const = 0;
  // Whether not even the own store's entry may be used.
  virtual bool IsHidden(const CacheKey& key) const = 0;
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
class MakingClaims {
 public:
  virtual ~MakingClaims() = default;
  // Waits a bounded time if another process is making the entry.
  virtual MakingTurn Take(const CacheKey& key) = 0;
};

// A name for a look-up may be shorter if no entry can have the full one. kPutNew: a look-up did not know it, so that
// one reading computes all.
enum class NameUse : uint8_t { kLookUp, kPut, kPutNew };

// The fingerprint and the name of a content: of a file's, found by its stamp without reading the file.
struct KnownFile {
  std::string fingerprint, name;
};

// The names of long content in keys, remembered. Nobody can make other content with the same name.
class ContentNames {
 public:
  virtual ~ContentNames() = default;
  virtual Result<KnownFile> NameOf(const ContentReading& content, NameUse use) = 0;
  virtual std::string NameOf(std::span<const std::byte> bytes, NameUse use) = 0;
  virtual std::optional<KnownFile> RecallFile(const FileStamp& stamp) = 0;
  // The fingerprint remembered with this name, so that only the name has to be computed.
  virtual std::optional<std::string> RecallFingerprint(const std::string& name) = 0;
  // Remembers the full name, as for a put. A file that changed recently is not remembered.
  virtual void RememberFile(const std::optional<FileStamp>& stamp, const KnownFile& known) = 0;
};

// Statistics that outlive the session.
class SessionLog {
 public:
  virtual ~SessionLog() = default;
  virtual void Miss(const CacheKey& key, std::string_view reason) = 0;
  virtual void Make(const CacheKey& key) = 0;  // an entry that was made here is put
  virtual void Write(const StoreCounters& so_far) = 0;
};

}  // namespace hearth

#endif  // HEARTH_CORE_STORE_ENTRY_SOURCE_H_
