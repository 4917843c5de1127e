#include "runtime/plans/open_cache.h"

#include "cache/files/folder.h"
#include "cache/sources/key_value_source.h"
#include "cache/sources/layer.h"
#include "cache/store/revocations.h"
#include "cache/store/sqlite_store.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "hal/device/stopwatch.h"

namespace hearth {
namespace {

Result<std::unique_ptr<SqliteStore>> OpenFolder(const SessionOptions& options, SessionWaits* waits,
                                                std::vector<std::string>& warnings) {
  StoreOptions store;
  store.folder = options.cache_folder;
  store.read_only = options.cache_read_only;
  store.waits = waits;
  if (store.folder.empty()) {
    HEARTH_ASSIGN(store.folder, DefaultCacheFolder());
  }
  if (options.cache_max_bytes > 0) {
    store.max_bytes = options.cache_max_bytes;
  } else if (Result<uint64_t> size_bytes = DefaultCacheMaxBytes(); size_bytes.ok()) {
    store.max_bytes = *size_bytes;
  } else {
    warnings.push_back(size_bytes.status().Within("HEARTH_CACHE_MAX_SIZE").message() + "; 1 GiB is used");
  }
  return SqliteStore::Open(std::move(store));
}

// Revocations concern entries in the folder, so there are none without it.
void WarnOfRevoked(const SqliteStore* own, std::span<const PublicKey> keys, const std::string& file,
                   std::vector<std::string>& warnings) {
  if (own == nullptr) return;
  for (std::string& told : TellRevoked(own->revocations(), keys, file)) warnings.push_back(std::move(told));
}

// The keys whose layers are used; none, with a warning, if they can't be read.
std::vector<PublicKey> KeysOfLayers(const SessionOptions& options, const SqliteStore* own,
                                    std::vector<std::string>& warnings) {
  const std::string file = options.cache_layer_keys.empty() ? DefaultCacheLayerKeys() : options.cache_layer_keys;
  if (file.empty()) return {};
  Result<std::vector<PublicKey>> keys = ReadPublicKeys(file);
  if (keys.ok()) {
    WarnOfRevoked(own, *keys, file, warnings);
    return std::move(keys).value();
  }
  warnings.push_back("no keys of cache layers: " + keys.status().message());
  return {};
}

std::vector<std::unique_ptr<EntrySource>> OpenLayers(const SessionOptions& options, SessionWaits* waits,
                                                     SqliteStore* own, std::vector<std::string>& warnings) {
  std::vector<std::filesystem::path> folders(options.cache_layers.begin(), options.cache_layers.end());
  for (std::filesystem::path& folder : DefaultCacheLayers()) folders.push_back(std::move(folder));
  std::vector<std::unique_ptr<EntrySource>> layers;
  if (folders.empty()) return layers;
  const std::vector<PublicKey> keys = KeysOfLayers(options, own, warnings);
  const int64_t latest_ms = own != nullptr ? own->records().LatestTimeMs() : 0;
  for (const std::filesystem::path& folder : folders) {
    Result<std::unique_ptr<EntrySource>> layer =
        OpenLayer({folder, keys, options.trust_cache_layers, waits, latest_ms});
    if (layer.ok()) {
      layers.push_back(std::move(layer).value());
    } else {
      warnings.push_back("cache layer left out: " + layer.status().message());
    }
  }
  return layers;
}

// Null, with a warning, if the server can't be used.
std::unique_ptr<EntrySource> OpenServer(const CacheServer& server, const SqliteStore* own, SessionWaits* waits,
                                        std::vector<std::string>& warnings) {
  const ServerWaits limits = waits != nullptr ? ServerWaitsOf(waits->others.total_ms()) : ServerWaits();
  ServerOptions options;
  options.budget_ms = limits.lost_ms;
  options.waits = waits != nullptr ? &waits->others : nullptr;
  RedisStore opened;
  const auto prepare = [&]() -> Status {
    HEARTH_ASSIGN(opened, OpenCacheServer({server.address, limits.connect_ms, limits.command_ms}));
    HEARTH_ASSIGN(options.trusted, ReadPublicKeys(server.trusted_keys));
    WarnOfRevoked(own, options.trusted, server.trusted_keys, warnings);
    if (!server.sign_with.empty()) {
      HEARTH_ASSIGN(options.sign_with, ReadSigningKey(server.sign_with));
    }
    return Status::Ok();
  };
  if (const Status status = prepare(); !status.ok()) {
    warnings.push_back("no cache server: " + status.message());
    return nullptr;
  }
  return std::make_unique<ServerSource>(std::move(opened.values), std::move(options));
}

std::string_view WordOf(CacheEvent::What what) {
  switch (what) {
    case CacheEvent::What::kHit: return "hit";
    case CacheEvent::What::kMiss: return "miss";
    case CacheEvent::What::kRejected: return "rejected";
    case CacheEvent::What::kStored: return "stored";
  }
  return "";
}

// Also logs each event if debug messages are logged.
CacheObserver WithLog(CacheObserver observer) {
  if (!IsLogged(LogLevel::kDebug)) return observer;
  return [observer = std::move(observer)](const CacheEvent& event) {
    Log(LogLevel::kDebug, fmt::format("cache: {} {} {} of {} bytes", WordOf(event.what), event.kind,
                                      event.digest.substr(0, 12), event.size_bytes));
    if (observer) observer(event);
  };
}

}  // namespace

Result<RedisStore> OpenCacheServer([[maybe_unused]] const RedisOptions& options) {
#ifdef HEARTH_WITH_REDIS
  return OpenRedisStore(options);
#else
  return Error(StatusCode::kUnsupported, "this build of Hearth has no cache servers: build with HEARTH_WITH_REDIS");
#endif
}

CacheParts OpenCacheParts(const SessionOptions& options, SessionWaits* waits, const ModelName& model,
                          OpenedCache& opened) {
  CacheParts parts;
  if (options.cache_store != nullptr) {
    parts.own = std::make_unique<KeyValueSource>(*options.cache_store);
  } else if (Result<std::unique_ptr<SqliteStore>> store = OpenFolder(options, waits, opened.warnings); store.ok()) {
    opened.folder = store->get();
    opened.path = opened.folder->file().string();
    opened.folder->records().SetModel(model);
    parts.marks = &opened.folder->marks();
    parts.claims = &opened.folder->claims();
    parts.names = &opened.folder->names();
    parts.log = &opened.folder->records();
    parts.own = std::move(store).value();
  } else if (!options.cache_read_only || store.status().code() != StatusCode::kNotFound) {
    opened.warnings.push_back("no cache: " + store.status().message());
  }
  parts.layers = OpenLayers(options, waits, opened.folder, opened.warnings);
  const CacheServer server = options.cache_server.address.empty() ? DefaultCacheServer() : options.cache_server;
  if (!server.address.empty() && !options.cache_read_only)
    parts.server = OpenServer(server, opened.folder, waits, opened.warnings);
  parts.observer = WithLog(options.on_cache_event);
  parts.now_ms = [clock = Stopwatch()] { return clock.milliseconds(); };
  parts.token = options.model_token;
  parts.is_read_only = options.cache_read_only;
  return parts;
}

OpenedCache OpenCache(const SessionOptions& options, SessionWaits* waits, const ModelName& model) {
  OpenedCache opened;
  if (const Status room = CheckDescriptorsLeft(); !room.ok()) {
    opened.warnings.push_back("no cache: " + room.message());
    return opened;
  }
  CacheParts parts = OpenCacheParts(options, waits, model, opened);
  const bool has_any = parts.own != nullptr || parts.server != nullptr || !parts.layers.empty() || parts.observer;
  if (has_any) opened.store = std::make_unique<ResultCache>(std::move(parts));
  return opened;
}

}  // namespace hearth
