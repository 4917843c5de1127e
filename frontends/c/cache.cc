#include "hearth/cache.h"

#include <string_view>
#include <utility>

#include "core/base/text.h"
#include "frontends/c/answer.h"
#include "frontends/c/handles.h"

namespace hearth {
namespace {

std::string TextOrEmpty(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

Result<std::vector<std::string>> TextList(const char* const* texts, size_t count) {
  if (count > 0) HEARTH_NOT_NULL(texts);
  std::vector<std::string> list;
  for (size_t k = 0; k < count; ++k) {
    HEARTH_NOT_NULL(texts[k]);
    list.emplace_back(texts[k]);
  }
  return list;
}

Status SetExportOption(const std::string& name, const std::string& value, Cache::ExportOptions& options) {
  const std::pair<std::string_view, std::string*> texts[] = {{"sign_with", &options.sign_with},
                                                             {"kind", &options.filter.kind},
                                                             {"device", &options.filter.device},
                                                             {"least_version", &options.least_version}};
  for (const auto& [text_name, text] : texts) {
    if (name != text_name) continue;
    *text = value;
    return Status::Ok();
  }
  if (name != "valid_for_ms") {
    return Error(StatusCode::kInvalidArgument,
                 "an export has no option '{}'; there are sign_with, kind, device, valid_for_ms, least_version", name);
  }
  if (NumberFrom(value, options.valid_for_ms)) return Status::Ok();
  return Error(StatusCode::kInvalidArgument, "valid_for_ms is '{}', which is not a number of milliseconds", value);
}

// `ask` takes the cache and returns what the JSON text tells.
template <typename Ask>
hearth_status AskCache(const hearth_cache* cache, char** json, Ask&& ask, bool may_be_null = false) {
  const auto tell = [&]() -> Result<std::string> {
    HEARTH_NOT_NULL(cache);
    HEARTH_ASSIGN(const auto answer, ask(cache->cache));
    return CacheJson(answer, cache->cache.folder());
  };
  return AnswerWithText(json, tell, may_be_null);
}

}  // namespace
}  // namespace hearth

using hearth::Cache;
using Text = hearth::Result<std::string>;

hearth_status hearth_cache_open(const char* folder, hearth_cache** out) {
  return hearth::AnswerWith(out, [&]() -> hearth::Result<std::unique_ptr<hearth_cache>> {
    HEARTH_ASSIGN(Cache cache, Cache::At(hearth::TextOrEmpty(folder)));
    return std::make_unique<hearth_cache>(hearth_cache{std::move(cache)});
  });
}

void hearth_cache_destroy(hearth_cache* cache) {
  delete cache;
}

const char* hearth_cache_folder(const hearth_cache* cache) {
  return cache == nullptr ? nullptr : cache->cache.folder().c_str();
}

hearth_status hearth_cache_list(const hearth_cache* cache, char** json) {
  return hearth::AskCache(cache, json, [](const Cache& store) { return store.List(); });
}

hearth_status hearth_cache_stats(const hearth_cache* cache, char** json) {
  return hearth::AskCache(cache, json, [](const Cache& store) { return store.Stats(); });
}

hearth_status hearth_cache_verify(const hearth_cache* cache, int32_t repair, char** json) {
  return hearth::AskCache(cache, json, [&](const Cache& store) { return store.Verify(repair != 0); });
}

hearth_status hearth_cache_prune(const hearth_cache* cache, uint64_t max_bytes, char** json) {
  return hearth::AskCache(
      cache, json, [&](const Cache& store) { return store.Prune(max_bytes); }, /*may_be_null=*/true);
}

hearth_status hearth_cache_clear(const hearth_cache* cache, const char* kind, const char* device, char** json) {
  const auto clear = [&](const Cache& store) -> hearth::Result<hearth::RemovedEntries> {
    hearth::CacheFilter filter;
    filter.kind = hearth::TextOrEmpty(kind);
    filter.device = hearth::TextOrEmpty(device);
    return store.Clear(filter);
  };
  return hearth::AskCache(cache, json, clear, /*may_be_null=*/true);
}

hearth_status hearth_cache_explain(const hearth_cache* cache, const char* model_path, const hearth_options* options,
                                   char** json) {
  return hearth::AskCache(cache, json, [&](const Cache& store) -> hearth::Result<hearth::CacheExplanation> {
    HEARTH_NOT_NULL(model_path);
    const hearth::SessionOptions chosen = options == nullptr ? hearth::SessionOptions() : options->options;
    return store.Explain(model_path, chosen);
  });
}

hearth_status hearth_cache_warm(const hearth_cache* cache, const char* const* model_paths, size_t model_count,
                                const char* const* devices, size_t device_count, const hearth_options* options,
                                char** json) {
  return hearth::AskCache(cache, json, [&](const Cache& store) -> hearth::Result<std::vector<hearth::WarmResult>> {
    HEARTH_ASSIGN(const std::vector<std::string> paths, hearth::TextList(model_paths, model_count));
    HEARTH_ASSIGN(const std::vector<std::string> names, hearth::TextList(devices, device_count));
    const hearth::SessionOptions chosen = options == nullptr ? hearth::SessionOptions() : options->options;
    return store.Warm(paths, names, chosen);
  });
}

hearth_status hearth_cache_models(const hearth_cache* cache, char** json) {
  return hearth::AskCache(cache, json, [](const Cache& store) { return store.Models(); });
}

hearth_status hearth_cache_pin(const hearth_cache* cache, const char* model, int32_t is_pinned) {
  return hearth::Answer([&]() -> hearth::Status {
    HEARTH_NOT_NULL(cache);
    HEARTH_NOT_NULL(model);
    return cache->cache.Pin(model, is_pinned != 0);
  });
}

hearth_status hearth_cache_remove(const hearth_cache* cache, const char* model, char** json) {
  const auto remove = [&](const Cache& store) -> hearth::Result<hearth::RemovedEntries> {
    HEARTH_NOT_NULL(model);
    return store.Remove(model);
  };
  return hearth::AskCache(cache, json, remove, /*may_be_null=*/true);
}

hearth_status hearth_cache_examine(const hearth_cache* cache, char** json) {
  return hearth::AskCache(cache, json, [](const Cache& store) {
    return hearth::Result<std::vector<hearth::CacheFinding>>(store.Examine());
  });
}

hearth_status hearth_cache_export(const hearth_cache* cache, const char* bundle, const char* sign_with, char** json) {
  return hearth::AskCache(cache, json, [&](const Cache& store) -> hearth::Result<hearth::BundleExport> {
    HEARTH_NOT_NULL(bundle);
    return store.Export(bundle, {{}, hearth::TextOrEmpty(sign_with)});
  });
}

hearth_status hearth_cache_import(const hearth_cache* cache, const char* bundle, const char* trusted_keys,
                                  int32_t is_trusted, char** json) {
  return hearth::AskCache(cache, json, [&](const Cache& store) -> hearth::Result<hearth::BundleImport> {
    HEARTH_NOT_NULL(bundle);
    Cache::ImportOptions options;
    options.is_trusted = is_trusted != 0;
    options.trusted_keys = hearth::TextOrEmpty(trusted_keys);
    return store.Import(bundle, options);
  });
}

hearth_status hearth_cache_warm_from_cache(const hearth_cache* cache, const char* const* devices, size_t device_count,
                                           char** json) {
  return hearth::AskCache(cache, json, [&](const Cache& store) -> hearth::Result<hearth::RewarmResult> {
    HEARTH_ASSIGN(const std::vector<std::string> names, hearth::TextList(devices, device_count));
    return store.WarmFromCache(names);
  });
}

hearth_status hearth_cache_revoke(const hearth_cache* cache, const char* key, char** json) {
  const auto revoke = [&](const Cache& store) -> hearth::Result<hearth::RemovedEntries> {
    HEARTH_NOT_NULL(key);
    hearth::CacheFilter filter;
    filter.signed_by = key;
    if (filter.signed_by.empty()) return hearth::Error(hearth::StatusCode::kInvalidArgument, "no key is named");
    return store.Clear(filter);
  };
  return hearth::AskCache(cache, json, revoke, /*may_be_null=*/true);
}

hearth_status hearth_cache_lift_quarantine(const hearth_cache* cache, char** json) {
  return hearth::AskCache(
      cache, json, [](const Cache& store) { return store.LiftQuarantine(); }, /*may_be_null=*/true);
}

hearth_status hearth_cache_export_with(const hearth_cache* cache, const char* bundle, const char* const* names,
                                       const char* const* values, size_t count, char** json) {
  return hearth::AskCache(cache, json, [&](const Cache& store) -> hearth::Result<hearth::BundleExport> {
    HEARTH_NOT_NULL(bundle);
    HEARTH_ASSIGN(const std::vector<std::string> chosen, hearth::TextList(names, count));
    HEARTH_ASSIGN(const std::vector<std::string> texts, hearth::TextList(values, count));
    Cache::ExportOptions options;
    for (size_t k = 0; k < count; ++k) HEARTH_TRY(hearth::SetExportOption(chosen[k], texts[k], options));
    return store.Export(bundle, options);
  });
}

hearth_status hearth_bundle_inspect(const char* bundle, const char* trusted_keys, char** json) {
  return hearth::AnswerWithText(json, [&]() -> Text {
    HEARTH_NOT_NULL(bundle);
    HEARTH_ASSIGN(const auto inspection, Cache::Inspect(bundle, hearth::TextOrEmpty(trusted_keys)));
    return hearth::CacheJson(inspection);
  });
}

hearth_status hearth_make_signing_key(const char* file, char** key) {
  const auto make = [&]() -> Text {
    HEARTH_NOT_NULL(file);
    return Cache::MakeSigningKey(file);
  };
  return hearth::AnswerWithText(key, make, /*may_be_null=*/true);
}
