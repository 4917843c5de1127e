// The delegate's options, from text keys (tflite_plugin_create_delegate) or the reference's struct
// (TfLiteGpuDelegateV2Create).
#ifndef HEARTH_FRONTENDS_DELEGATE_DELEGATE_OPTIONS_H_
#define HEARTH_FRONTENDS_DELEGATE_DELEGATE_OPTIONS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontends/delegate/tflite_c.h"
#include "hearth/session.h"
#include "hearth/status.h"

namespace hearth {

struct DelegateOptions {
  DelegateOptions() { session.use_cache = false; }

  SessionOptions session;  // of each partition; threads 0: as many as the interpreter uses
  // Operations to leave to the interpreter: by Hearth's name, the interpreter's name, or "op:7" for the interpreter's
  // node 7.
  std::vector<std::string> cpu_ops;
  bool stores_at_once = false;  // at the end of the first invocation
  bool allows_quantized = true;
  bool must_take_all = false;       // an operation that cannot be taken is an error: no one else would run it
  int max_partitions = 0;           // the largest ones; 0: no limit
  int min_nodes_per_partition = 1;  // smaller ones are left to the interpreter
  bool is_profiling = false;
  std::string report_path;  // file of the JSON report; empty: none
  std::string log_path;     // file for messages and tables; empty: the interpreter's log
};

// Options from names and values as text. kInvalidArgument for an unknown name (the message lists the known ones), an
// invalid value, or values that contradict each other.
Result<DelegateOptions> ParseDelegateOptions(std::span<const std::pair<std::string_view, std::string_view>> options);

// Whether ParseDelegateOptions knows the name.
bool IsDelegateOption(std::string_view name);

// The reference's defaults.
tflite_c::TfLiteGpuDelegateOptionsV2 DefaultOptionsV2();
Result<DelegateOptions> DelegateOptionsOf(const tflite_c::TfLiteGpuDelegateOptionsV2& options);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_DELEGATE_DELEGATE_OPTIONS_H_
