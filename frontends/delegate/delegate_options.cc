#include "frontends/delegate/delegate_options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "cache/files/folder.h"
#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/base/size_text.h"
#include "core/device/options.h"
#include "frontends/engine/priorities.h"
#include "frontends/engine/tuner.h"
#include "hearth/session_option.h"

namespace hearth {
namespace {

enum Priority : int32_t { kAuto = 0, kMaxPrecision = 1, kMinLatency = 2, kMinMemoryUsage = 3 };
constexpr std::array<std::string_view, 4> kPriorityNames = {"auto", "max_precision", "min_latency", "min_memory_usage"};

// Indexed by the reference's numbers.
constexpr std::array<std::string_view, 3> kPreferences = {"fast_single_answer", "sustained_speed", "balanced"};

constexpr int64_t kFlagQuantized = 1, kFlagOpenClOnly = 2, kFlagOpenGlOnly = 4, kFlagSerialization = 8;

// The options as given. Resolve combines them.
struct Said {
  SessionOptions session;  // set by the names of session options
  std::optional<std::string> device, precision, cache_folder, serialization_dir, model_token;
  std::optional<uint64_t> cache_max_bytes;
  std::optional<bool> allows_fp16, allows_quantized, is_profiling, stores_at_once;
  bool has_preference = false;
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

Status SetPriorities(std::string_view key, std::string_view value, Said& said) {
  for (size_t k = 0; k < said.priorities.size() && !value.empty(); ++k) {
    const std::string_view name = value.substr(0, value.find(','));
    const auto* found = std::find(kPriorityNames.begin(), kPriorityNames.end(), name);
    if (found == kPriorityNames.end()) break;
    said.priorities[k] = found - kPriorityNames.begin();
    value.remove_prefix(std::min(value.size(), name.size() + 1));
  }
  if (value.empty()) return Status::Ok();
  return BadValue(key, value, fmt::format("up to three of {}, separated by commas", fmt::join(kPriorityNames, ", ")));
}

Status SetSize(std::string_view key, std::string_view value, std::optional<uint64_t>& into) {
  const Result<uint64_t> bytes = ParseSizeBytes(value);
  if (!bytes.ok()) return BadValue(key, value, "a size like 256M");
  into = bytes.value();
  return Status::Ok();
}

struct OptionRow {
  std::string_view name;
  Status (*set)(std::string_view key, std::string_view value, Said& said);
  std::array<std::string_view, 2> other_names = {};  // also taken, but not listed

