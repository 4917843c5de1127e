// Opens the cache of a session from its options: read-only layers, the folder or the caller's own store, an observer.
#ifndef HEARTH_RUNTIME_PLANS_OPEN_CACHE_H_
#define HEARTH_RUNTIME_PLANS_OPEN_CACHE_H_

#include <memory>
#include <string>
#include <vector>

#include "cache/files/wait_budget.h"
#include "cache/store/models.h"
#include "core/store/result_cache.h"
#include "hearth/session.h"
#include "redis/redis_store.h"

namespace hearth {

class SqliteStore;

struct OpenedCache {
  std::unique_ptr<ResultCache> store;  // null when there is none
  SqliteStore* folder = nullptr;       // the folder's part of it; null if there is none
  std::string path;                    // of the writable file
  std::vector<std::string> warnings;   // why a part could not be opened
};

// Never fails: parts that can't be opened are left out, with a warning. `waits`: the session's; must outlive the cache.
// `model`: the session's, recorded with the entries that it uses.
OpenedCache OpenCache(const SessionOptions& options, SessionWaits* waits = nullptr, const ModelName& model = {});

// The parts alone; the rest of `opened` is filled.
CacheParts OpenCacheParts(const SessionOptions& options, SessionWaits* waits, const ModelName& model,
                          OpenedCache& opened);

// A server that machines share. kUnsupported in a build without HEARTH_WITH_REDIS.
Result<RedisStore> OpenCacheServer(const RedisOptions& options);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_PLANS_OPEN_CACHE_H_
