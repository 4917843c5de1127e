#include "cache/models.h"

#include <algorithm>

#include "cache/entry_row.h"

namespace hearth {

Result<bool> KnowsModel(Database& database, const ModelName& model, size_t entries) {
  HEARTH_ASSIGN(Statement count,
                database.Prepare("SELECT count(*) FROM uses WHERE model=(SELECT id FROM models WHERE fingerprint=?1"
                                 " AND (path=?2 OR ?2=''))"));
  HEARTH_ASSIGN(const bool row, count.Bind(0, model.fingerprint).Bind(1, model.path).Step());
  return row && count.Number(0) >= static_cast<int64_t>(entries);
}

Status NoteModel(Database& database, const ModelName& model, const std::vector<Fingerprint>& used) {
  HEARTH_ASSIGN(Statement row, database.Prepare("INSERT INTO models(fingerprint, path, is_pinned, last_used_ms)"
                                                " VALUES(?, ?, 0, ?) ON CONFLICT(fingerprint) DO UPDATE SET"
                                                " path=CASE excluded.path WHEN '' THEN path ELSE"
                                                " excluded.path END, last_used_ms=excluded.last_used_ms"));
  HEARTH_TRY(row.Bind(0, model.fingerprint).Bind(1, model.path).Bind(2, NowMs()).Run());
  HEARTH_ASSIGN(Statement use, database.Prepare("INSERT OR IGNORE INTO uses VALUES((SELECT id FROM models WHERE"
                                                " fingerprint=?), ?)"));
  for (const Fingerprint& digest : used) {
    HEARTH_TRY(use.Bind(0, model.fingerprint).Bind(1, digest.bytes).Run());
  }
  return Status::Ok();
}

Result<std::vector<ModelUses>> ReadUses(Database& database) {
  HEARTH_ASSIGN(Statement rows,
                database.Prepare("SELECT m.fingerprint, m.path, u.digest FROM models m JOIN uses u ON u.model=m.id"
                                 " ORDER BY m.last_used_ms DESC, m.id"));
  std::vector<ModelUses> models;
  while (true) {
    HEARTH_ASSIGN(const bool row, rows.Step());
    if (!row) return models;
    if (models.empty() || models.back().model.fingerprint != rows.Text(0)) {
      models.push_back({{std::string(rows.Text(0)), std::string(rows.Text(1))}, {}});
    }
    models.back().digests.insert(FingerprintFrom(rows.Blob(2)));
  }
}

Result<std::vector<CacheModel>> ReadModels(Database& database, int64_t only) {
  HEARTH_ASSIGN(
      Statement rows,
      database.Prepare("SELECT m.fingerprint, m.path, m.is_pinned, m.last_used_ms, count(e.id),"
                       " sum(e.size_bytes), sum(CASE WHEN (SELECT count(*) FROM uses o WHERE"
                       " o.digest=u.digest)=1 THEN e.size_bytes ELSE 0 END)"
                       " FROM models m LEFT JOIN uses u ON u.model=m.id LEFT JOIN entries e ON"
                       " e.digest=u.digest WHERE ?1=0 OR m.id=?1 GROUP BY m.id ORDER BY m.last_used_ms DESC"));
  rows.Bind(0, only);
  std::vector<CacheModel> models;
  while (true) {
    HEARTH_ASSIGN(const bool row, rows.Step());
    if (!row) return models;
    const auto all_bytes = static_cast<uint64_t>(std::max<int64_t>(0, rows.Number(5)));
    const auto own_bytes = static_cast<uint64_t>(std::max<int64_t>(0, rows.Number(6)));
    models.push_back({std::string(rows.Text(0)), std::string(rows.Text(1)), rows.Number(2) != 0, rows.Number(3),
                      static_cast<uint64_t>(rows.Number(4)), own_bytes, all_bytes - std::min(all_bytes, own_bytes)});
  }
}

Result<int64_t> FindModel(Database& database, std::string_view name) {
  HEARTH_ASSIGN(Statement rows, database.Prepare("SELECT id FROM models WHERE path=?1 OR (length(?1) >= 4 AND"
                                                 " substr(fingerprint, 1, length(?1))=?1) LIMIT 2"));
  HEARTH_ASSIGN(const bool row, rows.Bind(0, name).Step());
  const int64_t id = row ? rows.Number(0) : 0;
  if (row) {
    HEARTH_ASSIGN(const bool is_ambiguous, rows.Step());
    if (!is_ambiguous) return id;
  }
  return Error(StatusCode::kNotFound, "the cache knows {} '{}': `hearth cache ls --by-model` lists the known models",
               row ? "several models" : "no model", name);
}

Status PinModel(Database& database, int64_t model, bool is_pinned) {
  HEARTH_ASSIGN(Transaction transaction, Transaction::Begin(database));
  HEARTH_ASSIGN(Statement pin, database.Prepare("UPDATE models SET is_pinned=? WHERE id=?"));
  HEARTH_TRY(pin.Bind(0, int64_t{is_pinned}).Bind(1, model).Run());
  return transaction.Commit();
}

Result<std::vector<int64_t>> OwnEntries(Database& database, int64_t model) {
  std::vector<int64_t> own;
  HEARTH_ASSIGN(Statement rows,
                database.Prepare("SELECT e.id FROM uses u JOIN entries e ON e.digest=u.digest WHERE u.model=? AND"
                                 " (SELECT count(*) FROM uses o WHERE o.digest=u.digest)=1"));
  rows.Bind(0, model);
  while (true) {
    HEARTH_ASSIGN(const bool row, rows.Step());
    if (!row) return own;
    own.push_back(rows.Number(0));
  }
}

Status ForgetModel(Database& database, int64_t model) {
  HEARTH_ASSIGN(Transaction transaction, Transaction::Begin(database));
  for (const char* sql : {"DELETE FROM uses WHERE model=?", "DELETE FROM models WHERE id=?"}) {
    HEARTH_ASSIGN(Statement statement, database.Prepare(sql));
    HEARTH_TRY(statement.Bind(0, model).Run());
  }
  return transaction.Commit();
}

Result<std::set<Fingerprint>> PinnedDigests(Database& database) {
  HEARTH_ASSIGN(Statement rows,
                database.Prepare("SELECT u.digest FROM models m JOIN uses u ON u.model=m.id WHERE m.is_pinned"));
  std::set<Fingerprint> digests;
  while (true) {
    HEARTH_ASSIGN(const bool row, rows.Step());
    if (!row) return digests;
    digests.insert(FingerprintFrom(rows.Blob(0)));
  }
}

}  // namespace hearth
