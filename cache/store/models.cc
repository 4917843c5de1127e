#include "cache/store/models.h"

#include <algorithm>
#include <map>
#include <utility>

#include "cache/store/entry_row.h"

namespace hearth {

// Not by their number: a start with other options may use fewer entries, and others.
Result<bool> KnowsModel(Database& database, const ModelName& model, const std::vector<Fingerprint>& used) {
  HEARTH_ASSIGN(Statement named, database.Prepare("SELECT id FROM models WHERE fingerprint=?1 AND (path=?2 OR ?2='')"));
  HEARTH_ASSIGN(const bool is_named, named.Bind(0, model.fingerprint).Bind(1, model.path).Step());
  if (!is_named) return false;
  HEARTH_ASSIGN(Statement use, database.Prepare("SELECT 1 FROM uses WHERE model=? AND digest=?"));
  for (const Fingerprint& digest : used) {
    const StatementScope scope(use);
    HEARTH_ASSIGN(const bool is_known, use.Bind(0, named.Number(0)).Bind(1, digest.bytes).Step());
    if (!is_known) return false;
  }
  return true;
}

Status NoteModel(Database& database, const ModelName& model, const std::vector<Fingerprint>& used) {
  HEARTH_TRY(database.RunWith(
      "INSERT INTO models(fingerprint, path, is_pinned, last_used_ms) VALUES(?, ?, 0, ?) ON CONFLICT(fingerprint) DO"
      " UPDATE SET path=CASE excluded.path WHEN '' THEN path ELSE excluded.path END,"
      " last_used_ms=excluded.last_used_ms",
      model.fingerprint, model.path, NowMs()));
  HEARTH_ASSIGN(Statement use, database.Prepare("INSERT OR IGNORE INTO uses VALUES((SELECT id FROM models WHERE"
                                                " fingerprint=?), ?)"));
  for (const Fingerprint& digest : used) {
    HEARTH_TRY(use.Bind(0, model.fingerprint).Bind(1, digest.bytes).Run());
  }
  return Status::Ok();
}

namespace {

struct KnownModel {
  int64_t id = 0;
  CacheModel model;
};

// By the order of their last use, the latest first. Ordered here: sqlite would hold all rows of a damaged table in
// memory before it returned the first.
Result<std::vector<KnownModel>> ReadModelRows(Database& database, int64_t only) {
  HEARTH_ASSIGN(Statement rows, database.Prepare("SELECT id, fingerprint, path, is_pinned, last_used_ms FROM models"
                                                 " WHERE ?1=0 OR id=?1"));
  rows.Bind(0, only);
  std::vector<KnownModel> models;
  HEARTH_TRY(rows.ForEachRow([&] {
    models.push_back(
        {rows.Number(0), {std::string(rows.Text(1)), std::string(rows.Text(2)), rows.Number(3) != 0, rows.Number(4)}});
  }));
  std::ranges::stable_sort(models, [](const KnownModel& one, const KnownModel& other) {
    return one.model.last_used_ms > other.model.last_used_ms;
  });
  return models;
}

// Which entries each model uses, by its id.
using UsesOfModels = std::map<int64_t, std::set<Fingerprint>>;

Result<UsesOfModels> ReadUseRows(Database& database) {
  HEARTH_ASSIGN(Statement rows, database.Prepare("SELECT model, digest FROM uses"));
  UsesOfModels uses;
  HEARTH_TRY(rows.ForEachRow([&] { uses[rows.Number(0)].insert(FingerprintFrom(rows.Blob(1))); }));
  return uses;
}

struct UsedEntry {
  uint64_t bytes = 0;
  int models = 0;
};
using UsedEntries = std::map<Fingerprint, UsedEntry>;

Result<UsedEntries> ReadUsedEntries(Database& database, const UsesOfModels& uses) {
  HEARTH_ASSIGN(Statement rows, database.Prepare("SELECT digest, size_bytes FROM entries"));
  UsedEntries entries;
  HEARTH_TRY(rows.ForEachRow([&] { entries[FingerprintFrom(rows.Blob(0))].bytes = SizeFrom(rows, 1); }));
  for (const auto& [model, digests] : uses) {
    for (const Fingerprint& digest : digests) {
      if (const auto entry = entries.find(digest); entry != entries.end()) ++entry->second.models;
    }
  }
  return entries;
}

void AddUses(const std::set<Fingerprint>& digests, const UsedEntries& entries, CacheModel& model) {
  for (const Fingerprint& digest : digests) {
    const auto entry = entries.find(digest);
    if (entry == entries.end()) continue;
    ++model.entries;
    (entry->second.models == 1 ? model.own_bytes : model.shared_bytes) += entry->second.bytes;
  }
}

}  // namespace

Result<std::vector<ModelUses>> ReadUses(Database& database) {
  HEARTH_ASSIGN(const std::vector<KnownModel> known, ReadModelRows(database, 0));
  HEARTH_ASSIGN(UsesOfModels uses, ReadUseRows(database));
  std::vector<ModelUses> models;
  for (const auto& [id, model] : known) {
    const auto used = uses.find(id);
    if (used == uses.end()) continue;
    models.push_back({{model.fingerprint, model.path}, std::move(used->second)});
    uses.erase(used);
  }
  return models;
}

// Each table is read once: a join would look at all models of an entry for each model that uses it.
Result<std::vector<CacheModel>> ReadModels(Database& database, int64_t only) {
  HEARTH_ASSIGN(std::vector<KnownModel> known, ReadModelRows(database, only));
  HEARTH_ASSIGN(const UsesOfModels uses, ReadUseRows(database));
  HEARTH_ASSIGN(const UsedEntries entries, ReadUsedEntries(database, uses));
  std::vector<CacheModel> models;
  for (auto& [id, model] : known) {
    const auto used = uses.find(id);
    if (used != uses.end()) AddUses(used->second, entries, model);
    models.push_back(std::move(model));
  }
  return models;
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
  HEARTH_TRY(database.RunWith("UPDATE models SET is_pinned=? WHERE id=?", int64_t{is_pinned}, model));
  return transaction.Commit();
}

Result<std::vector<int64_t>> OwnEntries(Database& database, int64_t model) {
  std::vector<int64_t> own;
  HEARTH_ASSIGN(Statement rows,
                database.Prepare("SELECT e.id FROM uses u JOIN entries e ON e.digest=u.digest WHERE u.model=? AND"
                                 " (SELECT count(*) FROM uses o WHERE o.digest=u.digest)=1"));
  HEARTH_TRY(rows.Bind(0, model).ForEachRow([&] { own.push_back(rows.Number(0)); }));
  return own;
}

Status ForgetModel(Database& database, int64_t model) {
  HEARTH_ASSIGN(Transaction transaction, Transaction::Begin(database));
  HEARTH_TRY(database.RunWith("DELETE FROM uses WHERE model=?", model));
  HEARTH_TRY(database.RunWith("DELETE FROM models WHERE id=?", model));
  return transaction.Commit();
}

Result<std::set<Fingerprint>> PinnedDigests(Database& database) {
  HEARTH_ASSIGN(Statement rows,
                database.Prepare("SELECT u.digest FROM models m JOIN uses u ON u.model=m.id WHERE m.is_pinned"));
  std::set<Fingerprint> digests;
  HEARTH_TRY(rows.ForEachRow([&] { digests.insert(FingerprintFrom(rows.Blob(0))); }));
  return digests;
}

}  // namespace hearth
