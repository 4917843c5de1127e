#include "cache/entry_row.h"

#include <chrono>
#include <cstring>

namespace hearth {

int64_t NowMs() {
  using std::chrono::milliseconds;
  return std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Fingerprint FingerprintFrom(std::span<const std::byte> bytes) {
  Fingerprint fingerprint;
  if (bytes.size() == fingerprint.bytes.size()) std::memcpy(fingerprint.bytes.data(), bytes.data(), bytes.size());
  return fingerprint;
}

std::optional<CacheKey> KeyFromMaterial(BlobKind kind, std::string_view material) {
  const auto fields = DecodeKeyMaterial(material);
  if (!fields.ok()) return std::nullopt;
  CacheKey key(kind);
  for (const auto& [name, value] : *fields) key.Add(name, value);
  return key;
}

Status DeleteEntry(Database& database, int64_t id) {
  for (const char* sql : {"DELETE FROM blobs WHERE id=?", "DELETE FROM entries WHERE id=?"}) {
    HEARTH_ASSIGN(Statement statement, database.Prepare(sql));
    HEARTH_TRY(statement.Bind(0, id).Run());
  }
  return Status::Ok();
}

Status DeleteEntry(Database& database, const Fingerprint& digest) {
  for (const char* sql :
       {"DELETE FROM blobs WHERE id=(SELECT id FROM entries WHERE digest=?)", "DELETE FROM entries WHERE digest=?"}) {
    HEARTH_ASSIGN(Statement statement, database.Prepare(sql));
    HEARTH_TRY(statement.Bind(0, digest.bytes).Run());
  }
  return Status::Ok();
}

}  // namespace hearth
