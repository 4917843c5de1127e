// Names of content in keys, as a store remembers them: under XXH3-128 with a secret, so that a start computes no
// SHA-256, and for a file under its stamp, so that a start does not read it.
#ifndef HEARTH_CACHE_STORE_CONTENT_NAMES_H_
#define HEARTH_CACHE_STORE_CONTENT_NAMES_H_

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "cache/store/store_connection.h"
#include "core/store/entry_source.h"

namespace hearth {

class StoreContentNames final : public ContentNames {
 public:
  explicit StoreContentNames(StoreConnection& connection) : connection_(connection) {}

  // For a look-up, unknown content gets a short name, because entries of it can't exist and no SHA-256 is needed. If
  // the store has entries from elsewhere, it gets its full name.
  Result<KnownFile> NameOf(const ContentReading& content, NameUse use) override;
  std::string NameOf(std::span<const std::byte> bytes, NameUse use) override;
  std::optional<KnownFile> RecallFile(const FileStamp& stamp) override;
  std::optional<std::string> RecallFingerprint(const std::string& name) override;
  void RememberFile(const std::optional<FileStamp>& stamp, const KnownFile& known) override;

  // The rest needs the connection's lock.

  // Reads the secret of a file that was opened, and drops names that were not stored, because they belong to another
  // file. A store without a valid secret remembers nothing.
  Status Load(Database& database);
  bool has_news() const { return !new_.empty() || (has_others_ && !knows_others_); }
  void NoteOthers() { has_others_ = true; }  // an entry from elsewhere is stored
  Status Store(Database& database);          // within the caller's transaction
  void OnStored();                           // call it after the commit

 private:
  using Secret = std::array<std::byte, kFingerprintSecretBytes>;
  std::optional<Secret> secret() const;
  // The content's place in the store; nullopt if nothing is remembered.
  std::optional<std::string> PlaceOf(std::span<const std::byte> bytes) const;
  std::optional<std::string> Find(const std::string& place);  // needs the lock
  // What the content is called without its SHA-256; nullopt if it needs that.
  std::optional<std::string> NameAt(const std::string& place, uint64_t size_bytes, NameUse use);
  void Note(const std::string& place, const std::string& name);

  StoreConnection& connection_;
  std::optional<Secret> secret_;
  std::map<std::string, std::string> new_;  // names by place
  bool has_others_ = false;                 // whether the store has entries that were not made here
  bool knows_others_ = false;               // and the file says so
};

}  // namespace hearth

#endif  // HEARTH_CACHE_STORE_CONTENT_NAMES_H_