  bool Has(std::string_view asked) const { return name == asked || (!asked.empty() && Contains(other_names, asked)); }
};

template <auto Member>
Status SetText(std::string_view, std::string_view value, Said& said) {
  said.*Member = std::string(value);
  return Status::Ok();
}
template <auto Member>
Status SetFlag(std::string_view key, std::string_view value, Said& said) {
  return SetBool(key, value, said.*Member);
}
template <auto Member, int64_t Least, int64_t Most>
Status SetNumber(std::string_view key, std::string_view value, Said& said) {
  return SetInteger(key, value, Least, Most, said.*Member);
}
template <size_t Index>
Status SetPriority(std::string_view key, std::string_view value, Said& said) {
  return SetInteger(key, value, kAuto, kMinMemoryUsage, said.priorities[Index]);
}

// Sets an option that every session has, with the same values as elsewhere.
Status SetOfSession(std::string_view key, std::string_view value, Said& said) {
  said.has_preference = said.has_preference || key == "preference";
  return SetSessionOption(said.session, key, value);
}

Status SetStore(std::string_view key, std::string_view value, Said& said) {
  if (value != "now" && value != "later") return BadValue(key, value, "now or later");
  said.stores_at_once = value == "now";
  return Status::Ok();
}

constexpr int64_t kMostInt = 1'000'000'000;

constexpr OptionRow kOptionRows[] = {
    {"device", SetText<&Said::device>},
    {"precision", SetText<&Said::precision>},
    {"preference", SetOfSession},
    {"threads", SetOfSession},
    {"cpu_ops", SetOfSession},
    {"tune", SetOfSession},
    {"start", SetOfSession},
    {"memory_limit_bytes", SetOfSession},
    {"wait_limit_ms", SetOfSession},
    {"next_device", SetOfSession},
    {"cache_folder", SetText<&Said::cache_folder>, {"cache_dir"}},
    {"cache_max_bytes",
     [](auto key, auto value, Said& said) { return SetSize(key, value, said.cache_max_bytes); },
     {"cache_max_size", "max_cache_size"}},
    {"cache_wait_ms", SetOfSession},
    {"store", SetStore},
    {"allow_fp16", SetFlag<&Said::allows_fp16>},
    {"allow_quantized", SetFlag<&Said::allows_quantized>},
    {"max_partitions", SetNumber<&Said::max_partitions, 0, kMostInt>},
    {"min_nodes_per_partition", SetNumber<&Said::min_nodes_per_partition, 1, kMostInt>},
    {"priorities", SetPriorities},
    {"profiling", SetFlag<&Said::is_profiling>},
    {"report", SetText<&Said::report_path>},
    {"log", SetText<&Said::log_path>},
    // Names of the reference's options.
    {"is_precision_loss_allowed", SetNumber<&Said::is_precision_loss_allowed, -1, 1>},
    {"inference_preference", SetNumber<&Said::preference, 0, 2>},
    {"inference_priority1", SetPriority<0>},
    {"inference_priority2", SetPriority<1>},
    {"inference_priority3", SetPriority<2>},
    {"max_delegated_partitions", SetNumber<&Said::max_delegated_partitions, 0, kMostInt>},
    {"experimental_flags", SetNumber<&Said::experimental_flags, 0, 15>},
    {"serialization_dir", SetText<&Said::serialization_dir>},
    {"model_token", SetText<&Said::model_token>},
};

// The precision by the reference's rules: fp32 if MAX_PRECISION comes first, fp32_16 if second, fp16 if last.
Result<std::string> PrecisionOfPriorities(const Said& said) {
  std::array<int64_t, 3> order = {};
  for (size_t k = 0; k < order.size(); ++k) order[k] = said.priorities[k].value_or(kAuto);
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

Result<std::string> PrecisionOf(const Said& said) {
  if (said.precision) {
    if (PrecisionFromName(*said.precision)) return *said.precision;
    return BadValue("precision", *said.precision, "fp32, fp32_16 or fp16");
  }
  if (said.allows_fp16) return std::string(*said.allows_fp16 ? "fp16" : "fp32");
  const int64_t loss = said.is_precision_loss_allowed.value_or(-1);
  const bool has_priorities = said.priorities[0] || said.priorities[1] || said.priorities[2];
  if (loss >= 0 && !has_priorities) return std::string(loss != 0 ? "fp16" : "fp32");
  return PrecisionOfPriorities(said);
}

Result<std::string> DeviceOf(const Said& said, int64_t flags) {
  const bool cl_only = (flags & kFlagOpenClOnly) != 0, gl_only = (flags & kFlagOpenGlOnly) != 0;
  if (cl_only && gl_only) {
    return Error(StatusCode::kInvalidArgument, "experimental_flags ask for OpenCL only and OpenGL only");
  }
  if (said.device) return *said.device;
  return std::string(cl_only ? "opencl" : gl_only ? "gles" : "auto");
}

Result<SessionOptions> ResolveSession(const Said& said, int64_t flags) {
  SessionOptions session = said.session;
  HEARTH_ASSIGN(session.device, DeviceOf(said, flags));
  HEARTH_ASSIGN(session.precision, PrecisionOf(said));
  if (said.preference && !said.has_preference) {
    session.preference = kPreferences[static_cast<size_t>(*said.preference)];
  }
  HEARTH_TRY(OptionsFromChoices({session.precision, session.preference, {}}).status());
  if (!TuneModeFromName(session.tune)) return BadValue("tune", session.tune, "off, fast or full");
  // With the reference's names a cache needs all three, as there: flag, folder and token.
  const bool has_serialization = (flags & kFlagSerialization) != 0 && said.serialization_dir && said.model_token;
  session.use_cache = said.cache_folder.has_value() || has_serialization;
  if (session.use_cache) session.cache_folder = said.cache_folder ? *said.cache_folder : *said.serialization_dir;
  session.model_token = said.model_token.value_or("");
  session.cache_max_bytes = said.cache_max_bytes.value_or(0);
  return session;
}

Result<DelegateOptions> Resolve(const Said& said) {
  DelegateOptions options;
  const int64_t flags = said.experimental_flags.value_or(kFlagQuantized);
  HEARTH_ASSIGN(options.session, ResolveSession(said, flags));
  options.cpu_ops = std::exchange(options.session.cpu_ops, {});
  options.stores_at_once = said.stores_at_once.value_or(false);
  options.allows_quantized = said.allows_quantized.value_or((flags & kFlagQuantized) != 0);
  if (said.max_delegated_partitions) {
    options.max_partitions = static_cast<int>(std::max<int64_t>(1, *said.max_delegated_partitions));
  }
  if (said.max_partitions) options.max_partitions = static_cast<int>(*said.max_partitions);
  options.min_nodes_per_partition = static_cast<int>(said.min_nodes_per_partition.value_or(1));
  options.is_profiling = said.is_profiling.value_or(false);
  options.report_path = said.report_path;
  options.log_path = said.log_path;
  return options;
}

}  // namespace

Result<DelegateOptions> ParseDelegateOptions(std::span<const std::pair<std::string_view, std::string_view>> options) {
  Said said;
  for (const auto& [key, value] : options) {
    const auto* row = std::find_if(std::begin(kOptionRows), std::end(kOptionRows),
                                   [name = key](const OptionRow& candidate) { return candidate.Has(name); });
    if (row == std::end(kOptionRows)) {
      std::vector<std::string_view> names;
      for (const OptionRow& known : kOptionRows) names.push_back(known.name);
      return Error(StatusCode::kInvalidArgument, "no option is called '{}'; there are {}", key.substr(0, 200),
                   fmt::join(names, ", "));
    }
    HEARTH_TRY(row->set(key, value, said));
  }
  return Resolve(said);
}

tflite_c::TfLiteGpuDelegateOptionsV2 DefaultOptionsV2() {
  return {-1, 0, kMaxPrecision, kAuto, kAuto, kFlagQuantized, 1, nullptr, nullptr};
}

Result<DelegateOptions> DelegateOptionsOf(const tflite_c::TfLiteGpuDelegateOptionsV2& options) {
  Said said;
  // As in the reference, the priorities count only if this is -1.
  said.is_precision_loss_allowed = options.is_precision_loss_allowed;
  if (options.is_precision_loss_allowed < 0) {
    said.priorities = {options.inference_priority1, options.inference_priority2, options.inference_priority3};
    for (const auto& priority : said.priorities) {
      if (*priority < kAuto || *priority > kMinMemoryUsage) {
        return BadValue("inference_priority", std::to_string(*priority), "a number from 0 to 3");
      }
    }
  }
  if (options.inference_preference < 0 || options.inference_preference >= std::ssize(kPreferences)) {
    return BadValue("inference_preference", std::to_string(options.inference_preference), "a number from 0 to 2");
  }
  said.preference = options.inference_preference;
  said.experimental_flags = options.experimental_flags;
  said.max_delegated_partitions = options.max_delegated_partitions;
  if (options.serialization_dir != nullptr) said.serialization_dir = options.serialization_dir;
  if (options.model_token != nullptr) said.model_token = options.model_token;
  return Resolve(said);
}

}  // namespace hearth
