// Records at the end of sessions which models used which entries: for lists by model, for pinning, and for removing a
// model's entries.
#ifndef HEARTH_CACHE_STORE_MODELS_H_
#define HEARTH_CACHE_STORE_MODELS_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cache/files/database.h"
#include "core/base/fingerprint.h"
#include "hearth/cache_types.h"

namespace hearth {

// The model of a session. Empty: nothing is recorded.
struct ModelName {
  std::string fingerprint;  // hex
  std::string path;         // absolute
};

// Whether the model is recorded with this path and all these entries, so that nothing has to be written.
Result<bool> KnowsModel(Database& database, const ModelName& model, const std::vector<Fingerprint>& used);
// Within the caller's transaction.
Status NoteModel(Database& database, const ModelName& model, const std::vector<Fingerprint>& used);

// The entries that a model looked up, whether or not they still exist.
struct ModelUses {
  ModelName model;
  std::set<Fingerprint> digests;
};
Result<std::vector<ModelUses>> ReadUses(Database& database);  // most recently used first

// Most recently used first. `only`: an id of FindModel, or 0 for all.
Result<std::vector<CacheModel>> ReadModels(Database& database, int64_t only = 0);

// The row of the only model whose path is `name` or whose fingerprint begins with it; kNotFound for none or several.
Result<int64_t> FindModel(Database& database, std::string_view name);
Status PinModel(Database& database, int64_t model, bool is_pinned);
// The entries that no other model uses.
Result<std::vector<int64_t>> OwnEntries(Database& database, int64_t model);
// Removes the model's record.
Status ForgetModel(Database& database, int64_t model);

// The entries of pinned models.
Result<std::set<Fingerprint>> PinnedDigests(Database& database);

}  // namespace hearth

#endif  // HEARTH_CACHE_STORE_MODELS_H_
