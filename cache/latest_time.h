// The latest time that a store has seen, from the clock at a session's end or from what a trusted key has signed. A
// bundle that has expired stays expired where this machine's clock is set back.
#ifndef HEARTH_CACHE_LATEST_TIME_H_
#define HEARTH_CACHE_LATEST_TIME_H_

#include <cstdint>
#include <filesystem>

#include "cache/database.h"

namespace hearth {

// In milliseconds since 1970; 0: none is known.
int64_t LatestTimeMs(Database& database);
int64_t LatestTimeMsIn(const std::filesystem::path& folder);  // of the store there, which need not exist

// Within the caller's transaction. An earlier time than the known one changes nothing.
Status NoteTime(Database& database, int64_t time_ms);

}  // namespace hearth

#endif  // HEARTH_CACHE_LATEST_TIME_H_
