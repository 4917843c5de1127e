// Names of content in keys. A store remembers them under XXH3-128 with a secret, so that a start computes no SHA-256.
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

// Call it for a store that is being made.
Status MakeSecret(Database& database);

// The names of one store file. Thread-safe, except calls with a database, which the store's lock guards.
class ContentNames {
 public:
  // Reads the secret and drops names that were not stored, because they belong to another file. A store without a valid
  // secret remembers nothing.
  void Open(Database& database);

  // The content's place in the store; nullopt if nothing is remembered.
  std::optional<std::string> PlaceOf(std::span<const std::byte> bytes) const;
  std::optional<std::string> Find(Database& database, const std::string& place) const;
  void Note(const std::string& place, const std::string& name);

  bool has_news() const;
  Status Store(Database& database);  // within the caller's transaction
  void OnStored();                   // call it after the commit

 private:
  mutable std::mutex mutex_;
  std::optional<std::array<std::byte, kFingerprintSecretBytes>> secret_;
  std::map<std::string, std::string> new_;  // names by place
};

}  // namespace hearth

#endif  // HEARTH_CACHE_CONTENT_NAMES_H_
