// Opens the cache of a session from its options: read-only layers, the folder or the caller's own store, an observer.
#ifndef HEARTH_RUNTIME_PLANS_OPEN_CACHE_H_
#define HEARTH_RUNTIME_PLANS_OPEN_CACHE_H_

#include <memory>
#include <string>
#include <vector>

#include "cache/files/wait_budget.h"
#include "cache/store/models.h"
#include "core/store/result_cache.h"
#include "redis/redis_store.h"

namespace hearth {

class SqliteStore;

struct CacheRequest {
  std::string folder;                  // empty: the default folder
  std::vector<std::string> layers;     // read-only, before those of the environment
  std::string layer_keys;              // file of the keys whose layers are used; empty: the environment's
  bool trusts_layers = false;          // also layers that no such key has signed
  uint64_t max_bytes = 0;              // 0: the default size
  bool read_only = false;              // nothing is made or written
  KeyValueStore* own_store = nullptr;  // instead of the folder
  CacheServer server;                  // unset fields come from the environment
  CacheObserver observer;
  ModelName model;                // the session's model, recorded with the entries that it uses
  std::string token;              // empty: none; keeps entries of every kind apart
  SessionWaits* waits = nullptr;  // the session's; must outlive the cache
};

struct OpenedCache {
  std::unique_ptr<ResultCache> store;  // null when there is none
  SqliteStore* folder = nullptr;       // the folder's part of it; null if there is none
  std::string path;                    // of the writable file
  std::vector<std::string> warnings;   // why a part could not be opened
};

// Never fails: parts that can't be opened are left out, with a warning.
OpenedCache OpenCache(const CacheRequest& request);

// The parts alone; the rest of `opened` is filled.
CacheParts OpenCacheParts(const CacheRequest& request, OpenedCache& opened);

// A server that machines share. kUnsupported in a build without HEARTH_WITH_REDIS.
Result<RedisStore> OpenCacheServer(const RedisOptions& options);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_PLANS_OPEN_CACHE_H_
