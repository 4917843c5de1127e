// The tables of a store, as schema.sql makes them, and common code for their rows.
#ifndef HEARTH_CACHE_STORE_ENTRY_ROW_H_
#define HEARTH_CACHE_STORE_ENTRY_ROW_H_

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <span>

#include "cache/files/database.h"
#include "core/store/entry_source.h"

namespace hearth {

// Times are milliseconds since 1970. They end at this number before and after it, so that adding some years to one, or
// taking them away, can't overflow.
inline constexpr int64_t kMostTimeMs = int64_t{1} << 62;

int64_t TimeMs(const timespec& time);
int64_t NowMs();

// The 16 bytes of a digest or checksum column; zeros if it has something else.
Fingerprint FingerprintFrom(std::span<const std::byte> bytes);

// A column of sizes; 0 where a damaged row has a negative one.
uint64_t SizeFrom(const Statement& row, int column);
// Adds to a sum of such sizes. It ends at the largest number: damaged rows may have sizes that no file has.
void AddSize(uint64_t& sum, uint64_t size_bytes);

// Within the caller's transaction. `needs`: the digest of the entry without which this one is of no use.
Status InsertEntry(Database& database, const NewEntry& entry, const std::optional<Fingerprint>& needs);
Status DeleteEntry(Database& database, int64_t id);
Status DeleteEntry(Database& database, const Fingerprint& digest);  // if it exists

// ---- The tables ----

Status MakeTables(Database& database);

// Whether the database has the tables and indexes of schema.sql and nothing else. kMalformedInput if not, or if one is
// written in another way: a column that is computed, or an index on an expression, would run when a row is read, and
// the file may be anybody's.
Status CheckTables(Database& database);

}  // namespace hearth

#endif  // HEARTH_CACHE_STORE_ENTRY_ROW_H_
