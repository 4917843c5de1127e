// What a session did and what it cost: the data behind `--json`. All times are in milliseconds.
#ifndef HEARTH_REPORT_H_
#define HEARTH_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hearth/export.h"
#include "hearth/tensor_info.h"

namespace hearth {

struct OperatorFallback {
  int32_t index = -1;  // the operator's index in the model file; -1: Hearth added it (ModelOptions::top_k, class_maps)
  std::string op;
  std::string reason;
};

struct Report {
  std::string model_path, model_fingerprint;
  struct {
    std::string id, backend, name, driver, reason;
    std::string simulates;  // SessionOptions::simulate, if this device answers as that profile
    // Why the driver (Mesa) keeps no machine code: then it compiles at each start, also one that compiles no program.
    // Empty: it does, or that is not known.
    std::string keeps_nothing;
  } device;
  std::string precision;
  struct {
    int total = 0, on_device = 0, on_cpu = 0;
    std::vector<OperatorFallback> fallbacks;
  } ops;
  // Phases may overlap: `total` is wall time, `other` the time that no phase covers.
  struct {
    double total = 0, open_device = 0, open_cache = 0, read_model = 0, rewrite = 0, lower = 0, programs = 0,
           weights = 0, other = 0;
  } init_ms;
  double first_run_ms = 0;
  double ready_ms = 0;  // from opening the model until the first result is in host memory
  double save_ms = 0;   // time for the cache after that
  struct {
    int runs = 0;
    double median = 0, min = 0, p90 = 0, max = 0;
  } run_ms;  // steady runs; filled by whoever repeats runs
  struct {
    int distinct = 0, compiled = 0, spirv_compiled = 0, loaded = 0, dispatches = 0;
    bool storable = true;  // false: the driver gives no binaries of programs, so that every start compiles them
  } programs;
  // What `--tune` did, counted in layers that have several candidate kernels. `ms` is part of init_ms.other.
  struct {
    std::string mode = "off";  // as requested
    int measured = 0;          // layers, by this start
    int changed = 0;           // of these, where another kernel beat the rules' choice
    int recorded = 0;          // layers in the device's record, also of other models
    double ms = 0;
  } tuning;
  struct {
    uint64_t to_device_bytes = 0, to_host_bytes = 0;
  } transfers;  // by the last run
  struct {
    std::string path;
    uint64_t hits = 0, misses = 0, rejected = 0, put_errors = 0, bytes_read = 0, bytes_written = 0;
    uint64_t layer_hits = 0, server_hits = 0;  // of the hits: by read-only layers, by a server
    double saved_ms = 0;                       // what making the entries that were found took
    double waited_ms = 0;                      // for locks and servers, at most SessionOptions::cache_wait_ms
    double waited_for_makers_ms = 0;           // for processes that were making a needed program, at most 2 s
    // How the model's content was told: "stamp" (its file is one that the cache knows), "digest file" (NAME.sha256
    // beside it, on a read-only mount), "content" (read and hashed, which took model_hash_ms); empty without a file or
    // a cache folder.
    std::string model_known_by;
    double model_hash_ms = 0;
  } cache;
  struct {
    uint64_t arena_bytes = 0, naive_bytes = 0, lower_bound_bytes = 0, weights_bytes = 0, peak_rss_bytes = 0;
    uint64_t needed_bytes = 0;     // the number that SessionOptions::memory_limit_bytes limits
    uint64_t both_live_bytes = 0;  // the same for CPU and device together while a hot start has both; 0: never
  } memory;
  // Which device answers. Runs count from 1.
  struct {
    std::string mode = "ready";            // or "hot"
    std::string first_by;                  // the device that answered the first run
    std::optional<uint64_t> moved_at_run;  // the first run that `device` answered after another device
    std::string reason;                    // why this mode was chosen; after a hot start, why it moved or did not
    bool is_settled = true;                // false: the device of a hot start may still take over
  } start;
  // What Session::Resize did.
  struct {
    int made = 0, kept = 0;  // shapes that were made ready; shapes that were still ready
    double last_ms = 0;
    uint64_t uploaded_weights_bytes = 0, shared_weights_bytes = 0;  // by the last Resize; shared with earlier shapes
  } resize;
  int threads = 0;  // on the host, including the calling one
  std::vector<std::string> warnings;

  // The object that `hearth run --json FILE` writes, without "outputs"; `indent` as for nlohmann::json::dump.
  HEARTH_EXPORT std::string ToJson(int indent = 2) const;
};

}  // namespace hearth

#endif  // HEARTH_REPORT_H_
