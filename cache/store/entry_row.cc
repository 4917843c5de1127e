#include "cache/store/entry_row.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"

namespace hearth {
namespace {

constexpr std::string_view kOtherTables = "its tables are not those of a store";

// The statements without their semicolons. sqlite keeps such a text as it is, with the comments in it.
std::vector<std::string_view> StatementsOf(std::string_view text) {
  std::vector<std::string_view> statements;
  size_t start = std::string_view::npos;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text.substr(at).starts_with("--")) {
      at = text.find('\n', at);
      if (at == std::string_view::npos) break;
    } else if (text[at] == ';' && start != std::string_view::npos) {
      statements.push_back(text.substr(start, at - start));
      start = std::string_view::npos;
    } else if (start == std::string_view::npos && text[at] > ' ') {
      start = at;
    }
  }
  return statements;
}

std::string_view NameAfter(std::string_view words, std::string_view statement) {
  const std::string_view rest = statement.substr(statement.find(words) + words.size());
  return rest.substr(0, rest.find_first_of(" ("));
}

// `row` has type, name, table and text.
bool IsMadeBy(std::string_view statement, const Statement& row) {
  const bool is_table = statement.starts_with("CREATE TABLE ");
  const std::string_view name = NameAfter(is_table ? "CREATE TABLE " : "CREATE INDEX ", statement);
  const std::string_view table = is_table ? name : NameAfter(" ON ", statement);
  return row.Text(0) == (is_table ? "table" : "index") && row.Text(1) == name && row.Text(2) == table &&
         row.Text(3) == statement;
}

// The index of a UNIQUE column has no text. sqlite refuses one that its table does not need.
bool IsOfAUniqueColumn(const Statement& row) {
  return row.Text(3).empty() && row.Text(0) == "index" &&
         row.Text(1).starts_with("sqlite_autoindex_" + std::string(row.Text(2)) + "_");
}

// What ANALYZE makes.
bool IsOfStatistics(const Statement& row) {
  return row.Text(3) == "CREATE TABLE sqlite_stat1(tbl,idx,stat)" ||
         row.Text(3) == "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)";
}

}  // namespace

int64_t TimeMs(const timespec& time) {
  constexpr int64_t kMostSeconds = kMostTimeMs / 1000;
  return std::clamp(int64_t{time.tv_sec}, -kMostSeconds, kMostSeconds - 1) * 1000 + time.tv_nsec / 1'000'000;
}

// std::chrono::system_clock counts nanoseconds, whose 64 bits overflow in 2262.
int64_t NowMs() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return TimeMs(now);
}

Fingerprint FingerprintFrom(std::span<const std::byte> bytes) {
  Fingerprint fingerprint;
  if (bytes.size() == fingerprint.bytes.size()) std::memcpy(fingerprint.bytes.data(), bytes.data(), bytes.size());
  return fingerprint;
}

uint64_t SizeFrom(const Statement& row, int column) {
  return static_cast<uint64_t>(std::max<int64_t>(0, row.Number(column)));
}

void AddSize(uint64_t& sum, uint64_t size_bytes) {
  sum += std::min(size_bytes, UINT64_MAX - sum);
}

Status InsertEntry(Database& database, const NewEntry& entry, const std::optional<Fingerprint>& needs) {
  HEARTH_ASSIGN(
      Statement row,
      database.Prepare("INSERT INTO entries(digest, kind, material, size_bytes, checksum, cost_ms, created_ms,"
                       " last_used_ms, origin, needs) VALUES(?, ?, ?, ?, ?, ?, ?7, ?7, ?, ?) RETURNING id"));
  row.Bind(0, entry.digest.bytes).Bind(1, BlobKindName(entry.key->kind())).Bind(2, BytesOf(entry.key->material()));
  row.Bind(3, static_cast<int64_t>(entry.bytes.size())).Bind(4, entry.checksum.bytes);
  row.Bind(5, BoundedCostMs(entry.cost_ms)).Bind(6, NowMs());
  row.Bind(7, entry.origin.empty() ? std::string_view("") : entry.origin);
  if (needs) row.Bind(8, needs->bytes);
  HEARTH_ASSIGN(const bool is_made, row.Step());
  const int64_t id = is_made ? row.Number(0) : 0;
  HEARTH_TRY(row.Run());
  return database.RunWith("INSERT INTO blobs(id, bytes) VALUES(?, ?)", id, entry.bytes);
}

Status DeleteEntry(Database& database, int64_t id) {
  HEARTH_TRY(database.RunWith("DELETE FROM blobs WHERE id=?", id));
  return database.RunWith("DELETE FROM entries WHERE id=?", id);
}

Status DeleteEntry(Database& database, const Fingerprint& digest) {
  HEARTH_TRY(database.RunWith("DELETE FROM blobs WHERE id=(SELECT id FROM entries WHERE digest=?)", digest.bytes));
  return database.RunWith("DELETE FROM entries WHERE digest=?", digest.bytes);
}

extern const EmbeddedFile kCacheSchema[];  // schema.sql

Status MakeTables(Database& database) {
  return database.Run(std::string(kCacheSchema[0].text));
}

Status CheckTables(Database& database) {
  std::vector<std::string_view> missing = StatementsOf(kCacheSchema[0].text);
  Result<Statement> row = database.Prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema");
  HEARTH_TRY(row.status().Within(kOtherTables));
  while (true) {
    const Result<bool> is_there = row->Step();
    HEARTH_TRY(is_there.status().Within(kOtherTables));
    if (!*is_there) break;
    if (IsOfAUniqueColumn(*row) || IsOfStatistics(*row)) continue;
    // In any order: VACUUM writes tables before indexes.
    const bool is_ours = std::erase_if(missing, [&](std::string_view text) { return IsMadeBy(text, *row); }) == 1;
    if (!is_ours) return Error(StatusCode::kMalformedInput, "{}", kOtherTables);
  }
  return missing.empty() ? Status::Ok() : Error(StatusCode::kMalformedInput, "{}", kOtherTables);
}

}  // namespace hearth
