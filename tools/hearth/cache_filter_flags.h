// Options that select cache entries.
#ifndef HEARTH_TOOLS_HEARTH_CACHE_FILTER_FLAGS_H_
#define HEARTH_TOOLS_HEARTH_CACHE_FILTER_FLAGS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "hearth/cache.h"

namespace hearth {

class CacheFilterFlags {
 public:
  std::vector<CLI::Option*> AddOptions(CLI::App& part);  // returns them
  // kInvalidArgument for an invalid age; as Session::Open if a model is named.
  Result<CacheFilter> Filter(const Cache& cache) const;

 private:
  Status AddEntriesOfModel(const Cache& cache, std::vector<std::string>& digests) const;

  CacheFilter filter_;
  std::string model_, simulate_, unused_for_;
};

// The time before which an entry was last used if it was unused for `age` ("30d").
Result<int64_t> UnusedSinceMs(const std::string& age);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_CACHE_FILTER_FLAGS_H_
