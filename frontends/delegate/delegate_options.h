// What a program may choose about the delegate: by text keys (tflite_plugin_create_delegate) or by the reference's
// struct (TfLiteGpuDelegateV2Create).
#ifndef HEARTH_FRONTENDS_DELEGATE_DELEGATE_OPTIONS_H_
#define HEARTH_FRONTENDS_DELEGATE_DELEGATE_OPTIONS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "frontends/delegate/tflite_c.h"
#include "hearth/status.h"

namespace hearth {

struct DelegateOptions {
  std::string device = "auto";
  std::string precision = "fp32";
  std::string preference = "balanced";  // see SessionOptions
  bool use_cache = false;
  std::string cache_folder;
  uint64_t cache_max_bytes = 0;  // 0: the default size
  std::string model_token;       // only ever adds to cache keys
  bool allows_quantized = true;
  int max_partitions = 0;           // the largest ones; 0: no limit
  int min_nodes_per_partition = 1;  // smaller ones are left to the interpreter
  bool is_profiling = false;
  std::string report_path;  // where the JSON report goes; empty: nowhere
  std::string log_path;     // where sentences and tables go instead of the interpreter's log
};

// The options' names and values as text, as a plugin gets them. kInvalidArgument for an unknown name (the message lists
// the known ones), a value that is none, and values that contradict each other.
Result<DelegateOptions> ParseDelegateOptions(std::span<const std::pair<std::string_view, std::string_view>> options);

// The reference's defaults.
tflite_c::TfLiteGpuDelegateOptionsV2 DefaultOptionsV2();
Result<DelegateOptions> DelegateOptionsOf(const tflite_c::TfLiteGpuDelegateOptionsV2& options);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_DELEGATE_DELEGATE_OPTIONS_H_
