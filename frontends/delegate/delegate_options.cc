#include "frontends/delegate/delegate_options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/device/options.h"
#include "frontends/api/option_table.h"
#include "hearth/session_option.h"
#include "runtime/devices/priorities.h"
#include "runtime/plans/tuner.h"

namespace hearth {
namespace {

enum Priority : int32_t { kAuto = 0, kMaxPrecision = 1, kMinLatency = 2, kMinMemoryUsage = 3 };
constexpr std::array<std::string_view, 4> kPriorityNames = {"auto", "max_precision", "min_latency", "min_memory_usage"};

// Indexed by the reference's numbers.
constexpr std::array<std::string_view, 3> kPreferences = {"fast_single_answer", "sustained_speed", "balanced"};

constexpr int64_t kFlagQuantized = 1, kFlagOpenClOnly = 2, kFlagOpenGlOnly = 4, kFlagSerialization = 8;

// The options as given. Resolve combines them.
struct GivenOptions {
  bool Has(std::string_view name) const { return names.contains(name); }

  SessionOptions session;
  std::set<std::string_view> names;  // of the session's options that were given
  std::optional<std::string> serialization_dir;
  std::optional<bool> allows_fp16, allows_quantized, is_profiling, stores_at_once;
  std::optional<int64_t> is_precision_loss_allowed, preference, experimental_flags;
  std::optional<int64_t> max_partitions, max_delegated_partitions, min_nodes_per_partition;
  std::array<std::optional<int64_t>, 3> priorities;
  std::string report_path, log_path;
};

Status BadValue(std::string_view key, std::string_view value, std::string_view wanted) {
  return Error(StatusCode::kInvalidArgument, "option {} is '{}'; it takes {}", key, value, wanted);
}

Status SetInteger(std::string_view key, std::string_view value, int64_t least, int64_t most,
                  std::optional<int64_t>& into) {
  int64_t number = 0;
  if (!NumberFrom(value, number) || number < least || number > most) {
    return BadValue(key, value, fmt::format("a number from {} to {}", least, most));
  }
  into = number;
  return Status::Ok();
}

Status SetBool(std::string_view key, std::string_view value, std::optional<bool>& into) {
  const bool is_true = value == "1" || value == "true" || value == "True";
  if (!is_true && value != "0" && value != "false" && value != "False") return BadValue(key, value, "0 or 1");
  into = is_true;
  return Status::Ok();
}

Status SetPriorities(std::string_view key, std::string_view value, GivenOptions& given) {
  const std::vector<std::string_view> names = PartsOf(value, ',');
  for (size_t k = 0; k < names.size(); ++k) {
    const auto* found = std::find(kPriorityNames.begin(), kPriorityNames.end(), names[k]);
    if (k == given.priorities.size() || found == kPriorityNames.end()) {
      return BadValue(key, value,
                      fmt::format("up to three of {}, separated by commas", fmt::join(kPriorityNames, ", ")));
    }
    given.priorities[k] = found - kPriorityNames.begin();
  }
  return Status::Ok();
}

// An option that only the plugin has.
struct PluginOption {
  std::string_view name;
  Status (*set)(std::string_view key, std::string_view value, GivenOptions& given);
};

template <auto Member>
Status SetText(std::string_view, std::string_view value, GivenOptions& given) {
  given.*Member = std::string(value);
  return Status::Ok();
}
template <auto Member>
Status SetFlag(std::string_view key, std::string_view value, GivenOptions& given) {
  return SetBool(key, value, given.*Member);
}
template <auto Member, int64_t Least, int64_t Most>
Status SetNumber(std::string_view key, std::string_view value, GivenOptions& given) {
  return SetInteger(key, value, Least, Most, given.*Member);
}
template <size_t Index>
Status SetPriority(std::string_view key, std::string_view value, GivenOptions& given) {
  return SetInteger(key, value, kAuto, kMinMemoryUsage, given.priorities[Index]);
}

Status SetStore(std::string_view key, std::string_view value, GivenOptions& given) {
  if (value != "now" && value != "later") return BadValue(key, value, "now or later");
  given.stores_at_once = value == "now";
  return Status::Ok();
}

constexpr int64_t kMostInt = 1'000'000'000;

constexpr PluginOption kPluginOptions[] = {
    {"store", SetStore},
    {"allow_fp16", SetFlag<&GivenOptions::allows_fp16>},
    {"allow_quantized", SetFlag<&GivenOptions::allows_quantized>},
    {"max_partitions", SetNumber<&GivenOptions::max_partitions, 0, kMostInt>},
    {"min_nodes_per_partition", SetNumber<&GivenOptions::min_nodes_per_partition, 1, kMostInt>},
    {"priorities", SetPriorities},
    {"profiling", SetFlag<&GivenOptions::is_profiling>},
    {"report", SetText<&GivenOptions::report_path>},
    {"log", SetText<&GivenOptions::log_path>},
    // Names of the reference's options.
    {"is_precision_loss_allowed", SetNumber<&GivenOptions::is_precision_loss_allowed, -1, 1>},
    {"inference_preference", SetNumber<&GivenOptions::preference, 0, 2>},
    {"inference_priority1", SetPriority<0>},
    {"inference_priority2", SetPriority<1>},
    {"inference_priority3", SetPriority<2>},
    {"max_delegated_partitions", SetNumber<&GivenOptions::max_delegated_partitions, 0, kMostInt>},
    {"experimental_flags", SetNumber<&GivenOptions::experimental_flags, 0, 15>},
    {"serialization_dir", SetText<&GivenOptions::serialization_dir>},
};

// The precision by the reference's rules: fp32 if MAX_PRECISION comes first, fp32_16 if second, fp16 if last.
Result<std::string> PrecisionOfPriorities(const GivenOptions& given) {
  std::array<int64_t, 3> order = {};
  for (size_t k = 0; k < order.size(); ++k) order[k] = given.priorities[k].value_or(kAuto);
  if (order[0] == kAuto) order[0] = kMaxPrecision;
  if (order[1] == kAuto && order[2] != kAuto) {
    return Error(StatusCode::kInvalidArgument, "priority 3 is given and priority 2 is not");
  }
  if (order[1] == kAuto)
    order[1] = order[0] == kMinMemoryUsage ? kMaxPrecision : order[0] == kMaxPrecision ? kMinLatency : kMinMemoryUsage;
  if (order[2] == kAuto) order[2] = kMaxPrecision + kMinLatency + kMinMemoryUsage - order[0] - order[1];
  if (order[0] == order[1] || order[0] == order[2] || order[1] == order[2]) {
    return Error(StatusCode::kInvalidArgument, "one priority is given twice");
  }
  return std::string(order[0] == kMaxPrecision ? "fp32" : order[1] == kMaxPrecision ? "fp32_16" : "fp16");
}

Result<std::string> PrecisionOf(const GivenOptions& given) {
  if (given.Has("precision")) {
    if (PrecisionFromName(given.session.precision)) return given.session.precision;
    return BadValue("precision", given.session.precision, "fp32, fp32_16 or fp16");
  }
  if (given.allows_fp16) return std::string(*given.allows_fp16 ? "fp16" : "fp32");
  const int64_t loss = given.is_precision_loss_allowed.value_or(-1);
  const bool has_priorities = given.priorities[0] || given.priorities[1] || given.priorities[2];
  if (loss >= 0 && !has_priorities) return std::string(loss != 0 ? "fp16" : "fp32");
  return PrecisionOfPriorities(given);
}

Result<std::string> DeviceOf(const GivenOptions& given, int64_t flags) {
  const bool cl_only = (flags & kFlagOpenClOnly) != 0, gl_only = (flags & kFlagOpenGlOnly) != 0;
  if (cl_only && gl_only) {
    return Error(StatusCode::kInvalidArgument, "experimental_flags ask for OpenCL only and OpenGL only");
  }
  if (given.Has("device")) return given.session.device;
  return std::string(cl_only ? "opencl" : gl_only ? "gles" : "auto");
}

Result<SessionOptions> ResolveSession(const GivenOptions& given, int64_t flags) {
  SessionOptions session = given.session;
  HEARTH_ASSIGN(session.device, DeviceOf(given, flags));
  HEARTH_ASSIGN(session.precision, PrecisionOf(given));
  if (given.preference && !given.Has("preference")) {
    session.preference = kPreferences[static_cast<size_t>(*given.preference)];
  }
  HEARTH_TRY(OptionsFromChoices({session.precision, session.preference, {}}).status());
  if (!TuneModeFromName(session.tune)) return BadValue("tune", session.tune, "off, fast or full");
  // With the reference's names a cache needs all three, as there: flag, folder and token.
  const bool has_serialization =
      (flags & kFlagSerialization) != 0 && given.serialization_dir && given.Has("model_token");
  if (!given.Has("cache")) session.use_cache = given.Has("cache_folder") || has_serialization;
  if (!given.Has("cache_folder") && has_serialization) session.cache_folder = *given.serialization_dir;
  return session;
}

Result<DelegateOptions> Resolve(const GivenOptions& given) {
  DelegateOptions options;
  const int64_t flags = given.experimental_flags.value_or(kFlagQuantized);
  HEARTH_ASSIGN(options.session, ResolveSession(given, flags));
  options.cpu_ops = std::exchange(options.session.cpu_ops, {});
  options.stores_at_once = given.stores_at_once.value_or(false);
  options.allows_quantized = given.allows_quantized.value_or((flags & kFlagQuantized) != 0);
  if (given.max_delegated_partitions) {
    options.max_partitions = static_cast<int>(std::max<int64_t>(1, *given.max_delegated_partitions));
  }
  if (given.max_partitions) options.max_partitions = static_cast<int>(*given.max_partitions);
  options.min_nodes_per_partition = static_cast<int>(given.min_nodes_per_partition.value_or(1));
  options.is_profiling = given.is_profiling.value_or(false);
  options.report_path = given.report_path;
  options.log_path = given.log_path;
  return options;
}

Status Set(std::string_view key, std::string_view value, GivenOptions& given) {
  const OptionRow* of_session = FindOption(key);
  if (of_session != nullptr && of_session->in_plugin) {
    given.names.insert(of_session->name);
    return SetSessionOption(given.session, key, value);
  }
  std::vector<std::string> names;
  for (const OptionRow& known : OptionRows()) {
    if (known.in_plugin) names.emplace_back(known.name);
  }
  for (const PluginOption& option : kPluginOptions) {
    if (option.name == key) return option.set(key, value, given);
    names.emplace_back(option.name);
  }
  return NoSuchOption(key.substr(0, 200), names);
}

}  // namespace

bool IsDelegateOption(std::string_view name) {
  const OptionRow* of_session = FindOption(name);
  return (of_session != nullptr && of_session->in_plugin) ||
         std::ranges::any_of(kPluginOptions, [name](const PluginOption& option) { return option.name == name; });
}

Result<DelegateOptions> ParseDelegateOptions(std::span<const std::pair<std::string_view, std::string_view>> options) {
  GivenOptions given;
  for (const auto& [key, value] : options) HEARTH_TRY(Set(key, value, given));
  return Resolve(given);
}

tflite_c::TfLiteGpuDelegateOptionsV2 DefaultOptionsV2() {
  return {-1, 0, kMaxPrecision, kAuto, kAuto, kFlagQuantized, 1, nullptr, nullptr};
}

Result<DelegateOptions> DelegateOptionsOf(const tflite_c::TfLiteGpuDelegateOptionsV2& options) {
  GivenOptions given;
  // As in the reference, the priorities count only if this is -1.
  given.is_precision_loss_allowed = options.is_precision_loss_allowed;
  if (options.is_precision_loss_allowed < 0) {
    given.priorities = {options.inference_priority1, options.inference_priority2, options.inference_priority3};
    for (const auto& priority : given.priorities) {
      if (*priority < kAuto || *priority > kMinMemoryUsage) {
        return BadValue("inference_priority", std::to_string(*priority), "a number from 0 to 3");
      }
    }
  }
  if (options.inference_preference < 0 || options.inference_preference >= std::ssize(kPreferences)) {
    return BadValue("inference_preference", std::to_string(options.inference_preference), "a number from 0 to 2");
  }
  given.preference = options.inference_preference;
  given.experimental_flags = options.experimental_flags;
  given.max_delegated_partitions = options.max_delegated_partitions;
  if (options.serialization_dir != nullptr) given.serialization_dir = options.serialization_dir;
  if (options.model_token != nullptr) {
    given.session.model_token = options.model_token;
    given.names.insert("model_token");
  }
  return Resolve(given);
}

}  // namespace hearth
