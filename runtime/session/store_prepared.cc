// Storing what preparing a model has made.
#include "core/base/error.h"
#include "runtime/model/model_data.h"
#include "runtime/plans/items_as_compiled.h"
#include "runtime/session/prepared.h"

namespace hearth {

std::vector<std::string> StorePrepared(Prepared& prepared) {
  const SessionCache& cache = *prepared.request.cache;
  if (const Status same = prepared.model().data().CheckFile(); !same.ok()) {
    return {fmt::format("{}; nothing that was made of it is kept", same.message())};
  }
  ResultCache& store = *cache.store;
  // All in one transaction of the cache.
  const PutBatch batch(&store);
  std::vector<std::string> warnings = prepared.loaded->Store(prepared.made.is_new);
  const ModelData& model = prepared.model().data();
  ReleasePages(model, model.bytes);
  const OpenedDevice& opened = prepared.request.device->opened;
  const bool is_new_file = cache.folder != nullptr && !model.bytes.empty() && !cache.is_model_recalled;
  // Not only with a new plan: this start may have found the limit of a stored one by trying.
  const bool has_new_limit = HasUnknownLimit(cache.model_name, *opened.device, prepared.info, store);
  if (prepared.made.is_new || is_new_file || has_new_limit) {
    prepared.plan_request.model = NameToStore(prepared.model(), cache);
    if (cache.model_known_by == kKnownByDigestFile && prepared.plan_request.model.value != cache.model_name) {
      warnings.push_back(fmt::format(
          "'{0}.sha256' is not the digest of '{0}', so no start finds what the cache has; write it with sha256sum",
          prepared.model().path()));
    }
  }
  const double made_ms = prepared.made.rewrite_ms + prepared.made.lower_ms;
  if (prepared.made.is_new) StorePlan(prepared.plan_request, prepared.loaded->plan(), made_ms, store);
  if (has_new_limit) {
    StoreItemsAsCompiled(prepared.plan_request.model, *opened.device, prepared.info, made_ms, store);
  }
  return warnings;
}

}  // namespace hearth
