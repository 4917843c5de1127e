// Common code for single rows of schema.sql.
#ifndef HEARTH_CACHE_ENTRY_ROW_H_
#define HEARTH_CACHE_ENTRY_ROW_H_

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <span>

#include "cache/database.h"
#include "core/base/fingerprint.h"

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

// The time that making an entry took, from 0 to about a day. Bundles, servers and other people's stores may say
// anything, even what is no number; sums of what they say must be numbers.
inline constexpr double kMostCostMs = 1e8;
double BoundedCostMs(double cost_ms);

// Inserts an entry and its blob within the caller's transaction.
Status DeleteEntry(Database& database, int64_t id);
Status DeleteEntry(Database& database, const Fingerprint& digest);  // if it exists

}  // namespace hearth

#endif  // HEARTH_CACHE_ENTRY_ROW_H_
