#include "runtime/session/session_store.h"

#include <filesystem>

#include "cache/store/sqlite_store.h"
#include "hal/device/stopwatch.h"
#include "runtime/model/model_data.h"
#include "runtime/plans/open_cache.h"

namespace hearth {
namespace {

ModelName NameOf(const Model& model) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(model.path(), error);
  return {model.fingerprint(), error ? model.path() : path.string()};
}

// Computes the model's name, and its fingerprint with it.
Result<std::string> ComputeName(const ModelData& model, const SessionCache& cache, NameUse use) {
  const bool is_opening = use == NameUse::kLookUp;
  HEARTH_ASSIGN(KnownFile computed, cache.store->NameOf(is_opening ? ContentOf(model.bytes) : model.content(), use));
  if (is_opening) ReleasePages(model, model.bytes);
  model.KnowFingerprint(computed.fingerprint);
  return std::move(computed.name);
}

// The model's name in look-ups: stated beside a file that nobody can replace, else computed, which reads the content.
// Empty if it can't be read.
std::string LookUpName(const ModelData& model, SessionCache& cache) {
  const std::string stated = model.file ? model.file->StatedSha256() : std::string();
  if (!stated.empty()) {
    cache.model_known_by = kKnownByDigestFile;
    return NameByDigest(stated, model.bytes.size());
  }
  const Stopwatch watch;
  Result<std::string> name = ComputeName(model, cache, NameUse::kLookUp);
  cache.model_known_by = "content";
  cache.model_hash_ms = watch.milliseconds();
  return name.ok() ? std::move(name).value() : std::string();
}

// Looks the model up by its file's stamp, then by its content, so that a known file is read at most once. A wrong stamp
// can only mislead a look-up: entries are stored under a name computed from the content (NameToStore), and a plan is
// used for the model that it was made for alone (PlanProof).
void RecallModel(const Model& model, SessionCache& cache) {
  const ModelData& data = model.data();
  const auto stamp = data.file ? data.file->UnchangedStamp() : std::nullopt;
  auto known = stamp ? cache.store->names()->RecallFile(*stamp) : std::nullopt;
  if (known) {
    cache.model_known_by = "stamp";
  } else if (!data.bytes.empty()) {
    cache.model_name = LookUpName(data, cache);
    if (const auto fingerprint = cache.store->names()->RecallFingerprint(cache.model_name)) {
      known = KnownFile{*fingerprint, cache.model_name};
      cache.store->names()->RememberFile(stamp, *known);
    }
  }
  if (known) {
    data.KnowFingerprint(known->fingerprint);
    cache.model_name = known->name;
    cache.is_model_recalled = true;
  }
  cache.folder->records().SetModel(NameOf(model));
}

// The next start then finds the name by the file's stamp.
void RememberModel(const Model& model, const SessionCache& cache, const std::string& name) {
  const ModelData& data = model.data();
  if (cache.folder == nullptr || data.bytes.empty()) return;
  const auto stamp = data.file ? data.file->UnchangedStamp() : std::nullopt;
  cache.store->names()->RememberFile(stamp, {model.fingerprint(), name});
}

Result<std::string> NameAndRemember(const Model& model, const SessionCache* cache, NameUse use) {
  const ModelData& data = model.data();
  if (cache == nullptr || data.bytes.empty()) return model.fingerprint();
  HEARTH_ASSIGN(std::string name, ComputeName(data, *cache, use));
  RememberModel(model, *cache, name);
  return name;
}

}  // namespace

std::shared_ptr<SessionCache> OpenSessionCache(const SessionOptions& options, const Model& model,
                                               std::vector<std::string>& warnings) {
  if (!options.use_cache) return nullptr;
  auto cache = std::make_shared<SessionCache>();
  cache->waits = std::make_unique<SessionWaits>(options.cache_wait_ms);
  OpenedCache opened = OpenCache(options, cache->waits.get());
  for (std::string& warning : opened.warnings) warnings.push_back(std::move(warning));
  if (opened.store == nullptr) return nullptr;
  cache->store = std::move(opened.store);
  cache->folder = opened.folder;
  cache->path = opened.path;
  if (cache->folder != nullptr) RecallModel(model, *cache);
  return cache;
}

Result<std::string> NameOfModel(const Model& model, const SessionCache* cache) {
  if (cache != nullptr && !cache->model_name.empty()) return cache->model_name;
  return NameAndRemember(model, cache, NameUse::kLookUp);
}

Result<std::string> NameToStore(const Model& model, const SessionCache& cache) {
  return NameAndRemember(model, &cache, cache.is_model_recalled ? NameUse::kPut : NameUse::kPutNew);
}

void ReleasePages(const ModelData& model, std::span<const std::byte> bytes) {
  if (model.file) model.file->ReleasePages(bytes);
}

}  // namespace hearth
