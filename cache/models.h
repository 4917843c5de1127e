// Records which models used which entries, at the end of their sessions, for lists by model, for pinning and for
// removing a model's entries.
#ifndef HEARTH_CACHE_MODELS_H_
#define HEARTH_CACHE_MODELS_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cache/database.h"
#include "core/base/fingerprint.h"
#include "hearth/cache_types.h"

namespace hearth {

// The model of a session. Empty: nothing is noted.
struct ModelName {
  std::string fingerprint;  // hex
  std::string path;         // absolute
};

// Whether the model is known with at least as many entries, so that there is nothing to write.
Result<bool> KnowsModel(Database& database, const ModelName& model, size_t entries);
// Within the caller's transaction.
Status NoteModel(Database& database, const ModelName& model, const std::vector<Fingerprint>& used);

// The entries that a model looked up, whether they still exist or not.
struct ModelUses {
  ModelName model;
  std::set<Fingerprint> digests;
};
Result<std::vector<ModelUses>> ReadUses(Database& database);  // most recently used first

// Most recently used first; `only`: an id of FindModel, or 0 for all.
Result<std::vector<CacheModel>> ReadModels(Database& database, int64_t only = 0);

// The row of the one model whose path is `name` or whose fingerprint begins with it; kNotFound for none or several.
Result<int64_t> FindModel(Database& database, std::string_view name);
Status PinModel(Database& database, int64_t model, bool is_pinned);
// Forgets the model; returns the entries that no other model uses, for the caller to delete.
Result<std::vector<int64_t>> ForgetModel(Database& database, int64_t model);

// The entries that pinned models use.
Result<std::set<Fingerprint>> PinnedDigests(Database& database);

}  // namespace hearth

#endif  // HEARTH_CACHE_MODELS_H_
