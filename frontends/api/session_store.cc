#include "frontends/api/session_store.h"

#include <filesystem>

#include "cache/store/sqlite_store.h"
#include "frontends/api/model_data.h"
#include "frontends/api/session_data.h"
#include "frontends/engine/items_as_compiled.h"
#include "frontends/engine/open_cache.h"
#include "frontends/engine/self_test.h"

namespace hearth {
namespace {

ModelName NameOf(const SessionData& data) {
  const Model& model = data.model != nullptr ? *data.model : *data.owned_model;
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(model.path(), error);
  return {model.fingerprint(), error ? model.path() : path.string()};
}

// Looks the model up by its file's stamp, then by its content, so that a known file is read at most once. Entries are
// stored under a name computed from the content (SaveInOneBatch), so a wrong stamp can only mislead a look-up.
void RecallModel(SessionData& data) {
  const ModelData& model = (data.model != nullptr ? *data.model : *data.owned_model).data();
  const auto stamp = model.file ? model.file->UnchangedStamp() : std::nullopt;
  auto known = stamp ? data.store->names()->RecallFile(*stamp) : std::nullopt;
  if (!known && !model.bytes.empty()) {
    data.model_name = data.store->NameOf(model.bytes, NameUse::kLookUp);
    ReleasePages(model, model.bytes);
    if (const auto fingerprint = data.store->names()->RecallFingerprint(data.model_name)) {
      known = KnownFile{*fingerprint, data.model_name};
      data.store->names()->RememberFile(stamp, *known);
    }
  }
  if (known) {
    model.KnowFingerprint(known->fingerprint);
    data.model_name = known->name;
    data.is_model_recalled = true;
  }
  data.folder->records().SetModel(NameOf(data));
}

// Stores everything that this start made in one transaction of the cache. Returns warnings.
std::vector<std::string> SaveInOneBatch(SessionData& data) {
  const PutBatch batch(data.store.get());
  std::vector<std::string> warnings = data.runner->SaveToStore(data.made.is_new);
  ReleasePages(data.model->data(), data.model->data().bytes);
  const bool is_new_file = data.folder != nullptr && !data.model->data().bytes.empty() && !data.is_model_recalled;
  // Not only with a new plan: this start may have found the limit of a stored one by trying.
  const bool has_new_limit = data.opened.device != nullptr &&
                             HasUnknownLimit(data.model_name, *data.opened.device, data.opened.info, *data.store);
  if (data.made.is_new || is_new_file || has_new_limit) {
    data.plan_request.model = NameOfModel(data, NameUse::kPut);
    RememberModel(data, data.plan_request.model);
  }
  const double made_ms = data.made.rewrite_ms + data.made.lower_ms;
  if (data.made.is_new) StorePlan(data.plan_request, data.runner->plan(), made_ms, *data.store);
  if (has_new_limit)
    StoreItemsAsCompiled(data.plan_request.model, *data.opened.device, data.opened.info, made_ms, *data.store);
  return warnings;
}

// Stores programs compiled since then.
std::vector<std::string> SaveWhatIsMore(SessionData& data) {
  const PutBatch batch(data.store.get());
  return data.runner->SaveToStore(false);
}

}  // namespace

void OpenStore(SessionData& data) {
  const SessionOptions& options = data.options;
  if (!options.use_cache) return;
  const Stopwatch watch;
  data.waits = std::make_shared<SessionWaits>(options.cache_wait_ms);
  OpenedCache opened = OpenCache({options.cache_folder,
                                  options.cache_layers,
                                  options.cache_layer_keys,
                                  options.trust_cache_layers,
                                  options.cache_max_bytes,
                                  options.cache_read_only,
                                  options.cache_store,
                                  options.cache_server,
                                  options.on_cache_event,
                                  {},
                                  options.model_token,
                                  &*data.waits});
  data.store = std::move(opened.store);
  data.folder = opened.folder;
  if (data.folder != nullptr) RecallModel(data);
  data.report.cache.path = opened.path;
  for (std::string& warning : opened.warnings) data.report.warnings.push_back(std::move(warning));
  data.report.init_ms.open_cache = watch.milliseconds();
}

void RememberModel(const SessionData& data, const std::string& name) {
  const ModelData& model = data.model->data();
  if (data.folder == nullptr || model.bytes.empty()) return;
  const auto stamp = model.file ? model.file->UnchangedStamp() : std::nullopt;
  data.store->names()->RememberFile(stamp, {model.fingerprint(), name});
}

void ReleasePages(const ModelData& model, std::span<const std::byte> bytes) {
  if (model.file) model.file->ReleasePages(bytes);
}

std::string NameOfModel(const SessionData& data, NameUse use) {
  const ModelData& model = data.model->data();
  if (data.store == nullptr || model.bytes.empty()) return model.fingerprint();
  std::string name = data.store->NameOf(model.bytes, use);
  ReleasePages(model, model.bytes);
  return name;
}

void SaveData(SessionData& data) {
  // Binaries are worth keeping only after a run; see ProgramGroup::Binary.
  if (data.store == nullptr || data.options.cache_read_only || !data.has_run || data.runner == nullptr) return;
  if (data.is_saved && !data.runner->HasMoreToStore()) return;
  const Stopwatch watch;
  std::vector<std::string> warnings = data.is_saved ? SaveWhatIsMore(data) : SaveInOneBatch(data);
  data.is_saved = true;
  data.store->Flush();
  data.report.warnings.insert(data.report.warnings.end(), warnings.begin(), warnings.end());
  data.report.save_ms += watch.milliseconds();
}

}  // namespace hearth
