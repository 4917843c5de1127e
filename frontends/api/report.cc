#include "hearth/report.h"

#include "frontends/api/json_object.h"
#include "hearth/version.h"

namespace hearth {

std::string Report::ToJson(int indent) const {
  Json fallbacks = Json::array();
  for (const OperatorFallback& fallback : ops.fallbacks) {
    fallbacks.push_back(JsonObject({{"index", fallback.index}, {"op", fallback.op}, {"reason", fallback.reason}}));
  }
  Json json;
  json["hearth"] = HEARTH_VERSION;
  json["model"] = JsonObject({{"path", model_path}, {"fingerprint", model_fingerprint}});
  json["device"] = JsonObject({{"id", device.id},
                               {"backend", device.backend},
                               {"name", device.name},
                               {"driver", device.driver},
                               {"reason", device.reason},
                               {"simulates", device.simulates},
                               {"keeps_nothing", device.keeps_nothing}});
  json["precision"] = precision;
  json["ops"] = JsonObject(
      {{"total", ops.total}, {"on_device", ops.on_device}, {"on_cpu", ops.on_cpu}, {"fallbacks", fallbacks}});
  json["init_ms"] = JsonObject({{"total", init_ms.total},
                                {"open_device", init_ms.open_device},
                                {"open_cache", init_ms.open_cache},
                                {"read_model", init_ms.read_model},
                                {"rewrite", init_ms.rewrite},
                                {"lower", init_ms.lower},
                                {"programs", init_ms.programs},
                                {"weights", init_ms.weights},
                                {"other", init_ms.other}});
  json["first_run_ms"] = first_run_ms;
  json["ready_ms"] = ready_ms;
  json["save_ms"] = save_ms;
  json["run_ms"] = JsonObject({{"runs", run_ms.runs},
                               {"median", run_ms.median},
                               {"min", run_ms.min},
                               {"p90", run_ms.p90},
                               {"max", run_ms.max}});
  json["programs"] = JsonObject({{"distinct", programs.distinct},
                                 {"compiled", programs.compiled},
                                 {"spirv_compiled", programs.spirv_compiled},
                                 {"loaded", programs.loaded},
                                 {"dispatches", programs.dispatches},
                                 {"storable", programs.storable}});
  json["tuning"] = JsonObject({{"mode", tuning.mode},
                               {"measured", tuning.measured},
                               {"changed", tuning.changed},
                               {"recorded", tuning.recorded},
                               {"ms", tuning.ms}});
  json["transfers"] =
      JsonObject({{"to_device_bytes", transfers.to_device_bytes}, {"to_host_bytes", transfers.to_host_bytes}});
  json["cache"] = JsonObject({{"path", cache.path},
                              {"hits", cache.hits},
                              {"misses", cache.misses},
                              {"rejected", cache.rejected},
                              {"put_errors", cache.put_errors},
                              {"bytes_read", cache.bytes_read},
                              {"bytes_written", cache.bytes_written},
                              {"layer_hits", cache.layer_hits},
                              {"server_hits", cache.server_hits},
                              {"saved_ms", cache.saved_ms},
                              {"waited_ms", cache.waited_ms},
                              {"waited_for_makers_ms", cache.waited_for_makers_ms},
                              {"model_known_by", cache.model_known_by},
                              {"model_hash_ms", cache.model_hash_ms}});
  json["memory"] = JsonObject({{"arena_bytes", memory.arena_bytes},
                               {"naive_bytes", memory.naive_bytes},
                               {"lower_bound_bytes", memory.lower_bound_bytes},
                               {"weights_bytes", memory.weights_bytes},
                               {"peak_rss_bytes", memory.peak_rss_bytes},
                               {"needed_bytes", memory.needed_bytes},
                               {"both_live_bytes", memory.both_live_bytes}});
  json["resize"] = JsonObject({{"made", resize.made},
                               {"kept", resize.kept},
                               {"last_ms", resize.last_ms},
                               {"uploaded_weights_bytes", resize.uploaded_weights_bytes},
                               {"shared_weights_bytes", resize.shared_weights_bytes}});
  json["threads"] = threads;
  json["start"] = JsonObject({{"mode", start.mode},
                              {"first_by", start.first_by},
                              {"moved_at_run", start.moved_at_run ? Json(*start.moved_at_run) : Json()},
                              {"reason", start.reason},
                              {"settled", start.is_settled}});
  json["warnings"] = warnings;
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace hearth
