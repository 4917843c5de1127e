// The results of the command line's reports on a store, as plain values.
//
// Each function opens the store of `folder`. It changes nothing unless its name says so, and repairs nothing: a damaged
// file is an error (kIoError, which names the remedy), except for VerifyStore, which reports it. A folder without a
// store is an empty store.
#ifndef HEARTH_CACHE_DESK_REPORTS_H_
#define HEARTH_CACHE_DESK_REPORTS_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cache/store/models.h"
#include "cache/store/revocations.h"
#include "hearth/cache_types.h"
#include "hearth/status.h"

namespace hearth {

// Most recently used first.
Result<std::vector<CacheEntry>> ListEntries(const std::filesystem::path& folder, const CacheFilter& filter = {});

// The keys that were revoked here.
Result<KnownRevocations> ListRevocations(const std::filesystem::path& folder);

// The only entry whose digest begins with these hex digits; kNotFound for none or several.
Result<CacheEntry> ShowEntry(const std::filesystem::path& folder, std::string_view digest_prefix);

Result<CacheStats> ReadStoreStats(const std::filesystem::path& folder);

// `model`: its path, or its fingerprint or the beginning of that.
Result<std::vector<CacheModel>> ListModels(const std::filesystem::path& folder);
Result<std::vector<ModelUses>> ListUses(const std::filesystem::path& folder);
Result<CacheModel> DescribeModel(const std::filesystem::path& folder, std::string_view model);
// Of all models, newest first.
Result<std::vector<CacheMiss>> ListLastMisses(const std::filesystem::path& folder);
Status SetPinned(const std::filesystem::path& folder, std::string_view model, bool is_pinned);
// Removes the model's record and deletes the entries that no other model uses.
Result<RemovedEntries> RemoveModel(const std::filesystem::path& folder, std::string_view model);

Result<std::vector<CacheQuarantine>> ListQuarantine(const std::filesystem::path& folder);
// Deletes all quarantine records, so that their blobs are accepted again. Returns the number of records.
Result<uint64_t> LiftQuarantine(const std::filesystem::path& folder);

// Reads everything: the structure of the file, then each entry's key, size and checksum. With `repair`
// damaged entries are deleted, and a damaged file is moved aside.
Result<CacheVerification> VerifyStore(const std::filesystem::path& folder, bool repair);

// Deletes what the filter selects (everything by default) and gives the space back to the file system.
// Clearing everything also forgets quarantines and counters, and moves a damaged file aside.
Result<RemovedEntries> ClearStore(const std::filesystem::path& folder, const CacheFilter& filter = {});
// Deletes the entries least worth keeping (budget.h) until the store is not larger than `max_bytes`.
Result<RemovedEntries> PruneStore(const std::filesystem::path& folder, uint64_t max_bytes);

// What is wrong with a folder, whether it may be used at all, what wastes space or slows it down. Looks at everything,
// changes nothing, never fails.
std::vector<CacheFinding> ExamineCache(const std::filesystem::path& folder, uint64_t max_bytes);

}  // namespace hearth

#endif  // HEARTH_CACHE_DESK_REPORTS_H_
