// The texts of `hearth cache`.
#ifndef HEARTH_TOOLS_HEARTH_CACHE_TEXT_H_
#define HEARTH_TOOLS_HEARTH_CACHE_TEXT_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/cache.h"
#include "tools/hearth/verb.h"

namespace hearth {

std::string TextOf(const std::vector<CacheEntry>& entries);
std::string TextOf(const CacheEntry& entry);
std::string TextOf(const CacheStats& stats);
std::string TextOf(const std::vector<CacheModel>& models);
// A web page with both.
std::string PageOf(const CacheStats& stats, const std::vector<CacheModel>& models);
std::string TextOf(const std::vector<CacheFinding>& findings);
// `folder`: the folder of the verified store, if there is one.
std::string TextOf(const CacheVerification& verification, const std::string& folder);
std::string TextOf(const CacheExplanation& explanation);
std::string TextOf(const std::vector<WarmResult>& results);
std::string TextOf(const RewarmResult& result);
std::string TextOf(const BundleExport& bundle);
std::string TextOf(const BundleImport& bundle);
std::string TextOf(const BundleInspection& bundle);

// Ends a part: prints a text, or writes the JSON, as its options say. `code` if that succeeds.
Result<ExitCode> WriteAnswer(const OutputOptions& output, const std::string& text, const std::string& json,
                             ExitCode code = ExitCode::kFine);

// "30d", "12h", "45m", "10s" in milliseconds. kInvalidArgument says what is expected.
Result<int64_t> ParseAgeMs(std::string_view text);
// A check of options: an age of at least so many seconds.
CLI::Validator Age(int64_t least_s = 0);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_CACHE_TEXT_H_
