// A session's cache: opening it, and naming the model in it.
#ifndef HEARTH_RUNTIME_SESSION_SESSION_STORE_H_
#define HEARTH_RUNTIME_SESSION_SESSION_STORE_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cache/files/wait_budget.h"
#include "core/store/result_cache.h"
#include "hearth/model.h"
#include "hearth/session.h"

namespace hearth {

struct ModelData;
class SqliteStore;

inline constexpr const char* kKnownByDigestFile = "digest file";

// Shared by all that is prepared of a session, and by its clones. Thread-safe.
struct SessionCache {
  std::unique_ptr<SessionWaits> waits = std::make_unique<SessionWaits>();
  std::shared_ptr<ResultCache> store;
  SqliteStore* folder = nullptr;  // the folder's part of the store; may be null
  std::string path;               // of the folder's file
  // The model's name in keys that are looked up. It is computed once per start, since that hashes the whole model
  // unless its file is known.
  std::string model_name;
  bool is_model_recalled = false;  // the cache knew the file
  std::string model_known_by;      // as in Report::cache
  double model_hash_ms = 0;
};

// Null if the options ask for none, or if it can't be opened: that is a warning, never an error.
std::shared_ptr<SessionCache> OpenSessionCache(const SessionOptions& options, const Model& model,
                                               std::vector<std::string>& warnings);

// The model's name in the plan's key, and the cache's for the next start: it is computed if `cache` does not know the
// model's file. A built model has no file bytes; it does not come from outside. `cache` may be null.
// kIoError: its file can't be read any more.
Result<std::string> NameOfModel(const Model& model, const SessionCache* cache);

// The name under which entries of the model are stored, computed from its bytes; the next start finds it. kIoError: as
// above.
Result<std::string> NameToStore(const Model& model, const SessionCache& cache);

// Releases mapped pages of weights that the devices hold now. A model given in memory keeps its copy.
void ReleasePages(const ModelData& model, std::span<const std::byte> bytes);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_SESSION_SESSION_STORE_H_
