#include "hearth/session_option.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

#include "cache/files/folder.h"
#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/base/size_text.h"
#include "frontends/api/session_data.h"
#include "frontends/engine/backends.h"

namespace hearth {
namespace {

Status SetText(std::string_view value, std::string& field) {
  field = value;
  return Status::Ok();
}

Status SetSwitch(std::string_view value, bool& field) {
  const bool is_on = value == "on" || value == "true" || value == "1";
  if (!is_on && value != "off" && value != "false" && value != "0")
    return Error(StatusCode::kInvalidArgument, "'{}' is neither on nor off", value);
  field = is_on;
  return Status::Ok();
}

Status SetNumber(std::string_view value, int most, int& field) {
  int number = -1;
  if (!NumberFrom(value, number) || number < 0 || number > most)
    return Error(StatusCode::kInvalidArgument, "'{}' is not a number from 0 to {}", value, most);
  field = number;
  return Status::Ok();
}

Status SetSizeBytes(std::string_view value, uint64_t& field) {
  HEARTH_ASSIGN(field, ParseSizeBytes(value));
  return Status::Ok();
}

Status SetList(std::string_view value, char separator, std::vector<std::string>& field) {
  field.clear();
  while (!value.empty()) {
    const size_t end = std::min(value.find(separator), value.size());
    if (end > 0) field.emplace_back(value.substr(0, end));
    value.remove_prefix(std::min(end + 1, value.size()));
  }
  return Status::Ok();
}

using Setter = Status (*)(SessionOptions& options, std::string_view value);
struct OptionRow {
  SessionOptionName name;
  Setter set;
  std::array<std::string_view, 2> other_names = {};  // also taken, but not listed

