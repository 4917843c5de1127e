#include "cache/quarantine.h"

#include <filesystem>
#include <system_error>

#include "cache/entry_row.h"

namespace hearth {

Status RecordStrikes(Database& database, const std::vector<DeadMarker>& dead) {
  HEARTH_ASSIGN(Transaction transaction, Transaction::Begin(database));
  HEARTH_ASSIGN(Statement strike,
                database.Prepare("INSERT INTO quarantine"
                                 " VALUES(?1, (SELECT checksum FROM entries WHERE digest=?1), 1)"
                                 " ON CONFLICT(digest) DO UPDATE SET checksum=excluded.checksum,"
                                 " strikes=CASE WHEN excluded.checksum IS checksum THEN strikes + 1 ELSE 1 END"));
  for (const DeadMarker& marker : dead) {
    for (const Fingerprint& digest : marker.in_use) {
      HEARTH_TRY(strike.Bind(0, digest.bytes).Run());
      HEARTH_TRY(DeleteEntry(database, digest));
    }
  }
  HEARTH_TRY(transaction.Commit());
  for (const DeadMarker& marker : dead) {
    std::error_code ignored;
    std::filesystem::remove(marker.file, ignored);
  }
  return Status::Ok();
}

Result<std::set<Fingerprint>> QuarantinedDigests(Database& database) {
  HEARTH_ASSIGN(Statement quarantined, database.Prepare("SELECT digest FROM quarantine"));
  std::set<Fingerprint> digests;
  while (true) {
    HEARTH_ASSIGN(const bool row, quarantined.Step());
    if (!row) return digests;
    digests.insert(FingerprintFrom(quarantined.Blob(0)));
  }
}

Result<bool> IsBarred(Database& database, const Fingerprint& digest, const Fingerprint& checksum) {
  HEARTH_ASSIGN(Statement record, database.Prepare("SELECT strikes FROM quarantine WHERE digest=? AND checksum=?"));
  HEARTH_ASSIGN(const bool row, record.Bind(0, digest.bytes).Bind(1, checksum.bytes).Step());
  return row && record.Number(0) >= kMaxStrikes;
}

Status Acquit(Database& database, const std::set<Fingerprint>& digests) {
  HEARTH_ASSIGN(Statement acquit, database.Prepare("DELETE FROM quarantine WHERE digest=? AND checksum IS NOT NULL"));
  for (const Fingerprint& digest : digests) HEARTH_TRY(acquit.Bind(0, digest.bytes).Run());
  return Status::Ok();
}

}  // namespace hearth
