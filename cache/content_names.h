// What content is called in keys, and how a store finds that without computing a SHA-256 at each start: it remembers
// names under XXH3-128 with a secret that no one else knows.
#ifndef HEARTH_CACHE_CONTENT_NAMES_H_
#define HEARTH_CACHE_CONTENT_NAMES_H_

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "cache/database.h"
#include "core/base/blob_store.h"

namespace hearth {

// Into a store that is being made.
Status MakeSecret(Database& database);

// Of one store file. Thread-safe, but for the calls with a database, which the store's lock guards.
class ContentNames {
 public:
  // Forgets what was not stored, which is of another file. A store without a sound secret remembers nothing.
  void Open(Database& database);

  // The content's place in the store; nullopt where nothing is remembered.
  std::optional<std::string> PlaceOf(std::span<const std::byte> bytes) const;
  std::optional<std::string> Find(Database& database, const std::string& place) const;
  void Note(const std::string& place, const std::string& name);

  bool has_news() const;
  Status Store(Database& database);  // within the caller's transaction
  void OnStored();                   // it was committed

 private:
  mutable std::mutex mutex_;
  std::optional<std::array<std::byte, kFingerprintSecretBytes>> secret_;
  std::map<std::string, std::string> new_;  // names by place
};

}  // namespace hearth

#endif  // HEARTH_CACHE_CONTENT_NAMES_H_