  bool Has(std::string_view asked) const {
    return name.name == asked || (!asked.empty() && Contains(other_names, asked));
  }
};

constexpr int kMostWaitMs = 60000, kMostWaitLimitMs = 86400000;

// One row per option.
constexpr OptionRow kRows[] = {
    {{"device", ""},  // DeviceValues() lists the backends
     [](SessionOptions& o, std::string_view v) { return SetText(v, o.device); }},
    {{"precision", "fp32, fp32_16, fp16"},
     [](SessionOptions& o, std::string_view v) { return SetText(v, o.precision); }},
    {{"preference", "fast_single_answer, balanced, sustained_speed"},
     [](SessionOptions& o, std::string_view v) { return SetText(v, o.preference); }},
    {{"priority", "precision, latency, memory, most important first, separated by ','"},
     [](SessionOptions& o, std::string_view v) { return SetList(v, ',', o.priority); }},
    {{"tune", "off, fast, full"}, [](SessionOptions& o, std::string_view v) { return SetText(v, o.tune); }},
    {{"max_in_flight", "a number"},
     [](SessionOptions& o, std::string_view v) { return SetNumber(v, kMostInFlight, o.max_in_flight); }},
    {{"cache", "on, off"}, [](SessionOptions& o, std::string_view v) { return SetSwitch(v, o.use_cache); }},
    {{"cache_folder", "a folder"},
     [](SessionOptions& o, std::string_view v) { return SetText(v, o.cache_folder); },
     {"cache_dir"}},
    {{"cache_layers", "read-only folders, separated by ':'"},
     [](SessionOptions& o, std::string_view v) { return SetList(v, ':', o.cache_layers); }},
    {{"cache_layer_keys", "file of public keys"},
     [](SessionOptions& o, std::string_view v) { return SetText(v, o.cache_layer_keys); }},
    {{"trust_cache_layers", "on, off"},
     [](SessionOptions& o, std::string_view v) { return SetSwitch(v, o.trust_cache_layers); }},
    {{"cache_max_bytes", "a number, or one with K, M, G or T"},
     [](SessionOptions& o, std::string_view v) { return SetSizeBytes(v, o.cache_max_bytes); },
     {"cache_max_size", "max_cache_size"}},
    {{"cache_wait_ms", "a number"},
     [](SessionOptions& o, std::string_view v) { return SetNumber(v, kMostWaitMs, o.cache_wait_ms); }},
    {{"cache_read_only", "on, off"},
     [](SessionOptions& o, std::string_view v) { return SetSwitch(v, o.cache_read_only); }},
    {{"cache_server", "host:port, redis://, rediss://"},
     [](SessionOptions& o, std::string_view v) { return SetText(v, o.cache_server.address); }},
    {{"cache_server_keys", "file of public keys"},
     [](SessionOptions& o, std::string_view v) { return SetText(v, o.cache_server.trusted_keys); }},
    {{"cache_server_sign", "file of a secret key"},
     [](SessionOptions& o, std::string_view v) { return SetText(v, o.cache_server.sign_with); }},
    {{"model_token", "a text"}, [](SessionOptions& o, std::string_view v) { return SetText(v, o.model_token); }},
    {{"cpu_ops", "operations or file indices, separated by ',': softmax,op:7"},
     [](SessionOptions& o, std::string_view v) { return SetList(v, ',', o.cpu_ops); }},
    {{"start", "ready, hot"}, [](SessionOptions& o, std::string_view v) { return SetText(v, o.start); }},
    {{"memory_limit_bytes", "a number, or one with K, M, G or T"},
     [](SessionOptions& o, std::string_view v) { return SetSizeBytes(v, o.memory_limit_bytes); }},
    {{"wait_limit_ms", "a number; 0: without end"},
     [](SessionOptions& o, std::string_view v) { return SetNumber(v, kMostWaitLimitMs, o.wait_limit_ms); }},
    {{"next_device", "on, off"}, [](SessionOptions& o, std::string_view v) { return SetSwitch(v, o.next_device); }},
    {{"simulate", "a device that a software driver simulates: navi21, mali-g78, ..."},
     [](SessionOptions& o, std::string_view v) { return SetText(v, o.simulate); }},
    {{"rules", "driver rules forced on or off: +wide_stores,-texel_reads"},
     [](SessionOptions& o, std::string_view v) { return SetText(v, o.rules); }},
    {{"threads", "a number; 0: as many as affinity, cgroup quota and machine allow"},
     [](SessionOptions& o, std::string_view v) { return SetNumber(v, kMostThreads, o.threads); }},
    {{"kept_shapes", "a number"},
     [](SessionOptions& o, std::string_view v) { return SetNumber(v, kMostKeptShapes, o.kept_shapes); }},
    {{"top_k", "a number; 0: all of an output"},
     [](SessionOptions& o, std::string_view v) {
       return SetNumber(v, std::numeric_limits<int32_t>::max(), o.model.top_k);
     }},
    {{"class_maps", "on, off"}, [](SessionOptions& o, std::string_view v) { return SetSwitch(v, o.model.class_maps); }},
    {{"signature", "a name of the model's"},
     [](SessionOptions& o, std::string_view v) { return SetText(v, o.model.signature); }},
};

std::string_view DeviceValues() {
  static const std::string values = fmt::format("auto, cpu, gpu, {}, one of several (opencl:1), a UUID, part of a name",
                                                fmt::join(BackendNames(), ", "));
  return values;
}

}  // namespace

const std::vector<SessionOptionName>& SessionOptionNames() {
  static const std::vector<SessionOptionName> names = [] {
    std::vector<SessionOptionName> all;
    for (const OptionRow& row : kRows) {
      all.push_back({row.name.name, row.name.values.empty() ? DeviceValues() : row.name.values});
    }
    return all;
  }();
  return names;
}

Status SetSessionOption(SessionOptions& options, std::string_view name, std::string_view value) {
  std::string names;
  for (const OptionRow& row : kRows) {
    if (row.Has(name)) {
      const Status status = row.set(options, value).Within(fmt::format("option '{}'", name));
      return status.ok() ? status : Error(status.code(), "{}; give {}", status.message(), row.name.values);
    }
    names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name.name);
  }
  return Error(StatusCode::kInvalidArgument, "no option is called '{}'; there are {}", name, names);
}

}  // namespace hearth
