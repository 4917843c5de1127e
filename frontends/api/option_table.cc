#include "frontends/api/option_table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/device/device_profiles.h"
#include "core/device/device_rules.h"
#include "runtime/devices/backends.h"

namespace hearth {
namespace {

// A field of SessionOptions, by its path.
#define FIELD(path)                       \
  [](SessionOptions & options) -> auto& { \
    return options.path;                  \
  }

constexpr std::string_view kOnOff = "on, off", kSize = "a number, or one with K, M, G or T";
constexpr bool kInPlugin = true;

constexpr OptionRow kRows[] = {
    {.name = "device", .kind = TextOption{FIELD(device)}, .in_plugin = kInPlugin},
    {.name = "simulate",
     .kind = TextOption{FIELD(simulate)},
     .values = "a device that a software driver simulates: navi21, mali-g78, ...",
     .flag = {.names = "--simulate",
              .type = "PROFILE",
              .help = "Open a software driver that answers as another device (`hearth devices --profiles`): its "
                      "limits, rules and paths; times are meaningless"},
     .check = [](std::string_view name) { return FindDeviceProfile(name).status(); }},
    {.name = "precision",
     .kind = TextOption{FIELD(precision)},
     .choices = "fp32, fp32_16, fp16",
     .in_plugin = kInPlugin,
     .flag = {FlagGroup::kPlan, "--precision", "P",
              "How real numbers are stored; falls back to fp32 with a warning on devices that lack it",
              "fp32, or as --priority says"}},
    {.name = "preference",
     .kind = TextOption{FIELD(preference)},
     .choices = "fast_single_answer, balanced, sustained_speed",
     .in_plugin = kInPlugin,
     .flag = {FlagGroup::kPlan, "--preference", "WHAT",
              "fast_single_answer (few programs, ready soon), balanced, sustained_speed (slow starts, fast runs)", ""}},
    {.name = "priority",
     .kind = ListOption{FIELD(priority), ','},
     .values = "precision, latency, memory, most important first, separated by ','",
     .choices = "precision, latency, memory",
     .flag = {FlagGroup::kPlan, "--priority", "LIST",
              "What matters, most important first: precision, latency, memory. Precision first is fp32, second "
              "fp32_16, third fp16",
              "precision,latency,memory"}},
    {.name = "model_token",
     .kind = TextOption{FIELD(model_token)},
     .values = "a text",
     .in_plugin = kInPlugin,
     .flag = {FlagGroup::kPlan, "--model-token", "TEXT", "Text that keeps this model's cache entries apart"}},
    {.name = "cpu_ops",
     .kind = ListOption{FIELD(cpu_ops), ','},
     .values = "operations, file indices or 'quantized', separated by ',': softmax,op:7",
     .in_plugin = kInPlugin,
     .flag = {FlagGroup::kPlan, "--cpu-ops", "LIST",
              "Operations to keep on the CPU, by name or file index: softmax,op:7; quantized: those with quantized "
              "tensors"}},
    {.name = "rules",
     .kind = TextOption{FIELD(rules)},
     .values = "driver rules forced on or off: +wide_stores,-texel_reads",
     .in_plugin = kInPlugin,
     .flag = {FlagGroup::kPlan, "--rules", "+NAME,-NAME",
              "What Hearth knows about drivers, forced on or off: +wide_stores,-texel_reads (`hearth devices --json` "
              "lists the rules and what applies)"},
     .check = [](std::string_view rules) { return ForcedRulesFromText(rules).status(); }},
    {.name = "threads",
     .kind = NumberOption{FIELD(threads), 0, 1024},
     .values = "a number; 0: as many as affinity, cgroup quota and machine allow",
     .in_plugin = kInPlugin,
     .flag = {FlagGroup::kPlan, "--threads", "N", "CPU threads; 0: as many as affinity, cgroup quota and machine allow",
              ""}},
    {.name = "tune",
     .kind = TextOption{FIELD(tune)},
     .choices = "off, fast, full",
     .in_plugin = kInPlugin,
     .flag = {FlagGroup::kTune, "--tune", "HOW",
              "Measure kernels for this model's layers before the first run, and keep the winners in the cache: off, "
              "fast (the likeliest), full (all)",
              ""}},
    {.name = "start",
     .kind = TextOption{FIELD(start)},
     .choices = "ready, hot",
     .in_plugin = kInPlugin,
     .flag = {FlagGroup::kStart, "--start", "HOW",
              "hot: the CPU answers until the device, which is prepared in the background, is ready and faster; ready: "
              "the device answers from the first run on (default: ready for a named device; for auto hot where the "
              "cache holds nothing of the model)"}},
    {.name = "memory_limit_bytes",
     .kind = SizeOption{FIELD(memory_limit_bytes)},
     .values = kSize,
     .in_plugin = kInPlugin,
     .flag = {FlagGroup::kStart, "--memory-limit", "SIZE",
              "A limit for weights, intermediate values, inputs and outputs: bytes, or a number with K, M, G. Kept, or "
              "refused with the bytes needed; 0: no limit"}},
    {.name = "wait_limit_ms",
     .kind = NumberOption{FIELD(wait_limit_ms), 0, 86400000},
     .values = "a number; 0: without end",
     .in_plugin = kInPlugin,
     .flag = {FlagGroup::kStart, "--wait-limit", "MS",
              "Milliseconds after which a device that does not finish counts as lost, and a loop that does not end is "
              "stopped; 0: never (default: 60000 on hardware, else never)"}},
    {.name = "next_device",
     .kind = SwitchOption{FIELD(next_device)},
     .values = kOnOff,
     .in_plugin = kInPlugin,
     .flag = {FlagGroup::kStart, "--next-device", "",
              "If the named device is not usable or fails, take the next one, as auto does"}},
    {.name = "max_in_flight", .kind = NumberOption{FIELD(max_in_flight), 1, 64}, .values = "a number"},
    {.name = "kept_shapes", .kind = NumberOption{FIELD(kept_shapes), 0, 64}, .values = "a number"},
    {.name = "top_k",
     .kind = NumberOption{FIELD(model.top_k), 0, std::numeric_limits<int32_t>::max()},
     .values = "a number; 0: all of an output"},
    {.name = "class_maps", .kind = SwitchOption{FIELD(model.class_maps)}, .values = kOnOff},
    {.name = "signature",
     .kind = TextOption{FIELD(model.signature)},
     .values = "a name of the model's",
     .flag = {.names = "--signature",
              .type = "NAME",
              .help = "The signature to run, by name (default: the model's first subgraph)"}},
    {.name = "dimensions",
     .kind = ListOption{FIELD(model.dimensions), ','},
     .values = "sizes of an ONNX file's named dimensions, separated by ',': height=320,width=640",
     .flag = {.names = "--dim",
              .type = "NAME=SIZE",
              .help = "The size of an open dimension, by the name that the file gives it: height=320"},
     .check = [](std::string_view size) { return ParseNamedSize(size).status(); }},
    {.name = "ops",
     .kind = ListOption{FIELD(model.op_libraries), ':'},
     .values = "shared libraries of operators, separated by ':'",
     .flag = {.names = "--ops",
              .type = "FILE",
              .help = "A shared library of operators that Hearth lacks (hearth/hearth_ops.h); may be given several "
                      "times"}},
    {.name = "cache", .kind = SwitchOption{FIELD(use_cache)}, .values = kOnOff, .in_plugin = kInPlugin},
    {.name = "cache_folder",
     .kind = TextOption{FIELD(cache_folder)},
     .values = "a folder",
     .other_names = {"cache_dir"},
     .in_plugin = kInPlugin,
     .flag = {.names = "--cache,--cache-folder,--cache-dir",
              .type = "DIR",
              .help = "Cache folder (default $HEARTH_CACHE_DIR, $XDG_CACHE_HOME/hearth or ~/.cache/hearth)"}},
    {.name = "cache_read_only",
     .kind = SwitchOption{FIELD(cache_read_only)},
     .values = kOnOff,
     .flag = {.names = "--cache-read-only", .help = "Use existing entries, store nothing"}},
    {.name = "cache_layers",
     .kind = ListOption{FIELD(cache_layers), ':'},
     .values = "read-only folders, separated by ':'",
     .flag = {FlagGroup::kCacheTier, "--cache-layer", "PATH",
              "A bundle or a cache's folder, looked up first and never written, before those of "
              "$HEARTH_CACHE_LAYERS; may be given several times"}},
    {.name = "cache_layer_keys",
     .kind = TextOption{FIELD(cache_layer_keys)},
     .values = "file of public keys",
     .flag = {FlagGroup::kCacheTier, "--cache-layer-keys", "FILE",
              "Public keys whose signatures make a layer usable (default $HEARTH_CACHE_LAYER_KEYS)"}},
    {.name = "trust_cache_layers",
     .kind = SwitchOption{FIELD(trust_cache_layers)},
     .values = kOnOff,
     .flag = {FlagGroup::kCacheTier, "--trust-cache-layers", "", "Also use layers that no such key has signed"}},
    {.name = "cache_max_bytes",
     .kind = SizeOption{FIELD(cache_max_bytes)},
     .values = kSize,
     .other_names = {"cache_max_size", "max_cache_size"},
     .in_plugin = kInPlugin,
     .flag = {FlagGroup::kCacheTier, "--cache-max-size,--cache-max-bytes,--max-cache-size", "SIZE",
              "The cache's size limit: bytes, or a number with K, M, G (default $HEARTH_CACHE_MAX_SIZE or 1G)"}},
    {.name = "cache_wait_ms",
     .kind = NumberOption{FIELD(cache_wait_ms), 0, 60000},
     .values = "a number",
     .in_plugin = kInPlugin,
     .flag = {FlagGroup::kCacheTier, "--cache-wait", "MS",
              "A session's total waiting time for the cache's locks and servers, in milliseconds", ""}},
    {.name = "cache_server",
     .kind = TextOption{FIELD(cache_server.address)},
     .values = "host:port, redis://, rediss://",
     .flag = {FlagGroup::kCacheTier, "--cache-server", "HOST:PORT|URL",
              "A Redis server with entries that machines share (default $HEARTH_CACHE_SERVER)"}},
    {.name = "cache_server_keys",
     .kind = TextOption{FIELD(cache_server.trusted_keys)},
     .values = "file of public keys",
     .flag = {FlagGroup::kCacheTier, "--cache-server-keys", "FILE",
              "Public keys whose entries are accepted (default $HEARTH_CACHE_SERVER_KEYS)"}},
    {.name = "cache_server_sign",
     .kind = TextOption{FIELD(cache_server.sign_with)},
     .values = "file of a secret key",
     .flag = {FlagGroup::kCacheTier, "--cache-server-sign", "FILE",
              "Secret key that signs what is stored there (default $HEARTH_CACHE_SERVER_SIGN)"}},
};
#undef FIELD

// The option that a wrong name is likely to mean: the nearest one, or what other runtimes call so.
std::string MeantBy(std::string_view name, std::span<const std::string> names) {
  constexpr std::pair<std::string_view, std::string_view> kElsewhere[] = {{"num_threads", "threads"},
                                                                          {"intra_op_num_threads", "threads"},
                                                                          {"device_name", "device"},
                                                                          {"cache_dir", "cache_folder"}};
  const auto found = std::ranges::find(kElsewhere, name, &std::pair<std::string_view, std::string_view>::first);
  return found == std::end(kElsewhere) ? NearestName(name, names) : std::string(found->second);
}

}  // namespace

std::span<const OptionRow> OptionRows() {
  return kRows;
}

std::string_view OptionValues(const OptionRow& row) {
  static const std::string devices = fmt::format(
      "auto, cpu, gpu, {}, one of several (opencl:1), a UUID, part of a name", fmt::join(BackendNames(), ", "));
  if (row.name == "device") return devices;
  return row.values.empty() ? row.choices : row.values;
}

const OptionRow* FindOption(std::string_view name) {
  const auto* row = std::ranges::find_if(kRows, [name](const OptionRow& candidate) {
    return candidate.name == name || (!name.empty() && Contains(candidate.other_names, name));
  });
  return row == std::end(kRows) ? nullptr : row;
}

Result<NamedText> SplitNamed(std::string_view text, size_t equals, std::string_view meant) {
  if (equals == std::string::npos || equals == 0) return Error(StatusCode::kInvalidArgument, "'{}': {}", text, meant);
  return NamedText{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

Result<std::pair<std::string, int32_t>> ParseNamedSize(std::string_view text) {
  constexpr std::string_view kMeant = "NAME=SIZE is meant, such as height=320";
  HEARTH_ASSIGN(NamedText named, SplitNamed(text, text.rfind('='), kMeant));
  int32_t size = -1;
  if (!NumberFrom(named.value, size) || size < 0) return Error(StatusCode::kInvalidArgument, "'{}': {}", text, kMeant);
  return std::pair(std::move(named.name), size);
}

Status NoSuchOption(std::string_view name, std::span<const std::string> names) {
  const std::string meant = MeantBy(name, names);
  return Error(StatusCode::kInvalidArgument, "no option is called '{}'{}; there are {}", name,
               meant.empty() ? "" : fmt::format(" (did you mean '{}'?)", meant), fmt::join(names, ", "));
}

}  // namespace hearth
