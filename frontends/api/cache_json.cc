// The JSON texts of hearth/cache.h.
#include <map>

#include "frontends/api/json_object.h"
#include "hearth/cache.h"

namespace hearth {
namespace {

// Keys come from files: invalid UTF-8 is replaced, because an exception would reach the caller.
std::string TextOf(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// A field that occurs more than once (the kernels of a group) becomes a list.
Json FieldsOf(const CacheKeyFields& fields) {
  Json key = Json::object();
  for (const auto& [name, value] : fields) {
    if (!key.contains(name)) {
      key[name] = value;
    } else if (key[name].is_array()) {
      key[name].push_back(value);
    } else {
      key[name] = Json::array({key[name], value});
    }
  }
  return key;
}

Json JsonOf(const CacheEntry& entry) {
  return JsonObject({{"kind", entry.kind},
                     {"digest", entry.digest},
                     {"size_bytes", entry.size_bytes},
                     {"cost_ms", entry.cost_ms},
                     {"created_ms", entry.created_ms},
                     {"last_used_ms", entry.last_used_ms},
                     {"origin", entry.origin},
                     {"key", FieldsOf(entry.fields)}});
}

Json JsonOf(const std::optional<std::string>& text) {
  return text ? Json(*text) : Json();
}

Json JsonOf(const CacheNeed& need) {
  Json differences = Json::array();
  for (const CacheKeyDifference& difference : need.differences) {
    differences.push_back(JsonObject({{"part", difference.part},
                                      {"field", difference.field},
                                      {"wanted", JsonOf(difference.wanted)},
                                      {"stored", JsonOf(difference.stored)}}));
  }
  return JsonObject({{"kind", need.kind},
                     {"digest", need.digest},
                     {"hit", need.is_hit},
                     {"reason", need.reason},
                     {"nearest", need.nearest_digest.empty() ? Json() : Json(need.nearest_digest)},
                     {"differences", std::move(differences)},
                     {"key", FieldsOf(need.fields)}});
}

Json JsonOf(const std::vector<CacheDevice>& devices) {
  Json list = Json::array();
  for (const CacheDevice& device : devices) {
    list.push_back(JsonObject(
        {{"backend", device.backend}, {"name", device.name}, {"driver", device.driver}, {"uuid", device.uuid}}));
  }
  return list;
}

Json JsonOf(const std::vector<CacheDamage>& damages) {
  Json list = Json::array();
  for (const CacheDamage& damage : damages)
    list.push_back(JsonObject({{"where", damage.where}, {"what", damage.what}}));
  return list;
}

Json JsonOf(const std::map<std::string, CacheKindStats>& kinds) {
  Json json = Json::object();
  for (const auto& [kind, of_kind] : kinds) {
    json[kind] = JsonObject({{"entries", of_kind.entries}, {"blob_bytes", of_kind.blob_bytes}});
  }
  return json;
}

Json JsonOf(const std::vector<WarmResult>& results) {
  Json list = Json::array();
  for (const WarmResult& result : results) {
    list.push_back(JsonObject({{"model", result.model_path},
                               {"device", result.device},
                               {"ok", result.status.ok()},
                               {"error", result.status.message()},
                               {"compiled", result.compiled},
                               {"loaded", result.loaded},
                               {"bytes_written", result.bytes_written},
                               {"put_errors", result.put_errors},
                               {"milliseconds", result.milliseconds}}));
  }
  return list;
}

Json AnswerJson(const CacheEntry& entry, const std::string& /*folder*/) {
  return JsonOf(entry);
}

Json AnswerJson(const std::vector<CacheEntry>& entries, const std::string& folder) {
  Json list = Json::array();
  for (const CacheEntry& entry : entries) list.push_back(JsonOf(entry));
  return JsonObject({{"folder", folder}, {"entries", std::move(list)}});
}

Json AnswerJson(const CacheStats& stats, const std::string& /*folder*/) {
  const StoreCounters& life = stats.lifetime;
  const auto origin = [](uint64_t hits, double milliseconds) -> Json {
    return JsonObject({{"hits", hits}, {"milliseconds_saved", milliseconds}});
  };
  return JsonObject(
      {{"file", stats.file},
       {"entries", stats.entries},
       {"blob_bytes", stats.blob_bytes},
       {"file_bytes", stats.file_bytes},
       {"damaged_bytes", stats.damaged_bytes},
       {"other_formats_bytes", stats.other_formats_bytes},
       {"quarantined", stats.quarantined},
       {"barred", stats.barred},
       {"kinds", JsonOf(stats.kinds)},
       {"lifetime",
        JsonObject(
            {{"hits", life.hits},
             {"misses", life.misses},
             {"rejected", life.rejected},
             {"put_errors", life.put_errors},
             {"bytes_read", life.bytes_read},
             {"bytes_written", life.bytes_written},
             {"milliseconds_saved", life.milliseconds_saved},
             {"hit_rate", life.hit_rate() ? Json(*life.hit_rate()) : Json()},
             {"origins", JsonObject({{"here", origin(life.own_hits(), life.own_milliseconds_saved())},
                                     {"layer", origin(life.layer_hits, life.layer_milliseconds_saved)},
                                     {"server", origin(life.server_hits, life.server_milliseconds_saved)}})}})}});
}

Json AnswerJson(const std::vector<CacheModel>& models, const std::string& folder) {
  Json list = Json::array();
  for (const CacheModel& model : models) {
    list.push_back(JsonObject({{"path", model.path},
                               {"fingerprint", model.fingerprint},
                               {"pinned", model.is_pinned},
                               {"last_used_ms", model.last_used_ms},
                               {"entries", model.entries},
                               {"own_bytes", model.own_bytes},
                               {"shared_bytes", model.shared_bytes}}));
  }
  return JsonObject({{"folder", folder}, {"models", std::move(list)}});
}

Json AnswerJson(const std::vector<CacheFinding>& findings, const std::string& folder) {
  Json list = Json::array();
  for (const CacheFinding& finding : findings) {
    list.push_back(JsonObject({{"trouble", finding.is_trouble},
                               {"what", finding.what},
                               {"cost", finding.cost},
                               {"command", finding.command}}));
  }
  return JsonObject({{"folder", folder}, {"findings", std::move(list)}});
}

Json AnswerJson(const CacheVerification& verification, const std::string& folder) {
  return JsonObject({{"folder", folder},
                     {"checked_entries", verification.checked_entries},
                     {"checked_bytes", verification.checked_bytes},
                     {"clean", verification.clean()},
                     {"repaired", verification.repaired},
                     {"damages", JsonOf(verification.damages)}});
}

Json AnswerJson(const RemovedEntries& removed, const std::string& folder) {
  Json json =
      JsonObject({{"folder", folder}, {"removed_entries", removed.entries}, {"removed_bytes", removed.blob_bytes}});
  if (!removed.revoked_key.empty()) {
    json["revoked_key"] = removed.revoked_key;
    json["other_formats_bytes"] = removed.other_formats_bytes;
  }
  return json;
}

Json AnswerJson(uint64_t count, const std::string& folder) {
  // With the keys of removed entries, because `clear --quarantine` is a way to clear.
  return JsonObject({{"folder", folder}, {"removed_entries", 0}, {"removed_bytes", 0}, {"lifted", count}});
}

Json AnswerJson(const CacheExplanation& explanation, const std::string& folder) {
  Json needs = Json::array();
  for (const CacheNeed& need : explanation.needs) needs.push_back(JsonOf(need));
  Json last_misses = Json::array();
  for (const CacheMiss& miss : explanation.last_misses) {
    last_misses.push_back(JsonObject({{"when_ms", miss.when_ms},
                                      {"path", miss.model_path},
                                      {"device", miss.device},
                                      {"kind", miss.kind},
                                      {"name", miss.name},
                                      {"reason", miss.reason}}));
  }
  return JsonObject(
      {{"folder", folder},
       {"model", JsonObject({{"path", explanation.model_path}, {"fingerprint", explanation.model_fingerprint}})},
       {"device", explanation.device},
       {"has_run", explanation.has_run},
       {"has_changed", explanation.has_changed},
       {"hits", explanation.hits()},
       {"misses", explanation.needs.size() - explanation.hits()},
       {"entries", std::move(needs)},
       {"last_misses", std::move(last_misses)},
       {"warnings", explanation.warnings}});
}

Json AnswerJson(const BundleInspection& bundle, const std::string& /*folder*/) {
  return JsonObject({{"bundle", bundle.bundle},
                     {"form", "file"},
                     {"made_by", bundle.made_by},
                     {"expires_ms", bundle.expires_ms},
                     {"least_version", bundle.least_version},
                     {"manifest_sha256", bundle.manifest_sha256},
                     {"devices", JsonOf(bundle.devices)},
                     {"entries", bundle.entries},
                     {"blob_bytes", bundle.blob_bytes},
                     {"kinds", JsonOf(bundle.kinds)},
                     {"signed_by", bundle.signed_by},
                     {"key_id", bundle.key_id},
                     {"refusal", bundle.refusal},
                     {"damages", JsonOf(bundle.damages)}});
}

Json AnswerJson(const BundleExport& bundle, const std::string& /*folder*/) {
  return JsonObject({{"bundle", bundle.folder},
                     {"entries", bundle.entries},
                     {"blob_bytes", bundle.blob_bytes},
                     {"native_entries", bundle.native_entries},
                     {"damaged_entries", bundle.damaged_entries},
                     {"programs_without_source", bundle.programs_without_source},
                     {"from_others", bundle.from_others},
                     {"other_keys", bundle.other_keys},
                     {"revoked_entries", bundle.revoked_entries},
                     {"devices", JsonOf(bundle.devices)},
                     {"signed_by", bundle.signed_by}});
}

Json AnswerJson(const BundleImport& bundle, const std::string& folder) {
  return JsonObject({{"folder", folder},
                     {"entries", bundle.entries},
                     {"blob_bytes", bundle.blob_bytes},
                     {"other_devices", bundle.other_devices},
                     {"quarantined", bundle.quarantined},
                     {"quarantined_until_ms", bundle.quarantined_until_ms},
                     {"signed_by", bundle.signed_by},
                     {"warnings", bundle.warnings}});
}

Json AnswerJson(const std::vector<WarmResult>& results, const std::string& folder) {
  return JsonObject({{"folder", folder}, {"results", JsonOf(results)}});
}

Json AnswerJson(const RewarmResult& result, const std::string& folder) {
  Json needed = Json::array();
  for (const ModelNeeded& model : result.needed) {
    needed.push_back(JsonObject({{"model", model.model_path}, {"device", model.device}, {"reason", model.reason}}));
  }
  return JsonObject({{"folder", folder}, {"results", JsonOf(result.results)}, {"needed", std::move(needed)}});
}

}  // namespace

std::string CacheJson(const CacheAnswer& answer, const std::string& folder, int indent) {
  const Json json = std::visit([&](const auto& one) { return AnswerJson(one, folder); }, answer);
  return TextOf(json, indent);
}

}  // namespace hearth
